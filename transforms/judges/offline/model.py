"""The fitted weights of the offline judge: a logistic regression over the named features.

Printed by `python scripts/measure_judge.py --refit`; scikit-learn is needed there only.
"""

from math import exp
from typing import Final

INTERCEPT: Final = -1.5951
WEIGHTS: Final = {
    "said": 3.5000,
    "said_together": 0.7253,
    "scattered": -0.3862,
    "names_missing": -0.4076,
    "common_missing": -0.1066,
    "numbers_missing": -0.5150,
    "function_words": 0.6140,
    "personal": -1.8937,
    "parts": 0.1686,
    "log_claim": -0.7539,
    "log_passage": 0.5014,
    "log_sentences": -0.5025,
    "log_best": -0.3574,
}

_WEIGHTS: Final = tuple(WEIGHTS.values())


def probability(features: tuple[float, ...]) -> float:
    """The chance in [0, 1] that a claim with these features (in the order of NAMES) is supported,
    where supported and not supported are equally frequent."""
    score = INTERCEPT
    for weight, value in zip(_WEIGHTS, features, strict=True):
        score += weight * value
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, score))))
