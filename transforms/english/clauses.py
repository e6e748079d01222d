"""Cut a sentence into its clauses, and leave out what it only names to deny it.

A negation belongs to the clause in which it stands: "The shop is open; it does not deliver" says
that the shop is open. "Not in Paris but in Warsaw" says "in Warsaw".
"""

import re
from typing import Final

from ufo.transforms.english.grammar import (
    AUXILIARIES,
    SUBJECT_PRONOUNS,
    core,
    is_capital,
    is_finite,
    word_set,
)

_CONTRAST: Final = re.compile(
    r"\bnot\b|n['’]t\b|\brather than\b|\binstead of\b|\bas opposed to\b", re.I
)
_WORDS: Final = r"[^\s,;|()]+(?: [^\s,;|()]+)"  # more words follow with a quantifier
_NOT_BUT: Final = re.compile(
    rf"(?P<auxiliary>\b\w+?)?(?:\bnot|n['’]t) (?P<denied>{_WORDS}{{0,8}}?),? but (?!also\b|not\b|never\b)"
    r"(?:rather |instead )?(?P<said>\S+)",
    re.IGNORECASE,
)
# ", not in Paris" to the end of the phrase; "not yet", "not far from" and the like say something.
_NOT_THIS: Final = re.compile(
    r"(?:,|\s[-–—]|\s?\() ?(?:and |but )?not "
    r"(?!only|just|merely|until|unlike|far|all|every|least|surpris|necessar|yet|to mention|long|even)"
    rf"{_WORDS}{{0,5}}\)?(?=[.,;:!?|)]|$)",
    re.IGNORECASE,
)
_RATHER_THAN: Final = re.compile(
    rf",? ?\b(?:rather than|instead of|as opposed to) {_WORDS}{{0,5}}?(?=[.,;:!?|)]|$)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"(?:rather than|instead of|as opposed to) [^,]{1,80}, ", re.IGNORECASE
)
_NOT_ONLY: Final = re.compile(r"\bnot (?:only|just|merely|simply) ", re.IGNORECASE)
_NOT_UNTIL: Final = re.compile(r"(?: not|n['’]t)\b(?=[^,;.]* until\b)", re.IGNORECASE)

_OPENERS: Final = word_set("but however although though whereas while because unless except yet")
_RELATIVES: Final = word_set("who which whom whose where")
_DIVIDERS: Final = word_set("| – — -")
_SUBORDINATE: Final = word_set("although though while whereas because since when if unless as")


def without_contrast(sentence: str) -> str:
    """Return a sentence without the alternatives that it denies.

    "Not in Paris but in Warsaw", "in Warsaw, not in Paris" and "in Warsaw rather than in Paris" all
    give "in Warsaw". "Not only a poet" gives "a poet", and "did not open until 1995" gives "did
    open until 1995".
    """
    if not _CONTRAST.search(sentence):
        return sentence
    sentence = _NOT_ONLY.sub("", sentence)
    sentence = _NOT_UNTIL.sub("", sentence)
    sentence = _NOT_BUT.sub(_what_is_said, sentence)
    sentence = _OPENING.sub("", sentence)
    return _RATHER_THAN.sub("", _NOT_THIS.sub("", sentence))


def _what_is_said(found: re.Match[str]) -> str:
    """Return "born in Warsaw" for "not born in Paris but in Warsaw"."""
    said, denied = found["said"], found["denied"].split()
    low = core(said)
    if is_finite(said) or low in SUBJECT_PRONOUNS or low in AUXILIARIES:
        return found[0]  # "but" begins another clause
    lows = [core(word) for word in denied]
    kept: list[str] = []
    if low in lows:  # both begin with the same preposition or article
        kept = denied[: lows.index(low)]
    elif is_capital(said) and any(map(is_capital, denied)):
        kept = denied[: [is_capital(word) for word in denied].index(True)]
    auxiliary = [found["auxiliary"]] if found["auxiliary"] else []
    return " ".join([*auxiliary, *kept, said])


def clauses(sentence: str) -> list[tuple[str, int]]:
    """Return the pieces of a sentence in their order, each with the number of its clause.

    A relative clause or a bracket interrupts its clause, which goes on with the same number. Clauses
    end at ";", "|", a dash, "but", "however" and the like, and before an "and" with a verb of its
    own.
    """
    words = sentence.split()
    pieces: list[tuple[str, int]] = []
    begin = clause = last = 0
    resumed: int | None = None  # the clause that goes on after a relative clause, with its ending
    closing = ","
    for at in range(1, len(words)):
        before, word = words[at - 1], words[at]
        low = core(word)
        starts = ends = False
        if resumed is not None and before.endswith(closing):
            ends = True
        elif (
            before[-1] == ";"
            or before in _DIVIDERS
            or low in _OPENERS
            or (low == "and" and _has_verb(words, at + 1))
        ):
            starts = True
        elif at and before[-1] == "," and core(words[0]) in _SUBORDINATE and not clause:
            starts = True  # "Although she was not French, Marie Curie"
        relative = (low in _RELATIVES and before[-1] == ",") or word[0] == "("
        if not (starts or ends or relative):
            continue
        pieces.append((" ".join(words[begin:at]), clause))
        begin = at
        if ends and resumed is not None:
            clause, resumed = resumed, None
        else:
            last += 1
            resumed = clause if relative else None
            closing = ")" if word[0] == "(" else ","
            clause = last
    pieces.append((" ".join(words[begin:]), clause))
    return pieces


def _has_verb(words: list[str], at: int) -> bool:
    """Return whether a predicate begins at this place: "did not study", "she left", "never left"."""
    following = words[at : at + 3]
    if not following:
        return False
    low = core(following[0])
    if is_finite(following[0]) or low in AUXILIARIES or low in ("not", "never"):
        return True
    subject = low in SUBJECT_PRONOUNS or is_capital(following[0])
    return subject and any(map(is_finite, following[1:]))
