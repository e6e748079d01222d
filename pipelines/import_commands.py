"""The command `ufo import`: published label files as input records."""

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from schemas.errors import EXIT_DONE, UsageError


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `import`."""
    parser = subparsers.add_parser(
        "import",
        help="make input records of a published label file",
        description="Write the records of a published label file as JSON Lines that 'ufo evaluate' "
        "reads, with its claims, labels and evidence.",
    )
    parser.add_argument("format", metavar="FORMAT", help="factcheck_gpt, factscore, …")
    parser.add_argument(
        "file", metavar="FILE", help="the label file, .jsonl or .jsonl.gz; its name says the model"
    )
    parser.add_argument("--output", metavar="OUT", help="a .jsonl file (default: stdout)")
    parser.set_defaults(handler=_import)


def _import(args: argparse.Namespace) -> int:
    from pipelines.importers import import_records
    from pipelines.tabular import as_json

    bad = 0

    def report(message: str) -> None:
        nonlocal bad
        bad += 1
        print(f"ufo: left out {message}", file=sys.stderr)

    good = 0
    with _output(args.output) as out:
        for record in import_records(args.format, args.file, report):
            out.write(as_json(record) + "\n")
            good += 1
    left_out = f", {bad} line{'' if bad == 1 else 's'} left out" if bad else ""
    print(f"ufo: {good} record{'' if good == 1 else 's'}{left_out}", file=sys.stderr)
    return EXIT_DONE


@contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    """Give stdout, or a file that takes its place only when all is written."""
    if path is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        return
    unfinished = Path(f"{path}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as out:
            yield out
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(f"--output: cannot write {path!r}: {error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
