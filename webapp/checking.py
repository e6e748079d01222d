"""`/check` and `/score`: one text through all steps as events, and scores of a selection."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from ufo.schemas.records import InputRecord, Passage
from ufo.transforms.check_text import Step, opened, steps
from ufo.transforms.job import Job
from ufo.transforms.llm.shared import silences
from ufo.transforms.scores import Scores, Selection, score
from ufo.webapp import models
from ufo.webapp.asked import job_of, record_of
from ufo.webapp.bridge import Pulse, streamed
from ufo.webapp.desk import AtDesk
from ufo.webapp.events import Events
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.problems import log, problem_of

router = APIRouter(tags=["check"])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A check that can begin: its job and record, and the slot that it holds."""

    job: Job
    record: InputRecord
    limits: ServiceLimits


def prepared(asked: models.CheckRequest, desk: AtDesk) -> Iterator[Prepared]:
    """Prepare the requested check, and hold a slot for it until the last event is sent.

    Errors of the request are reported before the stream begins, as with any other request.
    """
    record = record_of(asked.text, asked.question, asked.references, asked.language)
    job = job_of(desk, asked, asked.sources)
    with desk.checks.one():
        yield Prepared(job, record, desk.setup.limits)


@router.post(
    "/check",
    response_class=EventSourceResponse,
    response_description="Events as things happen: started, extracted, asking, checked, scores, "
    "done; an error is an event too, and the last. `waiting` comes at intervals, and names the "
    "endpoints that have not answered for some seconds.",
)
async def check(asked: Annotated[Prepared, Depends(prepared)]) -> AsyncIterator[ServerSentEvent]:
    """Check a text, and send an event for each step.

    Closing the connection cancels the check; judgements that were paid for stay in the cache.

    ```sh
    curl -s -N 127.0.0.1:8080/check --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    started = monotonic()
    limits = asked.limits
    events = Events(asked.job)
    yield ServerSentEvent(event="started", data=events.started())
    try:
        following = streamed(
            _steps(asked.job, asked.record), limits.check_seconds, limits.pulse_seconds
        )
        async with aclosing(following) as found:
            async for step in found:
                if isinstance(step, Pulse):
                    silent = _silent(asked.job, limits.silent_seconds)
                    yield ServerSentEvent(event="waiting", data={"silent": silent})
                    continue
                name, data = events.step(step)
                yield ServerSentEvent(event=name, data=data)
        yield ServerSentEvent(event="scores", data=events.scores())
        yield ServerSentEvent(event="done", data=events.done(monotonic() - started))
    except Exception as error:
        log(error)
        yield ServerSentEvent(event="error", data=problem_of(error))


def _silent(job: Job, seconds: float) -> list[dict[str, Any]]:
    """Return the job's endpoints that have not answered for so long, the longest first."""
    clients = [one for one in (job.judge.client, job.context.models) if one is not None]
    found = {url: long for one in clients for url, long in silences(one).items() if long >= seconds}
    by_length = sorted(found.items(), key=lambda one: -one[1])
    return [{"endpoint": url, "seconds": long} for url, long in by_length]


async def _steps(job: Job, record: InputRecord) -> AsyncGenerator[Step, None]:
    async with opened(job) as (sources, judge):
        following = steps(record, sources, judge, job.mode, job.tie, job.units)
        async with aclosing(following) as found:
            async for step in found:
                yield step


@router.post("/score")
def score_selection(asked: models.ScoreRequest) -> Scores:
    """Return verdicts and scores of the evidence that counts, by the rules of every run.

    ```sh
    curl -s 127.0.0.1:8080/score --json '{
        "sources": ["wikipedia"], "n_sentences": 1,
        "fact_units": [{"unit_id": "u", "sentence_index": 0}],
        "evidence": [{"unit_id": "u", "source": "wikipedia", "outcome": "supported"}]}'
    ```
    """
    passages = {
        one.passage_id: Passage(
            "",
            source_category=one.source_category,
            hostname=one.hostname,
            passage_id=one.passage_id,
        )
        for one in asked.passages
    }
    selection = Selection(
        set(asked.without_passages),
        asked.without_categories,
        asked.only_categories,
        asked.without_domains,
        asked.only_domains,
    )
    return score(
        asked.fact_units,
        asked.evidence,
        passages,
        asked.sources,
        asked.n_sentences,
        asked.mode,
        asked.tie,
        selection,
        extraction_failed=asked.extraction_failed,
    )
