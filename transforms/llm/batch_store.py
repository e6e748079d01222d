"""Store the requests of a run that a provider answers in batches, in a SQLite file.

    ask ─→ new ─ plan ─→ sent ─ put ─→ answered
            ↑ ← put, take_back ┘

A batch is noted before it is submitted, and its requests are `sent` from then on: the file survives
a killed process. It is beside the cache and serves all runs that use that cache. A run sees only
its own rows. `batch_tables.sql` has the tables.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import resources
from typing import Any, Final
from uuid import uuid4

from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.store import connect, pack, unpack

ASKING: Final = -1
STORED: Final = 1.0
_WAIT_SECONDS: Final = 60.0
_VERSION: Final = 1
_SENT: Final = "run = :run AND batch = :name AND state = 'sent'"
_PUT_RIGHT: Final = "Put that right, and run the same command again"
_MOVE: Final = (
    "Move it away, and the next run begins a new one. Batches under way and replies of unfinished "
    "runs are lost with it, and what they asked is paid again"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a request in a batch.

    `status` is the HTTP status of its line, else the provider's code. `payload` is the JSON of its
    body, or of its error.
    """

    status: str
    payload: Any
    request_id: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of requests of a run for one model of one endpoint; `name` is ufo's own name for it.

    Until the provider confirms it, `id` is that of its file, and `done` is ASKING. Then `id` is the
    provider's, and `done` counts the requests that are processed. `ended` is when the batch was
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


@dataclass(frozen=True, slots=True)
class BatchedRequest:
    """A request in a batch: its earlier `tries`, its highest cost in US dollars, its usage row."""

    tries: int
    usd: float
    usage: Usage


