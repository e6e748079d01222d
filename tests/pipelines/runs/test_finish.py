"""The end of a run: manifests, parts that are moved and swept, and verdicts that must be there."""

import json
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.options.jobs import job_of_text
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.finish import check_complete, each_passage_once, finish, manifest_of, sweep
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part, Passage
from ufo.schemas.tables import read_rows, to_arrow, write_part

WHOLE = {"attempt": "a1", "counts": {}, "finished_at": "", "fingerprint": {}, "tables": {}}


@pytest.mark.parametrize("lost", sorted(WHOLE))
def test_a_manifest_without_an_entry_is_damaged(tmp_path: Path, lost: str) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({name: value for name, value in WHOLE.items() if name != lost})
    )
    with pytest.raises(RunError, match=f"it lacks {lost}; remove "):
        manifest_of(str(tmp_path))


def test_a_whole_manifest_is_read(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(WHOLE))
    assert manifest_of(str(tmp_path)) == WHOLE


def test_a_folder_without_a_manifest_has_no_run(tmp_path: Path) -> None:
    assert manifest_of(str(tmp_path)) is None


def passages(folder: Path, *names: str) -> Part:
    rows = [Passage(f"Text of {name}.", passage_id=name) for name in names]
    return write_part(
        "passages", str(folder / f"{''.join(names)}.parquet"), to_arrow("passages", rows)
    )


def ids(part: Part) -> list[str]:
    found: list[str] = read_rows(part.path)["passage_id"].to_pylist()
    return found


def test_a_passage_of_several_parts_stays_in_the_first(tmp_path: Path) -> None:
    parts = [passages(tmp_path, "a", "b"), Part("evidence", "e", 1), passages(tmp_path, "b", "c")]
    first, other, last = each_passage_once([*parts])
    assert ids(first) == ["a", "b"]
    assert other == parts[1]
    assert ids(last) == ["c"]
    assert last.rows == 1
    assert ids(parts[2]) == ["b", "c"], "a resumed run needs the original"


def test_parts_without_a_repeated_passage_stay_as_they_are(tmp_path: Path) -> None:
    parts = [passages(tmp_path, "a"), passages(tmp_path, "b")]
    assert each_passage_once(parts) == parts


def test_finishing_writes_the_manifest_and_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts" / "old.parquet").touch()
    attempt = Attempt.open(str(tmp_path), {"chunk_size": 1})
    written = Written([passages(Path(attempt.folder), "a")], {"read": {"same": 1}})
    finish(attempt, written, {"mode": "seq", "run": "r"})
    found: Any = manifest_of(str(tmp_path))
    assert found["tables"]["passages"]["rows"] == 1
    assert found["counters"] == {"read": {"same": 1}}
    assert found["fingerprint"] == {"chunk_size": 1}
    assert found["counts"] == {"responses": 0, "units": 0, "failures": 0}
    files = {name for entry in found["tables"].values() for name in entry["files"]}
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == files | {"manifest.json"}
    assert set(found["tables"]["passages"]["sha256"]) == set(found["tables"]["passages"]["files"])


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
        with pytest.raises(RunError, match=f"there are {verdicts + off} verdicts, not {verdicts}:"):
            check_complete(parts, job)
    else:
        check_complete(parts, job)
