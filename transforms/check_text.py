"""Run all steps for one text without Beam, for the Python interface and the web service."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Self

from ufo.schemas.records import (
    Evidence,
    FactUnit,
    Failure,
    InputRecord,
    OpenUnits,
    Passage,
    Response,
    Sentence,
    Tally,
    Usage,
    Verdict,
)
from ufo.transforms.check import Checked, check_parts, in_use, pooled_verdicts, settle, undecided
from ufo.transforms.extract import EXTRACT, Extracted, extract
from ufo.transforms.judges.by_name import make_judge
from ufo.transforms.judges.judge import Judge
from ufo.transforms.llm.request import Client
from ufo.transforms.scores import Scores, Selection, VoteRules, score
from ufo.transforms.sources.fact_source import FactSource, make_source
from ufo.transforms.votes import SEQ

if TYPE_CHECKING:
    # Workers of an engine import `job` by its name while another thread imports `ufo`. If `ufo`
    # imported it, each thread would wait for the other.
    from ufo.transforms.job import Job


@dataclass(slots=True)
class CheckedText:
    """The rows of one response in all tables."""

    response: Response
    sentences: list[Sentence]
    fact_units: list[FactUnit]
    evidence: list[Evidence] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)

    @classmethod
    def of(cls, extracted: Extracted) -> Self:
        """Return the rows after the extraction."""
        units = list(extracted.open_units.units)
        return cls(
            extracted.response,
            extracted.sentences,
            units,
            failures=list(extracted.failures),
            usage=list(extracted.usage),
        )


@dataclass(slots=True)
class SourceAsked:
    """An event: a source is being asked about these units; `position` counts the sources from 0."""

    source: str
    position: int
    unit_ids: list[str]


@dataclass(slots=True)
class SourceAnswered:
    """An event: the results of a source for some units, and the verdicts that are final.

    In mode seq a unit gets its verdict with the first source that answers. Units without an answer,
    and all units in other modes, get it with the last event, whose `checked` is None.
    """

    source: str
    position: int
    checked: Checked | None
    verdicts: list[Verdict]


Step = Extracted | SourceAsked | SourceAnswered


@asynccontextmanager
async def open_plugins(
    job: "Job", client: Client | None = None
) -> AsyncIterator[tuple[list[FactSource], Judge]]:
    """Open the job's sources and judge, and close them after the block.

    `client` replaces the clients of the judge's endpoints.
    """
    sources = [make_source(spec, job.flags, job.context) for spec in job.sources]
    judge = make_judge(job.judge, client)
    needed: list[Judge | FactSource] = [judge, *sources]
    with ExitStack() as closing:
        for plugin in needed:
            closing.enter_context(in_use(plugin))
        yield sources, judge


async def check_text(
    record: InputRecord, sources: Sequence[FactSource], judge: Judge, job: "Job"
) -> CheckedText:
    """Return the same rows as the pipeline for one record; sources and judge must be open.

    Only the `units`, `mode` and `tie` of the job are used.
    """
    extracted: Extracted | None = None
    answers: list[SourceAnswered] = []
    async with aclosing(steps(record, sources, judge, job)) as steps_done:
        async for step in steps_done:
            if isinstance(step, Extracted):
                extracted = step
            elif isinstance(step, SourceAnswered):
                answers.append(step)
    assert extracted is not None
    return gather(extracted, answers)


def gather(extracted: Extracted, answers: Sequence[SourceAnswered]) -> CheckedText:
    """Return the rows of all events so far, in the order of the sources."""
    rows = CheckedText.of(extracted)
    passages: dict[str, Passage] = {}
    for answer in sorted(answers, key=lambda one: one.position):
        rows.verdicts += answer.verdicts
        if answer.checked is not None:
            rows.evidence += answer.checked.evidence
            rows.failures += answer.checked.failures
            rows.usage += answer.checked.usage
            passages |= {one.passage_id: one for one in answer.checked.passages}
    rows.passages = list(passages.values())
    return rows


async def steps(
    record: InputRecord, sources: Sequence[FactSource], judge: Judge, job: "Job"
) -> AsyncGenerator[Step, None]:
    """Yield the events of `check_text` as they happen, the extraction first.

    In modes that ask every source, all sources are asked concurrently.
    """
    extracted = await extract(record, judge, job.units)
    yield extracted
    if not extracted.open_units.units:
        return
    following = _in_sequence if job.mode == SEQ else _together
    async with aclosing(following(extracted.open_units, sources, judge, job)) as steps_done:
        async for step in steps_done:
            yield step


async def _in_sequence(
    open_units: OpenUnits, sources: Sequence[FactSource], judge: Judge, job: "Job"
) -> AsyncGenerator[Step, None]:
    remaining: list[OpenUnits] = [open_units]
    for position, source in enumerate(sources):
        if not remaining:
            return
        asked = _joined(remaining)
        yield SourceAsked(source.name, position, [unit.unit_id for unit in asked.units])
        remaining = []
        async for part, checked in check_parts(asked, source, judge):
            decided, left = settle(part, checked, job.tie)
            remaining += [left] if left is not None else []
            yield SourceAnswered(source.name, position, checked, decided)
    if remaining:
        yield SourceAnswered("", len(sources), None, undecided(_joined(remaining), job.tie))


async def _together(
    open_units: OpenUnits, sources: Sequence[FactSource], judge: Judge, job: "Job"
) -> AsyncGenerator[Step, None]:
    answers: asyncio.Queue[SourceAnswered | None] = asyncio.Queue()

    async def ask(position: int, source: FactSource) -> None:
        async for _, checked in check_parts(open_units, source, judge):
            answers.put_nowait(SourceAnswered(source.name, position, checked, []))

    async def ask_all() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for position, source in enumerate(sources):
                    group.create_task(ask(position, source))
        except BaseExceptionGroup as errors:
            # The first error cancels the others, and is raised alone instead of as a group.
            raise errors.exceptions[0] from None
        finally:
            answers.put_nowait(None)

    for position, source in enumerate(sources):
        yield SourceAsked(source.name, position, [unit.unit_id for unit in open_units.units])
    asking = asyncio.create_task(ask_all())
    by_source: list[list[Tally]] = [[] for _ in sources]  # each in the order of the units
    try:
        while (answer := await answers.get()) is not None:
            if answer.checked is not None:
                by_source[answer.position] += answer.checked.tallies
            yield answer
        await asking
    finally:
        asking.cancel()
    verdicts = pooled_verdicts(open_units.response_id, chain(*by_source), job.mode, job.tie)
    yield SourceAnswered("", len(sources), None, verdicts)


def _joined(parts: Sequence[OpenUnits]) -> OpenUnits:
    """Merge parts of one response into one record."""
    return replace(
        parts[0],
        units=[unit for part in parts for unit in part.units],
        tallies=[tally for part in parts for tally in part.tallies],
    )


def score_text(
    rows: CheckedText,
    sources: Sequence[str],
    mode: str,
    tie: str,
    selection: Selection | None = None,
) -> Scores:
    """Return the scores of a text from its selected evidence, by default from all."""
    return score(
        rows.fact_units,
        rows.evidence,
        rows.passages,
        VoteRules(sources, mode, tie, selection or Selection()),
        len(rows.sentences),
        rows.response.response_id,
        extraction_failed=any(one.step == EXTRACT for one in rows.failures),
    )