class BatchStore:
    """The requests, batches and claims of one run in the file at `path`.

    Use one object for each thread; any number of processes may use the file at a time. Every method
    raises RunError where the file cannot be used.
    """

    def __init__(self, path: str, run: str) -> None:
        self._path = path
        self._run = run
        with self._explained():
            self._db = connect(path, _WAIT_SECONDS)
            tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if tables and not tables >= {"requests", "batches", "claims"}:
                raise ValueError("it belongs to another program")
            if version > _VERSION:
                raise ValueError("a newer version of ufo wrote it")
            if version < _VERSION:
                self._db.executescript(
                    (resources.files(__package__) / "batch_tables.sql").read_text()
                )
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

    def _all(self, query: str, read: Callable[..., Any] | None = None, **values: Any) -> list[Any]:
        """Execute a statement; return its rows, or what `read` returns for their columns."""
        with self._explained():
            rows = self._db.execute(query, {"run": self._run, **values}).fetchall()
            return [read(*row) for row in rows] if read else rows

    @contextmanager
    def together(self) -> Iterator[None]:
        """Group all writes in this context into one transaction."""
        self._all("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.rollback()
            raise
        self._all("COMMIT")

    # --- what steps ask for ---

    def ask(
        self, key: str, endpoint: Endpoint, body: Mapping[str, Any], usage: Usage
    ) -> tuple[Reply | None, Usage]:
        """Return the reply to a request and its row of the table `usage`.

        A request without a reply is noted, with `usage` as the row that it is charged to.
        """
        query = "SELECT reply, usage FROM requests WHERE run = :run AND key = :key"
        noted: list[tuple[Reply | None, Usage]] = self._all(query, _answer, key=key)
        if noted:
            return noted[0]
        self._all(
            "INSERT OR IGNORE INTO requests (run, key, place, state, tries, body, usage) "
            "VALUES (:run, :key, :place, 'new', 0, :body, :usage)",
            key=key,
            place=_json(endpoint),
            body=pack(body),
            usage=_json(usage),
        )
        return None, usage

    def knows(self, key: str) -> bool:
        """Return whether the run has noted a request whose key begins with `key`."""
        query = "SELECT 1 FROM requests WHERE run = :run AND key > :low AND key < :high LIMIT 1"
        return bool(self._all(query, low=f"{key}-", high=f"{key}."))

    def claimed(self, owner: str, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` that the response `owner` has claimed."""
        query = "SELECT 1 FROM claims WHERE run = :run AND key = :key AND owner = :owner"
        return {key for key in keys if self._all(query, key=key, owner=owner)}

    def claim(self, owner: str, keys: Collection[str]) -> tuple[list[list[str]], bool]:
        """Claim judgements for a response, so that no other response asks for them.

        Returns the keys that it has to ask for, and whether other responses ask for the rest. The
        keys are in the same groups in every pass: those that this response claimed, and each one by
        itself that another response claimed without success.
        """
        with self.together():
            for key in keys:
                insert = "INSERT OR IGNORE INTO claims VALUES (:run, :key, :owner, 0)"
                self._all(insert, key=key, owner=owner)
        query = "SELECT owner = :owner, settled FROM claims WHERE run = :run AND key = :key"
        held = {key: self._all(query, key=key, owner=owner)[0] for key in keys}
        own = [key for key, (mine, _) in held.items() if mine]
        failed = [[key] for key, (mine, settled) in held.items() if settled and not mine]
        return [own, *failed] if own else failed, len(own) + len(failed) < len(held)

    # --- what a run does between its passes ---

    def begin(self) -> bool:
        """Delete the requests that an earlier process did not submit; return whether any were.

        The next pass asks for those that it needs.
        """
        noted = "state = 'new' AND tries = 0 OR state = 'again'"
        query = f"DELETE FROM requests WHERE run = :run AND ({noted}) RETURNING 1"  # noqa: S608
        return bool(self._all(query))

    def settle(self) -> None:
        """Let all responses ask for the judgements that others claimed and did not get."""
        self._all("UPDATE claims SET settled = 1 WHERE run = :run")

    def new(self) -> list[Endpoint]:
        """Return the endpoints that have new requests, one for each model."""
        query = "SELECT DISTINCT place FROM requests WHERE run = :run AND state = 'new' ORDER BY 1"
        return self._all(query, _endpoint)

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
        """Note a batch before it is submitted; `usd` has the highest costs of requests by key."""
        batch = Batch(uuid4().hex, endpoint, round_, len(usd), time.time())
        sent = "state = 'sent', batch = :name, usd = :usd"
        query = f"UPDATE requests SET {sent} WHERE run = :run AND key = :key"  # noqa: S608
        self._all("PRAGMA synchronous = FULL")  # a batch that is paid for outlives a power cut
        with self.together():
            self.note(batch)
            for key, cost in usd.items():
                self._all(query, name=batch.name, key=key, usd=cost)
        return batch

    def note(self, batch: Batch, **known: Any) -> Batch:
        """Store the fields of a batch that are `known` now, and return the updated batch."""
        batch = replace(batch, **known)
        columns = ":name, :run, :place, :round, :requests, :submitted, :id, :done, :ended"
        query = f"INSERT OR REPLACE INTO batches VALUES ({columns})"  # noqa: S608
        self._all(query, **{**asdict(batch), "place": _json(batch.endpoint)})
        return batch

    def batches(self) -> list[Batch]:
        """Return all batches of the run, the oldest first."""
        query = "SELECT * FROM batches WHERE run = :run ORDER BY submitted, name"
        return self._all(query, _batch)

    def under_way(self) -> list[Batch]:
        """Return the batches whose replies are not all stored yet, the oldest first."""
        return [batch for batch in self.batches() if batch.ended != STORED]

    def reserved(self) -> float:
        """Return the highest cost of the requests under way, in US dollars."""
        query = "SELECT coalesce(sum(usd), 0.0) FROM requests WHERE run = :run AND state = 'sent'"
        return float(self._all(query)[0][0])

    def sent(self, batch: Batch) -> dict[str, BatchedRequest]:
        """Return the requests of a batch that have no reply yet, by their keys."""
        query = f"SELECT key, tries, usd, usage FROM requests WHERE {_SENT}"  # noqa: S608
        return dict(self._all(query, _sent, name=batch.name))

    def put(self, key: str, reply: Reply | None, usage: Usage, tries: int = 1) -> None:
        """Store the reply to a request with its usage row; without one the request is new again.

        `tries` are added to those of the request.
        """
        kept = reply and pack(asdict(reply))
        self._all(
            "UPDATE requests SET state = iif(:reply IS NULL, 'new', 'answered'), reply = :reply, "
            "body = iif(:reply IS NULL, body, NULL), usage = :usage, tries = tries + :tries "
            "WHERE run = :run AND key = :key",
            key=key,
            reply=kept,
            usage=_json(usage),
            tries=tries,
        )

    def take_back(self, batch: Batch) -> None:
        """Delete a batch that was not accepted; its requests are new again."""
        self._all(f"UPDATE requests SET state = 'new' WHERE {_SENT}", name=batch.name)  # noqa: S608
        self._all("DELETE FROM batches WHERE run = :run AND name = :name", name=batch.name)

    def forget(self) -> None:
        """Delete everything of the run, once it is finished."""
        for table in ("requests", "batches", "claims"):
            self._all(f"DELETE FROM {table} WHERE run = :run")  # noqa: S608

    def held(self) -> dict[str, int]:
        """Return the numbers of requests under way and answered, of all runs, and of bytes."""
        query = (
            "SELECT coalesce(sum(state = 'sent'), 0), coalesce(sum(state = 'answered'), 0), "
            "(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) FROM requests"
        )
        names = ("batch_requests", "batch_replies", "batch_bytes")
        return dict(zip(names, self._all(query)[0], strict=True))


def _whole(data: bytes) -> Any:
    value = unpack(data)
    if value is None:
        raise ValueError("a row of it is damaged")
    return value


def _answer(reply: bytes | None, usage: str) -> tuple[Reply | None, Usage]:
    fields = _whole(reply) if reply else None  # some files have more fields
    known = fields and Reply(fields["status"], fields["payload"], fields["request_id"])
    return known, _usage(usage)


def _batch(name: str, run: str, place: str, *more: Any) -> Batch:
    return Batch(name, _endpoint(place), *more)


def _sent(key: str, tries: int, usd: float, usage: str) -> tuple[str, BatchedRequest]:
    return key, BatchedRequest(tries, usd, _usage(usage))


def _json(value: Endpoint | Usage) -> str:
    return json.dumps(asdict(value), sort_keys=True)


def _usage(row: str) -> Usage:
    return Usage(**json.loads(row))


def _endpoint(place: str) -> Endpoint:
    fields = json.loads(place)
    return Endpoint(**{**fields, "headers": tuple(map(tuple, fields["headers"]))})
