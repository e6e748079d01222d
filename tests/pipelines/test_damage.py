"""Part files and manifests that are not what was written: found, named, evaluated again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipelines.cities import Scene
from tests.pipelines.conftest import ends, evaluation, ok, ufo
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.finish import finish, move_in, ready_to_move
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.run_folders import choose_runs
from ufo.schemas.tables import register_part, to_arrow, write_part


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
    message = f"{str(path)!r} is damaged: it is not what was written, by its checksum"
    assert message in done.err
    assert REMEDY in done.err
    assert ufo("status", finished, "--check", "--json").json[0]["state"] == "damaged"
    assert (
        message in ends(1, *whole.arguments("--output", finished, "--run", "s", "--since", "r")).err
    )
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
        entries = json.loads(manifest.read_text())
        for entry in entries["tables"].values():
            del entry["sha256"]
        entries = {
            name: value for name, value in entries.items() if name not in ("state", "checksum")
        }
        manifest.write_text(json.dumps(entries))
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


def read_with_a_flip(path: Path, read: Callable[[], object]) -> list[int]:
    """Flip a bit of each byte of a file in turn; return the bytes with which `read` reads it.

    schemas/test_state_files.py flips more bits.
    """
    whole = path.read_bytes()
    unnoticed = []
    for at, byte in enumerate(whole):
        bit = (0, 3, 7)[at % 3]
        path.write_bytes(whole[:at] + bytes([byte ^ 1 << bit]) + whole[at + 1 :])
        try:
            read()
        except RunError as error:
            named = str(path) in error.message
        else:
            named = False
        if not named:
            unnoticed.append(at)
    path.write_bytes(whole)
    return unnoticed


def test_no_run_is_read_with_a_flipped_manifest(finished: Path) -> None:
    manifest = finished / "run=r" / "manifest.json"
    assert read_with_a_flip(manifest, lambda: choose_runs(finished)) == []
    assert [run.name for run in choose_runs(finished)] == ["r"]


def test_no_attempt_is_resumed_with_a_flipped_note(tmp_path: Path) -> None:
    fingerprint = {"chunk_size": 4, "options": {"judge": "offline"}}
    attempt = Attempt.open(str(tmp_path), fingerprint)
    attempt.write_process(7)
    folder = Path(attempt.folder)

    def resumed() -> Attempt:
        return Attempt.open(str(tmp_path), fingerprint)

    assert read_with_a_flip(folder / "attempt.json", resumed) == []
    assert read_with_a_flip(folder / "process.json", resumed().batches) == []
    assert resumed().identifier == attempt.identifier


@pytest.mark.parametrize("name", ["done.json", "failures.parquet.note"])
def test_no_chunk_is_finished_with_a_flipped_note(tmp_path: Path, name: str) -> None:
    attempt = Attempt.open(str(tmp_path), {"chunk_size": 4})
    folder = attempt.chunk_folder(0)
    part = write_part("failures", f"{folder}/failures.parquet", to_arrow("failures", []))
    attempt.mark_done(0, Written([register_part(part)], {"read": {"lines": 4}}))
    note = Path(folder, name)

    def done() -> None:
        if attempt.done(0) is None:
            raise RunError(str(note))

    assert read_with_a_flip(note, done) == []


FILES = ("done.json", "failures.parquet.note", "failures.parquet")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_chunk_is_not_finished_by_the_files_of_another(tmp_path: Path, n: int) -> None:
    attempt = Attempt.open(str(tmp_path), {"chunk_size": 4})
    folder, next_folder = attempt.chunk_folder(0), attempt.chunk_folder(1)
    part = write_part("failures", f"{folder}/failures.parquet", to_arrow("failures", []))
    written = Written([register_part(part)], {})
    attempt.mark_done(0, written)
    for name in FILES[:n]:
        shutil.copy(Path(folder, name), next_folder)
    assert attempt.done(0) == written
    assert attempt.done(1) is None


def ready_attempt(run: str) -> Attempt:
    """Return an attempt that is ready to be moved into the run's folder."""

    def stopped(*arguments: str) -> None:
        raise OSError("stopped")

    facts = {"mode": "recall", "tie": "", "judge": "", "sources": []}
    attempt = Attempt.open(run, {"chunk_size": 4})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "move", stopped)
        with pytest.raises(OSError, match="stopped"):
            finish(attempt, Written([], {}), facts)
    return attempt


