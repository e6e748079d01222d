"""Find the user's cache, whose files may be deleted at any time.

CACHE/answers.sqlite            the cache of requests, judgements, searches and pages
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

from ufo.schemas.errors import UsageError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.temporary import shared_folder

DAYS_UNUSED: Final = 30
"""A folder unused for so many days is deleted when the next one is made."""


_USED: Final = ".used"
_DAY: Final = 86_400.0
OFF: Final = "off"
"""The value, in place of a cache's URI, that turns the cache off."""


CACHE_VARIABLE: Final = "UFO_CACHE"


def cache_folder() -> Path:
    """Return ufo's folder in the user's cache folder of the platform; it may not exist."""
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "ufo"


def default_cache() -> str:
    """Return the URI in UFO_CACHE, else the path of a file in the platform's cache folder."""
    uri = os.environ.get(CACHE_VARIABLE, "").strip()
    if uri:
        return cache_uri(uri, CACHE_VARIABLE)
    return str(cache_folder() / "answers.sqlite")


def cache_uri(uri: str, what: str = "--cache") -> str:
    """Return the URI of a cache with a local path made absolute.

    Raises:
        UsageError: it is neither `off`, nor a `.sqlite` file, nor a prefix that ends in `/`.
    """
    remote, prefix = is_remote(uri), uri.endswith("/")
    if uri == OFF or (remote and prefix):
        return uri
    if not remote and (prefix or uri.endswith(".sqlite")):
        return str(Path(uri).expanduser().absolute()) + ("/" if prefix else "")
    raise UsageError(
        f"{what} {uri!r} cannot be a cache: name a file that ends in .sqlite, a folder or bucket "
        "prefix that ends in / (gs://bucket/ufo/), or off"
    )


def cached_folder(kind: str, name: str) -> Path:
    """Return the folder CACHE/kind/name, created if it is missing, and mark it as used.

    Folders of the same kind that were not used for DAYS_UNUSED are removed. Where the cache folder
    cannot be written, as in a container, the folder for temporary files is used.
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
        with suppress(OSError):  # another process may remove it
            if time.time() - (folder / _USED).stat().st_mtime > DAYS_UNUSED * _DAY:
                # One rename, so that no reader finds a half-deleted folder.
                gone = folder.rename(above / f".gone-{uuid4().hex}")
                shutil.rmtree(gone)
