"""How rows are written: JSON and CSV that lose nothing, widths for a terminal."""

import csv
import datetime as dt
import json
import math
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.conftest import rows_of as rows_of_run
from tests.conftest import write_run
from ufo.pipelines.reports import tabular
from ufo.pipelines.reports.tabular import rows_of
from ufo.schemas.results import open_results
from ufo.schemas.text import unescape_formula

names = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=4)


@given(st.data(), names)
def test_json_and_csv_lose_nothing(data: Any, columns: list[str]) -> None:
    texts = st.none() | st.text(st.characters(codec="utf-8"), max_size=12)
    rows = data.draw(st.lists(st.tuples(*[texts] * len(columns)), max_size=5))
    arrays = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(columns))]
    table = pa.Table.from_arrays(arrays, names=columns)
    assert json.loads(written(tabular.write_json, table.to_reader(2))) == [
        dict(zip(tabular.unique_names(columns), row, strict=True)) for row in rows
    ]
    stream = StringIO(written(tabular.write_csv, table.to_reader(2)), newline="")
    expected = [tuple(columns), *[tuple(text or "" for text in row) for row in rows]]
    # A row of one NULL is an empty line, which csv reads as a row without fields.
    lines = [
        tuple(map(unescape_formula, line)) or ("",) for line in csv.reader(stream, strict=True)
    ]
    assert lines == expected


def written(write: Any, reader: Any, out: StringIO | None = None) -> str:
    out = out or StringIO(newline="")
    write(reader, out)
    return out.getvalue()


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_csv_runs_nothing_and_steers_no_terminal() -> None:
    table = pa.table({"=a": ["=1+1", "-3", "\x1b[2J", None], "n": [-1, 2, 3, 4]})
    text = written(tabular.write_csv, table.to_reader())
    assert text == "'=a,n\n'=1+1,-1\n-3,2\n\x1b[2J,3\n,4\n"
    shown = written(tabular.write_csv, table.to_reader(), Terminal(newline=""))
    assert "\x1b" not in shown
    assert "\\x1b[2J" in shown
    text = written(tabular.write_json, table.to_reader())
    assert "\x1b" not in text
    assert json.loads(text)[2]["=a"] == "\x1b[2J"


@given(
    st.lists(st.one_of(st.integers(0, 10**9), st.text("ab 田🛸_", max_size=90)), min_size=1),
    st.integers(30, 120),
)
def test_a_table_fits_and_cuts_no_number(row: list[Any], width: int) -> None:
    out = StringIO()
    with tabular.page(out, width) as console:
        tabular.print_rows([f"n_{at}" for at in range(len(row))], [row], console)
    assert max(map(cell_len, out.getvalue().splitlines())) <= width
    numbers = [str(one) for one in row if isinstance(one, int)]
    assert [one for one in numbers if one not in out.getvalue()] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "–", id="nothing"),
        pytest.param(True, "yes", id="true"),
        pytest.param(False, "no", id="false"),
        pytest.param(0.0, "0.000", id="zero"),
        pytest.param(0.001, "0.001", id="a thousandth"),
        pytest.param(0.0009, "0.0009", id="less than that"),
        pytest.param(-999_999.0, "-999999.000", id="just under a million, below zero"),
        pytest.param(1e6, "1e+06", id="a million"),
        pytest.param([1, None], "[1, null]", id="a list"),
        pytest.param("a\n b\x07\u200dc", "a b\ufffd\u200dc", id="a text with control characters"),
        pytest.param("x" * 400, "x" * 400, id="a text of 400"),
        pytest.param("x" * 401, "x" * 399 + "…", id="a longer text"),
    ],
)
def test_a_table_shows(value: object, text: str) -> None:
    assert tabular.cell(value) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(None, "", id="nothing"),
        pytest.param("", '""', id="an empty text"),
        pytest.param("a", "a", id="a text"),
        pytest.param(" a", '" a"', id="a space first"),
        pytest.param("a,b", '"a,b"', id="a comma"),
        pytest.param('a"b', '"a""b"', id="a quote"),
        pytest.param("a\rb", '"a\rb"', id="a carriage return"),
        pytest.param("a\nb", '"a\nb"', id="a line end"),
        pytest.param("=1", "'=1", id="a formula"),
        pytest.param(True, "true", id="true"),
        pytest.param(1.5, "1.5", id="a number"),
        pytest.param(["a"], '"[""a""]"', id="a list"),
        pytest.param({"a": 1}, '"{""a"": 1}"', id="an object"),
    ],
)
def test_a_field_of_csv(value: object, written: str) -> None:
    assert tabular.csv_line([value, 7]) == f"{written},7\n"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        pytest.param(math.nan, None, id="no number"),
        pytest.param(-math.inf, None, id="infinity"),
        pytest.param(Decimal("2.0"), 2, id="a whole decimal"),
        pytest.param(Decimal("2.5"), 2.5, id="a decimal"),
        pytest.param(dt.date(2025, 1, 2), "2025-01-02", id="a date"),
        pytest.param(dt.time(3, 4), "03:04:00", id="a time"),
        pytest.param(b"a\xff", "a\\xff", id="bytes"),
        pytest.param({1: math.nan}, {"1": None}, id="an object"),
        pytest.param((Decimal(1), [b"b"]), [1, ["b"]], id="a sequence"),
        pytest.param(Path("a"), "a", id="anything else"),
    ],
)
def test_a_value_as_plain_json(value: object, plain: object) -> None:
    assert tabular.plain(value) == plain


