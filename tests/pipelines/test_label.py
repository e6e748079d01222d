"""Sheets for people and their way back, through the commands and the reports."""

import csv
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ok, ufo
from ufo.schemas.results import open_results
from ufo.schemas.text import with_formula

UNITS = {f"u{n:02d}": {"ref": "s" if n % 3 else "r"} for n in range(30)}
VOTES = {
    "a": UNITS,
    "b": {f"v{n:02d}": {"ref": "n", "wiki": "s" if n % 2 else "n"} for n in range(30)},
    "c": {},
}


def read(text: str) -> list[Any]:
    return list(csv.DictReader(io.StringIO(text)))


def write(path: Path, rows: list[Any], **columns: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0], *columns])
        writer.writeheader()
        writer.writerows({**row, **columns} for row in rows)
    return path


@pytest.fixture(name="runs")
def _runs(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    rows = rows_of(VOTES, models={"a": "m1", "b": "m2"})
    write_run(folder, rows, "first", finished_at="2025-06-01T00:00:00Z")
    write_run(folder, rows, "second", finished_at="2025-06-02T00:00:00Z")
    return folder


@pytest.fixture(name="ask")
def _ask(runs: Path) -> Callable[..., Any]:
    def ask(sql: str, run: str | None = None) -> list[Any]:
        with open_results(runs, run) as results:
            return [tuple(row.values()) for row in results.query(sql).to_pylist()]

    return ask


def test_a_sheet_is_a_random_sample_and_says_nothing_of_verdicts(runs: Path) -> None:
    done = ufo("label", "sample", runs, "--n", 20)
    rows = read(done.out)
    assert done.code == 0
    assert len(rows) == 20
    assert list(rows[0]) == [
        *("run", "response_id", "unit_id", "stratum", "stratum_size", "question", "response"),
        *("sentence", "claim", "label", "note"),
    ]
    assert {(row["stratum"], row["stratum_size"]) for row in rows} == {("all", "60")}
    assert len({(row["response_id"], row["unit_id"]) for row in rows}) == 20
    first = next(row for row in rows if row["response_id"] == "a")
    assert first["question"] == "What of a?"
    assert first["claim"] == f"Claim {first['unit_id']}."
    assert first["sentence"] == f"S {first['unit_id']}."
    assert {row["label"] for row in rows} == {""}
    assert "supported" not in done.out
    assert "20 of 60 units at random" in done.err
    (sheet := runs / "sheet.csv").write_text("hours of work")
    done = ufo("label", "sample", runs, "--output", sheet)
    assert (done.code, "may hold what people wrote" in done.err) == (2, True)
    assert sheet.read_text() == "hours of work"


ANY_TEXT = st.text(
    st.one_of(
        st.sampled_from("\r\n\t \"',;=+-@'1\x0b\x85\u2028\ufeff"),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    min_size=1,
).filter(str.strip)


@settings(max_examples=10)
@example(["\r", "a\rb", " a", "'=1", "=1", "a\r\nb\n", '"'])
@given(st.lists(ANY_TEXT, min_size=1, max_size=20, unique=True))
def test_a_sheet_comes_back_with_any_text_in_it(texts: list[str]) -> None:
    rows = rows_of({text: {f"u{n}": {"ref": "s"}} for n, text in enumerate(texts)})
    names = {"responses": ("text", "question"), "sentences": ("text",), "fact_units": ("claim",)}
    for table, columns in names.items():
        rows[table] = [
            replace(row, **dict.fromkeys(columns, row.response_id)) for row in rows[table]
        ]
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), rows)
        sheet = Path(folder) / "sheet.csv"
        ok("label", "sample", folder, "--output", sheet)
        with sheet.open(encoding="utf-8", newline="") as stream:
            drawn = list(csv.DictReader(stream))
        assert sorted(with_formula(row["claim"]) for row in drawn) == sorted(texts)
        write(sheet, drawn, label="true", note="n")
        ok("label", "import", folder, sheet, "--json")
        with open_results(folder) as results:
            found = results.query("SELECT response_id, label FROM labels").to_pylist()
    assert sorted(row["response_id"] for row in found) == sorted(texts)
    assert {row["label"] for row in found} == {1}


