"""Run `ufo evaluate`, print its result, and return the exit code."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ufo.pipelines import logs
from ufo.pipelines.estimates import estimate, print_estimate
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.reports.main_score import score_summary
from ufo.pipelines.reports.unusable import Unusable, unusable
from ufo.pipelines.runs.gates import baseline_missed, compare_with_baseline, limits_missed
from ufo.pipelines.runs.remote_results import open_results
from ufo.pipelines.runs.run import Finished, run_evaluate
from ufo.pipelines.streaming import stream
from ufo.schemas.errors import EXIT_BELOW, EXIT_DONE, EXIT_FAILED, UsageError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.text import quantity
from ufo.transforms.score_words import beside

_NOTHING_USED = "no record of the input can be used"


def register(commands: Any) -> None:
    """Add the command. Its options are parsed by `handle`, which also reads the file of options."""
    parser = commands.add_parser(
        "evaluate",
        description="Evaluate the factuality of LLM responses. Options for experts "
        "(docs/flags.md) and any Beam pipeline option are taken too. Results "
        "are Parquet under DIR/run=NAME; see `ufo report DIR`.",
    )
    parser.add_options(GROUPS)
    parser.set_defaults(parse=handle, parser=parser)


def handle(parser: Parser, argv: Sequence[str], program: bool = False) -> int:
    """Run the command; return the exit code. `program` if this process does nothing else."""
    chosen = settings(Settings, parser, argv)
    if chosen.dry_run:
        print_estimate(estimate(chosen), chosen.json)
        return EXIT_DONE
    if program:
        chosen = replace(chosen, command=("evaluate", *argv))
    logs.start(logs.LogSettings(chosen.log_format))
    if chosen.streaming:
        stream(chosen, partial(_report, chosen), logs.tell)
        return EXIT_DONE
    return _report(chosen, run_evaluate(chosen))


def _report(chosen: Settings, finished: Finished) -> int:
    """Print the results of the run; return the exit code."""
    with finished.explain_memory_errors():
        summary, lost = _summary(chosen, finished)
    nothing = _nothing_usable(summary, lost)
    below = limits_missed(chosen, summary)
    compared: dict[str, Any] = {}
    gone = None
    if chosen.baseline is not None and not nothing:
        try:
            compared = compare_with_baseline(chosen, finished.name)
        except UsageError as error:
            gone = error  # reported after the summary, since the run is finished
    comparison = compared.get("comparison")
    if chosen.json:
        share = lost.n / lost.of if lost.of else 0.0
        gates = {"path": finished.folder, "below": bool(below), "error_share": share, **compared}
        print(json.dumps(summary | gates, ensure_ascii=False), flush=True)
    else:
        _print(summary, finished.folder, comparison is not None)
        if comparison is not None:
            _print_comparison(comparison, chosen.output)
        sys.stdout.flush()
    if nothing:
        logs.tell(lost.sentence or _NOTHING_USED)
        return EXIT_FAILED
    if lost.sentence:
        logs.tell(lost.sentence)
    for limit in below:
        logs.tell(limit)
    if gone is not None:
        raise gone
    missed = baseline_missed(chosen, compared) if compared else []
    for sentence in missed:
        logs.tell(sentence)
    return EXIT_BELOW if below or missed else EXIT_DONE


def _print_comparison(comparison: Mapping[str, Any], output: str) -> None:
    print(f"{comparison['headline']}. {comparison['basis']}")
    for note in comparison["notes"]:
        print(note)
    if comparison["turned"]:
        lost, won = comparison["lost"], comparison["won"]
        print(f"claims no longer supported: {lost:,}; supported now: {won:,}")
        names = f"{output} {comparison['baseline']} {comparison['run']}"
        print(f"each of them: ufo compare {names}")


# A cost with an unknown part is unknown.
_SUMMARY_BYTES = 250_000_000
_SUMMARY_BYTES_A_RESPONSE = 20
_SPENT = """
SELECT
    CAST(coalesce(sum(n_requests), 0) AS BIGINT) AS requests,
    CAST(coalesce(sum(prompt_tokens + completion_tokens), 0) AS BIGINT) AS tokens,
    CASE WHEN coalesce(sum(n_unpriced), 0) = 0 THEN coalesce(sum(cost_usd), 0) END AS cost_usd
FROM cost
"""


_OF_MODE = ("mode", "source", "interval_method")


def _nothing_usable(summary: Mapping[str, Any], lost: Unusable) -> bool:
    """Return whether there was something to judge, but no usable judgement."""
    return lost.all or (lost.n > 0 and not summary["units"]) or _no_line(summary)


def _no_line(summary: Mapping[str, Any]) -> bool:
    return bool(summary["failures"]) and not summary["responses"]


def _summary(chosen: Settings, finished: Finished) -> tuple[dict[str, Any], Unusable]:
    views = ["cost", "scores_by_run", "failures_by_step"]
    local = not is_remote(str(chosen.output))
    if local:  # the sentences of a run in a bucket are not downloaded only to be counted
        views.append("sentence_scores")
    with open_results(chosen.output, finished.name, only=views) as results:
        (run,) = results.runs
        # Less than the workers took. More goes to disk, which needs some memory for each response.
        limit = _SUMMARY_BYTES + _SUMMARY_BYTES_A_RESPONSE * run.counts["responses"]
        results.limit_memory(f"{limit}B")
        (spent,) = results.query(_SPENT).to_pylist()
        lost = unusable(results, chosen.streaming)
        score_figures = score_summary(results, counts_abstentions=local)
    means = {name: value for name, value in score_figures["score"].items() if name not in _OF_MODE}
    summary = {
        "run": run.name,
        "headline": score_figures["headline"],
        "mode": run.mode,
        "sources": list(run.sources),
        **run.counts,
        "score_in_words": score_figures["words"],
        **means,
        "n_without_claim": means["n_without_units"],
        "n_abstained": score_figures["n_abstained"],
        "n_not_extracted": score_figures["n_not_extracted"],
        "left_out": score_figures["left_out"],
        **spent,
        "problem": lost.sentence or None,
        "trust": score_figures["trust"] or None,
        "judged_by": score_figures["judged_by"] or None,
        "seconds": round(finished.seconds, 3),
    }
    return summary, lost


def _print(summary: Mapping[str, Any], folder: str, compared: bool) -> None:
    failures = summary["failures"]
    size = f"{quantity(summary['responses'], 'response')}, {quantity(summary['units'], 'claim')}"
    print(f"run {summary['run']}: {size}")
    if _no_line(summary):
        print(f"{_NOTHING_USED}, so there is no score")
    else:
        print(summary["headline"])
        if not compared:  # its sentence has the score of the responses that both runs have
            note = beside(summary) if summary["factuality_score"] is not None else ""
            print("; ".join(filter(None, (summary["score_in_words"], note))))
        if summary["left_out"]:
            print(summary["left_out"])
        if summary["trust"]:
            print(summary["trust"])
    if summary["requests"]:
        cost = summary["cost_usd"]
        priced = "cost unknown" if cost is None else f"${cost:,.4f}"
        requests = quantity(summary["requests"], "request")
        print(f"{requests}, {quantity(summary['tokens'], 'token')}, {priced}")
    if failures:
        print(f"{quantity(failures, 'failure')}, each with its reason in the table `failures`")
    print(f"results in {folder}")
