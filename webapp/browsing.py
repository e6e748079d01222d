"""Browse finished runs: their overview, their responses with scores, comparisons.

What is filtered by goes to SQL as parameters; what is sorted by is one of a few fixed words.
"""

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from starlette.responses import HTMLResponse

from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.runs import Run
from ufo.transforms.states import run_headline
from ufo.transforms.votes import main_mode
from ufo.webapp import answers
from ufo.webapp.desk import AtDesk, Desk, Pages
from ufo.webapp.problems import NotFound
from ufo.webapp.whole import whole

router = APIRouter(tags=["runs"])

RunName = Annotated[str, Path(max_length=300, description="the name of a finished run")]
Word = Annotated[str | None, Query(max_length=1_000)]
Share = Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)]
Offset = Annotated[int, Query(ge=0, le=1_000_000_000)]
Limit = Annotated[int, Query(ge=1, le=200)]
Sort = Literal[
    "score", "-score", "credibility", "-credibility", "coverage", "-coverage", "id", "-id",
    "model", "-model", "dataset", "-dataset", "units", "-units", "disagreements", "errors",
    "contradicted",
]  # fmt: skip
_SORTS = {
    "score": "factuality_score",
    "credibility": "credibility",
    "coverage": "coverage",
    "id": "response_id",
    "model": "model",
    "dataset": "dataset",
    "units": "n_units",
    "disagreements": "n_disagreements",
    "errors": "n_errors",
    "contradicted": "n_refuted",
}
_MOST_FIRST = ("disagreements", "errors", "contradicted")
_LISTED = """
WITH by_unit AS (
    SELECT
        response_id,
        unit_id,
        count(*) FILTER (WHERE outcome = 'error') AS n_errors,
        bool_or(outcome = 'supported') AND bool_or(outcome = 'refuted') AS disagree
    FROM evidence
    GROUP BY response_id, unit_id
),
by_response AS (
    SELECT
        response_id,
        CAST(sum(n_errors) AS BIGINT) AS n_errors,
        count(*) FILTER (WHERE disagree) AS n_disagreements
    FROM by_unit
    GROUP BY response_id
),
failed AS (
    SELECT key AS response_id FROM failures
    UNION
    SELECT u.response_id FROM failures AS f INNER JOIN fact_units AS u ON u.unit_id = f.key
)
SELECT
    s.response_id, s.model, s.dataset, s.question, left(r.text, 200) AS excerpt, s.n_units,
    s.n_supported, s.n_refuted, s.n_undecided, s.factuality_score, s.decided_score, s.coverage,
    c.credibility, c.band, coalesce(b.n_disagreements, 0) AS n_disagreements,
    coalesce(b.n_errors, 0) AS n_errors, s.human_score
FROM scores AS s
INNER JOIN responses AS r ON r.response_id = s.response_id
INNER JOIN passage_credibility AS c ON c.response_id = s.response_id
LEFT JOIN by_response AS b ON b.response_id = s.response_id
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
    AND ($low IS NULL OR s.factuality_score >= $low)
    AND ($high IS NULL OR s.factuality_score <= $high)
    AND (NOT $disagreement OR b.n_disagreements > 0)
    AND (NOT $undecided OR s.n_undecided > 0)
    AND (
        NOT $failures OR b.n_errors > 0 OR s.response_id IN (SELECT response_id FROM failed)
    )
"""

_HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}


@router.get("/runs")
def list_runs(desk: AtDesk) -> list[answers.RunInfo]:
    """Return the finished runs, the newest first."""
    return [answers.RunInfo(**_info(run)) for run in desk.runs.listed()]


@router.get("/runs/{run}")
def show_run(run: RunName, desk: AtDesk) -> answers.RunOverview:
    """Return a run: its headline, and the values to filter responses by."""
    results = desk.runs.results(run)
    return answers.RunOverview(
        **_info(desk.runs.named(run)),
        headline=run_headline(results),
        models=_words(results, "SELECT DISTINCT model AS word FROM responses"),
        datasets=_words(results, "SELECT DISTINCT dataset AS word FROM responses"),
    )


@router.get("/runs/{run}/overview.html", response_class=HTMLResponse, responses=_HTML)
def show_overview(run: RunName, desk: AtDesk) -> HTMLResponse:
    """Return the overview of a run as HTML to be shown within a page: scores, plots, claims."""
    return HTMLResponse(_pages(desk).overview(desk.runs.results(run), _address))


