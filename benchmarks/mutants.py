"""Count how many small mistakes in the product the tests catch: mutation testing.

    python benchmarks/mutants.py [FOLDER ...] [--number 400] [--seed 7] [--jobs 2] [--quick]

A mutant is one file of the project with one small mistake, of the kinds that `changes.py` lists.
Mutants are spread over the folders by their lines: a line of code in which a mistake can be made
is drawn by the seed, then a kind of mistake, then one of that kind. First the tests run once, and
it is noted which test executes which line, in processes that a test starts, too. Then each mutant
is tested, in a copy of the project, by the tests that execute its line: those of its own file
first, then the quickest, for at most `--seconds` of their time. Tests of a view in SQL are those
of views and reports. Tests that need a browser, Flink, Airflow or a model are left out.

The mutants are printed as they are tested, with the first test that failed; the last line is JSON.
`--map FILE` keeps what the first run found, and `--only FILE` tests the mutants again that
survived in the JSON of another run, where their code still is.
"""

import argparse
import ast
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    # Last, so that a process that a test starts finds its copy of the project first.
    sys.path.append(str(ROOT))

from benchmarks.mutation.changes import Change, python_changes, sql_changes  # noqa: E402

FOLDERS = ("schemas", "transforms", "indexes", "pipelines", "webapp")
QUICK = ["transforms/votes.py"], ["tests/transforms/test_votes.py"]
WITHOUT = "not (browser or flink or airflow or model or tools)"
OF_VIEWS = (
    "tests/schemas",
    "tests/golden",
    "tests/pipelines/reports",
    "tests/pipelines/test_recall",
)
FIRST = 15.0
"""Seconds of tests that are run before the others: most mutants are caught by them."""
PATIENCE = 300  # seconds in which a mutant that hangs is stopped, which catches it


@dataclass(frozen=True)
class Tests:
    """Which test functions execute which line of a file, and how long each takes in seconds."""

    lines: Mapping[str, Mapping[str, Sequence[str]]]  # file → line → tests
    seconds: Mapping[str, float]

    def of(self, name: str, change: Change) -> list[str]:
        """Return the tests of a mistake, its own file's first, then the quickest.

        They are the tests that execute it, and those of its file. What is read at an import, as a
        constant, has all tests of its folder beside those that execute its file. A view has those
        of views and reports, first those in files that name it.
        """
        near = 0 if change.inside else 1
        if name.endswith(".sql"):
            tests = {test for test in self.seconds if test.startswith(OF_VIEWS)}
        else:
            first, last = (change.first, change.last) if change.inside else (0, sys.maxsize)
            by_line = self.lines.get(name, {})
            lines = [by_line[line] for line in by_line if first <= int(line) <= last]
            tests = {test for line in lines for test in line if test in self.seconds}
            tests |= {test for test in self.seconds if _distance(test, name) <= near}

        def order(test: str) -> tuple[int, float, str]:
            return min(near + 1, _distance(test, name)), self.seconds[test], test

        return sorted(tests, key=order)


def _distance(test: str, name: str) -> int:
    """Return how far a test is from a file of the product: 0 in the file of its tests, or in one
    that names its view, 1 in the folder of its tests, 2 elsewhere."""
    path = Path(name)
    if path.suffix == ".sql":
        return 0 if path.stem in _text_of(test.partition("::")[0]) else 1
    if test.startswith(f"tests/{path.parent}/test_{path.stem}"):
        return 0
    return 1 if test.startswith(f"tests/{path.parent}/") else 2


@cache
def _text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@dataclass
class Outcome:
    """A mutant, and what came of it: `caught_by` is the test that failed, or why nothing could."""

    name: str
    change: Change
    before: str
    caught_by: str | None = None
    tests: int = 0
    seconds: float = 0.0
    message: list[str] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        change = self.change
        return {
            "file": self.name,
            "line": change.line,
            "kind": change.kind,
            "before": self.before,
            "after": change.after,
            "tests": self.tests,
            "caught_by": self.caught_by,
        }


