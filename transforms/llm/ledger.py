"""Numbers that the processes of a run add up: what it costs, and how far it is.

They are in a small SQLite file that lies with the attempt: whoever works adds to it, the process
that started the run reads it for its progress, and a run that goes on finds there what was spent.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from schemas.errors import RunError

REQUESTS = "requests"
IN_FLIGHT = "in_flight"
PROMPT_TOKENS = "prompt_tokens"
COMPLETION_TOKENS = "completion_tokens"
COST = "cost_usd"
RESERVED = "reserved_usd"
RESPONSES = "responses"
UNITS = "units"
DECIDED = "decided by "
EXTRACTED = "extracted"
FAILURES = "failures"
_CLOSED = "closed"
_OF_EARLIER = (REQUESTS, PROMPT_TOKENS, COMPLETION_TOKENS, COST)

_BETWEEN_WRITES = 0.25  # seconds, where nothing depends on the count


class Ledger:
    """Numbers by name, summed over the processes that add to them.

    `path` is a local file. Each object adds under a key of its own; one thread uses it at a time.
    Nothing is counted twice.

    Raises, in every method:
        RunError: the file cannot be read or written.
    """

    exact = True

    def __init__(self, path: str) -> None:
        self.path = path
        self._key = uuid4().hex
        with self._explained():
            # Autocommit, so that transactions are those that are written here. What a crash of the
            # machine could lose is not worth a disk flush a request.
            self._base = sqlite3.connect(
                path, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = OFF")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS counts "
                "(owner TEXT, name TEXT, value REAL, PRIMARY KEY (owner, name))"
            )

    def begin(self, before: Mapping[str, float] | None = None) -> None:
        """Start a process of the run: what earlier ones reserved and did not settle counts as
        spent, since it was sent; what only they could tell is forgotten. `before` is what was spent
        before the first of them."""
        with self._explained(), self._writing():
            totals = self._totals() or dict(before or {})
            totals[COST] = totals.get(COST, 0.0) + totals.get(RESERVED, 0.0)
            self._base.execute("DELETE FROM counts")
            self._add("earlier", {name: totals.get(name, 0.0) for name in _OF_EARLIER})

    def add(self, changes: Mapping[str, float]) -> None:
        """Add to the numbers of these names."""
        with self._explained(), self._writing():
            self._add(self._key, changes)

    def totals(self) -> dict[str, float]:
        """Return the sum of each number."""
        with self._explained():
            return self._totals()

    def reserve(self, usd: float, cap: float) -> bool | None:
        """Set an amount aside; True where that keeps what is spent and set aside within the cap.

        None where it may fit once others have settled; False where it cannot, which closes the
        ledger to everyone.
        """
        with self._explained(), self._writing():
            totals = self._totals()
            spent = totals.get(COST, 0.0)
            if totals.get(_CLOSED):
                return False
            if spent + usd > cap:
                self._add(self._key, {_CLOSED: 1})
                return False
            if spent + totals.get(RESERVED, 0.0) + usd > cap:
                return None
            self._add(self._key, {RESERVED: usd, IN_FLIGHT: 1})
            return True

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _totals(self) -> dict[str, float]:
        return dict(self._base.execute("SELECT name, sum(value) FROM counts GROUP BY name"))

    def _add(self, owner: str, changes: Mapping[str, float]) -> None:
        self._base.executemany(
            "INSERT INTO counts VALUES (?, ?, ?) "
            "ON CONFLICT (owner, name) DO UPDATE SET value = value + excluded.value",
            [(owner, name, value) for name, value in changes.items()],
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise RunError(
                f"the count of what the run cost, {self.path}, cannot be used: {error}"
            ) from error


def begun(path: str, before: Mapping[str, float] | None = None) -> str:
    """Start a process of the run at this ledger, see `Ledger.begin`; returns its path."""
    ledger = Ledger(path)
    ledger.begin(before)
    ledger.close()
    return path


class Counter:
    """Numbers that are added to a ledger now and then; for any thread.

    Without a ledger they go nowhere.
    """

    def __init__(self, path: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._ledger: Ledger | None = None
        self._clock = clock
        self._waiting: dict[str, float] = {}
        self._wrote = -_BETWEEN_WRITES
        self._lock = threading.Lock()

    def add(self, changes: Mapping[str, float], now: bool = False) -> None:
        """Count; `now` writes at once, which else waits a quarter of a second."""
        if self._path is None:
            return
        with self._lock:
            for name, value in changes.items():
                self._waiting[name] = self._waiting.get(name, 0.0) + value
            if now or self._clock() - self._wrote >= _BETWEEN_WRITES:
                self._flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        with self._lock:
            if self._waiting:
                self._flush()
            if self._ledger is not None:
                self._ledger.close()
                self._ledger = None

    def _flush(self) -> None:
        if self._ledger is None:
            self._ledger = Ledger(str(self._path))
        self._ledger.add(self._waiting)
        self._waiting = {}
        self._wrote = self._clock()
