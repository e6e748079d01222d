"""How an input is cut: the size of chunks, the longest line, and what is told of its records."""

import json
from pathlib import Path

import pytest

from tests.pipelines.conftest import ok, tables, ufo
from tests.pipelines.runs.plain_files import plain
from ufo.pipelines.runs.chunks import default_chunk_size, even_chunk_size, in_chunks
from ufo.pipelines.runs.inputs import InputFile, PlainFile

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
