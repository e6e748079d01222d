"""Refit the last layer of a verifier on claims that people found true or false.

A claim has several passages and one label, so the label is that of its best passage: the one with
the highest probability of `supported`. For a true claim that passage should be supported; for a
false one it should not be, and then no other passage is either. Whether an unsupported passage
refutes or does not answer is not in such a label, so only the logit of `supported` is fitted: the
ratio of `refuted` to `noans` stays what the verifier says.

That logit gets a temperature (on its distance from the logit of `noans`), a bias and new weights.
The weights are pulled towards the verifier's own (L2), by a strength that cross-validation chooses;
the strongest leaves them as they are. True and false claims weigh the same in all: else a passage
that says nothing would count as support only because most claims of the data are true.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ufo.transforms.verifiers.base import Head

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

SPREADS = (0.0, 0.25, 1.0, 4.0)
"""How much new weights are expected to change log-odds (a standard deviation): the less, the
stronger they are pulled to the verifier's own. At 0 the weights stay as they are."""
FOLDS = 5
_FEW_RESPONSES = 2 * FOLDS  # with fewer, each response is a fold of its own
_SHARES = (-0.95, 19.0)  # temperatures from 20 to 1/20
_WEAK = (
    0.1  # pulls temperature and bias: keeps them finite where few labels are separated completely
)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Labelled claims, with what the last layer reads of their passages.

    `vectors` (n, d) are those of all passages, claim after claim, and `starts` (m,) is where each
    claim's begin; each has at least one. `labels` (m,) are 1 or 0. `responses` has the response of
    each claim: claims of one response are never on both sides of a cross-validation.
    """

    vectors: Floats
    starts: Integers
    labels: Integers
    responses: Sequence[str]

    def part(self, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> "Labelled":
        """Return the claims where `chosen` (m,) is true."""
        sizes = np.diff(self.starts, append=len(self.vectors))
        kept = sizes[chosen]
        return Labelled(
            self.vectors[np.repeat(chosen, sizes)],
            np.cumsum(kept) - kept,
            self.labels[chosen],
            [name for name, wanted in zip(self.responses, chosen, strict=True) if wanted],
        )


def logits_of(head: Head, vectors: Floats) -> Floats:
    """Return the logits (n, 3) that a last layer gives vectors (n, d)."""
    return np.asarray(vectors @ head.weights.T.astype(np.float64) + head.bias)


def best_log_odds(logits: Floats, starts: Integers) -> Floats:
    """Return for each claim the log-odds of `supported` of its best passage."""
    others = np.logaddexp(logits[:, 1], logits[:, 2])
    return np.asarray(np.maximum.reduceat(logits[:, 0] - others, starts))


def log_losses(log_odds: Floats, labels: Integers) -> Floats:
    """Return minus the logarithm of the probability that each label has."""
    return np.asarray(np.logaddexp(0.0, np.where(labels == 1, -log_odds, log_odds)))


def balanced(labels: Integers) -> Floats:
    """Return the weight of each claim: both classes weigh the same, all together their number."""
    true = float(labels.sum())
    each = np.where(labels == 1, true, len(labels) - true)
    return np.asarray(len(labels) / (len(np.unique(labels)) * each))


class Objective:
    """What is minimised: the weighted log loss of the claims and the penalties, with its gradient.

    The parameters say how the logit of `supported` differs from that of `head`: a share of its
    distance from the logit of `noans` (at -1/2 it is half as far, a temperature of 2), a constant,
    and weights, in units of the spread of what they multiply.
    """

    def __init__(self, data: Labelled, head: Head, spread: float) -> None:
        self._data = data
        self._head = head
        logits = logits_of(head, data.vectors)
        self._log_odds = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
        self._importance = balanced(data.labels)
        self._mean = data.vectors.mean(axis=0)
        sizes = data.vectors.std(axis=0)
        # A feature that never differs has no information.
        self._scale = np.where(sizes > 1e-9, 1 / np.maximum(sizes, 1e-9), 0.0)
        first = [logits[:, 0] - logits[:, 2], np.ones(len(logits))]
        rest = ((data.vectors - self._mean) * self._scale).T if spread else []
        self._changes = np.column_stack([*first, *rest])
        self.size = self._changes.shape[1]
        n = self.size - 2
        self._penalties = np.array([_WEAK, _WEAK] + [n / spread**2 if spread else 0.0] * n)

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient."""
        data = self._data
        log_odds = self._log_odds + self._changes @ parameters
        best = _first_maxima(log_odds, data.starts)
        losses = log_losses(log_odds[best], data.labels)
        # The derivative of a claim's loss by its log-odds is its probability minus its label.
        slopes = self._importance * (np.exp(-np.logaddexp(0.0, -log_odds[best])) - data.labels)
        pulled = self._penalties * parameters
        value = float(self._importance @ losses + pulled @ parameters / 2)
        return value, slopes @ self._changes[best] + pulled

    def head(self, parameters: Floats) -> Head:
        """Return the last layer of these parameters."""
        weights, bias = (one.astype(np.float64) for one in (self._head.weights, self._head.bias))
        weights[0] += parameters[0] * (weights[0] - weights[2])
        bias[0] += parameters[0] * (bias[0] - bias[2]) + parameters[1]
        if len(parameters) > 2:
            change = parameters[2:] * self._scale
            weights[0] += change
            bias[0] -= change @ self._mean
        return Head(weights.astype(np.float32), bias.astype(np.float32))


