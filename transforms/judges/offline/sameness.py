"""Whether a sentence of a passage speaks of the same subject, and of the same event, as a claim."""

from collections.abc import Sequence
from typing import Final

from transforms.judges.offline.alignment import Alignment
from transforms.judges.offline.prepared import PreparedClaim, PreparedPassage
from transforms.judges.offline.quantities import Quantity
from transforms.judges.offline.statement import (
    is_passive,
    names_in,
    object_range,
    place_of_event,
    same_name,
    subject_range,
    verb_at,
)
from transforms.judges.offline.words import Word

SAME: Final = "same"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"


def subject_at(
    claim: PreparedClaim, passage: PreparedPassage, found: Alignment, sentence: int, verb: int
) -> str:
    """Whether the subject of the word at `verb` of a sentence is that of the claim: SAME, OTHER
    (another name) or UNKNOWN (a common noun, which may stand for anything)."""
    ours, words = claim.words[: claim.verb], passage.words[sentence]
    start, end = subject_range(words, verb)
    theirs = words[start:end]
    said = {w.stem for w in theirs if w.kind}
    common = {w.stem for w in ours if w.kind and not w.capital}
    if not said:  # A pronoun, or nothing at all: the subject of the text so far.
        subject = (1 << len(claim.items)) - 1 & ~claim.told
        context = found.masks[sentence] | found.titled
        return SAME if context & subject or not subject else UNKNOWN
    names = names_in(ours, 0, len(ours))
    if not names or (len(names) == 1 and ours and names[0].stems == {ours[0].stem}):
        same = not said.isdisjoint({w.stem for w in ours if w.kind})
        if same or not ours:
            return SAME
        return OTHER if names_in(theirs, 1, len(theirs)) else UNKNOWN
    others = names_in(theirs, 0, len(theirs))
    for name in names:
        for other in others:
            if same_name(name, other):
                attached = (name.inside or name.owner) and common
                return SAME if not attached or common & said else UNKNOWN
    return OTHER if others else UNKNOWN


def same_event(
    claim: PreparedClaim,
    passage: PreparedPassage,
    found: Alignment,
    sentence: int,
    claimed: Quantity,
    rival: Quantity,
) -> bool:
    """Whether a sentence gives its value for what the claim gives its value for: the same verb of
    the same subject; for a claim without a verb, the same subject."""
    words = passage.words[sentence]
    at = verb_at(claim.words, claimed.start, claimed.end)
    if at < 0:
        return subject_at(claim, passage, found, sentence, rival.start) == SAME
    place = place_of_event(words, rival.start, rival.end, claim.words[at].stem)
    if place < 0:
        return False
    passive = is_passive(claim.words, at)
    if passive == is_passive(words, place):
        return subject_at(claim, passage, found, sentence, place) == SAME
    if passive:  # "Penicillin was discovered by Fleming" and "Fleming discovered penicillin"
        return _content(claim.words, 0, claim.verb) <= _content(words, *object_range(words, place))
    theirs = _content(words, *subject_range(words, place))
    return bool(theirs) and theirs <= _content(claim.words, *object_range(claim.words, at))


def _content(words: Sequence[Word], start: int, end: int) -> set[str]:
    return {w.stem for w in words[start:end] if w.kind}
