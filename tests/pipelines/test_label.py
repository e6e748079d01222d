"""Sheets for people and their way back, through the commands and the reports."""

import csv
import gzip
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import blank, rows_of, write_run
from tests.pipelines.conftest import ends, named_cases, ok, read_csv, ufo, write_csv
from ufo.schemas.label_sheets import keep_label
from ufo.schemas.labels import Label
from ufo.schemas.results import open_results
from ufo.schemas.text import unescape_formula

UNITS = {f"u{n:02d}": {"ref": "s" if n % 3 else "r"} for n in range(30)}
VOTES = {
    "a": UNITS,
    "b": {f"v{n:02d}": {"ref": "n", "wiki": "s" if n % 2 else "n"} for n in range(30)},
    "c": {},
}


def read(text: str) -> list[Any]:
    return list(csv.DictReader(io.StringIO(text)))


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
    done = ok("label", "sample", runs, "--n", 20)
    rows = read(done.out)
    assert list(rows[0]) == [
        "run",
        "response_id",
        "unit_id",
        "stratum",
        "stratum_size",
        "question",
        "response",
        "sentence",
        "claim",
        "label",
        "note",
    ]
    strata = {(row["stratum"], row["stratum_size"], row["label"]) for row in rows}
    assert strata == {("all", "60", "")}
    assert len(rows) == len({(row["response_id"], row["unit_id"]) for row in rows}) == 20
    first = next(row for row in rows if row["response_id"] == "a")
    unit = first["unit_id"]
    shown = (first["question"], first["claim"], first["sentence"])
    assert shown == ("What of a?", f"Claim {unit}.", f"S {unit}.")
    assert "supported" not in done.out
    assert "20 of 60 claims at random" in done.err
    (sheet := runs / "sheet.csv").write_text("hours of work")
    assert "may hold what people wrote" in ends(2, "label", "sample", runs, "--output", sheet).err
    assert sheet.read_text() == "hours of work"


ANY_TEXT = st.text(
    st.one_of(
        st.sampled_from("\r\n\t \"',;=+-@'1\x0b\x85\u2028\ufeff"),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    min_size=1,
).filter(str.strip)


@pytest.mark.slow
@settings(max_examples=10)
@example(["\r", "a\rb", " a", "'=1", "=1", "a\r\nb\n", '"'])
@given(st.lists(ANY_TEXT, min_size=1, max_size=20, unique=True))
def test_a_sheet_comes_back_with_any_text_in_it(texts: list[str]) -> None:
    rows = rows_of({text: {f"u{n}": {"ref": "s"}} for n, text in enumerate(texts)})
    names = {"responses": ("text", "question"), "sentences": ("text",), "fact_units": ("claim",)}
    for table, columns in names.items():
        for at, row in enumerate(rows[table]):
            rows[table][at] = replace(row, **dict.fromkeys(columns, row.response_id))
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), rows)
        sheet = Path(folder) / "sheet.csv"
        ok("label", "sample", folder, "--output", sheet)
        drawn = read_csv(sheet)
        assert sorted(unescape_formula(row["claim"]) for row in drawn) == sorted(texts)
        write_csv(sheet, drawn, label="true", note="n")
        ok("label", "import", folder, sheet, "--json")
        with open_results(folder) as results:
            labelled = results.query("SELECT response_id, label FROM labels").to_pylist()
    assert sorted(row["response_id"] for row in labelled) == sorted(texts)
    assert {row["label"] for row in labelled} == {1}


def test_a_sheet_may_hold_longer_texts_than_csv_takes_by_default(
    runs: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"response_id,unit_id,label,claim\na,u01,true,{'x' * 140_000}\n")
    assert ok("label", "import", runs, sheet, "--json").json["true"] == 1