def test_labels_read_back_are_of_every_run_that_has_the_unit(
    runs: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    rows = read(ufo("label", "sample", runs, "--n", 20, "--run", "first").out)
    for number, row in enumerate(rows):
        row["label"] = ("true", "No", "unsure", "")[min(number, 15) % 4]
        row["note"] = f"n{number}"
    sheet = write(tmp_path / "our sheet.csv", rows)
    assert "one with --sheet NAME" in ufo("label", "import", runs, sheet).err
    done = ufo("label", "import", runs, sheet, "--sheet", "Ann", "--json")
    assert done.code == 0
    assert done.json == {
        "path": str(runs / "labels" / "Ann.parquet"),
        "rows": 20,
        "true": 4,
        "false": 4,
        "unsure": 4,
        "blank": 8,
        "repeated": 0,
    }
    assert ask("SELECT run, annotator, sheet, count(*) FROM labels GROUP BY ALL") == [
        ("first", "Ann", "Ann", 8)
    ]
    for run in ("first", "second"):
        assert ask("SELECT count(*), sum(label), any_value(origin) FROM human_labels", run) == [
            (8, 4, "sheet")
        ]
    # The weights add up to the number of units.
    assert ask("SELECT stratum, sum(weight) FROM labels GROUP BY stratum") == [("all", 60)]
    assert "Corrected by people" in ufo("report", runs).out
    # The same sheet again replaces what it said.
    again = ("label", "import", runs, sheet, "--sheet", "Ann")
    kept = (runs / "labels" / "Ann.parquet").read_bytes()
    ok(*again)
    assert (runs / "labels" / "Ann.parquet").read_bytes() == kept
    write(sheet, [{**row, "label": "0"} for row in reversed([*rows, rows[0]])])
    assert "20 labelled (0 true, 20 false)" in (told := ufo(*again).out)
    assert "1 repeated" in told
    assert ask("SELECT DISTINCT label FROM human_labels") == [(0,)]


def test_a_spreadsheet_may_write_it_its_way(
    runs: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    lines = ["response_id,unit_id,label", "a,u01,TRUE", '"a",u02,Refuted', ",,", "b,v01,?"]
    expected = [("second", "a", f"u0{n}", label, None) for n, label in enumerate((1, 0, 1), 1)]
    for delimiter in (",", ";", "\t"):
        text = "\r\n".join([*lines, "a,u03,1.0"]).replace(",", delimiter)
        sheet.write_bytes(b"\xef\xbb\xbf" + text.encode())
        ok("label", "import", runs, sheet)
        columns = "run, response_id, unit_id, label, weight"
        assert ask(f"SELECT {columns} FROM labels ORDER BY ALL") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,u01,1\na,u99,1", "line 3: no finished run in"),
        (b"a,u01,maybe", "line 2: label 'maybe' is not 1, true, yes or supported"),
        (b'a,u01,1\n"a","u02","0\n"\na,u01,0', "line 5: unit 'u01' has another label on line 2"),
        (b"a,u01,", "has no label: fill its column `label`"),
        (b'a,u01,1\na,"u02,0', "after line"),
        (b"\xff\xfe", "CSV in UTF-8"),
        (None, "lacks the columns response_id and unit_id"),
    ],
)
def test_a_sheet_with_a_fault_is_refused_whole(
    runs: Path, tmp_path: Path, content: bytes | None, message: str
) -> None:
    sheet = tmp_path / "s.csv"
    head = b"response_id,unit_id,label\n"
    sheet.write_bytes(b"claim,verdict\nx,1\n" if content is None else head + content + b"\n")
    done = ufo("label", "import", runs, sheet)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (runs / "labels").exists()
    assert "cannot read" in ufo("label", "import", runs, tmp_path / "none.csv").err
