"""Encode a claim and a passage for the bundled verifier's model.

Of a long passage, only the sentences that share most with the claim are encoded.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ufo.transforms.english.words import STOP_WORDS
from ufo.transforms.verifiers.verifier import Pair

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLAIM_PIECES: Final = 96
PIECES: Final = 176
"""The most word pieces of claim and passage together, with the three that mark their ends."""
CLAIM, PASSAGE, SHARED = 0, 1, 2
"""Token types: a piece of the claim or the passage; SHARED is added where both have it."""
_END: Final = re.compile(
    r"(?<=[.!?])(?<![ .][A-Z]\.)[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n+\s*"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.,:/-]?\d+)*")
_LONGEST: Final = 40
"""Words in a sentence; a longer one (a list, a table without line ends) is cut."""
_AGAIN: Final = 0.3
"""The weight of a word that a chosen sentence already has."""
_NAME: Final = 2.0
"""The weight of a name or a number; other words weigh 1."""


class Encoded(NamedTuple):
    """Word pieces and their types, of the same length."""

    ids: list[int]
    types: list[int]


class Encoder:
    """An encoder of pairs as word pieces: `[CLS] claim [SEP] passage [SEP]`.

    A piece that claim and passage share has a separate type. Pieces in `common` do not: function
    words and punctuation, which any two texts share.
    """

    def __init__(self, tokenizer: "Tokenizer", common: Iterable[int]) -> None:
        self._tokenizer = tokenizer
        self._common = frozenset(common)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._start, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def encode(self, pair: Pair, words: int) -> Encoded:
        """Return the model's input for a pair, with the passage cut to its best sentences."""
        text = focus(pair.claim, pair.passage, words)
        if not text.startswith(pair.title):
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
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def focus(claim: str, passage: str, words: int) -> str:
    """Return the sentences of a passage that share most with the claim, up to `words` words.

    Sentences are chosen one by one, each for the claim's content words that it adds. Where there is
    room, the sentences before and after a chosen one are added. All keep their order. A passage of
    at most `words` words is returned as it is.
    """
    if len(passage.split()) <= words:
        return passage
    sentences = split(passage)
    weights = content(claim)
    shared = [weights.keys() & {word.lower() for word in _WORD.findall(text)} for text in sentences]
    lengths = [len(text.split()) for text in sentences]
    return " ".join(sentences[row] for row in sorted(_choose_rows(weights, shared, lengths, words)))


def split(passage: str) -> list[str]:
    """Return the sentences of a passage, none of them longer than 40 words."""
    pieces = []
    for sentence in _END.split(passage):
        words = sentence.split()
        pieces += [" ".join(words[at : at + _LONGEST]) for at in range(0, len(words), _LONGEST)]
    return pieces


def content(claim: str) -> dict[str, float]:
    """Return the weight of each content word of a claim, in lower case."""
    return {
        word.lower(): _NAME if word[0].isupper() or word[0].isdigit() else 1.0
        for word in _WORD.findall(claim)
        if word.lower() not in STOP_WORDS
    }


def _choose_rows(
    weights: dict[str, float], shared: Sequence[set[str]], lengths: Sequence[int], room: int
) -> set[int]:
    chosen: set[int] = set()
    covered: set[str] = set()
    left = set(range(len(shared)))
    while left and (not chosen or room > 0):
        gains = {
            row: sum(weights[word] * (_AGAIN if word in covered else 1.0) for word in shared[row])
            for row in left
        }
        best = max(left, key=lambda row: (gains[row], -row))
        left.remove(best)
        if chosen and (not gains[best] or lengths[best] > room):
            if not gains[best]:
                break
            continue
        chosen.add(best)
        covered |= shared[best]
        room -= lengths[best]
    for row in sorted({near for at in chosen for near in (at - 1, at + 1)} - chosen):
        if 0 <= row < len(lengths) and lengths[row] <= room:
            chosen.add(row)
            room -= lengths[row]
    return chosen
