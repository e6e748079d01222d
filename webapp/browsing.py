"""Serve `/runs`: the finished runs of a folder, with their responses, comparisons and labels.

Filters go to SQL as parameters; the order is one of a few fixed words.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from filelock import FileLock, Timeout
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse, StreamingResponse

from ufo.pipelines.reports.check_settings import CheckSettings
from ufo.pipelines.reports.checked import CheckedResponse, checked_response, select_evidence
from ufo.pipelines.reports.comparison import compare_models, compare_runs
from ufo.pipelines.reports.html_report import (
    comparison_html,
    render_html,
    reports_html,
    summary_html,
)
from ufo.pipelines.reports.overview import all_contradicted, contradicted_claims
from ufo.pipelines.reports.tabular import one_line
from ufo.schemas.errors import DoesNotFit
from ufo.schemas.label_sheets import keep_label
from ufo.schemas.labels import Label
from ufo.schemas.results import Results
from ufo.schemas.tables import LABELS, PAGE_SHEET, RUN_PREFIX, Run, from_arrow, retitle
from ufo.transforms.check_text import CheckedText
from ufo.transforms.score_words import brief_score
from ufo.transforms.scores import run_headline
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.transforms.votes import main_mode
from ufo.webapp import request_models, response_models
from ufo.webapp.problems import Conflict, NotFound
from ufo.webapp.reports import csv_answer, report_answer
from ufo.webapp.request_models import LeaveOut
from ufo.webapp.service import Service, ServiceDep
from ufo.webapp.trash import discard, restore

router = APIRouter(tags=["runs"])

RunName = Annotated[str, Path(max_length=300, description="the name of a finished run")]
Word = Annotated[str | None, Field(max_length=1_000)]
Share = Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)]
Sort = Literal[
    "score", "-score", "credibility", "-credibility", "coverage", "-coverage", "id", "-id",
    "model", "-model", "dataset", "-dataset", "units", "-units", "disagreements", "errors",
    "contradicted",
]  # fmt: skip
_SORTS = {
    "score": "factuality_score",
    "id": "response_id",
    "units": "n_units",
    "disagreements": "n_disagreements",
    "errors": "n_errors",
    "contradicted": "n_refuted",
}
_MOST_FIRST = ("disagreements", "errors", "contradicted")
_LISTED = """
SELECT
    s.*, left(r.text, 200) AS excerpt, c.credibility, c.band,
    coalesce(b.n_disagreements, 0) AS n_disagreements, coalesce(b.n_errors, 0) AS n_errors
FROM scores AS s
INNER JOIN responses AS r USING (response_id)
INNER JOIN passage_credibility AS c USING (response_id)
LEFT JOIN (
    SELECT
        response_id,
        CAST(sum(n_errors) AS BIGINT) AS n_errors,
        count(*) FILTER (WHERE disagree) AS n_disagreements
    FROM (
        SELECT
            response_id,
            count(*) FILTER (WHERE outcome = 'error') AS n_errors,
            bool_or(outcome = 'supported') AND bool_or(outcome = 'refuted') AS disagree
        FROM evidence
        GROUP BY response_id, unit_id
    )
    GROUP BY response_id
) AS b USING (response_id)
WHERE
    s.mode = $mode
    AND (
        $text IS NULL
        OR contains(lower(r.text), lower($text))
        OR contains(lower(coalesce(s.question, '')), lower($text))
        OR contains(lower(s.response_id), lower($text))
    )
    AND ($model IS NULL OR s.model = $model)
    AND ($dataset IS NULL OR s.dataset = $dataset)
    AND ($question IS NULL OR s.question = $question)
    AND ($min_score IS NULL OR s.factuality_score >= $min_score)
    AND ($max_score IS NULL OR s.factuality_score <= $max_score)
    AND (NOT $disagreement OR b.n_disagreements > 0)
    AND (NOT $undecided OR s.n_undecided > 0)
    AND (
        NOT $failures
        OR b.n_errors > 0
        OR s.response_id IN (SELECT key FROM failures)
        OR s.response_id IN (
            SELECT u.response_id FROM failures AS f INNER JOIN fact_units AS u ON u.unit_id = f.key
        )
    )
"""

_SHEET = """
SELECT
    u.response_id, u.unit_id, r.question, s.text AS sentence, u.claim,
    CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'contradicted' ELSE 'undecided' END AS verdict,
    if(l.label IN (0, 1), CAST(CAST(l.label AS BIGINT) AS VARCHAR), CAST(l.label AS VARCHAR))
        AS label,
    l.note, l.annotator
