"""The tables of runs: their keys, their part files, and what a manifest has to have."""

import dataclasses
import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import blank, rows_of, write_run
from ufo.schemas import records
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import Part
from ufo.schemas.run_folders import choose_runs, finished_runs
from ufo.schemas.tables import (
    KEYS,
    OF_EVALUATE,
    OF_RECALL,
    RECORDS,
    TABLES,
    check_part,
    damage_of,
    label_files,
    read_rows,
    register_part,
    registered_parts,
    sort_key,
    to_arrow,
    write_part,
)

IN_ORDER = {
    "responses": "response_id",
    "sentences": "response_id sentence_index",
    "fact_units": "response_id sentence_index unit_id",
    "evidence": "response_id unit_id source rank passage_id sample_index",
    "passages": "passage_id",
    "verdicts": "response_id unit_id mode source",
    "sources": "position",
    "failures": "step key error_type message",
    "usage": "step source response_id request_id",
    "recall_records": "record_id",
    "recall_answers": "record_id variant",
    "recall_facts": "record_id fact_index",
    "recall_verdicts": "record_id variant fact_id formulation",
    "labels": "response_id unit_id sheet annotator",
    "label_populations": "run response_id unit_id sheet",
}


def test_every_table_has_a_key() -> None:
    assert KEYS.keys() == RECORDS.keys()
    assert KEYS.keys() == IN_ORDER.keys()


@pytest.mark.parametrize(
    ("table", "column"),
    [(table, column) for table, columns in IN_ORDER.items() for column in columns.split()],
)
def test_rows_that_differ_in_one_part_of_the_key_alone_are_in_order(
    table: str, column: str
) -> None:
    hints = {field.name: str(field.type) for field in dataclasses.fields(RECORDS[table])}
    low, high = (1, 2) if "int" in hints[column] else ("a", "b")
    key = sort_key(table)
    same = dict.fromkeys(IN_ORDER[table].split(), 1 if "int" in hints[column] else "a")
    first, second = (blank(RECORDS[table], **{**same, column: value}) for value in (low, high))
    assert key(first) < key(second)
    assert key(blank(RECORDS[table], **{**same, column: None})) < key(first)


def test_an_earlier_part_of_the_key_counts_for_more() -> None:
    for table, columns in IN_ORDER.items():
        for before, after in zip(columns.split(), columns.split()[1:], strict=False):
            first = blank(RECORDS[table], **{before: None, after: 1})
            second = blank(RECORDS[table], **{before: 1, after: None})
            assert sort_key(table)(first) < sort_key(table)(second), f"{table}: {before}, {after}"


def test_an_evaluation_and_a_recall_write_these_tables() -> None:
    assert set(OF_EVALUATE) | set(OF_RECALL) == set(TABLES)
    assert set(OF_EVALUATE) & set(OF_RECALL) == {"failures", "usage"}


# --- part files ---


@pytest.fixture
def part(tmp_path: Path) -> Any:
    row = records.Failure("read", "k", "BadJson", "not JSON", None)
    return write_part("failures", str(tmp_path / "part.parquet"), to_arrow("failures", [row] * 3))


def test_a_part_says_its_table_rows_and_checksum(part: Any) -> None:
    assert part.table == "failures"
    assert part.rows == 3
    assert pq.read_table(part.path).num_rows == 3
    check_part(part.path, part.sha256)
    check_part(part.path, None)


@pytest.mark.parametrize("known", [True, False], ids=["by its checksum", "without one"])
def test_a_part_that_changed_or_is_gone_is_damaged(part: Any, known: bool) -> None:
    path, checksum = Path(part.path), part.sha256 if known else None
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(RunError, match="is damaged"):
        check_part(part.path, checksum)
    path.unlink()
    with pytest.raises(RunError, match=r"is damaged: .*; try that"):
        check_part(part.path, checksum, "try that")


def test_the_parts_of_a_folder_are_those_with_a_note(tmp_path: Path) -> None:
    parts = [Part("usage", str(tmp_path / f"{name}.parquet"), 3, "c") for name in ("a", "b")]
    assert registered_parts(str(tmp_path)) == []
    assert [register_part(part) for part in reversed(parts)] == parts[::-1]
    (tmp_path / "c.parquet").write_bytes(b"")
    assert registered_parts(str(tmp_path)) == parts


