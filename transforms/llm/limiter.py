"""Limit the requests to one endpoint: how many at once, how many a minute, and when none.

The `Limiter` of an endpoint has the state that its requests share. It adapts the number of
concurrent requests by additive increase and multiplicative decrease (Chiu and Jain, 1989), as in
TCP. Until the first overload that number grows by one with each quick reply (slow start). Requests
are spread evenly over the minute, since endpoints enforce limits a minute over shorter intervals.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from math import ceil, inf
from typing import Any, Final

from ufo.schemas.records import Usage
from ufo.schemas.text import quantity
from ufo.transforms.llm.errors import BUSY, MODEL, SendError
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.request import LlmError, Report
from ufo.transforms.llm.retry import REAL, Retry, Timing
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.waits import used_up

_LOG: Final = logging.getLogger("ufo.llm")

LOCAL_START: Final = 2
"""The initial number of concurrent requests to an endpoint on this machine."""


_UNANSWERED: Final = ("timeout", "connection")
_CROWDED: Final = ("429", "503", "529")
_OVERLOAD: Final = {"408", "502", "504", *_CROWDED, *_UNANSWERED}
_WORDS: Final = {
    "timeout": "timed out",
    "connection": "lost the connection",
    "garbled": "got a reply that cannot be read",
}
_BETWEEN_REPORTS: Final = 3.0  # seconds
_STOPPED_SECONDS: Final = 10.0
_STEP: Final = 0.125  # added to the concurrency by a reply that is slow or after an overload
_SLOW: Final = 0.25  # share of the time-out: a slower reply shows a busy endpoint
_MINUTE: Final = 60.0
_USED: Final = 0.95  # share of a limit a minute that is used
_CATCH_UP: Final = 1.0  # seconds of delay for which requests may be sent faster afterwards
_LOOK_AGAIN: Final = 0.25  # seconds
_SAME: Final = 5  # requests that fail alike, with no good reply between: the endpoint is to blame
_SAME_LARGE: Final = 20  # the same where only the size or the text of the requests may be to blame
_LARGE: Final = 3000  # characters of a prompt that may be too large
_PASSING: Final = "passing"


@dataclass(slots=True)
class Stop:
    """A flag that stops all further requests.

    The endpoints of a run share one, which holds until the run ends. Elsewhere it holds for one
    endpoint and ten seconds, since a service and an engine go on.
    """

    of_run: bool = False
    _message: str = ""
    _until: float = -inf

    def set(self, message: str, now: float) -> None:
        """Stop all further requests, with the message of an error."""
        self._message = message
        self._until = inf if self.of_run else now + _STOPPED_SECONDS

    def message(self, now: float) -> str:
        """Return the message of the error that stops requests, "" where nothing does."""
        return self._message if now < self._until else ""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The rate limits of one endpoint; None for no limit of that kind."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def divided(self, workers: int) -> "RateLimits":
        """Return the share of each of `workers` processes; at least 1, see `most_workers`."""
        return RateLimits(*(limit and max(1, limit // workers) for limit in astuple(self)))

    @property
    def most_workers(self) -> float:
        """The largest number of processes that together can keep within the limits."""
        return min((limit for limit in astuple(self) if limit is not None), default=inf)


@dataclass(slots=True, eq=False)
class AdmittedRequest:
    """A request that the limiter admitted.

    It was `queued_at` and `sent_at` these times of the clock. `tokens` are reserved for it, `size`
    is the number of characters of its prompt, and `row` its usage row.
    """

    number: int
    queued_at: float
    sent_at: float
    tokens: int
    size: int
    row: Usage | None

    @property
    def probe(self) -> bool:
        """Whether the request probes the endpoint."""
        return self.row is not None and self.row.step == PROBE


class Pace:
    """Spreads an amount a minute evenly, by virtual scheduling (the generic cell rate algorithm).

    Its only state is the time from which the next request may be sent.
    """

    def __init__(self, per_minute: int | None, now: float) -> None:
        self._seconds = _MINUTE / (_USED * per_minute) if per_minute else 0.0  # of each
        self._next = now

    def wait(self, now: float) -> float:
        """Return the seconds until the next request may be sent, none if not positive."""
        return self._next - now

    def take(self, amount: int, now: float) -> None:
        """Count an amount that is sent now."""
        self._next = max(self._next, now - _CATCH_UP)
        self.correct(amount)

    def correct(self, more: int) -> None:
        """Add an amount, which may be negative, to the amount sent."""
        self._next += more * self._seconds


@dataclass(slots=True)
class Failing:
    """The requests that failed since an endpoint's last good reply.

    They tell whether the endpoint is to blame, or one text.
    """

    answered: bool = False  # by a reply that was not a probe's
    largest: int = _LARGE  # characters of a prompt that is not too large
    # By the words or the status, and by the row of a request: the request, and the number of the
    # one sent last.
    failed: dict[str, dict[int, tuple[AdmittedRequest, int]]] = field(default_factory=dict)
    of_texts: set[str] = field(default_factory=set)  # words that later requests did not get

    def good(self, sent: AdmittedRequest) -> None:
        """Record a good reply."""
        self.answered = self.answered or not sent.probe
        self.largest = max(self.largest, sent.size)
        for words, same in self.failed.items():
            if sent.number > min(newest for _, newest in same.values()):
                self.of_texts.add(words)
        self.failed.clear()

    def bad(self, sent: AdmittedRequest, error: SendError, last: bool, newest: int) -> int:
        """Record an error; return how many requests got it where all would get it, else 0.

        `last` says that no other request is in progress, and `newest` is the number of the request
        sent last. A refusal in unknown words may be about the size of the request: of the large
        ones of a response and step the first does not count, since it is halved then. Words that
        some requests got and later ones did not, as of a content filter, have to come more often,
        and so do a status's different words.
        """
        words = error.sameness or (_PASSING if error.transient else "")
        if not words or sent.row is None or sent.probe:
            return 0
        same, any_words = (self.failed.setdefault(key, {}) for key in (words, error.status))
        for failed in (same, any_words):
            failed.setdefault(id(sent.row), (sent, newest))
        if words == _PASSING:
            return 0
        rows = [one.row for one, _ in same.values() if one.row and one.size > self.largest]
        alike = len(same) - len({(row.response_id, row.step) for row in rows})
        few = last and not self.answered and alike > 1
        many = alike >= _SAME and words not in self.of_texts
        if few or many:
            return len(same)
        return len(any_words) if len(any_words) >= _SAME_LARGE else 0

    @property
    def all_fail(self) -> bool:
        """Whether several requests failed for reasons that pass."""
        return len(self.failed.get(_PASSING, ())) >= _SAME


@dataclass(eq=False)
class Limiter:
    """Admits requests to one endpoint in the order of arrival; use it on one event loop.

    `start` is the initial concurrency; `timeout` is of one request, in seconds. `stop` is shared by
    all endpoints of a run.

    No request is delayed for longer than `retry` allows. `reached` says that the endpoint answered
    another process of the run. Where it `queues`, an endpoint that is too busy is waited for,
    however many tries that takes. Messages call it `name` and go to `report`, by default the log.
    """

    limits: RateLimits
    stop: Stop = field(default_factory=Stop)
    start: float = inf
    timeout: float = inf
    timing: Timing = REAL
    retry: Retry = field(default_factory=Retry)
    report: Report = _LOG.warning
    name: str = "the endpoint"
    reached: bool = False
    queues: bool = True

    def __post_init__(self) -> None:
        now = self.timing.clock()
        self._requests = Pace(self.limits.requests_per_minute, now)
        self._tokens = Pace(self.limits.tokens_per_minute, now)
        self._most = float(self.limits.concurrency or inf)
        self.limit = min(self._most, self.start)
        """The current limit of concurrent requests."""
        self.in_flight = 0
        """The number of requests in flight."""
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._asked = self._number = self._last_cut = 0
        self._failing = Failing()
        self._silent_since: float | None = None
        self._paused_until = self._next_report = self._good_at = -inf
        self._good = 0  # replies
        self._limited: tuple[float, int] | None = None  # the first rate limit: when, after how many
        self._advised = False

    def begin(self) -> None:
        """Count a request as in progress, over all of its attempts, until `end`."""
        self._asked += 1

    def end(self) -> None:
        """Count a request as ended."""
        self._asked -= 1
        if not self._asked:
            self._silent_since = None

    def silence(self) -> float:
        """Return the seconds for which the endpoint has been asked without answering."""
        since = self._silent_since
        return 0.0 if since is None else self.timing.clock() - since

    async def admit(self, body: Mapping[str, Any], row: Usage | None = None) -> AdmittedRequest:
        """Wait until a request may be sent; it counts as in flight until `release`.

        Raises:
            LlmError: final; an endpoint of the run has just failed for good.
        """
        tokens = self._counted(tokens_at_most(body)) if self.limits.tokens_per_minute else 0
        size = sum(len(message["content"] or "") for message in body.get("messages", ()))
        asked_at = self.timing.clock()
        async with self._turn:
            now = await self._wait_for_turn()
            self.in_flight += 1
            self._number += 1
            self._requests.take(1, now)
            self._tokens.take(tokens, now)
            if self._silent_since is None:
                self._silent_since = now
            return AdmittedRequest(self._number, asked_at, now, tokens, size, row)

    def release(self) -> None:
        """Count a request as no longer in flight."""
        self.in_flight -= 1
        self._freed.set()

    def answered(
        self, sent: AdmittedRequest, headers: Mapping[str, str], tokens: int | None
    ) -> None:
        """Adapt the limits to a good reply and the `tokens` that it reports."""
        self._record_answer()
        self._failing.good(sent)
        self._good += 1
        now = self._good_at = self.timing.clock()
        starts = not self._last_cut and now - sent.sent_at <= _SLOW * self.timeout
        self.limit = min(self._most, self.limit + (1.0 if starts else _STEP))
        if tokens is not None:
            self._tokens.correct(self._counted(tokens) - sent.tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: AdmittedRequest, error: SendError) -> SendError:
        """Adapt to an error: lower the concurrency, pause all requests, or stop the run.

        Returns the error, or a final one where every further request would fail too.
        """
        error.queued = sent.sent_at - sent.queued_at
        if error.status not in _UNANSWERED:
            self._record_answer()
        # Outside a run a wrong model, a text or a lost connection stops nobody else's requests.
        for_all = error.final and error.kind not in ("", MODEL)
        if error.transient and (error.retry_after or 0.0) > self.retry.seconds:
            more = (
                f"It asks to wait {error.retry_after:,.0f} s, and retries may take "
                f"{self.retry.seconds:,.0f} s (--retry_seconds); run the same command again after "
                "that"
            )
            error = _final(error, more)
        if same := self._failing.bad(sent, error, self._asked <= 1, self._number):
            more = (
                f"{same} requests in a row were refused so; mend what it names, and run the same "
                "command again"
            )
            error = _final(error, more)
        if error.final and (for_all or self.stop.of_run):
            self.stop.set(error.message, self.timing.clock())
        # A request sent before the last cut says nothing about the lower limit.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
            self._last_cut = self._number
        self._pause(error.retry_after)
        return error

    def waits(self, error: SendError, since: float) -> bool:
        """Return whether a request that first failed at `since` is tried for as long as allowed.

        The endpoint is to blame where it says that it is busy, where it answered before and does
        not now, and where several requests have failed and none was answered in that time.
        """
        if error.status in _UNANSWERED:
            return self.reached
        busy = error.status in _CROWDED or error.kind == BUSY
        return self.queues and (busy or (self._failing.all_fail and self._good_at < since))

    def retrying(self, error: SendError, pause: float, left: float) -> None:
        """Report a retry to the user, once in a few seconds; a rate limit once.

        `left` is the time for retries, in seconds.
        """
        now = self.timing.clock()
        if error.status == "429":
            self._advise(error, now)
        elif now >= self._next_report:
            self._next_report = now + _BETWEEN_REPORTS
            word = _WORDS.get(error.status, f"got status {error.status}")
            message = f"a request {word}, retrying in {max(1, ceil(pause))} s"
            if error.status == "connection" and self.reached:
                message = f"{self.name} does not answer, retrying for {_duration(left, ' more')}"
            self.report(message)

    def gave_up(self, error: SendError, since: float) -> SendError:
        """Return the error of a request that was tried for as long as allowed.

        It is final where no other request was answered well for that long.
        """
        seconds = self.timing.clock() - since
        least = 0.0 if error.status == "connection" else _MINUTE
        if error.status == "timeout" or self._good_at >= since or seconds <= least:
            return error
        tried = _duration(seconds)
        more = (
            f"No request was answered for {tried}; run the same command again when the endpoint "
            "answers"
        )
        error = _final(error, more)
        if self.stop.of_run:
            self.stop.set(error.message, self.timing.clock())
        return error

    def _advise(self, error: SendError, now: float) -> None:
        """Report a rate limit, and the value of the flag that fits it.

        The value is the one that the error names, else after a minute the rate of the replies since
        the first rate limit.
        """
        if self._limited is None:
            self._limited = now, self._good
            self.report(f"a rate limit was met: {error.message}; requests wait for it")
        since, before = self._limited
        minutes = (now - since) / _MINUTE
        fits = error.per_minute or (round((self._good - before) / minutes) if minutes >= 1 else 0)
        if fits and not self._advised and fits < (self.limits.requests_per_minute or inf):
            self._advised = True
            self.report(f"--requests_per_minute {fits} would fit {self.name}")

    def _counted(self, tokens: int) -> int:
        """Return the tokens that count against the limit, at most those of a minute.

        So neither a large request nor a wrong number keeps others waiting for longer.
        """
        return min(tokens, self.limits.tokens_per_minute or tokens)

    def _record_answer(self) -> None:
        self.reached = True
        # An answered request counts as in flight until it is released.
        self._silent_since = self.timing.clock() if self.in_flight > 1 else None

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self.retry.seconds:
            self._paused_until = max(self._paused_until, self.timing.clock() + seconds)

    async def _wait_for_turn(self) -> float:
        """Wait until the next request may be sent; return the time."""
        while True:
            now = self.timing.clock()
            if message := self.stop.message(now):
                raise LlmError(message, final=True)
            paused = self._paused_until - now
            wait = max(self._requests.wait(now), self._tokens.wait(now))
            if paused > 0:
                # Jitter, so that not all processes send at the same moment.
                await self.timing.sleep(paused + min(1.0, paused / 10) * self.timing.chance())
            elif self.in_flight + 1 > self.limit:
                self._freed.clear()
                await self._freed.wait()
            elif wait > 0:
                # A reply with fewer tokens than reserved makes room earlier.
                await self.timing.sleep(min(wait, _LOOK_AGAIN))
            else:
                return now


def _final(error: SendError, more: str) -> SendError:
    message = f"{error.message.rstrip('.')}. {more}"
    return SendError(message, error.status, final=True, request_id=error.request_id)


def _duration(seconds: float, more: str = "") -> str:
    if seconds < 90:
        return quantity(max(0, ceil(seconds)), f"{more} second".strip())
    return quantity(round(seconds / 60), f"{more} minute".strip())
