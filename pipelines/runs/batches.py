"""Evaluate a run in rounds, each answered by batches of the models' providers.

    pass over the chunks ─ requests without a reply ─ batches ─ replies ─ next pass …

In a pass each response is evaluated until it needs a reply that has not arrived. The request is
then noted (`ufo.transforms.llm.batch_store`). After the pass all noted requests are submitted
together, and the next one begins when all batches of the round have ended. A chunk is finished in
the pass in which none of its responses waits.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.batch_exchange import Exchange
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress, duration, sum_counters
from ufo.pipelines.stopping import check_stop
from ufo.schemas.errors import BatchesUnderWay, Interrupted, RunError
from ufo.schemas.text import quantity
from ufo.transforms.llm.batch_store import Batch, BatchStore
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import LlmError
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for

_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 60.0  # seconds between looks at the batches of a round
_MANY: Final = 5  # times the usual rounds of a run, for requests that are repeated

Evaluate = Callable[[Sequence[Chunk]], Written]


class Rounds:
    """The rounds of a run: submits its new requests, and waits for their replies."""

    def __init__(
        self, client: ClientSettings, settings: BatchSettings, most_rounds: int,
        progress: Progress, log: str,
    ) -> None:  # fmt: skip
        """`most_rounds` is the number of rounds of a run without repeated requests; `log` is the
        path of its usage log."""
        self._store = BatchStore(settings.path, settings.run)
        self._client = client
        self._settings = settings
        self._most_rounds = most_rounds
        self._progress = progress
        self._log = log
        self._round, *_ = self._store.last_round()
        self._said: set[str] = set()
        self._waited = 0.0
        self._exchanges: dict[Endpoint, Exchange] = {}

    def close(self) -> None:
        """Close connections and files."""
        for exchange in self._exchanges.values():
            exchange.close()
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
            self._store.begin_pass()
            self._settle()  # what an earlier process left
            chunks = list(chunks)
            self._pass_through(chunks, attempt, evaluate)
        except LlmError as error:  # of an endpoint's key or headers
            raise RunError(f"{error}. The same command goes on from here") from None
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted; batches under way go on at their provider, and the same command "
                "collects their replies"
            ) from None
        done = [found for one in chunks if (found := attempt.done(one.number)) is not None]
        if len(done) < len(chunks):
            raise RunError("a part is damaged; the same command evaluates its chunk again")
        self._store.forget()
        parts = [part for found in done for part in found.parts]
        return Written(parts, sum_counters([found.counters for found in done]))

    def _pass_through(self, left: Sequence[Chunk], attempt: Attempt, evaluate: Evaluate) -> None:
        claims = True
        while True:
            self._store.begin_pass(claims)
            waiting = evaluate(left).waiting
            wait_for(end_run(self._log))  # requests sent at once then read again what was spent
            asked = bool(self._store.new())
            if not waiting:
                if asked:
                    self._say(
                        "A source or judge asked a model and went on without its reply: its "
                        "results are not those of a run without --batch."
                    )
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
        """Submit all new requests, and take all batches further until their replies are stored."""
        pause = _FIRST_PAUSE
        try:
            while (new := self._store.new()) or self._store.under_way():
                check_stop()
                stops = [self._exchange(endpoint).submit(self._round) for endpoint in new]
                under_way = self._store.under_way()
                if not under_way and any(stops):
                    raise next(filter(None, stops))
                self._tell(under_way)
                stored = [self._exchange(one.endpoint).advance(one) for one in under_way]
                if any(stored):
                    pause = _FIRST_PAUSE
                else:
                    self._pause(pause, under_way)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._progress.note("")

    def _exchange(self, endpoint: Endpoint) -> Exchange:
        if endpoint not in self._exchanges:
            settings = self._client, self._settings, self._log
            self._exchanges[endpoint] = Exchange(endpoint, self._store, *settings, self._say)
        return self._exchanges[endpoint]

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

    def _say(self, text: str, about: str = "") -> None:
        """Tell the user something once."""
        if (about or text) not in self._said:
            self._said.add(about or text)
            self._progress.say(text)

    def _tell(self, under_way: Sequence[Batch]) -> None:
        """Show how far the round is."""
        if not under_way:
            return
        number, total, done = self._store.last_round()
        oldest = duration(time.time() - under_way[0].submitted)
        most = self._most_rounds
        of = f" of at most {most}" if number <= most else " (asking again)"
        text = f"round {number}{of}: {done:,} of {total:,} done, oldest {oldest}"
        self._say(text, about=f"round {number}")
        self._progress.note(text)
