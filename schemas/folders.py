"""Folders for what can be made again: the user's cache, and temporary files of one process.

CACHE/answers.sqlite            answers of models
CACHE/runs/HASH/run=NAME/…      runs of another file system, downloaded to be queried
CACHE/indexes/HASH/…            indexes of another file system, downloaded to be mapped
TMP/ufo-own-PID-XXXXXXXX/       locked for as long as its owner lives, the process PID

What is in the cache may be deleted at any time. A temporary folder goes with its process, or where
that was killed with a later one.
"""

import fcntl
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

DAYS_UNUSED: Final = 30
"""After so long without use, a folder goes when the next one comes."""

_USED: Final = ".used"
_DAY: Final = 86_400.0
_SEMAPHORES: Final = Path("/dev/shm")  # noqa: S108 - where Linux has those of loky's processes
_OWN: Final = re.compile(r"ufo-own-(\d+)-\w+")
_VARIABLE: Final = "TMPDIR"


# --- the cache ---------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Return ufo's folder in the user's cache folder of the platform; it may not exist."""
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "ufo"


def kept_folder(kind: str, name: str) -> Path:
    """Return the folder CACHE/kind/name, created if it is missing; it counts as used now.

    Others of its kind that were not used for DAYS_UNUSED are removed. A user without a cache folder
    to write in, as in a container, has it in that of temporary files.
    """
    above = cache_folder() / kind
    try:
        above.mkdir(parents=True, exist_ok=True)
        writable = os.access(above, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        above = Path(shared_folder()) / f"ufo-{_user()}" / kind
        above.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = above / name
    folder.mkdir(exist_ok=True)
    (folder / _USED).touch()
    _remove_unused(above)
    return folder


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")


def _remove_unused(above: Path) -> None:
    for folder in above.iterdir():
        with suppress(OSError):  # another process may be at it
            if time.time() - (folder / _USED).stat().st_mtime > DAYS_UNUSED * _DAY:
                # By one rename, so that no reader finds it incomplete.
                gone = folder.rename(above / f".gone-{uuid4().hex}")
                shutil.rmtree(gone)


# --- temporary files -----------------------------------------------------------------------------


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
