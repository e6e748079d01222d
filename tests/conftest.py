"""Run folders for tests of what reads them: tables written as Parquet under a manifest."""

import gc
import json
import os
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import hypothesis
import pyarrow.parquet as pq
import pytest

from ufo.schemas import records
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED, Evidence, Response
from ufo.schemas.tables import TABLES, to_arrow
from ufo.transforms.votes import tally, verdicts

# A shell that starts us with `&` has us ignore Ctrl-C, and what tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Helper modules (tests.llm_server) are imported by their names.
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.flink.cluster import cluster as cluster
from tests.parts import MARKERS, PATIENCE, missing

# Every run draws the same examples, however slow the machine is that draws them;
# --hypothesis-profile=fresh draws new ones, as a step of CI does.
_PATIENT: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}
_PROFILES: dict[str, dict[str, Any]] = {
    "same": {"max_examples": 30, "derandomize": True},
    "fresh": {"max_examples": 50, "print_blob": True},
}
for _name, _settings in _PROFILES.items():
    hypothesis.settings.register_profile(_name, **_PATIENT, **_settings)
hypothesis.settings.load_profile("same")

# Files are given out in this order, the longest first, so that the processes end at the same time.
_FIRST = (
    "tests/flink",
    "tests/airflow",
    "tests/local_model",
    "tests/webapp/browser",
    "tests/hub",
    "tests/dataflow",
    "tests/test_packaging",
    "tests/examples",
    "tests/benchmarks",
    "tests/pipelines/test_",
    "tests/pipelines",
    "tests/webapp",
    "tests/test_ufo",
)
_ON_FLINK = ("tests/flink", "tests/airflow/test_beam_operator")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--screenshots", metavar="DIR", help="take screenshots of the page, and keep them here"
    )
    parser.addoption(
        "--write-notebooks",
        action="store_true",
        help="keep what the notebooks of the examples show, in place of comparing it",
    )


