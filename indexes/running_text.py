"""Cut running text at the ends of sentences, by the package `sentencex`, in linear time."""

from collections.abc import Iterator
from typing import Final

import sentencex

_WINDOW: Final = 10_000
_WINDOW_OF_MARKS: Final = 1_000


def pieces(text: str, language: str) -> Iterator[str]:
    """Yield the sentences of a text, without gaps: their concatenation is the text.

    `language` is an ISO 639 code. sentencex looks for pairs of quotation marks in quadratic time,
    so a long text is cut in windows, which are small where a third of it is marks and blanks. The
    last sentence of a window may be cut off, so it is repeated in the next, unless it fills the
    window alone.
    """
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        if len(window) > _WINDOW_OF_MARKS and sum(map(str.isalnum, window)) < len(window) * 2 // 3:
            window = window[:_WINDOW_OF_MARKS]
        sentences = list(sentencex.segment(language, window))
        if start + len(window) < len(text) and len(sentences) > 1:
            sentences.pop()
        yield from sentences
        start += sum(map(len, sentences))
