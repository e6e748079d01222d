"""Markdown as a reader sees it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extraction.markdown import LayoutBlock, layout

HERE = Path(__file__).parent
TEXT = (HERE / "layout.txt").read_text(encoding="utf-8").rstrip("\n")
# The kind, level and marker of each block, and its cells: words with their style in brackets.
SHOWN = (HERE / "layout_shown.txt").read_text(encoding="utf-8")


def shown(text: str, block: LayoutBlock) -> str:
    cells = [
        "".join(
            f"[{text[one.start : one.end]}|{one.style}]" if one.style else text[one.start : one.end]
            for one in cell
        )
        for cell in block.cells
    ]
    kind = "head" if block.head else block.kind
    said = f"{kind} {block.level} {block.marker}: {' ; '.join(cells)}"
    return said.replace("\n", " ").rstrip()


def test_markdown_is_shown_as_read() -> None:
    found = layout(TEXT)
    assert [shown(TEXT, one) for one in found] == SHOWN.splitlines()


BLOCKS: dict[str, tuple[str, list[str]]] = {
    "nested items": (
        "- a\n  - b\n    - c\n  - d\n- e",
        ["item 0 •: a", "item 1 •: b", "item 2 •: c", "item 1 •: d", "item 0 •: e"],
    ),
    "a tab is four spaces": (
        "- a\n\t- b\n    - c\n        - d",
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
    "an item after a sentence": (
        "One is.\n- x\n\nTwo",
        ["paragraph 0 : One is.", "item 0 •: x", "paragraph 0 : Two"],
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
    "cells without spaces": ("|a|*b*|", ["row 0 : a ; [b|em]"]),
    "rules": (
        "Some text.\n\n***\n\n___\n\n- - -",
        ["paragraph 0 : Some text.", *["rule 0 :"] * 3],
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
        ["heading 2 : Two", "heading 6 : Six", "heading 1 : C#"]
        + ["heading 1 : [A|em] [b|code]", "paragraph 0 : #tag"],
    ),
    "quotes": ("> a\n>> b\n> c", ["quote 0 : a", "quote 0 : b", "quote 0 : c"]),
    "no more than a line": ("  a  ", ["paragraph 0 : a"]),
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


WORDS = st.text("ab1 .,\n*_`|#>-\\[](){}~=\t\r", max_size=60)


@given(st.one_of(WORDS, st.lists(st.sampled_from(TEXT.split(" "))).map(" ".join)))
def test_pieces_are_in_order_and_lose_no_word(text: str) -> None:
    at, covered = 0, 0
    for block in layout(text):
        assert block.kind == "row" or len(block.cells) <= 1
        covered += sum(map(str.isalnum, block.marker))
        for one in (piece for cell in block.cells for piece in cell):
            assert at <= one.start < one.end <= len(text)
            covered += sum(map(str.isalnum, text[one.start : one.end]))
            at = one.end
    if not any(mark in text for mark in ("://", "```", "~~~", "](")):
        assert covered == sum(map(str.isalnum, text))