FROM labels AS l
INNER JOIN fact_units AS u ON u.response_id = l.response_id AND u.unit_id = l.unit_id
INNER JOIN responses AS r ON r.run = u.run AND r.response_id = u.response_id
LEFT JOIN sentences AS s
    ON s.run = u.run AND s.response_id = u.response_id AND s.sentence_index = u.sentence_index
LEFT JOIN verdicts AS v
    ON v.run = u.run AND v.response_id = u.response_id AND v.unit_id = u.unit_id AND v.mode = $mode
WHERE l.sheet = $sheet
ORDER BY u.response_id, u.sentence_index, u.unit_id
"""


class Filters(BaseModel):
    """The filters and the order of a list of responses, with the page of it to return."""

    text: Word = Field(None, description="in the response, its question or its id")
    model: Word = None
    dataset: Word = None
    question: Word = None
    min_score: Share = None
    max_score: Share = None
    disagreement: bool = Field(
        False, description="only with a claim that some passages support and some contradict"
    )
    failures: bool = Field(False, description="only with a judgement or step that failed")
    undecided: bool = Field(False, description="with an undecided claim")
    sort: Sort = "score"
    offset: int = Field(0, ge=0, le=1_000_000_000)
    limit: int = Field(50, ge=1, le=200)


class RunTitle(request_models.RequestBody):
    """The title of a run; if it is empty, the names of the input and the time of the end."""

    title: Annotated[str, Field(max_length=300)]


@router.get("/runs")
def list_runs(
    service: ServiceDep,
    figures: Annotated[
        bool, Query(description="with the score, claims, models and size of each")
    ] = False,
) -> list[response_models.ListedRun]:
    """Return the finished runs, the newest first; with `figures` also damaged ones, at the end."""
    runs, damaged = service.runs.read()
    if not figures:
        return [response_models.ListedRun(**_info(run)) for run in runs]
    figures_of = service.runs.figures.of(runs)
    within = f"{service.setup.results}/"  # a visitor knows the runs, but not the service's folders

    def problem_or_figures(name: str) -> dict[str, Any]:
        known = damaged.get(name) or figures_of[name]
        if isinstance(known, str):
            return {"problem": known.replace(within, "")}
        return {"figures": known}

    unknown: dict[str, Any] = dict.fromkeys(("mode", "tie", "judge", "finished_at"), "")
    unknown |= {"sources": [], "counts": {}}
    return [
        *(response_models.ListedRun(**_info(run), **problem_or_figures(run.name)) for run in runs),
        *(
            response_models.ListedRun(run=name, title=name, **problem_or_figures(name), **unknown)
            for name in damaged
        ),
    ]


@router.patch("/runs/{run}")
def rename_run(run: RunName, asked: RunTitle, service: ServiceDep) -> response_models.RunInfo:
    """Give a run another title; its name and its addresses stay. If the run is evaluated again, it
    has the title of that evaluation."""
    folder = service.runs.by_name(run).folder
    with _hold(folder):
        retitle(str(folder), one_line(asked.title))
    return response_models.RunInfo(**_info(service.runs.by_name(run)))


@router.delete("/runs/{run}", status_code=204)
def delete_run(run: RunName, service: ServiceDep) -> None:
    """Move a run to the trash of its folder. The labels of its claims stay."""
    folder = service.runs.folders().get(run)
    if folder is None:
        raise NotFound("no finished run has that name; /runs lists all")
    with _hold(folder):
        discard(folder)
    service.runs.deleted[run] = folder


@router.post("/runs/{run}/restore", status_code=204)
def restore_run(run: RunName, service: ServiceDep) -> None:
    """Move a run that was deleted back from the trash."""
    folder = service.runs.deleted.get(run)
    if folder is None:
        raise NotFound("no run of that name was deleted since the service started")
    restore(folder)


@router.get("/runs/{run}")
def show_run(run: RunName, service: ServiceDep) -> response_models.RunOverview:
    """Return a run's headline, and the models and datasets by which to filter its responses."""
    results = service.runs.results(run)
    return response_models.RunOverview(
        **_info(service.runs.by_name(run)),
        headline=run_headline(results),
        models=_distinct(results, "model"),
        datasets=_distinct(results, "dataset"),
    )


@router.get(
    "/runs/{run}/overview.html", response_class=HTMLResponse, responses=response_models.HTML
)
def show_overview(run: RunName, service: ServiceDep) -> HTMLResponse:
    """Return the overview of a run as HTML to be shown within a page: scores, plots, cost."""
    return HTMLResponse(summary_html(service.runs.results(run)))


