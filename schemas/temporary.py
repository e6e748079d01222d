"""Keep temporary files in a folder of their process, which a later one removes if it was killed.

TMP/ufo-own-PID-XXXXXXXX/      locked for as long as its owner lives, the process PID
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_SEMAPHORES: Final = Path("/dev/shm")  # noqa: S108 - where Linux has those of loky's processes
_OWN: Final = re.compile(r"ufo-own-(\d+)-\w+")
_VARIABLE: Final = "TMPDIR"


def shared_folder() -> str:
    """Return the folder for temporary files that several processes use in turn."""
    folder = tempfile.gettempdir()
    above, name = os.path.split(folder)
    return above if _OWN.fullmatch(name) else folder


@contextmanager
def own_folder() -> Iterator[str | None]:
    """Give a folder that goes with this context; None where none can be written.

    What owners left that were killed is removed, with their semaphores and spilt queries, which are
    found by the number of their process.
    """
    try:
        shared = shared_folder()
        _remove_left(shared)
        folder = tempfile.mkdtemp(prefix=f"ufo-own-{os.getpid()}-", dir=shared)
    except OSError:
        yield None
        return
    with _locked(folder):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_files_in_own_folder() -> Iterator[None]:
    """Put temporary files of this process, and of those that it starts, within this context into a
    folder of its own."""
    with own_folder() as folder:
        if folder is None:
            yield
            return
        before = tempfile.tempdir, os.environ.get(_VARIABLE)
        tempfile.tempdir = os.environ[_VARIABLE] = folder
        try:
            yield
        finally:
            tempfile.tempdir, variable = before
            if variable is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = variable


@contextmanager
def _locked(folder: str | Path) -> Iterator[None]:
    """Hold the lock of a folder, which is released when this process ends in any way.

    Raises:
        OSError: another one holds it, or the folder is gone.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_left(shared: str) -> None:
    for folder in Path(shared).glob("ufo-own-*"):
        found = _OWN.fullmatch(folder.name)
        if not found or _lives(number := int(found[1])):
            continue
        # In another container its process may live under that number: then it holds the lock.
        with suppress(OSError), _locked(folder):
            for path in _SEMAPHORES.glob(f"sem.loky-{number}-*"):
                with suppress(OSError):
                    path.unlink()
            shutil.rmtree(Path(shared) / f"ufo-duckdb-{number}", ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)


def _lives(number: int) -> bool:
    """Return whether another process with this id is alive."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # of another user
    return number != os.getpid()
