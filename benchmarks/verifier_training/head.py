"""The last layer of the bundled verifier: fitted to pairs whose documents its model did not see."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.judge_sets import NOANS
from benchmarks.regressions import Array, Examples, examples_of_families, fit
from benchmarks.verifier_training.pairs import Labelled, family, held
from ufo.transforms.verifiers.bundled.verifier import INPUTS, BundledVerifier
from ufo.transforms.verifiers.regressions import Regressions

MADE_SHARE = 0.25
"""What pairs made by this project weigh in the fit; the rest is that of people's pairs."""
_CAPTIONS = ("esnli", "med", "breaking")
"""Captions of pictures, a sentence each: unlike what the verifier is asked."""
_MOST = 600
"""Pairs of a family, at most."""
REFUTED_INPUTS = tuple(
    name for name in INPUTS if name.endswith("_differs") or name in ("said", "model_refuted")
)
_BELOW = (0.02, 0.05, 0.1, 0.15, 0.2)
_AGREEMENT = 0.98
Weights = dict[str, tuple[float, float]]


def held_pairs(items: Sequence[Labelled]) -> list[Labelled]:
    """Return the pairs that the last layer is fitted to, at most 600 of a family."""
    found: dict[str, list[Labelled]] = {}
    for item in items:
        name = item.origin if item.origin.startswith("made_") else family(item.origin)
        if held(item.document) and name not in _CAPTIONS:
            found.setdefault(name, []).append(item)
    return [item for of in found.values() for item in of[:: max(1, len(of) // _MOST)]]


def vectors_of(verifier: BundledVerifier, items: Sequence[Labelled]) -> Array:
    """Return the inputs of the last layer (n, inputs)."""
    return np.array([verifier.inputs(item.pair) for item in items])


def fitted(items: Sequence[Labelled], vectors: Array, made_share: float = MADE_SHARE) -> Weights:
    """Return the weights of both regressions by input."""
    made = np.array([item.origin.startswith("made_") for item in items])
    parts = [_examples(items, vectors, of, share) for of, share in _shares(made, made_share)]
    return dict(fit(parts, INPUTS, REFUTED_INPUTS))


def _shares(made: Array, made_share: float) -> list[tuple[Array, float]]:
    return [(~made, 1 - made_share), (made, made_share)]


def _examples(items: Sequence[Labelled], vectors: Array, of: Array, share: float) -> Examples:
    rows = np.flatnonzero(of)
    labels = np.array([items[row].label for row in rows])
    families = np.array([family(items[row].origin) for row in rows])
    return examples_of_families(vectors[rows], labels, families, share)


def unrelated_below(vectors: Array, weights: Weights) -> dict[str, Any]:
    """Return the largest share of said words below which the model all but always says noans."""
    said = vectors[:, INPUTS.index("said")]
    regressions = Regressions.of(weights, INPUTS)
    found = [regressions.probabilities(row) for row in vectors.tolist()]
    noans = np.array([one.outcome == NOANS for one in found])
    best: dict[str, Any] = {"below": 0.0, "probabilities": [0.01, 0.01, 0.98]}
    for below in _BELOW:
        of = said < below
        if of.any() and noans[of].mean() >= _AGREEMENT:
            mean = np.array(found)[of].mean(axis=0)
            three = [round(float(value), 4) for value in mean / mean.sum()]
            best = {"below": below, "probabilities": three}
    return best
