"""Delete files and folders so that the deletion can be undone for an hour."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from ufo.webapp.problems import NotFound

FOLDER = ".deleted"
_SECONDS = 3_600.0


def discard(path: Path) -> None:
    """Move a file or folder to the trash of its folder, and empty that trash of old files.

    Raises:
        NotFound: it is not there.
    """
    try:
        os.utime(path)  # the hour begins now
    except FileNotFoundError:
        raise NotFound("it is not there any more") from None
    trash = path.parent / FOLDER
    trash.mkdir(exist_ok=True, mode=0o700)
    empty(trash)
    _remove(trash / path.name)
    path.rename(trash / path.name)


def restore(path: Path) -> None:
    """Move a file or folder back from the trash.

    Raises:
        NotFound: it is not in the trash, or another one has its name now.
    """
    if path.exists():
        raise NotFound("another one has its name now")
    try:
        (path.parent / FOLDER / path.name).rename(path)
    except FileNotFoundError:
        raise NotFound("it was deleted for good: a deletion can be undone for an hour") from None


def empty(trash: Path) -> None:
    """Delete for good the files and folders that were in a trash for over an hour."""
    for path in trash.glob("*"):
        with suppress(FileNotFoundError):  # another request deletes it, too
            if path.stat().st_mtime < time.time() - _SECONDS:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
