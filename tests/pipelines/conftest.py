"""The public command, in this process or another one, and the tables that it wrote."""

import contextlib
import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import cases
from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import ENVIRONMENT, EXAMPLE, at
from ufo.pipelines.cli import main
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.tables import TABLES

Tables = dict[str, list[tuple[Any, ...]]]

# A user's own source, for every test that wants to know what was asked, to fail, or to be stopped
# at a known place. What it says of a claim is the claim, which any judge agrees to.
RECORDING = '''
import os
from ufo import FactSource, Passage

class Recording(FactSource):
    """Knows the claims with `word` in them; each that it is asked, with its process, goes to `log`.

    A claim with Oslo in it fails while the file `fails` is there; one with `waits` in it waits for
    the file `gate`.
    """

    def __init__(self, log: str, word: str = "", fails: str = "", waits: str = "", gate: str = ""):
        self.log, self.word, self.fails, self.waits, self.gate = log, word, fails, waits, gate

    def find(self, unit):
        import time
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{os.getpid()} {unit.claim}{chr(10)}".encode())
        os.close(descriptor)
        if self.waits and self.waits in unit.claim:
            while not os.path.exists(self.gate):
                time.sleep(0.01)
        if self.fails and os.path.exists(self.fails) and "Oslo" in unit.claim:
            raise OSError("the source is down")
        return [Passage(unit.claim)] if self.word in unit.claim else []
'''


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def ufo(*arguments: object) -> Outcome:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Outcome(code, out.getvalue(), err.getvalue())


def ends(code: int, *arguments: object) -> Outcome:
    """Run a command in this process that must end with this code."""
    done = ufo(*arguments)
    assert done.code == code, done
    return done


def ok(*arguments: object) -> Outcome:
    """Run a command in this process that must succeed."""
    return ends(0, *arguments)


def command(*arguments: object) -> list[str]:
    """The words that run a command as a user's shell would."""
    return [sys.executable, "-m", "ufo.pipelines.cli", *map(str, arguments)]


def ufo_process(*arguments: object, **options: Any) -> Outcome:
    """Run a command in a process of its own; `options` are those of subprocess.run."""
    done = subprocess.run(command(*arguments), capture_output=True, text=True, **options)
    return Outcome(done.returncode, done.stdout, done.stderr)


def settings_of(*words: str) -> Settings:
    """What these words of `ufo evaluate` set."""
    parser = Parser(prog="ufo evaluate")
    parser.add_options(GROUPS)
    return settings(Settings, parser, words)


def tables(output: str | Path, run: str | None = None) -> Tables:
    """The rows of every table of a run, sorted."""
    with open_results(output, run) as results:
        queries = {table: f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL" for table in TABLES}
        selected = {table: results.query(query) for table, query in queries.items()}
    return {
        table: [tuple(row.values()) for row in rows.to_pylist()] for table, rows in selected.items()
    }


def printed(*words: object) -> str:
    """What a command prints in 100 columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        return ok(*words).out


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Write records as JSON Lines; a text is a line as it is."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in records]
    path.write_text("\n".join(lines) + "\n")
    return path


def read_csv(path: Path) -> list[Any]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_csv(path: Path, rows: Sequence[Any], delimiter: str = ",", **columns: Any) -> Path:
    """Write rows as CSV, with these columns set to one value."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0] | columns], delimiter=delimiter)
        writer.writeheader()
        writer.writerows({**row, **columns} for row in rows)
    return path


def named_cases(path: Path) -> list[Any]:
    """Return the cases of a text table whose first column names them."""
    return [pytest.param(*cells, id=name) for name, *cells in cases(path)]


def evaluation(folder: Path, records: Iterable[Any], *flags: object) -> tuple[object, ...]:
    """The words that evaluate records by their references, into the folder `out`."""
    path = write_lines(folder / "in.jsonl", records)
    places = ("evaluate", "--input", path, "--output", folder / "out")
    return (*places, "--sources", "reference", "--workers", 1, *flags)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The type name of the recording source, for a configuration file."""
    path = tmp_path_factory.mktemp("plug-in") / "recording.py"
    path.write_text(RECORDING)
    return f"{path}:Recording"


CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi", "Bonn", "Perth"]
REFERENCE = "{0} is a large city. The river of {0} is long."


def city_records() -> list[dict[str, Any]]:
    """Twenty responses: claims that the reference, only the other source, or nobody knows."""
    return [
        {
            "id": f"r{number}",
            "model": f"m{number % 2}",
            "response": f"{city} is a large city. {city} has 5 bridges. {other} was founded in "
            f"{900 + number % 4}. The trams of {other} are green.",
            "reference_answers": [REFERENCE.format(city)] if number % 3 else [],
            "label": number % 5 / 4,
            "metadata": {"n": number},
        }
        for number in range(20)
        for city, other in [(CITIES[number % 8], CITIES[(number + 3) % 8])]
    ]


@pytest.fixture(scope="session")
def responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty responses in 22 lines, of which the 8th is not JSON and the last repeats an id."""
    records = city_records()
    lines = [*records[:7], "not json", *records[7:], records[3] | {"dataset": "again"}]
    return write_lines(tmp_path_factory.mktemp("input") / "in.jsonl", lines)


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that knows of each city's bridges, and of the year 901."""
    folder = tmp_path_factory.mktemp("index")
    text = "{0} has 5 bridges over its river. {0} was founded in 901. {0} has many parks."
    pages = [{"title": city, "text": text.format(city)} for city in CITIES]
    documents = write_lines(folder / "pages.jsonl", pages)
    assert ufo("index", "build", "--input", documents, "--output", folder / "index").code == 0
    return folder / "index"


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has in its environment."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    """A local OpenAI endpoint; tests of one file share it."""
    with LlmServer() as running:
        yield running


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six responses with facts that the reference, the index, the model or nobody settles."""
    return write_lines(tmp_path_factory.mktemp("few") / "few.jsonl", city_records()[:6])


@pytest.fixture
def recall(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Runs the command with the models at the server."""
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    server.requests.clear()

    def run(output: Path, *flags: object, source: Path = EXAMPLE, code: int = 0) -> Outcome:
        words = ("recall", "--input", source, "--output", output)
        return ends(code, *words, *at(server, *flags))

    return run


TWO = [
    {"id": "a", "response": "Oslo is large.", "reference_answers": "They say Oslo is large."},
    {"id": "b", "response": "Rome is large.", "reference_answers": "Oslo is quite small."},
]


@pytest.fixture
def two_responses(tmp_path: Path) -> tuple[object, ...]:
    """The words of a command over two responses with a reference."""
    return evaluation(tmp_path, TWO)
