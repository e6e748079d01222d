"""The cache's storage between runs: bytes by key, in a SQLite file or below a prefix.

A key is its kind (`KINDS`), a dash, and hex digits. A store may lose entries at any time, and
callers check the values it returns. Any number of processes may use one at the same time.

A SQLite file is shared by all processes of a machine. Workers on several machines share a prefix of
any file system, such as a bucket, with one object for each key. Objects are written atomically, and
concurrent writers of one key write the same value.
"""

import json
import os
import re
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from ufo.schemas import storage
from ufo.schemas.reopened import Reopened
from ufo.transforms.llm.request import Report

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


def pack(value: Any) -> bytes:
    """Return a JSON value as zlib-compressed bytes, whose checksum detects damage."""
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpack(data: bytes) -> Any:
    """Return the value from the bytes that `pack` returned, None where they are damaged."""
    try:
        return json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
    except (zlib.error, ValueError, RecursionError):
        return None


def report(message: str) -> None:
    """Print a message for the user to stderr."""
    print(f"ufo: {message}", file=sys.stderr, flush=True)


_AT_ONCE: Final = 32  # objects below a prefix


class PrefixStore:
    """A store below `gs://bucket/ufo/`, `s3://bucket/ufo/` or a local folder that ends in `/`."""

    threads = _AT_ONCE

    def __init__(self, uri: str) -> None:
        self._root = uri.rstrip("/")
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="ufo-store")
        self._all(storage.make_folder, [self._root])

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist, read concurrently."""
        values = self._all(self._get, keys)
        return {k: value for k, value in zip(keys, values, strict=True) if value is not None}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Write the entries concurrently."""
        self._all(self._put, list(entries.items()))

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        for file in self._all(storage.listed, [self._root])[0]:
            name = file.path.replace("\\", "/").rpartition("/")[2]
            if KEY.fullmatch(name):
                yield Entry(name, file.size, file.written)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        self._all(lambda key: storage.delete(self._path(key)), keys)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()

    def _path(self, key: str) -> str:
        # 256 folders for each kind: some file systems are slow with many files in one.
        return storage.join(self._root, key[:4], key)

    def _get(self, key: str) -> bytes | None:
        try:
            return storage.read(self._path(key))
        except FileNotFoundError:
            return None

    def _put(self, entry: tuple[str, bytes]) -> None:
        key, value = entry
        storage.make_folder(storage.join(self._root, key[:4]))
        with storage.writing(self._path(key)) as sink:
            sink.write(value)

    def _all(self, operate: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        try:
            return list(self._threads.map(operate, items))
        except OSError as error:
            raise StoreError(f"{self._root}/: {error}") from error


_APPLICATION: Final = 0x75666F31  # "ufo1", SQLite's application_id in the file's header
_VERSION: Final = 1
_WAIT_SECONDS: Final = 30.0
# A commit survives the end of the process; it survives a crash of the machine only after the next
# checkpoint.
_NEW: Final = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, written REAL NOT NULL
) WITHOUT ROWID;
"""


def connect(path: str, wait: float, read_only: bool = False) -> sqlite3.Connection:
    """Open a SQLite file, waiting `wait` seconds for its locks; create it unless `read_only`."""
    if not read_only:
        # Readable by its owner alone, as are the files that SQLite creates beside it.
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    uri = Path(path).as_uri() + ("?mode=ro" if read_only else "")
    return sqlite3.connect(uri, wait, isolation_level=None, check_same_thread=False, uri=True)


class SqliteStore(Reopened):
    """A store in a SQLite file in WAL mode: one writer and any number of readers at a time.

    A file of another program is renamed and a new one created; one that breaks in use is renamed
    for the next store. A file without write permission is opened for reading. With
    `read_only` the file is never written, created or renamed.
    """

    threads = 1

    def __init__(self, path: str, report: Report = report, read_only: bool = False) -> None:
        self._path = path
        self._report = report
        self._read_only = read_only
        self._inode: int | None = None
        self._kept: sqlite3.Connection | None = None
        super().__init__()
        with self._explained():
            self._connection()

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist."""
        query = "SELECT key, value FROM entries WHERE key = ?"
        return dict(row for key in keys for row in self._do(query, [key]))

    def put_many(self, entries: Mapping[str, bytes], over: bool = True) -> None:
        """Write the entries in one transaction; without `over`, existing ones stay as they are.

        When this returns they outlive the process.
        """
        now = time.time()
        rows = [(key, value, now) for key, value in entries.items()]
        insert = "INSERT OR REPLACE" if over else "INSERT OR IGNORE"
        self._do_each(f"{insert} INTO entries VALUES (?, ?, ?)", rows)

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        rows = self._do("SELECT key, length(value), written FROM entries")
        yield from (Entry(*row) for row in rows)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        self._do_each("DELETE FROM entries WHERE key = ?", [(key,) for key in keys])

    def compact(self) -> None:
        """Free the disk space of deleted entries."""
        self._do("VACUUM")

    def copy_to(self, path: str) -> None:
        """Write all entries into a new file, complete without a `-wal` file beside it."""
        self._do("VACUUM INTO ?", [path])

    def close(self) -> None:
        """Close the file."""
        with self.in_use:
            if self._kept is not None:
                self._kept.close()

    def before_fork(self) -> None:
        """Close the file, since SQLite would take the parent's locks for those of the child."""
        self.close()
        self._kept = None

    def _connection(self) -> sqlite3.Connection:
        if self._kept is None:
            self._kept = self._open_read_only() if self._read_only else self._open()
            self._inode = os.stat(self._path).st_ino
        return self._kept

    def _do(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.in_use, self._explained():
            return self._connection().execute(statement, values).fetchall()

    def _do_each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each of these rows, all or none."""
        with self.in_use, self._explained(), self._connection() as connection:
            # It commits, or rolls back.
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(statement, rows)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise an error of the file as a StoreError; set a damaged file aside."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if _damaged(error) and not self._read_only:
                with suppress(OSError):
                    # Another process may have set it aside, and a new file is in its place.
                    if self._inode in (None, os.stat(self._path).st_ino):
                        self._set_aside("is damaged")
            raise StoreError(f"{self._path}: {error}") from error

    def _open(self) -> sqlite3.Connection:
        """Open the file, one process at a time; rename one that is not a usable cache."""
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            with FileLock(self._path + ".lock", timeout=_WAIT_SECONDS):
                connection = connect(self._path, _WAIT_SECONDS)
                if why := _unusable(connection):
                    connection.close()
                    self._set_aside(why)
                    connection = connect(self._path, _WAIT_SECONDS)
                connection.executescript(_NEW)
                return connection
        except (sqlite3.Error, OSError):
            with suppress(sqlite3.Error, StoreError):
                return self._open_read_only()
            raise

    def _open_read_only(self) -> sqlite3.Connection:
        connection = connect(self._path, _WAIT_SECONDS, read_only=True)
        # It may be an incomplete copy.
        if why := _unusable(connection, thorough=True):
            connection.close()
            raise StoreError(f"{self._path} {why}")
        return connection

    def _set_aside(self, why: str) -> None:
        number = 1
        while os.path.exists(aside := f"{self._path}.aside-{number}"):
            number += 1
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(self._path + ending, aside + ending)
        self._report(f"the cache {self._path} {why}; it was moved to {aside}")


def _unusable(connection: sqlite3.Connection, thorough: bool = False) -> str:
    """Return why a file cannot be used as a cache; "" if it is empty or of this version.

    `thorough` checks every page, which takes a second for some hundred MB.
    """

    def value(query: str) -> Any:
        return connection.execute(query).fetchone()[0]

    try:
        tables = value("SELECT count(*) FROM sqlite_master")
        if tables and value("PRAGMA application_id") != _APPLICATION:
            return "is of another program"
        version = value("PRAGMA user_version")
        if tables and version != _VERSION:
            return f"is of version {version}, and this ufo's is {_VERSION}"
        return "is damaged" if thorough and value("PRAGMA quick_check(1)") != "ok" else ""
    except sqlite3.DatabaseError as error:
        if not _damaged(error):
            raise
        return "is not a SQLite file, or is damaged"


def _damaged(error: Exception) -> bool:
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


Store = SqliteStore | PrefixStore
"""Bytes by key. Every method raises StoreError where the store as a whole fails. `threads` is the
number of threads that may use it at the same time."""


def open_store(uri: str, report: Report = report) -> Store:
    """Open the store at a URI that `checked_uri` returned; create it if it does not exist.

    Raises:
        StoreError: it can be neither opened nor created.
    """
    return PrefixStore(uri) if uri.endswith("/") else SqliteStore(uri, report)
