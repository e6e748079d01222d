"""The input of an index: files, whole or in slices, in blocks of pages or documents."""

import bz2
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ufo.indexes.reader import (
    Block,
    InputDamaged,
    RawDocument,
    RawPage,
    Slice,
    is_stream_index,
    read_blocks,
    read_chunks,
    slices_of,
)

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


# --- slices --------------------------------------------------------------------------------------

HEAD = b'<mediawiki xml:lang="de"><siteinfo><base>https://w.example.org/wiki/M</base></siteinfo>\n'


def _page(number: int) -> bytes:
    return b"<page><title>T%d</title><ns>0</ns></page>\n" % number


def _dump(path: Path, streams: int = 6) -> list[int]:
    """Write a multistream dump of three pages a stream; return where these streams begin."""
    data, offsets = bz2.compress(HEAD), []
    for stream in range(streams):
        offsets.append(len(data))
        data += bz2.compress(b"".join(_page(3 * stream + n) for n in range(3)))
    path.write_bytes(data + bz2.compress(b"</mediawiki>\n"))
    return offsets


def _items(path: Path) -> list[RawPage | RawDocument]:
    slices = slices_of(path, 0, 1, slice_bytes=1)
    return [item for part in slices for block in read_blocks(part) for item in block.items]


def _titles(slices: list[Slice]) -> list[str]:
    items = [item for part in slices for block in read_blocks(part, 2) for item in block.items]
    pages = [item for item in items if isinstance(item, RawPage)]
    assert pages == items
    assert not any(page.problem for page in pages)
    return [page.xml.split(b"<title>")[1].split(b"<")[0].decode() for page in pages]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "xwiki-20240601-pages-articles-multistream1.xml.bz2"
    _dump(path)
    return path


def test_each_slice_is_a_document_of_its_own(dump: Path) -> None:
    slices = slices_of(dump, 0, 1, slice_bytes=1)
    assert len(slices) == 8
    assert _titles(slices) == [f"T{number}" for number in range(18)]
    blocks = [block for part in slices for block in read_blocks(part, 2)]
    assert {block.site.base_url for block in blocks} == {"https://w.example.org/wiki/"}
    assert {(block.site.language, block.date) for block in blocks} == {("de", "2024-06-01")}
    numbers = [block.number for block in blocks]
    assert numbers == sorted(set(numbers))
    assert {block.name for block in blocks} == {f"{dump.name}@{s.start}" for s in slices[1:-1]}


def test_the_index_file_of_a_dump_is_known_by_its_name(dump: Path) -> None:
    assert is_stream_index(Path("xwiki-20240601-pages-articles-multistream-index1.txt.bz2"))
    assert not is_stream_index(dump)


def test_damage_costs_its_slice_only(dump: Path) -> None:
    offsets = _dump(dump)
    data = bytearray(dump.read_bytes())
    data[offsets[2] + 20 : offsets[2] + 40] = b"\0" * 20
    dump.write_bytes(data)
    found = _items(dump)
    problems = [item.problem for item in found if item.problem]
    assert len(problems) == 1
    assert "damaged bzip2" in problems[0]
    assert len(found) - len(problems) == 15


def test_a_dump_that_is_cut_says_so_once(dump: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-60])
    problems = [item.problem for item in _items(dump) if item.problem]
    assert len(problems) == 1
    assert "truncated" in problems[0]


def test_other_large_files_are_shared_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps({"title": f"T{n}", "text": "x"}) for n in range(50)))
    assert slices_of(path, 2, 4) == [Slice(2, str(path))]  # too small to share
    monkeypatch.setattr("ufo.indexes.reader.SHARED_BYTES", 10)
    slices = slices_of(path, 2, 3)
    blocks = [block for part in slices for block in read_blocks(part, 4)]
    whole = list(read_blocks(Slice(2, str(path)), 4))
    assert sorted(blocks, key=lambda block: block.number) == whole
    assert all(list(read_blocks(part, 4)) for part in slices)


TEXT = bytes(range(256)) * 6_000


def _read(path: Path) -> tuple[bytes, str]:
    found = b""
    try:
        for chunk in read_chunks(path):
            found += chunk
    except InputDamaged as damage:
        return found, str(damage)
    return found, ""


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        bz2.compress(TEXT),
        gzip.compress(TEXT),
        bz2.compress(TEXT[:100]) + bz2.compress(TEXT[100:]),
        gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]) + b"\0" * 512,
    ],
    ids=["plain", "bzip2", "gzip", "multistream", "members"],
)
def test_told_by_content_whatever_the_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "dump.xyz"
    path.write_bytes(data)
    assert _read(path) == (TEXT, "")


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress], ids=["bzip2", "gzip"])
def test_what_precedes_a_cut_or_damage_is_read(tmp_path: Path, compress: object) -> None:
    first, second = compress(TEXT), compress(TEXT[::-1])  # type: ignore[operator]
    path = tmp_path / "dump"
    path.write_bytes(first + second[: len(second) // 2])
    found, problem = _read(path)
    assert found.startswith(TEXT)
    assert "truncated" in problem
    path.write_bytes(first + second[:20] + b"\xff" * 400)
    found, problem = _read(path)
    assert found.startswith(TEXT)
    assert problem
    path.write_bytes(first + b"no stream")
    assert _read(path)[0] == TEXT
    assert "damaged" in _read(path)[1]


def test_an_empty_file_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert _read(tmp_path / "empty") == (b"", "")
