"""Serve `/check`, its report, and `/score`: a text through all steps as events, and scores."""

from collections.abc import AsyncGenerator, AsyncIterator, Container, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BeforeValidator
from starlette.responses import HTMLResponse

from ufo.indexes.manifest import read_manifest
from ufo.pipelines.reports.html_report import render_html
from ufo.schemas.errors import UfoError, UsageError
from ufo.schemas.records import ERROR, InputRecord, Passage, Response, SourceStatus
from ufo.schemas.results import Results
from ufo.schemas.tables import OF_EVALUATE, SCHEMA_VERSION, Run, to_arrow
from ufo.schemas.text import quantity
from ufo.transforms.check_text import Answered, CheckedText, Step, opened, scored, steps
from ufo.transforms.english.words import is_english
from ufo.transforms.extract import Extracted
from ufo.transforms.extraction.layout import layout
from ufo.transforms.job import Job
from ufo.transforms.judges.offline import NAME
from ufo.transforms.judges.trust import trust_figures, trust_line
from ufo.transforms.llm.shared import silences
from ufo.transforms.scores import Scores, Selection, VoteRules, score
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.transforms.verifiers.by_name import shown
from ufo.webapp import answers, models
from ufo.webapp.bridge import Pulse, streamed
from ufo.webapp.desk import AtDesk
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.models import job_of, record_of
from ufo.webapp.problems import log, problem_of

router = APIRouter(tags=["check"])

Ready = tuple[Job, InputRecord]


def prepared(asked: models.CheckRequest, desk: AtDesk) -> Iterator[Ready]:
    """Prepare the requested check, and hold a slot for it until the last event is sent.

    Errors of the request are reported before the stream begins, as with any other request.
    """
    record = record_of(asked, asked.text, asked.references)
    job = job_of(desk, asked, asked.sources)
    with desk.checks.one():
        yield job, record


@router.post(
    "/check",
    response_class=EventSourceResponse,
    response_description="Events as things happen: started, extracted, asking, checked, scores, "
    "done; an error is an event too, and the last. `waiting` comes at intervals, and names the "
    "endpoints that have not answered for some seconds.",
)
async def check(
    ready: Annotated[Ready, Depends(prepared)], desk: AtDesk
) -> AsyncIterator[ServerSentEvent]:
    """Check a text, and send an event for each step.

    Closing the connection cancels the check; judgements that were paid for stay in the cache.

    ```sh
    curl -s -N 127.0.0.1:8080/check --json '{"text": "Oslo is the capital of Norway."}'
    ```
    """
    try:
        async with aclosing(_events(*ready, desk.setup.limits)) as found:
            async for name, data in found:
                yield ServerSentEvent(event=name, data=data)
    except Exception as error:
        log(error)
        yield ServerSentEvent(event="error", data=problem_of(error))


async def _events(
    job: Job, record: InputRecord, limits: ServiceLimits
) -> AsyncGenerator[tuple[str, Any], None]:
    """Yield the name and the data of each event."""
    started = monotonic()
    sources = [spec.name for spec in job.sources]
    yield (
        "started",
        {
            "judge": job.judge.name,
            "model": job.judge.llm.model if job.judge.llm else None,
            "sources": sources,
            "mode": job.mode,
            "tie": job.tie,
            "units": job.units,
        },
    )
    rows: CheckedText | None = None
    following = streamed(_steps(job, record), limits.check_seconds, limits.pulse_seconds)
    async with aclosing(following) as found:
        async for step in found:
            if isinstance(step, Pulse):
                yield "waiting", {"silent": _silent(job, limits.silent_seconds)}
            elif isinstance(step, Extracted):
                rows = CheckedText.of(step)
                about = {"basis": _basis(job, rows), "layout": layout(step.response.text)}
                yield "extracted", asdict(rows) | about
            elif isinstance(step, Answered):
                assert rows is not None
                yield "checked", _added(rows, step, job)
            else:
                yield "asking", step
    assert rows is not None
    yield "scores", scored(rows, sources, job.mode, job.tie)
    yield (
        "done",
        {"seconds": monotonic() - started, "basis": _basis(job, rows, sources_judged(rows))},
    )


