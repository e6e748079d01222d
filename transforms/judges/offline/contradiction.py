"""Reasons to call a claim refuted: something else is said in the slot that the claim fills.

A missing word is never a reason. Every rule asks that the passage speaks of the same subject and
relation (nearly all other parts of the claim in one sentence, with the title as context) and then
for one thing that cannot be true together with the claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from transforms.judges.offline.alignment import Alignment, weigh
from transforms.judges.offline.prepared import (
    BORN,
    DIED,
    PreparedClaim,
    PreparedPassage,
)
from transforms.judges.offline.quantities import Quantity, agree, comparable
from transforms.judges.offline.words import CONTENT, STOP, Word

_SAME_STATEMENT: Final = 0.6  # Share of the claim's other parts that the sentence has to say.
_SAME_WORDING: Final = 0.8  # The same where the reason itself is a small word, easily misread.
_NEAR: Final = 3
_DATE_REACH: Final = 12  # "founded by A, B and C in April 1976"
_DATES: Final = ("year", "month", "day")


@dataclass(frozen=True, slots=True)
class Conflict:
    """What speaks against a claim: the number of the sentence and the reason in one line."""

    sentence: int
    reason: str


def _share(alignment: Alignment, sentence: int, left_out: int) -> float:
    """The share of the claim's other parts (without those in a mask) that a sentence says."""
    total = sum(w for k, w in enumerate(alignment.weights) if not left_out >> k & 1)
    mask = (alignment.masks[sentence] | alignment.titled) & ~left_out
    return weigh(alignment.weights, mask) / total if total else 0.0


def _context(words: Sequence[Word], start: int, end: int, reach: int = _NEAR) -> set[str]:
    """Stems of the content words next to a slot: up to `reach` before it, `_NEAR` after it."""
    around = (*words[max(0, start - reach) : start], *words[end : end + _NEAR])
    return {w.stem for w in around if w.kind == CONTENT}


