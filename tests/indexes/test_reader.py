"""The input of an index: files, whole or in slices, in blocks of pages or documents."""

import bz2
import gzip
import json
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes import reader
from ufo.indexes.reader import (
    Block,
    RawPage,
    Slice,
    Wiki,
    parse_page,
    slices_of,
    title_in,
)
from ufo.schemas import rows
from ufo.schemas.compression import InputDamaged
from ufo.schemas.documents import RawDocument

PAGE = """<page><title>{}</title><ns>0</ns><id>7</id>
<revision><id>70</id><timestamp>2025-03-01T10:00:00Z</timestamp>
<text xml:space="preserve">{}</text></revision></page>
"""
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo><base>https://de.example.org/wiki/Hauptseite</base><namespaces>
  <namespace key="0" /><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace>
  <namespace key="-2">Medium</namespace><namespace key="10">Vorlage</namespace>
  </namespaces></siteinfo>
"""
END = b"</mediawiki>"
DUMP = (HEAD + PAGE.format("A", "a &lt;page&gt;") + PAGE.format("B", "é")).encode() + END


def pages_of(*chunks: bytes, max_bytes: int = reader.MAX_PAGE_BYTES) -> list[RawPage]:
    return [item for item in reader.read_pages(chunks, max_bytes) if isinstance(item, RawPage)]


def test_site_and_pages() -> None:
    site, *raw = reader.read_pages([DUMP])
    assert isinstance(site, reader.Wiki)
    assert site.language == "de"
    assert site.url_of("Ulm Minster?") == "https://de.example.org/wiki/Ulm_Minster%3F"
    assert site.url_of(";@$!*(),/~:&").endswith("/;@$!*(),/~:%26")
    assert site.dropped_links == GERMAN
    page, other = [parse_page(one) for one in raw if isinstance(one, RawPage)]
    assert page.title == "A"
    assert page.namespace == 0
    assert page.page_id == 7
    assert page.revision_id == 70
    assert page.timestamp == "2025-03-01T10:00:00Z"
    assert page.redirect is None
    assert page.text == "a <page>"
    assert other.text == "é"


ENGLISH = "https://en.wikipedia.org/wiki/"
GERMAN = frozenset(("bild", "category", "datei", "file", "image", "kategorie", "media", "medium"))
USUAL = frozenset(("category", "file", "image", "media"))
BASE = "<base>https://de.example.org/wiki/Hauptseite</base>"


@pytest.mark.parametrize(
    ("head", "site"),
    [
        pytest.param("<mediawiki>", Wiki(), id="nothing of the site"),
        pytest.param(HEAD.replace(BASE, ""), Wiki(ENGLISH, GERMAN, "de"), id="no address"),
        pytest.param(HEAD.replace("<base>", "<b>"), Wiki(ENGLISH, USUAL, "de"), id="broken"),
        pytest.param(HEAD.replace("</siteinfo>", ""), Wiki(ENGLISH, USUAL, "de"), id="no end"),
        pytest.param(
            f"<mediawiki><siteinfo>{BASE}<namespace key='6' /></siteinfo>",
            Wiki("https://de.example.org/wiki/", USUAL, "en"),
            id="no language, and a namespace without a name",
        ),
    ],
)
def test_what_is_missing_of_a_site_is_the_english_wikipedia_s(head: str, site: Wiki) -> None:
    read_site, *_ = reader.read_pages([f"{head}{PAGE.format('A', '')}".encode() + END])
    assert read_site == site
    assert Wiki().url_of("A b") == "https://en.wikipedia.org/wiki/A_b"


@pytest.mark.parametrize(
    ("xml", "title"),
    [
        pytest.param(b"<title>" + b"x" * 1_000 + b"</title>", "x" * 1_000, id="1,000 letters"),
        pytest.param(b"<title>" + b"x" * 1_001 + b"</title>", "", id="1,001 letters"),
        pytest.param(b"<title>A</title>".rjust(8_192), "A", id="the first 8,192 bytes"),
        pytest.param(b"<title>A</title>".rjust(8_193), "", id="a byte further"),
        pytest.param(b"<title> A </title>", "A", id="spaces around it"),
    ],
)
def test_a_title_is_found_at_the_beginning(xml: bytes, title: str) -> None:
    assert title_in(xml) == title


@given(st.lists(st.integers(0, len(DUMP)), max_size=12), st.integers(0, len(DUMP) - 1))
def test_pages_do_not_depend_on_how_bytes_arrive(cuts: list[int], cut: int) -> None:
    edges = [0, *sorted(cuts), len(DUMP)]
    pages = reader.read_pages([DUMP[a:b] for a, b in pairwise(edges)])
    assert list(pages) == list(reader.read_pages([DUMP]))
    *whole, last = pages_of(DUMP[:cut])
    assert last.problem
    assert [parse_page(page).title for page in whole] == ["A", "B"][: len(whole)]
    assert len(whole) == DUMP[:cut].count(b"</page>")


def test_so_much_is_kept_of_what_is_no_export() -> None:
    [page] = pages_of(b"x" * 5_000)
    assert page.xml == b"x" * 4_096


def test_an_empty_file_has_one_slice(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert slices_of(tmp_path / "x", 3, 4) == [Slice(3, str(tmp_path / "x"))]


def test_a_page_without_its_end_or_over_the_limit_costs_itself_only() -> None:
    first, second = pages_of(DUMP.replace(b"</page>", b"", 1))
    assert first.problem == "the page has no </page>"
    assert title_in(first.xml) == "A"
    assert parse_page(second).title == "B"
    big = DUMP.replace(b"a &lt;", b"x" * 5_000)
    first, second = pages_of(
        *(big[at : at + 500] for at in range(0, len(big), 500)), max_bytes=2_000
    )
    assert "over 2,000 bytes" in first.problem
    assert title_in(first.xml) == "A"
    assert parse_page(second).title == "B"


ONE = PAGE.format("A", "x").strip().encode()


@pytest.mark.parametrize(
    ("data", "problems", "last"),
    [
        pytest.param(ONE + b"</page></page>" + END, 2, "", id="ends without a beginning"),
        pytest.param(ONE + b"<page><title>B</title>", 1, "B", id="cut right after a page"),
        pytest.param(ONE + b" <page><title>B</title>", 1, "B", id="cut within the next page"),
        pytest.param(ONE, 1, "", id="cut after a page"),
        pytest.param(ONE + b"<page>" + END, 1, "", id="an end right after a beginning"),
        pytest.param(ONE + END, 0, "A", id="whole"),
    ],
)
def test_what_has_no_beginning_or_no_end_is_a_problem(
    data: bytes, problems: int, last: str
) -> None:
    pages = pages_of(b"<mediawiki>" + data)
    assert len([page for page in pages if page.problem]) == problems
    assert title_in(pages[-1].xml) == last


@pytest.mark.parametrize(
    ("data", "place"),
    [
        pytest.param(ONE + b"<page>", "after 1 whole page, in the middle of a page,", id="a page"),
        pytest.param(ONE + b" <page>", "after 1 whole page, in the middle of a page,", id="space"),
        pytest.param(ONE, "after 1 whole page, without", id="no page"),
        pytest.param(b"", "after 0 whole pages, without", id="nothing"),
    ],
)
def test_a_cut_dump_says_where_it_stops(data: bytes, place: str) -> None:
    *_, last = pages_of(b"<mediawiki>" + data)
    assert f"the dump is truncated: it stops {place}" in last.problem


def test_a_dump_without_pages_is_no_problem() -> None:
    assert list(reader.read_pages([b"<mediawiki>" + END])) == []


@pytest.mark.parametrize(("limit", "over"), [(5_000, 0), (4_999, 1)])
def test_a_page_may_have_so_many_bytes(limit: int, over: int) -> None:
    pages = pages_of(b"<page><title>A</title>".ljust(5_000), b"</page>" + END, max_bytes=limit)
    cut = [page for page in pages if page.problem == f"the page is over {limit:,} bytes"]
    assert [len(page.xml) for page in cut] == [4_096] * over


def test_what_could_not_be_read_is_said_of_a_page() -> None:
    with pytest.raises(reader.PageBroken, match="it is cut"):
        parse_page(RawPage(ONE, "it is cut"))


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), (str(2**63 - 1), 2**63 - 1), (" ", None), ("", None)]
)
def test_an_id_is_a_number_or_none(text: str, number: int | None) -> None:
    xml = f"<page><title>A</title><id>{text}</id></page>"
    assert parse_page(RawPage(xml.encode())).page_id == number


BROKEN = "<id>-1</id> <id>9223372036854775808</id> <unclosed> <ns>zero</ns> <id>x</id>"


def test_a_page_that_is_none_says_why() -> None:
    broken = [f"<title>A</title>{xml}" for xml in BROKEN.split()]
    for xml in (*broken, "<title></title>", "<title>&undefined;</title>", ""):
        with pytest.raises(reader.PageBroken, match=r"\w"):
            parse_page(RawPage(f"<page>{xml}</page>".encode()))


def test_broken_characters_cost_a_character_and_the_last_revision_counts() -> None:
    data = PAGE.format("A", "x@y").encode().replace(b"@", b"\xff\x00")
    assert parse_page(RawPage(data)).text == "x\ufffd\ufffdy"
    xml = b"""<page><title>A_b</title><ns>0</ns><redirect title="C" />
    <revision><id>1</id><text>old</text></revision><revision><id>2</id><text>new</text></revision>
    </page>"""
    page = parse_page(RawPage(xml))
    assert page.title == "A b"
    assert page.redirect == "C"
    assert parse_page(RawPage(xml.replace(b"new", b"#REDIRECT [[D]]"))).redirect == "C"
    assert page.revision_id == 2
    assert page.text == "new"


def test_a_page_may_lack_all_but_its_title() -> None:
    bare = parse_page(RawPage(b"<page><title>A</title><redirect /></page>"))
    assert bare == reader.Page("A", 0, None, None, None, "", "")


def test_what_is_no_export_and_damage_are_one_problem(tmp_path: Path) -> None:
    [page] = pages_of(b"<html><body>Not found</body></html>")
    assert "not a MediaWiki XML export" in page.problem
    (tmp_path / "x.bz2").write_bytes(bz2.compress(DUMP.removesuffix(END)) + bz2.compress(END)[:-9])
    [block] = reader.read_blocks(Slice(0, str(tmp_path / "x.bz2")))
    stopped = "the bzip2 file is truncated; reading stopped after 2 whole pages"
    assert [item.problem for item in block.items] == ["", "", stopped]


# --- blocks ---------------------------------------------------------------------------------------

FIVE = ("<mediawiki>" + "".join(PAGE.format(name, "x") for name in "ABCDE")).encode() + END
RECORDS = [{"title": f"T{number}", "text": "é", "url": None} for number in range(5)]
LINES = "\n".join(map(json.dumps, RECORDS)).encode()


def _blocks(path: Path, data: bytes, **options: Any) -> list[Block]:
    path.write_bytes(data)
    return list(reader.read_blocks(Slice(3, str(path)), **options))


def test_blocks_number_the_items_of_a_file(tmp_path: Path) -> None:
    blocks = _blocks(tmp_path / "x-20250301-pages.xml", FIVE, block_pages=2)
    places = [(b.file, b.number, b.first, len(b.items)) for b in blocks]
    assert places == [(3, 0, 0, 2), (3, 1, 2, 2), (3, 2, 4, 1)]
    assert {(b.date, b.name) for b in blocks} == {("2025-03-01", "x-20250301-pages.xml")}
    assert len(_blocks(tmp_path / "x", FIVE, block_bytes=1)) == 5


DATES: dict[str, str | None] = {
    "20250301": "2025-03-01",
    "20991231": "2099-12-31",
    "20251030": "2025-10-30",
    **dict.fromkeys(("20251301", "20250001", "20250132", "20250100", "19990101")),
    **dict.fromkeys(("202503011", "120250301")),
}


@pytest.mark.parametrize(("digits", "day"), DATES.items(), ids=DATES)
def test_the_date_of_a_dump_is_in_its_name(tmp_path: Path, digits: str, day: str | None) -> None:
    [block] = _blocks(tmp_path / f"x-{digits}-pages.xml", FIVE)
    assert block.date == day


def test_a_block_has_two_hundred_items(tmp_path: Path) -> None:
    blocks = _blocks(tmp_path / "x", b'{"title": "A"}\n' * 201)
    assert [len(block.items) for block in blocks] == [200, 1]


@pytest.mark.parametrize(
    ("size", "items"),
    [(27, [2, 2, 2, 1]), (28, [2, 2, 2, 1]), (29, [3, 3, 1])],
    ids=["a byte less than two lines", "as many as two lines", "a byte more"],
)
def test_a_block_ends_with_so_many_bytes(tmp_path: Path, size: int, items: list[int]) -> None:
    blocks = _blocks(tmp_path / "x", b'{"title": "A"}\n' * 7, block_bytes=size)
    assert [len(block.items) for block in blocks] == items
    assert [block.first for block in blocks] == [0, *np.cumsum(items)[:-1]]


def test_lines_longer_than_a_read_are_whole(tmp_path: Path) -> None:
    lines = [b'{"text": "' + b"x" * size + b'"}' for size in (700_000, 700_000, 5, 3_000_000)]
    [block] = _blocks(tmp_path / "x", b"\n".join(lines))
    assert block.items == tuple(map(RawDocument, lines))


def test_the_columns_of_a_parquet_file_that_are_read(tmp_path: Path) -> None:
    day = date(2025, 3, 1)
    columns = {"more": [1], "url": ["y"], "text": ["x"], "title": [day]}
    pq.write_table(pa.table(columns), tmp_path / "x")
    [block] = reader.read_blocks(Slice(0, str(tmp_path / "x")))
    [item] = block.items
    assert isinstance(item, RawDocument)
    row = json.loads(item.json)
    assert row == {"more": 1, "title": "2025-03-01", "text": "x", "url": "y"}


def test_damage_within_a_parquet_file_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x"
    pq.write_table(pa.table({"title": [str(n) for n in range(2_000)]}), path)
    path.write_bytes(path.read_bytes()[:8] + b"\xff" * 400 + path.read_bytes()[408:])
    [block] = reader.read_blocks(Slice(0, str(path)))
    assert block.items[-1].problem.startswith("not readable as Parquet: ")


@pytest.mark.parametrize(("limit", "last"), [(15, ""), (14, "a line is over 14 bytes")])
def test_a_line_may_have_so_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, last: str
) -> None:
    monkeypatch.setattr(rows, "MAX_LINE_BYTES", limit)
    [block] = _blocks(tmp_path / "x", b'{"title": "A"}\n{"title": "AB"}')
    assert len(block.items) == 2
    assert block.items[1].problem.partition(";")[0] == last


def test_dumps_and_documents_are_told_apart(tmp_path: Path) -> None:
    for data in (FIVE, bz2.compress(FIVE), gzip.compress(b"\n " + FIVE)):
        [block] = _blocks(tmp_path / "x", data)
        assert [(type(item), item.problem) for item in block.items] == [(RawPage, "")] * 5
    for data in (LINES, b"\xef\xbb\xbf" + LINES + b"\n", gzip.compress(LINES)):
        [block] = _blocks(tmp_path / "x", data)
        assert [(type(item), item.problem) for item in block.items] == [(RawDocument, "")] * 5
    pq.write_table(pa.Table.from_pylist([*RECORDS, {"title": None, "text": "x"}]), tmp_path / "x")
    [block] = reader.read_blocks(Slice(0, str(tmp_path / "x")))
    rows = [json.loads(item.json) for item in block.items if isinstance(item, RawDocument)]
    assert [row.get("title") for row in rows] == ["T0", "T1", "T2", "T3", "T4", None]


def test_what_is_neither_is_one_problem(tmp_path: Path) -> None:
    texts = (b"\xff\xfe\x00", b"[1, 2]", b"text", b"PK\x03\x04", b"a\0b\0c\0")
    for data in (b"PAR1 but not Parquet", bz2.compress(LINES)[:20], *texts):
        [block] = _blocks(tmp_path / "x", data)
        [item] = block.items
        assert item.problem
    assert _blocks(tmp_path / "x", b"") == []
    [block] = _blocks(tmp_path / "x", gzip.compress(LINES)[:-6])
    assert "truncated" in block.items[-1].problem
    assert len(block.items) == 5  # four whole lines and the problem


# --- slices ---------------------------------------------------------------------------------------


def _dump(path: Path) -> list[int]:
    """Write a multistream dump of three pages a stream; return where these streams begin."""
    data, offsets = bz2.compress(HEAD.encode()), []
    for stream in range(6):
        offsets.append(len(data))
        text = "".join(PAGE.format(f"T{3 * stream + n}", "x") for n in range(3))
        data += bz2.compress(text.encode())
    path.write_bytes(data + bz2.compress(END + b"\n"))
    return offsets


def _sliced(path: Path) -> list[Block]:
    slices = slices_of(path, 0, 1, slice_bytes=1)
    return [block for part in slices for block in reader.read_blocks(part, 2)]


def test_each_slice_is_a_document_of_its_own(tmp_path: Path) -> None:
    dump = tmp_path / "xwiki-20240601-pages-articles-multistream1.xml.bz2"
    starts = _dump(dump)
    blocks = _sliced(dump)
    assert len(slices_of(dump, 0, 1, slice_bytes=1)) == 8
    assert [one.start for one in slices_of(dump, 0, 1, starts[0])][:2] == [0, starts[0]]
    assert [one.start for one in slices_of(dump, 0, 1, starts[0] + 1)][:2] == [0, starts[1]]
    assert {part.file for part in slices_of(dump, 3, 1, slice_bytes=1)} == {3}
    for size in (1, starts[0], 400, 600):
        begins = [one.start for one in slices_of(dump, 0, 1, size)]
        assert min(np.diff(begins)) >= size
    assert [one.start for one in slices_of(dump, 0, 1, starts[-1])] == [0, starts[-1]]
    pages = [item for block in blocks for item in block.items if isinstance(item, RawPage)]
    assert [(title_in(page.xml), page.problem) for page in pages] == [
        (f"T{number}", "") for number in range(18)
    ]
    assert {block.site.base_url for block in blocks} == {"https://de.example.org/wiki/"}
    assert {(block.site.language, block.date) for block in blocks} == {("de", "2024-06-01")}
    numbers = [block.number for block in blocks]
    assert numbers == sorted(set(numbers))
    assert {block.name for block in blocks} == {f"{dump.name}@{start}" for start in starts}
    for number in ("", "1", "27"):
        assert reader.is_stream_index(Path(f"x-multistream-index{number}.txt.bz2"))
    assert not reader.is_stream_index(dump)


@pytest.mark.parametrize(("harm", "kept"), [("damaged bzip2", 15), ("truncated", 18)])
def test_damage_costs_its_slice_only(tmp_path: Path, harm: str, kept: int) -> None:
    dump = tmp_path / "dump.xml.bz2"
    at = _dump(dump)[2]
    data = dump.read_bytes()
    if harm == "truncated":
        dump.write_bytes(data[:-60])
    else:
        dump.write_bytes(data[: at + 20] + b"\0" * 20 + data[at + 40 :])
    items = [item for block in _sliced(dump) for item in block.items]
    (problem,) = [item.problem for item in items if item.problem]
    assert harm in problem
    assert len(items) - 1 == kept


def test_damage_in_the_first_stream_costs_only_that(tmp_path: Path) -> None:
    dump = tmp_path / "dump.xml.bz2"
    _dump(dump)
    data = dump.read_bytes()
    dump.write_bytes(data[:20] + b"\0" * 20 + data[40:])
    items = [item for block in _sliced(dump) for item in block.items]
    (problem,) = [item.problem for item in items if item.problem]
    assert "damaged bzip2" in problem
    assert len(items) - 1 == 18


def test_large_files_are_shared_by_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps({"title": f"T{n}", "text": "x"}) for n in range(50)))
    monkeypatch.setattr(reader, "SHARED_BYTES", path.stat().st_size)
    assert slices_of(path, 2, 4) == [Slice(2, str(path))]  # too small to share
    monkeypatch.setattr(reader, "SHARED_BYTES", path.stat().st_size - 1)
    parts = [list(reader.read_blocks(part, 4)) for part in slices_of(path, 2, 3)]
    assert len(parts) == 3
    assert all(parts)
    blocks = sorted((block for part in parts for block in part), key=lambda block: block.number)
    assert blocks == list(reader.read_blocks(Slice(2, str(path)), 4))


TEXT = bytes(range(256)) * 600


def _read(path: Path, data: bytes) -> tuple[bytes, str]:
    path.write_bytes(data)
    content = b""
    try:
        for chunk in reader.read_chunks(path):
            content += chunk
    except InputDamaged as damage:
        return content, str(damage)
    return content, ""


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress], ids=["bzip2", "gzip"])
def test_what_precedes_damage_is_read(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path, packed = tmp_path / "dump.xyz", pack(TEXT)
    assert _read(path, packed) == _read(path, TEXT) == (TEXT, "")
    in_parts = pack(TEXT[:100]) + pack(TEXT[100:])
    assert _read(path, in_parts + (b"\0" * 512 if pack is gzip.compress else b"")) == (TEXT, "")
    for added, problem in (
        (pack(TEXT[::-1])[:-40], "truncated"),
        (b"no stream", "damaged"),
        (packed[:20] + b"\xff" * 400, " "),
    ):
        content, message = _read(path, packed + added)
        assert content.startswith(TEXT)
        assert problem in message
    assert _read(path, b"") == (b"", "")
