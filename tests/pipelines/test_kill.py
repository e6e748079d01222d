"""`kill -9` at eight moments of a run, then the same command: nothing lost, nothing asked twice.

The moments are drawn by a seed and spread over the run: at a request, before and after its answer
is kept, and at the files of finished chunks and of the end.
"""

import json
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import evaluation, ok, tables
from tests.pipelines.killed import AFTER, BEFORE, DELETION, FILE, kill, started
from tests.pipelines.llm_runs import answers_kept, at, results

ASKED = "at a request"
TOWNS = ["Aachen", "Bergen", "Cadiz", "Delft", "Evora", "Fulda"]
REQUESTS = 26  # of an undisturbed run: 2 probes, 6 extractions, 9 queries, 9 verifications
FILES = 24
CLEANED_UP = 4  # the deletion after those of the folders of three chunks


def _moments() -> Iterator[tuple[str, int]]:
    chance = random.Random(2025)
    for kind, most in ((ASKED, REQUESTS), (BEFORE, 20), (AFTER, 20), (FILE, FILES)):
        for part in range(2):
            yield kind, 1 + int((part + chance.random()) * most / 2)


RECORDS = [
    {
        "id": town,
        "response": f"{town} has {n + 3} bridges. {town} was founded in {900 + n}.",
        "reference_answers": f"{town} has {n + 3} bridges." if n % 2 else [],
    }
    for n, town in enumerate(TOWNS)
]


class Scene:
    """Six responses in three chunks: what the reference does not settle, a model is asked for."""

    def __init__(self, folder: Path, server: LlmServer) -> None:
        self.folder = folder
        self.server = server
        self.cache = folder / "cache.sqlite"
        prices = folder / "prices.yaml"
        prices.write_text(json.dumps({"offline-judge": {"input": 10.0, "output": 40.0}}))
        flags = at(server, "--sources", "reference,llm", "--samples", 1, "--cache", self.cache)
        more = ("--run", "r", "--chunk_size", 2, "--concurrency", 1, "--prices", prices)
        self.arguments = evaluation(folder, RECORDS, *flags, *more)

    def killed_at(self, kind: str, number: int) -> bool:
        """Start the command and kill it at that moment; tells whether it got there."""
        process = started(self.arguments, kind if kind != ASKED else "", number)
        if kind == ASKED:
            self.server.mix = _KillAt(number, process)  # type: ignore[assignment]
        process.join(60)
        self.server.mix = None
        assert process.exitcode in (0, -signal.SIGKILL)
        return bool(process.exitcode)

    def asked(self) -> int:
        """How many requests came until now, probes apart."""
        return sum(entry.step != "probe" for entry in self.server.chats)


class _KillAt:
    """Kills a process when the n-th request has come to the server."""

    def __init__(self, number: int, process: Any) -> None:
        self.left, self.process = number, process

    def next(self, body: bytes) -> None:
        self.left -= 1
        if not self.left:
            kill(self.process)


def paid(scene: Scene) -> int:
    """Requests of the run that were answered, by its view `cost`."""
    rows = ok("report", scene.folder / "out", "cost", "--json").json
    return sum(row["n_requests"] - row["n_failed"] for row in rows)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
        patch.setenv("OPENAI_API_KEY", server.key)
        scene = Scene(tmp_path_factory.mktemp("undisturbed"), server)
        ok(*scene.arguments)
        assert len(server.chats) == REQUESTS
        return results(tables(scene.folder / "out")), scene.asked()


@pytest.mark.parametrize(("kind", "number"), list(_moments()))
def test_nothing_is_lost_and_nothing_asked_twice(
    tmp_path: Path, undisturbed: Any, llm_server: LlmServer, kind: str, number: int
) -> None:
    expected, needed = undisturbed
    scene = Scene(tmp_path, llm_server)
    assert scene.killed_at(kind, number)
    kept, before, sent = answers_kept(scene.cache), scene.asked(), len(llm_server.chats)
    if kind == ASKED:
        assert sent == number
    ok(*scene.arguments)
    assert scene.asked() - before == needed - kept
    assert results(tables(tmp_path / "out")) == expected
    # A request that was under way when the process ended is the one that nobody can tell of.
    unheard = len(llm_server.chats) - paid(scene)
    assert unheard == 1 if kind == ASKED else 0 <= unheard <= 1


@pytest.mark.parametrize("emptied", [False, True], ids=["whole attempt", "emptied attempt"])
def test_a_run_that_was_killed_after_its_manifest_is_not_evaluated_again(
    tmp_path: Path, undisturbed: Any, llm_server: LlmServer, emptied: bool
) -> None:
    scene = Scene(tmp_path, llm_server)
    assert scene.killed_at(DELETION, CLEANED_UP)
    (attempt,) = (tmp_path / "out" / "run=r").glob(".attempt-*")
    if emptied:
        shutil.rmtree(attempt)
        attempt.mkdir()
    scene.cache.unlink()
    assert "was finished when its command was stopped" in ok(*scene.arguments).err
    assert not attempt.exists()
    assert paid(scene) == len(llm_server.chats) == REQUESTS
    assert results(tables(tmp_path / "out")) == undisturbed[0]
    # The command after that evaluates it anew, as ever.
    ok(*scene.arguments)
    assert len(llm_server.chats) == 2 * REQUESTS


@pytest.mark.parametrize("more", [("--fresh",), ("--tie", "factual")], ids=["fresh", "other"])
def test_another_command_evaluates_a_run_that_was_killed_after_its_manifest(
    tmp_path: Path, llm_server: LlmServer, more: tuple[str, ...]
) -> None:
    scene = Scene(tmp_path, llm_server)
    assert scene.killed_at(DELETION, CLEANED_UP)
    scene.cache.unlink()
    ok(*scene.arguments, *more)
    assert len(llm_server.chats) == 2 * REQUESTS
