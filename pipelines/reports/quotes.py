"""Choose what to quote of a passage beside the claim that it decides."""

from ufo.indexes.tokens import words_of
from ufo.transforms.sentences import segment

_SHORT = 300
"""Characters of a passage that is quoted as a whole."""


def quote_of(claim: str, citation: str | None, text: str | None) -> str:
    """Return what to quote of a passage: what the judge cited, else the sentence that shares most
    words with the claim, the first of several, up to 300 characters of it. A short passage is
    quoted as a whole.

    Example:
        >>> quote_of("Oslo is in Norway.", None, "Oslo lies in the south of Norway.")
        'Oslo lies in the south of Norway.'
    """
    if citation or not text:
        return citation or ""
    if len(text) <= _SHORT:
        return text
    of_claim = set(words_of(claim))
    sentences = [text[one.start : one.end] for one in segment(text)]
    best = max(sentences, key=lambda one: len(of_claim & set(words_of(one))), default=text)
    return best if len(best) <= _SHORT else f"{best[: _SHORT - 1]}…"