def test_labels_read_back_are_of_every_run_that_has_the_unit(
    runs: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    rows = read(ufo("label", "sample", runs, "--n", 20, "--run", "first").out)
    for number, row in enumerate(rows):
        row["label"] = ("true", "No", "unsure", "")[min(number, 15) % 4]
        row["note"] = f"n{number}"
    sheet = write_csv(tmp_path / "our sheet.csv", rows)
    again = ("label", "import", runs, sheet, "--sheet", "Ann")
    path = runs / "labels" / "Ann.parquet"
    assert "one with --sheet NAME" in ufo("label", "import", runs, sheet).err
    counts = {"path": str(path), "rows": 20, "true": 4, "false": 4, "unsure": 4, "blank": 8}
    counts |= {"partly": 0, "repeated": 0, "added": 8, "replaced": 0, "changed": 0, "withdrawn": 0}
    counts |= {"contradicted": 0, "problems": []}
    message = "drawn from run first; 60 of its 60 claims are in run second"
    assert ok(*again, "--json").json == {**counts, "notices": [message]}
    who = "SELECT run, annotator, sheet, count(*) FROM labels GROUP BY ALL"
    assert ask(who) == [("first", "Ann", "Ann", 8)]
    query = "SELECT count(*), sum(label), any_value(origin) FROM human_labels"
    assert [ask(query, run) for run in ("first", "second")] == [[(8, 4, "sheet")]] * 2
    # The weights add up to the number of units.
    assert ask("SELECT stratum, sum(weight) FROM labels GROUP BY stratum") == [("all", 60)]
    assert "Corrected by people" in ufo("report", runs).out
    # The same sheet again replaces what it said.
    kept = path.read_bytes()
    assert "0 added, 8 replaced (nothing changed), 0 withdrawn" in ok(*again).out
    assert path.read_bytes() == kept
    write_csv(sheet, [{**row, "label": "0"} for row in reversed([*rows, rows[0]])])
    message = ok(*again).out
    assert "20 labelled (0 true, 20 false)" in message
    assert "1 repeated" in message
    assert ask("SELECT DISTINCT label FROM human_labels") == [(0,)]


LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "YES", "Supported"), 1),
    **dict.fromkeys(("0", "0.0", "false", "NO", "Refuted", "contradicted"), 0),
    "0.7": 0.7,
    ".25": 0.25,
    **dict.fromkeys(("unsure", "Unknown", "?", "Not found", "", "NA")),
}


