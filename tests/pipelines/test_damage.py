"""Part files and manifests that are not what was written: found, named, evaluated again."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.pipelines.conftest import ok, tables, ufo, ufo_process, write_lines

CITIES = ["Rome", "Bonn", "Oslo", "Lima", "Perth", "Quito"]
DYING = """
import os, signal
from ufo import FactSource, Passage

class Dying(FactSource):
    "Ends its process at Lima, which is in the second chunk, while the file `fatal` is there."

    def __init__(self, fatal: str):
        self.fatal = fatal

    def find(self, unit):
        if "Lima" in unit.claim and os.path.exists(self.fatal):
            os.kill(os.getpid(), signal.SIGKILL)
        return [Passage(unit.claim)]
"""


def flip(path: Path, at: int, n: int = 1) -> None:
    """Change bytes of a file, as a bad disk does."""
    data = bytearray(path.read_bytes())
    for place in range(at, at + n):
        data[place] ^= 0xFF
    path.write_bytes(data)


def part_of(run: Path, table: str) -> Path:
    return sorted((run / table).glob("*.parquet"))[1]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Six responses in three chunks; the second one ends the process where `fatal` is there."""
    folder = tmp_path_factory.mktemp("damage")
    (folder / "dying.py").write_text(DYING)
    lines = [{"id": city, "response": f"{city} is a large city."} for city in CITIES]
    fatal = folder / "fatal"
    source = {"name": "mine", "type": f"{folder / 'dying.py'}:Dying", "fatal": str(fatal)}
    options = {"sources": [source], "judge": "offline", "chunk_size": 2, "workers": 1, "run": "r"}
    (folder / "ufo.yaml").write_text(json.dumps(options))
    path = write_lines(folder / "in.jsonl", lines)
    return ["evaluate", "--config", folder / "ufo.yaml", "--input", path, "--output"]


@pytest.fixture(scope="module")
def whole(arguments: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run."""
    output = tmp_path_factory.mktemp("whole")
    ok(*arguments, output)
    return output


@pytest.fixture
def finished(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


@pytest.mark.parametrize("what", ["responses-00000.parquet", "done.json", "nothing"])
def test_a_resume_evaluates_a_damaged_chunk_again(
    arguments: list[object], whole: Path, tmp_path: Path, what: str
) -> None:
    fatal = Path(str(arguments[2])).parent / "fatal"
    fatal.touch()
    assert ufo_process(*arguments, tmp_path).code == -signal.SIGKILL
    fatal.unlink()
    for path in tmp_path.glob(f"run=r/.attempt-*/chunks/00000/{what}"):
        flip(path, path.stat().st_size // 2)
    done = ok(*arguments, tmp_path)
    assert (f"{what}' is damaged; what it is a part of is evaluated again" in done.err) == (
        what != "nothing"
    )
    assert tables(tmp_path) == tables(whole)


def test_bytes_that_are_read_as_other_values_are_found_by_the_check(
    finished: Path, arguments: list[object]
) -> None:
    before = ok("status", finished, "--check")
    assert "check every part file is what was written" in before.out
    path = part_of(finished / "run=r", "responses")
    flip(path, 12, 2)
    done = ufo("status", finished, "--check")
    assert (done.code, "r  damaged" in done.out) == (1, True)
    told = f"{str(path)!r} is damaged: it is not what was written, by its checksum"
    assert told in done.err
    assert "evaluate its run again, or remove the run's folder" in done.err
    assert ufo("status", finished, "--check", "--json").json[0]["state"] == "damaged"
    reused = ufo(*arguments, finished, "--run", "s", "--since", "r")
    assert (reused.code, told in reused.err) == (1, True)
    path.unlink()
    assert f"{str(path)!r} is damaged: " in ufo("status", finished, "--check").err


@pytest.mark.parametrize(("checksums", "cut"), [(True, "end"), (False, "pages")])
def test_what_cannot_be_read_is_named_by_whoever_reads_it(
    finished: Path, cut: str, checksums: bool
) -> None:
    manifest = finished / "run=r" / "manifest.json"
    if not checksums:
        found = json.loads(manifest.read_text())
        for entry in found["tables"].values():
            del entry["sha256"]
        manifest.write_text(json.dumps(found))
        assert "check cannot be verified" in ufo("status", finished, "--check").out
    path = part_of(finished / "run=r", "verdicts")
    size = path.stat().st_size
    flip(path, *((size - 6, 2) if cut == "end" else (4, size // 2)))
    for command in (
        ("report", finished),
        ("sql", finished, "SELECT * FROM verdicts"),
        ("status", finished, "--check"),
    ):
        done = ufo(*command)
        assert done.code == 1, (command, done)
        assert f"{str(path)!r} is damaged: " in done.err
        assert "evaluate its run again, or remove the run's folder" in done.err
        assert "Traceback" not in done.err


# --- `ufo status` on runs that are finished, running, killed, and of before it was there.


def test_a_password_in_an_address_is_not_kept(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text('{"response": "Oslo is large.", "claims": [{"claim": "Oslo is large."}]}\n')
    address = "http://me:geheim@127.0.0.1:1/v1?key=geheim"
    words = ("--input", given, "--output", tmp_path / "out", "--judge", "llm")
    llm = ("--base_url", address, "--model", "m", "--retry_seconds", 0, "--run", "r")
    ufo_process("evaluate", *words, *llm, "--sources", "llm")
    notes = list((tmp_path / "out").rglob("process.json"))
    assert all("geheim" not in note.read_text() for note in notes)


@pytest.mark.parametrize("manifest", ["{", "{}", "5"])
def test_a_damaged_manifest_is_reported_by_whoever_reads_it(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "run=r"
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest)
    (found,) = ufo("status", tmp_path, "--json").json
    assert found["state"] == "damaged"
    assert "remove" in found["next"]
    shown = ufo("status", tmp_path)
    assert shown.code == 1
    assert "r  damaged" in shown.out
    assert found["next"] in shown.err
    given = write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is a city."}])
    for flags in (["--run", "r"], ["--run", "s", "--since", "r"]):
        done = ufo("evaluate", "--input", given, "--output", tmp_path, "--workers", 1, *flags)
        assert done.code == 1
        assert f"remove {str(folder)!r}" in done.err


def test_nothing_there(tmp_path: Path) -> None:
    assert "no run in" in ufo("status", tmp_path).out
