"""Store answers in one SQLite file, for every process of a computer."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from transforms.llm.store import Entry, Report, StoreError, report

_APPLICATION: Final = 0x75666F31  # "ufo1", in the header of the files that are ours
_VERSION: Final = 1
_WAIT_SECONDS: Final = 30.0
_AT_ONCE: Final = 500  # keys of one SELECT; SQLite's own limit is 32,766
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, written REAL NOT NULL
) WITHOUT ROWID
"""

T = TypeVar("T")


class SqliteStore:
    """A SQLite file in WAL mode: one writer and any number of readers at a time, none kept waiting.

    A file that is damaged, or of another program, is moved aside and a new one begun. One that
    cannot be written is read all the same.
    """

    def __init__(self, path: str, report: Report = report) -> None:
        self._path = path
        self._report = report
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise StoreError(str(error)) from error
        self._connection = self._opened()

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what there is of these keys."""
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            places = ",".join("?" * len(some))
            query = f"SELECT key, value FROM entries WHERE key IN ({places})"  # noqa: S608
            found.update(self._do(partial(_select, query, some)))
        return found

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep the entries in one transaction."""
        now = time.time()
        rows = [(key, value, now) for key, value in entries.items()]
        self._do(lambda c: self._write(c, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows))

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        query = "SELECT key, length(value), written FROM entries"
        yield from (Entry(*row) for row in self._do(partial(_select, query, ())))

    def remove(self, keys: Sequence[str]) -> None:
        """Forget these keys."""
        rows = [(key,) for key in keys]
        self._do(lambda c: self._write(c, "DELETE FROM entries WHERE key = ?", rows))

    def compact(self) -> None:
        """Give the room of what was removed back to the disk."""
        self._do(lambda c: c.execute("VACUUM"))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _write(
        self, connection: sqlite3.Connection, statement: str, rows: Sequence[object]
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(statement, rows)  # type: ignore[arg-type]
            connection.execute("COMMIT")
        except sqlite3.Error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _do(self, operate: Callable[[sqlite3.Connection], T]) -> T:
        try:
            try:
                return operate(self._connection)
            except sqlite3.DatabaseError as error:
                if not _damaged(error):
                    raise
                self._connection.close()
                self._connection = self._opened(damaged=True)
                return operate(self._connection)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from error

    def _opened(self, damaged: bool = False) -> sqlite3.Connection:
        """Open the file; one that is damaged or foreign is moved aside first, by one process."""
        from filelock import FileLock

        try:
            # Only one process looks at what is there, or begins it; the others find it done.
            with FileLock(self._path + ".lock", timeout=_WAIT_SECONDS):
                why = _unusable(self._path)
                if damaged and why is None and not _sound(self._path):
                    why = "is damaged"
                if why is not None:
                    self._set_aside(why)
                return self._connect()
        except (sqlite3.Error, OSError) as error:
            if not damaged and os.path.exists(self._path):
                with suppress(sqlite3.Error):
                    return self._connect(read_only=True)
            raise StoreError(f"{self._path}: {error}") from error

    def _connect(self, read_only: bool = False) -> sqlite3.Connection:
        path = Path(self._path).as_uri() + ("?mode=ro" if read_only else "")
        connection = sqlite3.connect(
            path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            if not read_only:
                # What a commit wrote survives the process at once, the machine after a checkpoint.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            else:
                connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _set_aside(self, why: str) -> None:
        number = 1
        while os.path.exists(aside := f"{self._path}.aside-{number}"):
            number += 1
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(self._path + ending, aside + ending)
        self._report(f"the cache {self._path} {why}; it was moved to {aside}, and a new one begun")


def _select(query: str, values: Sequence[str], connection: sqlite3.Connection) -> list[Any]:
    return connection.execute(query, values).fetchall()


def _unusable(path: str) -> str | None:
    """Return why a file is not a cache of ours, or None where it is, or where there is none."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return None
    try:
        connection = sqlite3.connect(path, timeout=_WAIT_SECONDS)
        try:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if application != _APPLICATION and tables:
                return "is of another program"
            if application == _APPLICATION and version != _VERSION:
                return f"is of version {version}, and this ufo's is {_VERSION}"
            if tables:
                connection.execute("SELECT key, value, written FROM entries LIMIT 1").fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        return "is damaged" if "no such" in str(error) else None  # locked or not to be read
    except sqlite3.DatabaseError:
        return "is no SQLite file, or is damaged"
    return None


def _sound(path: str) -> bool:
    """Tell whether every page of the file can be read; takes a second for some hundred MB."""
    try:
        connection = sqlite3.connect(path, timeout=_WAIT_SECONDS)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return False


def _damaged(error: sqlite3.DatabaseError) -> bool:
    return any(word in str(error) for word in ("malformed", "not a database", "no such table"))
