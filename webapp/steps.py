"""Serve the single steps: extract, search, passages, verify."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from fastapi import APIRouter

from ufo.indexes.index import open_index
from ufo.schemas.errors import DoesNotFit
from ufo.schemas.records import NO_PASSAGES, NOANS, InputRecord, OpenUnits, Passage
from ufo.transforms.check import look_up
from ufo.transforms.check_text import CheckedText, check_text, open_plugins
from ufo.transforms.extract import Extracted, extract
from ufo.transforms.job import Job
from ufo.transforms.judges.judge import Judge
from ufo.transforms.sources.defaults import PASSAGES, RETRIEVER
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved
from ufo.transforms.votes import SINGLE
from ufo.webapp import request_models, response_models
from ufo.webapp.bridge import run_on_loop
from ufo.webapp.request_models import job_of, record_of
from ufo.webapp.service import Service, ServiceDep

T = TypeVar("T")
router = APIRouter(tags=["steps"])


@router.post("/extract", response_model_exclude={"evidence", "passages", "verdicts"})
async def extract_units(asked: request_models.ExtractRequest, service: ServiceDep) -> CheckedText:
    """Split a text into sentences and fact units: claims, each with its query.

    ```sh
    curl -s 127.0.0.1:8080/extract --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    job = job_of(service, asked, ["reference"])
    record = record_of(asked, asked.text)
    extracted = await _done(service, job, lambda _, judge: extract(record, judge, job.units))
    return CheckedText.of(extracted)


@router.post("/search")
def search(
    asked: request_models.SearchRequest, service: ServiceDep
) -> list[response_models.SearchAnswer]:
    """Search the index of the service for the best passages of each query.

    ```sh
    curl -s 127.0.0.1:8080/search --json '{"queries": ["capital of Norway"], "passages": 2}'
    ```
    """
    usual = service.settings
    index = open_index(service.setup.index, asked.retriever or usual.retriever or RETRIEVER)
    most = asked.passages or usual.passages or PASSAGES
    with service.checks.slot():
        named = [index.names_in(query) for query in asked.queries]
        results = index.search(asked.queries, most, named)
    return [
        response_models.SearchAnswer(
            query=query,
            hits=_ranked((hit.score, hit.passage.as_passage("wikipedia")) for hit in hits),
        )
        for query, hits in zip(asked.queries, results, strict=True)
    ]


@router.post("/passages")
async def passages(
    asked: request_models.PassagesRequest, service: ServiceDep
) -> response_models.Passages:
    """Retrieve the passages of each source for each claim. It takes the response of `/extract`.

    ```sh
    curl -s 127.0.0.1:8080/extract --json '{"text": "Oslo is the capital of Norway."}' |
    curl -s 127.0.0.1:8080/passages --json @-
    ```
    """
    job = job_of(service, asked, asked.sources)
    record = _record_of(asked, asked.references)

    async def work(
        sources: Sequence[FactSource], judge: Judge
    ) -> tuple[Extracted, list[tuple[FactSource, Sequence[Found]]]]:
        extracted = await extract(record, judge)
        results = await asyncio.gather(*(look_up(extracted.open_units, one) for one in sources))
        return extracted, list(zip(sources, results, strict=True))

    extracted, by_source = await _done(service, job, work)
    units = list(extracted.open_units.units)
    rows = [
        response_models.SourceAnswer(
            source=source.name,
            claim=unit.claim,
            query=unit.query,
            hits=_ranked((hit.score, hit.passage) for hit in result.passages),
            outcome=None if result.passages else result.outcome,
            reason=None if result.passages else result.reason,
            message=result.message or None,
        )
        for source, by_unit in by_source
        for unit, result in zip(units, by_unit, strict=True)
    ]
    usage = [row for _, by_unit in by_source for result in by_unit for row in result.usage]
    return response_models.Passages(
        response=extracted.response, fact_units=units, answers=rows, usage=usage
    )


@router.post("/verify")
async def verify(asked: request_models.VerifyRequest, service: ServiceDep) -> CheckedText:
    """Verify claims against passages. It takes claims and passages, or the response of `/passages`.

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
    job = job_of(service, asked, ["reference"])
    record = _record_of(asked)
    source_answers = asked.answers
    if source_answers is None:
        if not asked.passages:
            raise DoesNotFit("give `passages`, or the `answers` of /passages")
        hits = [response_models.SearchHit(passage=one) for one in asked.passages]
        source_answers = [
            response_models.SourceAnswer(source="given", claim=claim.claim, hits=hits)
            for claim in record.claims
        ]
        job = replace(job, mode=SINGLE)
    sources = [
        _Answers(name, source_answers)
        for name in dict.fromkeys(one.source for one in source_answers)
    ]
    return await _done(service, job, lambda _, judge: check_text(record, sources, judge, job))


def _ranked(hits: Iterable[tuple[float | None, Passage]]) -> list[response_models.SearchHit]:
    return [
        response_models.SearchHit(rank=rank, score=score, passage=passage)
        for rank, (score, passage) in enumerate(hits, 1)
    ]


class _Answers(FactSource):
    """A fact source that gives the answers of a request."""

    def __init__(self, name: str, source_answers: Sequence[response_models.SourceAnswer]) -> None:
        self.name = name
        self._answers = {one.claim: one for one in source_answers if one.source == name}

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        return [self._result_of(self._answers.get(unit.claim)) for unit in open_units.units]

    def _result_of(self, answer: response_models.SourceAnswer | None) -> Found:
        if answer and answer.hits:
            return self.found(Retrieved(hit.passage, hit.score) for hit in answer.hits)
        outcome = (answer.outcome, answer.reason) if answer else (None, None)
        return Found((), outcome[0] or NOANS, outcome[1] or NO_PASSAGES)


async def _done(
    service: Service, job: Job, work: Callable[[list[FactSource], Judge], Awaitable[T]]
) -> T:
    async def run() -> T:
        async with open_plugins(job) as (sources, judge):
            return await work(sources, judge)

    with service.checks.slot():
        return await run_on_loop(run(), service.setup.limits.check_seconds)


def _record_of(asked: request_models.AfterExtract, references: Sequence[str] = ()) -> InputRecord:
    """Return the input record of a request; without a response, its text is that of the claims.

    Raises:
        DoesNotFit: it has claims of both kinds, or neither claims nor a text.
    """
    claims = asked.claims or asked.fact_units
    whole = asked.text or (asked.response and asked.response.text)
    if (asked.claims and asked.fact_units) or not (claims or whole):
        raise DoesNotFit("give `claims`, or the `fact_units` of /extract with its `response`")
    context = asked.response or asked
    about = request_models.TextContext(
        question=asked.question or context.question, language=asked.language or context.language
    )
    return record_of(about, whole or "\n".join(one.claim for one in claims), references, claims)
