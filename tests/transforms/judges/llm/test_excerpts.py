"""What stands around a claim."""

from ufo.schemas.records import OpenUnits
from ufo.transforms.judges.llm.excerpts import Text, cut, paragraph, tokens_of
from ufo.transforms.sentences import segment

TEXT = "Ada was born. She wrote.\r\n\r\nShe met Charles. He built.\n- An engine.\n\n\nThe end came."
LONG = " ".join(f"Sentence {n} tells of Ada and of all the notes she wrote." for n in range(400))


def text_of(text: str) -> Text:
    return Text(text, segment(text))


def open_units(text: str) -> OpenUnits:
    offsets = [at for span in segment(text) for at in span]
    return OpenUnits("r1", text, None, None, offsets, [], [])


def test_an_excerpt_shows_where_it_leaves_out() -> None:
    text = text_of(TEXT)
    assert text.excerpt([5, 0, 1, 0]) == "Ada was born. She wrote.\n[…]\nThe end came."
    assert text.excerpt([]) == ""


def test_a_paragraph_is_whole_unless_it_is_long() -> None:
    given = open_units(TEXT)
    assert paragraph(given, 3) == "She met Charles. He built.\n- An engine."
    assert paragraph(given, None) == paragraph(given, 99) == ""
    assert paragraph(open_units(LONG), 7) == text_of(LONG).excerpt([6, 7, 8])


def test_surroundings_keep_to_their_tokens() -> None:
    text = text_of(LONG)
    assert text.surroundings([3, 4, None, 999]) == text.excerpt(range(2, 6))
    assert text.surroundings(range(0, 60, 3), 400) == text.excerpt(range(0, 60, 3))
    whole = text.surroundings(range(400), 400)
    assert LONG.startswith(whole.removesuffix("[…]"))
    assert tokens_of(whole) <= 402


def test_a_text_is_cut_where_it_is_too_long() -> None:
    assert cut("short", 10) == "short"
    assert cut("word " * 100, 10).endswith("[…]")
    assert tokens_of(cut("事" * 1000, 50)) <= 52


def test_tokens_are_counted_by_bytes() -> None:
    assert tokens_of("word " * 100) == 126
    assert tokens_of("事" * 100) == 76
    assert tokens_of("\ud800") == 1
