"""Verify by word overlap, with a logistic regression: the verifier `overlap`."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from math import exp, log
from operator import mul
from typing import Final

from ufo.transforms.english.grammar import word_set
from ufo.transforms.verifiers.grounds import UNSURE, grounds
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

WEIGHTS: Final = {
    "said_together": 2.2092,  # share of the claim's words in two neighbouring sentences
    "names_said": 0.6167,  # ... of its names
    "predicate_said": 0.7816,  # ... of the words from its verb on
    "last_missing": -0.4109,  # 1 where the passage lacks the claim's last word or number
    "end_missing": 0.2053,  # logarithm of 1 + missing words of the claim's second half
    "names_missing": -0.4100,  # ... words of names
    "numbers_missing": -0.7923,  # ... numbers and dates
    "function_words": 0.9365,  # share of the claim's function words that the passage has
    "personal": -1.4148,  # 1 where the claim has "I" or "you": talk rather than a statement
    "differs": -1.3975,  # 1 where the passage has a ground against the claim
}
"""The features and their weights, which `benchmarks/training/overlap.py` prints."""
INTERCEPT: Final = -2.5184
REFUTED_WITH_GROUND: Final = 0.8
"""The probability that an unsupported pair is refuted if there is a sure ground."""
REFUTED_WITHOUT: Final = 0.1
"""The same probability without a sure ground."""
_PREDICATE_SAID: Final = [*WEIGHTS].index("predicate_said")
_A_QUARTER: Final = 0.25
_PERSONAL: Final = word_set("i me my mine i'm i've i'd i'll you your")


class OverlapVerifier(Verifier):
    """Compares words, names, numbers and dates; the fastest."""

    name = "overlap"

    def fingerprint(self) -> str:
        return sha256(repr((INTERCEPT, WEIGHTS)).encode()).hexdigest()[:16]

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        return [probabilities(features(pair)) for pair in pairs]


def probabilities(
    vector: Sequence[float],
    weights: Iterable[float] = WEIGHTS.values(),
    intercept: float = INTERCEPT,
) -> Probabilities:
    """Return the probabilities of a pair with these features."""
    score = sum(map(mul, weights, vector), intercept)
    supported = 1 / (1 + exp(-score))
    if vector[_PREDICATE_SAID] < _A_QUARTER:  # the passage only names the claim's subject
        supported = min(supported, UNSURE)
    share = REFUTED_WITH_GROUND if vector[-1] else REFUTED_WITHOUT
    refuted = (1 - supported) * share
    return Probabilities(supported, refuted, 1 - supported - refuted)


def features(pair: Pair) -> list[float]:
    """Return the features of a pair in the order of WEIGHTS, from nothing but its texts."""
    matched = match(pair)
    claim, passage, present = matched.claim, matched.passage, matched.said
    everything, missing = claim.everything, claim.everything & ~present
    together = matched.together
    unsaid = enumerate(claim.numbers, len(claim.items))
    numbers = {one.start for k, one in unsaid if missing >> k & 1}
    small = [word.key for word in claim.words if not word.weight]
    against = grounds(matched)
    return [
        claim.largest_share(together, everything),
        claim.largest_share(together, claim.named),
        claim.largest_share(together, claim.predicate),
        float(bool(claim.last & missing)),
        log(1 + (claim.end & missing).bit_count()),
        log(1 + (claim.named & missing).bit_count()),
        log(1 + len(numbers)),
        sum([key in passage.keys for key in small]) / max(1, len(small)),
        float(not _PERSONAL.isdisjoint(claim.lower)),
        float(bool(against) and against[0].sure),
    ]
