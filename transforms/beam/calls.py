"""Run the steps `extract`, `check` and `recall` on Beam, which ask a judge or a source.

In mode Multi-Seq, each source is one stage of a chain. Units that a stage cannot decide leave it by
the side output `noans`, and go to the next stage. The other modes apply the same stage to every
source in parallel, then vote over all results.
"""

from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar
from zlib import crc32

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import WindowedValue

# A worker's threads import this first: here one waits for another that is importing the package.
# Otherwise each could see modules that the other has half made.
import ufo  # noqa: F401
from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import InputRecord, OpenUnits, RecallInput, SourceVotes, Usage
from ufo.transforms.beam.files import ROWS, Key, Rows, StepCounters, typed
from ufo.transforms.check import Checked, check, in_use, pooled_verdicts, settle, undecided
from ufo.transforms.extract import Extracted, extract
from ufo.transforms.job import WAITING, Job
from ufo.transforms.judges.by_name import make_judge
from ufo.transforms.loop import CallWindow, in_step, run_now
from ufo.transforms.recall.recallers import Recalled, RecallJob, make_recaller, recall
from ufo.transforms.secrets import into_environment
from ufo.transforms.sources.fact_source import make_source
from ufo.transforms.votes import SEQ, decides, only_errors

_NOANS = "noans"
_VOTES = "votes"

J = TypeVar("J", bound=Job)
T = TypeVar("T")
R = TypeVar("R")


