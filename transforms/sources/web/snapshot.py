"""Store searches and pages: for a day in the cache, or for ever in a folder (a snapshot).

A snapshot replaces the cache. It is recorded once, then replayed. During the recording its folder
has `recording.sqlite`, a store like the cache's. Any number of processes write to it; the first
answer for a key is kept. At the end it is renamed to `snapshot.sqlite` and only read from then on.
A search or page that is not in it is then an error.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NoReturn
from uuid import uuid4

from filelock import FileLock

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.llm.cache import JsonCache, key_of
from ufo.transforms.llm.store import SqliteStore, StoreError, pack, unpack

NOT_RECORDED: Final = "not_in_snapshot"
_RECORDING: Final = "recording.sqlite"
_RECORDED: Final = "snapshot.sqlite"


class Snapshot:
    """A folder with searches and pages, JSON values by key; any thread may use it.

    Raises, when it is opened:
        UsageError: the folder has other files in it.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).absolute()
        names = {path.name for path in self.folder.glob("*")}
        ours = all(name.startswith((_RECORDING, _RECORDED)) for name in names)
        if not ours or self.folder.is_file():
            raise UsageError(
                f"--web_snapshot {folder!r} is neither a snapshot nor empty; name a new folder, or "
                "one that was recorded"
            )
        self.finished = _RECORDED in names
        """Whether the snapshot is replayed."""
        self.remedy = (
            f"it is not in the snapshot {self.folder}, which is replayed without network; record "
            "another with --web_snapshot and a new folder"
        )
        """The remedy for a search or page that was not recorded."""
        self._store: SqliteStore | None = None
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values recorded under these keys."""
        try:
            with self._lock:
                recorded = self._open().get_many(keys)
        except StoreError as error:
            self._damaged(str(error))
        values = {key: unpack(recorded[key]) for key in keys if key in recorded}
        for key, value in values.items():
            if value is None:
                self._damaged(f"the entry {key} cannot be read")
        return values

    def keep_many(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Record values; return the valid ones, which are another process's if it was first."""
        entries = {key: pack(value) for key, value in values.items()}
        try:
            with self._lock:
                self._open().put_many(entries, over=False)
        except StoreError as error:
            raise self._write_error(error) from error
        return self.get_many(list(values))

    def finish(self) -> None:
        """End the recording of all processes: from now on it is replayed."""
        if self.finished:
            return
        recording, recorded = self.folder / _RECORDING, self.folder / _RECORDED
        fresh = self.folder / f"{_RECORDING}.{uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._lock, FileLock(f"{recording}.finish"):
                if not recorded.exists():
                    self._open().copy_to(str(fresh))
                    fresh.replace(recorded)
                for path in self.folder.glob(f"{_RECORDING}*"):
                    path.unlink(missing_ok=True)
        except (StoreError, OSError) as error:
            raise self._write_error(error) from error

    async def aclose(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def _open(self) -> SqliteStore:
        if self._store is None:
            path = str(self.folder / (_RECORDED if self.finished else _RECORDING))
            self._store = SqliteStore(path, self._damaged, read_only=self.finished)
        return self._store

    def _damaged(self, why: str) -> NoReturn:
        raise RunError(
            f"the snapshot {self.folder} is damaged: {why}; take a whole copy of it, or record "
            "another"
        )

    def _write_error(self, error: Exception) -> RunError:
        return RunError(
            f"the snapshot {self.folder} cannot be written: {error}; make room, or name another "
            "folder with --web_snapshot"
        )


class WebStore:
    """The stored searches and pages as JSON: those of the snapshot, else today's in the cache."""

    def __init__(
        self, cache: JsonCache, snapshot: Snapshot | None, clock: Callable[[], datetime]
    ) -> None:
        self._cache = cache
        self._snapshot = snapshot
        self._clock = clock
        self.remedy = snapshot.remedy if snapshot is not None and snapshot.finished else None
        """The remedy for a missing value while a snapshot is replayed."""

    def key(self, kind: str, *parts: Any, today: Any) -> str:
        """Return the key of these parts; in the cache it also depends on `today` and the date."""
        if self._snapshot is not None:
            return key_of(kind, *parts)
        return key_of(kind, *parts, today, self._clock().date().isoformat())

    @property
    def writes(self) -> bool:
        """Whether values are stored."""
        return self._snapshot is not None or self._cache.writes

    async def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values stored under these keys."""
        if self._snapshot is not None:
            return await asyncio.to_thread(self._snapshot.get_many, keys)
        return await self._cache.get_many(keys)

    async def put_many(self, values: Mapping[str, Any], lasting: bool = True) -> Mapping[str, Any]:
        """Store values, in the cache only if they are `lasting`; return the valid ones."""
        if self._snapshot is not None:
            return await asyncio.to_thread(self._snapshot.keep_many, values)
        if lasting:
            await self._cache.put_many(values)
        return values
