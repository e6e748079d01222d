"""Print which runs of a folder are finished, running or stopped (`ufo status`)."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ufo.pipelines.runs.status import DAMAGED, Status, statuses
from ufo.schemas.errors import EXIT_DONE, RunError


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "status",
        description="List the runs of a folder, finished, running or stopped, with "
        "chunks, counts, models, start time, and the command that resumes a run. Writes nothing.",
    )
    parser.add_argument("directory", metavar="DIR", help="results folder: --output of ufo evaluate")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument(
        "--check",
        action="store_true",
        help="read the part files of finished runs, and compare them with their checksums",
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the runs; returns the exit code."""
    found = statuses(arguments.directory, arguments.check)
    if arguments.json:
        print(json.dumps([asdict(status) for status in found], ensure_ascii=False, indent=1))
    elif not found:
        print(f"no run in {arguments.directory}; 'ufo evaluate --output' writes one")
    else:
        print("\n".join(line for status in found for line in lines_of(status)))
    damaged = [status.next for status in found if status.state == DAMAGED]
    if damaged:
        raise RunError("\n".join(damaged))
    return EXIT_DONE


def lines_of(status: "Status") -> list[str]:
    """Return what is printed of a run."""
    rows = _counts(status.rows)
    head = f"{status.run}  {status.state}"
    if status.of_lines is None and status.chunks is None:
        when = f" {_ago(status.changed_at)}" if status.changed_at else ""
        shown = f": {rows}" if rows else ""
        checked = [f"  check {status.checked}"] if status.checked else []
        return [f"{head}{when}{shown}", *checked, f"  next  {status.next}"]
    found = [head + (f" on {status.host}, process {status.pid}" if status.host else "")]
    chunks = f"{_of(status.chunks, status.of_chunks)} chunks, " if status.chunks is not None else ""
    lines = f"{_of(status.lines, status.of_lines)} records"
    found.append(f"  done  {chunks}{lines}" + (f": {rows}" if rows else ""))
    if status.job:
        found.append(f"  job   {status.job} on {status.runner}")
    if status.spent:
        shown = ", ".join(f"{value:,.6g} {name}" for name, value in status.spent.items())
        found.append(f"  spent {shown}")
    if status.started_at:
        last = f"; last chunk {_ago(status.changed_at)}" if status.changed_at else ""
        found.append(f"  since {status.started_at} ({_ago(status.started_at)}){last}")
    return [*found, f"  next  {status.next}"]


def _counts(counts: "Mapping[str, int]") -> str:
    shown = []
    for name, count in counts.items():
        words = name.replace("_", " ")
        one = count == 1 and name != "noans"  # not a plural
        shown.append(f"{count:,} {words.removesuffix('s') if one else words}")
    return ", ".join(shown)


def _of(count: int | None, total: int | None) -> str:
    return f"{count or 0:,}" + ("" if total is None else f" of {total:,}")


def _ago(time: str) -> str:
    moment = datetime.fromisoformat(time)
    # A folder of somebody else may have times without a zone.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (datetime.now(UTC) - moment).total_seconds()
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
