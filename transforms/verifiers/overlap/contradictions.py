"""Find contradictions between a passage and a claim, of kinds that one line can explain.

A missing word is none: something else has to stand in the claim's place. How sure that is shows in
`share`: how much of the rest of the claim the same sentence says.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ufo.transforms.english.quantities import agree, comparable
from ufo.transforms.english.words import CONTENT, Word
from ufo.transforms.verifiers.overlap.reading import Match, ReadClaim, ReadPassage, surface

KINDS: Final = ("number", "date", "name", "negation", "opposite")
_DATES: Final = ("year", "month", "day")
_REACH: Final = 16  # Words before a date: "won one prize in 1903 and the other prize in 1911".
_AFTER: Final = 4
_TRIED: Final = 4  # Names of a sentence after one and the same word.
_LONGEST: Final = 6  # Words of a name, from its first or to its last.
_HALF: Final = 0.5  # A sentence that says less of the rest speaks of something else.


class Contradiction(NamedTuple):
    """`said` stands in the sentence number `sentence` where the claim says `claimed`.

    For a negation one of the two is empty. `share` is from 0.5 to 1.
    """

    kind: str
    sentence: int
    said: str
    claimed: str
    share: float


def contradictions(
    claim: ReadClaim, passage: ReadPassage, found: Match
) -> dict[str, Contradiction]:
    """Return the strongest contradiction of each kind; of equal ones the first."""
    strongest: dict[str, Contradiction] = {}
    if found.best < 0:
        return strongest
    for rule in (_numbers, _names, _negations, _opposites):
        for one in rule(claim, passage, found):
            known = strongest.get(one.kind)
            if one.share >= _HALF and (known is None or one.share > known.share):
                strongest[one.kind] = one
    return strongest


def _rest(claim: ReadClaim, found: Match, sentence: int, left_out: int) -> float:
    """Return the share of the claim that a sentence says, the parts of a mask left out."""
    others = claim.everything & ~left_out
    total = claim.weight(others)
    return claim.weight(found.masks[sentence] & others) / total if total else 0.0


def _numbers(claim: ReadClaim, passage: ReadPassage, found: Match) -> Iterator[Contradiction]:
    """Yield other numbers and dates where the passage has none that agrees."""
    unsaid = claim.all_numbers & ~found.said
    if not unsaid or not passage.numbers:
        return
    others = [
        (number, q)
        for number, q in passage.numbers
        if not claim.subject & ~found.masks[number]
        and not any(agree(claimed, q) for claimed in claim.numbers)
    ]
    shares = {number: _rest(claim, found, number, unsaid) for number, _ in others}
    for k, claimed in enumerate(claim.numbers, len(claim.items)):
        kind = "date" if claimed.dimension in _DATES else "number"
        anchors = _last(claim.words[: claimed.start])
        if kind == "number":
            anchors += _last(claim.words[: claimed.end - 1 : -1])
        for number, other in others if unsaid >> k & 1 else ():
            if comparable(claimed, other) and other.said != claimed.said:
                near = passage.words[number][max(0, other.start - _REACH) : other.end + _AFTER]
                if not anchors or any(word.stem in anchors for word in near):
                    yield Contradiction(kind, number, other.said, claimed.said, shares[number])


def _last(words: Sequence[Word]) -> list[str]:
    """Return the stem of the last content word that is not a name: what a date or place is of."""
    return [word.stem for word in words if word.kind == CONTENT and not word.capital][-1:]


def _names(claim: ReadClaim, passage: ReadPassage, found: Match) -> Iterator[Contradiction]:
    """Yield another name after the word that a name of the claim follows.

    Another subject does not contradict: it is said of somebody else. Nor does an abbreviation.
    """
    unsaid = claim.names & claim.predicate & ~found.said
    if not unsaid or claim.subject & ~found.masks[found.best]:
        return
    words = passage.words[found.best]
    share = _rest(claim, found, found.best, unsaid)
    others: dict[str, list[int]] = {}  # The word before a name -> the places of such names.
    for place, word in enumerate(words):
        if place and word.named and word.stem not in claim.stems and not word.surface.isupper():
            others.setdefault(words[place - 1].lower, []).append(place)
    for k, place in enumerate(claim.places[: len(claim.items)]):
        if not unsaid >> k & 1 or claim.words[place].surface.isupper():
            continue
        ours, anchors = _whole_name(claim.words, place), _last(claim.words[:place])
        for other in others.get(claim.words[place - 1].lower, [])[:_TRIED]:
            near = words[max(0, other - _REACH) : other]
            partly = any(word.stem in passage.index for word in ours)
            if not partly and (not anchors or any(word.stem in anchors for word in near)):
                said, claimed = surface(_whole_name(words, other)), surface(ours)
                yield Contradiction("name", found.best, said, claimed, share)


def _whole_name(words: Sequence[Word], at: int) -> Sequence[Word]:
    """Return the name that a word is part of."""
    start, end = at, at + 1
    while start and at - start < _LONGEST and words[start - 1].named:
        start -= 1
    while end < len(words) and end - at < _LONGEST and words[end].named:
        end += 1
    return words[start:end]


def _negations(claim: ReadClaim, passage: ReadPassage, found: Match) -> Iterator[Contradiction]:
    """Yield a negation that only one of the two has, of a word that both have."""
    best = found.best
    there = passage.denied[best]
    if bool(there) == bool(claim.denied):
        return
    share = _rest(claim, found, best, 0)
    for stem, negation in there.items():
        if stem in claim.stems:
            yield Contradiction("negation", best, negation, "", share)
    for stem, negation in claim.denied.items():
        if best in passage.index.get(stem, ()):
            yield Contradiction("negation", best, "", negation, share)


def _opposites(claim: ReadClaim, passage: ReadPassage, found: Match) -> Iterator[Contradiction]:
    """Yield an antonym of a word of the claim that the sentence does not say."""
    having = [word for word in claim.words if word.opposites and word.stem not in claim.denied]
    if not having:
        return
    words = {word.lower: word for word in passage.words[found.best]}
    denied = passage.denied[found.best]
    for word in having:
        if word.lower in words:
            continue
        left_out = sum([1 << k for k, item in enumerate(claim.items) if item.stem == word.stem])
        for other in sorted(word.opposites & words.keys()):
            if words[other].stem not in denied:
                share = _rest(claim, found, found.best, left_out)
                yield Contradiction("opposite", found.best, other, word.lower, share)
