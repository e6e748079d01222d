"""The runs that a service has: which are listed, by which names, and how long they stay open."""

from pathlib import Path

import pytest

from tests.conftest import blank, rows_of, write_run
from ufo.schemas.label_sheets import keep_label
from ufo.schemas.labels import Label
from ufo.webapp.open_runs import OpenRuns
from ufo.webapp.problems import NotFound

ROWS = rows_of({"r": {"u": {"ref": "s"}}})


def write(folder: Path, name: str, day: int = 1) -> None:
    write_run(folder, ROWS, name, finished_at=f"2025-06-{day:02}T00:00:00+00:00")


def names(runs: OpenRuns) -> list[str]:
    return [run.name for run in runs.listed()]


def test_runs_are_listed_the_newest_first(tmp_path: Path) -> None:
    for name, day in (("a", 1), ("b", 3), ("c", 2), ("d", 3)):
        write(tmp_path, name, day)
    assert names(OpenRuns(tmp_path)) == ["d", "b", "c", "a"]


def test_a_run_of_a_folder_within_has_that_folders_name_before_its_own(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path / "team", "a", 2)
    write(tmp_path / "team" / "deeper", "a", 3)
    write(tmp_path / ".hidden", "a", 4)
    write(tmp_path / "run=a", "b", 5)
    (tmp_path / "notes.txt").touch()
    runs = OpenRuns(tmp_path)
    assert names(runs) == ["team:deeper:a", "team:a", "a"]
    assert runs.by_name("team:a").folder == tmp_path / "team" / "run=a"
    assert runs.by_name("team:deeper:a").folder == tmp_path / "team" / "deeper" / "run=a"


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    runs = OpenRuns(tmp_path / "none")
    assert names(runs) == []
    with pytest.raises(NotFound, match="no finished run of that name; finished runs: none yet"):
        runs.by_name(None)


def test_a_run_without_a_name_is_the_newest(tmp_path: Path) -> None:
    write(tmp_path, "a", 2)
    write(tmp_path, "b", 1)
    assert OpenRuns(tmp_path).by_name(None).name == "a"
    assert OpenRuns(tmp_path).by_name("b").name == "b"


@pytest.mark.parametrize(("n", "names"), [(10, "n0"), (11, "n1")])
def test_an_unknown_run_is_told_the_ten_newest(tmp_path: Path, n: int, names: str) -> None:
    for at in range(n):
        write(tmp_path, f"n{at}", at + 1)
    with pytest.raises(NotFound, match=rf"finished runs: n{n - 1}, .*, {names}$") as error:
        OpenRuns(tmp_path).by_name("../n0")
    assert str(error.value).count(",") == 9


def test_a_run_stays_open(tmp_path: Path) -> None:
    write(tmp_path, "a")
    runs = OpenRuns(tmp_path)
    first = runs.results("a")
    assert runs.results("a") is first
    assert runs.results(None) is first
    runs.close()
    assert runs.results("a") is not first


@pytest.mark.parametrize(("others", "kept"), [(7, True), (8, False)], ids=["eight", "nine"])
def test_so_many_runs_stay_open(tmp_path: Path, others: int, kept: bool) -> None:
    write(tmp_path, "a")
    runs = OpenRuns(tmp_path)
    first = runs.results("a")
    for at in range(others):
        write(tmp_path, f"other{at}", at + 2)
        runs.results(f"other{at}")
    assert (runs.results("a") is first) == kept


def test_a_run_is_opened_again_where_it_was_replaced(tmp_path: Path) -> None:
    write(tmp_path, "a")
    runs = OpenRuns(tmp_path)
    first = runs.results("a")
    manifest = tmp_path / "run=a" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("2025-06-01", "2025-06-02"))
    assert runs.results("a") is not first


def test_a_run_is_opened_again_where_it_has_a_new_label(tmp_path: Path) -> None:
    write(tmp_path, "a")
    runs = OpenRuns(tmp_path)
    first = runs.results("a")
    keep_label(tmp_path, blank(Label, run="a", response_id="r", unit_id="u", label=1,
                               annotator="page", sheet="page"))  # fmt: skip
    assert runs.results("a") is not first
    assert runs.results("a").query("SELECT label FROM labels").to_pylist() == [{"label": 1}]
