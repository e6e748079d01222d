"""How rows are written: JSON and CSV that lose nothing, widths for a terminal."""

import csv
import json
from io import StringIO
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ufo.pipelines.reports import tabular
from ufo.schemas.text import with_formula

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
    found = StringIO(written(tabular.write_csv, table.to_reader(2)), newline="")
    expected = [tuple(columns), *[tuple(text or "" for text in row) for row in rows]]
    # A row of one NULL is an empty line, which csv reads as a row without fields.
    lines = [tuple(map(with_formula, line)) or ("",) for line in csv.reader(found, strict=True)]
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
    found = written(tabular.write_csv, table.to_reader())
    assert found == "'=a,n\n'=1+1,-1\n-3,2\n\x1b[2J,3\n,4\n"
    shown = written(tabular.write_csv, table.to_reader(), Terminal(newline=""))
    assert "\x1b" not in shown
    assert "\\x1b[2J" in shown
    found = written(tabular.write_json, table.to_reader())
    assert "\x1b" not in found
    assert json.loads(found)[2]["=a"] == "\x1b[2J"


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
