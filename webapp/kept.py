"""Store the texts and results of the page in folders that only their owner can read."""

import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Path as InPath

from ufo.webapp import trash
from ufo.webapp.problems import NotFound

_DAY = 86_400.0

ResultId = Annotated[str, InPath(pattern="^[0-9a-f]{32}$", description="from the event `started`")]


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """A folder of files, of which the oldest are deleted when they are too many or too large.

    - `most`: how many files are kept. `most_bytes`: their size together.
    - `days`: how long a file is kept after its last change.
    """

    folder: Path
    what: str
    most: int = 1_000
    most_bytes: int = 1 << 30
    days: float = 90.0

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self.folder / f"{name}.json"

    def put(self, name: str, content: bytes) -> None:
        """Store a file; it appears when it is complete.

        Raises:
            OSError: it cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = self.folder / f".{name}.{secrets.token_hex(4)}"
        try:
            unfinished.write_bytes(content)
            unfinished.replace(self.path(name))
        finally:
            unfinished.unlink(missing_ok=True)
        self.tidy()

    def get(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            NotFound: there is none.
        """
        try:
            return self.path(name).read_bytes()
        except FileNotFoundError:
            raise NotFound(
                f"no {self.what} is kept under that name: it was deleted, or it is not among the "
                f"newest {self.most:,} of the last {self.days:.0f} days"
            ) from None

    def tidy(self) -> None:
        """Delete the files beyond the limits of age, number and size, and empty the trash."""
        states = []
        for path in self.folder.glob("*.json"):
            try:
                state = path.stat()
            except FileNotFoundError:  # another request deleted it
                continue
            states.append((state.st_mtime, state.st_size, path))
        oldest, size = time.time() - self.days * _DAY, 0
        for rank, (changed, its_size, path) in enumerate(sorted(states, reverse=True)):
            size += its_size
            if rank >= self.most or size > self.most_bytes or changed < oldest:
                path.unlink(missing_ok=True)
        trash.empty(self.folder / trash.FOLDER)
