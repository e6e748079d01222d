"""Replace characters that tables cannot store, and write quantities.

All text that enters passes through here: input, references, service requests, documents of an
index, replies of models and of the web.
"""

import re
from typing import Any, Final

REPLACEMENT: Final = "\ufffd"
_UNSTORABLE: Final = re.compile("[\ud800-\udfff\x00]")


def without_nul(value: Any) -> Any:
    """Return a JSON value with U+FFFD for each NUL in its texts; offsets stay the same."""
    if isinstance(value, str):
        return value.replace("\0", REPLACEMENT)
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(key): without_nul(item) for key, item in value.items()}
    return value


def storable(text: str) -> str:
    """Return the text with U+FFFD for each NUL and each lone surrogate."""
    if text.isascii() and "\0" not in text:  # the fast way for most texts
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


def quantity(n: int, noun: str) -> str:
    """Return a number with its noun in singular or plural: `1 claim`, `2,000 claims`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
