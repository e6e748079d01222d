from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.verifiers.bundled.focus import focus, split

PASSAGE = (
    "The town lies on a river. It has a market. Maria Alt was born in Graz in 1920. "
    "She wrote novels. The market opens on Sundays. Many people visit it. Trains stop there."
)


def test_a_short_passage_stays_as_it_is() -> None:
    assert focus("Maria Alt was born in Graz.", PASSAGE, 100) == PASSAGE


def test_the_sentences_that_share_words_are_kept_in_their_order() -> None:
    found = focus("Maria Alt was born in Graz and the market opens on Sundays.", PASSAGE, 13)
    assert found == "Maria Alt was born in Graz in 1920. The market opens on Sundays."


def test_neighbours_follow_where_there_is_room() -> None:
    found = focus("Maria Alt was born in 1920.", PASSAGE, 15)
    assert found == "It has a market. Maria Alt was born in Graz in 1920. She wrote novels."


def test_initials_end_no_sentence() -> None:
    text = "He joined the U.S. Navy with J. Doe. Then he left."
    assert split(text) == ["He joined the U.S. Navy with J. Doe.", "Then he left."]


def test_a_line_without_sentence_ends_is_cut() -> None:
    assert max(len(part.split()) for part in split("word " * 500)) == 40


@given(st.text(), st.text(), st.integers(min_value=1, max_value=50))
def test_any_text_gives_words_of_the_passage(claim: str, passage: str, words: int) -> None:
    found = focus(claim, passage, words)
    assert found == passage or set(found.split()) <= set(passage.split())
    assert focus(claim, passage, words) == found
