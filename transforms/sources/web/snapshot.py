"""What was seen of the web: kept for a day in the cache, or in a folder for ever (a snapshot).

A snapshot takes the place of the cache. It is recorded once and replayed as it was. While it is
recorded its folder has `recording.sqlite`, a store of the cache's kind in which the first answer
holds, by any number of processes. At the end this becomes `snapshot.sqlite`, as a whole, and is
only read from then on: what is not in it is an error.
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
from ufo.transforms.llm.answer_store import SqliteStore, StoreError
from ufo.transforms.llm.memory import Memory, key_of, packed, unpacked

NOT_RECORDED: Final = "not_in_snapshot"
_RECORDING: Final = "recording.sqlite"
_RECORDED: Final = "snapshot.sqlite"


class Snapshot:
    """A folder with searches and pages, JSON values by key; any thread may use it.

    Raises, when it is opened:
        UsageError: the folder has something else in it.
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
        """Whether it is replayed."""
        self.remedy = (
            f"it is not in the snapshot {self.folder}, which is replayed without network; record "
            "another with --web_snapshot and a new folder"
        )
        """What to do about something that was not recorded."""
        self._store: SqliteStore | None = None
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return what was recorded under these keys."""
        try:
            with self._lock:
                found = self._opened().get_many(keys)
        except StoreError as error:
            self._damaged(str(error))
        values = {key: unpacked(found[key]) for key in keys if key in found}
        for key, value in values.items():
            if value is None:
                self._damaged(f"the entry {key} cannot be read")
        return values

    def keep_many(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Record these; return what holds, which is another process's where that was first."""
        entries = {key: packed(value) for key, value in values.items()}
        try:
            with self._lock:
                self._opened().put_many(entries, over=False)
        except StoreError as error:
            raise self._unwritten(error) from error
        return self.get_many(list(values))

    def finish(self) -> None:
        """End the recording, whichever process recorded it: from now on it is replayed."""
        if self.finished:
            return
        recording, recorded = self.folder / _RECORDING, self.folder / _RECORDED
        fresh = self.folder / f"{_RECORDING}.{uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._lock, FileLock(f"{recording}.finish"):
                if not recorded.exists():
                    self._opened().copy_to(str(fresh))
                    fresh.replace(recorded)
                for path in self.folder.glob(f"{_RECORDING}*"):
                    path.unlink(missing_ok=True)
        except (StoreError, OSError) as error:
            raise self._unwritten(error) from error

    async def aclose(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def _opened(self) -> SqliteStore:
        if self._store is None:
            path = str(self.folder / (_RECORDED if self.finished else _RECORDING))
            self._store = SqliteStore(path, self._damaged, read_only=self.finished)
        return self._store

    def _damaged(self, why: str) -> NoReturn:
        raise RunError(
            f"the snapshot {self.folder} is damaged: {why}; take a whole copy of it, or record "
            "another"
        )

    def _unwritten(self, error: Exception) -> RunError:
        return RunError(
            f"the snapshot {self.folder} cannot be written: {error}; make room, or name another "
            "folder with --web_snapshot"
        )


class Kept:
    """What is kept of the web, JSON values: in the snapshot, else of today in the cache."""

    def __init__(
        self, memory: Memory, snapshot: Snapshot | None, clock: Callable[[], datetime]
    ) -> None:
        self._memory = memory
        self._snapshot = snapshot
        self._clock = clock
        self.remedy = snapshot.remedy if snapshot is not None and snapshot.finished else None
        """What to do about something that is not kept, where nothing may be asked for."""

    def key(self, kind: str, *what: Any, today: Any) -> str:
        """Return the key of `what`; `today` is what it depends on besides in the cache."""
        if self._snapshot is not None:
            return key_of(kind, *what)
        return key_of(kind, *what, today, self._clock().date().isoformat())

    @property
    def writes(self) -> bool:
        """Whether anything is kept."""
        return self._snapshot is not None or self._memory.writes

    async def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return what is kept under these keys."""
        if self._snapshot is not None:
            return await asyncio.to_thread(self._snapshot.get_many, keys)
        return await self._memory.get_many(keys)

    async def put_many(self, values: Mapping[str, Any], lasting: bool = True) -> Mapping[str, Any]:
        """Keep these, in the cache only where they last for the day; return what holds."""
        if self._snapshot is not None:
            return await asyncio.to_thread(self._snapshot.keep_many, values)
        if lasting:
            await self._memory.put_many(values)
        return values
