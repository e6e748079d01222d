"""Keep the requests of a run that a provider answers as batches, in a SQLite file on disk.

A request is `new` once a step has asked for it, `sent` in a batch, then `answered`, or to be asked
`again`, or `failed` for good. What is in the file survives a killed process: a batch is noted
before it is submitted, and its requests are `sent` from then on. The file is beside the cache, and
serves all runs that use that cache; a run sees its own rows alone.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.schemas.storage import cache_folder, is_remote
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.memory import packed, unpacked

NEW, SENT, AGAIN, ANSWERED, FAILED = "new", "sent", "again", "answered", "failed"
_WAIT_SECONDS: Final = 60.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS requests (
    run TEXT, key TEXT, endpoint TEXT, model TEXT, state TEXT, tries INTEGER, body BLOB, usage TEXT,
    batch TEXT, usd REAL, reply BLOB, PRIMARY KEY (run, key)
);
CREATE INDEX IF NOT EXISTS by_batch ON requests (batch);
CREATE INDEX IF NOT EXISTS by_state ON requests (run, state);
CREATE TABLE IF NOT EXISTS batches (
    name TEXT PRIMARY KEY, run TEXT, endpoint TEXT, model TEXT, round INTEGER, id TEXT, state TEXT,
    requests INTEGER, done INTEGER, submitted REAL
);
CREATE TABLE IF NOT EXISTS claims (
    run TEXT, key TEXT, owner TEXT, born TEXT, settled INTEGER, PRIMARY KEY (run, key, owner)
);
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a request in a batch: the HTTP `status` of its line and the JSON of its body.

    `message` is set where the request failed for good, with the provider's words; `status` is then
    their code.
    """

    status: str
    payload: Any
    request_id: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of requests for one model of one endpoint.

    `name` is ours, and `id` the provider's, None until it is known that the batch was accepted.
    `done` counts the requests that the provider has processed.
    """

    name: str
    endpoint: Endpoint
    model: str
    round: int
    id: str | None
    state: str
    requests: int
    done: int
    submitted: float


def store_path(cache: str) -> str:
    """Return the path of the file for a cache: beside it, or for one in a bucket, where SQLite
    cannot write, in the user's cache folder."""
    if not is_remote(cache):
        return f"{cache.rstrip('/')}.batches"
    name = sha256(cache.encode()).hexdigest()[:16]
    return str(cache_folder() / f"{name}.batches")


