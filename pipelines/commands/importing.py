"""Write published label files as input records (`ufo import`)."""

import argparse
import sys
from collections import Counter

from ufo.pipelines.importers import IMPORTERS, import_records
from ufo.pipelines.reports.tabular import as_json, text_output
from ufo.schemas.errors import EXIT_DONE
from ufo.schemas.text import quantity


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `import`."""
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
    parser.set_defaults(handler=_import)


def _import(args: argparse.Namespace) -> int:
    bad = 0

    def report(message: str) -> None:
        nonlocal bad
        bad += 1
        print(f"ufo: left out {message}", file=sys.stderr)

    good = 0
    left_out: Counter[str] = Counter()
    with text_output(args.output) as out:
        for record in import_records(args.format, args.file, report, left_out):
            out.write(as_json(record) + "\n")
            good += 1
    for what, count in left_out.most_common():
        print(f"ufo: left out {count:,} {what}", file=sys.stderr)
    others = f", {bad:,} left out" if bad else ""
    print(f"ufo: {quantity(good, 'record')}{others}", file=sys.stderr)
    return EXIT_DONE
