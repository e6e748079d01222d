"""What a run says of the lines and columns that it cannot use."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.runs.plain_files import plain
from ufo.pipelines.runs.input_report import InputReport, input_warnings
from ufo.schemas.errors import NothingUsable, UsageError
from ufo.transforms.read import parse


def observed(*records: dict[str, Any] | str) -> InputReport:
    report = InputReport()
    read = report.wrap_parse(parse)
    for number, record in enumerate(records, 1):
        line = record if isinstance(record, str) else json.dumps(record)
        read(f"in:{number}", line.encode(), 1000)
    return report


def test_an_input_without_a_usable_record_is_told_by_its_first_failure() -> None:
    with pytest.raises(NothingUsable, match=r"of 2\. in:1: not JSON") as caught:
        observed("nope" + "x" * 300, "no").check(["in"])
    assert caught.value.message.endswith("It begins: nope" + "x" * 196)


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="without a line"),
        pytest.param(["nope", {"response": "R."}], id="with one usable record"),
    ],
)
def test_an_input_goes_on(records: list[Any]) -> None:
    observed(*records).check(["in"])


def test_chunks_before_the_first_usable_line_are_held_back() -> None:
    report = InputReport()
    read = report.wrap_parse(parse)

    def chunks() -> Any:
        for number, line in enumerate((b"nope", b'{"response": "R."}', b"nope")):
            read(f"in:{number}", line, 1000)
            yield number

    passed = report.check_chunks(chunks(), ["in"], lambda text: None)
    assert list(passed) == [0, 1, 2]


@pytest.mark.parametrize(
    ("n", "more"),
    [pytest.param(8, "", id="eight"), pytest.param(9, " and 1 more", id="one more than eight")],
)
def test_unknown_keys_are_shown_up_to(n: int, more: str) -> None:
    report = InputReport()
    report.add_unknown({f"zzz{at}": 1 for at in range(n)})
    warning = report.warning() or ""
    assert warning.count("(1 record)") == 8
    assert warning.endswith("(1 record)" + more)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        pytest.param(
            "prompt", "prompt (1 record; did you mean question? --map question=prompt)",
            id="with another name",
        ),
        pytest.param("zzz", "zzz (1 record)", id="of no known name"),
        pytest.param("label", "label (1 record)", id="whose place --map gives to another one"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_told(name: str, advice: str) -> None:
    report = InputReport()
    report.add_unknown({name: "x"})
    assert (report.warning() or "").endswith(f"in their metadata: {advice}")


def test_the_most_frequent_unknown_key_is_told_first() -> None:
    report = InputReport()
    for record in ({"rare": 1, "often": 1}, {"often": 1}):
        report.add_unknown(record)
    assert "metadata: often (2 records), rare (1 record)" in (report.warning() or "")


def test_columns_that_are_left_out_are_told_once(tmp_path: Path) -> None:
    report = InputReport(plain(tmp_path, "", "", left_out=("image", "raw")))
    assert (report.warning() or "").endswith("unless --map names them: image, raw.")


def test_an_input_with_nothing_to_tell_has_no_warning() -> None:
    assert InputReport().warning() is None


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        pytest.param('{"a": "x", "b": "y"}', [], id="both in one record"),
        pytest.param('nope\n{"a": "x"}\n{"b": "y"}', [], id="in different records"),
        pytest.param('{"a": "x"}', ["question=COLUMN: 'b'"], id="one in no record"),
        pytest.param("nope", [], id="no record that can be read"),
    ],
)
def test_columns_of_map_are_looked_for(text: str, missing: list[str]) -> None:
    columns = {"response": "a", "question": "b"}
    report = InputReport(columns=columns)
    read = report.wrap_parse(partial(parse, columns=columns, keys=report.add_keys))
    columns_named = []
    try:
        for number, line in enumerate(text.splitlines(), 1):
            read(f"in:{number}", line.encode(), 1000)
        report.check(["in"])
    except NothingUsable:
        pass  # no line can be read
    except UsageError as error:
        columns_named = [error.message.partition("--map ")[2].partition(";")[0]]
    assert columns_named == missing


def test_chunks_before_the_last_column_of_map_are_held_back() -> None:
    columns = {"response": "a", "question": "b"}
    report = InputReport(columns=columns)
    read = report.wrap_parse(partial(parse, columns=columns, keys=report.add_keys))
    read_lines = []

    def chunks() -> Any:
        for number, line in enumerate((b'{"a": "R."}', b'{"b": "Q?"}', b'{"a": "S."}')):
            read(f"in:{number}", line, 1000)
            read_lines.append(number)
            yield number

    assert next(report.check_chunks(chunks(), ["in"], lambda text: None)) == 0
    assert read_lines == [0, 1]


def test_a_column_at_a_path_that_no_record_has_is_told_with_the_nearest() -> None:
    columns = {"response": "outputs.anwer"}
    report = InputReport(columns=columns)
    report.add_keys({"outputs": {"answer": "R."}})
    with pytest.raises(UsageError, match=r"Did you mean 'outputs\.answer'\?"):
        report.check(["in"])


@pytest.mark.parametrize(
    ("counters", "warnings"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"read": {"same": 0}}, [], id="no duplicate"),
        pytest.param(
            {"read": {"same": 2}},
            ["2 exact duplicates of an earlier record: each was evaluated once."],
            id="duplicates",
        ),
    ],
)
def test_the_warnings_of_an_input(counters: Any, warnings: list[str]) -> None:
    assert list(input_warnings(counters)) == warnings
