"""The last layer of the bundled verifier: fitted to pairs whose documents its model did not see.

What `overlap` measures keeps the weights that it has among itself, fitted to all pairs of people;
how much that counts, and how much the model, is fitted to the pairs that are held out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.judge_sets import NOANS, REFUTED, SUPPORTED
from benchmarks.regressions import Array, examples_of_families, regression
from benchmarks.verifier_training.pairs import Labelled, family, held
from ufo.transforms.verifiers.base import Probabilities
from ufo.transforms.verifiers.bundled.verifier import INPUTS, BundledVerifier
from ufo.transforms.verifiers.overlap import WEIGHTS

SHARES = {"people": 0.6, "made": 0.2, "roles": 0.2}
"""What pairs of people's sets weigh in the fit, those made, and those made about roles."""
_PENALTIES = (0.002, 0.002)
_CAPTIONS = ("esnli", "med", "breaking")
"""Captions of pictures, a sentence each: unlike what the verifier is asked."""
_MOST = 500
"""Pairs of a family, at most."""
_ROLES = ("made_roles", "made_symmetric", "made_exchanged")
_MODEL = [name for name in INPUTS if name not in WEIGHTS and name != "model_refuted"]
_OF_REFUTED = ["said_together", "differs", "model_refuted"]
_REFUTED_AMONG_REST = 0.5
"""As how frequent refuted counts among what is not supported."""
_BELOW = (0.02, 0.05, 0.1, 0.15, 0.2)
_AGREEMENT = 0.98
Weights = dict[str, tuple[float, float]]


def held_pairs(items: Sequence[Labelled]) -> list[Labelled]:
    """Return the pairs that the last layer is fitted to, at most 500 of a family."""
    found: dict[str, list[Labelled]] = {}
    for item in items:
        name = item.origin if item.origin.startswith("made_") else family(item.origin)
        if held(item.document) and name not in _CAPTIONS:
            found.setdefault(name, []).append(item)
    return [item for of in found.values() for item in of[:: -(-len(of) // _MOST)]]


def vectors_of(verifier: BundledVerifier, items: Sequence[Labelled]) -> Array:
    """Return the inputs of the last layer (n, inputs)."""
    return np.array([verifier.inputs(item.pair) for item in items])


def fitted(items: Sequence[Labelled], vectors: Array, overlap: Mapping[str, float]) -> Weights:
    """Return the weights of both regressions by input.

    Args:
        overlap: The weights of `overlap` fitted to other sets alone, with its intercept.
    """
    labels = np.array([item.label for item in items])
    of_overlap = vectors[:, : len(WEIGHTS)] @ [overlap[name] for name in WEIGHTS]
    weights, refuted_weights = _weights(items, vectors, labels)
    names = ["overlap", *_MODEL]
    rows = np.c_[of_overlap, vectors[:, [INPUTS.index(name) for name in _MODEL]]]
    of = regression(rows, labels == SUPPORTED, weights, names, names, _PENALTIES[0])
    rows = vectors[:, [INPUTS.index(name) for name in _OF_REFUTED]]
    against = regression(
        rows, labels == REFUTED, refuted_weights, _OF_REFUTED, _OF_REFUTED, _PENALTIES[1]
    )
    against["intercept"] += float(np.log(_REFUTED_AMONG_REST / (1 - _REFUTED_AMONG_REST)))
    supported = of | {name: of["overlap"] * overlap[name] for name in WEIGHTS}
    supported["intercept"] += of["overlap"] * overlap["intercept"]
    return {
        name: (supported.get(name, 0.0), against.get(name, 0.0)) for name in ("intercept", *INPUTS)
    }


def _weights(items: Sequence[Labelled], vectors: Array, labels: Array) -> tuple[Array, Array]:
    """Return what each pair weighs in either regression: families the same within a share."""
    parts = np.array(
        [
            "roles" if item.origin in _ROLES else "made" if item.origin[:5] == "made_" else "people"
            for item in items
        ]
    )
    families = np.array([family(item.origin) for item in items])
    weights, refuted_weights = np.zeros(len(items)), np.zeros(len(items))
    for part, share in SHARES.items():
        rows = np.flatnonzero(parts == part)
        found = examples_of_families(vectors[rows], labels[rows], families[rows], share)
        weights[rows], refuted_weights[rows] = found.weights, found.refuted_weights
    return weights, refuted_weights


def unrelated_below(vectors: Array, weights: Weights) -> dict[str, Any]:
    """Return the largest share of said words below which the verifier all but always says noans."""
    slopes = np.array([weights[name] for name in ("intercept", *INPUTS)])
    chances = 1 / (1 + np.exp(-np.c_[np.ones(len(vectors)), vectors] @ slopes))
    supported, refuted = chances[:, 0], (1 - chances[:, 0]) * chances[:, 1]
    three = np.stack([supported, refuted, 1 - supported - refuted], axis=1)
    noans = np.array([Probabilities(*row).outcome == NOANS for row in three.tolist()])
    best: dict[str, Any] = {"below": 0.0, "probabilities": [0.01, 0.01, 0.98]}
    for below in _BELOW:
        of = vectors[:, 0] < below
        if of.any() and noans[of].mean() >= _AGREEMENT:
            mean = [round(float(value), 4) for value in three[of].mean(axis=0)]
            best = {"below": below, "probabilities": mean}
    return best