def sources_judged(rows: CheckedText) -> set[str]:
    """Return the names of the sources of which a passage was judged."""
    return {row.source for row in rows.evidence if row.passage_id and row.outcome != ERROR}


def _basis(job: Job, rows: CheckedText, used: Container[str] | None = None) -> answers.Basis:
    """Return the basis of a check: of the sources whose evidence is `used`, and before there is
    any (None) of all that are asked."""
    response, llm, known = rows.response, job.judge.llm, True
    asked = [replace(one, options={**job.flags, **one.options}) for one in job.sources]
    models = [llm.model] if llm else []
    if job.judge.name == NAME:
        models = [shown(job.judge.options.get("verifier"))]
        known = is_english(response.text, response.language)
    # The source `reference` has nothing to judge without reference texts.
    judged = [
        one.type
        for one in asked
        if (one.type != "reference" or response.n_references if used is None else one.name in used)
    ]
    return basis(
        job.judge.name, models, judged if rows.fact_units and known else [], asked, response
    )


def _added(rows: CheckedText, step: Answered, job: Job) -> dict[str, Any]:
    """Add a source's results to the rows, and return the event that reports them."""
    told: dict[str, list[Any]] = {"verdicts": step.verdicts}
    if step.checked is not None:
        # A passage that several claims share is sent once.
        known = {one.passage_id for one in rows.passages}
        told["passages"] = [one for one in step.checked.passages if one.passage_id not in known]
        for name in ("evidence", "failures", "usage"):
            told[name] = getattr(step.checked, name)
    for name in ("evidence", "passages", "verdicts", "failures", "usage"):
        getattr(rows, name).extend(told.setdefault(name, []))
    answered = {row.unit_id for row in (*told["verdicts"], *told["evidence"])}
    touched = {unit.sentence_index for unit in rows.fact_units if unit.unit_id in answered}
    units = {unit.unit_id: unit for unit in rows.fact_units if unit.sentence_index in touched}
    evidence = [row for row in rows.evidence if row.unit_id in units]
    of_these = replace(rows, fact_units=list(units.values()), evidence=evidence)
    scores = scored(of_these, [spec.name for spec in job.sources], job.mode, job.tie)
    return {
        "source": step.source or None,
        "position": step.position,
        "sentence_scores": [one for one in scores.sentences if one.sentence_index in touched],
        **told,
    }


def _silent(job: Job, seconds: float) -> list[dict[str, Any]]:
    """Return the job's endpoints that have not answered for so long, the longest first."""
    clients = [one for one in (job.judge.client, job.context.models) if one is not None]
    found = {url: long for one in clients for url, long in silences(one).items() if long >= seconds}
    longest = sorted(found, key=lambda url: -found[url])
    return [{"endpoint": url, "seconds": found[url]} for url in longest]


async def _steps(job: Job, record: InputRecord) -> AsyncGenerator[Step, None]:
    async with opened(job) as (sources, judge):
        following = steps(record, sources, judge, job)
        async with aclosing(following) as found:
            async for step in found:
                yield step


@dataclass(slots=True, kw_only=True)
class ReportedText(CheckedText):
    """A checked text, from the events of `/check`; `sources` are in the order they are asked."""

    sources: list[str]
    mode: Annotated[str, models.of("mode")]
    tie: Annotated[str, models.of("tie")]


@router.post("/check/report.html", response_class=HTMLResponse, responses=answers.HTML)
def report_text(
    asked: Annotated[ReportedText, BeforeValidator(models.storable)], desk: AtDesk
) -> HTMLResponse:
    """Return the report of a checked text as a file: one page with its claims and evidence."""
    with (
        TemporaryDirectory(prefix="ufo-") as folder,
        Results([_run(Path(folder), asked, desk.setup.version)]) as results,
    ):
        page = render_html(results)
    return HTMLResponse(page, headers=answers.attached("checked.html"))


