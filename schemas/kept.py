"""Keep copies in the user's cache folder; they can be made again, and may be deleted at any time.

CACHE/answers.sqlite            answers of models
CACHE/runs/HASH/run=NAME/…      runs of another file system, downloaded to be queried
CACHE/indexes/HASH/…            indexes of another file system, downloaded to be mapped
"""

import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from ufo.schemas.temporary import shared_folder

DAYS_UNUSED: Final = 30
"""After so long without use, a folder goes when the next one comes."""

_USED: Final = ".used"
_DAY: Final = 86_400.0


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
