"""Store cache entries in one SQLite file, shared by all processes of a machine."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from filelock import FileLock

from ufo.transforms.llm.base import Report
from ufo.transforms.llm.store import Entry, StoreError, report

_APPLICATION: Final = 0x75666F31  # "ufo1", SQLite's application_id in the file's header
_VERSION: Final = 1
_WAIT_SECONDS: Final = 30.0
_AT_ONCE: Final = 500  # keys of one SELECT; SQLite's own limit is 32,766
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, written REAL NOT NULL
) WITHOUT ROWID
"""

T = TypeVar("T")


class _Unusable(Exception):
    """A file is damaged, or is not a cache of this version of ufo."""


class SqliteStore:
    """A store in a SQLite file in WAL mode: one writer and any number of readers at a time.

    A file that is damaged, or of another program, is renamed and a new one created. A file without
    write permission is opened for reading.
    """

    threads = 1

    def __init__(self, path: str, report: Report = report) -> None:
        self._path = path
        self._report = report
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            # Readable by its owner alone, as are the files that SQLite creates beside it.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise StoreError(str(error)) from error
        self._connection = self._opened()

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist."""
        values: dict[str, bytes] = {}
        for start in range(0, len(keys), _AT_ONCE):
            batch = keys[start : start + _AT_ONCE]
            places = ",".join("?" * len(batch))
            query = f"SELECT key, value FROM entries WHERE key IN ({places})"  # noqa: S608
            values.update(self._do(partial(_select, query, batch)))
        return values

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Write the entries in one transaction."""
        now = time.time()
        rows = [(key, value, now) for key, value in entries.items()]
        self._do(partial(_write, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows))

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        query = "SELECT key, length(value), written FROM entries"
        yield from (Entry(*row) for row in self._do(partial(_select, query, ())))

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        rows = [(key,) for key in keys]
        self._do(partial(_write, "DELETE FROM entries WHERE key = ?", rows))

    def compact(self) -> None:
        """Free the disk space of deleted entries."""
        self._do(lambda c: c.execute("VACUUM"))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _do(self, operate: Callable[[sqlite3.Connection], T]) -> T:
        try:
            try:
                return operate(self._connection)
            except sqlite3.DatabaseError as error:
                if not _damaged(error):
                    raise
                self._connection.close()
                self._connection = self._opened(broke=True)
                return operate(self._connection)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from error

    def _opened(self, broke: bool = False) -> sqlite3.Connection:
        """Open the file; rename one that is damaged or of another program and create a new one."""
        try:
            # One process checks or creates the file while the others wait.
            with FileLock(self._path + ".lock", timeout=_WAIT_SECONDS):
                try:
                    return self._connect(thorough=broke)
                except _Unusable as unusable:
                    self._set_aside(str(unusable))
                    return self._connect()
        except (sqlite3.Error, OSError) as error:
            if not broke and os.path.exists(self._path):
                with suppress(sqlite3.Error, _Unusable):
                    return self._connect(read_only=True)
            raise StoreError(f"{self._path}: {error}") from error

    def _connect(self, read_only: bool = False, thorough: bool = False) -> sqlite3.Connection:
        path = Path(self._path).as_uri() + ("?mode=ro" if read_only else "")
        connection = sqlite3.connect(
            path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            _check(connection, thorough)
            if not read_only:
                # A commit survives the end of the process; it survives a crash of the machine only
                # after the next checkpoint.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute(_SCHEMA)
            return connection
        except (sqlite3.Error, _Unusable) as error:
            connection.close()
            if isinstance(error, sqlite3.Error) and _damaged(error):
                raise _Unusable("is not a SQLite file, or is damaged") from error
            raise

    def _set_aside(self, why: str) -> None:
        number = 1
        while os.path.exists(aside := f"{self._path}.aside-{number}"):
            number += 1
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(self._path + ending, aside + ending)
        self._report(f"the cache {self._path} {why}; it was moved to {aside}, and a new one made")


def _select(query: str, values: Sequence[str], connection: sqlite3.Connection) -> list[Any]:
    return connection.execute(query, values).fetchall()


def _write(statement: str, rows: Sequence[tuple[Any, ...]], connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        connection.executemany(statement, rows)


def _check(connection: sqlite3.Connection, thorough: bool) -> None:
    """Raise _Unusable unless the file is empty or a cache of this version.

    `thorough` checks every page, which takes a second for some hundred MB.
    """
    application, version, tables = (
        connection.execute(query).fetchone()[0]
        for query in (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_master",
        )
    )
    if tables and application != _APPLICATION:
        raise _Unusable("is of another program")
    if tables and version != _VERSION:
        raise _Unusable(f"is of version {version}, and this ufo's is {_VERSION}")
    if thorough and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise _Unusable("is damaged")


def _damaged(error: sqlite3.Error) -> bool:
    return error.sqlite_errorname.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
