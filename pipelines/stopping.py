"""End a command on Ctrl-C or SIGTERM, or together with the process that started it."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

OWNER = "UFO_OWNER"
"""The environment variable with the id of a process; the command ends together with it."""

_SECONDS_BETWEEN_LOOKS = 0.5
# Signals so close together are one request to stop. For example, `timeout` signals the process and
# then its group.
_SECONDS_TOGETHER = 1.0
_asked = threading.Event()
_first = 0.0


@contextmanager
def signals_interrupt(ends: bool = False) -> Iterator[None]:
    """Let SIGTERM and SIGINT raise KeyboardInterrupt in the main thread within this context.

    They do so after it, too, if the process `ends` with it.

    Further signals within a second change nothing: an exception in the middle of the clean-up could
    leave processes behind. A later SIGTERM ends the process at once. An error by which a library
    reports a signal, as DuckDB does, becomes KeyboardInterrupt again. In other threads nothing
    changes, since Python handles signals in the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number, handler in before.items():
        # A shell starts background processes with SIGINT ignored; that is kept.
        if number == signal.SIGTERM or handler is signal.default_int_handler:
            signal.signal(number, _interrupt)
    try:
        yield
    except RuntimeError as error:
        if _asked.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        if not ends:
            for number, handler in before.items():
                signal.signal(number, handler)
            _asked.clear()


def end_with_owner() -> None:
    """End this process once the process in OWNER has ended, even by a kill."""
    owner = os.environ.pop(OWNER, "")
    if owner.isdecimal():
        end_with(int(owner))


def end_with(parent: int) -> None:
    """End this process once its parent, the process `parent`, has ended."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    # Requests under way may cost money, so end at once.
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGKILL)


def check_stop() -> None:
    """Raise KeyboardInterrupt if a signal was received.

    Python drops an exception that is raised within a destructor or a callback.
    """
    if _asked.is_set():
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _first
    if not _asked.is_set():
        _first = time.monotonic()
    elif time.monotonic() - _first < _SECONDS_TOGETHER:
        return
    elif number == signal.SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    _asked.set()
    raise KeyboardInterrupt
