import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from ufo.transforms.verifiers.bundled.encoding import CLAIM_PIECES, PIECES, Encoder, focus, split
from ufo.transforms.verifiers.verifier import Pair

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ada", "was", "born", "in", "oslo", "bergen", "the"]
WORDS += [".", ",", "title"]


@pytest.fixture
def encoder() -> Encoder:
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return Encoder(tokenizer, [WORDS.index(word) for word in ("was", "in", "the", ".")])


def shown(encoder: Encoder, pair: Pair) -> list[tuple[str, int]]:
    ids, types = encoder.encode(pair, 64)
    return list(zip((WORDS[number] for number in ids), types, strict=True))


def test_shared_pieces_are_marked_on_both_sides_function_words_not(encoder: Encoder) -> None:
    assert shown(encoder, Pair("ada was born in oslo", "born in bergen was ada")) == [
        ("[CLS]", 0),
        *[("ada", 2), ("was", 0), ("born", 2), ("in", 0), ("oslo", 0)],
        ("[SEP]", 0),
        *[("born", 3), ("in", 1), ("bergen", 1), ("was", 1), ("ada", 3)],
        ("[SEP]", 1),
    ]


def test_the_title_stands_before_a_passage_that_does_not_begin_with_it(encoder: Encoder) -> None:
    words = [word for word, _ in shown(encoder, Pair("ada", "born in oslo", "title"))]
    assert words[3:] == ["title", ".", "born", "in", "oslo", "[SEP]"]
    words = [word for word, _ in shown(encoder, Pair("ada", "title born", "title"))]
    assert words[3:] == ["title", "born", "[SEP]"]


def test_long_texts_are_cut(encoder: Encoder) -> None:
    ids, types = encoder.encode(Pair("ada " * 500, "oslo " * 900), 1000)
    assert len(ids) == len(types) == PIECES
    assert ids[CLAIM_PIECES + 1] == WORDS.index("[SEP]")


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
