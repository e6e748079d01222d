"""Print how two runs compare, and the claims whose verdict turned (`ufo compare`)."""

import argparse
import sys

from ufo.pipelines.options.groups import RunOptions
from ufo.pipelines.options.option import options_of
from ufo.pipelines.reports.tabular import as_json, csv_line, page, print_rows, text_output
from ufo.pipelines.runs.compare import compare, in_words, is_worse
from ufo.schemas.errors import EXIT_BELOW, EXIT_DONE

_ROWS = 20


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `compare`."""
    parser = subparsers.add_parser(
        "compare",
        description="Compare run B with run A, the baseline: scores paired by question and data "
        "set (by response where there is no question), and the claims that one run found "
        "supported and the other not.",
    )
    parser.add_argument("directory", metavar="DIR", help="results folder: --output of ufo evaluate")
    parser.add_argument("baseline", metavar="A", help="a finished run: the baseline")
    parser.add_argument("run", metavar="B", help="a finished run")
    (fail_if_worse,) = (one for one in options_of(RunOptions) if one.name == "fail_if_worse")
    fail_if_worse.add(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print all as JSON")
    form.add_argument(
        "--csv", action="store_true", help="print the claims whose verdict changed as CSV"
    )
    parser.set_defaults(handler=_compare)


def _compare(args: argparse.Namespace) -> int:
    found, turned = compare(args.directory, args.baseline, args.run)
    worse = args.fail_if_worse is not None and is_worse(found, args.fail_if_worse)
    columns = (
        *("before", "after", "source_before", "source_after"),
        *("response_id", "unit_id", "claim"),
    )
    if args.json:
        with text_output(None) as out:
            out.write(as_json({**found, "worse": worse, "turned": turned}, indent=2) + "\n")
    elif args.csv:
        with text_output(None) as out:
            out.write(csv_line(columns))
            out.writelines(csv_line([row[name] for name in columns]) for row in turned)
    else:
        print(f"run {args.run}: {in_words(found)}")
        lost = sum(row["before"] == "supported" for row in turned)
        print(f"claims no longer supported: {lost:,}; supported now: {len(turned) - lost:,}")
        if turned:
            shown = ("before", "after", "source_after", "response_id", "claim")
            with page(sys.stdout) as console:
                print_rows(
                    shown, [[row[name] for name in shown] for row in turned[:_ROWS]], console
                )
            if len(turned) > _ROWS:
                print(f"\nThe first {_ROWS} of {len(turned):,}. All of them: --json or --csv.")
    if worse:
        print(f"Significantly worse: p < --fail_if_worse {args.fail_if_worse}", file=sys.stderr)
        return EXIT_BELOW
    return EXIT_DONE
