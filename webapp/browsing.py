"""Browse finished runs: responses with scores, one response whole, models side by side.

What is filtered by goes to SQL as parameters; what is sorted by is one of a few fixed words.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from ufo.schemas.results import Results
from ufo.schemas.runs import Run
from ufo.transforms.states import run_headline
from ufo.transforms.votes import main_mode
from ufo.webapp import answers
from ufo.webapp.desk import AtDesk
from ufo.webapp.listed import LISTED, QUESTIONS
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
_CORRECTED = """
SELECT corrected_score, low, high, n_labelled, n_units FROM corrected_scores
WHERE mode = ? AND level = 'run' AND source IS NULL
"""
_MOST_FIRST = ("disagreements", "errors", "contradicted")
_SIDES = 10
_MOST_CONTRADICTED = f"""
SELECT * FROM ({LISTED}) WHERE n_refuted > 0
ORDER BY n_refuted DESC, factuality_score, response_id LIMIT 5
"""  # noqa: S608
# Every parameter of LISTED, so that it lists all.
_ALL: dict[str, object] = {
    **dict.fromkeys(("text", "model", "dataset", "question", "low", "high")),
    **dict.fromkeys(("disagreement", "failures", "undecided"), False),
}


@router.get("/runs")
def list_runs(desk: AtDesk) -> list[answers.RunInfo]:
    """Return the finished runs, the newest first."""
    return [answers.RunInfo(**_info(run)) for run in desk.runs.listed()]


@router.get("/runs/{run}")
def show_run(run: RunName, desk: AtDesk) -> answers.RunOverview:
    """Return a run: its scores, contributions, and the values to filter responses by."""
    found = desk.runs.named(run)
    results = desk.runs.results(run)
    mode = main_mode(found.mode)
    return answers.RunOverview(
        **_info(found),
        headline=run_headline(results),
        models=_words(results, "SELECT DISTINCT model AS word FROM responses"),
        datasets=_words(results, "SELECT DISTINCT dataset AS word FROM responses"),
        scores=_rows(results, "SELECT * EXCLUDE (run) FROM scores_by_run ORDER BY mode, source"),
        scores_by_model=_rows(
            results,
            "SELECT * EXCLUDE (run) FROM scores_by_model WHERE mode = ? "
            "ORDER BY factuality_score DESC NULLS LAST, model",
            [mode],
        ),
        contributions=_rows(
            results,
            "SELECT * EXCLUDE (run) FROM source_contributions WHERE mode = ? ORDER BY position",
            [mode],
        ),
        categories=_rows(
            results, "SELECT * EXCLUDE (run, mode) FROM category_shares ORDER BY share DESC"
        ),
        most_contradicted=[
            answers.ResponseRow(**row)
            for row in _rows(results, _MOST_CONTRADICTED, {**_ALL, "mode": mode})
        ],
        corrected=next(iter(_rows(results, _CORRECTED, [mode])), None),
    )


@router.get(
    "/runs/{run}/report.html",
    response_class=Response,
    responses={200: {"content": {"text/html": {}}, "description": "The report as one page"}},
)
def download_report(run: RunName, desk: AtDesk) -> Response:
    """Return the report of a run as a file: one page with its plots, tables and evidence."""
    if desk.setup.html is None:
        raise NotFound("the service was started without reports as pages")
    page = desk.setup.html(desk.runs.results(run))
    headers = {"Content-Disposition": 'attachment; filename="report.html"'}
    return Response(page, media_type="text/html", headers=headers)


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
    total, rows = _page(results, LISTED, order, params, offset, limit)
    listed = [answers.ResponseRow(**row) for row in rows]
    return answers.ResponsePage(total=total, offset=offset, limit=limit, rows=listed)


@router.get("/runs/{run}/responses/{response_id:path}")
def show_response(
    run: RunName, response_id: Annotated[str, Path(max_length=2_000)], desk: AtDesk
) -> answers.CheckedResponse:
    """Return one response whole: sentences, claims, evidence with passages, verdicts, costs."""
    return whole(desk.runs.results(run), desk.runs.named(run), response_id)


@router.get("/runs/{run}/questions")
def list_questions(
    run: RunName, desk: AtDesk, text: Word = None, offset: Offset = 0, limit: Limit = 50
) -> answers.QuestionPage:
    """Return the questions that several responses answer, the most different scores first."""
    mode = main_mode(desk.runs.named(run).mode)
    results = desk.runs.results(run)
    params: dict[str, object] = {"mode": mode, "text": text or None}
    order = "spread DESC NULLS LAST, question"
    total, rows = _page(results, QUESTIONS, order, params, offset, limit)
    listed = [answers.QuestionRow(**row) for row in rows]
    return answers.QuestionPage(total=total, offset=offset, limit=limit, rows=listed)


@router.get("/runs/{run}/compare")
def compare(
    run: RunName, desk: AtDesk, question: Annotated[str, Query(min_length=1, max_length=20_000)]
) -> list[answers.CheckedResponse]:
    """Return the responses to one question whole, by model; at most ten."""
    found, results = desk.runs.named(run), desk.runs.results(run)
    ids = _rows(
        results,
        "SELECT response_id FROM responses WHERE question = ? ORDER BY model, response_id LIMIT ?",
        [question, _SIDES],
    )
    return [whole(results, found, row["response_id"]) for row in ids]


def _info(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
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
