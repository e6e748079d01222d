"""Import human labels, from sheets (`ufo label`) or published data sets (`ufo import`)."""

import argparse
import json
import os
import sys
from collections import Counter

from ufo.pipelines.commands.output import RUN, add_directory, declare
from ufo.pipelines.draw_sheet import sample
from ufo.pipelines.importers import IMPORTERS, import_records
from ufo.pipelines.labels import import_sheet, list_problems
from ufo.pipelines.options.option import Option
from ufo.pipelines.reports.tabular import as_json, csv_line, text_output
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import EXIT_DONE, UsageError
from ufo.schemas.text import quantity, shell_command


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    parser = subparsers.add_parser(
        "label",
        description="Human labels correct the scores of an imperfect judge: see the "
        "reports corrected_scores and judge_errors.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    sample = commands.add_parser(
        "sample",
        help="write a sheet of claims for people",
        description="Write a CSV sheet of a run's claims, drawn at random; where earlier "
        "sheets were drawn from a part of the run, from the rest. Fill the column label with true "
        "or false, or leave it empty or unsure.",
    )
    add_directory(sample)
    declare(
        sample,
        Option("n", int, "number of claims (default 200)", "N", default=200, low=1),
        RUN,
        Option("output", str, "a .csv file (default: stdout)", "FILE"),
        Option("seed", int, "random seed of the sample (default 0)", "N", default=0, low=0),
    )
    sample.set_defaults(handler=_sample)

    read = commands.add_parser(
        "import",
        help="import the labels of a filled sheet",
        description="Check a sheet that people filled in and keep its labels in DIR/labels; runs "
        "are not changed. A label replaces what the same annotator said of the claim before, "
        "`unsure` withdraws it, and an empty cell changes nothing. A line that cannot be read is "
        "left out, and listed; if none can be, that is an error (exit code 2).",
    )
    add_directory(read)
    read.add_argument("file", metavar="SHEET", help="the filled sheet, .csv")
    help_text = (
        "name of the sheet, for example of who labelled it (default: the file's name); a column "
        "`annotator` names who labelled each row"
    )
    declare(
        read,
        Option("sheet", str, help_text, "NAME"),
        Option("json", bool, "print the counts as JSON"),
    )
    read.set_defaults(handler=_import)

    parser = subparsers.add_parser(
        "import",
        description="Write the records of a published label file as JSON Lines that 'ufo evaluate' "
        "reads, with its claims, labels and evidence.",
    )
    parser.add_argument("format", metavar="FORMAT", help=", ".join(IMPORTERS))
    parser.add_argument(
        "file",
        metavar="FILE",
        help="the published file: JSON Lines, a JSON array, CSV, TSV or Parquet; factscore's and "
        "ufo's are named after the model",
    )
    parser.add_argument("--output", metavar="OUT", help="a .jsonl file (default: stdout)")
    parser.set_defaults(handler=_import_published)


def _sample(args: argparse.Namespace) -> int:
    if args.output is not None and os.path.exists(args.output):
        raise UsageError(
            f"--output {args.output!r} exists, and may hold what people wrote; give another name "
            "or remove it."
        )
    with open_results(args.directory, args.run) as results:
        lines, drawn = sample(results, args.n, args.seed)
        run = results.runs[-1].name
    with text_output(args.output) as out:
        out.writelines(map(csv_line, lines))
    print(f"ufo: run {run}: {drawn}.", file=sys.stderr)
    sheet = "SHEET" if args.output in (None, "-") else args.output
    print(
        "ufo: fill the column label, then: "
        + shell_command(("ufo", "label", "import", args.directory, sheet)),
        file=sys.stderr,
    )
    return EXIT_DONE


def _import(args: argparse.Namespace) -> int:
    imported = import_sheet(args.directory, args.file, args.sheet)
    if args.json:
        print(json.dumps(imported, ensure_ascii=False))
        return EXIT_DONE
    partly = f", {imported['partly']:,} between" if imported["partly"] else ""
    repeated = f", {imported['repeated']:,} repeated" if imported["repeated"] else ""
    labelled = imported["true"] + imported["false"] + imported["partly"]
    print(
        f"{quantity(imported['rows'], 'row')}: {labelled:,} labelled ({imported['true']:,} true, "
        f"{imported['false']:,} false{partly}), {imported['unsure']:,} unsure, "
        f"{imported['blank']:,} blank{repeated}"
    )
    changed = f" ({_changed(imported['changed'])})" if imported["replaced"] else ""
    print(
        f"{imported['added']:,} added, {imported['replaced']:,} replaced{changed}, "
        f"{imported['withdrawn']:,} withdrawn"
    )
    if imported["contradicted"]:
        print(
            f"{quantity(imported['contradicted'], 'claim')} with another label by another "
            f"annotator; see ufo report {args.directory} label_conflicts"
        )
    print(f"kept in {imported['path']}; see ufo report {args.directory} corrected_scores")
    for notice in imported["notices"]:
        print(f"ufo: {notice}", file=sys.stderr)
    if imported["problems"]:
        count = quantity(len(imported["problems"]), "line")
        print(f"ufo: left out {count}:\n  {list_problems(imported['problems'])}", file=sys.stderr)
    return EXIT_DONE


def _changed(count: int) -> str:
    return f"{count:,} changed" if count else "nothing changed"


def _import_published(args: argparse.Namespace) -> int:
    good, problems = 0, list[str]()
    left_out: Counter[str] = Counter()
    with text_output(args.output) as out:
        for record in import_records(args.format, args.file, problems, left_out):
            out.write(as_json(record) + "\n")
            good += 1
    others = [f"{count:,} {what}" for what, count in left_out.most_common()]
    for what in (*problems, *others):
        print(f"ufo: left out {what}", file=sys.stderr)
    bad = f", {len(problems):,} left out" if problems else ""
    print(f"ufo: {quantity(good, 'record')}{bad}", file=sys.stderr)
    return EXIT_DONE
