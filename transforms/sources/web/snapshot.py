"""What a run saw of the web, in a folder: recorded once, and replayed as it was.

While it is recorded the folder has `recording.sqlite`, a store of the cache's kind in which the
first answer holds, by any number of processes. At the end this becomes `snapshot.sqlite`, as a
whole, and is only read from then on: what is not in it is an error.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from filelock import FileLock

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.llm.memory import packed, unpacked
from ufo.transforms.llm.store import StoreError
from ufo.transforms.llm.store_sqlite import SqliteStore

NOT_RECORDED: Final = "not_in_snapshot"
_RECORDING: Final = "recording.sqlite"
_RECORDED: Final = "snapshot.sqlite"


class Snapshot:
    """A folder with searches and pages, JSON values by key; any thread may use it.

    Raises, when it is opened:
        UsageError: the folder has something else in it, or a snapshot of an earlier version.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        whole = not self.folder.exists() or self.folder.is_dir()
        names = [path.name for path in self.folder.glob("*")]
        if "manifest.json" in names or "recording.json" in names:
            raise UsageError(
                f"--web_snapshot {folder!r} was recorded by an earlier version of ufo, which this "
                "one cannot read; to record again, run the same command with a new folder"
            )
        if not whole or not all(name.startswith((_RECORDING, _RECORDED)) for name in names):
            raise UsageError(
                f"--web_snapshot {folder!r} is neither a snapshot nor empty; name a new folder, or "
                "one that was recorded"
            )
        self.finished = _RECORDED in names
        """Whether it is replayed."""
        self._store: SqliteStore | None = None
        self._lock = threading.Lock()

    @property
    def remedy(self) -> str:
        """What to do about something that was not recorded."""
        return (
            f"it is not in the snapshot {self.folder}, which is replayed without network; record "
            "another with --web_snapshot and a new folder"
        )

    def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return what was recorded under these keys."""
        try:
            with self._lock:
                found = self._opened().get_many(keys)
        except StoreError as error:
            raise self._damaged(error) from error
        values = {key: unpacked(found[key]) for key in keys if key in found}
        for key, value in values.items():
            if value is None:
                raise self._damaged(f"the entry {key} cannot be read")
        return values

    def keep_many(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Record these; return what holds, which is another process's where that was first."""
        try:
            with self._lock:
                entries = {key: packed(value) for key, value in values.items()}
                self._opened().put_many(entries, over=False)
        except StoreError as error:
            raise self._unwritten(error) from error
        return self.get_many(list(values))

    def finish(self) -> None:
        """End the recording: from now on it is replayed. Of a finished one, nothing."""
        recording, fresh = self.folder / _RECORDING, self.folder / f"{_RECORDING}.{uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{recording}.finish"):
                if not (self.folder / _RECORDED).exists():
                    with self._lock:
                        self._opened().copy_to(str(fresh))
                    fresh.replace(self.folder / _RECORDED)
                for path in self.folder.glob(f"{_RECORDING}*"):
                    path.unlink(missing_ok=True)
        except (StoreError, OSError) as error:
            raise self._unwritten(error) from error
        self.close()
        self.finished = True

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _opened(self) -> SqliteStore:
        if self._store is None:
            name = _RECORDED if self.finished else _RECORDING
            path = str(self.folder.absolute() / name)
            self._store = SqliteStore(path, self._set_aside, read_only=self.finished)
        return self._store

    def _set_aside(self, message: str) -> None:
        raise self._damaged(message)

    def _damaged(self, why: object) -> RunError:
        return RunError(
            f"the snapshot {self.folder} is damaged: {why}; take a whole copy of it, or record "
            "another"
        )

    def _unwritten(self, error: Exception) -> RunError:
        return RunError(
            f"the snapshot {self.folder} cannot be written: {error}; make room, or name another "
            "folder with --web_snapshot"
        )


def finish_recording(folder: str) -> None:
    """Finish the snapshot in a folder, whichever process recorded it."""
    Snapshot(folder).finish()
