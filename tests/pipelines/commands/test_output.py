"""How commands print rows: as a table, as JSON, as CSV, and what is said beside a table."""

import json
from argparse import Namespace
from typing import Any

import pyarrow as pa
import pytest

from ufo.pipelines.commands.output import print_json, print_reader_as
from ufo.pipelines.reports.tabular import OF_UNUSABLE

LIMITED = "The first {} rows. All of them: --rows 0, --json or --csv."


def shown(
    capsys: pytest.CaptureFixture[str], rows: dict[str, list[Any]], how: Any, **texts: Any
) -> str:
    """What is printed of these rows."""
    asked = {"json": False, "csv": False, "rows": None, **how}
    print_reader_as(pa.table(rows).to_reader(), Namespace(**asked), **texts)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("n", "how", "lines", "more"),
    [
        pytest.param(20, {}, 20, "", id="twenty rows"),
        pytest.param(21, {}, 20, LIMITED.format(20), id="one row more"),
        pytest.param(3, {"rows": 3}, 3, "", id="as many as are asked for"),
        pytest.param(4, {"rows": 3}, 3, LIMITED.format(3), id="one more than is asked for"),
        pytest.param(21, {"rows": 0}, 21, "", id="all"),
    ],
)
def test_a_table_has_its_first_rows(
    capsys: pytest.CaptureFixture[str], n: int, how: Any, lines: int, more: str
) -> None:
    printed = shown(capsys, {"i": list(range(100, 100 + n))}, how).splitlines()
    assert sum(line.strip().isdecimal() for line in printed) == lines
    assert [line for line in printed if line.startswith("The first")] == [more] * bool(more)


def test_a_value_is_printed_over_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1], "b": None})
    assert capsys.readouterr().out == '{\n  "a": [\n    1\n  ],\n  "b": null\n}\n'


@pytest.mark.parametrize(
    ("rows", "n"), [(None, 30), (0, 30), (3, 3)], ids=["not given", "zero", "three"]
)
def test_rows_that_a_program_reads_are_limited_where_it_asks(
    capsys: pytest.CaptureFixture[str], rows: int | None, n: int
) -> None:
    columns = {"i": list(range(30))}
    assert len(json.loads(shown(capsys, columns, {"json": True, "rows": rows}))) == n
    assert shown(capsys, columns, {"csv": True, "rows": rows}).count("\n") == n + 1


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        pytest.param({}, "no rows", id="for no known reason"),
        pytest.param({"empty": "of old"}, "no rows: of old", id="for a reason"),
    ],
)
def test_a_table_without_rows_says_so(
    capsys: pytest.CaptureFixture[str], texts: dict[str, str], text: str
) -> None:
    assert shown(capsys, {"i": []}, {}, **texts).splitlines()[-1] == text


def test_a_table_has_its_title_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, {"i": [1]}, {}, title="A title").startswith("A title\n")


@pytest.mark.parametrize(
    ("unusable", "of", "notes"),
    [
        pytest.param([0, 0], [3, 3], [], id="none"),
        pytest.param([1, 3, 0], [2, 9, 9], ["2 of 3 rows", "the worst 1 of 2;"], id="by share"),
        pytest.param([2, 1], [None, 9], ["2 of 2 rows", "the worst 2 of 0;"], id="of nothing"),
    ],
)
def test_rows_with_unusable_judgements_are_counted_below(
    capsys: pytest.CaptureFixture[str], unusable: list[int], of: list[Any], notes: list[str]
) -> None:
    printed = shown(capsys, {"i": unusable, "n_unusable": unusable, "n_judgements": of}, {})
    assert ("unusable judgements" in printed) == bool(notes)
    assert [text for text in notes if text not in printed] == []


@pytest.mark.parametrize("name", OF_UNUSABLE)
def test_counts_of_the_unusable_are_in_no_table(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    rows = {"i": [1], name: [7]}
    assert name not in shown(capsys, rows, {})
    assert json.loads(shown(capsys, rows, {"json": True})) == [{"i": 1, name: 7}]