def pytest_unconfigure() -> None:
    # hypothesis leaves a callback with the garbage collector. Through it modules are still in use
    # when the interpreter ends, and DuckDB prints sixty lines on what it takes for leaks.
    gc.callbacks.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in MARKERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKERS[name])
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    """Return where a test stands in the order of files."""
    places = (at for at, prefix in enumerate(_FIRST) if item.nodeid.startswith(prefix))
    return next(places, len(_FIRST))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print, with --durations, the seconds that the tests of each folder took."""
    seconds: dict[str, float] = defaultdict(float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            seconds["/".join(report.nodeid.partition("::")[0].split("/")[:-1][:3])] += (
                report.duration
            )
    if config.getoption("durations"):
        terminalreporter.section("seconds of each folder")
        for folder, spent in sorted(seconds.items(), key=lambda pair: -pair[1]):
            terminalreporter.line(f"{spent:7.1f}  {folder}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests of a file to one process, and those of the one Flink too."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return "on Flink" if file.startswith(_ON_FLINK) else file

    return Scheduling(config, log)


# unit → source → one letter a passage: supported, refuted, noans, error; "-" for no passage at all.
Votes = Mapping[str, Mapping[str, str]]
Rows = dict[str, list[Any]]

_OUTCOMES = {"s": SUPPORTED, "r": REFUTED, "n": NOANS, "e": ERROR, "-": NOANS}
_LABELS = {SUPPORTED: 1, REFUTED: 0}
NOTHING: Mapping[str, Any] = {}


def blank(kind: Any, **fields: Any) -> Any:
    """Return a record with these fields, and with nothing in the others."""
    return kind(**dict.fromkeys(kind.__dataclass_fields__) | fields)


def _evidence(response_id: str, unit_id: str, source: str, letter: str, rank: int) -> Evidence:
    outcome = _OUTCOMES[letter]
    columns: dict[str, Any] = {"reason": records.NO_PASSAGES}
    if letter != "-":
        columns = {
            "passage_id": f"{source}:{response_id}-{unit_id}-{rank}",
            "rank": rank,
            "retrieval_score": 1.0 / (rank + 1),
            "reason": records.TRANSPORT if outcome == ERROR else None,
            "rationale": f"{source} {outcome} {unit_id}",
            "citation": f"what {source} says of {unit_id}",
            "citation_found": True,
        }
    columns |= {"outcome": outcome, "label": _LABELS.get(outcome), "judge": "offline"}
    return blank(Evidence, response_id=response_id, unit_id=unit_id, source=source, **columns)


def rows_of(
    votes: Mapping[str, Votes],
    sources: Sequence[str] = ("ref", "wiki"),
    mode: str = "seq",
    tie: str = "not_factual",
    models: Mapping[str, str] = NOTHING,
    datasets: Mapping[str, str] = NOTHING,
    questions: Mapping[str, str] = NOTHING,
    scores: Mapping[str, float | None] = NOTHING,
    labels: Mapping[str, int | None] = NOTHING,
) -> Rows:
    """Return the rows of a run: response → unit → source → votes; each unit is one sentence.

    Models, datasets, questions and people's scores are by response, people's labels by unit.
    """
    rows: Rows = {table: [] for table in TABLES}
    rows["sources"] = [
        records.SourceStatus(position, source, "test", "used", None, "{}")
        for position, source in enumerate(sources)
    ]
    for response_id, units in votes.items():
        rows["responses"].append(
            blank(
                Response,
                response_id=response_id,
                model=models.get(response_id),
                dataset=datasets.get(response_id),
                question=questions.get(response_id, f"What of {response_id}?"),
                text=f"Text of {response_id}.",
                n_references=0,
                human_score=scores.get(response_id),
            )
        )
        for index, (unit_id, by_source) in enumerate(units.items()):
            at, text = index * 10, f"S {unit_id}."
            sentence = records.Sentence(response_id, index, at, at + 9, text, 1, None)
            texts = f"Claim {unit_id}.", f"Q {unit_id}?"
            unit = records.FactUnit(response_id, unit_id, index, *texts, labels.get(unit_id))
            rows["sentences"].append(sentence)
            rows["fact_units"].append(unit)
            evidence = {
                source: [
                    _evidence(response_id, unit_id, source, letter, rank)
                    for rank, letter in enumerate(by_source[source])
                ]
                for source in sources
                if source in by_source
            }
            rows["verdicts"] += verdicts(
                response_id,
                [
                    tally(unit_id, source, evidence_rows)
                    for source, evidence_rows in evidence.items()
                ],
                mode,
                tie,
            )
            evidence_rows = [row for one in evidence.values() for row in one]
            rows["evidence"] += evidence_rows
            rows["passages"] += [
                records.Passage(
                    text=f"Passage {row.passage_id}.",
                    title=f"Page {row.unit_id}",
                    source_category="wiki" if row.source == "wiki" else None,
                    source=row.source,
                    passage_id=row.passage_id,
                )
                for row in evidence_rows
                if row.passage_id
            ]
    return rows


def write_run(
    directory: Path,
    rows: Rows,
    name: str = "r1",
    mode: str = "seq",
    tie: str = "not_factual",
    finished_at: str = "2025-06-01T12:00:00+00:00",
    parts: int = 1,
    **changes: Any,
) -> Path:
    """Write a finished run and return its folder; `changes` replace entries of the manifest."""
    folder = directory / f"run={name}"
    tables: dict[str, Any] = {}
    for table in TABLES:
        (folder / table).mkdir(parents=True)
        files = []
        for part in range(parts):
            file = f"{table}/part-{part:05d}.parquet"
            pq.write_table(to_arrow(table, rows[table][part::parts]), folder / file)
            files.append(file)
        tables[table] = {"rows": len(rows[table]), "files": files}
    manifest = {
        "format": "ufo-run",
        "schema_version": 1,
        "ufo_version": "0.1.0",
        "run": name,
        "attempt": "a1",
        "finished_at": finished_at,
        "mode": mode,
        "sources": [row.source for row in rows["sources"]],
        "tie": tie,
        "judge": "offline",
        "fingerprint": {},
        "counts": {
            "responses": len(rows["responses"]),
            "units": len(rows["fact_units"]),
            "failures": len(rows["failures"]),
        },
        "tables": tables,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest | changes), encoding="utf-8")
    return folder


@pytest.fixture(name="rows_of", scope="session")
def _rows_of() -> Callable[..., Rows]:
    return rows_of


@pytest.fixture(name="write_run", scope="session")
def _write_run() -> Callable[..., Path]:
    return write_run


@pytest.fixture(autouse=True, scope="session")
def _plain() -> Iterator[None]:
    """Keep the user's cache out of the tests, and pandas out of the processes that they start: Beam
    imports it where it is, which takes half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UFO_CACHE", "off")
        patch.setenv("PYTHONPATH", str(Path(__file__).parent / "no_pandas"), prepend=os.pathsep)
        yield


@pytest.fixture
def llm_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A local OpenAI endpoint, its key in the environment; see tests/llm_server."""
    from tests.llm_server import LlmServer

    with LlmServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        yield server


# The first is without a browser's window and its menus, and takes 40 % less of the processor.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync"""


# One a file, not one a session: while Playwright is open its event loop runs in this thread, and a
# later file's `asyncio.run` would be refused.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium, driven by Playwright."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        missing("no Chromium on PATH; on Debian and Ubuntu: apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=_ARGUMENTS.split())
        yield browser
        browser.close()
