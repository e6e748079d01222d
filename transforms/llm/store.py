"""Define the store of answers between runs: bytes by key, in a file or below a prefix.

A key is its kind (`KINDS`), a dash, and hex digits. A store may lose what it holds at any time, and
what it gives back is checked by whoever asked: it is never the only copy of anything. Any number of
processes may use one at once.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from schemas.errors import UsageError
from schemas.kept import cache_folder
from schemas.storage import is_remote

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
    """What is known of an entry without reading it: bytes, and seconds since the epoch."""

    key: str
    size: int
    written: float


class Store(Protocol):
    """Bytes by key. Every method raises StoreError where the store fails as a whole.

    `threads` is in how many threads it may be used at a time.
    """

    threads: int

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what there is of these keys."""
        ...

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep the entries; when this returns they outlive the process."""
        ...

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, in no order."""
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Forget these keys."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def report(message: str) -> None:
    """Tell the user of something that the run goes on without."""
    print(f"ufo: {message}", file=sys.stderr, flush=True)


def default_uri() -> str:
    """Return UFO_CACHE, else a file in the user's cache folder as the platform has it."""
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        return checked_uri(given, VARIABLE)
    return str(cache_folder() / "answers.sqlite")


def checked_uri(uri: str, what: str = "--cache") -> str:
    """Return the URI with a local path made absolute, since workers may run in another folder.

    Raises:
        UsageError: it is neither `off`, nor a `.sqlite` file, nor a prefix that ends in `/`.
    """
    remote = is_remote(uri)
    if uri == OFF or (remote and uri.endswith("/")):
        return uri
    if not remote and uri.endswith("/"):
        return str(Path(uri).expanduser().absolute()) + "/"
    if not remote and uri.endswith(".sqlite"):
        return str(Path(uri).expanduser().absolute())
    raise UsageError(
        f"{what} {uri!r} is no place for a cache: name a file that ends in .sqlite, a folder or "
        "bucket prefix that ends in / (gs://bucket/ufo/), or off"
    )
