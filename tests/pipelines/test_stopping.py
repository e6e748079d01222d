"""Signals interrupt a command, and none of them is lost."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ufo.pipelines.stopping import OWNER, check_stop, end_with_owner, signals_interrupt

BOTH = (signal.SIGTERM, signal.SIGINT)


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in BOTH]


@pytest.mark.parametrize("number", BOTH, ids=["SIGTERM", "SIGINT"])
def test_a_signal_that_python_drops_is_seen_at_the_next_look(number: int) -> None:
    class Dropping:
        def __del__(self) -> None:
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), number)

    with signals_interrupt():
        check_stop()
        Dropping()
        with pytest.raises(KeyboardInterrupt):
            check_stop()
    check_stop()


def test_signals_that_come_together_are_one() -> None:
    with signals_interrupt():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)


# A program of three requests to stop, each long after the one before.
LATER = """if True:
    import os, signal, sys
    from ufo.pipelines import stopping
    stopping._SECONDS_TOGETHER = 0.0
    with stopping.signals_interrupt():
        for _ in range(3):
            try:
                os.kill(os.getpid(), getattr(signal, sys.argv[1]))
            except KeyboardInterrupt:
                print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("name", "code", "times"),
    [
        pytest.param("SIGTERM", -signal.SIGTERM, 1, id="SIGTERM ends the process"),
        pytest.param("SIGINT", 0, 3, id="SIGINT interrupts again"),
    ],
)
def test_a_later_signal(name: str, code: int, times: int) -> None:
    words = [sys.executable, "-c", LATER, name]
    ended = subprocess.run(words, timeout=50, capture_output=True, text=True)
    assert ended.returncode == code
    assert ended.stdout == "interrupted\n" * times


def test_what_happens_on_a_signal_is_as_before_afterwards() -> None:
    before = handlers()
    with signals_interrupt():
        assert handlers() != before
    assert handlers() == before


def test_in_a_process_that_ends_with_it_signals_interrupt_afterwards_too() -> None:
    before = handlers()
    try:
        with signals_interrupt(ends=True):
            within = handlers()
        assert handlers() == within != before
    finally:
        for number, handler in zip(BOTH, before, strict=True):
            signal.signal(number, handler)


def test_in_another_thread_nothing_changes() -> None:
    seen: list[Any] = []

    def work() -> None:
        with signals_interrupt():
            seen.extend(handlers())

    before = handlers()
    (thread := threading.Thread(target=work)).start()
    thread.join()
    assert seen == before


def test_an_error_by_which_a_library_reports_a_signal_is_an_interrupt() -> None:
    def query() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        raise RuntimeError("INTERRUPT Error: Interrupted!")

    with pytest.raises(KeyboardInterrupt), signals_interrupt():
        query()


def test_an_error_without_a_signal_stays_one() -> None:
    with pytest.raises(RuntimeError, match="no signal"), signals_interrupt():
        raise RuntimeError("no signal")


def test_who_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            check_stop()
    finally:
        signal.signal(signal.SIGINT, before)


OWNED = """if True:
    import os, time
    from ufo.pipelines import stopping
    stopping.end_with_owner()
    time.sleep(0.1 if os.environ["IS"] == "there" else 60)
"""


@pytest.mark.parametrize(
    ("owner", "code"),
    [
        # Whose owner is another process than its parent has lost it.
        pytest.param(lambda: 1, -signal.SIGKILL, id="gone"),
        pytest.param(os.getpid, 0, id="there"),
    ],
)
def test_a_command_ends_with_the_process_that_started_it_for_itself(
    request: pytest.FixtureRequest, owner: Callable[[], int], code: int
) -> None:
    environment = {**os.environ, OWNER: str(owner()), "IS": request.node.callspec.id}
    ended = subprocess.run([sys.executable, "-c", OWNED], env=environment, timeout=50)
    assert ended.returncode == code


@pytest.mark.parametrize("owner", ["", "-1", "x"])
def test_what_is_no_process_owns_none_and_is_not_passed_on(
    monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    monkeypatch.setenv(OWNER, owner)
    before = threading.active_count()
    end_with_owner()
    assert OWNER not in os.environ
    assert threading.active_count() == before


def test_the_program_ends_with_its_owner_too() -> None:
    read, write = os.pipe()  # it waits for its input
    command = [sys.executable, "-m", "ufo.pipelines.cli", "check", "-"]
    # Whose owner is another process than its parent has lost it.
    environment = {**os.environ, OWNER: "1"}
    try:
        ended = subprocess.run(command, env=environment, stdin=read, timeout=50)
    finally:
        os.close(read)
        os.close(write)
    assert ended.returncode == -signal.SIGKILL
