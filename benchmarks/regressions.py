"""Fit the two logistic regressions of a verifier: supported, and refuted among the rest.

Two binary ones and not one of three outcomes, because most labelled sets say only that a claim is
not supported: the first learns from all of them, the second from those that tell refuted from not
answered. Both classes weigh the same in every set, so `supported` is calibrated where it is as
frequent as the rest.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.judge_sets import NOANS, REFUTED, SUPPORTED

Array = np.ndarray[Any, np.dtype[Any]]
PENALTY = 0.02  # of the squared weights of standardised features, all records weighing 1 together
# The same for refuted among the rest, whose features are rare: a penalty takes more of these.
REFUTED_PENALTY = 0.002
# Of the pairs that are not supported, the share that counts as refuted: how readily "refuted" is
# said. A larger one also lets "supported" win at lower probabilities.
REFUTED_AMONG_REST = 0.25
# What the refuted pairs of the sets weigh beside those of the training pairs.
REFUTED_SHARE = 1 / 3
_STEPS = 25
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
    vectors: Array,
    truth: Array,
    weights: Array,
    names: Sequence[str],
    used: Collection[str],
    penalty: float,
) -> dict[str, float]:
    """Fit a weighted logistic regression by Newton's method; return named weights.

    A feature that is not among `used` weighs nothing.
    """
    vectors = np.where([name in used for name in names], vectors, 0.0)
    weighing = weights > 0
    vectors, truth, weights = vectors[weighing], truth[weighing], weights[weighing]
    weights = weights / weights.sum()
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0) + 1e-9
    scaled = np.c_[np.ones(len(vectors)), (vectors - mean) / scale]
    penalties = np.diag([0.0] + [penalty] * vectors.shape[1])
    slopes = np.zeros(scaled.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-scaled @ slopes))
        curvature = (scaled.T * (weights * chance * (1 - chance))) @ scaled + penalties
        step = scaled.T @ (weights * (truth - chance)) - penalties @ slopes
        slopes += np.linalg.solve(curvature, step)
    plain = slopes[1:] / scale
    found = {"intercept": float(slopes[0] - plain @ mean)}
    return found | dict(zip(names, map(float, plain), strict=True))


def fit(
    parts: Sequence[Examples], names: Sequence[str], of_refuted: Collection[str]
) -> dict[str, tuple[float, float]]:
    """Return the weights of both regressions by feature, and those of `intercept`.

    Args:
        names: The features, in the order of the vectors.
        of_refuted: Those that the second regression reads.
    """
    vectors = np.vstack([part.vectors for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    refuted_weights = np.concatenate([part.refuted_weights for part in parts])
    supported = regression(vectors, labels == SUPPORTED, weights, names, names, PENALTY)
    refuted = regression(
        vectors, labels == REFUTED, refuted_weights, names, of_refuted, REFUTED_PENALTY
    )
    refuted["intercept"] += float(np.log(REFUTED_AMONG_REST / (1 - REFUTED_AMONG_REST)))
    return {name: (supported[name], refuted[name]) for name in ("intercept", *names)}
