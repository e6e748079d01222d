"""Explain an outcome: the deciding sentence of the passage, and a one-line rationale.

The explanation compares claim and passage itself. It is correct for any verifier, but it is not the
reasoning of a trained model, which gives no reasons.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ufo.transforms.verifiers.base import Pair
from ufo.transforms.verifiers.overlap.contradictions import Contradiction, contradictions
from ufo.transforms.verifiers.overlap.reading import (
    Match,
    ReadClaim,
    match,
    read_claim,
    read_passage,
)

_NAMED: Final = 4  # Parts of a claim that a rationale lists; the rest are counted.


class Explanation(NamedTuple):
    """An explanation: `citation` is an exact substring of the passage, `rationale` one line."""

    citation: str | None
    rationale: str


def explain(pair: Pair, outcome: str) -> Explanation:
    """Explain the outcome "supported", "refuted" or "noans" of a pair; "noans" has no citation.

    The citation is the sentence with most of the claim's words; for "refuted" the one with a
    contradicting number, date, name, negation or antonym, if there is one.
    """
    claim = read_claim(pair.claim)
    passage = read_passage(pair.passage, pair.title)
    found = match(claim, passage)
    if outcome == "refuted":
        against = _strongest(contradictions(claim, passage, found).values())
        if against is not None:
            return Explanation(passage.sentences[against.sentence], _differs(against))
    if outcome not in ("supported", "refuted"):
        return Explanation(None, _missing(claim, found))
    best = max(found.best, 0)
    citation = passage.sentences[best] if passage.sentences else None
    return Explanation(citation, _said_and_missing(claim, found, citation))


def _strongest(found: Iterable[Contradiction]) -> Contradiction | None:
    """Return the contradiction with the highest share, the first of equal ones."""
    return max(found, key=lambda one: one.share, default=None)


def _differs(found: Contradiction) -> str:
    if found.said and found.claimed:
        return f'says "{found.said}", the claim says "{found.claimed}"'
    if found.said:
        return f'says "{found.said}", the claim does not'
    return f'does not say "{found.claimed}", the claim does'


def _said_and_missing(claim: ReadClaim, found: Match, citation: str | None) -> str:
    """Return a rationale: the parts of the claim that the passage has, and those it lacks."""
    if citation is None:
        return "the passage is empty"
    left_out = claim.everything & ~found.said
    missing = _parts(claim, left_out)
    # A date of which only some parts match counts as missing.
    partly = {place for k, place in enumerate(claim.places) if left_out >> k & 1}
    unsaid = sum([1 << k for k, place in enumerate(claim.places) if place in partly])
    said = _parts(claim, found.said & ~unsaid)
    if not said:
        return f"does not say {missing}" if missing else "the claim has no content words"
    return f"says {said}, not {missing}" if missing else f"says {said}"


def _missing(claim: ReadClaim, found: Match) -> str:
    missing = _parts(claim, claim.everything & ~found.said)
    if missing:
        return f"does not say {missing}"
    if not claim.everything:
        return "the claim has no content words"
    return "says the words of the claim, but does not settle it"


def _parts(claim: ReadClaim, mask: int) -> str:
    """Return the texts of the parts in a mask, in the claim's order."""
    if not mask:
        return ""
    texts = {claim.places[k]: claim.text(k) for k in claim.order if mask >> k & 1}
    listed = list(dict.fromkeys(texts.values()))
    more = len(listed) - _NAMED
    quoted = ", ".join([f'"{one}"' for one in listed[:_NAMED]])
    return f"{quoted} and {more} more" if more > 0 else quoted
