"""Part files and manifests that are not what was written: found, named, evaluated again."""

import json
import shutil
from pathlib import Path

import pytest

from tests.pipelines.cities import Scene
from tests.pipelines.conftest import ends, evaluation, ok, ufo


def flip(path: Path, at: int, n: int = 1) -> None:
    """Change bytes of a file, as a bad disk does."""
    data = bytearray(path.read_bytes())
    for place in range(at, at + n):
        data[place] ^= 0xFF
    path.write_bytes(data)


def part_of(run: Path, table: str) -> Path:
    return sorted((run / table).glob("*.parquet"))[1]


REMEDY = "evaluate its run again, or remove the run's folder"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, recording: str) -> Scene:
    """A finished run."""
    scene = Scene(tmp_path_factory.mktemp("whole"), recording)
    scene.gate.touch()
    ok(*scene.arguments())
    return scene


@pytest.fixture
def finished(whole: Scene, tmp_path: Path) -> Path:
    """A copy of its folder, to be damaged."""
    return Path(shutil.copytree(whole.output, tmp_path / "out"))


def test_bytes_that_are_read_as_other_values_are_found_by_the_check(
    finished: Path, whole: Scene
) -> None:
    assert "check every part file is what was written" in ok("status", finished, "--check").out
    path = part_of(finished / "run=r", "responses")
    flip(path, 12, 2)
    done = ufo("status", finished, "--check")
    assert done.code == 1
    assert "r  damaged" in done.out
    told = f"{str(path)!r} is damaged: it is not what was written, by its checksum"
    assert told in done.err
    assert REMEDY in done.err
    assert ufo("status", finished, "--check", "--json").json[0]["state"] == "damaged"
    assert told in ends(1, *whole.arguments("--output", finished, "--run", "s", "--since", "r")).err
    path.unlink()
    assert f"{str(path)!r} is damaged: " in ufo("status", finished, "--check").err


@pytest.mark.parametrize(
    ("checksums", "cut"),
    [(True, "end"), (False, "pages")],
    ids=["cut off at its end", "without checksums, in its pages"],
)
def test_what_cannot_be_read_is_named_by_whoever_reads_it(
    finished: Path, cut: str, checksums: bool
) -> None:
    if not checksums:
        manifest = finished / "run=r" / "manifest.json"
        found = json.loads(manifest.read_text())
        for entry in found["tables"].values():
            del entry["sha256"]
        manifest.write_text(json.dumps(found))
        assert "check cannot be verified" in ufo("status", finished, "--check").out
    path = part_of(finished / "run=r", "verdicts")
    size = path.stat().st_size
    flip(path, *((size - 6, 2) if cut == "end" else (4, size // 2)))
    for command, *words in (("report",), ("sql", "SELECT * FROM verdicts"), ("status", "--check")):
        done = ufo(command, finished, *words)
        assert done.code == 1, (command, done)
        assert "Traceback" not in done.err, (command, done)
        assert f"{str(path)!r} is damaged: " in done.err
        assert REMEDY in done.err


# --- `ufo status` on runs that are finished, running, killed, and of before it was there.


def test_a_password_in_an_address_is_refused_and_neither_kept_nor_shown(tmp_path: Path) -> None:
    record = {"response": "Oslo is large.", "claims": [{"claim": "Oslo is large."}]}
    address = "http://me:geheim@127.0.0.1:1/v1"
    llm = ("--judge", "llm", "--base_url", address, "--model", "m", "--sources", "llm")
    done = ends(2, *evaluation(tmp_path, [record], *llm))
    assert "holds a user name or password" in done.err
    assert "geheim" not in done.err
    # What a run keeps of its command has neither: runs/test_attempt.py.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["in.jsonl"]
