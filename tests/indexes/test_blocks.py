"""What pages and documents become in a block."""

import json
from collections import Counter
from collections.abc import Callable, Sized
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.indexes.conftest import page
from ufo.indexes.blocks import BlockResult, passages_of, process_block
from ufo.indexes.reader import Block, RawPage, Wiki
from ufo.schemas.documents import RawDocument


def _process(*items: RawPage | RawDocument, **more: str) -> BlockResult:
    return process_block(Block(file=1, number=0, first=10, name="f", items=items, **more))  # type: ignore[arg-type]


def test_redirects_are_named_as_their_pages_are() -> None:
    old = page("Old", "#REDIRECT", redirect="ulm_(city)#History")
    result = _process(old, page("WP:U", "#REDIRECT", ns=4, redirect="x"))
    assert result.redirects == [("Ulm (city)", "Old")]


def test_a_passage_knows_where_it_is_from() -> None:
    first, second = _process(page("Ulm Minster", "Lead.\n== A ==\n=== B ===\nMore.")).passages
    assert first.title == "Ulm Minster"
    assert first.section == ""
    assert first.text == "Lead."
    assert first.ordinal == 0
    assert second.ordinal == 1
    assert second.section == "A > B"
    assert second.url == "https://en.wikipedia.org/wiki/Ulm_Minster"
    assert second.page_id == 5
    assert second.revision_id == 6
    assert second.published_at == "2025-02-03"
    # One without a date has that of the dump, and names and language are the wiki's own.
    text = b"<text>[[Datei:x.jpg|y]]b</text>"
    raw = RawPage(b"<page><title>A</title><revision>" + text + b"</revision></page>")
    site = Wiki("https://de.example.org/wiki/", frozenset(("datei",)), "de")
    [passage] = process_block(Block(0, 0, 0, "f", site, "2024-01-01", (raw,))).passages
    assert passage.url == "https://de.example.org/wiki/A"
    assert passage.text == "b"
    assert passage.published_at == "2024-01-01"
    assert _process(raw).passages[0].published_at is None


LOST = page("A", "It is {{x}}. He was {{x}} {{y}}. So it is.")


def test_sentences_that_were_left_out_are_counted_by_template() -> None:
    result = _process(LOST, page("B", "It was {{y}}."), page("C", "{{dab}} It is {{x}}."))
    assert result.counts["sentences_left_out"] == 3
    assert result.left_out == {"x": 2, "y": 2}
    assert [passage.text for passage in result.passages] == ["So it is."]


def test_templates_and_disambiguations_are_of_the_language_of_the_wiki() -> None:
    items = (page("A", "Ulm: {{Höhe|478}}"), page("B", "* [[A]]\n{{Begriffsklärung}}"))
    result = process_block(Block(0, 0, 0, "f", Wiki(language="de"), items=items))
    assert [passage.text for passage in result.passages] == ["Ulm: 478 m"]
    assert result.counts["disambiguations"] == 1
    assert result.language == "de"
    assert _process(RawDocument(b'{"title": "A", "text": "x"}')).language == ""


def test_a_redirect_without_its_element_is_told_by_its_text() -> None:
    result = _process(page("Old", "#REDIRECT [[ulm (city)#History]]"), page("Ulm (city)", "x"))
    assert result.redirects == [("Ulm (city)", "Old")]
    assert result.counts["redirects"] == 1


def test_a_broken_page_is_a_failure_row_with_its_title_or_place() -> None:
    broken = "<page><title>Bad &amp; so</title><x></page>"
    result = _process(RawPage(broken.encode()), RawPage(b"<page></page>"), page("Good", "x"))
    first, second = result.failures
    assert first.step == "index"
    assert first.key == "Bad &amp; so"
    assert first.error_type == "PageBroken"
    assert "not readable as XML" in first.message
    assert first.input == broken
    assert second.key == "f: page 12"


DOCUMENT = b'{"title": "A", "text": "x"}'
ELSEWHERE = page("A", "x", ns=4, redirect="B")
OF_ELSEWHERE = "pages other_namespaces other_namespace_redirects"


