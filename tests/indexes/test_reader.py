import bz2
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ufo.indexes.reader import Block, RawDocument, RawPage, Slice, read_blocks

PAGE = "<page><title>{}</title><ns>0</ns><revision><text>x</text></revision></page>\n"
DUMP = ("<mediawiki>" + "".join(map(PAGE.format, "ABCDE")) + "</mediawiki>").encode()
RECORDS = [{"title": f"T{number}", "text": "é", "url": None} for number in range(5)]
LINES = "\n".join(map(json.dumps, RECORDS)).encode()


def _blocks(path: Path, data: bytes, **options: int) -> list[Block]:
    path.write_bytes(data)
    return list(read_blocks(Slice(3, str(path)), **options))


def test_blocks_number_the_items_of_a_file(tmp_path: Path) -> None:
    blocks = _blocks(tmp_path / "x-20250301-pages.xml", DUMP, block_pages=2)
    assert [(b.file, b.number, b.first, len(b.items)) for b in blocks] == [
        (3, 0, 0, 2),
        (3, 1, 2, 2),
        (3, 2, 4, 1),
    ]
    assert {(b.date, b.name) for b in blocks} == {("2025-03-01", "x-20250301-pages.xml")}


def test_a_block_is_bounded_in_bytes_too(tmp_path: Path) -> None:
    assert len(_blocks(tmp_path / "x", DUMP, block_bytes=1)) == 5


@pytest.mark.parametrize(
    "data", [DUMP, bz2.compress(DUMP), gzip.compress(b"\n " + DUMP)], ids=["xml", "bz2", "gz"]
)
def test_a_dump_is_reported_by_its_content(tmp_path: Path, data: bytes) -> None:
    [block] = _blocks(tmp_path / "x", data)
    assert len(block.items) == 5
    assert all(isinstance(item, RawPage) and not item.problem for item in block.items)


@pytest.mark.parametrize(
    "data",
    [LINES, b"\xef\xbb\xbf" + LINES + b"\n", gzip.compress(LINES)],
    ids=["jsonl", "bom", "gz"],
)
def test_documents_one_a_line(tmp_path: Path, data: bytes) -> None:
    [block] = _blocks(tmp_path / "x", data)
    assert all(isinstance(item, RawDocument) and item.json for item in block.items)
    assert len(block.items) == 5


def test_documents_of_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([*RECORDS, {"title": None, "text": "x"}]), tmp_path / "x")
    [block] = read_blocks(Slice(0, str(tmp_path / "x")))
    rows = [json.loads(item.json) for item in block.items if isinstance(item, RawDocument)]
    assert [row["title"] for row in rows] == ["T0", "T1", "T2", "T3", "T4", None]


@pytest.mark.parametrize(
    "data",
    [b"PAR1 but not Parquet", bz2.compress(LINES)[:20], b"", b"\xff\xfe\x00", b"[1, 2]", b"text"],
)
def test_what_is_neither_is_one_problem(tmp_path: Path, data: bytes) -> None:
    [block] = _blocks(tmp_path / "x", data)
    [item] = block.items
    assert item.problem


def test_truncated_documents_say_where(tmp_path: Path) -> None:
    [block] = _blocks(tmp_path / "x", gzip.compress(LINES)[:-6])
    assert "truncated" in block.items[-1].problem
    assert len(block.items) == 5  # four whole lines and the problem
