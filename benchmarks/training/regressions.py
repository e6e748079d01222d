"""Fit the two logistic regressions of a verifier: supported, and refuted among the rest.

Two binary ones and not one of three outcomes, because most labelled sets say only that a claim is
not supported: the first learns from all of them, the second from those that tell refuted from not
answered. Both classes weigh the same in every set, so `supported` is calibrated where it is as
frequent as the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.accuracy.sets import NOANS, REFUTED, SUPPORTED

Array = np.ndarray[Any, np.dtype[Any]]
PENALTY = 0.02  # of the squared weights of standardised features, all records weighing 1 together
# What the refuted pairs of the sets weigh beside those of the training pairs.
REFUTED_SHARE = 1 / 3
MIN_FAMILY = 50


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Features and labels of pairs, with what each weighs in either regression."""

    vectors: Array
    labels: Array
    weights: Array
    refuted_weights: Array


def _even(labels: Array, positive: Array, of: Array, share: float) -> Array:
    """Return weights of the rows `of` that sum to `share`, half of it for the positive ones."""
    weights = np.zeros(len(labels))
    for side in (of & positive, of & ~positive):
        if side.any():
            weights[side] = share / 2 / side.sum()
    return weights


def examples_of(vectors: Array, labels: Array, share: float) -> Examples:
    """Weigh one set, both classes of each regression the same."""
    everything = np.ones(len(labels), dtype=bool)
    unsupported = (labels == REFUTED) | (labels == NOANS)
    both = (labels == REFUTED).any() and (labels == NOANS).any()
    return Examples(
        vectors,
        labels,
        _even(labels, labels == SUPPORTED, everything, share),
        _even(labels, labels == REFUTED, unsupported, share * REFUTED_SHARE if both else 0.0),
    )


def examples_of_families(
    vectors: Array, labels: Array, families: Array, share: float, smallest: float = MIN_FAMILY
) -> Examples:
    """Weigh training pairs of several families the same, both classes of each regression too.

    Families with at most `smallest` pairs weigh nothing.
    """
    weights, refuted_weights = np.zeros(len(labels)), np.zeros(len(labels))
    large = [name for name in np.unique(families) if (families == name).sum() > smallest]
    for name in large:
        of = families == name
        weights += _even(labels, labels == SUPPORTED, of, share / len(large))
    # Many families have refuted or unanswered pairs only: the two are evened over all of them.
    for label in (REFUTED, NOANS):
        having = [name for name in large if ((families == name) & (labels == label)).any()]
        for name in having:
            of = (families == name) & (labels == label)
            refuted_weights[of] = share / 2 / len(having) / of.sum()
    return Examples(vectors, labels, weights, refuted_weights)


def regression(
    vectors: Array, truth: Array, weights: Array, names: Sequence[str], penalty: float
) -> dict[str, float]:
    """Fit a weighted logistic regression over standardised features; return named weights."""
    weighing = weights > 0
    vectors, truth, weights = vectors[weighing], truth[weighing], weights[weighing]
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0) + 1e-9
    model = LogisticRegression(C=1 / penalty, tol=1e-8, max_iter=1000)
    model.fit((vectors - mean) / scale, truth, weights / weights.sum())
    plain = model.coef_[0] / scale
    coefficients = {"intercept": float(model.intercept_[0] - plain @ mean)}
    return coefficients | dict(zip(names, map(float, plain), strict=True))
