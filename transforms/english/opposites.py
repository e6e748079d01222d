"""Look up the antonyms of a word: words that cannot be true together with it."""

from typing import Final

from ufo.transforms.english.lexicon import ANTONYMS


def _pairs() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for line in ANTONYMS.strip().split("\n"):
        left, right = (frozenset(side.split()) for side in line.split("/"))
        for side, other in ((left, right), (right, left)):
            for word in side:
                table[word] = table.get(word, frozenset()) | other
    return table


OPPOSITES: Final = _pairs()
