"""Evaluate the same input at two commits, and say which result tables differ.

Each commit is checked out into a folder of its own and run from there by this Python: the bundled
examples and made responses against references and the encyclopaedia, in every mode, judged offline.
Rows are compared as JSON after sorting. The last line is JSON; exit 1 where a table
differs.

    python benchmarks/compare_commits.py BEFORE AFTER [--responses 1000] [--quick]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.pipeline import write_input  # noqa: E402

TABLES = ("responses", "sentences", "fact_units", "evidence", "passages", "verdicts", "failures")
BOTH = "reference,wikipedia"
MODES = {"seq": BOTH, "mv": BOTH, "single": "wikipedia", "all": BOTH}
JUDGED = ("--judge", "offline", "--verifier", "overlap", "--run", "compared")


def ufo(code: Path, *words: object) -> None:
    """Run a command of the checked out code."""
    command = [sys.executable, "-m", "ufo.pipelines.cli", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(code)}
    subprocess.run(command, cwd=code, env=environment, check=True, stdout=subprocess.DEVNULL)


def evaluate(
    commit: str, folder: Path, generated: Path, examples: Path, modes: dict[str, str]
) -> dict[str, Path]:
    """Return the folders of the runs that a commit wrote, by the name of their input."""
    code = folder / "code"
    subprocess.run(["git", "worktree", "add", "--detach", code, commit], cwd=ROOT, check=True)
    try:
        index = folder / "index"
        ufo(code, "index", "build", "--input", examples / "encyclopaedia.xml", "--output", index)
        folders = {}
        for mode, sources in modes.items():
            for name, path in (("examples", examples / "responses.jsonl"), ("made", generated)):
                folders[f"{name}_{mode}"] = folder / f"{name}_{mode}"
                files = ("--input", path, "--output", folders[f"{name}_{mode}"])
                asked = ("--sources", sources, "--index", index, "--mode", mode)
                ufo(code, "evaluate", *files, *asked, *JUDGED)
        return folders
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", code], cwd=ROOT, check=True)


def rows(run: Path, table: str) -> list[str]:
    """Return the rows of a table as JSON, sorted."""
    parts = [str(path) for path in run.glob(f"run=*/{table}/part-*.parquet")]
    if not parts:
        return []
    with duckdb.connect() as database:
        read = database.execute("SELECT to_json(t) FROM read_parquet(?) AS t", [parts])
        return sorted(row[0] for row in read.fetchall())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--responses", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="100 made responses, mode seq")
    arguments = parser.parse_args()
    number = 100 if arguments.quick else arguments.responses
    modes = {"seq": BOTH} if arguments.quick else MODES
    result: dict[str, Any] = {"responses": number, "equal": {}, "rows": {}}
    with tempfile.TemporaryDirectory() as folder:
        generated, examples = Path(folder, "made.jsonl"), ROOT / "examples"
        write_input(generated, number)
        runs = []
        for name in ("before", "after"):
            below = Path(folder, name)
            below.mkdir()
            runs.append(evaluate(getattr(arguments, name), below, generated, examples, modes))
        before, after = runs
        for kind in before:
            for table in TABLES:
                rows_before, rows_after = rows(before[kind], table), rows(after[kind], table)
                result["rows"][f"{kind}/{table}"] = len(rows_before)
                result["equal"][f"{kind}/{table}"] = rows_before == rows_after
    result["all_equal"] = all(result["equal"].values())
    print(json.dumps(result))
    raise SystemExit(0 if result["all_equal"] else 1)


if __name__ == "__main__":
    main()
