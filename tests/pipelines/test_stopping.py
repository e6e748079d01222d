"""Signals interrupt a command, and none of them is lost."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from ufo.pipelines.stopping import OWNER, check_stop, signals_interrupt


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
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


def test_a_later_sigterm_ends_the_process() -> None:
    code = """if True:
        import os, signal
        from ufo.pipelines import stopping
        stopping._SECONDS_TOGETHER = 0.0
        with stopping.signals_interrupt():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            except KeyboardInterrupt:
                os.kill(os.getpid(), signal.SIGTERM)
    """
    ended = subprocess.run([sys.executable, "-c", code], timeout=50)
    assert ended.returncode == -signal.SIGTERM


def test_who_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            check_stop()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_command_ends_with_the_process_that_started_it_for_itself() -> None:
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
