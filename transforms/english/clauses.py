"""Cut a sentence into its clauses, without the alternatives that it denies.

A negation belongs to the clause in which it stands: "The shop is open; it does not deliver" says
that the shop is open. "Not in Paris but in Warsaw" says "in Warsaw".
"""

import re
from typing import Final

from ufo.transforms.english.grammar import (
    AUXILIARIES,
    SUBJECT_PRONOUNS,
    Lists,
    core,
    is_capital,
    is_finite,
)

_LISTS: Final = Lists("ufo.transforms.english", "clauses.toml")
_OPENERS: Final = _LISTS.words("openers")
_RELATIVES: Final = _LISTS.words("relatives")
_DIVIDERS: Final = _LISTS.words("dividers")
_SUBORDINATE: Final = _LISTS.words("subordinate")


def _contrasts() -> dict[str, re.Pattern[str]]:
    patterns = _LISTS.tables["contrasts"]
    words = patterns["words"]
    return {
        name: re.compile(pattern.replace("{words}", words), re.IGNORECASE)
        for name, pattern in patterns.items()
    }


_CONTRASTS: Final = _contrasts()
_MARKS: Final = ("not ", "n't", "n’t", "rather than", "instead of", "opposed to")


def remove_contrast(sentence: str) -> str:
    """Return a sentence without the alternatives that it denies.

    "Not in Paris but in Warsaw", "in Warsaw, not in Paris" and "in Warsaw rather than in Paris" all
    give "in Warsaw". "Not only a poet" gives "a poet", and "did not open until 1995" gives "did
    open until 1995".
    """
    low = sentence.lower()
    if not any(mark in low for mark in _MARKS):
        return sentence
    for name in ("not_only", "not_until"):
        sentence = _CONTRASTS[name].sub("", sentence)
    sentence = _CONTRASTS["not_but"].sub(_keep_asserted, sentence)
    for name in ("opening", "not_this", "rather_than"):
        sentence = _CONTRASTS[name].sub("", sentence)
    return sentence


def _keep_asserted(match: re.Match[str]) -> str:
    """Return "born in Warsaw" for "not born in Paris but in Warsaw"."""
    asserted, denied = match["said"], match["denied"].split()
    low = core(asserted)
    if is_finite(asserted) or low in SUBJECT_PRONOUNS or low in AUXILIARIES:
        return match[0]  # "but" begins another clause
    lows = [core(word) for word in denied]
    kept: list[str] = []
    if low in lows:  # both begin with the same preposition or article
        kept = denied[: lows.index(low)]
    elif is_capital(asserted) and any(map(is_capital, denied)):
        kept = denied[: [is_capital(word) for word in denied].index(True)]
    auxiliary = [match["auxiliary"]] if match["auxiliary"] else []
    return " ".join([*auxiliary, *kept, asserted])


def clauses(sentence: str) -> list[tuple[str, int]]:
    """Return the pieces of a sentence in their order, each with the number of its clause.

    A relative clause or a bracket interrupts its clause, which goes on with the same number.
    Clauses end at ";", "|", a dash, "but", "however" and the like, and before an "and" with a verb
    of its own.
    """
    words = sentence.split()
    pieces: list[tuple[str, int]] = []
    begin = clause = last = 0
    interrupted: int | None = None  # the clause that goes on after the current one
    closing = ""  # the sign at the end of the interruption
    for at in range(1, len(words)):
        before, word = words[at - 1], words[at]
        resumes = interrupted is not None and before.endswith(closing)
        relative = before[-1] == "," and core(word) in _RELATIVES
        interrupts = relative or word[0] == "("
        if not (resumes or interrupts or _begins(words, at, first=clause == 0)):
            continue
        pieces.append((" ".join(words[begin:at]), clause))
        begin = at
        if resumes and interrupted is not None:
            clause, interrupted = interrupted, None
            continue
        last += 1
        interrupted = clause if interrupts else None
        closing = "," if relative else ")"
        clause = last
    pieces.append((" ".join(words[begin:]), clause))
    return pieces


def _begins(words: list[str], at: int, first: bool) -> bool:
    """Return whether a clause begins at a place; `first` says that none has ended before it."""
    before, low = words[at - 1], core(words[at])
    if before[-1] == ";" or before in _DIVIDERS or low in _OPENERS:
        return True
    if low == "and" and _has_verb(words, at + 1):
        return True
    # "Although she was not French, Marie Curie was famous."
    return first and before[-1] == "," and core(words[0]) in _SUBORDINATE


def _has_verb(words: list[str], at: int) -> bool:
    """Return whether a predicate begins at this place: "did not study", "she left"."""
    following = words[at : at + 3]
    if not following:
        return False
    low = core(following[0])
    if is_finite(following[0]) or low in AUXILIARIES or low in ("not", "never"):
        return True
    subject = low in SUBJECT_PRONOUNS or is_capital(following[0])
    return subject and any(map(is_finite, following[1:]))