@router.get("/runs/{run}/compare.html", response_class=HTMLResponse, responses=_HTML)
def compare(
    run: RunName,
    desk: AtDesk,
    baseline: Annotated[str | None, Query(max_length=300, description="another run")] = None,
    models: Annotated[list[str] | None, Query(description="two models of the run")] = None,
) -> HTMLResponse:
    """Compare a run with another one, or two of its models, as HTML to be shown within a page."""
    two = models or []
    if len(two) != (0 if baseline else 2):
        raise UsageError("name another run as `baseline`, or two `models` of this one")
    results = desk.runs.pair(baseline, run) if baseline else desk.runs.results(run)
    return HTMLResponse(_pages(desk).comparison(results, two, _address))


@router.get("/runs/{run}/report.html", response_class=HTMLResponse, responses=_HTML)
def download_report(run: RunName, desk: AtDesk) -> HTMLResponse:
    """Return the report of a run as a file: one page with its plots, tables and evidence."""
    headers = {"Content-Disposition": 'attachment; filename="report.html"'}
    return HTMLResponse(_pages(desk).report(desk.runs.results(run)), headers=headers)


@router.get("/runs/{run}/responses")
def list_responses(
    run: RunName,
    desk: AtDesk,
    text: Annotated[
        str | None, Query(max_length=1_000, description="in the response, its question or its id")
    ] = None,
    model: Word = None,
    dataset: Word = None,
    question: Word = None,
    min_score: Share = None,
    max_score: Share = None,
    disagreement: Annotated[
        bool, Query(description="only with a claim that some passages support and some refute")
    ] = False,
    failures: Annotated[bool, Query(description="only with a judgement or step that failed")] = (
        False
    ),
    undecided: Annotated[bool, Query(description="with an undecided claim")] = False,
    sort: Sort = "score",
    offset: Offset = 0,
    limit: Limit = 50,
) -> answers.ResponsePage:
    """Return a page of a run's responses, those without a score last."""
    found = desk.runs.named(run)
    results = desk.runs.results(run)
    key, down = sort.removeprefix("-"), sort.startswith("-") != (sort in _MOST_FIRST)
    params: dict[str, object] = {
        "mode": main_mode(found.mode),
        "text": text or None,
        "model": model,
        "dataset": dataset,
        "question": question,
        "low": min_score,
        "high": max_score,
        "disagreement": disagreement,
        "failures": failures,
        "undecided": undecided,
    }
    order = f"{_SORTS[key]} {'DESC' if down else 'ASC'} NULLS LAST, response_id"
    total, rows = _page(results, _LISTED, order, params, offset, limit)
    listed = [answers.ResponseRow(**row) for row in rows]
    return answers.ResponsePage(total=total, offset=offset, limit=limit, rows=listed)


@router.get("/runs/{run}/responses/{response_id:path}")
def show_response(
    run: RunName, response_id: Annotated[str, Path(max_length=2_000)], desk: AtDesk
) -> answers.CheckedResponse:
    """Return one response whole: sentences, claims, evidence with passages, verdicts, costs."""
    return whole(desk.runs.results(run), desk.runs.named(run), response_id)


def _pages(desk: Desk) -> Pages:
    if desk.setup.pages is None:
        raise NotFound("the service was started without reports as pages")
    return desk.setup.pages


def _address(run: str, response: str) -> str:
    """Return the page's address of a response."""
    return f"#/runs/{quote(run, safe='')}/responses/{quote(response, safe='')}"


def _info(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "title": run.title,
        "mode": run.mode,
        "tie": run.tie,
        "judge": run.judge,
        "sources": list(run.sources),
        "finished_at": run.finished_at.isoformat(),
        "counts": run.counts,
    }


def _rows(
    results: Results, sql: str, params: list[object] | dict[str, object] | None = None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results.query(sql, params or ()).to_pylist()
    return found


def _page(
    results: Results, select: str, order: str, params: dict[str, object], offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of rows of a SELECT and a page of them. Only fixed words go into it."""
    page = f"{select} ORDER BY {order} LIMIT $limit OFFSET $offset"
    rows = _rows(results, page, {**params, "limit": limit, "offset": offset})
    (total,) = _rows(results, f"SELECT count(*) AS n FROM ({select})", params)  # noqa: S608
    return total["n"], rows


def _words(results: Results, select: str) -> list[str]:
    rows = _rows(results, f"SELECT word FROM ({select}) WHERE word IS NOT NULL ORDER BY word")  # noqa: S608
    return [row["word"] for row in rows]
