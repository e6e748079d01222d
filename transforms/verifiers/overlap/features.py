"""Compute what overlap measures of a pair, as a few named numbers between 0 and about 6."""

from itertools import pairwise
from math import log
from typing import Final

from ufo.transforms.english.word_set import word_set
from ufo.transforms.verifiers.base import Pair
from ufo.transforms.verifiers.overlap.contradictions import KINDS, contradictions
from ufo.transforms.verifiers.overlap.reading import (
    Match,
    ReadClaim,
    match,
    read_claim,
    read_passage,
)

NAMES: Final[tuple[str, ...]] = (
    "said",  # weighted share of the claim's content words and numbers that the passage says
    "said_two",  # ... that two neighbouring sentences say
    "told_said",  # ... the same for the claim from its verb on: its predicate
    "told_unsaid",  # 1 where they say less than a quarter of that: the subject is not enough
    "names_said",  # ... and for its names
    "end_said",  # share of the claim's second half that the passage says
    "last_missing",  # 1 where the passage does not say the claim's last word or number
    "all_said",  # 1 where it says all of them
    "phrases",  # share of the claim's neighbouring words of any kind that are neighbours there too
    "names_missing",  # logarithm of 1 + names of the claim that the passage does not say
    "words_missing",  # ... other content words
    "numbers_missing",  # ... numbers and dates
    *[f"{kind}_differs" for kind in KINDS],  # how sure a contradiction of that kind is, 0 to 1
    "hedged",  # 1 where the best sentence leaves open or disputes, and the claim does not
    "personal",  # 1 where the claim speaks of I or you: talk rather than a statement
    "claim_words",  # logarithm of 1 + words of the claim
    "passage_words",  # ... of the passage
    "one_sentence",  # 1 where the passage is a single sentence
)

_HEDGES: Final = word_set(
    """
    may might could possibly perhaps maybe possible allegedly reportedly supposedly believed
    rumored rumoured alleged claimed myth misconception hoax false untrue
    """
)
_A_QUARTER: Final = 0.25
_PERSONAL: Final = word_set("i me my mine i'm i've i'd i'll you your")


def features(pair: Pair) -> list[float]:
    """Return the numbers named in NAMES. Accepts any texts; depends on nothing but the pair."""
    claim = read_claim(pair.claim)
    passage = read_passage(pair.passage, pair.title)
    found = match(claim, passage)
    said, everything = found.said, claim.everything
    total = claim.weight(everything) or 1.0
    missing = everything & ~said
    names_missing = (missing & claim.names).bit_count()
    numbers_missing = (missing & claim.all_numbers).bit_count()
    against = contradictions(claim, passage, found)
    best = passage.lower[found.best] if found.best >= 0 else ()
    hedged = not _HEDGES.isdisjoint(best) and _HEDGES.isdisjoint(claim.lower)
    most, predicate, names = _together(claim, found)
    return [
        claim.weight(said) / total,
        most / total,
        predicate,
        float(predicate < _A_QUARTER),
        names,
        _share(claim, said, claim.end),
        float(bool(claim.last & missing)),
        float(not missing and everything > 0),
        len(claim.phrases & passage.phrases) / max(1, len(claim.phrases)),
        log(1 + names_missing),
        log(1 + missing.bit_count() - names_missing - numbers_missing),
        log(1 + numbers_missing),
        *[2 * against[kind].share - 1 if kind in against else 0.0 for kind in KINDS],
        float(hedged),
        float(not _PERSONAL.isdisjoint(claim.lower)),
        log(1 + len(claim.words)),
        log(1 + passage.n_words),
        float(len(passage.sentences) == 1),
    ]


def _share(claim: ReadClaim, said: int, part: int) -> float:
    """Return the weighted share of the parts in `part` that are in `said`; 1 where it has none."""
    total = claim.weight(part)
    return claim.weight(said & part) / total if total else 1.0


def _together(claim: ReadClaim, found: Match) -> tuple[float, float, float]:
    """Return what two neighbouring sentences say at most: its weight, and two shares.

    The shares are those of the claim's predicate and of its names.
    """
    together = {a | b for a, b in pairwise(found.masks)} or {*found.masks, 0}
    weight, predicate, names = claim.weight, claim.predicate, claim.names
    all_predicate, all_names = weight(predicate), weight(names)
    return (
        max([weight(said) for said in together]),
        max([weight(said & predicate) for said in together]) / all_predicate
        if all_predicate
        else 1.0,
        max([weight(said & names) for said in together]) / all_names if all_names else 1.0,
    )
