"""Step `check` on Beam: open units against the fact sources, one after another or side by side.

Multi-Seq chains one stage a source: what a stage cannot decide leaves by the side output `noans`
and is what the next stage is asked. The other modes apply the same stage to every source in
parallel and vote over what comes together.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from ufo.schemas.records import OpenUnits, SourceVotes
from ufo.transforms.beam.coders import typed
from ufo.transforms.beam.counters import CoroutineDoFn, of_source
from ufo.transforms.beam.write_steps import ROWS, Rows
from ufo.transforms.check import Checked, check, pooled_verdicts, settle, undecided
from ufo.transforms.job import Job
from ufo.transforms.judges import make_judge
from ufo.transforms.loop import in_step
from ufo.transforms.secrets import into_environment
from ufo.transforms.sources.fact_source import make_source
from ufo.transforms.votes import SEQ

_NOANS = "noans"
_VOTES = "votes"

Key = tuple[str, int]


@dataclass(slots=True)
class _CheckedUnits:
    asked: OpenUnits
    checked: Checked


class _Ask(CoroutineDoFn[OpenUnits, _CheckedUnits]):
    """The life cycle of one stage: source and judge are opened once and asked for each response."""

    def __init__(self, job: Job, position: int) -> None:
        super().__init__(job.in_flight)
        self._job = job
        self._position = position

    def setup(self) -> None:
        into_environment(self._job.secrets)
        self._judge = make_judge(self._job.judge)
        self._source = make_source(
            self._job.sources[self._position], self._job.flags, self._job.source_context
        )
        self._step = f"source:{self._source.name}"
        self.begin(self._step, self._job.usage_log, self._judge, self._source)

    async def call(self, item: OpenUnits) -> _CheckedUnits:
        with in_step(self._step):
            return _CheckedUnits(item, await check(item, self._source, self._judge))

    def outputs(self, result: _CheckedUnits) -> Iterator[Rows | TaggedOutput]:
        checked, counts = result.checked, of_source(result.asked, result.checked)
        rows: Rows = {
            "evidence": checked.evidence,
            "passages": checked.passages,
            "failures": checked.failures,
            "usage": checked.usage,
        }
        if self._job.mode != SEQ:
            self.counters.add(**counts)
            yield rows
            votes = SourceVotes(result.asked.response_id, self._position, checked.tallies)
            yield TaggedOutput(_VOTES, votes)
            return
        decided, rest = settle(result.asked, checked, self._job.tie)
        left = {"units_out": len(rest.units) if rest else 0, "responses_out": int(rest is not None)}
        self.counters.add(**counts, **left)
        yield {**rows, "verdicts": decided}
        if rest is not None:
            yield TaggedOutput(_NOANS, rest)


class AskSource(beam.PTransform):  # type: ignore[misc]
    """One stage: open units → `rows`, `noans` (Multi-Seq) and `votes` (other modes).

    With more than one shard the units are grouped by source and shard before, which spreads the
    work over an engine's workers. It is a plain group: GroupIntoBatches holds back elements until a
    timer, and Beam 2.77's FnApiRunner loses these in silence where two such stages follow each
    other.
    """

    def __init__(self, job: Job, position: int) -> None:
        super().__init__()
        self._job = job
        self._position = position

    def expand(self, open_units: "beam.PCollection[OpenUnits]") -> Any:
        """Apply the stage."""
        tags = {_NOANS: OpenUnits, _VOTES: SourceVotes}
        ask = beam.ParDo(_Ask(self._job, self._position)).with_output_types(Rows, **tags)
        if self._job.shards > 1:
            key = partial(_keyed, self._job.sources[self._position].name, self._job.shards)
            keyed = open_units | "key" >> beam.Map(key).with_output_types(tuple[Key, OpenUnits])
            batches = typed(keyed, tuple[Key, OpenUnits]) | "batch" >> beam.GroupByKey()
            batches = typed(batches, tuple[Key, Iterable[OpenUnits]])
            open_units = batches | "spread" >> beam.FlatMap(_records).with_output_types(OpenUnits)
        return open_units | "ask" >> ask.with_outputs(*tags, main=ROWS)


class CheckSources(beam.PTransform):  # type: ignore[misc]
    """Open units → collections of rows, through all sources in the user's order."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, open_units: "beam.PCollection[OpenUnits]") -> Any:
        """Apply the stages; returns a list of collections."""
        rows = []
        votes = []
        for position, source in enumerate(self._job.sources):
            asked = open_units | f"{position + 1} {source.name}" >> AskSource(self._job, position)
            rows.append(asked[ROWS])
            votes.append(asked[_VOTES])
            if self._job.mode == SEQ:
                open_units = asked[_NOANS]
        if self._job.mode == SEQ:
            undecided_rows = beam.Map(_undecided, self._job.tie).with_output_types(Rows)
            rows.append(open_units | "undecided" >> undecided_rows)
        else:
            decide = partial(_decide, self._job.mode, self._job.tie)
            by_response = beam.WithKeys(_response_id).with_output_types(tuple[str, SourceVotes])
            rows.append(
                votes
                | "votes" >> beam.Flatten()
                | "key" >> by_response
                | "group" >> beam.GroupByKey()
                | "decide" >> beam.Map(decide).with_output_types(Rows)
            )
        return rows


# Functions of this module travel to workers by name; those in another function would travel whole,
# with the path of this file.
def _keyed(source: str, shards: int, record: OpenUnits) -> tuple[Key, OpenUnits]:
    return (source, crc32(record.response_id.encode()) % shards), record


def _records(group: tuple[Key, Iterable[OpenUnits]]) -> Iterable[OpenUnits]:
    return group[1]


def _undecided(record: OpenUnits, tie: str) -> Rows:
    return {"verdicts": undecided(record, tie)}


def _decide(mode: str, tie: str, item: tuple[str, Iterable[SourceVotes]]) -> Rows:
    response_id, by_source = item
    ordered = sorted(by_source, key=lambda source: source.position)
    tallies = [votes for source in ordered for votes in source.tallies]
    return {"verdicts": pooled_verdicts(response_id, tallies, mode, tie)}


def _response_id(votes: SourceVotes) -> str:
    return votes.response_id
