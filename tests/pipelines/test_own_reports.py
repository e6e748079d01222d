"""Reports of one's own, thresholds, and what a printed report says beside its rows."""

from pathlib import Path

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ends, named_cases, ok, printed
from tests.pipelines.reports.conftest import page_of
from tests.pipelines.reports.reading import Reader
from tests.schemas.labelled import labelled_rows
from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results
from ufo.schemas.views import load_views

OWN = "-- Units of each response\n-- How many there are.\n-- order: response_id\n"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    write_run(tmp_path, labelled_rows(rows_of, "seq"), "day")
    return tmp_path


@pytest.fixture(name="reports")
def _reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    sql = "SELECT model, count(*) AS n FROM sentence_scores JOIN responses USING (response_id)"
    for name, text in (
        ("units.sql", f"{OWN}-- needs: scores\nSELECT response_id, n_units FROM scores;\n"),
        ("notes.txt", "not a report"),
        ("aaa.sql", f"-- Sentences by model\n{sql} GROUP BY model\n"),
        ("aab.sql", "-- All\n-- needs: aaa\nSELECT sum(n) AS n FROM aaa\n"),
    ):
        (folder / name).write_text(text)
    return folder


@pytest.mark.slow
def test_a_report_of_ones_own_appears_beside_ours(folder: Path, reports: Path) -> None:
    ours = ("--reports", reports)
    text = printed("report", "--list", *ours)
    assert "Units of each response" in text
    assert "Agreement with people" in text
    assert "Units of each response, run day" in printed("report", folder, "units", *ours)
    rows = ok("report", folder, "units", *ours, "--json").json
    assert rows[0] == {"response_id": "a", "n_units": 3}
    sql = "SELECT sum(n_units) AS n FROM units"
    assert ok("sql", folder, sql, *ours, "--json").json == [{"n": 10}]
    listed = {row["name"] for row in ok("report", "--list", "--json").json}
    macros = {view.name for view in load_views() if view.parameters is not None}
    assert not listed & (macros | {"units"})
    # One of one's own need not say which of ours it reads.
    assert ok("report", folder, "aab", *ours, "--json").json == [{"n": 10}]
    page = Reader(page_of(folder, reports=reports))
    assert page.text.index("Units of each response") > page.text.index("Reports of your own")


@pytest.mark.parametrize(
    ("name", "sql", "message"), named_cases(Path(__file__).with_name("broken_reports.txt"))
)
def test_a_report_that_is_none_is_named(
    folder: Path, reports: Path, name: str, sql: str, message: str
) -> None:
    (reports / f"{name}.sql").write_text(sql, encoding="latin-1")
    with pytest.raises(UsageError, match=message), open_results(folder, reports=reports):
        pass
    with pytest.raises(UsageError, match="is not a folder"):
        open_results(folder, reports=folder / "nowhere")


def test_a_report_that_reads_another_is_told_what_its_header_needs(
    folder: Path, reports: Path
) -> None:
    (reports / "first.sql").write_text("-- First\nSELECT * FROM second", encoding="utf-8")
    (reports / "second.sql").write_text("-- Second\nSELECT 1 AS x", encoding="utf-8")
    message = "report 'first': (?s:.*) its header needs: -- needs: second"
    with pytest.raises(UsageError, match=message), open_results(folder, reports=reports):
        pass


def test_what_a_report_shows_fits_a_terminal(folder: Path) -> None:
    for name in (view.name for view in load_views() if view.shows):
        text = printed("report", folder, name)
        assert max(map(len, text.splitlines())) <= 100
        assert "row 1" not in text
    text = printed("report", folder, "source_benchmark")
    assert "no rows: it takes a run of --mode all" in text
    assert ok("report", folder, "source_benchmark", "--json").json == []


def test_a_report_whose_rows_cannot_be_computed_is_named(folder: Path, tmp_path: Path) -> None:
    sql = "-- Mine\n-- group: scores\nSELECT run FROM runs WHERE error('boom') IS NULL\n"
    (tmp_path / "mine.sql").write_text(sql, encoding="utf-8")
    done = ends(2, "report", folder, "--reports", tmp_path, "--list")
    assert "report 'mine': Invalid Input Error: boom" in done.err


def test_a_report_without_rows_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none.sql").write_text("-- Nothing\nSELECT run FROM runs WHERE false\n")
    words = ("report", folder, "none", "--reports", tmp_path)
    printed = " ".join(ok(*words).out.split())
    assert printed.endswith(f"no rows: the SELECT in '{tmp_path / 'none.sql'}' gives none")
    assert ok(*words, "--json").json == []
    assert ok(*words, "--csv").out == "run\n"


def test_a_report_may_end_in_a_comment(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("-- One\nSELECT 1 AS n; -- done\n")
    words = ("report", folder, "one", "--reports", tmp_path, "--json")
    assert ok(*words).json == [{"n": 1}]


def test_a_report_of_times_is_a_page_too(folder: Path, tmp_path: Path) -> None:
    sql = "SELECT finished_at, DATE '0044-03-15 (BC)' AS ides, INTERVAL 1 DAY AS age FROM runs"
    (tmp_path / "times.sql").write_text(f"-- Times\n{sql}\n")
    text = Reader(page_of(folder, reports=tmp_path)).text
    for cell in ("2025-06-01T12:00:00+00:00", "0044-03-15 (BC)", "1 day"):
        assert cell in text


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        pytest.param("COPY scores TO 'x'", "COPY", id="a copy"),
        pytest.param("INSTALL httpfs", "INSTALL", id="an extension"),
        pytest.param("/* c */ ATTACH 'x'", "ATTACH", id="another database"),
        pytest.param("SET threads = 4", "SET", id="a setting"),
        pytest.param("SELECT 1; SELECT 2", "2 statements: SELECT, SELECT", id="two"),
        pytest.param("PIVOT runs ON mode", "PIVOT", id="a pivot"),
        pytest.param(" ", "nothing", id="nothing"),
    ],
)
def test_refused_sql_says_what_is_refused_and_what_can_be_read(
    folder: Path, sql: str, statement: str
) -> None:
    message = ends(2, "sql", folder, sql).err
    assert f"found {statement}. Results are read only: COPY, CREATE, INSERT" in message
    assert "A SELECT can read local files: FROM read_csv('FILE')" in message


def test_a_select_reads_local_files_as_it_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    sql = f"SELECT a + b AS sum FROM read_csv('{tmp_path}/mine.csv')"
    assert ok("sql", folder, sql, "--json").json == [{"sum": 3}]


def test_a_pivot_with_its_values_is_a_select(folder: Path) -> None:
    sql = "PIVOT runs ON mode IN ('seq', 'mv') USING count(*) GROUP BY judge"
    assert ok("sql", folder, sql, "--json").json == [{"judge": "offline", "seq": 1, "mv": 0}]
