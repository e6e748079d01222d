"""Send a request with rate limits, retries, budget and usage row; end a run that cannot go on.

Requests to language models and to search engines use it. The `Limiter` of an endpoint has the state
that its requests share. It adapts the number of concurrent requests by additive increase and
multiplicative decrease (Chiu and Jain, 1989), as in TCP. Where that number starts low, it grows by
one with each reply (slow start) until the first overload, or until replies take a quarter of the
time-out. Requests are spread evenly over the minute, since endpoints enforce limits a minute over
shorter intervals.
"""

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import astuple, dataclass, field, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from uuid import uuid4

from ufo.schemas.records import Usage
from ufo.transforms.llm.errors import BUSY, SendError, Tokens
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.request import LlmError, Report
from ufo.transforms.llm.tokens import tokens_at_most
from ufo.transforms.llm.usage import OK
from ufo.transforms.llm.waits import used_up

if TYPE_CHECKING:
    from ufo.transforms.llm.budget import Budget

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

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
_STEP: Final = 0.125  # added to the concurrency by each reply after an overload
_SLOW: Final = 0.25  # share of the time-out: a slower reply shows a busy endpoint
_MINUTE: Final = 60.0
_CATCH_UP: Final = 3.0  # seconds of delay for which requests may be sent faster afterwards
_HEADROOM: Final = 1.1  # factor of tokens reserved over the highest recent use
_LOOK_AGAIN: Final = 1.0  # second
_ON_ITS_WAY: Final = 6.0  # seconds after which the endpoint has counted a request
_SAME: Final = 5  # requests that fail alike, with no good reply between: the endpoint is to blame
_SAME_LARGE: Final = 20  # the same where only the size or the text of the requests may be to blame
_LARGE: Final = 3000  # characters of a prompt that may be too large
_LOG = logging.getLogger("ufo.llm")


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, sleep and random numbers; tests pass their own."""

    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic


REAL: Final = Timing()


@dataclass(frozen=True, slots=True)
class Retry:
    """A retry policy: tries for `seconds` after the first failure, and at most `attempts` where
    only this request fails.

    Pauses double from `first` to `longest` seconds. An endpoint's `retry-after` replaces them as
    long as it ends within `seconds`.
    """

    attempts: int = 8
    seconds: float = 900.0
    first: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, asked: float | None, chance: float) -> float:
        """Return the pause after attempt 0, 1, …; `chance` in [0, 1) spreads the callers out."""
        backoff = min(self.first * 2.0 ** min(attempt, 30), self.longest)
        if asked is None:
            return backoff * (0.5 + chance / 2)
        # Never before the time asked for, and with jitter after it.
        return asked + min(backoff, 1.0) * chance

    def within(self, error: SendError) -> SendError:
        """Return the error, or a final one where the endpoint asks for a pause over `seconds`."""
        if not error.transient or (error.retry_after or 0.0) <= self.seconds:
            return error
        message = (
            f"{error.message}. It asks to wait {error.retry_after:,.0f} s, and retries may take "
            f"{self.seconds:,.0f} s (--retry_seconds); run the same command again after that"
        )
        return _final(error, message)


def _final(error: SendError, message: str) -> SendError:
    return SendError(message, error.status, final=True, request_id=error.request_id)


class Stop:
    """A flag, shared by the endpoints of a run, that stops all further requests.

    It is reset after `seconds`, for processes that are used beyond one run.
    """

    def __init__(self, seconds: float = _STOPPED_SECONDS) -> None:
        self._seconds = seconds
        self._message = ""
        self._until = -inf

    def stop(self, message: str, now: float) -> None:
        """Set the flag, with the message of the error that caused it."""
        self._message, self._until = message, now + self._seconds

    def stopped(self, now: float) -> str | None:
        """Return the message of the error that set the flag, None where it is not set."""
        return self._message if now < self._until else None


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
class Sent:
    """A request that the limiter admitted: when it was made, sent and ended; the tokens estimated
    from its text, and those that count against the limit a minute; its usage row, and the
    characters of its prompt."""

    number: int
    made: float
    at: float
    estimate: float
    tokens: float
    row: Usage | None = None
    size: int = 0
    ended: float = inf

    @property
    def expires(self) -> float:
        """The time from which it counts no more against the limits a minute.

        It is unknown when an endpoint counts a request. So it counts here from when it is sent
        until a minute after its reply, or after it must have arrived.
        """
        return min(self.ended, self.at + _ON_ITS_WAY) + _MINUTE


@dataclass(slots=True)
class Failing:
    """The requests that failed since an endpoint's last good reply, to tell what is wrong with the
    endpoint from what is wrong with one text."""

    answered: bool = False  # by a reply that was not a probe's
    largest: int = _LARGE  # characters of a prompt that is not too large
    all: dict[int, Usage] = field(default_factory=dict)
    alike: dict[str, dict[int, Usage]] = field(default_factory=dict)
    larger: dict[str, dict[int, Usage]] = field(default_factory=dict)
    # By the words of a refusal, the number of the last request that was sent before it came.
    since: dict[str, int] = field(default_factory=dict)
    of_texts: set[str] = field(default_factory=set)  # words that later requests did not get

    def good(self, sent: Sent) -> None:
        """Learn of a good reply."""
        self.answered = self.answered or sent.row is None or sent.row.step != PROBE
        self.largest = max(self.largest, sent.size)
        self.of_texts |= {words for words, last in self.since.items() if sent.number > last}
        for failed in (self.all, self.alike, self.larger):
            failed.clear()

    def bad(self, sent: Sent, error: SendError, last: bool, newest: int) -> int:
        """Learn of an error; return how many requests got it where all would get it, else 0.

        `last` says that no other request is in progress, and `newest` is the number of the request
        sent last. A refusal in unknown words may be about the size of the request. It is not where
        a shorter one of the same response got it too. Words that some requests got and later ones
        did not, as of a content filter, have to come more often.
        """
        row = sent.row
        if row is None or row.step == PROBE:
            return 0
        if error.transient:
            self.all[id(row)] = row
        if not error.sameness:
            return 0
        self.since.setdefault(error.sameness, newest)
        alike = self.alike.setdefault(error.sameness, {})
        larger = self.larger.setdefault(error.sameness, {})
        own = row.response_id, row.step
        halved = any((other.response_id, other.step) == own for other in larger.values())
        (alike if sent.size <= self.largest or halved else larger)[id(row)] = row
        few = last and not self.answered and len(alike) > 1
        same = len(alike) + len(larger)
        many = len(alike) >= _SAME and error.sameness not in self.of_texts
        return same if few or many or same >= _SAME_LARGE else 0


@dataclass(eq=False)
class Limiter:
    """Admits requests to one endpoint in the order of arrival; use it on one event loop.

    `before` is the number of requests sent just before this object was made. `start` is the initial
    concurrency, None for all that `limits` allow; `timeout` is of one request, in seconds. `stop`
    is shared by all endpoints of a run.

    If an endpoint that answered before stops answering, the run stops after `patience` seconds. No
    request is delayed for longer. `reached` says that the endpoint answered another process of the
    run. Where it `queues`, an endpoint that is too busy is waited for, however many tries that
    takes. Messages call it `name` and go to `report`, by default the log.
    """

    limits: RateLimits
    stop: Stop | None = None
    before: int = 0
    start: int | None = None
    timeout: float = inf
    timing: Timing = REAL
    patience: float = inf
    report: Report | None = None
    name: str = "the endpoint"
    reached: bool = False
    queues: bool = True

    def __post_init__(self) -> None:
        self._stop = self.stop or Stop()
        self._tell = self.report or _LOG.warning
        self._requests = self.limits.requests_per_minute
        self._tokens = self.limits.tokens_per_minute
        self._most = float(self.limits.concurrency or inf)
        self.limit = min(self._most, inf if self.start is None else self.start)
        """The current limit of concurrent requests."""
        self.in_flight = 0
        """The number of requests in flight."""
        self._starting = self.limit < self._most
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._asked = self._number = self._last_cut = 0
        self._failing = Failing()
        self._silent_since: float | None = None
        self._paused_until = self._next_report = self._good_at = -inf
        self._ratio = 1.0  # tokens reported by tokens estimated
        self._next = -inf  # the time from which even spacing allows the next request
        now = self.timing.clock()
        # The requests of the last minute.
        self._sent = deque(Sent(0, now, now, 0.0, 0.0) for _ in range(self.before))
        self._limited_at = inf  # when the endpoint first said that it limits the rate
        self._advised = False
        self._good: deque[float] = deque()  # the times of good replies since then

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Count a request as in progress, over all of its attempts."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            if not self._asked:
                self._silent_since = None

    def silence(self) -> float:
        """Return for how many seconds the endpoint has been asked without answering."""
        since = self._silent_since
        return 0.0 if since is None else self.timing.clock() - since

    @asynccontextmanager
    async def admitted(
        self, body: Mapping[str, Any], row: Usage | None = None
    ) -> AsyncIterator[Sent]:
        """Wait until the request may be sent; it counts as in flight until the block ends.

        Raises:
            LlmError: final; an endpoint of the run has just failed for good.
        """
        tokens = float(tokens_at_most(body)) if self._tokens else 0.0
        made = self.timing.clock()
        async with self._turn:
            sent = await self._wait_turn(made, tokens)
        sent.row = row
        sent.size = sum(len(message["content"] or "") for message in body.get("messages", ()))
        try:
            yield sent
        finally:
            self.in_flight -= 1
            sent.ended = self.timing.clock()
            self._freed.set()

    def answered(self, sent: Sent, headers: Mapping[str, str], tokens: int | None) -> None:
        """Adapt the limits to a good reply and the `tokens` that it reports."""
        self._heard()
        self._failing.good(sent)
        now = self._good_at = self.timing.clock()
        if self._limited_at < inf:
            self._good.append(now)
        if now - sent.at > _SLOW * self.timeout:
            self._starting = False
        step = 1.0 if self._starting else _STEP
        self.limit = min(self._most, self.limit + step)
        if tokens is not None and sent.estimate:
            self._ratio = max(tokens / sent.estimate, self._ratio * 0.95)
            sent.tokens = float(tokens)
        self._pause(used_up(headers, time.time()))

    def failed(self, sent: Sent, error: SendError) -> SendError:
        """Adapt to an error: lower the concurrency, pause all requests, or stop the run.

        Returns the error, or a final one where every further request would fail too.
        """
        now = self.timing.clock()
        error.queued = sent.at - sent.made
        if error.status not in _UNANSWERED:
            self._heard()
        elif error.status == "connection" and error.transient:
            error = self._gone(error)
        if same := self._failing.bad(sent, error, self._asked <= 1, self._number):
            message = (
                f"{error.message.rstrip('.')}. {same} requests in a row were refused so; mend what "
                "it names, and run the same command again"
            )
            error = _final(error, message)
        if error.final:
            self._stop.stop(error.message, now)
        # A request sent before the last cut says nothing about the lower limit.
        if error.status in _OVERLOAD and sent.number > self._last_cut:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
            self._last_cut = self._number
            self._starting = False
        self._pause(error.retry_after)
        return error

    def waits(self, error: SendError, since: float) -> bool:
        """Return whether only time limits the tries of a request that first failed at `since`.

        The endpoint is to blame where it says that it is busy, where it answered before and does
        not now, and where several requests have failed and none was answered in that time.
        """
        if error.status in _UNANSWERED:
            return self.reached
        busy = error.status in _CROWDED or error.kind == BUSY
        all_fail = self._good_at < since and len(self._failing.all) >= _SAME
        return self.queues and (busy or all_fail)

    def retrying(self, error: SendError, pause: float) -> None:
        """Report a retry to the user, once in a few seconds; a rate limit once."""
        now = self.timing.clock()
        if error.status == "429":
            self._limited(error, now)
            return
        if now < self._next_report:
            return
        self._next_report = now + _BETWEEN_REPORTS
        if error.status == "connection" and self.patience < inf:
            left = _duration(self.patience - self.silence(), " more")
            self._tell(f"{self.name} does not answer, retrying for {left}")
        else:
            word = _WORDS.get(error.status, f"got status {error.status}")
            self._tell(f"a request {word}, retrying in {max(1, ceil(pause))} s")

    def gave_up(self, error: SendError, since: float) -> SendError:
        """Return the error of a request that was tried for as long as allowed: a final one where
        no other request was answered well for that long."""
        seconds = self.timing.clock() - since
        if error.status in _UNANSWERED or self._good_at >= since or seconds < _MINUTE:
            return error
        tried = _duration(seconds)
        message = (
            f"{error.message}. No request was answered for {tried}; run the same command again "
            "later"
        )
        self._stop.stop(message, self.timing.clock())
        return _final(error, message)

    def _limited(self, error: SendError, now: float) -> None:
        """Tell of a rate limit, and of the flag that fits it: by the limit's own words, else by the
        replies of a minute."""
        if self._limited_at == inf:
            self._limited_at = now
            self._tell(f"a rate limit was met: {error.message}; requests wait for it")
        while self._good and self._good[0] <= now - _MINUTE:
            self._good.popleft()
        seen = len(self._good) if now >= self._limited_at + _MINUTE else 0
        fits = error.per_minute or seen
        if fits and not self._advised and fits < (self._requests or inf):
            self._advised = True
            self._tell(f"--requests_per_minute {fits} would fit {self.name}")

    def _gone(self, error: SendError) -> SendError:
        """Return the error, or a final one where the endpoint has not answered for too long."""
        if not 0 < self.patience <= self.silence():
            return error
        message = (
            f"{self.name} has not answered for {_duration(self.silence())}: {error.message}; "
            "start it again, and run the same command again"
        )
        return _final(error, message)

    def _heard(self) -> None:
        self.reached = True
        # An answered request counts as in flight until its block ends.
        self._silent_since = self.timing.clock() if self.in_flight > 1 else None

    def _pause(self, seconds: float | None) -> None:
        if seconds and seconds <= self.patience:
            self._paused_until = max(self._paused_until, self.timing.clock() + seconds)

    async def _wait_turn(self, made: float, tokens: float) -> Sent:
        while True:
            now = self.timing.clock()
            message = self._stop.stopped(now)
            if message is not None:
                raise LlmError(message, final=True)
            reserved = tokens * self._ratio * _HEADROOM
            paused = self._paused_until - now
            if paused > 0:
                # Jitter, so that not all processes send at the same moment.
                await self.timing.sleep(paused + min(1.0, paused / 10) * self.timing.chance())
            elif self.in_flight + 1 > self.limit:
                self._freed.clear()
                await self._freed.wait()
            elif (wait := max(self._next, self._room(now, reserved)) - now) > 0:
                # A reply shorter than reserved may make room earlier.
                await self.timing.sleep(min(wait, _LOOK_AGAIN))
            else:
                return self._send(made, now, tokens, reserved)

    def _send(self, made: float, now: float, estimate: float, reserved: float) -> Sent:
        self.in_flight += 1
        self._number += 1
        if self._silent_since is None:
            self._silent_since = now
        sent = Sent(self._number, made, now, estimate, reserved)
        if self._requests:
            self._next = max(self._next, now - _CATCH_UP) + _MINUTE / self._requests
        if self._requests or self._tokens:
            self._sent.append(sent)
        return sent

    def _room(self, now: float, tokens: float) -> float:
        """Return the time from which one more request of `tokens` tokens is within the limits."""
        sent = self._sent
        while sent and sent[0].expires <= now:
            sent.popleft()
        when = now
        if self._requests is not None and len(sent) >= self._requests:
            when = sent[len(sent) - self._requests].expires
        if self._tokens is not None:
            # A request larger than the limit is sent alone.
            left = sum(one.tokens for one in sent)
            for one in sent:
                if left + tokens <= self._tokens:
                    break
                when = max(when, one.expires)
                left -= one.tokens
        return when


def _duration(seconds: float, more: str = "") -> str:
    if seconds < 90:
        return f"{max(0, ceil(seconds))}{more} seconds"
    return f"{round(seconds / 60)}{more} minutes"


async def retrying(
    send: Callable[[int], Awaitable[T]],
    retry: Retry,
    timing: Timing = REAL,
    limiter: Limiter | None = None,
) -> T:
    """Return the result of `send(attempt)`, called again after transient errors.

    `limiter` reports each retry, and says whether more than `retry.attempts` are worth it.

    Raises:
        SendError: one that is not transient, or the last one.
    """
    # Neither the wait before the first attempt nor that for a request's turn counts.
    first = ends = inf
    attempt = 0
    while True:
        try:
            return await send(attempt)
        except SendError as error:
            now = timing.clock()
            first = min(first, now)
            waits = limiter is not None and limiter.waits(error, first)
            if not error.transient or (attempt + 1 >= retry.attempts and not waits):
                raise
            ends = now + retry.seconds if ends == inf else ends + error.queued
            pause = retry.pause(attempt, error.retry_after, timing.chance())
            if waits and error.retry_after is None and ends > now:
                pause = min(pause, ends - now)  # one last attempt when the time is over
            if now + pause > ends:
                raise (limiter.gave_up(error, first) if limiter and waits else error) from None
            if limiter is not None:
                limiter.retrying(error, pause)
        await timing.sleep(pause)
        attempt += 1


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """A reply: its parsed `value`, headers, the endpoint's request id, and the tokens used."""

    value: T
    headers: Mapping[str, str]
    request_id: str | None = None
    tokens: Tokens = (None, None)
    status: str = OK


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests to one endpoint, on one event loop."""

    limiter: Limiter
    retry: Retry
    budget: "Budget"
    timing: Timing = REAL

    async def send(
        self,
        body: Mapping[str, Any],
        exchange: Callable[[], Awaitable[Received[T]]],
        row: Usage,
        rows: list[Usage],
    ) -> T:
        """Return the value that `exchange` receives, called again after transient errors.

        For each request sent, `row` is completed with the outcome and appended to `rows` and to the
        usage log.

        Raises:
            SendError: the error of the last attempt.
            LlmError: no request can succeed any more.
            CostCapped: the request could exceed the cap of the budget.
        """

        async def attempted(attempt: int) -> T:
            async with self.limiter.admitted(body, row) as sent:
                reserved = await self.budget.reserve(body)
                # The time waited for limiter and budget is not part of the request.
                started = time.monotonic()
                outcome: Received[T] | SendError | None = None
                try:
                    outcome = await self._outcome(exchange, sent)
                finally:
                    done = None
                    if outcome is not None:
                        done = replace(
                            row,
                            request_id=outcome.request_id or uuid4().hex,
                            status=outcome.status,
                            retries=attempt,
                            prompt_tokens=outcome.tokens[0],
                            completion_tokens=outcome.tokens[1],
                            seconds=time.monotonic() - started,
                            cost_usd=None,
                        )
                    # A request refused with an HTTP status is not billed. A request that was
                    # cancelled or lost its connection may have been billed.
                    billed = outcome is None or not outcome.status.isdigit()
                    done = self.budget.settle(body, reserved, done, billed)
                    if done is not None:
                        rows.append(done)
            if isinstance(outcome, SendError):
                fields = {"model": row.model, "status": outcome.status, "tries": attempt + 1}
                _LOG.info("a request failed: %s", outcome.message, extra={"ufo_fields": fields})
                raise outcome
            return outcome.value

        with self.limiter.asked():
            return await retrying(attempted, self.retry, self.timing, self.limiter)

    async def _outcome(
        self, exchange: Callable[[], Awaitable[Received[T]]], sent: Sent
    ) -> Received[T] | SendError:
        """Send the request, and report its outcome to the limiter."""
        try:
            received = await exchange()
        except SendError as error:
            return self.limiter.failed(sent, self.retry.within(error))
        except RecursionError:
            deep = SendError("a reply is nested too deeply to be read", "garbled", transient=True)
            return self.limiter.failed(sent, deep)
        tokens = sum(number or 0 for number in received.tokens) or None
        self.limiter.answered(sent, received.headers, tokens)
        return received
