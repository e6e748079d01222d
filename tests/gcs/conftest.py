"""The public command with the extra `gcp`, in its own environment, against a local bucket.

`scripts/dataflow/setup` makes that environment, .ci/run calls it.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.gcs_server import Bucket, GcsServer

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("UFO_GCP_VENV", ROOT / ".venv-gcp")) / "bin/python"
REMEDY = f"the extra 'gcp' is not installed in {PYTHON.parents[1]}: run scripts/dataflow/setup"
CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi", "Bonn", "Perth"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def records(n: int = 20) -> list[dict[str, Any]]:
    """Responses whose claims the reference, only the index, or nobody knows."""
    return [
        {
            "id": f"r{number}",
            "response": f"{city} is a large city. {city} has 5 bridges. The trams are green.",
            "reference_answers": [f"{city} is a large city."],
        }
        for number, city in ((number, CITIES[number % len(CITIES)]) for number in range(n))
    ]


def as_lines(values: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


class Place:
    """A bucket `b`, a folder of this machine, and commands that see both.

    `ufo` runs one in the environment with the extra, `ufo_here` one in that of the tests.
    """

    def __init__(self, server: GcsServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.bucket: Bucket = server.bucket("b")
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.environment = {
            **os.environ,
            **server.variables(server.key_file(folder / "key.json")),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "TMPDIR": str(self.temporary),
            "PYTHONWARNINGS": "default",
        }

    def ufo(self, *words: object, **variables: str) -> Outcome:
        return self._run(PYTHON, words, variables)

    def ufo_here(self, *words: object, **variables: str) -> Outcome:
        return self._run(Path(sys.executable), words, variables)

    def _run(self, python: Path, words: tuple[object, ...], variables: dict[str, str]) -> Outcome:
        done = subprocess.run(
            [python, "-m", "ufo.pipelines.cli", *map(str, words)],
            cwd=ROOT,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def killed(self, method: str, pattern: str, *words: object) -> None:
        """Run a command that is killed, with all its processes, when it asks for such a thing."""
        process = subprocess.Popen(
            [PYTHON, "-m", "ufo.pipelines.cli", *map(str, words)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.server.at(method, pattern, lambda: os.killpg(process.pid, signal.SIGKILL))
        assert process.wait(120) == -signal.SIGKILL

    def put(self, folder: Path, prefix: str) -> None:
        """Copy a folder into the bucket."""
        for path in folder.rglob("*"):
            if path.is_file():
                self.bucket[f"{prefix}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()

    def get(self, prefix: str, folder: Path) -> None:
        """Copy what is below a prefix to a folder."""
        for name in self.bucket.names(f"{prefix}/"):
            path = folder / name.removeprefix(f"{prefix}/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.bucket[name])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Without the extra the tests are skipped and say so; in CI that is a failure."""
    if not PYTHON.exists():
        if os.environ.get("CI"):
            pytest.fail(REMEDY)
        pytest.skip(REMEDY)
    with GcsServer() as server:
        yield Place(server, tmp_path)


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that knows of each city's bridges."""
    from ufo.pipelines.cli import main

    folder = tmp_path_factory.mktemp("index")
    pages = [{"title": city, "text": f"{city} has 5 bridges."} for city in CITIES]
    (folder / "pages.jsonl").write_bytes(as_lines(pages))
    words = ["index", "build", "--input", folder / "pages.jsonl", "--output", folder / "index"]
    assert main([*map(str, words), "--workers", "1"]) == 0
    return folder / "index"
