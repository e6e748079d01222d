"""Part files and manifests that are not what was written: found, named, evaluated again."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.pipelines.cities import Scene, end
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


@pytest.mark.slow
@pytest.mark.parametrize("what", ["responses-00000.parquet", "done.json", "nothing"])
def test_a_resume_evaluates_a_damaged_chunk_again(
    whole: Scene, tmp_path: Path, recording: str, what: str
) -> None:
    scene = Scene(tmp_path, recording)
    end(scene.start(), signal.SIGKILL)
    for path in scene.run.glob(f".attempt-*/chunks/00000/{what}"):
        flip(path, path.stat().st_size // 2)
    scene.gate.touch()
    done = ok(*scene.arguments())
    said = f"{what}' is damaged; what it is a part of is evaluated again"
    assert (said in done.err) == (what != "nothing")
    assert scene.tables() == whole.tables()


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


@pytest.mark.parametrize(
    "manifest", ["{", "{}", "5"], ids=["no JSON", "without entries", "another type"]
)
def test_a_damaged_manifest_is_reported_by_whoever_reads_it(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "out/run=r"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(manifest)
    (found,) = ufo("status", tmp_path / "out", "--json").json
    assert found["state"] == "damaged"
    assert "remove" in found["next"]
    shown = ufo("status", tmp_path / "out")
    assert shown.code == 1
    assert "r  damaged" in shown.out
    assert found["next"] in shown.err
    for flags in (("--run", "r"), ("--run", "s", "--since", "r")):
        done = ufo(*evaluation(tmp_path, [{"response": "Oslo is a city."}], *flags))
        assert done.code == 1
        assert f"remove {str(folder)!r}" in done.err


def test_nothing_there(tmp_path: Path) -> None:
    assert "no run in" in ufo("status", tmp_path).out
