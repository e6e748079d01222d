"""The fitted weights of the offline judge: a logistic regression over the named features.

Printed by `python scripts/measure_judge.py --refit`; scikit-learn is needed there only.
"""

from math import exp
from typing import Final

INTERCEPT: Final = -2.4312
WEIGHTS: Final = {
    "said": 2.8110,
    "said_at_once": 2.0089,
    "pairs": 0.5314,
    "function_words": 0.5107,
    "common_said": -0.5979,
    "names_missing": 0.2692,
    "words_missing": 0.7241,
    "weight_missing": -0.4848,
    "weight_missing_at_once": 0.1643,
    "weight_missing_nearby": -0.2829,
    "personal": -1.8426,
    "log_passage": 0.5712,
    "log_sentences": -0.5348,
    "log_best": -0.5034,
    "log_claim": -0.0504,
}

_WEIGHTS: Final = tuple(WEIGHTS.values())


def probability(features: tuple[float, ...]) -> float:
    """The chance in [0, 1] that a claim with these features (in the order of NAMES) is supported,
    where supported and not supported are equally frequent."""
    score = INTERCEPT
    for weight, value in zip(_WEIGHTS, features, strict=True):
        score += weight * value
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, score))))
