"""Statements that a text tells only to deny them: "it is a myth that", "no evidence that"."""

from collections.abc import Sequence
from typing import Final

from transforms.judges.offline.alignment import Alignment, Conflict, share
from transforms.judges.offline.prepared import PreparedClaim, PreparedPassage
from transforms.judges.offline.verbs import BE
from transforms.judges.offline.word_set import word_set
from transforms.judges.offline.words import Word

_SAME_WORDING: Final = 0.8  # Share of the claim that the sentence has to say.
_NEAR: Final = 3
_UNTRUE: Final = word_set(
    "false untrue wrong incorrect myth misconception hoax fallacy falsehood unfounded"
)
_GROUNDS: Final = word_set("evidence proof indication")
_SAYINGS: Final = word_set(
    "claim claims belief rumors rumours idea assertion allegation allegations"
)


def is_negated(words: Sequence[Word], place: int) -> bool:
    """Whether a negation stands shortly before a word: "did not win" is no opposite of "lost"."""
    return any(w.negative for w in words[max(0, place - _NEAR) : place])


def dispute(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """The passage says the claim's words only to say that it is not so, or not known to be so."""
    sentence = found.best
    if share(found, sentence, 0) < _SAME_WORDING:
        return None
    word = _disputing(passage.words[sentence])
    if not word or _disputing(claim.words):
        return None
    if word in _GROUNDS:
        return Conflict(sentence, f"says that there is no {word} of it", refutes=False)
    # What denies the same is not refuted by it, and not said in the claim's words either.
    return Conflict(sentence, f'calls it "{word}"', refutes=not claim.negated)


def _disputing(words: Sequence[Word]) -> str:
    """The word that turns what "that" opens: "a myth that", "no evidence that", "claims that … are
    false"; "" where there is none."""
    for place, word in enumerate(words):
        if word.lower != "that" or not place:
            continue
        before = words[place - 1].lower
        if before in _UNTRUE:
            return "" if is_negated(words, place - 1) else before
        if before in _GROUNDS and is_negated(words, place - 1):
            return before
        if before == "true" and is_negated(words, place - 1):
            return "not true"
        if before in _SAYINGS and len(words) > place + 1:
            *_, verb, last = words
            if last.lower in _UNTRUE and verb.lower in BE:
                return last.lower
    return ""
