"""Evaluate a run in rounds, each answered by batches of the models' providers.

    pass over the chunks ─ requests without a reply ─ batches ─ replies ─ next pass …

In a pass each response is evaluated until it needs a reply that has not arrived. The request is
then noted (`ufo.transforms.llm.batch_store`). After the pass all noted requests are submitted
together. The next pass begins when all batches of the round have ended. A chunk is finished in the
pass in which none of its responses waits.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from tempfile import TemporaryFile
from typing import IO, Final

from ufo.pipelines import logs
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress, duration, sum_counters
from ufo.pipelines.stopping import check_stop
from ufo.schemas.errors import BatchesUnderWay, CostCapped, Interrupted, RunError
from ufo.schemas.records import Usage
from ufo.schemas.text import quantity
from ufo.transforms.llm import usage_log
from ufo.transforms.llm.batch_api import TOO_MANY_TOKENS, BatchState, OpenAiBatches, api_of
from ufo.transforms.llm.batch_client import error_of
from ufo.transforms.llm.batch_store import (
    AGAIN,
    ANSWERED,
    ASKING,
    FAILED,
    Batch,
    BatchStore,
    Reply,
)
from ufo.transforms.llm.budget import capped, priced, upper_bound
from ufo.transforms.llm.chat import tokens
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage import OK
from ufo.transforms.loop import wait_for

WORKER: Final = "batch"
"""In the column `worker_id` of `usage`: the provider answered the request in a batch."""
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 60.0  # seconds between looks at the batches of a round
_LISTED_SECONDS: Final = 60.0  # until a provider lists a batch that it accepted
_MANY: Final = 5  # times the usual rounds of a run, for requests that are repeated
_STORED_AT_ONCE: Final = 500
_COUNTED: Final = (
    *(usage_log.REQUESTS, usage_log.COST),
    *(usage_log.PROMPT_TOKENS, usage_log.COMPLETION_TOKENS),
)


_Replies = Iterable[tuple[str, Reply]]


class Rounds:
    """The rounds of a run: submits its new requests, and waits for their replies."""

    def __init__(
        self,
        client: ClientSettings,
        settings: BatchSettings,
        most_rounds: int,
        progress: Progress,
        log: str,
    ) -> None:
        """`most_rounds` is the number of rounds of a run without repeated requests; `log` is the
        path of its usage log."""
        self._store = store = BatchStore(settings.path, settings.run)
        self._client = client
        self._settings = settings
        self._most_rounds = most_rounds
        self._progress = progress
        self._path = log
        self._log = usage_log.UsageLog(log)
        self._spent = usage_log.UsageReader(log)
        self._round = store.last_round()
        self._told = 0
        self._waited = 0.0
        self._apis: dict[Endpoint, OpenAiBatches] = {}
        # The most requests at a time, for an endpoint that limits the tokens in progress.
        self._most: dict[Endpoint, int] = {}
        self._refused: Counter[Endpoint] = Counter()
        self._final = ""  # an error that every further request would meet

    def close(self) -> None:
        """Close connections and files."""
        for api in self._apis.values():
            api.close()
        self._log.close()
        self._store.close()

    def forget(self) -> None:
        """Delete the batch requests of an earlier attempt at the run."""
        self._store.forget()
        self._round = 0

    def _api(self, endpoint: Endpoint) -> OpenAiBatches:
        if endpoint not in self._apis:
            self._apis[endpoint] = api_of(endpoint)
        return self._apis[endpoint]

    def evaluate(
        self,
        chunks: Iterable[Chunk],
        attempt: Attempt,
        evaluate: Callable[[Sequence[Chunk]], Written],
    ) -> Written:
        """Evaluate the chunks, in as many passes of `evaluate` as needed.

        Raises:
            BatchesUnderWay: the time to wait is over.
            CostCapped: the next request could pass --max_cost.
            RunError: an endpoint has no batches, or cannot be asked, or the run cannot go on.
        """
        try:
            self._store.begin_pass()
            self._settle()  # what an earlier process left
            chunks = list(chunks)
            self._pass_through(chunks, attempt, evaluate)
            done = [found for one in chunks if (found := attempt.done(one.number)) is not None]
            if len(done) < len(chunks):
                raise RunError("a part is damaged; the same command evaluates its chunk again")
            self._store.forget()
        except (LlmError, sqlite3.Error) as error:  # of an endpoint's key or headers; a full disk
            raise RunError(f"{error}. The same command goes on from here") from None
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted; batches under way go on at their provider, and the same command "
                "collects their replies"
            ) from None
        parts = [part for found in done for part in found.parts]
        return Written(parts, sum_counters([found.counters for found in done]))

    def _pass_through(
        self,
        left: Sequence[Chunk],
        attempt: Attempt,
        evaluate: Callable[[Sequence[Chunk]], Written],
    ) -> None:
        claims = True
        while True:
            self._store.begin_pass(claims)
            waiting = evaluate(left).waiting
            wait_for(end_run(self._path))  # requests sent at once then read again what was spent
            asked = bool(self._store.new())
            if not waiting and asked:
                self._progress.say(
                    "A source or judge asked a model and went on without its reply, which it did "
                    "not get: its results are not those of a run without --batch."
                )
            if not waiting:
                return
            if not (asked or claims):
                raise RunError(
                    "the replies that the run waits for are lost with the file of batches; "
                    "--fresh starts over"
                )
            # Without a new request, responses wait only for each other's judgements.
            claims = asked
            self._round += asked
            if self._round > _MANY * (self._most_rounds + 1):
                raise RunError(
                    f"after {self._round - 1} rounds of batches there is still something new to "
                    "ask: a source or judge that gives other answers in each pass cannot be asked "
                    "by batches"
                )
            self._settle()
            left = [chunk for chunk in left if attempt.done(chunk.number) is None]

    def _settle(self) -> None:
        """Submit all new requests, and store the replies of all batches under way."""
        pause = _FIRST_PAUSE
        try:
            while True:
                check_stop()
                stopped = self._submit()
                under_way = self._store.under_way()
                if stopped and not under_way:
                    raise stopped
                if not under_way and not self._store.new():
                    return
                self._tell(under_way)
                if any([self._collected(batch) for batch in under_way]):  # noqa: C419 - look at all
                    pause = _FIRST_PAUSE
                else:
                    self._pause(pause, under_way)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._progress.note("")

    def _pause(self, seconds: float, under_way: Sequence[Batch]) -> None:
        wait = self._settings.wait
        seconds = seconds if wait is None else min(seconds, wait - self._waited)
        if seconds <= 0:
            n, requests = len(under_way), sum(batch.requests for batch in under_way)
            raise BatchesUnderWay(
                f"round {self._round}: {quantity(n, 'batch', 'batches')} under way with "
                f"{quantity(requests, 'request')}; the same command collects the replies and goes "
                "on"
            )
        time.sleep(seconds)
        self._waited += seconds

    def _tell(self, under_way: Sequence[Batch]) -> None:
        total, done = self._store.counts(self._round)
        now = time.time()
        oldest = duration(now - min((one.submitted for one in under_way), default=now))
        most = self._most_rounds
        of = f" of at most {most}" if self._round <= most else " (asking again)"
        text = f"round {self._round}{of}: {done:,} of {total:,} done, oldest {oldest}"
        if self._told != self._round:
            self._told = self._round
            self._progress.say(text)
        self._progress.note(text)

    # --- submitting ---

    def _submit(self) -> CostCapped | None:
        """Submit the new requests, as far as limits allow; return the error if the next of them
        could pass --max_cost."""
        stopped = None
        for endpoint in self._store.new():
            while not stopped and self._room(endpoint) > 0:
                with TemporaryFile(prefix="ufo-batch-") as lines:
                    usd, stopped = self._write(endpoint, lines)
                    if not usd:
                        break
                    lines.seek(0)
                    if not self._sent(self._store.plan(endpoint, self._round, usd), lines):
                        break  # submit the rest after a pause
        return stopped

    def _room(self, endpoint: Endpoint) -> int:
        """Return how many requests may be submitted together now."""
        most = self._settings.requests
        if endpoint in self._most:
            most = min(most, self._most[endpoint] - self._active(endpoint))
        return most

    def _active(self, endpoint: Endpoint) -> int:
        return sum(one.requests for one in self._store.under_way() if one.endpoint == endpoint)

    def _write(
        self, endpoint: Endpoint, lines: IO[bytes]
    ) -> tuple[dict[str, float], CostCapped | None]:
        """Write the lines of a batch. Return the highest possible cost of each request by its key,
        and an error if the next request could pass --max_cost."""
        cap, price = self._client.max_cost, self._client.prices.get(endpoint.model)
        spent = self._spent.totals().get(usage_log.COST, 0.0)
        left = inf if cap is None else cap - spent - self._store.reserved()
        usd: dict[str, float] = {}
        for key, body in self._store.bodies(endpoint, self._room(endpoint)):
            line = self._api(endpoint).line_of(key, body)
            cost = upper_bound(price.of_batch, body) if price else 0.0
            if cost > left:
                return usd, capped(cap, spent, cost)
            if usd and lines.tell() + len(line) > self._settings.bytes:
                break
            lines.write(line)
            usd[key] = cost
            left -= cost
        return usd, None

    def _sent(self, batch: Batch, lines: IO[bytes]) -> bool:
        """Submit a noted batch and return whether it was accepted. Where no reply says so, the
        batch is looked up later."""
        api, file = self._api(batch.endpoint), ""
        try:
            file = api.upload(lines, batch.name)
            batch = self._store.note(batch, done=ASKING, submitted=time.time())
            self._store.note(batch, id=api.create(file, batch.name), done=0)
            return True
        except SendError as error:
            if not error.transient:
                self._store.take_back(batch)
                raise RunError(
                    f"{error.message}. Batches were asked for (--batch); where the endpoint has "
                    "none, leave it out"
                ) from None
            self._progress.say(f"{error.message}; the batch is submitted again, unless it is there")
            if not file or error.status.startswith("4"):  # it was not accepted
                self._store.take_back(batch)
                api.discard([file] if file else [])
            return False

    # --- collecting ---

    def _collected(self, batch: Batch) -> bool:
        """Look at a batch; return whether it has ended and its replies are stored."""
        api = self._api(batch.endpoint)
        try:
            if batch.id is None:
                found = api.find(batch.name, batch.submitted) if batch.done == ASKING else None
                recent = time.time() - batch.submitted < _LISTED_SECONDS
                if found is None and not (batch.done == ASKING and recent):
                    self._store.take_back(batch)
                if found is None:
                    return False
                batch = self._store.note(batch, id=found, done=0)
            state = api.state(str(batch.id))
            if not state.ended:
                self._store.note(batch, done=state.done)
                return False
            if state.code == TOO_MANY_TOKENS:
                self._hold(batch, state.message)
                api.discard([state.source])
                return False
            self._store_replies(batch, state)
        except SendError as error:
            if error.status == "404" and batch.id is not None:
                raise RunError(
                    f"the provider does not know batch {batch.id} any more ({error.message}). It "
                    "belongs to the key by which it was submitted; --fresh forgets the batches of "
                    "the run, and what they asked is paid again"
                ) from None
            if not error.transient:
                raise RunError(f"{error.message}; the same command looks again") from None
            self._progress.say(f"{error.message}; the batch is looked at again")
            return False
        self._store.note(batch, ended=True, done=batch.requests)
        api.discard([state.source, *state.files])
        if batch.endpoint in self._most:
            self._most[batch.endpoint] *= 2
        logs.event("batch ended", batch=batch.id, state=state.code, requests=batch.requests)
        if self._final:
            raise RunError(self._final)
        return True

    def _hold(self, batch: Batch, message: str) -> None:
        """Take back a batch that passed the provider's limit of tokens in progress. It is submitted
        again when other batches have ended or after a pause; if that fails, in smaller files."""
        others = self._active(batch.endpoint) - batch.requests
        self._refused[batch.endpoint] += 1
        if others:
            self._most[batch.endpoint] = others
        elif self._refused[batch.endpoint] % 2 == 0:
            self._most[batch.endpoint] = max(1, batch.requests // 2)
        self._store.take_back(batch)
        self._progress.say(f"{message} The batch is submitted again.")

    def _store_replies(self, batch: Batch, state: BatchState) -> None:
        waiting = self._store.sent(batch)
        replies = self._api(batch.endpoint).replies(state)
        while some := list(islice(replies, _STORED_AT_ONCE)):
            self._put(batch, some, waiting)
        said = state.message or f"the batch ended without a reply to this request ({state.code})"
        lost = (Reply(state.code, None, f"{state.id}/{key}", said) for key in waiting)
        self._put(batch, list(zip(waiting, lost, strict=True)), waiting)

    def _put(self, batch: Batch, replies: _Replies, waiting: dict[str, tuple[int, Usage]]) -> None:
        """Write the usage rows to the run's log, then store the replies and remove them from
        `waiting`. If the process is killed between the two, a row is repeated and then counted
        once."""
        with self._store.together():
            for key, reply in replies:
                if key not in waiting:
                    continue
                tries, row = waiting.pop(key)
                state, error = ANSWERED, error_of(batch.endpoint, reply)
                row = self._counted(row, reply, error)
                # The step that asked handles a refusal of the request's content.
                if error is not None and (error.transient or error.final):
                    spent = tries >= self._settings.repairs and not error.final
                    state = FAILED if spent else AGAIN
                    self._final = self._final or (error.message if error.final else "")
                    where = f"{batch.endpoint.shown_url}, {reply.status}: " if reply.message else ""
                    reply = replace(reply, payload=None, message=f"{where}{error.message}")
                self._store.put(key, state, reply, row)

    def _counted(self, row: Usage, reply: Reply, error: SendError | None) -> Usage:
        """Return the usage row of a request that has a reply; write it into the run's log."""
        prompt, completion = tokens(reply.payload)
        row = replace(
            row,
            request_id=reply.request_id,
            worker_id=WORKER,
            status=error.status if error else OK,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=None,
            cost_usd=None,
        )
        price = self._client.prices.get(str(row.model))
        row = priced(row, {str(row.model): price.of_batch}) if price else row
        values = (1, row.cost_usd or 0.0, prompt or 0, completion or 0)
        self._log.add(dict(zip(_COUNTED, values, strict=True)), row)
        return row
