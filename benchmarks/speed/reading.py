"""Measure what reading the input takes of `ufo evaluate`, for CSV, JSON Lines and Parquet.

Generated responses of one fact with a reference, judged offline by two workers. For each format:
`parent` and `workers`, the processor seconds of the command's own process and of its workers;
`parents_share`, the first over their sum; `seconds`, what a shell sees. `startup` is the parent's
processor time for an input of one record, which is in `parent` too.

    python benchmarks/speed/reading.py [--quick] [--rows 60000] [--formats csv,jsonl,parquet]
        [--code FOLDER]

`--code` measures another checkout. The last line is JSON.
"""

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.pipeline import FIELDS, FIRST, LAST, PLACES  # noqa: E402

WORKERS = 2
AIM = 0.2
_COMMAND = "import sys; from ufo.pipelines.cli import main; sys.exit(main())"


def records(rows: int) -> Iterator[dict[str, str]]:
    """Yield records of one fact, a third of them wrong, with columns that are no keys."""
    chance = random.Random(5)
    for number in range(rows):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        place, other = chance.sample(PLACES, 2)
        born = chance.randrange(1700, 1950)
        yield {
            "id": f"r{number}",
            "model": f"model-{number % 2}",
            "question": f"Where was {name} born?",
            "response": f"{name} was born in {place if number % 3 else other}.",
            "reference_answers": f"{name} was born in {place} in {born}, the child of a teacher.",
            "field": chance.choice(FIELDS),
        }


def write_input(path: Path, rows: int) -> None:
    """Write an input file in the format that its name ends with."""
    written = list(records(rows))
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(written), path)
        return
    with path.open("w", encoding="utf-8", newline="") as sink:
        if path.suffix == ".csv":
            writer = csv.DictWriter(sink, list(written[0]))
            writer.writeheader()
            writer.writerows(written)
        else:
            sink.writelines(json.dumps(record) + "\n" for record in written)


def measure(source: Path, output: Path, code: Path) -> dict[str, float]:
    """Evaluate a file; return the seconds of the command and of its processes."""
    command = [
        sys.executable,
        "-c",
        _COMMAND,
        "evaluate",
        "--json",
        "--judge",
        "offline",
        "--verifier",
        "overlap",
        "--sources",
        "reference",
        "--workers",
        str(WORKERS),
        "--input",
        str(source),
        "--output",
        str(output),
    ]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        command, cwd=code, env=os.environ | {"PYTHONPATH": str(code)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    printed = process.stderr.read()
    # The processor time of a process that has ended, and is not waited for, is its own.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    own = own_seconds(process.pid)
    if process.wait():
        raise SystemExit(printed)
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "parent": own, "workers": whole - own}


def own_seconds(process: int) -> float:
    """Return the processor time of a process on Linux, without that of its children."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--formats", default="csv,jsonl,parquet")
    parser.add_argument("--code", type=Path, default=ROOT)
    args = parser.parse_args()
    rows = 4_000 if args.quick else args.rows
    report: dict[str, Any] = {"rows": rows, "workers": WORKERS, "aim": AIM}
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "first.jsonl")
        write_input(first, 1)
        startup = measure(first, Path(folder, "startup"), args.code)["parent"]
        for form in args.formats.split(","):
            source = Path(folder, f"responses.{form}")
            write_input(source, rows)
            figures = measure(source, Path(folder, form), args.code)
            share = figures["parent"] / (figures["parent"] + figures["workers"])
            report[form] = {name: round(value, 2) for name, value in figures.items()} | {
                "startup": round(startup, 2),
                "parents_share": round(share, 3),
                "met": share <= AIM,
                "load_average": round(os.getloadavg()[0], 1),
            }
            print(form, report[form], file=sys.stderr)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
