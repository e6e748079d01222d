"""Runs on another file system, here `file://`: what is downloaded of them, and what goes again."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import rows_of, write_run
from ufo.pipelines.runs.remote_results import choose_runs, open_results
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.labels import Label
from ufo.schemas.tables import to_arrow


@pytest.fixture(name="there")
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two runs behind `file://`, and an empty folder for what is downloaded."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = rows_of({"a": {"u": {"ref": "s"}}})
    write_run(tmp_path / "there", rows, "old", finished_at="2025-01-01T00:00:00Z")
    write_run(tmp_path / "there", rows, "new", finished_at="2025-01-02T00:00:00Z")
    return tmp_path / "there"


def downloaded(there: Path) -> list[str]:
    """The part files here, by their run and table."""
    paths = (there.parent / "cache").glob("ufo/runs/*/run=*/*/*.parquet")
    return sorted(f"{path.parts[-3]}/{path.parts[-2]}" for path in paths)


@pytest.mark.parametrize(
    ("run", "name"), [(None, "new"), ("old", "old")], ids=["the newest", "one by its name"]
)
@pytest.mark.parametrize("end", ["", "/"], ids=["a folder", "with a slash at its end"])
def test_a_run_is_chosen_and_its_wanted_tables_are_downloaded(
    there: Path, run: str | None, name: str, end: str
) -> None:
    (run_chosen,) = choose_runs(f"file://{there}{end}", run, tables=["verdicts"])
    assert run_chosen.name == name
    assert list(run_chosen.files) == ["verdicts"]
    assert downloaded(there) == [f"run={name}/verdicts"]


def test_without_wanted_tables_no_part_is_downloaded(there: Path) -> None:
    assert len(choose_runs(f"file://{there}", all_runs=True)) == 2
    assert downloaded(there) == []


def test_all_tables_are_downloaded_where_all_are_asked(there: Path) -> None:
    with open_results(f"file://{there}", "old") as results:
        assert results.query("FROM verdicts").num_rows == 1
    assert "run=old/evidence" in downloaded(there)
    assert [name for name in downloaded(there) if "run=new" in name] == []


def test_a_view_downloads_the_tables_that_it_reads(there: Path) -> None:
    with open_results(f"file://{there}", only=["failures_by_step"]) as results:
        assert results.query("FROM failures_by_step").num_rows == 0
    assert downloaded(there) == ["run=new/failures"]


def test_a_run_that_is_gone_there_is_gone_here(there: Path) -> None:
    choose_runs(f"file://{there}")
    shutil.rmtree(there / "run=new")
    (run,) = choose_runs(f"file://{there}")
    assert run.name == "old"


def test_labels_are_brought_each_time(there: Path) -> None:
    for name, n in (("one", 1), ("two", 2)):
        (there / "labels").mkdir(exist_ok=True)
        label = Label("new", "a", "u", 1, None, None, None, name, name)
        pq.write_table(to_arrow("labels", [label]), there / "labels" / f"{name}.parquet")
        with open_results(f"file://{there}", "new") as results:
            assert results.query("FROM labels").num_rows == n
    (there / "labels" / "one.parquet").unlink()
    with open_results(f"file://{there}", "new") as results:
        assert results.query("FROM labels").num_rows == 1


def test_messages_name_the_folder_there(there: Path) -> None:
    with pytest.raises(UsageError, match="unknown run 'odl'; allowed: new, old") as caught:
        choose_runs(f"file://{there}", "odl")
    assert str(there.parent / "cache") not in caught.value.message
    with pytest.raises(UsageError, match=f"no finished run in 'file://{there}x'"):
        choose_runs(f"file://{there}x")


def test_a_part_that_is_missing_there_is_an_error_that_names_the_folder(there: Path) -> None:
    next(there.glob("run=new/verdicts/*.parquet")).unlink()
    with pytest.raises(RunError, match=f"'file://{there}' cannot be read"):
        choose_runs(f"file://{there}", tables=["verdicts"])