@pytest.mark.parametrize(
    "note", ['{"tabel": "x"}', '{"table": "x", "path": "b", "rows": 1}', "{}", "{"]
)
def test_a_note_of_a_part_that_is_damaged_is_refused(tmp_path: Path, note: str) -> None:
    (tmp_path / "a.parquet.note").write_text(note)
    with pytest.raises(RunError, match=r"a\.parquet\.note' is damaged"):
        registered_parts(str(tmp_path))


def test_each_damaged_part_of_a_run_is_told(tmp_path: Path) -> None:
    folder = write_run(tmp_path, rows_of({"x": {"u": {"ref": "s"}}}))
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    assert damage_of(str(folder), tables) == []
    for table in ("evidence", "usage"):
        (folder / table / "part-00000.parquet").write_bytes(b"PAR1")
    damage = damage_of(str(folder), tables)
    assert [table for table in TABLES if any(f"/{table}/" in one for one in damage)] == [
        "evidence",
        "usage",
    ]


def test_a_part_with_other_rows_than_the_manifest_says_is_damaged(tmp_path: Path) -> None:
    folder = write_run(tmp_path, rows_of({"x": {"u": {"ref": "s"}}}))
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    [name] = tables["evidence"]["files"]
    digest = sha256((folder / name).read_bytes()).hexdigest()
    for known, faults in (({}, 0), ({name: digest}, 0), ({name: digest[::-1]}, 1)):
        damage = damage_of(str(folder), {"evidence": {"files": [name], "sha256": known}})
        assert len(damage) == faults


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (None, ["step", "key", "error_type", "message", "input"]),
        (["message", "key"], ["message", "key"]),
        ([], []),
    ],
    ids=["all", "two, in another order", "none"],
)
def test_columns_are_read_in_the_order_asked_for(
    part: Any, columns: list[str] | None, names: list[str]
) -> None:
    table = read_rows(part.path, columns)
    assert table.column_names == names


def test_a_file_that_is_no_table_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"x' is damaged: .*; try that\."):
        read_rows(str(tmp_path / "x"), remedy="try that")


def test_labels_are_the_parquet_files_of_a_folder_by_name(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    for name in ("b.parquet", "a.parquet", "c.csv"):
        (tmp_path / "labels" / name).touch()
    assert [path.name for path in label_files(tmp_path)] == ["a.parquet", "b.parquet"]


# --- manifests ---


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_run(tmp_path_factory.mktemp("run"), rows_of({"x": {}}), "one")
    return (folder / "manifest.json").read_text()


@pytest.fixture
def run(tmp_path: Path, manifest: str) -> Path:
    """The folder of a run, of which nothing but the manifest is read."""
    folder = tmp_path / "run=one"
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest)
    return folder


def changed(folder: Path, **changes: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


NEEDED = (
    "format",
    "schema_version",
    "finished_at",
    "ufo_version",
    "mode",
    "tie",
    "judge",
    "sources",
    "counts",
    "tables",
    "fingerprint",
)


@pytest.mark.parametrize("entry", NEEDED)
def test_a_manifest_without_one_of_its_entries_is_damaged(run: Path, entry: str) -> None:
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest[entry]
    path.write_text(json.dumps(manifest))
    with pytest.raises(RunError, match=f"is damaged: it lacks '{entry}'; remove "):
        choose_runs(run.parent, "one")


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        pytest.param("format", "other", "format is 'other', expected 'ufo-run'", id="format"),
        pytest.param("schema_version", 2, "schema version 2, and .* install the ufo", id="newer"),
        pytest.param("schema_version", "x", "is damaged: .*is str, not int", id="no version"),
        pytest.param("finished_at", "yesterday", "is damaged: .*yesterday", id="no time"),
        pytest.param("counts", [], "is damaged: .*is list, not dict", id="no counts"),
        pytest.param("schema_version", True, "is bool", id="true for a version"),
        pytest.param("finished_at", "0001-01-01T00:00:00+14:00", "is damaged", id="before all"),
        pytest.param("counts", {"units": 1 << 63}, "is damaged: 'units'", id="a huge count"),
        pytest.param("counts", {"units": 1e400}, "is damaged: 'units'", id="an infinite count"),
        pytest.param("fingerprint", {"options": 1}, "is damaged", id="no options"),
        pytest.param("fingerprint", {"inputs": [1]}, "is damaged", id="no input"),
        pytest.param("sources", None, "is damaged: .*is NoneType, not list", id="no sources"),
    ],
)
def test_a_manifest_with_a_wrong_entry_says_so(
    run: Path, entry: str, value: Any, message: str
) -> None:
    changed(run, **{entry: value})
    with pytest.raises(RunError, match=message):
        choose_runs(run.parent)