def _number(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """Another number, quantity or date where the claim has one that the passage never gives."""
    first = len(claim.items)
    dated = [1 << first + k for k, q in enumerate(claim.quantities) if q.dimension in _DATES]
    for k, claimed in enumerate(claim.quantities):
        bit = 1 << first + k
        if found.said & bit:
            continue
        left_out = bit | (sum(dated) if claimed.dimension in _DATES else 0)
        here: dict[int, list[Quantity]] = {}
        for sentence, other in passage.quantities:
            if comparable(claimed, other) and not any(agree(q, other) for q in claim.quantities):
                here.setdefault(sentence, []).append(other)
        context = _context(claim.words, claimed.start, claimed.end)
        for sentence, others in here.items():
            if _share(found, sentence, left_out) < _SAME_STATEMENT:
                continue
            words = passage.words[sentence]
            for other in others:
                reach = _DATE_REACH if other.dimension in _DATES else _NEAR
                if (
                    claimed.dimension in ("", "ordinal")
                    or context & _context(words, other.start, other.end, reach)
                    or (len(others) == 1 and not context)
                ):
                    return Conflict(sentence, _instead(other.said, claimed.said))
        if claimed.dimension == "":
            for sentence in passage.index.get(claimed.unit, ()):
                if _share(found, sentence, left_out) >= _SAME_WORDING and any(
                    w.lower == "no" and other.stem == claimed.unit
                    for w, other in pairwise(passage.words[sentence])
                ):
                    return Conflict(sentence, _instead("no", claimed.said))
    return None


def _life(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """A year of birth given as the year of death, or the other way round."""
    if claim.event == "":
        return None
    for claimed in claim.quantities:
        if claimed.dimension != "year":
            continue
        event = [(s, q) for s, q, e in passage.events if e == claim.event]
        if event and not any(agree(claimed, q) for _, q in event):
            sentence, other = event[0]
            names = sum(1 << k for k, (_, _, name) in enumerate(claim.items) if name)
            if (found.masks[sentence] | found.titled) & names or not names:
                verb = {BORN: "birth", DIED: "death"}[claim.event]
                return Conflict(sentence, f"{_instead(other.said, claimed.said)} for the {verb}")
    return None


def _instead(said: str, claimed: str) -> str:
    return f'says "{said}" where the claim says "{claimed}"'


def _antonym(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """The opposite of a word of the claim, next to the same neighbour."""
    sentence = found.best
    words = passage.words[sentence]
    lowers = {w.lower: place for place, w in enumerate(words)}
    for place in claim.opposites:
        word = claim.words[place]
        opposite = word.opposites
        if word.lower in lowers or opposite.isdisjoint(lowers):
            continue
        bits = sum(1 << k for k, (_, at, _) in enumerate(claim.items) if at == place)
        if _share(found, sentence, bits) < _SAME_WORDING:
            continue
        for other in sorted(opposite & lowers.keys()):
            at = lowers[other]
            if word.kind == STOP:
                same = _next(claim.words, place) == _next(words, at) != ""
            else:
                same = bool(
                    _context(claim.words, place, place + 1) & _context(words, at, at + 1)
                    or {w.stem for w in claim.words[place + 1 : place + 3]}
                    & {w.stem for w in words[at + 1 : at + 3] if w.kind}
                )
            if same:
                return Conflict(sentence, _instead(other, word.lower))
    return None


def _next(words: Sequence[Word], place: int) -> str:
    return words[place + 1].stem if place + 1 < len(words) else ""


def _negation(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """One of the two says that it is not so."""
    sentence = found.best
    if _share(found, sentence, 0) < _SAME_WORDING:
        return None
    words = passage.words[sentence]
    negated = [place for place, w in enumerate(words) if w.negative]
    if bool(claim.negated) == bool(negated):
        return None
    parts = {word.stem for word, _, name in claim.items if not name}
    ours, theirs = claim.words, words
    for place in negated or claim.negated:
        after = (theirs if negated else ours)[place + 1 : place + 1 + _NEAR]
        if any(w.kind == CONTENT and w.stem in parts for w in after):
            if negated:
                return Conflict(sentence, f'says "{words[place].lower}", the claim does not')
            return Conflict(sentence, f'says without "{ours[place].lower}" what the claim denies')
    return None


def _name(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """Another name in the place of one that the passage never gives."""
    for k, (word, place, name) in enumerate(claim.items):
        if not name or found.said >> k & 1:
            continue
        same_name = _name_bits(claim, place)
        if found.said & same_name:
            continue
        for sentence, words in enumerate(passage.words):
            if _share(found, sentence, same_name) < _SAME_WORDING:
                continue
            other = _name_in_slot(claim, place, words)
            if other is not None:
                return Conflict(sentence, _instead(other, word.lower))
    return None


def _name_bits(claim: PreparedClaim, place: int) -> int:
    """The parts that belong to one name: the capitalised words in a row around a place."""
    start = end = place
    while start > 0 and claim.words[start - 1].capital and claim.words[start - 1].kind:
        start -= 1
    while end + 1 < len(claim.words) and claim.words[end + 1].capital:
        end += 1
    return sum(1 << k for k, (_, at, _) in enumerate(claim.items) if start <= at <= end)


def _name_in_slot(claim: PreparedClaim, place: int, words: Sequence[Word]) -> str | None:
    """The name that a sentence has after the same two words, or before the same two words."""
    ours = claim.words
    known = {w.stem for w in ours}
    start = end = place
    while start > 0 and ours[start - 1].capital and ours[start - 1].kind:
        start -= 1
    while end + 1 < len(ours) and ours[end + 1].capital:
        end += 1
    before = [w.stem for w in ours[max(0, start - 2) : start]]
    after = [w.stem for w in ours[end + 1 : end + 3]]
    for at, word in enumerate(words):
        if not (word.capital and word.kind == CONTENT) or word.stem in known:
            continue
        first = last = at
        while first > 0 and words[first - 1].capital and words[first - 1].kind:
            first -= 1
        while last + 1 < len(words) and words[last + 1].capital and words[last + 1].kind:
            last += 1
        same_before = len(before) == 2 and before == [w.stem for w in words[first - 2 : first]]
        same_after = len(after) == 2 and after == [w.stem for w in words[last + 1 : last + 3]]
        if same_before or same_after:
            return " ".join(w.lower for w in words[first : last + 1])
    return None


_RULES: Final = (_number, _life, _antonym, _negation, _name)


def conflict(claim: PreparedClaim, passage: PreparedPassage, found: Alignment) -> Conflict | None:
    """The first reason to call the claim refuted by the passage, or None."""
    if found.best < 0:
        return None
    for rule in _RULES:
        reason = rule(claim, passage, found)
        if reason is not None:
            return reason
    return None
