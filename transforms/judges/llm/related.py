"""Tell whether two texts have a content word in common."""

import re
from typing import Final

from transforms.english.lexicon import STOP_WORDS

# Scripts that put no space between words: each of their characters counts as a word.
_WORD: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]|[^\\W_]+"
)
_STEM: Final = 4  # letters of a word that its forms have in common


def related(text: str, *others: str) -> bool:
    """Tell whether a text shares a content word with one of the others; also where either has none.

    Forms of a word count as that word (discovered, discovery).
    """
    words = _stems(text)
    known = set().union(*map(_stems, others))
    return not words or not known or not words.isdisjoint(known)


def _stems(text: str) -> set[str]:
    words = (found[0] for found in _WORD.finditer(text.casefold()))
    return {word if word.isdigit() else word[:_STEM] for word in words if word not in STOP_WORDS}
