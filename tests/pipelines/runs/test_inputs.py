"""An input file's records, and the chunks that they are cut into."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ufo.pipelines.runs.chunks import Chunk, SeenRecords, in_chunks
from ufo.pipelines.runs.inputs import PlainFile
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.job import lines
from ufo.transforms.read import parse

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


def test_which_line_is_the_one_of_its_id(tmp_path: Path) -> None:
    good, bad = (json.dumps({"id": "a", "response": text}) for text in ("Text.", ""))
    kept = json.dumps({"id": "r3", "response": "Text."})
    files = plain(tmp_path, f"{bad}\n{good}\n{good}\n{kept}\n{kept}\n", f"\n{good}")
    assert read(list(in_chunks(files, 1, 1000, reused))) == [
        ("0.jsonl:1", "failure"),
        ("0.jsonl:2", "a"),
        ("0.jsonl:3", "repeated"),
        ("0.jsonl:4", "reused"),
        ("0.jsonl:5", "repeated"),
        ("1.jsonl:2", "repeated"),
    ]


@given(st.lists(st.tuples(st.binary(max_size=2), st.sampled_from([b"a", b"b"])), max_size=60))
def test_records_are_recognised_whether_sorted_or_recent(
    records: list[tuple[bytes, bytes]],
) -> None:
    seen, first = SeenRecords(recent=3), dict[bytes, bytes]()
    for one, line in records:
        assert seen.add(one, line) == (one in first, first.get(one) == line)
        first.setdefault(one, line)
