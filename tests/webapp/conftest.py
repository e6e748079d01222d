"""The service over real HTTP on loopback, with the runs and the index that its tests need."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from ufo.pipelines.build_index import build
from ufo.pipelines.commands.serve import setup
from ufo.transforms.sources.fact_source import FactSource
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.server import serve_in_thread
from ufo.webapp.service import Setup

PAGES = [
    {"title": "Oslo", "text": "Oslo is the capital of Norway. Oslo was founded in 1049."},
    {"title": "Lima", "text": "Lima is the capital of Peru. Lima lies on the Pacific coast."},
]
VOTES = {
    "r1": {"u1": {"ref": "s", "wiki": "ss"}, "u2": {"ref": "-", "wiki": "sr"}},
    "r2": {"u3": {"ref": "r", "wiki": "n"}, "u4": {"ref": "n", "wiki": "ne"}},
    "a/b ü?": {"u5": {"ref": "ss", "wiki": "s"}},
    "empty": {},
}


@dataclass(frozen=True)
class Event:
    """An event of a stream."""

    name: str
    data: Any


def events(response: httpx.Response) -> list[Event]:
    """All events of a stream, which has to end."""
    return list(read_events(response.text.splitlines()))


def read_events(lines: Iterator[str] | Sequence[str]) -> Iterator[Event]:
    """The events in the lines of a stream, as they come."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield Event(name, json.loads(line.removeprefix("data: ")))


@contextmanager
def opened(service_setup: Setup) -> Iterator[httpx.Client]:
    """Serve a set-up, and give a client of it."""
    with (
        serve_in_thread(service_setup) as url,
        httpx.Client(base_url=url, timeout=120, trust_env=False) as client,
    ):
        yield client


@contextmanager
def command(*words: object) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """`ufo serve` in a process of its own, and a client of it; Ctrl-C ends it."""
    started = [sys.executable, "-m", "ufo.pipelines.cli", "serve", "--port", "0", *map(str, words)]
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split("serving at ")[1].split()[0]
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            yield process, client
        process.send_signal(signal.SIGINT)
        process.stderr.read()


def leave_upload(results: Path, text: str) -> str:
    """Leave an upload of a service that was killed, and return its name."""
    folder = results / ".uploads" / "0123456789abcdef"
    (folder / "input").mkdir(parents=True)
    (folder / "input" / "mine").write_text(text)
    left: dict[str, Any] = {"id": folder.name, "name": "mine", "state": "running"}
    left |= {"exit_code": None, "done": 0, "total": len(text.splitlines()), "log": []}
    flags = ["--sources=reference", "--judge=offline", "--workers=1"]
    (folder / "status.json").write_text(json.dumps(left | {"flags": flags}))
    return folder.name


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two small pages."""
    folder = tmp_path_factory.mktemp("web-index")
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    return build([folder / "pages.jsonl"], folder / "index").path


@pytest.fixture(scope="session")
def results(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Path:
    """Two runs: `older` of mode all, and `newer` of mode seq."""
    folder = tmp_path_factory.mktemp("web-results")
    models = {"r1": "m1", "r2": "m2", "a/b ü?": "m1"}
    rows = rows_of(VOTES, mode="all", models=models, datasets={"r1": "d1"})
    rows["responses"] = [
        replace(row, question="What of it?") if row.response_id != "empty" else row
        for row in rows["responses"]
    ]
    write_run(folder, rows, "older", mode="all", finished_at="2025-01-01T00:00:00+00:00")
    write_run(folder, rows_of({"x": {"u": {"ref": "s"}}}, sources=("ref",)), "newer")
    return folder


@pytest.fixture(scope="session")
def base(results: Path, index: Path) -> Setup:
    """The set-up of a service over these runs, as the command makes it; the judge is offline."""
    service_setup = setup(str(results), str(index), flags={"judge": "offline"})
    return replace(service_setup, limits=ServiceLimits(1 << 20, 1 << 20, 60_000, 60_000))


@pytest.fixture(scope="session")
def client(base: Setup) -> Iterator[httpx.Client]:
    """A client of the service."""
    with opened(base) as client:
        yield client


@pytest.fixture(scope="session")
def with_source(base: Setup) -> Callable[[FactSource], Setup]:
    """A set-up whose every job asks this one source."""

    def setup_with(source: FactSource, **changes: Any) -> Setup:
        source.name = "own"
        return replace(base, sources=[source], **changes)

    return setup_with
