"""Compare texts by their content words."""

import re
from typing import Final

from ufo.transforms.english.lexicon import STOP_WORDS

# In scripts without spaces between words each character counts as a word.
_WORD: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]|[^\\W_]+"
)
_STEM: Final = 4  # initial letters by which forms of a word are compared


def related(text: str, *others: str) -> bool:
    """Return whether a text shares a content word with one of the others.

    Words are compared by their first four letters (discovered, discovery). True where either side
    has no content word.
    """
    words = _stems(text)
    other_words = set().union(*map(_stems, others))
    return not words or not other_words or not words.isdisjoint(other_words)


def _stems(text: str) -> set[str]:
    words = (match[0] for match in _WORD.finditer(text.casefold()))
    return {word if word.isdigit() else word[:_STEM] for word in words if word not in STOP_WORDS}
