"""The fitted weights of the offline judge: a logistic regression over the named features.

Printed by `python scripts/measure_judge.py --refit`; scikit-learn is needed there only.
"""

from math import exp
from typing import Final

INTERCEPT: Final = -1.6157
WEIGHTS: Final = {
    "said": 2.9822,
    "said_together": 1.5308,
    "scattered": -0.3970,
    "names_missing": -0.4235,
    "common_missing": -0.1146,
    "numbers_missing": -0.5590,
    "function_words": 0.6743,
    "personal": -1.4942,
    "parts": 0.1512,
    "log_claim": -0.6154,
    "alone": -1.1638,
}

_WEIGHTS: Final = tuple(WEIGHTS.values())


def probability(features: tuple[float, ...]) -> float:
    """The chance in [0, 1] that a claim with these features (in the order of NAMES) is supported,
    where supported and not supported are equally frequent."""
    score = INTERCEPT
    for weight, value in zip(_WEIGHTS, features, strict=True):
        score += weight * value
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, score))))
