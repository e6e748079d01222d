"""`/check` and `/score`: one text through all steps as events, and scores of a selection."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from ufo.schemas.records import Evidence, FactUnit, InputRecord, Passage, Response, Usage
from ufo.transforms.check import Checked
from ufo.transforms.check_text import Answered, Asked, Step, opened, steps
from ufo.transforms.english.language import is_english
from ufo.transforms.extract import Extracted
from ufo.transforms.extraction.markdown import layout
from ufo.transforms.job import Job
from ufo.transforms.judges.offline import NAME
from ufo.transforms.llm.shared import silences
from ufo.transforms.scores import Scores, Selection, score
from ufo.transforms.verifiers.by_name import shown
from ufo.webapp import models
from ufo.webapp.answers import Basis
from ufo.webapp.asked import job_of, record_of
from ufo.webapp.basis import basis
from ufo.webapp.bridge import Pulse, streamed
from ufo.webapp.desk import AtDesk
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.problems import log, problem_of

router = APIRouter(tags=["check"])


class CheckEvents:
    """A check that can begin: its job and record, the events of its steps, and sums of these."""

    def __init__(self, job: Job, record: InputRecord, limits: ServiceLimits) -> None:
        self.job = job
        self.record = record
        self.limits = limits
        self._units: list[FactUnit] = []
        self._evidence: dict[str, list[Evidence]] = {}
        self._passages: dict[str, Passage] = {}
        self._usage: list[Usage] = []
        self._n_sentences = 0
        self._n_failures = 0
        self._response_id = ""
        self._extraction_failed = False

    def started(self) -> dict[str, Any]:
        """Return the sources and models that will be asked."""
        settings = self.job.judge.llm
        return {
            "judge": self.job.judge.name,
            "model": settings.model if settings else None,
            "sources": [spec.name for spec in self.job.sources],
            "mode": self.job.mode,
            "tie": self.job.tie,
            "units": self.job.units,
        }

    def step(self, step: Step) -> tuple[str, dict[str, Any]]:
        """Return the name and the data of a step's event."""
        if isinstance(step, Extracted):
            return "extracted", self._extracted(step)
        if isinstance(step, Asked):
            return "asking", asdict(step)
        return "checked", self._answered(step)

    def _extracted(self, step: Extracted) -> dict[str, Any]:
        self._units = list(step.open_units.units)
        self._n_sentences = len(step.sentences)
        self._response_id = step.response.response_id
        self._usage += step.usage
        self._n_failures += len(step.failures)
        self._extraction_failed = bool(step.failures)
        return {
            "basis": self._basis(step.response).model_dump(),
            "response": asdict(step.response),
            "sentences": list(map(asdict, step.sentences)),
            "layout": list(map(asdict, layout(step.response.text))),
            "fact_units": list(map(asdict, self._units)),
            "failures": list(map(asdict, step.failures)),
            "usage": list(map(asdict, step.usage)),
        }

    def _basis(self, response: Response) -> Basis:
        llm = self.job.judge.llm
        asked = [
            (one.name, one.type, {**self.job.flags, **one.options}) for one in self.job.sources
        ]
        models, known = [llm.model] if llm else [], True
        if self.job.judge.name == NAME:
            models = [shown(self.job.judge.options.get("verifier"))]
            known = is_english(response.text, response.language)
        # A source without a text to look in gives nothing to judge.
        judged = [kind for _, kind, _ in asked if kind != "reference" or response.n_references]
        return basis(
            self.job.judge.name, models, judged if self._units and known else [], asked, response
        )

    def _answered(self, step: Answered) -> dict[str, Any]:
        checked = step.checked or Checked([], [])
        # A passage that several claims share is sent once.
        fresh = [one for one in checked.passages if one.passage_id not in self._passages]
        self._passages |= {one.passage_id: one for one in fresh}
        for row in checked.evidence:
            self._evidence.setdefault(row.unit_id, []).append(row)
        self._usage += checked.usage
        self._n_failures += len(checked.failures)
        ids = {row.unit_id for row in step.verdicts} | {row.unit_id for row in checked.evidence}
        touched = {unit.sentence_index for unit in self._units if unit.unit_id in ids}
        units = [unit for unit in self._units if unit.sentence_index in touched]
        sentences = [one for one in self._scores(units).sentences if one.sentence_index in touched]
        return {
            "source": step.source or None,
            "position": step.position,
            "evidence": list(map(asdict, checked.evidence)),
            "passages": list(map(asdict, fresh)),
            "verdicts": list(map(asdict, step.verdicts)),
            "sentence_scores": list(map(asdict, sentences)),
            "failures": list(map(asdict, checked.failures)),
            "usage": list(map(asdict, checked.usage)),
        }

    def scores(self) -> Scores:
        """Return the scores of all steps so far."""
        return self._scores(self._units)

    def _scores(self, units: Sequence[FactUnit]) -> Scores:
        return score(
            units,
            [row for unit in units for row in self._evidence.get(unit.unit_id, ())],
            self._passages,
            [spec.name for spec in self.job.sources],
            self._n_sentences,
            self.job.mode,
            self.job.tie,
            response_id=self._response_id,
            extraction_failed=self._extraction_failed,
        )

    def done(self, seconds: float) -> dict[str, Any]:
        """Return the requests sent, their tokens, and their cost in US dollars if known."""
        sent = [row for row in self._usage if not (row.cached or row.coalesced)]
        costs = [row.cost_usd for row in sent if row.status == "ok"]
        known = [cost for cost in costs if cost is not None]
        return {
            "seconds": seconds,
            "n_units": len(self._units),
            "n_failures": self._n_failures,
            "n_requests": len(sent),
            "prompt_tokens": sum(row.prompt_tokens or 0 for row in sent),
            "completion_tokens": sum(row.completion_tokens or 0 for row in sent),
            "cost_usd": sum(known) if len(known) == len(costs) else None,
        }