@pytest.mark.parametrize(
    ("item", "counted"),
    [
        pytest.param(page("A", "x"), "pages articles", id="an article"),
        pytest.param(page("A", ""), "pages articles empty_articles", id="an empty article"),
        pytest.param(page("A", "x", redirect="B"), "pages redirects", id="a redirect"),
        pytest.param(page("A", "{{dab}}"), "pages disambiguations", id="a disambiguation"),
        pytest.param(page("A", "x", ns=4), "pages other_namespaces", id="another namespace"),
        pytest.param(ELSEWHERE, OF_ELSEWHERE, id="a redirect of another namespace"),
        pytest.param(RawPage(b"<page>"), "failures", id="no page"),
        pytest.param(RawDocument(DOCUMENT), "pages articles", id="a document"),
        pytest.param(RawDocument(b" \r"), "", id="a blank line"),
    ],
)
def test_an_item_is_counted_by_its_kind(item: RawPage | RawDocument, counted: str) -> None:
    assert +_process(item).counts == Counter(counted.split())


@pytest.mark.parametrize(
    "item",
    [RawPage(b"", "it is cut"), RawDocument(b"", "it is cut")],
    ids=["a page", "a document"],
)
def test_what_could_not_be_read_says_why(item: RawPage | RawDocument) -> None:
    [failure] = _process(item).failures
    assert failure.message == "it is cut"
    assert failure.input is None


@pytest.mark.parametrize(("size", "kept"), [(4_096, 4_096), (4_097, 4_096)])
def test_a_failure_keeps_so_much_of_its_input(size: int, kept: int) -> None:
    [failure] = _process(RawDocument(b"x" * size)).failures
    assert failure.input == "x" * kept


def test_the_date_is_that_of_the_dump_or_of_the_newest_page() -> None:
    assert _process(page("A", "x"), page("B", "x", ns=4)).latest == "2025-02-03"
    assert _process(page("A", "x"), date="2024-01-01").latest == "2024-01-01"
    assert _process(page("A", "x", ns=4)).latest == ""


DOCUMENTS = {name: row for name, *row in cases(Path(__file__).with_name("documents.txt"))}
DOCUMENTS["a hundred thousand brackets"] = ["[" * 100_000, "recursion"]


@pytest.mark.parametrize(("line", "reason"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_that_cannot_be_used_says_why(line: str, reason: str) -> None:
    [failure] = _process(RawDocument(line.encode())).failures
    assert failure.key == "f:11"
    assert reason in failure.message


def test_documents_are_plain_text_and_blank_lines_are_nothing() -> None:
    half = json.dumps({"title": " B\n\ud800", "text": "b \ud800", "url": "x:\0"})
    link = '{"title": "A", "text": "One [[two]].\\n\\nThree.", "url": "https://x.org/a"}'
    nul = '{"title": "C", "text": "c \0 \\u0000"}'
    result = _process(*(RawDocument(text.encode()) for text in ("", "  \r", nul, link, half)))
    assert not result.failures
    assert [(p.title, p.text, p.url) for p in result.passages] == [
        ("C", "c \ufffd \ufffd", None),
        ("A", "One [[two]].\nThree.", "https://x.org/a"),
        ("B \ufffd", "b \ufffd", "x:\ufffd"),
    ]


def test_an_empty_address_is_none() -> None:
    [passage] = _process(RawDocument(b'{"title": "A", "text": "x", "url": ""}')).passages
    assert passage.url is None


SHORT = "It is so. " * 30


@pytest.mark.parametrize(
    "item",
    [page("A", SHORT), RawDocument(json.dumps({"title": "A", "text": SHORT}).encode())],
    ids=["a page", "a document"],
)
def test_a_block_is_cut_at_so_many_words(item: RawPage | RawDocument) -> None:
    block = Block(file=0, number=0, first=0, name="f", items=(item,))
    assert [len(process_block(block, words).passages) for words in (100, 30)] == [1, 3]


def test_sentences_end_as_in_the_language_of_the_wiki() -> None:
    text = "Am 3. Oktober 1990 war es so. " * 30
    by_language = {
        language: process_block(
            Block(0, 0, 0, "f", Wiki(language=language), items=(page("A", text),)), 3
        ).passages
        for language in ("de", "en")
    }
    assert {passage.text for passage in by_language["de"]} == {"Am 3. Oktober 1990 war es so."}
    assert "Am 3." in {passage.text for passage in by_language["en"]}


SENTENCE = "The river number {} flows from the mountains to the sea."  # 11 words


def test_about_a_hundred_words_each_cut_at_sentence_ends() -> None:
    for n_sentences, n_passages in ((9, 1), (13, 1), (14, 2), (27, 3), (90, 10)):
        text = " ".join(SENTENCE.format(number) for number in range(n_sentences))
        passages = passages_of([text])
        assert len(passages) == n_passages
        assert all(one.startswith("The river") and one.endswith("sea.") for one in passages)
        assert n_passages == 1 or all(70 <= len(one.split()) <= 130 for one in passages)
        assert " ".join(passages) == text


def test_abbreviations_end_no_sentence_and_what_has_no_end_is_cut_by_count() -> None:
    text = "Dr. Smith met Mr. Jones at 5 p.m. on Friday. " * 20
    assert all(passage.endswith("Friday.") for passage in passages_of([text], words=30))
    assert all(len(p.split()) <= 100 for p in passages_of(["word " * 1_000]))
    for lines in (["a" * 100_000], ["山" * 100_000, "水" * 10]):
        assert all(len(p) <= 4_500 for p in passages_of(lines))
    short = ["One sentence. Another.", "An item"]
    assert passages_of(short) == ["One sentence. Another.\nAn item"]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        pytest.param(["word " * 150], 1, id="a sentence of 150 words"),
        pytest.param(["word " * 151], 2, id="a sentence of 151 words"),
        pytest.param(["a. " * 149], 1, id="149 words"),
        pytest.param(["A. b. " * 75 + "C."], 2, id="151 words"),
    ],
)
def test_a_passage_has_so_many_words(lines: list[str], count: int) -> None:
    assert len(passages_of(lines)) == count


