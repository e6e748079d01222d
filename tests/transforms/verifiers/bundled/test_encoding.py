"""A pair as the bundled model reads it: its pieces, their types, and the sentences it keeps."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.transforms.verifiers.tiny import tokenizer
from ufo.transforms.verifiers.bundled.encoding import Encoded, Encoder, content, focus, split
from ufo.transforms.verifiers.verifier import Pair

WORDS = tokenizer()
NUMBERS = WORDS.get_vocab()
NAMES = {number: word for word, number in NUMBERS.items()}
FOCUS = cases(Path(__file__).parents[1] / "focus.txt")


def encoded(pair: Pair) -> Encoded:
    """Encode a pair with a tokenizer of words, of which the full stop is common."""
    return Encoder(WORDS, [NUMBERS["."]]).encode(pair, 1000)


@pytest.mark.parametrize(
    ("pair", "pieces", "types"),
    [
        pytest.param(
            Pair("it is", "is so"), "[CLS] it is [SEP] is so [SEP]", "0020311", id="a shared word"
        ),
        pytest.param(
            Pair("it.", "so."), "[CLS] it . [SEP] so . [SEP]", "0000111", id="a common piece"
        ),
        pytest.param(
            Pair("it", "so", "yes"), "[CLS] it [SEP] yes . so [SEP]", "0001111", id="a title"
        ),
        pytest.param(
            Pair("it", "yes so", "yes"), "[CLS] it [SEP] yes so [SEP]", "000111", id="a title in it"
        ),
    ],
)
def test_a_pair_is_framed_and_its_shared_pieces_are_marked(
    pair: Pair, pieces: str, types: str
) -> None:
    encoding = encoded(pair)
    assert " ".join(map(NAMES.__getitem__, encoding.ids)) == pieces
    assert "".join(map(str, encoding.types)) == types


@pytest.mark.parametrize(
    ("claim", "passage", "claim_kept", "passage_kept"),
    [
        pytest.param(96, 77, 96, 77, id="as much as is read"),
        pytest.param(97, 77, 96, 77, id="a longer claim"),
        pytest.param(96, 78, 96, 77, id="a longer passage"),
        pytest.param(1, 173, 1, 172, id="a longer passage for a short claim"),
    ],
)
def test_176_pieces_are_read_and_96_of_the_claim(
    claim: int, passage: int, claim_kept: int, passage_kept: int
) -> None:
    tokens = [NAMES[one] for one in encoded(Pair("it " * claim, "so " * passage)).ids]
    assert tokens.count("it") == claim_kept
    assert tokens.count("so") == passage_kept
    assert tokens.count("[SEP]") == 2


@pytest.mark.parametrize(("claim", "words", "kept"), FOCUS, ids=lambda cell: cell[:40] or "nothing")
def test_sentences_that_share_words_are_kept(claim: str, words: str, kept: str) -> None:
    assert focus(claim, FOCUS[0][2], int(words)) == kept


LONG = "Then all the others went on to Bergen."


@pytest.mark.parametrize(
    ("claim", "passage", "words", "kept"),
    [
        pytest.param("Bo", "Ada came.\nBo left.", 4, "Ada came.\nBo left.", id="it is short"),
        pytest.param("Bo", "Ada came.\nBo left.", 3, "Bo left.", id="a word too long"),
        pytest.param("Jan", "Ada came. Bo left.", 3, "Ada came.", id="nothing is shared"),
        pytest.param("Ada Bergen", f"Ada came. {LONG}", 4, "Ada came.", id="one does not fit"),
        pytest.param(
            "Ada Berg in Bergen heard it",
            f"Ada Berg came. {LONG} Bo heard.",
            5,
            "Ada Berg came. Bo heard.",
            id="one after it fits",
        ),
        pytest.param(
            "Ada Berg won prizes",
            "Ada Berg came. Ada Berg left. She won prizes.",
            6,
            "Ada Berg came. She won prizes.",
            id="words that are covered count less",
        ),
        pytest.param(
            "Ada", "Rain fell. Ada came. Bo left.", 5, "Rain fell. Ada came.", id="one neighbour"
        ),
        pytest.param("Ada", "Ada came. Bo left now. So it is.", 4, "Ada came.", id="none fits"),
    ],
)
def test_a_long_passage_is_cut_to_sentences(
    claim: str, passage: str, words: int, kept: str
) -> None:
    assert focus(claim, passage, words) == kept


def test_a_sentence_of_over_40_words_is_cut() -> None:
    assert [part.count("w") for part in split("w " * 81)] == [40, 40, 1]


def test_a_name_or_a_number_weighs_twice_and_a_function_word_nothing() -> None:
    assert content("Ada read the 7 novels") == {"ada": 2, "read": 1, "7": 2, "novels": 1}


@given(st.text(), st.text(), st.integers(min_value=1, max_value=50))
def test_any_text_gives_words_of_the_passage(claim: str, passage: str, words: int) -> None:
    focused = focus(claim, passage, words)
    assert focused == passage or set(focused.split()) <= set(passage.split())
    assert focus(claim, passage, words) == focused
