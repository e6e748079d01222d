"""Limit sizes, rates and concurrent work of the service."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ufo.schemas.text import quantity


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The limits of the service.

    - `…_bytes`: sizes of bodies. `…_per_minute`: requests of one client.
    - `checks`, `uploads`: how many may run at a time.
    - `check_seconds`: the longest check. `header_seconds`: until the last byte of a request's
      headers. `body_seconds`, `upload_seconds`: until the last byte of a body.
    - `pulse_seconds`: between the events that say that a check or an upload goes on.
      `silent_seconds`: until they report that an endpoint does not answer."""

    body_bytes: int = 4 * 1024 * 1024
    upload_bytes: int = 256 * 1024 * 1024
    reads_per_minute: int = 1_200
    writes_per_minute: int = 240
    checks: int = 8
    uploads: int = 2
    check_seconds: float = 900.0
    header_seconds: float = 20.0
    body_seconds: float = 60.0
    upload_seconds: float = 900.0
    pulse_seconds: float = 0.5
    silent_seconds: float = 3.5


class Refused(Exception):
    """The service refuses a request: it is too large, slow or frequent. Retry after `seconds`."""

    def __init__(self, status: int, detail: str, remedy: str, seconds: float) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.remedy = remedy
        self.seconds = seconds


class Slots:
    """A limit on the number of simultaneous operations; one more is refused, not queued."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken = 0
        self._lock = threading.Lock()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot.

        Raises:
            Refused: none is free.
        """
        with self._lock:
            if self._taken >= self._most:
                raise Refused(
                    429,
                    f"{self._taken} {self._what} are under way, which is the most at once",
                    "wait for one to finish, or cancel one",
                    2.0,
                )
            self._taken += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1


class Rate:
    """A token bucket for each client: `per_minute` on average, a quarter of it in one burst."""

    _CLIENTS = 4_096

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._burst = max(1.0, per_minute / 4)
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request.

        Raises:
            Refused: the client has reached its rate.
        """
        now = self._clock()
        level, at = self._levels.pop(client, (self._burst, now))
        level = min(self._burst, level + (now - at) * self._per_second)
        allowed = level >= 1
        self._levels[client] = (level - 1 if allowed else level), now
        # The client not seen for the longest time has a full bucket again, or nearly.
        while len(self._levels) > self._CLIENTS:
            self._levels.popitem(last=False)
        if not allowed:
            wait = (1 - level) / self._per_second
            raise Refused(
                429,
                f"more than {quantity(round(self._per_second * 60), 'request')} of this kind a "
                "minute",
                f"send fewer; the next is taken in {wait:.1f} s",
                wait,
            )