def test_a_run_is_not_finished_by_the_note_of_another_attempt(tmp_path: Path) -> None:
    first = ready_attempt(str(tmp_path))
    ready = Path(first.folder, "ready.json").read_bytes()
    moved = ready_to_move(first)
    assert moved is not None
    move_in(first, *moved)
    second = ready_attempt(str(tmp_path))
    path = Path(second.folder, "ready.json")
    assert ready_to_move(second) is not None
    for damage in (ready, b'{"manifest": {}, "moves": {}}', b'{"manifest": [], "moves": []}'):
        path.write_bytes(damage)
        assert ready_to_move(second) is None


def test_no_run_is_finished_with_a_flipped_note(tmp_path: Path) -> None:
    attempt = ready_attempt(str(tmp_path))
    note = Path(attempt.folder, "ready.json")

    def ready() -> None:
        if ready_to_move(attempt) is None:
            raise RunError(str(note))

    assert read_with_a_flip(note, ready) == []
    assert ready_to_move(attempt) is not None


@pytest.mark.parametrize("name", ["attempt.json", "process.json"])
def test_status_names_a_flipped_note_and_goes_on(
    tmp_path: Path, two_responses: tuple[object, ...], name: str
) -> None:
    ok(*two_responses, "--run", "whole")
    attempt = Attempt.open(str(tmp_path / "out" / "run=r"), {"chunk_size": 4})
    attempt.write_process(7, command=["evaluate"])
    note = Path(attempt.folder, name)
    written = note.read_bytes()
    for at in range(0, len(written), 61):
        note.write_bytes(written)
        flip(note, at)
        listed = ends(1, "status", tmp_path / "out")
        assert "whole  finished" in listed.out
        assert "r  damaged" in listed.out
        assert f"{str(note)!r} is damaged: " in listed.err


def test_a_run_whose_parts_are_gone_is_damaged_without_a_check(finished: Path) -> None:
    path = part_of(finished / "run=r", "verdicts")
    path.unlink()
    listed = ends(1, "status", finished)
    assert "r  damaged" in listed.out
    assert f"{str(path)!r} is damaged: it is gone; {REMEDY}" in listed.err


def test_a_damaged_run_costs_its_own_results_alone(
    finished: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(finished / "run=r", finished / "run=s")
    manifest = finished / "run=s" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"verdicts"', b'"werdicts"'))
    message = f"{str(manifest)!r} is damaged: it is not what was written, by its checksum"
    for command, *words in (("report",), ("sql", "SELECT DISTINCT run FROM verdicts")):
        caplog.clear()
        assert "r" in ok(command, finished, *words).out
        assert message in caplog.text
    listed = ends(1, "status", finished)
    assert "r  finished" in listed.out
    assert "s  damaged" in listed.out
    assert message in ends(1, "report", finished, "--run", "s").err


# --- `ufo status` on runs that are finished, running, killed, or without checksums.


def test_a_password_in_an_address_is_refused_and_neither_kept_nor_shown(tmp_path: Path) -> None:
    record = {"response": "Oslo is large.", "claims": [{"claim": "Oslo is large."}]}
    address = "http://me:geheim@127.0.0.1:1/v1"
    llm = ("--judge", "llm", "--base_url", address, "--model", "m", "--sources", "llm")
    done = ends(2, *evaluation(tmp_path, [record], *llm))
    assert "holds a user name or password" in done.err
    assert "geheim" not in done.err
    # What a run keeps of its command has neither: runs/test_attempt.py.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["in.jsonl"]
