from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extract import align

SENTENCES = [
    "Ada Berg was born in Oslo in 1950.",
    "She studied chemistry and moved to Bergen.",
    "In 1990 she won the Holm Prize.",
]


def test_each_claim_goes_to_its_sentence() -> None:
    claims = [
        "Ada Berg was born in Oslo.",
        "Ada Berg was born in 1950.",
        "Ada Berg studied chemistry.",
        "Ada Berg moved to Bergen.",
        "Ada Berg won the Holm Prize.",
    ]
    assert align(claims, SENTENCES) == [0, 0, 1, 1, 2]


def test_a_claim_that_shares_nothing_is_unplaced() -> None:
    assert align(["Whales sing.", "She won the Holm Prize."], SENTENCES) == [None, 2]
    assert align(["It is the one."], ["It was the one that is."]) == [0]
    assert align(["He is."], ["He is."]) == [None]
    assert align(["1950"], []) == [None]
    assert align([], SENTENCES) == []


def test_ties_go_to_the_earlier_sentence() -> None:
    assert align(["The tower is tall."], ["The tower stands.", "The tower fell."]) == [0]


def test_the_order_of_the_claims_decides_between_equals() -> None:
    sentences = ["The tower stands.", "The bridge is old.", "The tower fell."]
    claims = ["The tower is there.", "The bridge is old.", "The tower is gone."]
    assert align(claims, sentences) == [0, 1, 2]


def test_a_clearly_better_sentence_before_still_wins() -> None:
    assert align(["She won the Holm Prize in 1990.", "Born in Oslo in 1950"], SENTENCES) == [2, 0]


def test_word_forms_agree() -> None:
    assert align(["Moving was hard."], ["It rained.", "She moved."]) == [None]
    assert align(["Ada publishes."], ["It rained.", "She published much."]) == [1]


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.text(max_size=30), max_size=8))
def test_indexes_are_in_range(claims: list[str], sentences: list[str]) -> None:
    placed = align(claims, sentences)
    assert len(placed) == len(claims)
    assert all(index is None or 0 <= index < len(sentences) for index in placed)


@given(st.lists(st.text("abcdefgh ", min_size=3, max_size=30), max_size=6, unique=True))
def test_a_sentence_is_placed_under_itself(sentences: list[str]) -> None:
    for index, found in enumerate(align(sentences, sentences)):
        assert found is None or set(sentences[found].split()) & set(sentences[index].split())
