"""The last layer of the bundled verifier: fitted to pairs whose documents its model did not see.

What `overlap` measures keeps the weights that it has when it is fitted to other sets alone. Refuted
among the rest is fitted to the pairs that are held out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.accuracy.sets import REFUTED
from benchmarks.training.pairs import Labelled, family, held
from benchmarks.training.regressions import Array, examples_of_families, regression
from ufo.transforms.verifiers.bundled.classifier import INPUTS, BundledVerifier
from ufo.transforms.verifiers.verifier import SUPPORTED_FROM

SAYS = {"intercept": 0.3, "model_supported": 0.1, "supported_all": 0.2}
"""What the model's log-odds count beside those of `overlap`, and how much sooner supported is said.

Not fitted: on pairs like those it learned from the model is more often right than on any others, so
that a fit to them believes it too much. Chosen, of some thirty, on the developers' records.
"""
_PENALTY = 0.002
_CAPTIONS = ("esnli", "med", "breaking")
"""Captions of pictures, a sentence each: unlike what the verifier is asked."""
_MOST = 500
"""Pairs of a family, at most."""
_OF_REFUTED = ["said_together", "differs", "model_refuted"]
_REFUTED_AMONG_REST = 0.5
"""As how frequent refuted counts among what is not supported."""
_BELOW = (0.02, 0.05, 0.1, 0.15, 0.2)
_AGREEMENT = 0.98
Weights = dict[str, tuple[float, float]]


def held_pairs(items: Sequence[Labelled]) -> list[Labelled]:
    """Return the pairs that the last layer is fitted to, at most 500 of a family."""
    families: dict[str, list[Labelled]] = {}
    for item in items:
        name = item.origin if item.origin.startswith("made_") else family(item.origin)
        if held(item.document) and name not in _CAPTIONS:
            families.setdefault(name, []).append(item)
    return [item for of in families.values() for item in of[:: -(-len(of) // _MOST)]]


def vectors_of(verifier: BundledVerifier, items: Sequence[Labelled]) -> Array:
    """Return the inputs of the last layer (n, inputs)."""
    return np.array([verifier.inputs(item.pair) for item in items])


def fitted(items: Sequence[Labelled], vectors: Array, overlap: Mapping[str, float]) -> Weights:
    """Return the weights of both regressions by input.

    Args:
        overlap: The weights of `overlap` fitted to other sets alone, with its intercept.
    """
    labels = np.array([item.label for item in items])
    families = np.array([family(item.origin) for item in items])
    weights = examples_of_families(vectors, labels, families, 1.0).refuted_weights
    rows = vectors[:, [INPUTS.index(name) for name in _OF_REFUTED]]
    against = regression(rows, labels == REFUTED, weights, _OF_REFUTED, _PENALTY)
    against["intercept"] += float(np.log(_REFUTED_AMONG_REST / (1 - _REFUTED_AMONG_REST)))
    return {
        name: (overlap.get(name, 0.0) + SAYS.get(name, 0.0), against.get(name, 0.0))
        for name in ("intercept", *INPUTS)
    }


def unrelated_below(vectors: Array, weights: Weights) -> dict[str, Any]:
    """Return the largest share of said words below which supported is all but never said.

    Nor refuted: the rules of the judge want a sentence about the claim's subject for that.
    """
    slopes = np.array([weights[name] for name in ("intercept", *INPUTS)])
    supported = 1 / (1 + np.exp(-np.c_[np.ones(len(vectors)), vectors] @ slopes[:, 0]))
    best: dict[str, Any] = {"below": 0.0, "probabilities": [0.01, 0.01, 0.98]}
    for below in _BELOW:
        of = vectors[:, 0] < below
        if of.any() and (supported[of] < SUPPORTED_FROM).mean() >= _AGREEMENT:
            mean = round(float(supported[of].mean()), 4)
            best = {"below": below, "probabilities": [mean, 0.01, round(0.99 - mean, 4)]}
    return best
