"""What was seen of the web: kept for a day in the cache, or in a folder for ever (a snapshot).

A snapshot is recorded once and replayed as it was. While it is recorded its folder has
`recording.sqlite`, a store of the cache's kind in which the first answer holds, by any number of
processes. At the end this becomes `snapshot.sqlite`, as a whole, and is only read from then on:
what is not in it is an error.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn
from uuid import uuid4

from filelock import FileLock

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.llm.answer_store import SqliteStore, StoreError
from ufo.transforms.llm.memory import Memory, packed, unpacked

NOT_RECORDED: Final = "not_in_snapshot"
_RECORDING: Final = "recording.sqlite"
_RECORDED: Final = "snapshot.sqlite"

Keys = Mapping[str, tuple[str, str]]
"""By URL or query: the key in a snapshot, which is for ever, and that of today in the cache."""


class Snapshot:
    """A folder with searches and pages, JSON values by key; any thread may use it.

    Raises, when it is opened:
        UsageError: the folder has something else in it, or a snapshot of an earlier version.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).absolute()
        names = {path.name for path in self.folder.glob("*")}
        if names & {"manifest.json", "recording.json"}:
            raise UsageError(
                f"--web_snapshot {folder!r} was recorded by an earlier version of ufo, which this "
                "one cannot read; to record again, run the same command with a new folder"
            )
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
        """End the recording: from now on it is replayed. Of a finished one, nothing."""
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

    def __init__(self, memory: Memory, snapshot: Snapshot | None) -> None:
        self._memory = memory
        self._snapshot = snapshot
        self.remedy = snapshot.remedy if snapshot is not None and snapshot.finished else None
        """What to do about something that is not kept, where nothing may be asked for."""

    @property
    def writes(self) -> bool:
        """Whether anything is kept."""
        return self._snapshot is not None or self._memory.writes

    async def get_many(self, keys: Keys) -> dict[str, Any]:
        """Return what is kept of these; what only the cache had is recorded."""
        found = {}
        if self._snapshot is not None:
            values = await asyncio.to_thread(
                self._snapshot.get_many, [key for key, _ in keys.values()]
            )
            found = {name: values[key] for name, (key, _) in keys.items() if key in values}
        if self.remedy is None:
            today = {name: key for name, (_, key) in keys.items() if name not in found}
            values = await self._memory.get_many(today.values())
            cached = {name: values[key] for name, key in today.items() if key in values}
            found |= await self._recorded(keys, cached)
        return found

    async def put_many(
        self, keys: Keys, values: Mapping[str, Any], lasting: bool = True
    ) -> dict[str, Any]:
        """Keep these, in the cache where they last for the day; return what holds."""
        if lasting:
            await self._memory.put_many({keys[name][1]: value for name, value in values.items()})
        return await self._recorded(keys, values)

    async def _recorded(self, keys: Keys, values: Mapping[str, Any]) -> dict[str, Any]:
        if self._snapshot is None or not values:
            return dict(values)
        entries = {keys[name][0]: value for name, value in values.items()}
        held = await asyncio.to_thread(self._snapshot.keep_many, entries)
        return {name: held[keys[name][0]] for name in values}


def finish_recording(folder: str) -> None:
    """Finish the snapshot in a folder, whichever process recorded it."""
    snapshot = Snapshot(folder)
    if not snapshot.finished:
        snapshot.finish()
