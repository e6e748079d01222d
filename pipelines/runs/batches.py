"""Evaluate a run in rounds, each answered by batches of the models' providers.

    pass over the chunks ─ requests without a reply ─ batches ─ replies ─ next pass …

In a pass each response is evaluated until it needs a reply that has not arrived. The request is
then noted (`ufo.transforms.llm.batch_store`). After the pass all noted requests are submitted
together, and the next one begins when all batches of the round have ended. A chunk is finished in
the pass in which none of its responses waits.

    planned ─ upload ─→ asking ─ create, or find ─→ accepted ─→ ended ─→ stored

Nothing is paid twice: a batch is noted before it is submitted, and looked up where the provider's
answer was lost. Files and counts may lag behind its end. All replies are there once every request
has a line, or lines and counts agree, or ten minutes after it was first seen to have ended.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from math import inf
from tempfile import TemporaryFile
from typing import IO, Final

from ufo.pipelines import logs
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress, duration, sum_counters
from ufo.pipelines.stopping import check_stop
from ufo.schemas.errors import BatchesUnderWay, Interrupted, RunError
from ufo.schemas.records import Usage
from ufo.schemas.text import quantity
from ufo.transforms.llm import usage_log
from ufo.transforms.llm.batch_api import FAILED, BatchState, OpenAiBatches, error_says
from ufo.transforms.llm.batch_lines import error_of
from ufo.transforms.llm.batch_store import ASKING, STORED, Batch, BatchedRequest, BatchStore, Reply
from ufo.transforms.llm.budget import cap_error
from ufo.transforms.llm.chat import tokens
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.prices import upper_bound, with_cost
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage import OK
from ufo.transforms.loop import wait_for

WORKER: Final = "batch"
"""In the column `worker_id` of `usage`: the provider answered the request in a batch."""
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 60.0  # seconds between looks at the batches of a round
_MANY: Final = 5  # times the usual rounds of a run, for requests that are repeated
_LISTED_SECONDS: Final = 120.0  # until a provider lists a batch that it accepted
_SETTLED_SECONDS: Final = 600.0  # until it knows a new batch, and all replies of one are there
_STORED_AT_ONCE: Final = 500
_NO_BATCHES: Final = (
    "{}. Batches were asked for (--batch): where a file is too large, set --batch_mb or "
    "--batch_requests; where the endpoint has none, leave it out"
)
_SAME: Final = 5  # requests with the same error: any other would get it too

Evaluate = Callable[[Sequence[Chunk]], Written]


class Rounds:
    """The rounds of a run: evaluates its chunks, submits new requests, and collects the replies."""

    def __init__(
        self, client: ClientSettings, settings: BatchSettings, most_rounds: int,
        progress: Progress, log: str,
    ) -> None:  # fmt: skip
        """`most_rounds` is the number of rounds of a run without repeated requests; `log` is the
        path of its usage log."""
        self._store = BatchStore(settings.path, settings.run)
        self._settings = settings
        self._cap = client.max_cost
        self._prices = {model: price.of_batch for model, price in client.prices.items()}
        self._path = log
        self._log = usage_log.UsageLog(log)
        self._spent = usage_log.UsageReader(log)
        self._left = inf if settings.wait is None else settings.wait  # seconds to wait
        self._most_rounds = most_rounds
        self._progress = progress
        self._round = max((batch.round for batch in self._store.batches()), default=0)
        self._said = 0  # the round whose beginning was said
        self._say = cache(progress.say)  # each text once
        self._apis: dict[Endpoint, OpenAiBatches] = {}
        # Requests under way at a time, once the provider limits them.
        self._most: defaultdict[Endpoint, float] = defaultdict(lambda: inf)
        # Errors of the last requests, where none was answered.
        self._errors: defaultdict[Endpoint, list[str]] = defaultdict(list)

    def close(self) -> None:
        for api in self._apis.values():
            api.close()
        self._log.close()
        self._store.close()

    def forget(self) -> None:
        """Delete the batch requests of an earlier attempt at the run."""
        self._store.forget()
        self._round = 0

    def evaluate(self, chunks: Iterable[Chunk], attempt: Attempt, evaluate: Evaluate) -> Written:
        """Evaluate the chunks, in as many passes of `evaluate` as needed.

        Raises:
            BatchesUnderWay: the time to wait is over.
            CostCapped: the next request could pass --max_cost.
            RunError: an endpoint has no batches, or cannot be asked, or the run cannot go on.
        """
        try:
            unsubmitted = self._store.begin()
            self._settle()  # what an earlier process left
            self._round = max(0, self._round - unsubmitted)  # the round goes on
            chunks = list(chunks)
            self._pass_through(chunks, attempt, evaluate)
        except LlmError as error:  # of an endpoint's key or headers
            raise RunError(f"{error}. The same command goes on from here") from None
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted; batches under way go on at their provider, and the same command "
                "collects their replies"
            ) from None
        done = [written for one in chunks if (written := attempt.done(one.number)) is not None]
        if len(done) < len(chunks):
            raise RunError("a part is damaged; the same command evaluates its chunk again")
        self._store.forget()
        parts = [part for written in done for part in written.parts]
        return Written(parts, sum_counters([written.counters for written in done]))

    def _pass_through(self, left: Sequence[Chunk], attempt: Attempt, evaluate: Evaluate) -> None:
        stuck = False
        while evaluate(left).waiting:
            wait_for(end_run(self._path))  # requests sent at once then read again what was spent
            asked = bool(self._store.new())
            many = self._round >= _MANY * (self._most_rounds + 1)
            if (asked and many) or (stuck and not asked):
                raise RunError(
                    f"after {quantity(self._round, 'round')} of batches there is still something "
                    "to wait for: a source or judge gives other answers in each pass, which cannot "
                    "be asked by batches, or the file of batches was lost (--fresh starts over)"
                )
            stuck = not asked
            if stuck:  # responses wait for judgements that others asked for and did not get
                self._store.settle()
            self._round += asked
            self._settle()
            left = [chunk for chunk in left if attempt.done(chunk.number) is None]
        if self._store.new():
            self._say(
                "A source or judge asked a model and went on without its reply: its results are "
                "not those of a run without --batch."
            )

    def _settle(self) -> None:
        """Submit all new requests, and wait until the replies of all batches are stored."""
        pause = _FIRST_PAUSE
        try:
            while (new := self._store.new()) or self._store.under_way():
                check_stop()
                for endpoint in new:
                    self._submit(endpoint)
                under_way = self._store.under_way()
                self._tell()
                moved = [self._advance(batch) for batch in under_way]
                if any(moved):
                    pause = _FIRST_PAUSE
                else:
                    self._pause(pause, under_way)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._progress.note("")

    def _api(self, endpoint: Endpoint) -> OpenAiBatches:
        if endpoint not in self._apis:
            self._apis[endpoint] = OpenAiBatches(endpoint)
        return self._apis[endpoint]

    def _pause(self, seconds: float, under_way: Sequence[Batch]) -> None:
        seconds = min(seconds, self._left)
        if seconds <= 0:
            n, requests = len(under_way), sum(batch.requests for batch in under_way)
            raise BatchesUnderWay(
                f"round {self._round}: {quantity(n, 'batch', 'batches')} under way with "
                f"{quantity(requests, 'request')}; the same command collects the replies and goes "
                "on"
            )
        time.sleep(seconds)
        self._left -= seconds

    def _tell(self) -> None:
        """Show the progress of the round."""
        batches = [one for one in self._store.batches() if one.round == self._round]
        if not batches:
            return
        done = sum(max(one.done, 0) for one in batches)
        total = sum(one.requests for one in batches)
        most = self._most_rounds
        of = f" of at most {most}" if self._round <= most else " (asking again)"
        oldest = duration(time.time() - batches[0].submitted)
        text = f"round {self._round}{of}: {done:,} of {total:,} done, oldest {oldest}"
        if self._said < self._round:
            self._said = self._round
            self._say(text)
        self._progress.note(text)

    # --- submitting ---

    def _submit(self, endpoint: Endpoint) -> None:
        """Submit the new requests, as far as limits allow; the rest is submitted after a pause."""
        with TemporaryFile(prefix="ufo-batch-") as lines:
            more = True
            while more and (usd := self._write(endpoint, lines)):
                more = self._submit_batch(self._store.plan(endpoint, self._round, usd), lines)

    def _write(self, endpoint: Endpoint, lines: IO[bytes]) -> dict[str, float]:
        """Write the lines of a batch; return the maximum cost of each of its requests by key.

        The batch is empty while no more requests may be under way.

        Raises:
            CostCapped: the budget allows no further request.
        """
        lines.seek(0)
        lines.truncate()
        batches = self._store.under_way()
        active = sum(one.requests for one in batches if one.endpoint == endpoint)
        room = int(min(self._settings.requests, max(0, self._most[endpoint] - active)))
        spent = self._spent.totals().get(usage_log.COST, 0.0)
        left = inf if self._cap is None else self._cap - spent - self._store.reserved()
        price = self._prices.get(endpoint.model)
        usd: dict[str, float] = {}
        for key, body in self._store.bodies(endpoint, room):
            line = self._api(endpoint).line_of(key, body)
            cost = upper_bound(price, body) if price else 0.0
            if cost > left and not usd and not batches:
                raise cap_error(self._cap, spent, cost)
            if cost > left or (usd and lines.tell() + len(line) > self._settings.bytes):
                break
            lines.write(line)
            usd[key] = cost
            left -= cost
        lines.seek(0)
        return usd

    def _submit_batch(self, batch: Batch, lines: IO[bytes]) -> bool:
        """Submit a planned batch; return whether the provider may accept another one now."""
        api, file = self._api(batch.endpoint), None
        try:
            file = api.upload(lines, batch.name)
            batch = self._store.note(batch, id=file, done=ASKING, submitted=time.time())
            self._store.note(batch, id=api.create(file, batch.name), done=0)
            return True
        except SendError as error:
            refused = error.status.startswith("4") and error.status not in ("408", "409", "499")
            if refused or not file:
                return self._handle_refusal(batch, file, error.message, error.transient)
            if not error.transient:
                raise RunError(_NO_BATCHES.format(error.message.rstrip("."))) from None
            self._say(f"{error.message}; the batch is submitted again, unless it is there")
            return False

    def _handle_refusal(self, batch: Batch, file: str | None, message: str, passes: bool) -> bool:
        """Queue the requests of a refused batch again; return whether a smaller one may pass now.

        Where too much was enqueued, half as many requests may be under way, and twice as many with
        each batch that ends.

        Raises:
            RunError: the refusal is of another kind and does not pass with time.
        """
        self._store.take_back(batch)
        self._api(batch.endpoint).discard([file])
        enqueued = error_says("enqueued", message)
        if enqueued:
            self._most[batch.endpoint] = max(1, batch.requests // 2)
        elif not passes:
            raise RunError(_NO_BATCHES.format(message.rstrip(".")))
        self._say(f"{message}; the batch is submitted again")
        return enqueued and batch.requests > 1

    # --- collecting ---

    def _advance(self, batch: Batch) -> bool:
        """Look at a batch under way; return whether its replies are stored, or it must be split.

        Raises:
            RunError: neither another request nor another look would help.
        """
        api, name = self._api(batch.endpoint), batch.id
        try:
            if batch.done == ASKING:
                name = api.find(batch.name, str(batch.id))
                if name is None and time.time() - batch.submitted < _LISTED_SECONDS:
                    return False
            if name is None:  # it was not accepted
                self._store.take_back(batch)
                return False
            state = api.state(name)
            message = f"{state.code}: {state.message}"
            if state.phase == FAILED and error_says("enqueued", message):
                return self._handle_refusal(batch, state.source, message, passes=True)
            if not state.phase:
                self._say(f"{state.word!r} is no state of a batch that ufo knows; it is waited for")
            ended = batch.ended or (time.time() if state.ended else 0.0)
            batch = self._store.note(batch, id=name, done=state.done, ended=ended)
            return state.ended and self._collect(batch, state)
        except SendError as error:
            self._look_again(batch, error)
            return False

    def _look_again(self, batch: Batch, error: SendError) -> None:
        """Report why a batch could not be looked at; raise a RunError if that will not change."""
        unknown = error.status == "404"
        seen = batch.done > 0 or batch.ended
        if unknown and (seen or time.time() - batch.submitted > _SETTLED_SECONDS):
            raise RunError(
                f"the provider does not know batch {batch.id} any more ({error.message}). It "
                "belongs to the key by which it was submitted; --fresh forgets the batches of the "
                "run, and what they asked is paid again"
            ) from None
        if not (error.transient or unknown):
            raise RunError(f"{error.message}; the same command looks again") from None
        self._say(f"{error.message}; the batch is looked at again")

    def _collect(self, batch: Batch, state: BatchState) -> bool:
        """Store the replies of an ended batch; return whether they are complete.

        Replies of the model are stored at once, errors only when no reply can come in their place.
        """
        waiting = self._store.sent(batch)
        errors: dict[str, Reply] = {}
        keys: set[str] = set()
        damaged = 0
        lines = chain.from_iterable(map(self._api(batch.endpoint).replies, state.files))
        while some := list(islice(lines, _STORED_AT_ONCE)):
            damaged += some.count(None)
            with self._store.together():
                for key, reply in filter(None, some):
                    keys.add(key)
                    if error_of(batch.endpoint, reply):
                        errors[key] = reply
                    elif key in waiting:
                        row = self._log_usage(waiting.pop(key), reply)
                        self._store.put(key, reply, row)
        seen = len(keys) + damaged if keys else 0  # else it may be a web page in place of a file
        whole = seen >= batch.requests or (state.lines is not None and seen >= state.lines)
        if not whole and time.time() - batch.ended < _SETTLED_SECONDS:
            self._say(f"batch {batch.id} is {state.word}; its replies are not all there yet")
            return False
        if (damaged or len(keys) != batch.requests) and not state.message:
            requests = quantity(batch.requests, "request")
            replied = f"{quantity(len(keys), 'request')} and {quantity(damaged, 'damaged line')}"
            self._say(f"batch {batch.id} of {requests} has replies to {replied}")
        self._finish(batch, state, waiting, errors)
        return True

    def _finish(
        self,
        batch: Batch,
        state: BatchState,
        waiting: Mapping[str, BatchedRequest],
        errors: Mapping[str, Reply],
    ) -> None:
        """Store an error for each request without a reply, or queue the request again.

        Raises:
            RunError: every further request would get the same error.
        """
        message = state.message or f"the batch ended without a reply to this request ({state.word})"
        body = {"error": {"code": state.code, "message": message}}
        replies = {
            key: errors.get(key) or Reply(state.code, body, f"{batch.id}/{key}") for key in waiting
        }
        met = {key: error_of(batch.endpoint, reply) for key, reply in replies.items()}
        ends = self._fatal_error(batch, [error for error in met.values() if error])
        with self._store.together():
            for key, request in waiting.items():
                reply, error = replies[key], met[key]
                row = self._log_usage(request, reply, error)
                # The step that asked handles a refusal of the request's content.
                transient = error is not None and error.transient
                if ends:  # says nothing of the request
                    self._store.put(key, None, row, tries=0)
                elif transient and request.tries < self._settings.repairs:
                    self._store.put(key, None, row)
                else:
                    self._store.put(key, reply, row)
            self._store.note(batch, done=batch.requests, ended=STORED)
        self._api(batch.endpoint).discard([state.source, *state.files])
        self._most[batch.endpoint] *= 2
        logs.event("batch ended", batch=batch.id, state=state.word, requests=batch.requests)
        if ends:
            raise RunError(ends)

    def _fatal_error(self, batch: Batch, errors: list[SendError]) -> str:
        """Return the error that every further request would get, "" without one.

        The error says so, or several requests in a row got it. An error that may pass, or that
        the endpoint does not explain, must come from two batches.
        """
        for error in errors:
            if error.final:
                return error.message
        if len(errors) < batch.requests:  # some were answered
            self._errors.pop(batch.endpoint, None)
            return ""
        met = self._errors[batch.endpoint]
        met += [error.sameness or error.message for error in errors]
        passes = errors[0].transient or errors[0].unexplained
        needed = max(_SAME, len(errors) + 1 if passes else 0)
        last = met[-needed:]
        if len(last) < needed or len(set(last)) > 1:
            return ""
        message = errors[0].message.rstrip(".")
        return f"{message}. All requests got this; the same command asks again"

    def _log_usage(
        self, request: BatchedRequest, reply: Reply, error: SendError | None = None
    ) -> Usage:
        """Write the usage row of an answered request into the run's log, and return it.

        A process killed before the reply is stored writes the row again, and it is counted once. A
        reply without its tokens counts as the most that it may cost.
        """
        prompt, completion = tokens(reply.payload)
        row = replace(
            request.usage,
            request_id=reply.request_id,
            worker_id=WORKER,
            status=error.status if error else OK,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=None,
            cost_usd=None,
        )
        row = with_cost(row, self._prices)
        spent = usage_log.spent_by(row)
        if error is None and row.cost_usd is None:
            spent[usage_log.COST] = request.usd
        self._log.add(spent, row)
        return row