def prepared(asked: models.CheckRequest, desk: AtDesk) -> Iterator[CheckEvents]:
    """Prepare the requested check, and hold a slot for it until the last event is sent.

    Errors of the request are reported before the stream begins, as with any other request.
    """
    record = record_of(asked.text, asked.question, asked.references, asked.language)
    job = job_of(desk, asked, asked.sources)
    with desk.checks.one():
        yield CheckEvents(job, record, desk.setup.limits)


@router.post(
    "/check",
    response_class=EventSourceResponse,
    response_description="Events as things happen: started, extracted, asking, checked, scores, "
    "done; an error is an event too, and the last. `waiting` comes at intervals, and names the "
    "endpoints that have not answered for some seconds.",
)
async def check(asked: Annotated[CheckEvents, Depends(prepared)]) -> AsyncIterator[ServerSentEvent]:
    """Check a text, and send an event for each step.

    Closing the connection cancels the check; judgements that were paid for stay in the cache.

    ```sh
    curl -s -N 127.0.0.1:8080/check --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    started = monotonic()
    limits = asked.limits
    yield ServerSentEvent(event="started", data=asked.started())
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
                name, data = asked.step(step)
                yield ServerSentEvent(event=name, data=data)
        yield ServerSentEvent(event="scores", data=asked.scores())
        yield ServerSentEvent(event="done", data=asked.done(monotonic() - started))
    except Exception as error:
        log(error)
        yield ServerSentEvent(event="error", data=problem_of(error))


def _silent(job: Job, seconds: float) -> list[dict[str, Any]]:
    """Return the job's endpoints that have not answered for so long, the longest first."""
    clients = [one for one in (job.judge.client, job.context.models) if one is not None]
    found = {url: long for one in clients for url, long in silences(one).items() if long >= seconds}
    longest = sorted(found, key=lambda url: -found[url])
    return [{"endpoint": url, "seconds": found[url]} for url in longest]


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
    passages = {one.passage_id: Passage("", **one.model_dump()) for one in asked.passages}
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
