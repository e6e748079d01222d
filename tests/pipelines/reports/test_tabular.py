"""How rows are written: JSON and CSV that lose nothing, cells and widths for a terminal."""

import csv
import json
from io import StringIO
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ufo.pipelines.reports.tabular import (
    cell,
    one_line,
    page,
    print_rows,
    unique_names,
    write_csv,
    write_json,
)
from ufo.schemas.text import with_formula

names = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=4)


@given(st.data(), names)
def test_json_and_csv_lose_nothing(data: Any, columns: list[str]) -> None:
    texts = st.none() | st.text(st.characters(codec="utf-8"), max_size=12)
    rows = data.draw(st.lists(st.tuples(*[texts] * len(columns)), max_size=5))
    arrays = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(columns))]
    table = pa.Table.from_arrays(arrays, names=columns)
    out = StringIO(newline="")
    write_json(table.to_reader(2), out)
    assert json.loads(out.getvalue()) == [
        dict(zip(unique_names(columns), row, strict=True)) for row in rows
    ]
    out = StringIO(newline="")
    write_csv(table.to_reader(2), out)
    lines = list(csv.reader(StringIO(out.getvalue(), newline=""), strict=True))
    expected = [tuple(columns), *[tuple(text or "" for text in row) for row in rows]]
    # A row of one NULL is an empty line, which csv reads as a row without fields.
    assert [tuple(map(with_formula, line)) or ("",) for line in lines] == expected


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_csv_runs_nothing_and_steers_no_terminal() -> None:
    table = pa.table({"=a": ["=1+1", "-3", "\x1b[2J", None], "n": [-1, 2, 3, 4]})
    out = StringIO(newline="")
    write_csv(table.to_reader(), out)
    assert out.getvalue() == "'=a,n\n'=1+1,-1\n-3,2\n\x1b[2J,3\n,4\n"
    shown = Terminal(newline="")
    write_csv(table.to_reader(), shown)
    assert "\x1b" not in shown.getvalue()
    assert "\\x1b[2J" in shown.getvalue()
    out = StringIO(newline="")
    write_json(table.to_reader(), out)
    assert "\x1b" not in out.getvalue()
    assert json.loads(out.getvalue())[2]["=a"] == "\x1b[2J"


def test_cells() -> None:
    shown = [0.0, 2 / 3, 1e-7, 12345678.0, True, None, 3, "a\tb", [1]]
    assert "|".join(map(cell, shown)) == "0.000|0.667|1e-07|1.235e+07|yes|–|3|a b|[1]"
    assert one_line("x" * 10, 5) == "xxxx…"
    assert one_line("👩\u200d🔬") == "👩\u200d🔬"


@given(
    st.lists(st.one_of(st.integers(0, 10**9), st.text("ab 田🛸_", max_size=90)), min_size=1),
    st.integers(30, 120),
)
def test_a_table_fits_and_cuts_no_number(row: list[Any], width: int) -> None:
    out = StringIO()
    with page(out, width) as console:
        print_rows([f"n_{at}" for at in range(len(row))], [row], console)
    assert max(map(cell_len, out.getvalue().splitlines())) <= width
    assert all(str(one) in out.getvalue() for one in row if isinstance(one, int))
