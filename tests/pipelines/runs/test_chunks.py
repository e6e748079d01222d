"""How an input is cut: the size of chunks, the longest line, and what is told of its records."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import ok, tables, ufo
from ufo.pipelines.runs.chunks import (
    InputReport,
    default_chunk_size,
    even_chunk_size,
    in_chunks,
    input_warnings,
)
from ufo.pipelines.runs.inputs import InputFile, PlainFile
from ufo.schemas.errors import NothingUsable, UsageError
from ufo.transforms.read import parse

# --- the size of chunks


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        pytest.param(0, 1, id="an empty input"),
        pytest.param(1, 1, id="one response"),
        pytest.param(999, 999, id="just too few for two"),
        pytest.param(1_000, 500, id="two of the least size"),
        pytest.param(1_499, 750, id="two, just too few for three"),
        pytest.param(1_500, 500, id="three"),
        pytest.param(4_000, 500, id="eight of the least size"),
        pytest.param(8_000, 1_000, id="eight, and never more for a small input"),
        pytest.param(32_000, 4_000, id="eight of the greatest size"),
        pytest.param(32_001, 2_667, id="one response more: a multiple of four"),
        pytest.param(48_000, 4_000, id="twelve of the greatest size"),
    ],
)
def test_an_input_is_cut_evenly(lines: int, size: int) -> None:
    assert even_chunk_size(lines) == size


@pytest.mark.parametrize(
    ("models", "size"),
    [
        pytest.param(False, 500, id="even where no model is asked"),
        pytest.param(True, 4_000, id="large where a model is asked"),
    ],
)
def test_the_default_size_is_of_the_lines_of_all_files(models: bool, size: int) -> None:
    files = [
        InputFile(name, name, 1, "", lines, PlainFile(name, name, 1))
        for name, lines in (("a", 600), ("b", 400))
    ]
    assert default_chunk_size(files, models) == size


# --- the longest line

LIMIT = 60


def line_of(length: int, text: str = "x") -> bytes:
    """A record in so many bytes, filled up with a text of one or more bytes."""
    head, tail = b'{"claims": [], "response": "', b'"}'
    room, each = length - len(head + tail), len(text.encode())
    return head + (text * (room // each)).encode() + b"." * (room % each) + tail


LENGTHS: dict[str, tuple[bytes, bool]] = {
    "the most bytes": (line_of(LIMIT) + b"\n", True),
    "one byte more": (line_of(LIMIT + 1) + b"\n", False),
    "the most bytes and a Windows line end": (line_of(LIMIT) + b"\r\n", True),
    "one byte more and a Windows line end": (line_of(LIMIT + 1) + b"\r\n", False),
    "the most bytes in fewer characters": (line_of(LIMIT, "é") + b"\n", True),
    "one byte more in fewer characters": (line_of(LIMIT + 1, "é") + b"\n", False),
    "far too many bytes": (line_of(3 * LIMIT) + b"\n", False),
    "the most bytes without a line end": (line_of(LIMIT), True),
}


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """For each line, by the command, what is told of its failure."""
    folder = tmp_path_factory.mktemp("cut")
    (folder / "in.jsonl").write_bytes(b"".join(line for line, _ in LENGTHS.values()))
    words = ("evaluate", "--input", folder / "in.jsonl", "--output", folder / "out")
    ok(*words, "--workers", 1, "--sources", "reference", "--max_line_bytes", LIMIT)
    messages = {row[1]: row[3] for row in tables(folder / "out")["failures"]}
    return {name: messages.get(f"in.jsonl:{at}") for at, name in enumerate(LENGTHS, 1)}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_line_of(cut: dict[str, str | None], name: str) -> None:
    too_long = f"the record is longer than --max_line_bytes, which is {LIMIT}"
    assert cut[name] == (None if LENGTHS[name][1] else too_long)


@pytest.mark.parametrize(
    ("length", "code"),
    [pytest.param(LIMIT, 0, id="the most bytes"), pytest.param(LIMIT + 1, 1, id="one byte more")],
)
def test_an_estimate_keeps_to_the_longest_line(tmp_path: Path, length: int, code: int) -> None:
    (tmp_path / "in.jsonl").write_bytes(line_of(length))
    words = ("evaluate", "--input", tmp_path / "in.jsonl", "--dry_run", "--max_line_bytes", LIMIT)
    assert ufo(*words).code == code


# --- chunks and their lines


def plain(folder: Path, *texts: str, left_out: tuple[str, ...] = ()) -> list[PlainFile]:
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.jsonl"
        path.write_text(text)
        files.append(PlainFile(path.name, str(path), path.stat().st_size, left_out))
    return files


def test_a_chunk_goes_on_in_the_next_file(tmp_path: Path) -> None:
    lines = [json.dumps({"response": f"R{n}."}) + "\n" for n in range(5)]
    files = plain(tmp_path, "".join(lines[:3]), "".join(lines[3:]))
    chunks = list(in_chunks(files, 2, 1000))
    assert [chunk.n_lines for chunk in chunks] == [2, 2, 1]
    names = [[(one.name, one.first_line) for one in chunk.splits] for chunk in chunks]
    assert names == [[("0.jsonl", 1)], [("0.jsonl", 3), ("1.jsonl", 1)], [("1.jsonl", 2)]]


def test_a_repeated_id_is_told_from_an_equal_line(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "response": "R."},
        {"id": "a", "response": "R."},
        {"id": "a", "response": "S."},
    ]
    (chunk,) = in_chunks(plain(tmp_path, "\n".join(map(json.dumps, lines))), 9, 1000)
    (split,) = chunk.splits
    assert split.repeated == {1, 2}
    assert split.same == {1}


# --- what is told of an input


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
