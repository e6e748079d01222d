"""Serve the check of a text as a stream of events (`/check`), or of its evidence (`/score`)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from ufo.pipelines.reports.check_settings import CheckSettings, check_settings_of
from ufo.pipelines.reports.checked import Basis, basis_of, checked_response
from ufo.schemas.records import InputRecord, Passage
from ufo.transforms.check_text import (
    CheckedText,
    SourceAnswered,
    Step,
    gather,
    open_plugins,
    score_text,
    steps,
)
from ufo.transforms.english.words import is_english
from ufo.transforms.extract import Extracted
from ufo.transforms.extraction.layout import layout
from ufo.transforms.job import Job
from ufo.transforms.judges.offline import NAME
from ufo.transforms.llm.shared import silences
from ufo.transforms.scores import Scores, Selection, VoteRules, score
from ufo.webapp import request_models
from ufo.webapp.bridge import Pulse, stream_from_loop
from ufo.webapp.kept import KeptFiles
from ufo.webapp.problems import log, problem_of
from ufo.webapp.request_models import job_of, record_of
from ufo.webapp.response_models import CANCELLED, DONE, FAILED, RESULT, KeptResult, Problem, Status
from ufo.webapp.service import Service, ServiceDep

router = APIRouter(tags=["check"])

Ready = tuple[Job, InputRecord, request_models.CheckRequest]


def prepare(asked: request_models.CheckRequest, service: ServiceDep) -> Iterator[Ready]:
    """Prepare the requested check, and hold a slot for it until the last event is sent.

    Errors of the request are reported before the stream begins, as with any other request.
    """
    record = record_of(asked, asked.text, asked.references)
    job = job_of(service, asked, asked.sources)
    with service.checks.slot():
        yield job, record, asked


@router.post(
    "/check",
    response_class=EventSourceResponse,
    response_description="Events as things happen: started, extracted, asking, checked, scores, "
    "done; an error is an event too, and the last. `waiting` comes at intervals, and names the "
    "endpoints that have not answered for some seconds. `started` has the `id` of the result, and "
    "`done` says whether the service keeps it, for `GET /results/{id}`.",
)
async def check(
    ready: Annotated[Ready, Depends(prepare)], service: ServiceDep
) -> AsyncIterator[ServerSentEvent]:
    """Check a text, and send an event for each step.

    Closing the connection cancels the check; judgements that were paid for stay in the cache, and
    the result so far is kept.

    ```sh
    curl -s -N 127.0.0.1:8080/check --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    job, record, asked = ready
    with service.under_way.begin() as identifier:
        course = _Course(identifier, asked, job)
        try:
            async with aclosing(_events(course, record, service)) as events:
                async for name, data in events:
                    yield ServerSentEvent(event=name, data=data)
        except Exception as error:
            log(error)
            course.problem = problem_of(error)
            course.keep(service.kept, FAILED)
            yield ServerSentEvent(event="error", data=course.problem)
        finally:
            course.keep(service.kept, CANCELLED)


@dataclass
class _Course:
    """A check under way, with its results so far."""

    id: str
    request: request_models.CheckRequest
    job: Job
    extracted: Extracted | None = None
    answers: list[SourceAnswered] = field(default_factory=list)
    problem: Problem | None = None
    started: float = field(default_factory=monotonic)
    ended: bool = False

    @property
    def seconds(self) -> float:
        """How long the check has taken."""
        return monotonic() - self.started

    def result(self, status: Status) -> KeptResult:
        """Return the result so far of a check whose claims are extracted."""
        assert self.extracted is not None
        whole = checked_response(gather(self.extracted, self.answers), check_settings_of(self.job))
        return KeptResult(
            **{one.name: getattr(whole, one.name) for one in fields(whole)},
            id=self.id,
            kept_at=datetime.now(UTC).isoformat(timespec="seconds"),
            status=status,
            seconds=self.seconds,
            problem=self.problem,
            request=self.request.model_dump(exclude_unset=True),
        )

    def keep(self, shelf: KeptFiles, status: Status) -> str | None:
        """Store the result; return why it cannot be stored, or None.

        A second call, or one before the claims are known, has no effect."""
        if self.ended or self.extracted is None:
            return None
        self.ended = True
        try:
            shelf.put(self.id, RESULT.dump_json(self.result(status)))
        except (OSError, ValueError) as error:
            log(error)
            why = (isinstance(error, OSError) and error.strerror) or type(error).__name__
            return f"The result is not kept, because it cannot be written: {why}."
        return None


async def _events(
    course: _Course, record: InputRecord, service: Service
) -> AsyncGenerator[tuple[str, Any], None]:
    """Yield the name and the data of each event."""
    job, limits = course.job, service.setup.limits
    asked = check_settings_of(job)
    sources = [source.name for source in asked.sources]
    yield (
        "started",
        {
            "id": course.id,
            "judge": job.judge.name,
            "model": job.judge.llm.model if job.judge.llm else None,
            "sources": sources,
            "mode": job.mode,
            "tie": job.tie,
            "units": job.units,
        },
    )
    rows: CheckedText | None = None
    following = stream_from_loop(_steps(job, record), limits.check_seconds, limits.pulse_seconds)
    async with aclosing(following) as steps_done:
        async for step in steps_done:
            if isinstance(step, Pulse):
                yield "waiting", {"silent": _silent(job, limits.silent_seconds)}
            elif isinstance(step, Extracted):
                course.extracted = step
                rows = CheckedText.of(step)
                about = {"basis": _expected(asked, rows), "layout": layout(step.response.text)}
                yield "extracted", asdict(rows) | about
            elif isinstance(step, SourceAnswered):
                assert rows is not None
                course.answers.append(step)
                yield "checked", _add_answer(rows, step, job)
            else:
                yield "asking", step
    result = course.result(DONE)
    yield "scores", result.scores
    not_kept = await asyncio.to_thread(course.keep, service.kept, DONE)
    yield (
        "done",
        {
            "id": None if not_kept else course.id,
            "not_kept": not_kept,
            "seconds": course.seconds,
            "basis": result.basis,
        },
    )


def _expected(asked: CheckSettings, rows: CheckedText) -> Basis:
    """Return the basis that a check will have if all its sources give evidence."""
    response = rows.response
    known = asked.judge != NAME or is_english(response.text, response.language)
    judged = [
        source.type
        for source in asked.sources
        # The source `reference` has nothing to judge without reference texts.
        if rows.fact_units and known and (source.type != "reference" or response.n_references)
    ]
    return basis_of(asked.judge, asked.models, judged, asked.sources, response)


def _add_answer(rows: CheckedText, step: SourceAnswered, job: Job) -> dict[str, Any]:
    """Add the results of a source to the rows, and return the data of the event `checked`."""
    tables: dict[str, list[Any]] = {"verdicts": step.verdicts}
    if step.checked is not None:
        # A passage that several claims share is sent once.
        known = {passage.passage_id for passage in rows.passages}
        tables["passages"] = [
            passage for passage in step.checked.passages if passage.passage_id not in known
        ]
        for name in ("evidence", "failures", "usage"):
            tables[name] = getattr(step.checked, name)
    for name in ("evidence", "passages", "verdicts", "failures", "usage"):
        getattr(rows, name).extend(tables.setdefault(name, []))
    answered = {row.unit_id for row in (*tables["verdicts"], *tables["evidence"])}
    touched = {unit.sentence_index for unit in rows.fact_units if unit.unit_id in answered}
    units = {unit.unit_id: unit for unit in rows.fact_units if unit.sentence_index in touched}
    evidence = [row for row in rows.evidence if row.unit_id in units]
    of_these = replace(rows, fact_units=list(units.values()), evidence=evidence)
    scores = score_text(of_these, [spec.name for spec in job.sources], job.mode, job.tie)
    return {
        "source": step.source or None,
        "position": step.position,
        "sentence_scores": [row for row in scores.sentences if row.sentence_index in touched],
        **tables,
    }


def _silent(job: Job, seconds: float) -> list[dict[str, Any]]:
    """Return a job's endpoints without an answer for `seconds` or more, the longest wait first."""
    clients = [client for client in (job.judge.client, job.context.models) if client is not None]
    silent = [wait for client in clients for wait in silences(client).items() if wait[1] >= seconds]
    waits = sorted(dict(silent).items(), key=lambda wait: -wait[1])
    return [{"endpoint": url, "seconds": waited} for url, waited in waits]


async def _steps(job: Job, record: InputRecord) -> AsyncGenerator[Step, None]:
    async with open_plugins(job) as (sources, judge):
        following = steps(record, sources, judge, job)
        async with aclosing(following) as steps_done:
            async for step in steps_done:
                yield step


@router.post("/score")
def score_selection(asked: request_models.ScoreRequest) -> Scores:
    """Return the verdicts and scores that follow from the selected evidence.

    ```sh
    curl -s 127.0.0.1:8080/score --json '{
        "sources": ["wikipedia"], "n_sentences": 1,
        "fact_units": [{"unit_id": "u", "sentence_index": 0}],
        "evidence": [{"unit_id": "u", "source": "wikipedia", "outcome": "supported"}]}'
    ```
    """
    passages = [
        Passage(
            "",
            passage_id=passage.passage_id,
            source_category=passage.source_category,
            hostname=passage.hostname,
        )
        for passage in asked.passages
    ]
    selection = Selection(
        **asked.model_dump(include={criterion.name for criterion in fields(Selection)})
    )
    return score(
        asked.fact_units,
        asked.evidence,
        passages,
        VoteRules(asked.sources, asked.mode, asked.tie, selection),
        asked.n_sentences,
        extraction_failed=asked.extraction_failed,
    )