class CoroutineDoFn(beam.DoFn, Generic[J, T, R]):  # type: ignore[misc]
    """Calls `call` for each element and yields `outputs` of each result.

    A subclass calls `begin` in `setup`. Where `remote` is True, up to `in_flight` calls of the job
    run concurrently on the process's loop. Results are yielded as they complete, with the window
    and timestamp of their element. The bundle ends when all have completed. `call` returns errors
    as data: an exception here would end the run. An element that waits for a request in a batch is
    counted and yields nothing.
    """

    remote = False

    def __init__(self, job: J) -> None:
        self.job: J = job
        self.counters = StepCounters("")
        self._window: CallWindow[tuple[Any, Any], R | None] | None = None
        self._opened = ExitStack()

    def begin(self, step: str, *needed: Any) -> None:
        """Create the counters of the step, and open the judge or source that its calls need."""
        self.counters = StepCounters(step, self.job.counts_log)
        self._opened = ExitStack()
        for plugin in needed:
            self._opened.enter_context(in_use(plugin))
        self.remote = any(one.remote for one in needed)

    def teardown(self) -> None:
        """Close what `begin` opened."""
        self.counters.close()
        self._opened.close()

    def call(self, item: T) -> Coroutine[Any, Any, R]:
        """Return the coroutine for one element."""
        raise NotImplementedError

    def outputs(self, result: R) -> Iterable[Any]:
        """Return the elements to emit for one result, tagged or not."""
        raise NotImplementedError

    def start_bundle(self) -> None:
        """Start the bundle without calls in progress."""
        self._window = CallWindow(self.job.in_flight) if self.remote else None

    def process(
        self,
        element: T,
        timestamp: Any = beam.DoFn.TimestampParam,
        window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[Any]:
        """Start the call for this element; yield the outputs of all elements completed by now."""
        if self._window is None:
            yield from self.outputs(run_now(self.call(element)))
            return
        for origin, result in self._window.submit((timestamp, window), self._call_or_wait(element)):
            yield from self._windowed(origin, result)

    def finish_bundle(self) -> Iterator[Any]:
        """Yield the outputs of all calls that are still in progress."""
        if self._window is not None:
            for origin, result in self._window.drain():
                yield from self._windowed(origin, result)
        self.counters.flush()

    async def _call_or_wait(self, element: T) -> R | None:
        try:
            return await self.call(element)
        except NotYetAnswered:
            return None

    def _windowed(self, origin: tuple[Any, Any], result: R | None) -> Iterator[Any]:
        if result is None:
            self.counters.add(**{WAITING: 1})
            return
        timestamp, window = origin
        for output in self.outputs(result):
            if isinstance(output, TaggedOutput):
                placed = WindowedValue(output.value, timestamp, (window,))
                yield TaggedOutput(output.tag, placed)
            else:
                yield WindowedValue(output, timestamp, (window,))


def requests_in(usage: Sequence[Usage]) -> dict[str, int]:
    """Return the numbers of requests sent, and of those answered from a cache, by their names."""
    cached = sum(row.cached or row.coalesced for row in usage)
    return {"requests": len(usage) - cached, "cached": cached}


# --- extract -------------------------------------------------------------------------------------


class _Extract(CoroutineDoFn[Job, InputRecord, Extracted]):
    def setup(self) -> None:
        into_environment(self.job.secrets)
        self._judge = make_judge(self.job.judge)
        self.begin("extract", self._judge)

    async def call(self, item: InputRecord) -> Extracted:
        with in_step("extract"):
            return await extract(item, self._judge, self.job.units)

    def outputs(self, result: Extracted) -> Iterable[OpenUnits | TaggedOutput]:
        self.counters.add(
            responses=1,
            sentences=len(result.sentences),
            units=len(result.open_units.units),
            no_claims=int(not result.open_units.units),
            failures=len(result.failures),
            **requests_in(result.usage),
            **result.doubts,
        )
        rows: Rows = {
            "responses": [result.response],
            "sentences": result.sentences,
            "fact_units": result.open_units.units,
            "failures": result.failures,
            "usage": result.usage,
        }
        yield TaggedOutput(ROWS, rows)
        if result.open_units.units:
            yield result.open_units


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def Extract(records: Any, job: Job) -> Any:
    """Records → `open_units` and `rows`."""
    step = beam.ParDo(_Extract(job)).with_output_types(OpenUnits, **{ROWS: Rows})
    return records | "judge" >> step.with_outputs(ROWS, main="open_units")


# --- check ---------------------------------------------------------------------------------------


class _Ask(CoroutineDoFn[Job, OpenUnits, tuple[OpenUnits, Checked]]):
    """The life cycle of one stage: source and judge are opened once and asked for each response."""

    def __init__(self, job: Job, position: int) -> None:
        super().__init__(job)
        self._position = position

    def setup(self) -> None:
        into_environment(self.job.secrets)
        self._judge = make_judge(self.job.judge)
        spec = self.job.sources[self._position]
        self._source = make_source(spec, self.job.flags, self.job.source_context)
        self._step = f"source:{self._source.name}"
        self.begin(self._step, self._judge, self._source)

    async def call(self, item: OpenUnits) -> tuple[OpenUnits, Checked]:
        with in_step(self._step):
            return item, await check(item, self._source, self._judge)

    def outputs(self, result: tuple[OpenUnits, Checked]) -> Iterator[Rows | TaggedOutput]:
        asked, checked = result
        in_sequence = self.job.mode == SEQ
        decided, rest = settle(asked, checked, self.job.tie) if in_sequence else ([], None)
        yield {
            "verdicts": decided,
            "evidence": checked.evidence,
            "passages": checked.passages,
            "failures": checked.failures,
            "usage": checked.usage,
        }
        # units_in = answered + noans + errors. A unit is answered with a valid vote; it counts
        # under errors if it had nothing else, and otherwise under noans.
        answered = sum(map(decides, checked.tallies))
        errors = sum(map(only_errors, checked.tallies))
        self.counters.add(
            responses=1,
            units_in=len(asked.units),
            answered=answered,
            noans=len(asked.units) - answered - errors,
            errors=errors,
            passages=len(checked.passages),
            evidence=len(checked.evidence),
            failures=len(checked.failures),
            units_out=len(rest.units) if rest else 0,
            responses_out=int(rest is not None),
            **requests_in(checked.usage),
        )
        if not in_sequence:
            votes = SourceVotes(asked.response_id, self._position, checked.tallies)
            yield TaggedOutput(_VOTES, votes)
        elif rest is not None:
            yield TaggedOutput(_NOANS, rest)


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def AskSource(open_units: Any, job: Job, position: int) -> Any:
    """Ask one source: open units → `rows`, `noans` (Multi-Seq) and `votes` (other modes).

    With more than one shard, the units are first grouped by source and shard, which spreads the
    work over an engine's workers. This uses GroupByKey. GroupIntoBatches holds back elements until
    a timer, and the FnApiRunner of Beam 2.77 silently loses them where two such stages follow each
    other.
    """
    if job.shards > 1:
        key = partial(_keyed, job.sources[position].name, job.shards)
        keyed = open_units | "key" >> beam.Map(key).with_output_types(tuple[Key, OpenUnits])
        batches = typed(keyed, tuple[Key, OpenUnits]) | "batch" >> beam.GroupByKey()
        batches = typed(batches, tuple[Key, Iterable[OpenUnits]])
        open_units = batches | "spread" >> beam.FlatMap(itemgetter(1)).with_output_types(OpenUnits)
    tags = {_NOANS: OpenUnits, _VOTES: SourceVotes}
    ask = beam.ParDo(_Ask(job, position)).with_output_types(Rows, **tags)
    return open_units | "ask" >> ask.with_outputs(*tags, main=ROWS)


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def CheckSources(open_units: Any, job: Job) -> Any:
    """Ask all sources in the user's order: open units → a list of collections of rows."""
    rows = []
    votes = []
    for position, source in enumerate(job.sources):
        asked = open_units | f"{position + 1} {source.name}" >> AskSource(job, position)
        rows.append(asked[ROWS])
        votes.append(asked[_VOTES])
        if job.mode == SEQ:
            open_units = asked[_NOANS]
    if job.mode == SEQ:
        decided = open_units | "undecided" >> beam.Map(_undecided, job.tie).with_output_types(Rows)
    else:
        decide = partial(_decide, job.mode, job.tie)
        by_response = beam.WithKeys(attrgetter("response_id"))
        decided = (
            votes
            | "votes" >> beam.Flatten()
            | "key" >> by_response.with_output_types(tuple[str, SourceVotes])
            | "group" >> beam.GroupByKey()
            | "decide" >> beam.Map(decide).with_output_types(Rows)
        )
    return [*rows, decided]


# Functions at the top of a module are sent to workers by name. Nested ones would be sent as code,
# with the path of this file.
def _keyed(source: str, shards: int, record: OpenUnits) -> tuple[Key, OpenUnits]:
    return (source, crc32(record.response_id.encode()) % shards), record


def _undecided(record: OpenUnits, tie: str) -> Rows:
    return {"verdicts": undecided(record, tie)}


def _decide(mode: str, tie: str, item: tuple[str, Iterable[SourceVotes]]) -> Rows:
    response_id, by_source = item
    ordered = sorted(by_source, key=lambda source: source.position)
    tallies = [votes for source in ordered for votes in source.tallies]
    return {"verdicts": pooled_verdicts(response_id, tallies, mode, tie)}


# --- recall --------------------------------------------------------------------------------------


class _AskFacts(CoroutineDoFn[RecallJob, RecallInput, Recalled]):
    def setup(self) -> None:
        self._recaller = make_recaller(self.job.judge, self.job.formulations)
        self.begin("recall", self._recaller.extractor)

    async def call(self, item: RecallInput) -> Recalled:
        with in_step("recall"):
            return await recall(item, self._recaller)

    def outputs(self, result: Recalled) -> Iterable[Rows]:
        tables: Rows = {
            "recall_answers": result.answers,
            "recall_facts": result.facts,
            "recall_verdicts": result.verdicts,
            "failures": result.failures,
            "usage": result.usage,
        }
        self.counters.add(records=1, **{table: len(rows) for table, rows in tables.items()})
        yield {"recall_records": [result.record], **tables}


@beam.ptransform_fn  # type: ignore[untyped-decorator]
def RecallAnswers(records: Any, job: RecallJob) -> Any:
    """Records → the rows of the recall tables."""
    return records | "judge" >> beam.ParDo(_AskFacts(job)).with_output_types(Rows)