def test_every_word_for_a_label_is_read(
    runs: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    units = {f"u{at:02}": word for at, word in enumerate(LABELS)}
    lines = [f"a,{unit},{word}" for unit, word in units.items()]
    sheet.write_text("\n".join(["response_id,unit_id,label", *lines]))
    printed = ok("label", "import", runs, sheet, "--json").json
    del printed["path"]
    counts = {"rows": 19, "true": 5, "false": 6, "partly": 2, "unsure": 4, "blank": 2}
    assert {name: printed[name] for name in counts} == counts
    labels = dict(ask("SELECT unit_id, label FROM labels"))
    labels_read = {word: labels.get(unit) for unit, word in units.items()}
    assert labels_read == LABELS


@pytest.mark.parametrize(
    ("size", "valid"), [("1", True), ("0", False), ("-1", False), ("1.5", False), ("", False)]
)
def test_the_size_of_a_stratum_is_a_number_of_units(
    runs: Path, tmp_path: Path, size: str, valid: bool
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"response_id,unit_id,label,stratum,stratum_size\na,u01,1,all,{size}\n")
    done = ends(0 if valid else 2, "label", "import", runs, sheet)
    assert (f"stratum_size '{size}' is not a number of claims" in done.err) == (not valid)


@pytest.mark.parametrize(
    ("n", "more"),
    [pytest.param(10, "", id="ten"), pytest.param(11, "and 1 more", id="one more than ten")],
)
def test_problems_of_a_sheet_are_shown_up_to(runs: Path, tmp_path: Path, n: int, more: str) -> None:
    sheet = tmp_path / "s.csv"
    lines = [f"a,u{at:02},maybe" for at in range(n)]
    sheet.write_text("\n".join(["response_id,unit_id,label", *lines]))
    done = ends(2, "label", "import", runs, sheet)
    assert done.err.count("'maybe' is no label") == 10
    assert ("more" in done.err) == bool(more)
    assert more in done.err


def test_a_spreadsheet_may_write_it_its_way(
    runs: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    lines = ["response_id,unit_id,label", "a,u01,TRUE", '"a",u02,Refuted', ",,", "b,v01,?"]
    expected = [("second", "a", f"u0{n}", label, None) for n, label in enumerate((1, 0, 1), 1)]
    for delimiter in (",", ";", "\t"):
        text = "\r\n".join([*lines, "a,u03,1.0"]).replace(",", delimiter)
        for encoding in ("utf-8-sig", "utf-16"):
            sheet.write_bytes(text.encode(encoding))
            ok("label", "import", runs, sheet)
            columns = "run, response_id, unit_id, label, weight"
            assert ask(f"SELECT {columns} FROM labels ORDER BY ALL") == expected
    packed = tmp_path / "s.csv.gz"
    packed.write_bytes(gzip.compress(sheet.read_bytes()))
    ok("label", "import", runs, packed)  # the same sheet, again
    assert ask("SELECT DISTINCT sheet FROM labels") == [("s",)]


@pytest.mark.parametrize(
    ("content", "message"), named_cases(Path(__file__).with_name("faulty_sheets.txt"))
)
def test_a_sheet_without_a_usable_line_is_refused(
    runs: Path, tmp_path: Path, content: str, message: str
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_bytes(f"response_id,unit_id,label\n{content}\n".encode("latin-1"))
    done = ufo("label", "import", runs, sheet)
    assert done.code == 2, done.err
    assert message in done.err, done.err
    sheet.write_text("claim,verdict\nx,1\n")
    assert "lacks the columns response_id and" in ufo("label", "import", runs, sheet).err
    assert not (runs / "labels").exists()


# --- labels that are given one at a time


def test_a_label_replaces_that_of_its_unit_alone(tmp_path: Path) -> None:
    def keep(response: str, unit: str, label: int | None, sheet: str = "page") -> None:
        keep_label(tmp_path, blank(Label, run="r", response_id=response, unit_id=unit,
                                   label=label, annotator=sheet, sheet=sheet))  # fmt: skip

    for response, unit in (("a", "u"), ("a", "v"), ("b", "u")):
        keep(response, unit, 1)
    keep("a", "u", 0)
    keep("a", "u", 1, "another sheet")
    keep("b", "u", None)
    rows = pq.read_table(tmp_path / "labels" / "page.parquet").to_pylist()
    assert [(row["response_id"], row["unit_id"], row["label"]) for row in rows] == [
        ("a", "u", 0),
        ("a", "v", 1),
    ]


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        pytest.param("A-b_c.9", True, id="all that may follow"),
        pytest.param("a" * 100, True, id="100 characters"),
        pytest.param("a" * 101, False, id="101 characters"),
        pytest.param("", False, id="nothing"),
        pytest.param(".a", False, id="a dot first"),
        pytest.param("a/b", False, id="a slash"),
    ],
)
def test_the_name_of_a_sheet(runs: Path, tmp_path: Path, name: str, valid: bool) -> None:
    (sheet := tmp_path / "s.csv").write_text("response_id,unit_id,label\na,u01,1\n")
    done = ends(0 if valid else 2, "label", "import", runs, sheet, "--sheet", name)
    assert ("a sheet's name is 1 to 100 letters" in done.err) == (not valid)


def test_a_run_without_a_fact_unit_has_no_sample(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"c": {}}))
    message = ends(2, "label", "sample", tmp_path).err
    assert "run 'r1' has no claim to label" in message