def test_a_manifest_that_is_no_json_says_so(run: Path) -> None:
    (run / "manifest.json").write_text("{")
    with pytest.raises(RunError, match=f"{run}.*is damaged: .*; remove '{run}', and evaluate it"):
        choose_runs(run.parent)


def test_a_damaged_run_costs_itself_alone(several: Path, caplog: pytest.LogCaptureFixture) -> None:
    (several / "run=a" / "manifest.json").write_text("[]")
    assert [one.name for one in finished_runs(several)] == ["b", "c"]
    assert "run=a/manifest.json' is damaged: it is no JSON object" in caplog.text
    assert [one.name for one in choose_runs(several)] == ["c"]
    assert [one.name for one in choose_runs(several, all_runs=True)] == ["b", "c"]
    assert [one.name for one in choose_runs(several, "b")] == ["b"]
    with pytest.raises(RunError, match=r"run=a/manifest\.json' is damaged"):
        choose_runs(several, "a")


def listed(folder: Path, table: str, **changes: Any) -> None:
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    changed(folder, tables=tables | {table: tables[table] | changes})


@pytest.mark.parametrize("table", OF_EVALUATE)
def test_each_table_of_the_mode_is_needed(run: Path, table: str) -> None:
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    del tables[table]
    changed(run, tables=tables)
    with pytest.raises(RunError, match=f"is damaged: it lacks '{table}'"):
        choose_runs(run.parent)


def test_a_run_of_recall_needs_its_own_tables(run: Path) -> None:
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    changed(run, mode="recall", tables={name: tables[name] for name in OF_RECALL})
    assert finished_runs(run.parent)[0].files.keys() == {*OF_RECALL}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"rows": "1"}, "'rows' is str", id="no number of rows"),
        pytest.param({"files": []}, "does not list the files", id="no file"),
        pytest.param({"files": [1]}, "is damaged: ", id="a number"),
        pytest.param({"files": ["units/p"]}, "does not list the files", id="of another table"),
        pytest.param({"files": ["verdicts/../units/p"]}, "does not list", id="of another folder"),
        pytest.param({"sha256": 1}, "is damaged: ", id="a number for checksums"),
    ],
)
def test_an_entry_of_a_table_is_checked(run: Path, changes: dict[str, Any], message: str) -> None:
    listed(run, "verdicts", **changes)
    with pytest.raises(RunError, match=message):
        choose_runs(run.parent)


def test_a_table_of_another_name_is_damage(run: Path) -> None:
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    changed(run, schema_version=0, tables=tables | {"werdicts": tables.pop("verdicts")})
    with pytest.raises(RunError, match="there is no table 'werdicts'"):
        choose_runs(run.parent)


PLAIN = {
    "title": "Mine",
    "mode": "mv",
    "tie": "factual",
    "judge": "llm",
    "ufo_version": "9",
    "counts": {"units": 7},
}


def test_each_entry_of_a_manifest_is_read(run: Path) -> None:
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    tables["usage"]["sha256"] = {"usage/part-00000.parquet": "0123"}
    fingerprint = {"options": {"llm": {"model": "m"}}, "inputs": [{"name": "in/a"}]}
    finished = "2025-06-01T12:00:00+02:00"
    changed(run, **PLAIN, sources=["b", "a"], tables=tables, finished_at=finished)
    changed(run, fingerprint=fingerprint)
    (finished_run,) = finished_runs(run.parent)
    assert {name: getattr(finished_run, name) for name in PLAIN} == PLAIN
    assert finished_run.name == "one"
    assert finished_run.folder == run
    assert finished_run.sources == ("b", "a")
    assert finished_run.finished_at == datetime(2025, 6, 1, 10, tzinfo=UTC)
    assert finished_run.llm == {"model": "m"}
    assert finished_run.files.keys() == TABLES.keys()
    assert finished_run.checksums == {run / "usage/part-00000.parquet": "0123"}


