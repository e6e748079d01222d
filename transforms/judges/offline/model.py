"""The fitted weights of the offline judge: a logistic regression over the named features.

Printed by `python scripts/measure_judge.py --refit`; scikit-learn is needed there only.
"""

from math import exp
from typing import Final

INTERCEPT: Final = -1.7006
WEIGHTS: Final = {
    "said": 3.3451,
    "said_together": 1.2611,
    "scattered": -0.4605,
    "names_missing": -0.4247,
    "common_missing": -0.1226,
    "numbers_missing": -0.5411,
    "function_words": 0.6958,
    "personal": -1.4777,
    "parts": 0.1494,
    "log_claim": -0.5787,
    "alone": -1.2384,
}

_WEIGHTS: Final = tuple(WEIGHTS.values())


def probability(features: tuple[float, ...]) -> float:
    """The chance in [0, 1] that a claim with these features (in the order of NAMES) is supported,
    where supported and not supported are equally frequent."""
    score = INTERCEPT
    for weight, value in zip(_WEIGHTS, features, strict=True):
        score += weight * value
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, score))))