@pytest.mark.parametrize(("n", "drawn"), [(59, 59), (60, 60), (61, 60)])
def test_no_more_units_are_drawn_than_there_are(runs: Path, n: int, drawn: int) -> None:
    done = ok("label", "sample", runs, "--n", n)
    assert len(read(done.out)) == drawn
    assert f"ufo: run second: {drawn} of 60 claims at random.\n" in done.err


def test_units_of_a_response_stand_together_in_their_order(runs: Path) -> None:
    rows = read(ok("label", "sample", runs, "--n", 60).out)
    units = [(row["response_id"], row["unit_id"]) for row in rows]
    first, other = units[0][0], units[-1][0]
    assert {first, other} == {"a", "b"}
    assert units == [*sorted(u for u in units if u[0] == first),
                     *sorted(u for u in units if u[0] == other)]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param((), "ufo label import RUNS SHEET\n", id="to stdout"),
        pytest.param(("--output", "NEW"), "ufo label import RUNS NEW\n", id="to a file"),
    ],
)
def test_a_sample_says_how_its_labels_come_back(
    runs: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    new = str(tmp_path / "new.csv")
    done = ok("label", "sample", runs, *(word.replace("NEW", new) for word in words))
    assert done.err.endswith(message.replace("RUNS", str(runs)).replace("NEW", new))
    assert bool(done.out) == (not words)


@pytest.mark.parametrize(
    ("lines", "labels"),
    [
        pytest.param("a,u01,1", [("second", "a", 1, None)], id="the newest run that has the unit"),
        pytest.param("a,u01,1,first", [("first", "a", 1, None)], id="a run that is named"),
        pytest.param(
            "a,u01,1,,low,9\na,u02,0,,low,9\nb,v01,1,,high,5\nb,v02,,,high,5",
            [("second", "a", 1, 4.5), ("second", "a", 0, 4.5), ("second", "b", 1, 5.0)],
            id="each stratum has its weight",
        ),
        pytest.param("a,u01,1,,,x", [("second", "a", 1, None)], id="no stratum has no size"),
        pytest.param(" a ,u01,1", [], id="an id with spaces is another"),
        pytest.param("b,u01,1", [], id="a unit of another response"),
        pytest.param("a,u01,1,third", [], id="a run that is not there"),
    ],
)
def test_a_line_of_a_sheet(
    runs: Path, ask: Callable[..., Any], tmp_path: Path, lines: str, labels: list[Any]
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"response_id,unit_id,label,run,stratum,stratum_size\n{lines}\n")
    ends(0 if labels else 2, "label", "import", runs, sheet)
    if labels:
        columns = "run, response_id, label, weight"
        assert ask(f"SELECT {columns} FROM labels ORDER BY response_id, unit_id") == labels


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("unit_id,label", "lacks the column response_id; it has unit_id, label."),
        ("response_id,label", "lacks the column unit_id; it has response_id, label."),
        ("response_id,unit_id", "lacks the column label; it has response_id, unit_id."),
        ("claim", "lacks the columns response_id and unit_id and label; it has claim."),
        ("", "lacks the columns response_id and unit_id and label; it has none."),
    ],
    ids=["response_id", "unit_id", "label", "all of them", "all columns"],
)
def test_a_sheet_that_lacks_a_column(runs: Path, tmp_path: Path, head: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(f"{head}\n")
    assert message in ends(2, "label", "import", runs, tmp_path / "s.csv").err


def test_labels_that_cannot_be_kept_are_an_error(runs: Path, tmp_path: Path) -> None:
    (runs / "labels").touch()
    (tmp_path / "s.csv").write_text("response_id,unit_id,label\na,u01,1\n")
    message = ends(2, "label", "import", runs, tmp_path / "s.csv").err
    assert f"the labels cannot be kept in '{runs}': " in message


def test_a_sample_is_of_its_seed(runs: Path) -> None:
    first, again, other = (
        ok("label", "sample", runs, "--n", 9, *flags).out
        for flags in ((), ("--seed", 0), ("--seed", 1))
    )
    assert again == first
    assert other != first
