"""Markdown as a reader sees it."""

from pathlib import Path

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
    said = f"{block.kind} {block.level} {block.marker}: {' ; '.join(cells)}"
    return said.replace("\n", " ").rstrip()


def test_markdown_is_shown_as_read() -> None:
    found = layout(TEXT)
    assert [shown(TEXT, one) for one in found] == SHOWN.splitlines()
    assert [one.head for one in found if one.kind == "row"] == [True, False]


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