def _first_maxima(values: Floats, starts: Integers) -> Integers:
    """Return the row of each claim's highest value, the first of equals."""
    sizes = np.diff(starts, append=len(values))
    highest = np.repeat(np.maximum.reduceat(values, starts), sizes)
    rows = np.where(values == highest, np.arange(len(values)), len(values))
    return np.asarray(np.minimum.reduceat(rows, starts))


def fit(data: Labelled, head: Head, spread: float) -> Head:
    """Return the last layer that fits the labels best, its weights pulled by one of SPREADS."""
    objective = Objective(data, head, spread)
    # Where a claim's best passage changes the slope jumps, and the last digits take very long.
    found = minimize(
        objective,
        np.zeros(objective.size),
        jac=True,
        method="L-BFGS-B",
        bounds=[_SHARES, *[(None, None)] * (objective.size - 1)],
        options={"ftol": 1e-6},
    )
    return objective.head(found.x)


def fit_cross_validated(data: Labelled, head: Head) -> tuple[Head, float]:
    """Return the last layer under the best of SPREADS, and which that is.

    It is the smallest whose cross-validated loss is within a standard error of the lowest: with few
    labels the lowest is often so by chance.
    """
    weights = balanced(data.labels)
    found = np.array([weights * _losses(data, held_out(data, head, (one,))) for one in SPREADS])
    excess = found - found[found.sum(axis=1).argmin()]
    errors = excess.std(axis=1) * len(data.labels) ** 0.5
    spread = SPREADS[int((excess.sum(axis=1) <= errors).argmax())]
    return fit(data, head, spread), spread


def _losses(data: Labelled, logits: Floats) -> Floats:
    return log_losses(best_log_odds(logits, data.starts), data.labels)


def held_out(data: Labelled, head: Head, spreads: Sequence[float] = SPREADS) -> Floats:
    """Return the logits (n, 3) that each passage gets by a fit without its response's fold.

    Where there are several spreads, each fit chooses its own, on the claims that it may see.
    """
    logits = logits_of(head, data.vectors)
    sizes = np.diff(data.starts, append=len(data.vectors))
    for left_out in _folds(data.responses):
        seen = data.part(~left_out)
        if len(spreads) > 1:
            fitted, _ = fit_cross_validated(seen, head)
        else:
            fitted = fit(seen, head, spreads[0])
        rows = np.repeat(left_out, sizes)
        logits[rows] = logits_of(fitted, data.vectors[rows])
    return logits


def _folds(responses: Sequence[str]) -> Iterator[np.ndarray[Any, np.dtype[np.bool_]]]:
    """Give the claims of each fold, equal for equal responses whatever their order."""
    names = sorted(set(responses), key=lambda name: sha256(name.encode()).digest())
    number = len(names) if len(names) < _FEW_RESPONSES else FOLDS
    fold_of = {name: place % number for place, name in enumerate(names)}
    folds = np.array([fold_of[name] for name in responses])
    for fold in range(number):
        yield folds == fold
