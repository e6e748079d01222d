"""Keep the requests of a run that a provider answers as batches, in a SQLite file on disk.

    ask ─→ new ─ plan ─→ sent ─ put ─→ answered
            ↑ ← take_back ┘ └── put ─→ again ─ ask ─→ new

A batch is noted before it is submitted, and its requests are `sent` from then on: the file survives
a killed process. It is beside the cache and serves all runs that use that cache. A run sees only
its own rows.
"""

import json
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from uuid import uuid4

from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.store import packed, unpacked

ASKING: Final = -1
STORED: Final = 1.0
_WAIT_SECONDS: Final = 60.0
_VERSION: Final = 1  # of the tables; earlier versions of ufo wrote 0 and the same tables
_PUT_RIGHT: Final = "Put that right, and run the same command again"
_MOVE: Final = (
    "Move it away, and the next run begins a new one. Batches under way and replies of unfinished "
    "runs are lost with it, and what they asked is paid again"
)
_TABLES: Final = f"""
PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS requests (
    run TEXT, key TEXT, place TEXT, state TEXT, tries INTEGER, body BLOB, usage TEXT, batch TEXT,
    usd REAL, reply BLOB, PRIMARY KEY (run, key)
);
CREATE INDEX IF NOT EXISTS by_batch ON requests (batch);
CREATE INDEX IF NOT EXISTS by_state ON requests (run, state);
CREATE TABLE IF NOT EXISTS batches (
    name TEXT PRIMARY KEY, run TEXT, place TEXT, round INTEGER, requests INTEGER, submitted REAL,
    id TEXT, done INTEGER, ended REAL
);
CREATE TABLE IF NOT EXISTS claims (
    run TEXT, key TEXT, owner TEXT, settled INTEGER, PRIMARY KEY (run, key)
);
PRAGMA user_version = {_VERSION};
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a request in a batch: the HTTP `status` of its line, or where there is none the
    provider's code, and the JSON of its body, or of its error."""

    status: str
    payload: Any
    request_id: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of requests for one model of one endpoint; `name` is our name of it.

    While its creation is asked for, `id` is that of its file, and `done` is ASKING. Then `id` is
    the provider's, and `done` counts the requests that are processed. `ended` is when the batch was
    first seen to have ended, and STORED once all its replies are stored.
    """

    name: str
    endpoint: Endpoint
    round: int
    requests: int
    submitted: float
    id: str | None = None
    done: int = 0
    ended: float = 0.0


class BatchStore:
    """The requests, batches and claims of one run in the file at `path`.

    Use one object for each thread; any number of processes may use the file at a time. Every method
    raises RunError where the file cannot be used.
    """

    def __init__(self, path: str, run: str) -> None:
        self._path = path
        self._run = run
        with self._explained():
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with suppress(FileExistsError):  # readable by its owner alone, as the cache is
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            self._db = sqlite3.connect(
                path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if tables and not tables >= {"requests", "batches", "claims"}:
                raise ValueError("it belongs to another program")
            if version > _VERSION:
                raise ValueError("a newer version of ufo wrote it")
            if version < _VERSION:
                self._db.executescript(_TABLES)
            self._db.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise an error of the file as a RunError that names the file and the remedy."""
        try:
            yield
        except (OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
            # An operation fails on a file that is locked, without permission, or on a full disk.
            whole = isinstance(error, (OSError, sqlite3.OperationalError))
            message = f"the file of batches {self._path!r} cannot be used: {error}. "
            raise RunError(message + (_PUT_RIGHT if whole else _MOVE)) from error

    def _all(self, query: str, *values: Any) -> list[Any]:
        """Execute a statement whose first value is the run, and return its rows."""
        with self._explained():
            return self._db.execute(query, (self._run, *values)).fetchall()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Group all writes in this context into one transaction."""
        with self._explained(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    # --- what steps ask for ---

    def ask(
        self, key: str, endpoint: Endpoint, body: Mapping[str, Any], usage: Usage
    ) -> tuple[Reply | None, Usage]:
        """Return the reply to a request and its row of the table `usage`. Without a reply, note the
        request, with `usage` as the row that it is charged to."""
        found = self._all("SELECT state, usage, reply FROM requests WHERE run = ? AND key = ?", key)
        state, row, reply = found[0] if found else ("again", _json(usage), None)
        if state == "again":
            self._all(
                "INSERT INTO requests (run, key, place, state, tries, body, usage) "
                "VALUES (?, ?, ?, 'new', 0, ?, ?) "
                "ON CONFLICT DO UPDATE SET state = 'new', body = excluded.body",
                *(key, _json(endpoint), packed(body), row),
            )
        with self._explained():
            return reply and _reply(reply), Usage(**json.loads(row))

    def knows(self, key: str) -> bool:
        """Return whether the run has asked for a request whose key begins with this text."""
        query = "SELECT 1 FROM requests WHERE run = ? AND key > ? AND key < ? LIMIT 1"
        return bool(self._all(query, f"{key}-", f"{key}."))

    def claimed(self, owner: str, keys: Iterable[str]) -> set[str]:
        """Return the keys, among these, that the response `owner` has claimed."""
        query = "SELECT 1 FROM claims WHERE run = ? AND key = ? AND owner = ?"
        return {key for key in keys if self._all(query, key, owner)}

    def claim(self, owner: str, keys: Collection[str]) -> tuple[list[list[str]], bool]:
        """Claim judgements for a response, so that no other response asks for them.

        Returns the keys that it has to ask for, and whether other responses ask for the rest. The
        keys are in the same groups in every pass: those that this response claimed, and each one by
        itself that another response claimed without success.
        """
        with self.together():
            for key in keys:
                self._all("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, 0)", key, owner)
        query = "SELECT owner = ?2, settled FROM claims WHERE run = ?1 AND key = ?3"
        held = {key: self._all(query, owner, key)[0] for key in keys}
        own = [key for key, (mine, _) in held.items() if mine]
        failed = [[key] for key, (mine, settled) in held.items() if settled and not mine]
        return [own, *failed] if own else failed, len(own) + len(failed) < len(held)

    def settle(self, keys: Iterable[str]) -> None:
        """Note that claimed judgements were made: they are cached, or others may ask for them."""
        with self.together():
            for key in keys:
                self._all("UPDATE claims SET settled = 1 WHERE run = ? AND key = ?", key)

    # --- what a run does between its passes ---

    def begin_pass(self, claims: bool = True) -> None:
        """Delete the requests that are in no batch: the pass asks again for those it still needs.
        Without `claims`, all open claims are settled."""
        self._all("DELETE FROM requests WHERE run = ? AND state = 'new' AND tries = 0")
        self._all("UPDATE requests SET state = 'again' WHERE run = ? AND state = 'new'")
        if not claims:
            self._all("UPDATE claims SET settled = 1 WHERE run = ?")

    def new(self) -> list[Endpoint]:
        """Return the endpoints that have new requests, one for each model."""
        query = "SELECT DISTINCT place FROM requests WHERE run = ? AND state = 'new' ORDER BY place"
        with self._explained():
            return [_endpoint(place) for (place,) in self._all(query)]

    def bodies(self, endpoint: Endpoint, most: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield key and body of up to `most` new requests, in the order they were asked for."""
        query = (
            "SELECT key, body FROM requests WHERE run = ? AND state = 'new' AND place = ? "
            "ORDER BY rowid LIMIT ?"
        )
        with self._explained():
            for key, body in self._db.execute(query, (self._run, _json(endpoint), most)):
                yield key, _whole(body)

    def plan(self, endpoint: Endpoint, round_: int, usd: Mapping[str, float]) -> Batch:
        """Note a batch of the requests with these keys, before it is submitted. `usd` has the most
        that each may cost in US dollars."""
        batch = Batch(uuid4().hex, endpoint, round_, len(usd), time.time())
        values = (batch.name, _json(endpoint), round_, len(usd), batch.submitted)
        sent = "UPDATE requests SET state = 'sent', batch = ?, usd = ? WHERE run = ? AND key = ?"
        with self._explained():
            self._db.execute("PRAGMA synchronous = FULL")  # what is paid for outlives a power cut
        with self.together():
            self._all("INSERT INTO batches VALUES (?2, ?1, ?3, ?4, ?5, ?6, NULL, 0, 0)", *values)
            self._db.executemany(sent, ((batch.name, usd[key], self._run, key) for key in usd))
        return batch

    def note(self, batch: Batch, **known: Any) -> Batch:
        """Store what is `known` of a batch, and return the updated batch."""
        batch = replace(batch, **known)
        self._all(
            "UPDATE batches SET id = ?3, done = ?4, submitted = ?5, ended = ?6 "
            "WHERE run = ?1 AND name = ?2",
            *(batch.name, batch.id, batch.done, batch.submitted, batch.ended),
        )
        return batch

    def under_way(self) -> list[Batch]:
        """Return the batches whose replies are not all stored yet, the oldest first."""
        query = (
            "SELECT name, place, round, requests, submitted, id, done, ended FROM batches "
            "WHERE run = ? AND ended != 1 ORDER BY submitted, name"
        )
        with self._explained():
            return [Batch(name, _endpoint(place), *rest) for name, place, *rest in self._all(query)]

    def last_round(self) -> tuple[int, int, int]:
        """Return the number of the last round, 0 before the first, and how many of its requests are
        submitted and done."""
        query = (
            "SELECT round, sum(requests), sum(max(done, 0)) FROM batches WHERE run = ? "
            "GROUP BY round ORDER BY round DESC LIMIT 1"
        )
        found: list[tuple[int, int, int]] = self._all(query)
        return found[0] if found else (0, 0, 0)

    def reserved(self) -> float:
        """Return what the requests under way may cost, in US dollars."""
        query = "SELECT coalesce(sum(usd), 0.0) FROM requests WHERE run = ? AND state = 'sent'"
        return float(self._all(query)[0][0])

    def sent(self, batch: Batch) -> dict[str, tuple[int, Usage]]:
        """Return the tries and the usage row of each request without a reply, by its key."""
        query = (
            "SELECT key, tries, usage FROM requests WHERE run = ? AND batch = ? AND state = 'sent'"
        )
        with self._explained():
            found = self._all(query, batch.name)
            return {key: (tries, Usage(**json.loads(row))) for key, tries, row in found}

    def put(self, key: str, reply: Reply | None, usage: Usage) -> None:
        """Store the reply to a request with its usage row; without one it is to be asked again."""
        state, kept = ("answered", packed(asdict(reply))) if reply else ("again", None)
        self._all(
            "UPDATE requests SET state = ?3, reply = ?4, usage = ?5, tries = tries + 1, "
            "body = NULL WHERE run = ?1 AND key = ?2",
            *(key, state, kept, _json(usage)),
        )

    def take_back(self, batch: Batch) -> None:
        """Delete a batch that was not accepted; its requests are new again."""
        query = "UPDATE requests SET state = 'new' WHERE run = ? AND batch = ? AND state = 'sent'"
        self._all(query, batch.name)
        self._all("DELETE FROM batches WHERE run = ? AND name = ?", batch.name)

    def forget(self) -> None:
        """Delete everything of the run, once it is finished."""
        for table in ("requests", "batches", "claims"):
            self._all(f"DELETE FROM {table} WHERE run = ?")  # noqa: S608

    def held(self) -> dict[str, int]:
        """Return how many requests of all runs are under way and answered, and the file's bytes."""
        query = (
            "SELECT coalesce(sum(state = 'sent'), 0), coalesce(sum(state = 'answered'), 0), "
            "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) FROM requests"
        )
        with self._explained():
            sent, answered, size = self._db.execute(query).fetchone()
        return {"batch_requests": sent, "batch_replies": answered, "batch_bytes": size}


def _whole(data: bytes) -> Any:
    value = unpacked(data)
    if value is None:
        raise ValueError("a row of it is damaged")
    return value


def _reply(data: bytes) -> Reply:
    fields = _whole(data)  # also of earlier versions, which have more
    return Reply(fields["status"], fields["payload"], fields["request_id"])


def _json(value: Endpoint | Usage) -> str:
    return json.dumps(asdict(value), sort_keys=True)


def _endpoint(place: str) -> Endpoint:
    fields = json.loads(place)
    return Endpoint(**{**fields, "headers": tuple(map(tuple, fields["headers"]))})