def test_what_an_older_manifest_lacks_is_empty(run: Path) -> None:
    tables = json.loads((run / "manifest.json").read_text())["tables"]
    del tables["usage"]
    for entry in tables.values():
        entry.pop("sha256", None)
    changed(run, schema_version=0, tables=tables, fingerprint={"options": {"llm": None}})
    (finished_run,) = finished_runs(run.parent)
    assert finished_run.files.keys() == TABLES.keys() - {"usage"}
    assert finished_run.checksums == {}
    assert finished_run.llm == {}
    assert finished_run.title == "one, 01 June 2025, 12:00 UTC"
    changed(run, fingerprint={})
    assert finished_runs(run.parent)[0].llm == {}


def test_a_newer_run_may_not_say_by_what_it_was_written(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text()) | {"schema_version": 2}
    del manifest["ufo_version"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match=r"install the ufo that wrote it \(a newer one\)"):
        choose_runs(run.parent)


@pytest.mark.parametrize(
    ("inputs", "called"), [("", "one"), ("in/a.csv", "a.csv"), ("a b c", "a and 2 more")]
)
def test_a_run_is_called_by_its_inputs_or_its_name(run: Path, inputs: str, called: str) -> None:
    changed(run, fingerprint={"inputs": [{"name": name} for name in inputs.split()]})
    (finished_run,) = finished_runs(run.parent)
    assert finished_run.title == f"{called}, 01 June 2025, 12:00 UTC"


@pytest.mark.parametrize(
    ("finished", "shown"),
    [
        ("2025-06-01T12:00:00", "01 June 2025, 12:00 UTC"),
        ("2025-06-01T01:00:00+02:00", "31 May 2025, 23:00 UTC"),
    ],
    ids=["no time zone", "another time zone"],
)
def test_the_time_of_a_run_is_that_of_greenwich(run: Path, finished: str, shown: str) -> None:
    changed(run, finished_at=finished)
    (finished_run,) = finished_runs(run.parent)
    assert finished_run.title == f"one, {shown}"


@pytest.fixture
def several(tmp_path: Path, manifest: str) -> Path:
    """Three runs; `b` and `c` ended at the same time, `a` later; and what is no finished run."""
    for name, month in (("c", 1), ("b", 1), ("a", 2)):
        (tmp_path / f"run={name}").mkdir()
        (tmp_path / f"run={name}" / "manifest.json").write_text(manifest)
        changed(tmp_path / f"run={name}", finished_at=f"2025-0{month}-01T00:00:00+00:00")
    (tmp_path / "run=unfinished" / ".attempt-1").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text("{")
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        pytest.param({}, ["a"], id="the newest"),
        pytest.param({"all_runs": True}, ["b", "c", "a"], id="all, the oldest first"),
        pytest.param({"run": "c"}, ["c"], id="one"),
        pytest.param({"run": "c", "all_runs": True}, ["c"], id="one and all"),
    ],
)
def test_runs_are_chosen(several: Path, asked: dict[str, Any], names: list[str]) -> None:
    assert [one.name for one in choose_runs(several, **asked)] == names


@pytest.mark.parametrize("name", ["other", "B", ""])
def test_an_unknown_run_is_told_the_known_ones(several: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"unknown run .*; allowed: a, b, c\. Only finished"):
        choose_runs(several, name)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("run=c", "is the folder of one run; give its parent, and --run c"),
        ("other", "no finished run in .*'ufo evaluate --output"),
        ("none", "does not exist"),
        ("other/manifest.json", "is not a folder"),
    ],
)
def test_a_folder_without_runs_says_what_to_do(several: Path, folder: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_runs(several / folder)


def test_unfinished_runs_are_named_where_there_is_no_other(tmp_path: Path) -> None:
    (tmp_path / "run=mine" / ".attempt-1").mkdir(parents=True)
    with pytest.raises(UsageError, match="only unfinished ones: mine"):
        choose_runs(tmp_path)


def test_a_folder_of_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="is not on this machine"):
        choose_runs("gs://bucket/runs")
