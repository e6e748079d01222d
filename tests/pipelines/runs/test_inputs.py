"""An input file's records, and the chunks that they are cut into."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.pipelines.runs.chunks import MAX_LINES, Chunk, even_chunk_size, in_chunks
from ufo.pipelines.runs.inputs import PlainFile, measure, spool
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.job import lines
from ufo.transforms.read import OF_CELLS, parse

RECORDS = [{"question": "Q?", "answer": 'one\ntwo, "three"'}, {"question": "R?", "answer": "no"}]


def written(folder: Path, name: str) -> str:
    path = folder / name
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
    elif name.endswith(".csv"):
        path.write_text(
            '\ufeffquestion,answer\r\nQ?,"one\ntwo, ""three"""\r\nR?,no\r\n', newline=""
        )
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines if "no_end" not in name else lines.rstrip("\n"))
    return str(path)


@pytest.mark.parametrize(
    ("name", "lines"),
    [("in.jsonl", 2), ("no_end.jsonl", 2), ("in.parquet", 2), ("in.csv", 2), ("in.jsonl.gz", 2)],
)
def test_lines_are_those_that_the_run_will_have(tmp_path: Path, name: str, lines: int) -> None:
    file = measure(written(tmp_path, name), name)
    assert file.lines == lines
    if not file.is_plain():
        spooled = Path(spool(file, str(tmp_path))).read_text().splitlines()
        found = [json.loads(line) for line in spooled]
        assert [found.pop(OF_CELLS, False) for found in found] == [name == "in.csv"] * 2
        assert found == RECORDS


def test_a_file_that_is_damaged(tmp_path: Path) -> None:
    for content, message in (
        (b'question,"answer\nQ?', "header is not CSV"),
        (b"PAR1", "cannot be"),
    ):
        (tmp_path / "in.jsonl").write_bytes(content)
        with pytest.raises(UsageError, match=message):
            measure(str(tmp_path / "in.jsonl"), "in.jsonl")


def test_bytes_in_parquet_are_the_text_that_they_encode(tmp_path: Path) -> None:
    path = str(tmp_path / "in.parquet")
    pq.write_table(pa.table({"response": ["Zürich".encode(), b"\xff"]}), path)
    lines = Path(spool(measure(path, "in.parquet"), str(tmp_path))).read_bytes().splitlines()
    good, bad = (parse("in.parquet:1", line) for line in lines)
    assert isinstance(good, InputRecord)
    assert good.text == "Zürich"
    assert isinstance(bad, Failure)
    assert "not UTF-8" in bad.message


# --- chunks

LINES = st.lists(
    st.sampled_from(
        [
            *(json.dumps({"id": f"r{n}", "response": "Text."}) for n in range(5)),
            json.dumps({"response": "No id."}),
            "not json",
            "",
            "   ",
        ]
    ),
    max_size=12,
)


def plain(folder: Path, *contents: str) -> list[PlainFile]:
    files = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.jsonl"
        path.write_text(content)
        files.append(PlainFile(path.name, str(path), path.stat().st_size))
    return files


def read(chunks: list[Chunk]) -> list[tuple[str, str]]:
    """What workers make of the chunks: each line's key and what becomes of it."""
    found = []
    for chunk in chunks:
        for split in chunk.splits:
            with open(split.path, "rb") as stream:
                for row, line in enumerate(lines(stream, split, 1000)):
                    record = parse(line.key, line.data)
                    if isinstance(record, Failure):
                        found.append((line.key, "failure"))
                    elif row in split.repeated:
                        found.append((line.key, "repeated"))
                    elif row in split.skipped:
                        found.append((line.key, "reused"))
                    else:
                        found.append((line.key, record.response_id))
    return found


def reused(record: InputRecord) -> bool:
    return record.response_id == "r3"


@given(st.lists(LINES, min_size=1, max_size=3), st.integers(1, 9), st.booleans())
def test_any_chunk_size_gives_the_same_records(
    tmp_path_factory: Any, contents: list[list[str]], size: int, carry: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    files = plain(folder, *("\n".join(rows) for rows in contents))
    more: dict[str, Any] = {"reused": reused} if carry else {}
    chunks = list(in_chunks(files, size, 1000, **more))
    assert read(chunks) == read(list(in_chunks(files, 10**6, 1000, **more)))
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.n_lines == size for chunk in chunks[:-1])
    n_lines = sum(bool(row.strip()) for rows in contents for row in rows)
    assert sum(chunk.n_lines for chunk in chunks) == len(read(chunks)) == n_lines


def test_the_first_record_of_an_id_is_the_one_across_files_and_chunks(tmp_path: Path) -> None:
    record = json.dumps({"id": "a", "response": "Text."})
    files = plain(tmp_path, f"{record}\n{record}\n", f"\n{record}")
    assert read(list(in_chunks(files, 1, 1000))) == [
        ("0.jsonl:1", "a"),
        ("0.jsonl:2", "repeated"),
        ("1.jsonl:2", "repeated"),
    ]


def test_a_reused_record_is_skipped_and_its_repeat_is_still_a_failure(tmp_path: Path) -> None:
    record = json.dumps({"id": "r3", "response": "Text."})
    files = plain(tmp_path, f"{record}\n{record}\n")
    chunks = list(in_chunks(files, 10, 1000, reused))
    assert [state for _, state in read(chunks)] == ["reused", "repeated"]


def test_an_unusable_line_uses_no_id(tmp_path: Path) -> None:
    bad = json.dumps({"id": "a", "response": ""})
    good = json.dumps({"id": "a", "response": "Text."})
    assert [
        state for _, state in read(list(in_chunks(plain(tmp_path, f"{bad}\n{good}"), 5, 1000)))
    ] == [
        "failure",
        "a",
    ]


def test_the_plan_is_made_as_it_is_asked_for(tmp_path: Path) -> None:
    files = plain(tmp_path, "not json\n" * 10)
    chunks = in_chunks([*files, PlainFile("gone", str(tmp_path / "gone"), 5)], 5, 1000)
    assert [next(chunks).number, next(chunks).number] == [0, 1]


@given(st.integers(0, 100_000))
def test_a_chunk_is_neither_small_nor_large(n_lines: int) -> None:
    size = even_chunk_size(n_lines)
    assert 1 <= size <= MAX_LINES
    assert size >= min(n_lines, 500)
    last = n_lines % size or size
    assert n_lines <= size or size - last < n_lines / size, "the last one is about as large"


@pytest.mark.parametrize(
    ("n_lines", "chunks"),
    [(0, 0), (1, 1), (999, 1), (1_000, 2), (1_001, 2), (4_000, 8), (10_000, 8), (100_000, 28)],
)
def test_a_small_input_goes_evenly_into_processes(n_lines: int, chunks: int) -> None:
    assert -(-n_lines // even_chunk_size(n_lines)) == chunks