def changes_in(path: Path) -> list[Change]:
    """Return every mistake that can be made in a file."""
    text = path.read_text(encoding="utf-8")
    return sql_changes(text) if path.suffix == ".sql" else python_changes(text)


def drawn(folders: Sequence[str], number: int, seed: int) -> Iterator[tuple[str, Change]]:
    """Yield mutants, spread by lines over the folders: a file, and the mistake in it."""
    lines: dict[tuple[str, int], dict[str, list[Change]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders:
        top = ROOT / folder
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in (".py", ".sql"):
                name = path.relative_to(ROOT).as_posix()
                for change in changes_in(path):
                    lines[name, change.line][change.kind].append(change)
    chance = random.Random(seed)
    for name, line in chance.sample(sorted(lines), min(number, len(lines))):
        kinds = lines[name, line]
        yield name, chance.choice(kinds[chance.choice(sorted(kinds))])


def found_again(row: Mapping[str, Any]) -> list[tuple[str, Change]]:
    """Return the mutant of a row of the JSON where its code stands now; none where it is gone."""
    name, path = row["file"], ROOT / row["file"]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    same = [
        change
        for change in (changes_in(path) if text else [])
        if (change.kind, change.after) == (row["kind"], row["after"])
        and text[change.start : change.end] == row["before"]
    ]
    if not same:
        print(f"gone: {name}:{row['line']} {row['kind']}: {row['before']!r}", file=sys.stderr)
        return []
    return [(name, min(same, key=lambda change: abs(change.line - row["line"])))]


# --- which test executes which line ---------------------------------------------------------------

PLUG_IN = """
import json
import os

import coverage
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    measured = coverage.Coverage.current()
    if measured:
        measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if measured:
            measured.switch_context("")


def pytest_runtest_logreport(report):
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        with open(os.environ["TESTS_TIMED"], "a") as file:
            file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\\n")
"""
STARTED = "import coverage\n\ncoverage.process_startup()\n"
MEASURED = """
[run]
source = {code}
data_file = {folder}/data/.coverage
parallel = true
context = ${{PYTEST_CURRENT_TEST-}}
patch = _exit
omit =
    */tests/*
    */benchmarks/*
"""


def measured(code: Path, folder: Path, tests: Sequence[str], jobs: int) -> dict[str, Any]:
    """Run the tests once; return which of them execute which line, and their seconds.

    coverage.py is started in each process by a `sitecustomize` of a folder on PYTHONPATH, as it
    documents it. A test that fails without any mistake is left out, and named on stderr.
    """
    (folder / "data").mkdir()
    timed = folder / "timed"
    for name, text in (("sitecustomize.py", STARTED), ("which_test.py", PLUG_IN)):
        (folder / name).write_text(text, encoding="utf-8")
    settings = folder / "coveragerc"
    settings.write_text(MEASURED.format(code=code, folder=folder), encoding="utf-8")
    environment = of_copy(code, folder) | {
        "COVERAGE_PROCESS_START": str(settings),
        "TESTS_TIMED": str(timed),
    }
    words = ("-m", "pytest", "-q", "-p", "which_test", "-n", str(jobs), "-m", WITHOUT)
    more = ("--dist", "loadfile", "--ignore", "tests/benchmarks", "--ignore", "tests/scripts")
    command = [sys.executable, *words, *more, *tests]
    subprocess.run(command, cwd=code, env=environment, stdout=sys.stderr, check=False)

    seconds: Counter[str] = Counter()
    failed: set[str] = set()
    for line in timed.read_text(encoding="utf-8").splitlines():
        test, spent, outcome = json.loads(line)
        seconds[function(test)] += spent
        if outcome == "failed":
            failed.add(function(test))
    for test in sorted(failed):
        print(f"fails without any mistake, and is left out: {test}", file=sys.stderr)
        del seconds[test]
    return {"lines": lines_of(folder / "data", code), "seconds": dict(seconds)}


def lines_of(data: Path, code: Path) -> dict[str, dict[int, list[str]]]:
    """Return file → line → tests, of all that coverage.py wrote into a folder."""
    from coverage import CoverageData
    from coverage.exceptions import DataError

    tests_of: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in data.glob(".coverage.*"):
        part = CoverageData(basename=str(path))
        try:
            part.read()
        except DataError:  # of a process that was killed
            continue
        for file in part.measured_files():
            name = Path(file).resolve().relative_to(code.resolve()).as_posix()
            for line, contexts in part.contexts_by_lineno(file).items():
                tests_of[name][line] |= {function(test) for test in contexts if test}
    return {
        name: {line: sorted(tests) for line, tests in lines.items()}
        for name, lines in tests_of.items()
    }


def function(test: str) -> str:
    """Return a test without its parameters, and without what pytest says of its phase."""
    return test.partition("[")[0].partition(" (")[0]


# --- a mutant -------------------------------------------------------------------------------------


def of_copy(code: Path, *before: Path) -> dict[str, str]:
    """Return the environment in which a copy of the project is imported."""
    # Without what pytest tells the processes of a test, where this itself is tested.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = own | {
        "PYTHONPATH": os.pathsep.join(map(str, (*before, code))),
        "OPENBLAS_NUM_THREADS": "1",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.pop("CI", None)
    return environment


_TIMES = count(1_000_000_000)
"""A new time for each text of a file: Python takes a compiled file for current by its time."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.*?)(?: - (.*))?$", re.MULTILINE)


def write(path: Path, text: str) -> None:
    """Write a text that Python compiles anew."""
    path.write_text(text, encoding="utf-8")
    at = next(_TIMES)
    os.utime(path, (at, at))


# Tests are run in forks of a process that has imported what the product uses and not the product:
# that is half of the time of a short test.
FORKS = multiprocessing.get_context("forkserver")
USED = ["apache_beam", "duckdb", "faiss", "lxml.html", "numpy", "pyarrow.parquet", "tantivy"]


def run_tests(code: Path, tests: Sequence[str], printed: Path) -> None:
    """Run tests in a copy of the project until one fails, in a process that ends as pytest does."""
    with printed.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(code)
    os.environ.clear()
    os.environ.update(of_copy(code))
    sys.path.insert(0, str(code))
    sys.dont_write_bytecode = False  # else each process compiles all tests
    import pytest

    words = ("-qx", "-n0", "-p", "no:cacheprovider", "--timeout=120")
    sys.exit(int(pytest.main([*words, *tests])))


def portions(
    tests: Sequence[str], seconds: Mapping[str, float], most: float
) -> Iterator[list[str]]:
    """Yield the tests that are run first, and the rest of those that take `most` seconds."""
    portion: list[str] = []
    spent, ends = 0.0, min(FIRST, most)
    for test in tests:
        spent += seconds[test]
        if portion and spent > ends:
            yield portion
            if spent > most:
                return
            portion, ends = [], most
        portion.append(test)
    if portion:
        yield portion


def tried(outcome: Outcome, code: Path, tests: Tests, most: float) -> Outcome:
    """Test a mutant in a copy of the project."""
    path = code / outcome.name
    own = path.read_text(encoding="utf-8")
    began = time.monotonic()
    chosen = tests.of(outcome.name, outcome.change)
    write(path, outcome.change.applied(own))
    try:
        for portion in portions(chosen, tests.seconds, most):
            outcome.tests += len(portion)
            printed = code / "printed"
            process = FORKS.Process(target=run_tests, args=(code, portion, printed))
            process.start()
            process.join(PATIENCE)
            if process.exitcode is None:
                process.kill()
                process.join()
            if process.exitcode:
                text = printed.read_text(encoding="utf-8", errors="replace")
                if "(no match in any of" in text:
                    sys.exit(f"a test of --map is gone; make it anew:\n{text[-2000:]}")
                failed = _FAILED.search(text)
                outcome.caught_by = failed[1] if failed else f"pytest ended: {process.exitcode}"
                outcome.message = [line for line in text.splitlines() if line[:2] == "E "][:6]
                break
    finally:
        write(path, own)
    outcome.seconds = time.monotonic() - began
    return outcome


def copied(folder: Path) -> Path:
    """Copy what git knows of the project into a folder, and return it."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\n")):
        if (ROOT / name).exists() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def summary_of(outcome: Outcome) -> str:
    """Return what is printed of a mutant: the mistake, and which test caught it."""
    change = outcome.change
    before = ast.unparse(ast.Constant(outcome.before))
    caught = f"caught by {outcome.caught_by}" if outcome.caught_by else "SURVIVED"
    lines = [
        f"{outcome.name}:{change.line} {change.kind}: {before} → {change.after!r}",
        f"    {caught}, {outcome.tests} tests, {outcome.seconds:.0f} s",
    ]
    return "\n".join([*lines, *(f"    {line}" for line in outcome.message)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="or files (default: all)")
    parser.add_argument("--number", type=int, default=400, help="of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are tested at a time")
    parser.add_argument("--seconds", type=float, default=45, help="of tests, at most, for a mutant")
    parser.add_argument("--tests", nargs="*", default=[], help="only these (default: all)")
    parser.add_argument("--map", type=Path, metavar="FILE", help="which test executes which line")
    parser.add_argument("--only", type=Path, metavar="FILE", help="what survived, as JSON")
    parser.add_argument("--quick", action="store_true", help="three mutants of one small file")
    options = parser.parse_args()
    folders, tests, number = options.folders, options.tests, options.number
    if options.quick:
        (folders, tests), number = QUICK, 3
    FORKS.set_forkserver_preload(USED)
    if options.only:
        known = json.loads(options.only.read_text(encoding="utf-8"))["survived"]
        mutants = [mutant for row in known for mutant in found_again(row)]
    else:
        mutants = list(drawn(folders, number, options.seed))
    with tempfile.TemporaryDirectory() as temporary:
        copies: SimpleQueue[Path] = SimpleQueue()
        for at in range(options.jobs):
            copies.put(copied(Path(temporary, f"copy{at}")))
        if options.map and options.map.exists():
            known = json.loads(options.map.read_text(encoding="utf-8"))
        else:
            folder = Path(temporary, "measured")
            folder.mkdir()
            known = measured(Path(temporary, "copy0"), folder, tests, options.jobs + 1)
            known = json.loads(json.dumps(known))  # lines are text, as in a file
            if options.map:
                options.map.write_text(json.dumps(known), encoding="utf-8")
        by_line = Tests(known["lines"], known["seconds"])

        def outcome_of(mutant: tuple[str, Change]) -> Outcome:
            name, change = mutant
            before = (ROOT / name).read_text(encoding="utf-8")[change.start : change.end]
            code = copies.get()
            try:
                outcome = tried(Outcome(name, change, before), code, by_line, options.seconds)
            finally:
                copies.put(code)
            print(summary_of(outcome), file=sys.stderr, flush=True)
            return outcome

        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(outcome_of, mutants))
    print(json.dumps(result(outcomes, options.seed)))


def result(outcomes: Sequence[Outcome], seed: int) -> dict[str, Any]:
    """Return what is printed: counts by folder and kind, and each mutant that survived."""
    survived = [outcome for outcome in outcomes if not outcome.caught_by]
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        for counter in (folders[outcome.name.partition("/")[0]], kinds[outcome.change.kind]):
            counter["mutants"] += 1
            counter["caught"] += bool(outcome.caught_by)
    return {
        "seed": seed,
        "mutants": len(outcomes),
        "caught": len(outcomes) - len(survived),
        "folders": folders,
        "kinds": kinds,
        "survived": [outcome.row() for outcome in survived],
    }


if __name__ == "__main__":
    main()
