"""Reports of one's own, thresholds, and what a printed report says beside its rows."""

import json
from pathlib import Path

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import printed
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
    (folder / "units.sql").write_text(
        f"{OWN}-- needs: scores\nSELECT response_id, n_units FROM scores;\n"
    )
    (folder / "notes.txt").write_text("not a report")
    sql = "SELECT model, count(*) AS n FROM sentence_scores JOIN responses USING (response_id)"
    (folder / "aaa.sql").write_text(f"-- Sentences by model\n{sql} GROUP BY model\n")
    (folder / "aab.sql").write_text("-- All\n-- needs: aaa\nSELECT sum(n) AS n FROM aaa\n")
    return folder


def test_a_report_of_ones_own_appears_beside_ours(folder: Path, reports: Path) -> None:
    text = printed("report", "--list", "--reports", reports)
    assert "Units of each response" in text
    assert "Agreement with people" in text
    text = printed("report", folder, "units", "--reports", reports)
    assert "Units of each response, run day" in text
    rows = json.loads(printed("report", folder, "units", "--reports", reports, "--json"))
    assert rows[0] == {"response_id": "a", "n_units": 3}
    sql = "SELECT sum(n_units) AS n FROM units"
    assert json.loads(printed("sql", folder, sql, "--reports", reports, "--json")) == [{"n": 10}]
    listed = {row["name"] for row in json.loads(printed("report", "--list", "--json"))}
    macros = {view.name for view in load_views() if view.parameters is not None}
    assert not listed & (macros | {"units"})
    # One of one's own need not say which of ours it reads.
    read = ("report", folder, "aab", "--reports", reports, "--json")
    assert json.loads(printed(*read)) == [{"n": 10}]
    page = Reader(page_of(folder, reports=reports))
    assert page.text.index("Units of each response") > page.text.index("Reports of your own")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("scores", "SELECT 1 AS run", "name of a shipped report"),
        ("evidence", "SELECT 1 AS run", "name of a shipped report"),
        ("bad", "SELECT FROM nowhere WHERE", "report 'bad': "),
        ("bad", "SELECT * FROM nowhere", "report 'bad': "),
        ("lost", "-- Lost\n-- needs: nothing_such\nSELECT 1 AS run", "needs 'nothing_such'"),
        ("latin", b"-- Gr\xfc\xdfe\nSELECT 1", r"latin\.sql"),
        ("loop", "-- Loop\n-- needs: loop\nSELECT 1 AS run", "need each other: loop → loop"),
    ],
)
def test_a_report_that_is_none_is_named(
    folder: Path, reports: Path, name: str, text: str | bytes, message: str
) -> None:
    (reports / f"{name}.sql").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError, match=message), open_results(folder, reports=reports):
        pass
    with pytest.raises(UsageError, match="is not a folder"):
        open_results(folder, reports=folder / "nowhere")


def test_what_a_report_shows_fits_a_terminal(folder: Path) -> None:
    for name in (view.name for view in load_views() if view.shows):
        text = printed("report", folder, name)
        assert max(map(len, text.splitlines())) <= 100
        assert "row 1" not in text
    text = printed("report", folder, "source_benchmark")
    assert "no rows: it takes a run of --mode all" in text
    assert json.loads(printed("report", folder, "source_benchmark", "--json")) == []