def _run(folder: Path, asked: ReportedText, version: str) -> Run:
    """Write the rows to a folder and return them as a run.

    Raises:
        UsageError: a table cannot store a value.
    """
    used = [SourceStatus(at, one, one, "used", None, "{}") for at, one in enumerate(asked.sources)]
    paths = {name: folder / f"{name}.parquet" for name in OF_EVALUATE}
    try:
        asked.verdicts = scored(asked, asked.sources, asked.mode, asked.tie).verdicts
        rows: dict[str, list[Any]] = {"responses": [asked.response], "sources": used}
        for name, path in paths.items():
            pq.write_table(to_arrow(name, rows.get(name) or getattr(asked, name)), path)
    except (LookupError, ValueError, OverflowError, pa.ArrowException) as error:
        raise UsageError(f"the rows are not those of a checked text: {error}") from error
    return Run(
        name="checked-text",
        folder=folder,
        schema_version=SCHEMA_VERSION,
        ufo_version=version,
        mode=asked.mode,
        tie=asked.tie,
        judge=next((row.judge for row in asked.evidence), ""),
        sources=tuple(asked.sources),
        finished_at=datetime.now(UTC),
        counts={
            "responses": 1,
            "units": len(asked.fact_units),
            "failures": len(asked.failures),
        },
        files={name: (path,) for name, path in paths.items()},
        title="A checked text",
    )


@router.post("/score")
def score_selection(asked: models.ScoreRequest) -> Scores:
    """Return verdicts and scores from the selected evidence, by the rules of every run.

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
            passage_id=one.passage_id,
            source_category=one.source_category,
            hostname=one.hostname,
        )
        for one in asked.passages
    ]
    selection = Selection(**asked.model_dump(include={one.name for one in fields(Selection)}))
    return score(
        asked.fact_units,
        asked.evidence,
        passages,
        VoteRules(asked.sources, asked.mode, asked.tie, selection),
        asked.n_sentences,
        extraction_failed=asked.extraction_failed,
    )


def basis(
    judge: str,
    models: Iterable[str],
    judged: Sequence[str],
    sources: Sequence[SourceSpec],
    response: Response,
) -> answers.Basis:
    """Return the basis to show beside a result.

    Args:
        judge: its name; `models`: the models whose verdicts count, or that will be asked.
        judged: the types of the sources whose evidence is judged.
        sources: in the order they are asked.
        response: the response that is judged.
    """
    models = list(dict.fromkeys(models))
    named = ", ".join(models)
    who = f"{judge} ({named})" if named else judge
    return answers.Basis(
        judge=f"Judge {who}.",
        trust=trust_line([judge], models, judged),
        judged_by=trust_figures(models, judged) if judge == NAME else "",
        sources=[_described(one, response) for one in sources],
        language=_language(response),
    )


def _described(source: SourceSpec, response: Response) -> str:
    name, options = source.name, source.options
    if source.type == "reference":
        given = response.n_references
        return f"{name}: {given or 'no'} given {'text' if given == 1 else 'texts'}"
    if source.type == "wikipedia" and options.get("index"):
        return f"{name}: {size_of(str(options['index']))}"
    if source.type == "web":
        return f"{name}: pages found by {options.get('search') or 'a web search'}"
    if source.type == "llm":
        return f"{name}: what {options.get('knowledge_model') or 'a language model'} knows"
    return name


def size_of(folder: str) -> str:
    """Return the numbers of articles and passages of an index and its date, in words."""
    try:
        manifest, _ = read_manifest(Path(folder))
    except (UfoError, OSError):
        return f"the index {folder}, which is not on this machine"
    counts, dated = manifest["counts"], manifest.get("dump_date")
    articles = quantity(counts["articles"], "article")
    size = f"an index of {articles}, {quantity(counts['passages'], 'passage')}"
    return f"{size}, dump of {dated}" if dated else size


def _language(response: Response) -> str:
    if is_english(response.text, response.language):
        return f"{response.language} (given)" if response.language else "English, as far as seen"
    return f"{response.language or 'not English, as far as seen'}: the offline judge knows English"
