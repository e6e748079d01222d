import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from ufo.transforms.verifiers.base import Pair
from ufo.transforms.verifiers.bundled.encoding import CLAIM_PIECES, PIECES, Encoder

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