@pytest.mark.parametrize(
    ("sql", "table", "csv_field", "in_json"),
    [
        pytest.param("DATE 'infinity'", "infinity", "infinity", "infinity", id="never"),
        pytest.param("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)", "0044-03-15 (BC)",
                     "0044-03-15 (BC)", id="before year 1"),
        pytest.param("TIMESTAMP '20000-01-01 10:00:00'", "20000-01-01 10:00:00",
                     "20000-01-01 10:00:00", "20000-01-01 10:00:00", id="after year 9999"),
        pytest.param("[DATE '0044-03-15 (BC)']", "['0044-03-15 (BC)']", "['0044-03-15 (BC)']",
                     "['0044-03-15 (BC)']", id="in a list"),
        pytest.param("TIMESTAMPTZ '2025-06-01 12:00:00+02'", "2025-06-01T10:00:00+00:00",
                     "2025-06-01T10:00:00+00:00", "2025-06-01T10:00:00+00:00", id="with a zone"),
        pytest.param("TIMESTAMP_NS '2025-06-01 12:00:00.123456789'",
                     "2025-06-01T12:00:00.123456789", "2025-06-01T12:00:00.123456789",
                     "2025-06-01T12:00:00.123456789", id="nanoseconds"),
        pytest.param("INTERVAL '1 month 2 days 03:00:00'", "1 month 2 days 03:00:00",
                     "1 month 2 days 03:00:00", "1 month 2 days 03:00:00", id="an interval"),
        pytest.param("1.50::DECIMAL(9, 2)", "1.50", "1.50", 1.5, id="a decimal"),
        pytest.param("12345678901234567890.12::DECIMAL(38, 2)", "12345678901234567890.12",
                     "12345678901234567890.12", "12345678901234567890.12", id="a long decimal"),
        pytest.param("'nan'::DOUBLE", "nan", "nan", None, id="no number"),
        pytest.param("'-inf'::DOUBLE", "-inf", "-inf", None, id="less than all numbers"),
        pytest.param("0.1::FLOAT", "0.100", "0.1", 0.1, id="single precision"),
        pytest.param("'\\xAAb\\x01'::BLOB", "\\xAAb\\x01", "\\xAAb\\x01", "\\xAAb\\x01",
                     id="bytes"),
        pytest.param("['\\xAA'::BLOB]", '["\\\\xAA"]', '"[""\\\\xAA""]"', ["\\xAA"],
                     id="bytes in a list"),
        pytest.param("{'a': '\\xAA'::BLOB}", '{"a": "\\\\xAA"}', '"{""a"": ""\\\\xAA""}"',
                     {"a": "\\xAA"}, id="bytes in a struct"),
        pytest.param("MAP {1: 2}", '{"1": 2}', '"{""1"": 2}"', {"1": 2}, id="a map"),
        pytest.param("MAP {{'a': 1}: 2}", "{{'a': 1}=2}", "{{'a': 1}=2}", "{{'a': 1}=2}",
                     id="a map of structs"),
        pytest.param("'101'::BIT", "101", "101", "101", id="bits"),
        pytest.param("'b'::ENUM('a', 'b')", "b", "b", "b", id="a word of a list"),
        pytest.param("(-1)::HUGEINT", "-1", "-1", -1, id="a huge number"),
    ],
)  # fmt: skip
def test_a_value_of_sql_is_printed(
    tmp_path: Path, sql: str, table: str, csv_field: str, in_json: object
) -> None:
    write_run(tmp_path, rows_of_run({"x": {"u": {"ref": "s"}}}))
    with open_results(tmp_path) as results:
        selected = results.query(f"SELECT {sql} AS value")
    ((value,),) = rows_of(selected.to_reader())
    assert tabular.cell(value) == table
    assert written(tabular.write_csv, selected.to_reader()) == f"value\n{csv_field}\n"
    assert json.loads(written(tabular.write_json, selected.to_reader())) == [{"value": in_json}]


def test_what_python_cannot_hold_is_text_beside_what_it_can() -> None:
    days = pa.array([0, -1_000_000, None], pa.int32()).view(pa.date32())
    days_read = [day for (day,) in rows_of(pa.table({"day": days}).to_reader())]
    assert days_read == [dt.date(1970, 1, 1), "0769-02-04 (BC)", None]
