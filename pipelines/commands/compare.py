"""Print how two runs, or two models of a run, compare (`ufo compare`)."""

import argparse
import sys
from typing import Any

from ufo.pipelines.commands.output import AS_JSON, add_directory, declare, print_json
from ufo.pipelines.options.groups import RunOptions
from ufo.pipelines.options.option import options_of
from ufo.pipelines.reports.tabular import page, print_rows
from ufo.pipelines.runs.comparison import (
    MOST_SHOWN,
    compare,
    compare_models,
    is_worse,
)
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import EXIT_BELOW, EXIT_DONE, UsageError


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `compare`."""
    parser = subparsers.add_parser(
        "compare",
        description="Compare run B with run A, the baseline: scores paired by question and data "
        "set (by response where there is no question), the questions that changed most, and the "
        "claims that one run found supported and the other not. With --models, compare two models "
        "of one run.",
    )
    add_directory(parser)
    parser.add_argument("baseline", metavar="A", nargs="?", help="a finished run: the baseline")
    parser.add_argument("run", metavar="B", nargs="?", help="a finished run")
    said = "two models of one run: of A where that is named, else of the newest"
    parser.add_argument("--models", metavar=("A", "B"), nargs=2, help=said)
    declare(parser, *(one for one in options_of(RunOptions) if one.name == "fail_if_worse"))
    declare(parser, AS_JSON)
    parser.set_defaults(handler=_compare)


def _compare(args: argparse.Namespace) -> int:
    found: dict[str, Any]
    if args.models:
        if args.run is not None or args.fail_if_worse is not None:
            raise UsageError("--models compares within one run: name no second and no level.")
        with open_results(args.directory, args.baseline) as results:
            found = compare_models(results, *args.models)
    elif args.run is None:
        raise UsageError("expected two runs, A and B, or --models and two models of a run.")
    else:
        found = compare(args.directory, args.baseline, args.run)
        level = args.fail_if_worse
        found["worse"] = level is not None and is_worse(found, level)
    if args.json:
        print_json(found)
    else:
        print(f"{found['headline']}\n{found['basis']}", *found.get("unusable", ()), sep="\n")
        changed = ("question", "score_a", "score_b", "difference")
        _print("\nQuestions that differ most", found["questions"], changed)
        if not args.models:
            said = "\nclaims no longer supported: {lost:,}; supported now: {won:,}".format(**found)
            turned = ("before", "after", "source_after", "response_id", "claim")
            _print(said, found["turned"], turned)
    if found.get("worse"):
        print(f"Significantly worse: p < --fail_if_worse {args.fail_if_worse}", file=sys.stderr)
        return EXIT_BELOW
    return EXIT_DONE


def _print(title: str, rows: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    with page(sys.stdout) as console:
        if rows:
            console.print(title)
            print_rows(names, [[row[name] for name in names] for row in rows[:MOST_SHOWN]], console)
        if len(rows) > MOST_SHOWN:
            console.print(f"\nThe first {MOST_SHOWN} of {len(rows):,}. All of them: --json.")
