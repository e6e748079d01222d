"""Explain a verdict by the words, numbers and names that a passage says, lacks or contradicts."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.verifiers.grounds import (
    Ground,
    disproof,
    grounds,
    has_other_roles,
    other_subject,
)
from ufo.transforms.verifiers.texts import Match

_NAMED: Final = 4  # Parts of a claim that a rationale lists; the rest are counted.


class Explanation(NamedTuple):
    """An explanation: `citation` is an exact substring of the passage, `rationale` one line."""

    citation: str | None
    rationale: str


def explain(match: Match, outcome: str) -> Explanation:
    """Explain the outcome "supported", "refuted" or "noans" of a pair; "noans" has no citation.

    The citation is the sentence with most of the claim's words. For "refuted" it is the sentence
    whose number, date, name or negation differs from the claim.
    """
    sentences = match.passage.sentences
    against = grounds(match)
    disproved = disproof(match)
    if outcome == SUPPORTED and disproved:
        rationale = f'says "{disproved.said}", the claim denies "{disproved.claimed}"'
        if disproved.kind == "exclusion":
            rationale = f'says "{disproved.said}", as the claim does'
        return Explanation(sentences[disproved.sentence], rationale)
    if outcome == REFUTED and against:
        return Explanation(sentences[against[0].sentence], _differs(against[0]))
    if outcome not in (SUPPORTED, REFUTED):
        return Explanation(None, _unsettled(match, against))
    if not sentences:
        return Explanation(None, "the passage is empty")
    present, missing = _parts(match, present=True), _parts(match, present=False)
    if not present:
        missing = f"does not say {missing}" if missing else "the claim has no content words"
        return Explanation(sentences[max(match.best, 0)], missing)
    rationale = f"says {present}, not {missing}" if missing else f"says {present}"
    return Explanation(sentences[max(match.best, 0)], rationale)


def _differs(ground: Ground) -> str:
    if ground.said and ground.claimed:
        return f'says "{ground.said}", the claim says "{ground.claimed}"'
    if ground.said:
        return f'says "{ground.said}", the claim does not'
    return f'does not say "{ground.claimed}", the claim does'


def _unsettled(match: Match, against: Sequence[Ground]) -> str:
    other = other_subject(match)
    if other:
        own = " ".join([word.surface for word in match.claim.named_subject])
        named = f'not "{own}"' if own else "the claim does not say whom it is about"
        return f'is about "{" ".join(other.split())}", {named}'
    if has_other_roles(match):
        return "has the names of the claim in exchanged roles"
    if against and against[0].sure:
        return f"{_differs(against[0])}, but does not settle it"
    missing = _parts(match, present=False)
    if missing:
        return f"does not say {missing}"
    if not match.claim.everything:
        return "the claim has no content words"
    return "says the words of the claim, but does not settle it"


def _parts(match: Match, *, present: bool) -> str:
    """Return the parts of the claim that the passage has, or those it lacks (not `present`).

    A date with a missing part counts as missing.
    """
    claim = match.claim
    unsaid = {claim.places[k] for k in claim.order if not match.said >> k & 1}
    texts = [claim.text(k) for k in claim.order if (claim.places[k] in unsaid) != present]
    listed = list(dict.fromkeys(texts))
    quoted = ", ".join([f'"{one}"' for one in listed[:_NAMED]])
    more = len(listed) - _NAMED
    return f"{quoted} and {more} more" if more > 0 else quoted
