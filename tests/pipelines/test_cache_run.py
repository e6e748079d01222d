"""Runs that find answers: warm, killed and resumed, sharing a cache, or with one that fails."""

from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import evaluation, ok, tables, ufo
from tests.pipelines.llm_runs import answers_kept, at, results

TOWNS = ["Aachen", "Bergen", "Cadiz", "Delft", "Evora", "Fulda", "Genoa", "Halle", "Izmir"]


def of_town(town: str) -> dict[str, Any]:
    claims = [f"{town} has a large harbour.", f"{town} lies in the north of Tuscany."]
    return {
        "id": town,
        "response": " ".join(claims),
        "claims": [{"claim": claim, "query": f"What of {claim}"} for claim in claims],
        "reference_answers": " ".join(f"{claim} It is known." for claim in claims),
    }


class Scene:
    """Nine responses in three chunks, each one call to a server that answers as a model would."""

    def __init__(self, folder: Path, server: LlmServer) -> None:
        self.folder, self.server = folder, server
        self.cache = folder / "cache.sqlite"

    def arguments(self, *flags: object, towns: int = 9) -> tuple[object, ...]:
        where = ("--chunk_size", 3, "--cache", self.cache)
        records = map(of_town, TOWNS[:towns])
        return evaluation(self.folder, records, *at(self.server, *where, *flags))


@pytest.fixture
def scene(tmp_path: Path, llm_server: LlmServer) -> Scene:
    return Scene(tmp_path, llm_server)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["cache.sqlite", "folder/"])
def test_a_warm_run_sends_nothing(scene: Scene, place: str) -> None:
    flags = ("--cache", f"{scene.folder}/{place}")
    ok(*scene.arguments(*flags))
    cold, sent = tables(scene.folder / "out"), len(scene.server.chats)
    ok(*scene.arguments(*flags, "--output", scene.folder / "again"))
    assert len(scene.server.chats) == sent  # the server is looked at, but not asked
    warm = tables(scene.folder / "again")
    # To the request that each judgement came with.
    assert warm["evidence"] == cold["evidence"]
    assert results(warm) == results(cold)
    assert len(warm["usage"]) == len(TOWNS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the nine responses give, and how many requests that takes beside the probe."""
    with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
        patch.setenv("OPENAI_API_KEY", server.key)
        scene = Scene(tmp_path_factory.mktemp("undisturbed"), server)
        ok(*scene.arguments("--cache", "off"))
        return results(tables(scene.folder / "out")), len(scene.server.chats) - 1


@pytest.mark.slow
def test_a_cache_that_cannot_be_and_a_damaged_one(scene: Scene, undisturbed: Any) -> None:
    (scene.folder / "file").write_text("")
    scene.cache.write_bytes(b"not a database " * 1000)
    for place, name in (
        (f"{scene.folder}/file/cache.sqlite", "cannot be opened, and the run continues without it"),
        (scene.cache, "was moved to"),
    ):
        done = ufo(*scene.arguments("--cache", place, "--output", scene.folder / name))
        assert done.code == 0
        assert done.err.count("the cache") == 1
        assert name in done.err
        assert results(tables(scene.folder / name)) == undisturbed[0]
    assert answers_kept(scene.cache) == undisturbed[1]


def test_a_read_only_cache_is_read(scene: Scene, undisturbed: Any) -> None:
    expected, _ = undisturbed
    ok(*scene.arguments(towns=6))
    lock = Path(f"{scene.cache}.lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()  # stands in for a folder without permission, also where tests run as root
    link = scene.folder / "link"  # another path, since this process has the cache open
    link.symlink_to(scene.folder, target_is_directory=True)
    before = len(scene.server.chats)
    again = ("--cache", f"{link}/cache.sqlite", "--output", scene.folder / "again")
    done = ok(*scene.arguments(*again))
    assert done.err.count("the cache") == 1, done.err
    assert "cannot be written" in done.err
    assert len(scene.server.chats) - before == 3
    assert results(tables(scene.folder / "again")) == expected
