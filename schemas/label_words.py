"""Read the label that a person gave to a claim, a response, a sentence or a fact.

One vocabulary for records, their claims, label sheets and sheets of facts; the page's words are
among them.
"""

import math
import re
from collections.abc import Mapping
from typing import Final

EMPTY: Final = frozenset(("", "na", "n/a", "nan", "null", "none"))
"""Texts that mean that nobody gave a label."""
UNDECIDED: Final = frozenset(("not found", "unsure", "unknown", "?"))
"""Texts that mean that a person could not say."""
WORDS: Final[Mapping[str, float | None]] = {
    **dict.fromkeys(("true", "yes", "supported"), 1.0),
    **dict.fromkeys(("false", "no", "contradicted", "refuted"), 0.0),
    **dict.fromkeys(EMPTY | UNDECIDED),
}
"""The label that each text means, or None for no label."""
_NUMBER: Final = re.compile(r"[0-9]*\.?[0-9]+(e-?[0-9]+)?|[0-9]+\.")
ALLOWED: Final = (
    "true, yes or supported; false, no, contradicted or refuted; a number from 0 to 1; not found, "
    "unsure, NA or nothing"
)
"""The vocabulary in words, for messages."""


def label_of(value: object) -> float | None:
    """Return a label as a number from 0 (false) to 1 (true); None where there is none, or a person
    could not say.

    Raises:
        ValueError: the value is no label.
    """
    if value is None or isinstance(value, bool):
        return None if value is None else float(value)
    if isinstance(value, str):
        word = word_of(value)
        if word in WORDS:
            return WORDS[word]
        value = float(word) if _NUMBER.fullmatch(word) else value
    if isinstance(value, float) and math.isnan(value):
        return None
    # Compared before the conversion: JSON numbers such as 10**400 overflow a float.
    if isinstance(value, (int, float)) and 0 <= value <= 1:
        return float(value) + 0.0  # -0.0 is 0.0
    raise ValueError(f"{value!r:.80} is no label: {ALLOWED}")


def word_of(text: str) -> str:
    """Return a text as the vocabulary has it: in lower case, with single spaces between words."""
    return " ".join(text.lower().replace("_", " ").split())