@router.get("/runs/{run}/contradicted")
def list_contradicted(
    run: RunName,
    service: ServiceDep,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> response_models.ContradictedPage:
    """Return a page of a run's contradicted claims, by the number of votes against each."""
    results = service.runs.results(run)
    counted = """
        SELECT count(DISTINCT (response_id, unit_id)) AS n
        FROM verdicts
        WHERE label = 0 AND mode = ?
    """
    (row,) = results.query(counted, [main_mode(results.runs[-1].mode)]).to_pylist()
    rows = contradicted_claims(results, limit, offset)
    page = {"total": row["n"], "offset": offset, "limit": limit, "rows": rows}
    return response_models.ContradictedPage.model_validate(page)


@router.get(
    "/runs/{run}/contradicted.csv", response_class=StreamingResponse, responses=response_models.CSV
)
def download_contradicted(run: RunName, service: ServiceDep) -> StreamingResponse:
    """Return all contradicted claims of a run, each with its strongest evidence."""
    results = service.runs.results(run)
    return csv_answer("contradicted.csv", results, *all_contradicted(results))


@router.get("/runs/{run}/reports.html", response_class=HTMLResponse, responses=response_models.HTML)
def show_reports(run: RunName, service: ServiceDep) -> HTMLResponse:
    """Return the reports of a run that have rows, by groups, as HTML to be shown within a page."""
    of_run = quote(run, safe="")
    results = service.runs.results(run)
    return HTMLResponse(
        reports_html(results, lambda name: f"/reports/{name}?run={of_run}&format=csv")
    )


@router.get("/runs/{run}/compare.html", response_class=HTMLResponse, responses=response_models.HTML)
def compare(
    run: RunName,
    service: ServiceDep,
    baseline: Annotated[str | None, Query(max_length=300, description="another run")] = None,
    models: Annotated[list[str] | None, Query(description="two models of the run")] = None,
) -> HTMLResponse:
    """Compare a run with another one, or two of its models, as HTML to be shown within a page."""
    results = Results([service.runs.by_name(one) for one in (baseline, run) if one])
    pair = models or []
    if len(pair) != (0 if baseline else 2):
        raise DoesNotFit("name another run as `baseline`, or two `models` of this one")
    comparison = compare_models(results, *pair) if pair else compare_runs(results, titled=True)
    return HTMLResponse(comparison_html(comparison, _address))


@router.get("/runs/{run}/report.html", response_class=HTMLResponse, responses=response_models.HTML)
def download_report(run: RunName, service: ServiceDep) -> HTMLResponse:
    """Return the report of a run as a file: one page with its plots, tables and evidence."""
    page = render_html(service.runs.results(run))
    return HTMLResponse(page, headers=response_models.attachment("report.html"))


@router.get("/runs/{run}/responses")
def list_responses(
    run: RunName, asked: Annotated[Filters, Query()], service: ServiceDep
) -> response_models.ResponsePage:
    """Return a page of a run's responses; those without a score are at the end."""
    mode, results = main_mode(service.runs.by_name(run).mode), service.runs.results(run)
    parameters = {**asked.model_dump(exclude={"sort", "offset", "limit"}), "mode": mode}
    key = asked.sort.removeprefix("-")
    down = key != asked.sort or key in _MOST_FIRST
    # Only fixed words are put into the SQL.
    order = f"{_SORTS.get(key, key)} {'DESC' if down else 'ASC'} NULLS LAST, response_id"
    page = f"{_LISTED} ORDER BY {order} LIMIT $limit OFFSET $offset"
    rows = results.query(
        page, {**parameters, "limit": asked.limit, "offset": asked.offset}
    ).to_pylist()
    (counted,) = results.query(f"SELECT count(*) AS n FROM ({_LISTED})", parameters).to_pylist()  # noqa: S608
    return response_models.ResponsePage(
        total=counted["n"],
        offset=asked.offset,
        limit=asked.limit,
        rows=[response_models.ResponseRow(**row, words=brief_score(row)) for row in rows],
    )


@router.get("/runs/{run}/responses/{response_id:path}")
def show_response(
    run: RunName,
    response_id: Annotated[str, Path(max_length=2_000)],
    counts: Annotated[LeaveOut, Query()],
    service: ServiceDep,
) -> CheckedResponse:
    """Return one response with its sentences, claims, evidence, passages, verdicts and costs."""
    return select_evidence(_load_response(service, run, response_id), counts.selection)


@router.get(
    "/runs/{run}/response.html", response_class=HTMLResponse, responses=response_models.HTML
)
def report_response(
    run: RunName,
    response: Annotated[str, Query(max_length=2_000)],
    counts: Annotated[LeaveOut, Query()],
    service: ServiceDep,
) -> HTMLResponse:
    """Return the report of one response as a file: one page with its claims and evidence."""
    whole = select_evidence(_load_response(service, run, response), counts.selection)
    return report_answer(whole, counts.selection, service.setup.version)


@router.post("/runs/{run}/labels")
def label(run: RunName, asked: request_models.LabelRequest, service: ServiceDep) -> list[Label]:
    """Save the label of a fact unit, and return all labels of its response."""
    finished_run = service.runs.by_name(run)
    unit = "SELECT 1 FROM fact_units WHERE response_id = ? AND unit_id = ?"
    results = service.runs.results(run)
    if not results.query(unit, [asked.response_id, asked.unit_id]).num_rows:
        raise NotFound("the run has no claim of that id in that response")
    name = finished_run.folder.name.removeprefix(RUN_PREFIX)

    def units() -> Iterable[tuple[str, str]]:
        rows = results.query("SELECT response_id, unit_id FROM fact_units").to_pylist()
        return ((row["response_id"], row["unit_id"]) for row in rows)

    keep_label(finished_run.folder.parent, asked.of_run(name), units)
    sql = "SELECT * FROM labels WHERE response_id = ? AND sheet = ?"
    rows = service.runs.results(run).query(sql, [asked.response_id, PAGE_SHEET])
    return from_arrow(LABELS, rows)


@router.get(
    "/runs/{run}/labels.csv", response_class=StreamingResponse, responses=response_models.CSV
)
def download_labels(run: RunName, service: ServiceDep) -> StreamingResponse:
    """Return the labels that people gave on the page, as a sheet for `ufo label import`."""
    parameters = {"mode": main_mode(service.runs.by_name(run).mode), "sheet": PAGE_SHEET}
    return csv_answer("labels.csv", service.runs.results(run), _SHEET, parameters)


def _load_response(service: Service, name: str, response_id: str) -> CheckedResponse:
    """Return the rows of a response in all tables, with its scores.

    Raises:
        NotFound: the run has no response of that id.
    """
    results, run = service.runs.results(name), service.runs.by_name(name)

    def read(table: str, where: str = "response_id = $id") -> list[Any]:
        # No part of the SQL comes from the request.
        sql = f"SELECT * FROM {table} WHERE {where}"  # noqa: S608
        return from_arrow(table, results.query(sql, {"id": response_id} if "$id" in where else {}))

    responses = read("responses")
    if not responses:
        raise NotFound(f"run {run.name!r} has no response of that id")
    rows = CheckedText(
        responses[0],
        sentences=sorted(read("sentences"), key=lambda row: row.sentence_index),
        # The claims of a sentence stay in the order of the rows, which is the order of the text.
        fact_units=sorted(
            read("fact_units"), key=lambda row: (row.sentence_index is None, row.sentence_index)
        ),
        evidence=sorted(
            read("evidence"),
            key=lambda row: (run.sources.index(row.source), row.unit_id, row.rank or 0),
        ),
        passages=read(
            "passages", "passage_id IN (SELECT passage_id FROM evidence WHERE response_id = $id)"
        ),
        verdicts=read("verdicts"),
        failures=read(
            "failures",
            "key = $id OR key IN (SELECT unit_id FROM fact_units WHERE response_id = $id)",
        ),
        usage=read("usage"),
    )
    asked = CheckSettings(
        judge=run.judge,
        sources=[
            SourceSpec(source.source, source.type, json.loads(source.options))
            for source in read("sources", "status = 'used' ORDER BY position")
        ],
        mode=run.mode,
        tie=run.tie,
        run=run.name,
    )
    labels = read(LABELS, f"response_id = $id AND sheet = '{PAGE_SHEET}'")
    return checked_response(rows, asked, labels)


def _address(run: str, response: str) -> str:
    """Return the address at which the page shows a response."""
    return f"#/runs/{quote(run, safe='')}/responses/{quote(response, safe='')}"


@contextmanager
def _hold(folder: FilePath) -> Iterator[None]:
    """Hold a run's lock, so that no evaluation writes the run meanwhile.

    Raises:
        Conflict: an evaluation holds it, or the folder cannot be written.
    """
    try:
        with FileLock(folder / ".lock", blocking=False):
            yield
            (folder / ".lock").unlink(missing_ok=True)
    except Timeout:
        raise Conflict("the run is being evaluated again; wait for its end, or stop it") from None
    except OSError as error:
        raise Conflict(f"the run's folder cannot be written: {error.strerror}") from error


def _info(run: Run) -> dict[str, Any]:
    names = ("title", "mode", "tie", "judge", "sources", "counts")
    properties = {name: getattr(run, name) for name in names}
    return {"run": run.name, "finished_at": run.finished_at.isoformat(), **properties}


def _distinct(results: Results, column: str) -> list[str]:
    sql = f"SELECT DISTINCT {column} FROM responses WHERE {column} IS NOT NULL ORDER BY 1"  # noqa: S608
    words: list[str] = results.query(sql).column(0).to_pylist()
    return words
