"""Make temporary folders that are deleted when their process ends.

A folder `TMP/ufo-own-PID-XXXXXXXX/` is locked for as long as the process PID lives. If it was
killed, a later process deletes the folder.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from ufo.schemas.storage import check_name

_SEMAPHORES: Final = Path("/dev/shm")  # noqa: S108 - where Linux has those of loky's processes
_OWN: Final = re.compile(r"ufo-own-(\d+)-\w+")
_VARIABLE: Final = "TMPDIR"


def check_temporary_folder() -> None:
    """Check that the folder for temporary files can be used.

    Raises:
        UsageError: its path is not UTF-8.
    """
    check_name("the folder for temporary files (TMPDIR)", shared_folder())


def shared_folder() -> str:
    """Return the folder for temporary files that several processes use in turn."""
    folder = tempfile.gettempdir()
    above, name = os.path.split(folder)
    return above if _OWN.fullmatch(name) else folder


@contextmanager
def temporary_folder(within: str | None = None, prefix: str = "ufo-") -> Iterator[str]:
    """Yield a new folder that is deleted with this context, but not by a forked child.

    The standard library's `TemporaryDirectory` is deleted at the end of a child, too.
    """
    folder, process = tempfile.mkdtemp(prefix=prefix, dir=within), os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def own_folder() -> Iterator[str | None]:
    """Yield a folder that is deleted with this context; None if no folder can be written.

    Removes the folders of killed processes, with their semaphores and spilt queries. These are
    found by the process id.
    """
    with ExitStack() as stack:
        try:
            shared = shared_folder()
            _remove_left(shared)
            temporary = temporary_folder(shared, f"ufo-own-{os.getpid()}-")
            folder = stack.enter_context(temporary)
        except OSError:
            yield None
            return
        stack.enter_context(_lock(folder))
        yield folder


@contextmanager
def temporary_files_in_own_folder() -> Iterator[None]:
    """Put temporary files of this process and its children into a folder of this context."""
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
def _lock(folder: str | Path) -> Iterator[None]:
    """Hold the lock of a folder, which is released when this process ends in any way.

    Raises:
        OSError: another process holds it, or the folder is gone.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_left(shared: str) -> None:
    for folder in Path(shared).glob("ufo-own-*"):
        match = _OWN.fullmatch(folder.name)
        if not match or _lives(number := int(match[1])):
            continue
        # The process may live in another container, under this id: then it holds the lock.
        with suppress(OSError), _lock(folder):
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
