"""The end of a run: manifests, parts that are moved and swept, and verdicts that must be there."""

from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.options.jobs import job_of_text
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.finish import (
    check_complete,
    finish,
    move_in,
    ready_to_move,
    remove_duplicate_passages,
    sweep,
)
from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part, Passage
from ufo.schemas.tables import manifest_of, read_rows, to_arrow, write_part


def passages(folder: Path, *names: str) -> Part:
    rows = [Passage(f"Text of {name}.", passage_id=name) for name in names]
    return write_part(
        "passages", str(folder / f"{''.join(names)}.parquet"), to_arrow("passages", rows)
    )


def ids(part: Part) -> list[str]:
    passage_ids: list[str] = read_rows(part.path)["passage_id"].to_pylist()
    return passage_ids


def test_a_passage_of_several_parts_stays_in_the_first(tmp_path: Path) -> None:
    parts = [passages(tmp_path, "a", "b"), Part("evidence", "e", 1), passages(tmp_path, "b", "c")]
    first, other, last = remove_duplicate_passages([*parts])
    assert ids(first) == ["a", "b"]
    assert other == parts[1]
    assert ids(last) == ["c"]
    assert last.rows == 1
    assert ids(parts[2]) == ["b", "c"], "a resumed run needs the original"


def test_parts_without_a_repeated_passage_stay_as_they_are(tmp_path: Path) -> None:
    parts = [passages(tmp_path, "a"), passages(tmp_path, "b")]
    assert remove_duplicate_passages(parts) == parts


FACTS = {"mode": "seq", "run": "r", "sources": [], "tie": "factual", "judge": "offline"}


def written(attempt: Attempt, *names: str) -> Written:
    parts = [passages(Path(attempt.folder), name) for name in names]
    return Written(parts, {"read": {"same": 1}})


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_finishing_writes_the_manifest_and_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts" / "old.parquet").touch()
    attempt = Attempt.open(str(tmp_path), {"chunk_size": 1})
    finish(attempt, written(attempt, "a"), FACTS)
    manifest: Any = manifest_of(str(tmp_path))
    assert manifest["tables"]["passages"]["rows"] == 1
    assert manifest["counters"] == {"read": {"same": 1}}
    assert manifest["fingerprint"] == {"chunk_size": 1}
    assert manifest["counts"] == {"responses": 0, "units": 0, "failures": 0}
    files = {name for entry in manifest["tables"].values() for name in entry["files"]}
    assert files_in(tmp_path) == files | {"manifest.json"}
    assert set(manifest["tables"]["passages"]["sha256"]) == set(
        manifest["tables"]["passages"]["files"]
    )


class Stopped(Exception):
    """Stands for a kill while the parts are moved."""


@pytest.fixture(name="stopped")
def _stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attempt:
    """An attempt that was stopped after the first of its three parts of passages was moved."""
    attempt = Attempt.open(str(tmp_path), {"chunk_size": 1})
    moved: list[str] = []
    move = storage.move

    def once(source: str, target: str) -> None:
        if moved:
            raise Stopped
        moved.append(target)
        move(source, target)

    rows = written(attempt, "a", "b", "c")
    with monkeypatch.context() as patched:
        patched.setattr(storage, "move", once)
        with pytest.raises(Stopped):
            finish(attempt, rows, FACTS)
    return attempt


def test_a_run_that_was_stopped_while_its_parts_moved_is_completed(
    stopped: Attempt, tmp_path: Path
) -> None:
    ready = ready_to_move(stopped)
    assert ready is not None
    move_in(stopped, *ready)
    manifest: Any = manifest_of(str(tmp_path))
    assert manifest["tables"]["passages"]["rows"] == 3
    files = {name for entry in manifest["tables"].values() for name in entry["files"]}
    assert files_in(tmp_path) == files | {"manifest.json"}


@pytest.mark.parametrize("place", ["passages/*.parquet", ".attempt-*/c.parquet"])
def test_a_run_with_a_part_that_was_damaged_meanwhile_is_evaluated_again(
    stopped: Attempt, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (part,) = tmp_path.glob(place)
    part.write_bytes(part.read_bytes()[:-1])
    assert ready_to_move(stopped) is None
    assert f"{str(part)!r} is damaged" in capsys.readouterr().err


def test_a_run_whose_moves_are_damaged_is_evaluated_again(
    stopped: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(stopped.folder, "ready.json").write_text("{")
    assert ready_to_move(stopped) is None
    assert "ready.json' is damaged" in capsys.readouterr().err


def test_an_attempt_that_is_not_all_evaluated_is_not_ready(tmp_path: Path) -> None:
    assert ready_to_move(Attempt.open(str(tmp_path), {"chunk_size": 1})) is None


def test_sweeping_keeps_what_the_tables_list(tmp_path: Path) -> None:
    for name in ("evidence/kept", "evidence/old", "recall_facts/old", "mine/other"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    Attempt.open(str(tmp_path), {})
    sweep(str(tmp_path), {"evidence": {"files": ["evidence/kept"]}})
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"evidence/kept", "mine/other"}


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        pytest.param("seq", 5, id="seq: one for each unit"),
        pytest.param("mv", 5, id="mv: one for each unit"),
        pytest.param("single", 5, id="single: one for each source"),
        pytest.param("all", 15, id="all: those of the three modes"),
    ],
)
@pytest.mark.parametrize("off", [-1, 0, 1], ids=["one is lost", "all are there", "one too many"])
def test_every_unit_has_its_verdicts(mode: str, verdicts: int, off: int) -> None:
    job = job_of_text({"judge": "offline", "mode": mode}, ["reference"])
    parts = [
        Part("fact_units", "", 5),
        Part("verdicts", "", 3),
        Part("verdicts", "", verdicts + off - 3),
    ]
    if off:
        with pytest.raises(
            RunError, match=f"the run has {verdicts + off} verdicts, not {verdicts}:"
        ):
            check_complete(parts, job)
    else:
        check_complete(parts, job)