def words(*numbers: int) -> list[str]:
    """A line of sentences of so many words."""
    return [" ".join("A " + "b " * (number - 2) + "end." for number in numbers)]


def letters(*numbers: int) -> list[str]:
    """A line of sentences of so many letters, of eight words each."""
    return [" ".join("A" + "b" * (number - 24) + " bb" * 7 + "s." for number in numbers)]


@pytest.mark.parametrize(
    ("lines", "of", "sizes"),
    [
        pytest.param(words(90, 20, 90), str.split, [90, 110], id="with its middle at the border"),
        pytest.param(words(90, 19, 91), str.split, [109, 91], id="with its middle before it"),
        pytest.param(["word " * 250], str.split, [100, 150], id="words without an end"),
        pytest.param(letters(700, 700, 700), str, [2_102], id="few words, many letters"),
        pytest.param(letters(1_000, 1_000, 30), str, [2_032], id="2,000 letters before the last"),
        pytest.param(letters(1_000, 1_001, 30), str, [2_002, 30], id="2,001 letters before it"),
        pytest.param(["a" * 4_000], str, [3_000, 1_000], id="a word of 4,000 letters"),
        pytest.param(
            [" ".join("a" * n for n in (499, 499, 499, 500) * 2)],
            str,
            [3_000, 1_000],
            id="words of 500 letters",
        ),
    ],
)
def test_a_section_is_cut_into_passages_of_these_sizes(
    lines: list[str], of: Callable[[str], Sized], sizes: list[int]
) -> None:
    assert [len(of(passage)) for passage in passages_of(lines)] == sizes


CHINESE = "北京是中华人民共和国的首都,2020年常住人口为2189万人。"
THAI = "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย "


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(CHINESE * 13, 1, id="143 words of Chinese"),
        pytest.param(CHINESE * 30, 3, id="330 words of Chinese"),
        pytest.param(THAI * 8, 1, id="136 words of Thai"),
        pytest.param(THAI * 30, 5, id="510 words of Thai, without a sentence end"),
    ],
)
def test_words_without_spaces_are_estimated(text: str, count: int) -> None:
    passages = passages_of([text])
    assert len(passages) == count
    assert {one[:2] for one in passages} == {text[:2]}
    assert "".join("".join(passages).split()) == "".join(text.split())


def test_no_space_is_put_into_a_text() -> None:
    passages = passages_of([CHINESE * 80])
    assert not any(" " in passage for passage in passages)


def test_a_number_is_not_cut() -> None:
    passages = passages_of(["山" * 1_998 + "2,189万人" + "山" * 500])
    assert any("2,189" in passage for passage in passages)


@given(
    st.lists(st.text(), max_size=8), st.integers(20, 200), st.sampled_from(["en", "de", "xx", ""])
)
def test_nothing_is_lost_repeated_or_empty(lines: list[str], words: int, language: str) -> None:
    passages = passages_of(lines, language, words=words)
    assert all(passage.strip() == passage != "" for passage in passages)
    assert "".join("".join(passages).split()) == "".join("".join(lines).split())
