"""A claim and a passage as the bundled verifier's model reads them."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from tokenizers import Tokenizer

from ufo.transforms.verifiers.base import Pair
from ufo.transforms.verifiers.bundled.focus import focus

CLAIM_PIECES: Final = 96
PIECES: Final = 176
"""Word pieces of claim and passage together, with the three that mark their ends."""
CLAIM, PASSAGE, SHARED = 0, 1, 2
"""Token types: a piece of the claim or the passage; SHARED is added where both have it."""


class Encoded(NamedTuple):
    """Word pieces and their types, of the same length."""

    ids: list[int]
    types: list[int]


class Encoder:
    """Makes word pieces of pairs: `[CLS] claim [SEP] passage [SEP]`.

    A piece that claim and passage share has a type of its own, unless it is one of `common`: the
    pieces of function words and punctuation, which any two texts share.
    """

    def __init__(self, tokenizer: Tokenizer, common: Iterable[int]) -> None:
        self._tokenizer = tokenizer
        self._common = frozenset(common)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._start, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def encode(self, pair: Pair, words: int) -> Encoded:
        """Return a pair as the model reads it, the passage cut to its best sentences."""
        text = focus(pair.claim, pair.passage, words)
        if pair.title and not text.startswith(pair.title):
            text = f"{pair.title}. {text}"
        claim = self.pieces(pair.claim)[:CLAIM_PIECES]
        passage = self.pieces(text)[: PIECES - 3 - len(claim)]
        shared = (set(claim) & set(passage)) - self._common
        ids = [self._start, *claim, self._end, *passage, self._end]
        of_claim = len(claim) + 2
        types = [
            (CLAIM if at < of_claim else PASSAGE) + (SHARED if piece in shared else 0)
            for at, piece in enumerate(ids)
        ]
        return Encoded(ids, types)

    def pieces(self, text: str) -> list[int]:
        """Return the word pieces of a text."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found