class BatchStore:
    """The requests, batches and claims of one run in the file at `path`.

    Use one object for each thread; any number of processes may use the file at a time.
    """

    def __init__(self, path: str, run: str) -> None:
        self._run = run
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with suppress(FileExistsError):  # readable by its owner alone, as the cache is
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            self._db = sqlite3.connect(
                path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA auto_vacuum = FULL")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise RunError(f"the file of batches {path!r} cannot be used: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    async def aclose(self) -> None:
        """Close the file."""
        self.close()

    # --- what steps ask for ---

    def ask(
        self, key: str, endpoint: Endpoint, body: Mapping[str, Any], usage: Usage
    ) -> tuple[Reply | None, bool]:
        """Return the reply to a request; where there is none, note that it is wanted.

        `usage` is its row in the usage table, as far as it is known before the reply. Returned is
        also whether the request is charged to that row, and not to an earlier one of its equals.
        """
        row = json.dumps(asdict(usage))
        found = self._db.execute(
            "SELECT state, usage, reply FROM requests WHERE run = ? AND key = ?", (self._run, key)
        ).fetchone()
        if found is None:
            place, model = json.dumps(asdict(endpoint), sort_keys=True), str(body["model"])
            values = (self._run, key, place, model, NEW, 0, packed(body), row)
            self._db.execute(
                "INSERT OR IGNORE INTO requests (run, key, endpoint, model, state, tries, body, "
                "usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            return None, True
        state, charged, reply = found
        if state == AGAIN:
            self._db.execute(
                "UPDATE requests SET state = ?, body = ? WHERE run = ? AND key = ? AND state = ?",
                (NEW, packed(body), self._run, key, AGAIN),
            )
        return None if reply is None else Reply(**unpacked(reply)), charged == row

    def knows(self, key: str) -> bool:
        """Return whether the run has asked for a request whose key begins like this."""
        query = "SELECT 1 FROM requests WHERE run = ? AND key > ? AND key < ?"
        return bool(self._db.execute(query, (self._run, f"{key}-", f"{key}.")).fetchone())

    def claim(self, owner: str, keys: Iterable[str]) -> tuple[list[list[str]], bool]:
        """Claim judgements for the response `owner`, so that no other response asks for them.

        Returns the owner's keys in groups, those claimed at one time together, and whether others
        have claimed some of the keys and not settled them. Groups stay as they are, so that they
        are packed into the same requests in every pass.
        """
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            groups: dict[str, list[str]] = {}
            theirs, born = False, uuid4().hex
            for key in keys:
                held = self._db.execute(
                    "SELECT owner, born, settled FROM claims WHERE run = ? AND key = ?",
                    (self._run, key),
                ).fetchall()
                own = next((group for who, group, _ in held if who == owner), None)
                if own is None and not all(settled for *_, settled in held):
                    theirs = True
                    continue
                if own is None:
                    values = (self._run, key, owner, born, 0)
                    self._db.execute("INSERT INTO claims VALUES (?, ?, ?, ?, ?)", values)
                groups.setdefault(own or born, []).append(key)
        return list(groups.values()), theirs

    def claimed(self, owner: str, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that `owner` has claimed before."""
        query = "SELECT 1 FROM claims WHERE run = ? AND key = ? AND owner = ?"
        return {one for one in keys if self._db.execute(query, (self._run, one, owner)).fetchone()}

    def settle(self, owner: str, keys: Iterable[str]) -> None:
        """Note that claimed judgements were made: they are cached, or others may ask for them."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.executemany(
                "UPDATE claims SET settled = 1 WHERE run = ? AND key = ? AND owner = ?",
                [(self._run, key, owner) for key in keys],
            )

    # --- what a run does between its passes ---

    def begin_pass(self, claims: bool = True) -> None:
        """Forget the requests that no batch has: a pass asks for those that are still wanted.

        Without `claims` those that are not settled are forgotten, too.
        """
        self._db.execute(
            "DELETE FROM requests WHERE run = ? AND state = ? AND tries = 0", (self._run, NEW)
        )
        self._db.execute(
            "UPDATE requests SET state = ? WHERE run = ? AND state = ?", (AGAIN, self._run, NEW)
        )
        if not claims:
            self._db.execute("DELETE FROM claims WHERE run = ? AND NOT settled", (self._run,))

    def new(self) -> list[tuple[Endpoint, str]]:
        """Return the endpoints and models that have new requests."""
        found = self._db.execute(
            "SELECT DISTINCT endpoint, model FROM requests WHERE run = ? AND state = ? "
            "ORDER BY endpoint, model",
            (self._run, NEW),
        )
        return [(_endpoint(place), model) for place, model in found.fetchall()]

    def bodies(
        self, endpoint: Endpoint, model: str, most: int
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield key and body of up to `most` new requests for a model, in the order they were asked
        for."""
        place = json.dumps(asdict(endpoint), sort_keys=True)
        found = self._db.execute(
            "SELECT key, body FROM requests WHERE run = ? AND state = ? AND endpoint = ? AND "
            "model = ? ORDER BY rowid LIMIT ?",
            (self._run, NEW, place, model, most),
        )
        yield from ((key, unpacked(body)) for key, body in found)

    def plan(self, endpoint: Endpoint, model: str, round_: int, usd: Mapping[str, float]) -> Batch:
        """Note a batch of the requests with these keys, before it is submitted; each may cost so
        many US dollars."""
        name, place = uuid4().hex, json.dumps(asdict(endpoint), sort_keys=True)
        batch = Batch(name, endpoint, model, round_, None, SENT, len(usd), 0, time.time())
        values = (name, self._run, place, model, round_, None, SENT, len(usd), 0, batch.submitted)
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            self._db.executemany(
                "UPDATE requests SET state = ?, batch = ?, usd = ? WHERE run = ? AND key = ?",
                [(SENT, name, cost, self._run, key) for key, cost in usd.items()],
            )
        return batch

    def note(self, batch: Batch, **fields: Any) -> Batch:
        """Write changed fields of a batch; return it with them."""
        names = ", ".join(f"{name} = ?" for name in fields)
        self._db.execute(
            f"UPDATE batches SET {names} WHERE name = ?",  # noqa: S608
            (*fields.values(), batch.name),
        )
        return replace(batch, **fields)

    def under_way(self) -> list[Batch]:
        """Return the batches whose replies are not stored yet, the oldest first."""
        found = self._db.execute(
            "SELECT name, endpoint, model, round, id, state, requests, done, submitted "
            "FROM batches WHERE run = ? AND state = ? ORDER BY submitted, name",
            (self._run, SENT),
        )
        return [Batch(name, _endpoint(at), *rest) for name, at, *rest in found.fetchall()]

    def last_round(self) -> int:
        """Return the number of the last round, 0 before the first."""
        query = "SELECT coalesce(max(round), 0) FROM batches WHERE run = ?"
        return int(self._db.execute(query, (self._run,)).fetchone()[0])

    def reserved(self) -> float:
        """Return what the requests under way may cost, in US dollars."""
        query = "SELECT coalesce(sum(usd), 0.0) FROM requests WHERE run = ? AND state = ?"
        return float(self._db.execute(query, (self._run, SENT)).fetchone()[0])

    def sent(self, batch: Batch) -> dict[str, tuple[int, Usage]]:
        """Return tries and usage row of the requests of a batch that have no reply yet, by key."""
        found = self._db.execute(
            "SELECT key, tries, usage FROM requests WHERE batch = ? AND state = ?",
            (batch.name, SENT),
        )
        return {key: (tries, Usage(**json.loads(row))) for key, tries, row in found.fetchall()}

    def put(self, replies: Mapping[str, Reply | None], tries: int) -> None:
        """Store replies by key, in one transaction; where there is None, the request is to be asked
        again. `tries` is added to how often each was tried in vain."""
        rows = [
            (
                AGAIN if one is None else FAILED if one.message else ANSWERED,
                tries,
                one and packed(asdict(one)),
                self._run,
                key,
            )
            for key, one in replies.items()
        ]
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.executemany(
                "UPDATE requests SET state = ?, tries = tries + ?, reply = ? "
                "WHERE run = ? AND key = ?",
                rows,
            )

    def take_back(self, batch: Batch) -> None:
        """Let the requests of a batch that was not accepted be new again, and forget it."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.execute(
                "UPDATE requests SET state = ?, batch = NULL WHERE batch = ? AND state = ?",
                (NEW, batch.name, SENT),
            )
            self._db.execute("DELETE FROM batches WHERE name = ?", (batch.name,))

    def forget(self) -> None:
        """Delete everything of the run, once it is finished."""
        for table in ("requests", "batches", "claims"):
            self._db.execute(f"DELETE FROM {table} WHERE run = ?", (self._run,))  # noqa: S608


def _endpoint(text: str) -> Endpoint:
    fields = json.loads(text)
    return Endpoint(**{**fields, "headers": tuple(map(tuple, fields["headers"]))})


def summary(path: str, run: str | None = None) -> dict[str, Any] | None:
    """Return what a file of batches holds, of one run or of all; None where there is no file.

    `batches` are those under way, each with its age in seconds and its counts; `requests` are by
    state, `bytes` those of bodies and replies.
    """
    if not os.path.exists(path):
        return None
    try:
        db = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", _WAIT_SECONDS, uri=True)
        where, values = ("WHERE run = ?", [run]) if run else ("", [])
        states = db.execute(
            f"SELECT state, count(*) FROM requests {where} GROUP BY state",  # noqa: S608
            values,
        ).fetchall()
        (size,) = db.execute(
            "SELECT coalesce(sum(length(body) + coalesce(length(reply), 0)), 0) "  # noqa: S608
            f"FROM requests {where}",
            values,
        ).fetchone()
        rows = db.execute(
            "SELECT id, name, model, round, requests, done, submitted FROM batches "  # noqa: S608
            f"{where or 'WHERE true'} AND state = ? ORDER BY submitted",
            [*values, SENT],
        ).fetchall()
        db.close()
    except sqlite3.Error as error:
        raise RunError(f"the file of batches {path!r} cannot be read: {error}") from error
    names = ("id", "name", "model", "round", "requests", "done", "submitted")
    batches = [dict(zip(names, row, strict=True)) for row in rows]
    for batch in batches:
        batch["age_seconds"] = round(time.time() - batch.pop("submitted"))
    return {"batches": batches, "requests": dict(states), "bytes": size}
