"""The cache's storage between runs: bytes by key, in a SQLite file or below a prefix.

A key is its kind (`KINDS`), a dash, and hex digits. A store may lose entries at any time, and
callers check the values it returns. Any number of processes may use one at the same time.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from ufo.schemas.errors import UsageError
from ufo.schemas.folders import cache_folder
from ufo.schemas.storage import is_remote

OFF: Final = "off"
VARIABLE: Final = "UFO_CACHE"
KINDS: Final = {
    "j": "judgements",
    "r": "requests",
    "c": "capabilities",
    "s": "searches",
    "p": "pages",
}
KEY: Final = re.compile(rf"[{''.join(KINDS)}]-[0-9a-f]{{40}}")


class StoreError(Exception):
    """The store cannot be read or written: a full disk, no permission, no connection."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry's key, size in bytes, and time of writing in seconds since the epoch."""

    key: str
    size: int
    written: float


class Store(Protocol):
    """Bytes by key. Every method raises StoreError where the store as a whole fails.

    `threads` is the number of threads that may use it at the same time.
    """

    threads: int

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist."""
        ...

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Write the entries; when this returns they outlive the process."""
        ...

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, in any order."""
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def report(message: str) -> None:
    """Print a message for the user to stderr."""
    print(f"ufo: {message}", file=sys.stderr, flush=True)


def default_uri() -> str:
    """Return the URI in UFO_CACHE, else the path of a file in the platform's cache folder."""
    uri = os.environ.get(VARIABLE, "").strip()
    if uri:
        return checked_uri(uri, VARIABLE)
    return str(cache_folder() / "answers.sqlite")


def checked_uri(uri: str, what: str = "--cache") -> str:
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
