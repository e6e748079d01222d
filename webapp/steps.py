"""Each step by itself: extract, search, passages, verify."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from fastapi import APIRouter

from indexes.index import open_index
from schemas.errors import UsageError, ends_run
from schemas.records import InputRecord, OpenUnits, Passage
from transforms.check import check
from transforms.check_text import opened
from transforms.extract import Extracted, extract
from transforms.sources.base import FactSource, Found, Retrieved, failed
from transforms.votes import SINGLE, verdicts
from webapp import answers, models
from webapp.asked import job_of, record_of
from webapp.bridge import on_the_loop
from webapp.desk import AtDesk, Desk

T = TypeVar("T")
router = APIRouter(tags=["steps"])
_GIVEN = "given"


@router.post("/extract")
async def extract_units(asked: models.ExtractRequest, desk: AtDesk) -> answers.Extracted:
    """Take a text apart into sentences and fact units: claims, each with its query."""
    job = job_of(desk, asked, ["reference"])
    record = record_of(asked.text, asked.question, language=asked.language)

    async def work() -> Extracted:
        async with opened(job) as (_, judge):
            return await extract(record, judge, job.units)

    found = await _done(desk, work())
    return answers.Extracted(
        response=found.response,
        sentences=found.sentences,
        fact_units=list(found.open_units.units),
        failures=found.failures,
        usage=found.usage,
    )


@router.post("/search")
def search(asked: models.SearchRequest, desk: AtDesk) -> list[answers.SearchAnswer]:
    """Search the index of the service: each query's best passages, as the source finds them."""
    if desk.setup.index is None:
        raise UsageError("the service has no index; start it with --index DIR")
    index = open_index(desk.setup.index, asked.retriever)
    with desk.checks.one():
        named = [index.names_in(query) for query in asked.queries]
        found = index.search(asked.queries, asked.passages, named)
    return [
        answers.SearchAnswer(
            query=query,
            hits=[
                answers.Hit(rank=rank, score=hit.score, passage=hit.passage.as_passage("wikipedia"))
                for rank, hit in enumerate(hits, 1)
            ],
        )
        for query, hits in zip(asked.queries, found, strict=True)
    ]


@router.post("/passages")
async def passages(asked: models.PassagesRequest, desk: AtDesk) -> answers.Passages:
    """Ask each source what it has on each claim; nothing is judged."""
    job = job_of(desk, asked, asked.sources)
    record = _record_of_claims(asked.claims, None, asked.question, asked.references, asked.language)

    async def work() -> tuple[OpenUnits, list[tuple[str, Sequence[Found]]]]:
        async with opened(job) as (sources, judge):
            units = (await extract(record, judge)).open_units
            found = await asyncio.gather(*(_looked_up(source, units) for source in sources))
            return units, [(s.name, one) for s, one in zip(sources, found, strict=True)]

    open_units, found = await _done(desk, work())
    rows = [
        answers.SourceAnswer(
            source=name,
            claim=unit.claim,
            query=unit.query,
            hits=[
                answers.Hit(rank=rank, score=hit.score, passage=hit.passage)
                for rank, hit in enumerate(one.passages, 1)
            ],
            outcome=None if one.passages else one.outcome,
            reason=None if one.passages else one.reason,
            message=one.message or None,
        )
        for name, by_unit in found
        for unit, one in zip(open_units.units, by_unit, strict=True)
    ]
    usage = [row for _, by_unit in found for one in by_unit for row in one.usage]
    return answers.Passages(answers=rows, usage=usage)


@router.post("/verify")
async def verify(asked: models.VerifyRequest, desk: AtDesk) -> answers.Verified:
    """Hold each claim against each passage, and return the majority for each claim."""
    job = job_of(desk, asked, ["reference"], tie=asked.tie)
    record = _record_of_claims(asked.claims, asked.text, asked.question, (), asked.language)
    source = _Given([Passage(one.text, one.title, url=one.url) for one in asked.passages])

    async def work() -> answers.Verified:
        async with opened(job) as (_, judge):
            extracted = await extract(record, judge)
            units = extracted.open_units
            found = await check(units, source, judge)
            return answers.Verified(
                fact_units=list(units.units),
                passages=found.passages,
                evidence=found.evidence,
                verdicts=[
                    row
                    for votes in found.tallies
                    for row in verdicts(record.response_id, [votes], SINGLE, job.tie)
                ],
                failures=extracted.failures + found.failures,
                usage=extracted.usage + found.usage,
            )

    return await _done(desk, work())


class _Given(FactSource):
    """The passages of a request, for every claim."""

    name = _GIVEN

    def __init__(self, given: Sequence[Passage]) -> None:
        self._given = given

    def find(self, unit: object) -> Sequence[Passage | Retrieved]:
        return self._given


async def _looked_up(source: FactSource, units: OpenUnits) -> Sequence[Found]:
    try:
        return await source.look_up(units)
    except Exception as error:
        if ends_run(error):
            raise
        return [failed(error)] * len(units.units)


async def _done(desk: Desk, work: Coroutine[Any, Any, T]) -> T:
    with desk.checks.one():
        return await on_the_loop(work, desk.setup.limits.check_seconds)


def _record_of_claims(
    claims: Sequence[models.Claim],
    text: str | None,
    question: str | None,
    references: Sequence[str],
    language: str | None,
) -> InputRecord:
    """Return a record of given claims; without a text of their own they are the text."""
    whole = text or "\n".join(one.claim for one in claims)
    return record_of(whole, question, references, language, claims)
