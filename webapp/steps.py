"""Serve the single steps: extract, search, passages, verify."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from fastapi import APIRouter

from ufo.indexes.index import open_index
from ufo.schemas.errors import UsageError, ends_run
from ufo.schemas.records import NO_PASSAGES, NOANS, InputRecord, OpenUnits, Passage
from ufo.transforms.check_text import CheckedText, check_text, opened
from ufo.transforms.extract import Extracted, extract
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved, failed
from ufo.transforms.votes import SINGLE
from ufo.webapp import answers, models
from ufo.webapp.asked import job_of, record_of
from ufo.webapp.bridge import on_the_loop
from ufo.webapp.desk import AtDesk, Desk

T = TypeVar("T")
router = APIRouter(tags=["steps"])
_GIVEN = "given"


@router.post("/extract")
async def extract_units(asked: models.ExtractRequest, desk: AtDesk) -> answers.ExtractedText:
    """Split a text into sentences and fact units: claims, each with its query.

    ```sh
    curl -s 127.0.0.1:8080/extract --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    job = job_of(desk, asked, ["reference"])
    record = record_of(asked.text, asked.question, language=asked.language)

    async def work() -> Extracted:
        async with opened(job) as (_, judge):
            return await extract(record, judge, job.units)

    found = await _done(desk, work())
    return answers.ExtractedText(
        response=found.response,
        sentences=found.sentences,
        fact_units=list(found.open_units.units),
        failures=found.failures,
        usage=found.usage,
    )


@router.post("/search")
def search(asked: models.SearchRequest, desk: AtDesk) -> list[answers.SearchAnswer]:
    """Search the index of the service for the best passages of each query.

    ```sh
    curl -s 127.0.0.1:8080/search --json '{"queries": ["capital of Norway"], "passages": 2}'
    ```
    """
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
                answers.SearchHit(
                    rank=rank, score=hit.score, passage=hit.passage.as_passage("wikipedia")
                )
                for rank, hit in enumerate(hits, 1)
            ],
        )
        for query, hits in zip(asked.queries, found, strict=True)
    ]


@router.post("/passages")
async def passages(asked: models.PassagesRequest, desk: AtDesk) -> answers.Passages:
    """Retrieve the passages of each source for each claim. It takes the response of `/extract`.

    ```sh
    curl -s 127.0.0.1:8080/extract --json '{"text": "Oslo is the capital of Norway."}' |
    curl -s 127.0.0.1:8080/passages --json @-
    ```
    """
    job = job_of(desk, asked, asked.sources)
    record = _record_of(asked, None, asked.references)

    async def work() -> tuple[Extracted, list[tuple[str, Sequence[Found]]]]:
        async with opened(job) as (sources, judge):
            extracted = await extract(record, judge)
            units = extracted.open_units
            found = await asyncio.gather(*(_looked_up(source, units) for source in sources))
            return extracted, [(s.name, one) for s, one in zip(sources, found, strict=True)]

    extracted, found = await _done(desk, work())
    units = list(extracted.open_units.units)
    rows = [
        answers.SourceAnswer(
            source=name,
            claim=unit.claim,
            query=unit.query,
            hits=[
                answers.SearchHit(rank=rank, score=hit.score, passage=hit.passage)
                for rank, hit in enumerate(one.passages, 1)
            ],
            outcome=None if one.passages else one.outcome,
            reason=None if one.passages else one.reason,
            message=one.message or None,
        )
        for name, by_unit in found
        for unit, one in zip(units, by_unit, strict=True)
    ]
    usage = [row for _, by_unit in found for one in by_unit for row in one.usage]
    return answers.Passages(
        response=extracted.response, fact_units=units, answers=rows, usage=usage
    )


@router.post("/verify")
async def verify(asked: models.VerifyRequest, desk: AtDesk) -> CheckedText:
    """Verify claims against passages. It takes claims and passages, or what `/passages` gave.

    ```sh
    curl -s 127.0.0.1:8080/verify --json '{
        "claims": [{"claim": "Oslo is large."}], "passages": [{"text": "Oslo is large."}]}'
    ```

    ```sh
    curl -s 127.0.0.1:8080/extract --json '{"text": "Oslo is the capital of Norway."}' |
    curl -s 127.0.0.1:8080/passages --json @- |
    curl -s 127.0.0.1:8080/verify --json @-
    ```
    """
    job = job_of(desk, asked, ["reference"])
    record = _record_of(asked, asked.text, ())
    mode, sources = (SINGLE, [_of_claims(asked)]) if asked.answers is None else _answered(asked)

    async def work() -> CheckedText:
        async with opened(job) as (_, judge):
            return await check_text(record, sources, judge, mode, job.tie)

    return await _done(desk, work())


def _of_claims(asked: models.VerifyRequest) -> "_GivenPassages":
    """Return a source that has the passages of a request for each of its claims."""
    if not asked.passages:
        raise UsageError("give `passages`, or the `answers` of /passages")
    hits = [Retrieved(Passage(**one.model_dump())) for one in asked.passages]
    claims = asked.claims or asked.fact_units or ()
    return _GivenPassages(_GIVEN, {one.claim: (hits, None) for one in claims})


def _answered(asked: models.VerifyRequest) -> tuple[str, list["_GivenPassages"]]:
    """Return the mode, and a source for each that answered, in their order."""
    by_source: dict[str, dict[str, _Answer]] = {}
    for one in asked.answers or ():
        hits = [Retrieved(Passage(**hit.passage.model_dump()), hit.score) for hit in one.hits]
        without = Found((), one.outcome or NOANS, one.reason or NO_PASSAGES)
        by_source.setdefault(one.source, {})[one.claim] = hits, without
    return asked.mode, [_GivenPassages(name, of_claims) for name, of_claims in by_source.items()]


_Answer = tuple[Sequence[Retrieved], Found | None]


class _GivenPassages(FactSource):
    """The passages of a request for each claim, or why there are none."""

    def __init__(self, name: str, answers: Mapping[str, _Answer]) -> None:
        self.name = name
        self._answers = answers

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        found = []
        for unit in open_units.units:
            hits, without = self._answers.get(unit.claim, ((), None))
            found.append(self.found(hits) if hits else without or Found())
        return found


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


def _record_of(
    asked: models.PassagesRequest | models.VerifyRequest,
    text: str | None,
    references: Sequence[str],
) -> InputRecord:
    """Return a record of given claims; without a text of their own they are the text.

    Raises:
        UsageError: there is no claim, or there are claims of two kinds.
    """
    if bool(asked.claims) == (asked.fact_units is not None):
        raise UsageError("give `claims`, or the `fact_units` of /extract")
    claims = asked.fact_units if asked.fact_units is not None else asked.claims
    given = asked.response or models.PassedResponse(text="")
    return record_of(
        text or given.text or "\n".join(one.claim for one in claims),
        asked.question or given.question,
        references,
        asked.language or given.language,
        claims,
    )
