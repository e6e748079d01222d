"""What stands around a claim."""

from ufo.transforms.judges.llm.excerpts import (
    cut,
    excerpt,
    paragraph,
    paragraph_breaks,
    surroundings,
)
from ufo.transforms.judges.llm.packing import tokens_of
from ufo.transforms.sentences import segment

TEXT = "Ada was born. She wrote.\r\n\r\nShe met Charles. He built.\n- An engine.\n\n\nThe end came."
SPANS = segment(TEXT)
LONG = " ".join(f"Sentence {n} tells of Ada and of all the notes she wrote." for n in range(400))


def test_a_paragraph_begins_after_a_blank_line() -> None:
    assert paragraph_breaks(TEXT, SPANS) == {2, 5}
    assert paragraph_breaks("", []) == set()


def test_an_excerpt_shows_where_it_leaves_out() -> None:
    assert excerpt(TEXT, SPANS, [5, 0, 1, 0]) == "Ada was born. She wrote.\n[…]\nThe end came."
    assert excerpt(TEXT, SPANS, []) == ""


def test_a_paragraph_is_whole_unless_it_is_long() -> None:
    assert paragraph(TEXT, SPANS, 3) == "She met Charles. He built.\n- An engine."
    assert paragraph(TEXT, SPANS, None) == paragraph(TEXT, SPANS, 99) == ""
    spans = segment(LONG)
    assert paragraph(LONG, spans, 7) == excerpt(LONG, spans, [6, 7, 8])


def test_surroundings_keep_to_their_tokens() -> None:
    spans = segment(LONG)
    assert surroundings(LONG, spans, [3, 4, None, 999]) == excerpt(LONG, spans, range(2, 6))
    own = surroundings(LONG, spans, range(0, 60, 3), tokens=400)
    assert own == excerpt(LONG, spans, range(0, 60, 3))
    whole = surroundings(LONG, spans, range(400), tokens=400)
    assert LONG.startswith(whole.removesuffix("[…]"))
    assert tokens_of(whole) <= 402


def test_a_text_is_cut_where_it_is_too_long() -> None:
    assert cut("short", 10) == "short"
    assert cut("word " * 100, 10).endswith("[…]")
    assert tokens_of(cut("事" * 1000, 50)) <= 52
