"""`ufo evaluate`: what the command prints, and how it exits."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.errors import EXIT_BELOW, EXIT_DONE


def register(commands: Any) -> None:
    """Add the command. Its options are parsed by `handle`, which also reads the file of options."""
    from pipelines.flags import add_evaluate_options

    parser = commands.add_parser(
        "evaluate",
        help="evaluate responses against fact sources",
        description="Evaluate the factuality of LLM responses. Any Beam pipeline option is taken "
        "too. Results are Parquet under DIR/run=NAME; see `ufo report DIR`.",
    )
    add_evaluate_options(parser)
    parser.set_defaults(parse=handle, parser=parser)


def handle(parser: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    from pipelines.options import settings
    from pipelines.run import run

    chosen = settings(parser, argv)
    finished = run(chosen)
    summary = _summary(chosen.output, finished.name) | {"seconds": round(finished.seconds, 3)}
    score = summary["factuality_score"]
    below = chosen.fail_under is not None and (score is None or score < chosen.fail_under)
    if chosen.json:
        print(json.dumps({**summary, "path": finished.folder, "below": below}, ensure_ascii=False))
    else:
        _print(summary, finished.folder)
    if below:
        shown = "no score" if score is None else f"{score:.3f}"
        print(f"Below --fail_under {chosen.fail_under}: {shown}", file=sys.stderr)
        return EXIT_BELOW
    return EXIT_DONE


def _summary(output: str, name: str) -> dict[str, Any]:
    from schemas.results import open_results

    with open_results(output, name) as results:
        (run,) = results.runs
        # `all` has a score for each way of voting; the run's is that of its order of sources.
        mode = "seq" if run.mode == "all" else run.mode
        found = results.query("SELECT * FROM scores_by_run WHERE mode = ?", [mode]).to_pylist()
    row = found[0] if found else {}
    return {
        "run": run.name,
        "mode": run.mode,
        "sources": list(run.sources),
        **run.counts,
        **{key: row.get(key) for key in ("factuality_score", "decided_score", "coverage")},
    }


def _print(summary: Mapping[str, Any], folder: str) -> None:
    failures = summary["failures"]
    print(f"run {summary['run']}: {summary['responses']:,} responses, {summary['units']:,} units")
    if summary["factuality_score"] is None:
        print("no response has a checkable claim, so there is no score")
    else:
        print(
            f"factuality score {summary['factuality_score']:.3f}, "
            f"{summary['coverage']:.0%} of units decided"
        )
    if failures:
        print(f"{failures:,} failures, each with its reason in the table `failures`")
    print(f"results in {folder}")
