"""The verifier `overlap`: two logistic regressions over what a passage says of a claim's words.

One gives the probability that it supports the claim, one that it refutes the claim if it does not
support it.
`benchmarks/fit_overlap.py` fits them.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from ufo.transforms.verifiers.base import Pair, Probabilities, Verifier
from ufo.transforms.verifiers.overlap.features import NAMES, features
from ufo.transforms.verifiers.overlap.weights import WEIGHTS
from ufo.transforms.verifiers.regressions import Regressions

_REGRESSIONS: Final = Regressions.of(WEIGHTS, NAMES)
# A passage that only names the subject of a claim does not support what the claim says of it.
UNSAID: Final = NAMES.index("told_unsaid")
UNSAID_AT_MOST: Final = 0.49


class OverlapVerifier(Verifier):
    """Counts shared words, names and numbers and looks for plain contradictions.

    It needs no model file. `supported` is calibrated where it is as frequent as the rest.
    """

    name = "overlap"

    def fingerprint(self) -> str:
        return sha256(repr(WEIGHTS).encode()).hexdigest()[:16]

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        return [_probabilities(features(pair)) for pair in pairs]


def _probabilities(vector: Sequence[float]) -> Probabilities:
    return _REGRESSIONS.probabilities(vector, UNSAID_AT_MOST if vector[UNSAID] else 1.0)
