"""Print the results of a recall run as the three tables of FaaF's paper."""

from typing import Any

from rich.console import Console

from ufo.pipelines.reports.tabular import print_table, tell_left_out
from ufo.pipelines.reports.unusable import unusable
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.schemas.views import View, load_views
from ufo.transforms.judges.offline import NAME as OFFLINE
from ufo.transforms.judges.trust import trust_line
from ufo.transforms.score_words import in_numbers

_REPORTS = ("recall_scores", "recall_errors", "recall_cost")
"""FaaF's Tables 1 to 3."""
_RECALL = """
SELECT formulation, variant, recall FROM recall_scores
WHERE run = ? AND formulation != 'human'
ORDER BY formulation, variant
"""
_VERIFIERS = f"""
SELECT DISTINCT model FROM recall_verdicts
WHERE run = ? AND judge = '{OFFLINE}' AND model IS NOT NULL
"""  # noqa: S608
VERDICTS = """
SELECT
    v.record_id, r.question, v.variant, v.formulation, f.fact, v.outcome, v.label, v.human_label,
    v.reason, v.citation
FROM recall_verdicts AS v
INNER JOIN recall_facts AS f USING (run, record_id, fact_id)
INNER JOIN recall_records AS r USING (run, record_id)
WHERE v.formulation != 'human'
ORDER BY v.record_id, v.variant, f.fact_index, v.formulation
"""


def recall_summary(results: Results) -> dict[str, Any]:
    """Return the results of a recall run: its size, and the rows of the paper's three tables."""
    run = results.runs[-1]
    return {
        "run": run.name,
        "mode": run.mode,
        "judge": run.judge,
        "records": run.counts["responses"],
        "facts": run.counts["units"],
        "answers": run.counts["answers"],
        "failures": run.counts["failures"],
        "problem": unusable(results).sentence or None,
        "trust": trust_in_recall(results) or None,
        **{view.name: _rows(results, view) for view in _views()},
    }


def trust_in_recall(results: Results) -> str:
    """Return in a line how far to trust the verdicts of a verifier, "" for those of a model.

    The report recall_errors counts a model's errors where people labelled the facts.
    """
    judged = results.query(_VERIFIERS, [results.runs[-1].name]).column(0).to_pylist()
    return trust_line([OFFLINE], judged, ["answer"]) if judged else ""


def recall_by_variant(results: Results) -> dict[str, dict[str, float | None]]:
    """Return the factual recall of each variant by each formulation."""
    recalls: dict[str, dict[str, float | None]] = {}
    for row in results.query(_RECALL, [results.runs[-1].name]).to_pylist():
        recalls.setdefault(row["formulation"], {})[row["variant"]] = row["recall"]
    return recalls


def size_in_words(results: Results) -> str:
    """Return the size of a recall run: "3 records, 8 facts, 9 answers"."""
    counts = results.runs[-1].counts
    counted = {"responses": "record", "units": "fact", "answers": "answer"}
    return ", ".join(quantity(counts[name], noun) for name, noun in counted.items())


def print_recall(results: Results, console: Console) -> None:
    """Print the run's size, and each of the paper's three tables that has rows."""
    console.print(f"run {results.runs[-1].name}: {size_in_words(results)}")
    if trust := trust_in_recall(results):
        console.print(trust)
    for view in _views():
        if rows := _rows(results, view, view.shows):
            console.print(f"\n{view.title}")
            left_out = print_table([*rows[0]], [[*row.values()] for row in rows], console)
            more = len(results.columns_of(view)) - 1 - len(rows[0]) + left_out
            tell_left_out(console, more, f"ufo report DIR {view.name} --all")
    lost = unusable(results)
    if lost.many:
        console.print(f"\n{in_numbers(lost.n, lost.of)}")


def _views() -> list[View]:
    views = {view.name: view for view in load_views()}
    return [views[name] for name in _REPORTS]


def _rows(results: Results, view: View, columns: str = "* EXCLUDE (run)") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results.query(view.select(columns)).to_pylist()
    return rows
