"""Markdown as a reader sees it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.records import InputRecord
from ufo.transforms.extraction.by_rules import extract_record
from ufo.transforms.extraction.layout import LayoutBlock, layout
from ufo.transforms.sentences import segment

HERE = Path(__file__).parent
TEXT = (HERE / "layout.txt").read_text(encoding="utf-8").rstrip("\n")
# The kind, level and marker of each block, and its cells: words with their style in brackets.
SHOWN = (HERE / "layout_shown.txt").read_text(encoding="utf-8")


def shown(text: str, block: LayoutBlock) -> str:
    cells = [
        "".join(
            f"[{text[piece.start : piece.end]}|{piece.style}]"
            if piece.style
            else text[piece.start : piece.end]
            for piece in cell
        )
        for cell in block.cells
    ]
    kind = "head" if block.head else block.kind
    line = f"{kind} {block.level} {block.marker}: {' ; '.join(cells)}"
    return line.replace("\n", " ").rstrip()


def test_markdown_is_shown_as_read() -> None:
    blocks = layout(TEXT)
    assert [shown(TEXT, one) for one in blocks] == SHOWN.splitlines()


BLOCKS: dict[str, tuple[str, list[str]]] = {
    "nested items": (
        "- a\n  - b\n    - c\n  - d\n- e",
        ["item 0 •: a", "item 1 •: b", "item 2 •: c", "item 1 •: d", "item 0 •: e"],
    ),
    "a tab is four spaces": (
        "- a\n    - b\n\t- c\n\t\t- d",
        ["item 0 •: a", "item 1 •: b", "item 1 •: c", "item 2 •: d"],
    ),
    "bullets": (
        "- a\n+ b\n* c\n• d\n‣ e\n◦ f",
        [f"item 0 •: {letter}" for letter in "abcdef"],
    ),
    "numbers": (
        "1. a\n2) b\n(3) c\nd) e\n– f",
        ["item 0 1.: a", "item 0 2): b", "item 0 (3): c", "item 0 d): e", "item 0 –: f"],
    ),
    "an indented paragraph belongs to the item": (
        "- a\n\n  more\n\n  - b",
        ["item 0 •: a", "paragraph 0 : more", "item 1 •: b"],
    ),
    "another paragraph ends the list": (
        "- a\n\nMore.\n\n  - b",
        ["item 0 •: a", "paragraph 0 : More.", "item 0 •: b"],
    ),
    "lines of a paragraph": (
        "One is.\nTwo is.\n\nThree is.",
        ["paragraph 0 : One is. Two is.", "paragraph 0 : Three is."],
    ),
    "a table with alignment": (
        "| a | b |\n|:--|--:|\n| 1 | 2 |",
        ["head 0 : a ; b", "row 0 : 1 ; 2"],
    ),
    "a table without a head": ("|---|---|\n| 1 | 2 |", ["row 0 : 1 ; 2"]),
    "a rule apart from a row": ("| a |\n\n---\n\nb", ["row 0 : a", "rule 0 :", "paragraph 0 : b"]),
    "an empty cell": ("| a | | c |  ", ["row 0 : a ;  ; c"]),
    "a row that is not closed": ("| a | b", ["row 0 : a ; b"]),
    "rows without outer marks": (
        "a | b\n--|--\n1 | x \\| y",
        ["head 0 : a ; b", "row 0 : 1 ; x | y"],
    ),
    "rows of commas": ("a,b\n1,2\n3,4", ["row 0 : a ; b", "row 0 : 1 ; 2", "row 0 : 3 ; 4"]),
    "rows of tabs": ("a\tb\n1\t2\n3\t4", ["row 0 : a ; b", "row 0 : 1 ; 2", "row 0 : 3 ; 4"]),
    "a formula": ("$$\nx = 1\n$$\nEnd.", ["code 0 : [x = 1|code]", "paragraph 0 : End."]),
    "code that is not closed": ("```\nx\n\ny", ["code 0 : [x  y|code]"]),
    "a fence in a longer one": ("````\n```\n````", ["code 0 : [```|code]"]),
    "cells without spaces": ("|a|*b*|", ["row 0 : a ; [b|em]"]),
    "rules": (
        "Some text.\n\n***\n\n___\n\n- - -",
        ["paragraph 0 : Some text.", *["rule 0 :"] * 3],
    ),
    "a rule under a sentence": (
        "Some text.\n***\nMore.",
        ["paragraph 0 : Some text.", "rule 0 :", "paragraph 0 : More."],
    ),
    "code with a blank line": (
        "~~~\nx\n\ny\n~~~\nEnd.",
        ["code 0 : [x  y|code]", "paragraph 0 : End."],
    ),
    "indented code": (
        "  ```py\n  x = 1\n  ```\nEnd.",
        ["code 0 : [  x = 1|code]", "paragraph 0 : End."],
    ),
    "headings": (
        "## Two ##\n###### Six\n# C#\n# *A* `b`\n#tag",
        [
            "heading 2 : Two",
            "heading 6 : Six",
            "heading 1 : C#",
            "heading 1 : [A|em] [b|code]",
            "paragraph 0 : #tag",
        ],
    ),
    "quotes": ("> a\n>> b\n> c", ["quote 0 : a", "quote 0 : b", "quote 0 : c"]),
}


@pytest.mark.parametrize(("text", "blocks"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_are_those_that_a_reader_sees(text: str, blocks: list[str]) -> None:
    assert [shown(text, one) for one in layout(text)] == blocks


STYLES: dict[str, tuple[str, str]] = {
    "each mark of emphasis": (
        "*a* _b_ **c** __d__ ***e*** ___f___",
        "[a|em] [b|em] [c|strong] [d|strong] [e|strong em] [f|strong em]",
    ),
    "emphasis in emphasis": (
        "**a *b* c** and *d **e** f*",
        "[a |strong][b|strong em][ c|strong] and [d |em][e|strong em][ f|em]",
    ),
    "emphasis twice": ("*a _b_ c*", "[a |em][b|em][ c|em]"),
    "one mark of two is closed": ("**a* b and *c** d", "[a|em][ b and |em][c|em] d"),
    "first one mark of three is closed": ("***a* b** c", "[a|strong em][ b|strong] c"),
    "emphasis in brackets": ("**a (*b*) c** d", "[a (|strong][b|strong em][) c|strong] d"),
    "a star between numbers": ("**2 * 3 = 6**", "[2 * 3 = 6|strong]"),
    "four stars hide letters": ("a p****d and f****d", "a p****d and f****d"),
    "two underscores in names": ("an author__name__contains", "an author__name__contains"),
    "one after the other": ("**a***b*", "[a|strong][b|em]"),
    "a mark in a word": ("*a*b*", "[a*b|em]"),
    "numbers and names": (
        "2 * 3 * 4, 2**3**4, foo**bar**baz, a_b_c",
        "2 * 3 * 4, 2**3**4, foo[bar|strong]baz, a_b_c",
    ),
    "half a word": ("**a**b and c**d**", "[a|strong]b and c[d|strong]"),
    "punctuation": (
        '**Note:** text, *(a)* b, "*c*", (**d**).',
        '[Note:|strong] text, [(a)|em] b, "[c|em]", ([d|strong]).',
    ),
    "marks that are not closed": ("b * a* c and *d e", "b * a* c and *d e"),
    "marks that open nothing": ("a*, b* and *c", "a*, b* and *c"),
    "escapes": (r"\*a\* and c\d and \_e_", r"*a* and c\d and _e_"),
    "code": ("A `b` and ``c`` and ```d``` e.", "A [b|code] and [c|code] and [d|code] e."),
    "code and emphasis": ("**a `b` c** and `*d*`", "[a |strong][b|code][ c|strong] and [*d*|code]"),
    "links": (
        'See [a](https://x.y), [b](c.md "the title"), ![d](e/f.png) and [g](#h).',
        "See [a|link], [b|link], [d|link] and [g|link].",
    ),
    "links and other styles": ("[`e`](x.y) and **[f](x.y)**", "[e|code] and [f|link]"),
    "a link ends once": ("[a](b.c) d](e.f)", "[a|link] d](e.f)"),
    "addresses": (
        "See <http://a.b>, <https://a.b/*c*> and <b>.",
        "See [http://a.b|link], [https://a.b/*c*|link] and <b>.",
    ),
}


@pytest.mark.parametrize(("text", "styled"), STYLES.values(), ids=STYLES)
def test_words_have_the_style_of_their_marks(text: str, styled: str) -> None:
    assert [shown(text, one) for one in layout(text)] == [f"paragraph 0 : {styled}"]


def claims(text: str) -> list[str]:
    record = InputRecord("k", "r", text, language="en")
    return [one.claim for one in extract_record(record, segment(text))]


TOLD: dict[str, tuple[str, list[str]]] = {
    "a bold heading": ("**Jan Holm**\n- Died: 1900", ["Jan Holm died in 1900."]),
    "a bold heading with a colon": ("__Jan Holm__:\n\n- Died: 1900", ["Jan Holm died in 1900."]),
    "a bold sentence": ("**Jan Holm was a painter**", ["Jan Holm was a painter."]),
    "a numbered heading": ("# 1. Jan Holm:\n- Died: 1900", ["Jan Holm died in 1900."]),
    "a section with years": (
        "# Ada Berg\n\n## Career 1990–2000\n- Died: 1999",
        ["Ada Berg died in 1999."],
    ),
    "a section of two words": (
        "# Ada Berg\n\n## Life and work\n- Died: 1999",
        ["Ada Berg died in 1999."],
    ),
    "a section about another, in three levels": (
        "# Ada Berg\n\n## Jan Holm\n\n### Nils Dahl\n- Died: 1900\n\n## Life\n- Died: 1999",
        ["Nils Dahl died in 1900.", "Ada Berg died in 1999."],
    ),
    "bold headings end each other": (
        "# Ada Berg\n\n**Jan Holm**\n- Died: 1900\n\n**Life**\n- Died: 1999",
        ["Jan Holm died in 1900.", "Ada Berg died in 1999."],
    ),
    "a section of the highest level": (
        "# Ada Berg\n\n## Jan Holm\n- Died: 1900\n\n# Legacy\n- Died: 1999",
        ["Jan Holm died in 1900.", "Ada Berg died in 1999."],
    ),
    "a heading that is not a name": (
        "# Ada Berg\n\n## Originally\n- Died: 1999",
        ["Died: 1999."],
    ),
    "a heading of more than a name": (
        "# Ada Berg\n\n## Women in science\n- Died: 1999",
        ["Died: 1999."],
    ),
    "a first heading that is not a name": (
        "# How it began\n\nAda Berg was a poet.\n\n# Life\n- Died: 1900",
        ["Ada Berg was a poet.", "Ada Berg died in 1900."],
    ),
    "a label without a value": ("# Ada Berg\n- **Died**: **", []),
    "labels without bullets": (
        "# Ada Berg\n\n**Born**: 1867\n\n__Died:__ 1900",
        ["Ada Berg was born in 1867.", "Ada Berg died in 1900."],
    ),
    "a label with a capital inside": (
        "# Vik\n- HQ: Oslo\n- Capital: Bergen",
        ["The HQ of Vik is Oslo.", "The capital of Vik is Bergen."],
    ),
    "a label with a preposition": (
        "# Ada Berg\n- Known for: radium",
        ["Ada Berg is known for radium."],
    ),
    "a label and a note": (
        "# Ada Berg\n- Note: Oslo\n- Field: chemistry.",
        ["The field of Ada Berg is chemistry."],
    ),
    "a label and a sentence": (
        "# Ada Berg\n- Prize: She won the Holm Prize.",
        ["Prize: She won the Holm Prize."],
    ),
    "what a label names": (
        "# Ada Berg\n- Polonium: a metal\n- Radium: an element\n- Oslo: the capital of Norway",
        ["Polonium is a metal.", "Radium is an element.", "Oslo is the capital of Norway."],
    ),
    "dates, years, places and others": (
        "# Vik\n- Opened: November 7, 1867\n- Completed: 4 July 1934\n- Built: c. 1900\n"
        "- Release: Oslo\n- Founded: by monks",
        [
            "Vik was opened on November 7, 1867.",
            "Vik was completed on 4 July 1934.",
            "Vik was built in c. 1900.",
            "Vik was released in Oslo.",
            "Vik was founded by monks.",
        ],
    ),
    "items without a subject": (
        "# Ada Berg\n- Is a chemist\n- Serves in Oslo\n- Raised two sons\n- Wrote novels\n"
        "- Moved to Oslo\n- Went to Paris\n- Painter",
        [
            "Ada Berg is a chemist.",
            "Ada Berg serves in Oslo.",
            "Ada Berg raised two sons.",
            "Ada Berg wrote novels.",
            "Ada Berg moved to Oslo.",
            "Ada Berg went to Paris.",
        ],
    ),
    "an item after a sentence": (
        "# Ada Berg\nShe sang.\n- Won a prize",
        ["Ada Berg sang.", "Ada Berg won a prize."],
    ),
    "an item with a name": ("# Ada Berg\n- Jan Holm painted it", ["Jan Holm painted it."]),
    "what one is able to do": (
        "# Ada Berg\n- Able to have written books",
        ["Ada Berg: able to have written books."],
    ),
    "names with an introduction": (
        "1. **Oslo**: It is a city.\n2. **Ada Berg**: She was a poet.\n- **Jan Holm** — He sang.",
        ["Oslo is a city.", "Ada Berg was a poet.", "Jan Holm sang."],
    ),
    "a title with an introduction": ('"The Sea" - This is a film.', ['"The Sea" is a film.']),
    "one name, which may not be a person's": (
        "- **Ada**: She was a poet.",
        ["Ada: She was a poet."],
    ),
    "what is not a name": (
        "- **Personal life**: She was a poet.",
        ["Personal life: She was a poet."],
    ),
    "columns with a value": (
        "# Ada Berg\n| Property | Value |\n|--|--|\n"
        "| Field | chemistry. |\n| Prize | |\n| | Oslo |",
        ["The field of Ada Berg is chemistry."],
    ),
    "a year of an unknown topic": (
        "| Year | Event |\n|--|--|\n| 1867 | Foundation |",
        ["1867, Event: Foundation."],
    ),
    "a year and two columns": (
        "# Ada Berg\n| Year | Event | Place |\n|--|--|--|\n| c. 1867 | Born in Oslo | Oslo |",
        ["In c. 1867, Ada Berg was born in Oslo.", "The place of Ada Berg in c. 1867 is Oslo."],
    ),
    "empty cells": (
        "| Country | Capital | |\n|--|--|--|\n"
        "| Norway | Oslo | big |\n| | Paris | |\n| Peru | ? | – |",
        ["The capital of Norway is Oslo."],
    ),
    "a table after another text": (
        "| Country | Capital |\n|--|--|\n| Norway | Oslo |\n\nOslo is old.\n\n"
        "| City | Size |\n|--|--|\n| Paris | 3 |",
        ["The capital of Norway is Oslo.", "Oslo is old.", "The size of Paris is 3."],
    ),
    "a year and two columns of an unknown topic": (
        "| Year | Host | Games |\n|--|--|--|\n| 1900 | Paris | Olympics |",
        ["1900, Host: Paris.", "1900, Games: Olympics."],
    ),
    "a description among three columns": (
        "| City | Description | Size |\n|--|--|--|\n| Oslo | a capital | 3 |",
        ["The description of Oslo is a capital.", "The size of Oslo is 3."],
    ),
    "a row without its last cell": (
        "| Country | Capital | Size |\n|--|--|--|\n| Norway | Oslo |",
        ["The capital of Norway is Oslo."],
    ),
    "a rank that is not the first column": (
        "| Name | Rank | Size |\n|--|--|--|\n| Oslo | 1 | 3 |",
        ["The rank of Oslo is 1.", "The size of Oslo is 3."],
    ),
}


@pytest.mark.parametrize(("text", "expected"), TOLD.values(), ids=TOLD)
def test_markdown_makes_the_claims_that_a_reader_takes_from_it(
    text: str, expected: list[str]
) -> None:
    assert claims(text) == expected


@pytest.mark.parametrize("marker", ["-", "*", "+", "•", "‣", "◦", "–", "1.", "(1)", "1)"])
def test_a_label_stands_after_any_marker(marker: str) -> None:
    assert claims(f"# Ada Berg\n{marker} Died: 1900") == ["Ada Berg died in 1900."]


@pytest.mark.parametrize(
    "label", ["Genre", "Job", "Occupation", "Position", "Profession", "Role", "Status", "Type"]
)
def test_these_labels_are_of_the_topic(label: str) -> None:
    extracted = claims(f"# Ada Berg\n- {label}: a chemist")
    assert extracted == [f"The {label.lower()} of Ada Berg is a chemist."]


@pytest.mark.parametrize(
    "head", ["Value", "Detail", "Details", "Information", "Description", "Fact", "Facts"]
)
def test_under_these_heads_are_values(head: str) -> None:
    extracted = claims(f"# Vik\n| What | {head} |\n|--|--|\n| Capital | Oslo |")
    assert extracted == ["The capital of Vik is Oslo."]


@pytest.mark.parametrize(
    "head", ["Feature", "Aspect", "Attribute", "Property", "Characteristic", "Category", "Criteria"]
)
def test_under_these_heads_are_properties_of_the_other_columns(head: str) -> None:
    extracted = claims(f"| {head} | Norway | Peru |\n|--|--|--|\n| Capital | Oslo | Lima |")
    assert extracted == ["The capital of Norway is Oslo.", "The capital of Peru is Lima."]


@pytest.mark.parametrize("head", ["No", "No.", "Nr", "Rank", "Position", "Index", "ID", "#"])
def test_numbers_of_rows_say_nothing(head: str) -> None:
    extracted = claims(f"| {head} | Country | Capital |\n|--|--|--|\n| 1 | Norway | Oslo |")
    assert extracted == ["The capital of Norway is Oslo."]


@pytest.mark.parametrize(
    "item",
    """Elected president|Appointed judge|Named after her aunt|Nominated twice|Knighted in 1900
Known for radium|Awarded a prize|Born in Oslo|Located in Oslo|Situated in Oslo|Based in Oslo
Buried in Oslo|Raised in Oslo|Educated in Oslo|Married to Jan Holm""".replace("\n", "|").split("|"),
)
def test_a_participle_is_what_was_done_to_the_topic(item: str) -> None:
    assert claims(f"# Ada Berg\n- {item}") == [f"Ada Berg was {item[0].lower()}{item[1:]}."]


WORDS = st.text("ab1 .,\n*_`|#>-\\[](){}~=\t\r", max_size=60)


@given(st.one_of(WORDS, st.lists(st.sampled_from(TEXT.split(" "))).map(" ".join)))
def test_pieces_are_in_order_and_lose_no_word(text: str) -> None:
    at, covered = 0, 0
    for block in layout(text):
        assert block.kind == "row" or len(block.cells) <= 1
        covered += sum(map(str.isalnum, block.marker))
        for span in (piece for cell in block.cells for piece in cell):
            assert at <= span.start < span.end <= len(text)
            covered += sum(map(str.isalnum, text[span.start : span.end]))
            at = span.end
    if not any(mark in text for mark in ("://", "```", "~~~", "](")):
        assert covered == sum(map(str.isalnum, text))
