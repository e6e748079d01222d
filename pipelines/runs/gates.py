"""Check a finished run against its gates: limits of its score, or a baseline run."""

from collections.abc import Mapping
from typing import Any

from ufo.pipelines.options.settings import Settings
from ufo.pipelines.reports.comparison import (
    NothingToCompare,
    add_verdict,
    empty_comparison,
    undecided_gate,
)
from ufo.pipelines.reports.main_score import score_summary
from ufo.pipelines.runs.comparison import compare
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.gate_score import LEFT_OUT, gate_score, n_silent


def failed_gates(chosen: Settings, results: Results) -> tuple[list[str], dict[str, Any] | None]:
    """Return a sentence for each gate that a run fails, and its comparison with the baseline.

    The results are of that run alone. Without a baseline the comparison is None.

    Raises:
        UsageError: the baseline is gone.
    """
    failed: list[str] = []
    if chosen.fail_under is not None or chosen.min_scored is not None:
        summary = score_summary(results)
        names = ("left_out", "n_not_extracted")
        more = {"score_in_words": summary["words"], **{name: summary[name] for name in names}}
        failed += limits_missed(chosen, {**summary["score"], **more})
    if chosen.baseline is None:
        return failed, None
    compared = compare_with_baseline(chosen, results.runs[-1].name)
    return [*failed, *baseline_missed(chosen, compared)], compared["comparison"]


def limits_missed(chosen: Settings, summary: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each limit that the run falls short of."""
    missed = []
    score = gate_score(summary, chosen.no_claim)
    if chosen.fail_under is not None and (score is None or score < chosen.fail_under):
        reached = summary["score_in_words"]
        silent = n_silent(summary)
        if chosen.no_claim != LEFT_OUT and silent:
            of = f"{quantity(silent, 'response')} without a claim"
            reached = f"{score:.3f} by --no_claim {chosen.no_claim}, with {of}; {reached}"
        missed.append(f"Below --fail_under {chosen.fail_under}: {reached}")
    responses = summary["n_responses"]
    share = summary["n_scored"] / responses if responses else 0.0
    if chosen.min_scored is not None and share < chosen.min_scored:
        why = summary["left_out"] or "there is no response"
        missed.append(f"Below --min_scored {chosen.min_scored}: {why}")
    return missed


def compare_with_baseline(chosen: Settings, run: str) -> dict[str, Any]:
    """Return the `comparison` of a run with its baseline, and the verdict of `add_verdict`.

    The verdict is in `decided`, `undecided` and `worse`. The comparison is None where there is
    nothing to compare.

    Raises:
        UsageError: the baseline is gone.
    """
    try:
        comparison = compare(chosen.output, str(chosen.baseline), run, chosen.least_shared)
    except NothingToCompare as error:
        return {"comparison": None, **empty_comparison(error)}
    comparison = add_verdict(comparison, chosen.fail_if_worse)
    return {
        "comparison": comparison,
        **{name: comparison[name] for name in ("decided", "undecided", "worse")},
    }


def baseline_missed(chosen: Settings, compared: Mapping[str, Any]) -> list[str]:
    """Return the sentence that the run is worse than its baseline or not comparable, if it is."""
    if not compared["decided"]:
        return [undecided_gate(compared["undecided"])]
    if compared["worse"]:
        level = chosen.fail_if_worse
        return [f"Significantly worse than --baseline {chosen.baseline}: p < {level}"]
    return []
