from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.reader import (
    MAX_PAGE_BYTES,
    InputDamaged,
    PageBroken,
    RawPage,
    Wiki,
    parse_page,
    read_pages,
    title_in,
)

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo><base>https://de.example.org/wiki/Hauptseite</base><namespaces>
  <namespace key="0" /><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace>
  </namespaces></siteinfo>
"""
PAGE = """<page><title>{title}</title><ns>0</ns><id>7</id>
<revision><id>70</id>
<timestamp>2025-03-01T10:00:00Z</timestamp>
<text xml:space="preserve">{text}</text></revision></page>
"""
DUMP = (
    HEAD + PAGE.format(title="A", text="a &lt;page&gt;") + PAGE.format(title="B", text="é")
).encode()
END = b"</mediawiki>"


def _pages(*chunks: bytes, max_bytes: int = MAX_PAGE_BYTES) -> list[RawPage]:
    return [item for item in read_pages(chunks, max_bytes) if isinstance(item, RawPage)]


def test_site_and_pages() -> None:
    site, first, second = read_pages([DUMP + END])
    assert isinstance(site, Wiki)
    assert site.language == "de"
    assert site.url_of("Ulm Minster?") == "https://de.example.org/wiki/Ulm_Minster%3F"
    assert {"datei", "kategorie", "file", "category"} <= set(site.dropped_links)
    assert isinstance(first, RawPage)
    assert isinstance(second, RawPage)
    page = parse_page(first)
    assert (page.title, page.namespace, page.page_id, page.revision_id) == ("A", 0, 7, 70)
    assert (page.timestamp, page.redirect, page.text) == (
        "2025-03-01T10:00:00Z",
        None,
        "a <page>",
    )
    assert parse_page(second).text == "é"


@given(st.lists(st.integers(0, len(DUMP + END)), max_size=12))
def test_pages_do_not_depend_on_how_the_bytes_arrive(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(DUMP + END)]
    chunks = [(DUMP + END)[a:b] for a, b in pairwise(edges)]
    assert list(read_pages(chunks)) == list(read_pages([DUMP + END]))


@given(st.integers(0, len(DUMP + END) - 1))
def test_a_dump_cut_anywhere_gives_its_whole_pages_and_says_so(cut: int) -> None:
    *whole, last = _pages((DUMP + END)[:cut])
    assert last.problem
    assert [parse_page(page).title for page in whole] == ["A", "B"][: len(whole)]
    assert len(whole) == (DUMP + END)[:cut].count(b"</page>")


def test_without_siteinfo_it_is_the_english_wikipedia() -> None:
    site = next(iter(read_pages([b"<mediawiki>" + PAGE.format(title="A", text="").encode() + END])))
    assert site == Wiki()
    assert Wiki().url_of("A b") == "https://en.wikipedia.org/wiki/A_b"


def test_a_page_without_its_end_costs_itself_only() -> None:
    broken = DUMP.replace(b"</page>", b"", 1) + END
    first, second = _pages(broken)
    assert first.problem == "the page has no </page>"
    assert title_in(first.xml) == "A"
    assert parse_page(second).title == "B"


@pytest.mark.parametrize(
    "xml",
    [
        b"<page><title>A</title><unclosed></page>",
        b"<page><title></title></page>",
        b"<page><title>A</title><ns>zero</ns></page>",
        b"<page><title>A</title><id>x</id></page>",
        b"<page><title>A</title><id>99999999999999999999</id></page>",
        b"<page><title>&undefined;</title></page>",
        b"<page></page>",
    ],
)
def test_a_page_that_is_none_says_why(xml: bytes) -> None:
    with pytest.raises(PageBroken, match=r"\w"):
        parse_page(RawPage(xml))


def test_broken_utf8_and_forbidden_characters_cost_a_character() -> None:
    page = parse_page(
        RawPage(PAGE.format(title="A", text="x@y").encode().replace(b"@", b"\xff\x00"))
    )
    assert page.text == "x\ufffd\ufffdy"


def test_the_last_revision_counts_and_redirects_are_reported() -> None:
    xml = b"""<page><title>A_b</title><ns>0</ns><redirect title="C" />
    <revision><id>1</id><text>old</text></revision><revision><id>2</id><text>new</text></revision>
    </page>"""
    page = parse_page(RawPage(xml))
    assert (page.title, page.redirect, page.revision_id, page.text) == ("A b", "C", 2, "new")


def test_a_page_over_the_limit_is_named_and_skipped_without_being_held() -> None:
    big = PAGE.format(title="Big", text="x" * 5_000).encode()
    data = HEAD.encode() + big + PAGE.format(title="B", text="b").encode() + END
    chunks = [data[at : at + 500] for at in range(0, len(data), 500)]
    first, second = _pages(*chunks, max_bytes=2_000)
    assert "over 2,000 bytes" in first.problem
    assert title_in(first.xml) == "Big"
    assert parse_page(second).title == "B"


def test_what_is_no_export_is_one_problem() -> None:
    [page] = _pages(b"<html><body>Not found</body></html>")
    assert "not a MediaWiki XML export" in page.problem


def test_damage_is_reported_with_how_far_it_was_read() -> None:
    def chunks() -> Iterator[bytes]:
        yield DUMP
        raise InputDamaged("the bzip2 file is truncated")

    *_, last = read_pages(chunks())
    assert isinstance(last, RawPage)
    assert last.problem == "the bzip2 file is truncated; reading stopped after 2 whole pages"
