"""Evaluate a run in rounds, each answered by batches of the models' providers.

    pass over the chunks ─ requests without a reply ─ batches ─ replies ─ next pass …

In a pass each response goes as far as the replies there are take it; the requests it needs next
are noted (`ufo.transforms.llm.batch_store`). They are submitted together, and once all batches of
the round have ended the next pass goes on. A chunk is finished in the pass in which none of its
responses waits.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ufo.pipelines import logs
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress, duration, sum_counters
from ufo.pipelines.stopping import check_stop
from ufo.schemas.errors import BatchesUnderWay, CostCapped, Interrupted, RunError
from ufo.schemas.records import Usage
from ufo.schemas.text import quantity
from ufo.transforms.llm.batch_api import TOO_MANY_TOKENS, BatchApi, BatchState, LineReply, api_of
from ufo.transforms.llm.batch_client import Limits, batch_row, refused
from ufo.transforms.llm.batch_store import Batch, BatchStore, Reply
from ufo.transforms.llm.budget import upper_bound
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    PROMPT_TOKENS,
    REQUESTS,
    UsageLog,
    UsageReader,
)
from ufo.transforms.llm.wire import tokens

_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 60.0  # seconds between looks at the batches of a round
_LOOKS: Final = 4  # for a batch that may have been accepted
_STORED_AT_ONCE: Final = 500


class Rounds:
    """The rounds of a run: submits its new requests, and waits for their replies."""

    def __init__(
        self,
        store: BatchStore,
        client: ClientSettings,
        limits: Limits,
        most_rounds: int,
        progress: Progress,
        log: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`most_rounds` is how many the run takes where nothing is asked again; `log` is the path
        of its usage log."""
        self._store = store
        self._client = client
        self._limits = limits
        self._most_rounds = most_rounds
        self._progress = progress
        self._log = UsageLog(log)
        self._spent = UsageReader(log)
        self._sleep = sleep
        self._round = store.last_round()
        self._waited = 0.0
        self._told = 0
        self._failing: float | None = None
        self._apis: dict[Endpoint, BatchApi] = {}
        # Of an endpoint that limits the tokens under way: the most requests and batches at a time.
        self._most_requests: dict[Endpoint, int] = {}
        self._most_batches: dict[Endpoint, int] = {}

    def evaluate(
        self,
        chunks: Iterable[Chunk],
        attempt: Attempt,
        evaluate: Callable[[Sequence[Chunk]], Written],
    ) -> Written:
        """Evaluate the chunks, in as many passes of `evaluate` as that takes.

        Raises:
            BatchesUnderWay: the time to wait is over.
            CostCapped: the next request could pass --max_cost.
            RunError: an endpoint has no batches, or cannot be asked.
        """
        self.settle()  # what an earlier process left
        chunks = list(chunks)
        left, claims = chunks, True
        while True:
            self._store.begin_pass(claims)
            if not evaluate(left).waiting:
                break
            asked = bool(self._store.new())
            if not (asked or claims):
                raise RunError("the run waits for replies that it did not ask for; please report")
            # Where nothing is new, responses wait for each other's judgements alone.
            claims = asked
            if asked:
                self._round += 1
                self.settle()
            left = [chunk for chunk in left if attempt.done(chunk.number) is None]
        self._store.forget()
        done = [found for one in chunks if (found := attempt.done(one.number)) is not None]
        parts = [part for found in done for part in found.parts]
        return Written(parts, sum_counters([found.counters for found in done]))

    def settle(self) -> None:
        """Submit all new requests, and store the replies of all batches under way.

        Raises:
            BatchesUnderWay, CostCapped, RunError: as `evaluate` does.
        """
        pause = _FIRST_PAUSE
        try:
            while True:
                check_stop()
                capped = self._submit()
                under_way = self._store.under_way()
                if capped and not under_way:
                    raise capped
                if not under_way:
                    return
                self._tell(under_way)
                ended = [batch for batch in under_way if self._collected(batch)]
                if ended:
                    pause = _FIRST_PAUSE
                    continue
                self._pause(pause, under_way)
                pause = min(2 * pause, _LONGEST_PAUSE)
        except LlmError as error:  # of an endpoint's key or headers
            raise RunError(error.message) from None
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted; batches under way go on at their provider, and the same command "
                "collects their replies"
            ) from None
        finally:
            self._progress.note("")

    def _pause(self, seconds: float, under_way: Sequence[Batch]) -> None:
        """Wait before the next look, for no longer than there is time.

        Raises:
            BatchesUnderWay: there is none left.
        """
        if self._limits.wait is not None:
            seconds = min(seconds, self._limits.wait - self._waited)
        if seconds <= 0:
            n, requests = len(under_way), sum(batch.requests for batch in under_way)
            raise BatchesUnderWay(
                f"round {self._round}: {quantity(n, 'batch', 'batches')} under way with "
                f"{quantity(requests, 'request')}; the same command collects the replies and goes "
                "on"
            )
        self._sleep(seconds)
        self._waited += seconds

    def _tell(self, under_way: Sequence[Batch]) -> None:
        now, most = time.time(), self._most_rounds
        total = sum(batch.requests for batch in under_way)
        done = sum(max(batch.done, 0) for batch in under_way)
        oldest = duration(now - under_way[0].submitted)
        of = f" of at most {most}" if self._round <= most else " (asking again)"
        text = f"round {self._round}{of}: {done:,} of {total:,} done, oldest {oldest}"
        if self._told != self._round:
            self._told = self._round
            self._progress.say(text)
        self._progress.note(text)

    # --- submitting ---

    def _api(self, endpoint: Endpoint) -> BatchApi:
        if endpoint not in self._apis:
            self._apis[endpoint] = api_of(endpoint)
        return self._apis[endpoint]

    def _submit(self) -> CostCapped | None:
        """Submit the new requests, as far as limits allow; return the error if the next of them
        could pass --max_cost."""
        for endpoint, model in self._store.new():
            while True:
                active = sum(one.endpoint == endpoint for one in self._store.under_way())
                if active >= self._most_batches.get(endpoint, active + 1):
                    break
                with tempfile.TemporaryDirectory(prefix="ufo-batch-") as folder:
                    file = os.path.join(folder, "requests.jsonl")
                    usd, capped = self._write(endpoint, model, file)
                    if not usd:
                        if capped is not None:
                            return capped
                        break
                    batch = self._store.plan(endpoint, model, self._round, usd)
                    self._send(batch, file)
        return None

    def _write(
        self, endpoint: Endpoint, model: str, file: str
    ) -> tuple[dict[str, float], CostCapped | None]:
        """Write the file of a batch; return the most that each of its requests may cost, by key,
        and the error if the next could pass --max_cost."""
        cap, price = self._client.max_cost, self._client.prices.get(model)
        left = None
        if cap is not None:
            spent = self._spent.totals().get(COST, 0.0)
            left = cap - spent - self._store.reserved()
        most = min(self._limits.requests, self._most_requests.get(endpoint, self._limits.requests))
        usd: dict[str, float] = {}
        size = 0
        with open(file, "wb") as target:
            for key, body in self._store.bodies(endpoint, model, most):
                line = self._api(endpoint).line_of(key, body)
                cost = upper_bound(price.of_batch, body) if price is not None else 0.0
                if left is not None and cost > left:
                    return usd, CostCapped(
                        f"stopped at --max_cost {cap:g}: {spent:.6g} US dollars are spent, and the "
                        f"next request may cost {cost:.2g}. What was finished is kept; the same "
                        "command with a higher --max_cost resumes from there"
                    )
                if usd and size + len(line) > self._limits.bytes:
                    break
                target.write(line)
                size, usd[key] = size + len(line), cost
                left = None if left is None else left - cost
        return usd, None

    def _send(self, batch: Batch, file: str) -> None:
        """Submit a batch that is noted; where no reply comes, ask whether it was accepted."""
        try:
            self._accepted(batch, self._api(batch.endpoint).submit(file, batch.name))
        except SendError as error:
            if not error.transient:
                self._store.take_back(batch)
                raise RunError(
                    f"{error.message}. Batches were asked for (--batch); where the endpoint has "
                    "none, leave it out"
                ) from None
            self._progress.say(f"{error.message}; looking whether the batch was accepted")

    def _accepted(self, batch: Batch, id_: str) -> Batch:
        logs.event("batch submitted", batch=id_, requests=batch.requests, round=batch.round)
        return self._store.note(batch, id=id_)

    # --- collecting ---

    def _collected(self, batch: Batch) -> bool:
        """Look at a batch; return whether it has ended and its replies are stored."""
        api = self._api(batch.endpoint)
        try:
            if batch.id is None:
                id_ = api.find(batch.name, batch.submitted)
                if id_ is None:
                    # A batch may be listed a moment after it was accepted: it is looked for some
                    # times before its requests are submitted anew.
                    gone = batch.done <= -_LOOKS
                    if gone:
                        self._store.take_back(batch)
                    else:
                        self._store.note(batch, done=batch.done - 1)
                    return gone
                batch = self._accepted(self._store.note(batch, done=0), id_)
            state = api.state(str(batch.id))
            self._failing = None
            if not state.ended:
                self._store.note(batch, done=state.done)
                return False
            if state.code == TOO_MANY_TOKENS and self._held(batch):
                return True
            self._store_replies(batch, state, api)
            self._store.note(batch, done=batch.requests, state=state.status)
            api.discard(state)
        except SendError as error:
            now = time.monotonic()
            self._failing = now if self._failing is None else self._failing
            if not error.transient or now - self._failing > self._client.retry.seconds:
                raise RunError(f"{error.message}; the same command looks again") from None
            self._progress.say(f"{error.message}; the batch is looked at again")
            return False
        logs.event("batch ended", batch=batch.id, status=state.status, requests=batch.requests)
        return True

    def _held(self, batch: Batch) -> bool:
        """Return whether a batch that passed the provider's limit of tokens under way is submitted
        again: once fewer are under way, or in smaller files where it was alone."""
        others = sum(one.endpoint == batch.endpoint for one in self._store.under_way()) - 1
        if not others and batch.requests == 1:
            return False
        if others:
            self._most_batches[batch.endpoint] = others
        else:
            self._most_requests[batch.endpoint] = batch.requests // 2
        self._store.take_back(batch)
        return True

    def _store_replies(self, batch: Batch, state: BatchState, api: BatchApi) -> None:
        waiting = self._store.sent(batch)
        found: dict[str, LineReply] = {}
        for reply in api.replies(state):
            if reply.key in waiting and reply.key not in found:
                found[reply.key] = reply
            if len(found) >= _STORED_AT_ONCE:
                self._put(batch.endpoint, found, waiting)
                found = {}
        self._put(batch.endpoint, found, waiting)
        said = state.message or f"it has no reply to this request (status {state.status})"
        code = state.code or state.status
        lost = {key: LineReply(key, code, None, f"{state.id}/{key}", said) for key in waiting}
        self._put(batch.endpoint, lost, waiting)

    def _put(
        self,
        endpoint: Endpoint,
        found: dict[str, LineReply],
        waiting: dict[str, tuple[int, Usage]],
    ) -> None:
        """Store replies, after their usage rows; take them out of those that are waited for."""
        good: dict[str, Reply | None] = {}
        bad: dict[str, Reply | None] = {}
        for key, line in found.items():
            tries, row = waiting.pop(key)
            reply = Reply(line.status, line.payload, line.request_id, line.message)
            message = line.message
            if not message and line.status != "200":
                error = refused(endpoint, reply)
                # A refusal of what the request says is answered by the step that asked it.
                message = error.message if error.transient or error.final else ""
            elif message:
                message = f"{endpoint.shown_url}: {line.status}: {message}"
            if message:
                failed = Reply(line.status, None, line.request_id, message)
                bad[key] = failed if tries >= self._limits.repairs else None
            else:
                good[key] = reply
            self._count(row, line)
        self._store.put(good, 0)
        self._store.put(bad, 1)

    def _count(self, row: Usage, line: LineReply) -> None:
        """Write a request's usage row to the run's log; a kill before its reply is stored may
        repeat the row, which is then counted once."""
        ok = line.status == "200"
        used = tokens(line.payload) if ok else (None, None)
        status = "ok" if ok else line.status
        done = batch_row(row, line.request_id, status, used, self._client.prices)
        changes = {REQUESTS: 1.0, COST: done.cost_usd or 0.0}
        changes |= {PROMPT_TOKENS: used[0] or 0, COMPLETION_TOKENS: used[1] or 0}
        self._log.add(changes, done)
