"""Measure the gain of a refitted verifier over its base, with confidence intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ufo.transforms.verifiers.base import Head
from ufo.transforms.verifiers.fitting import (
    Floats,
    Integers,
    Labelled,
    best_log_odds,
    fit_cross_validated,
    held_out,
    log_losses,
    logits_of,
)

_DRAWS = 2000
_BOUNDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class Gain:
    """A measure before and after the fit, and the gain, which is positive where the fit is better.

    `low` and `high` are the 95 % interval of the gain, `after_low` and `after_high` that of what
    is measured after it.
    """

    before: float
    after: float
    after_low: float
    after_high: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """A refitted last layer and what it gains, measured on responses that it was not fitted to.

    `log_loss` is that of claims, true and false ones weighing the same. `balanced_accuracy` is that
    of the majority of supported and refuted passages, an undecided claim taken for false. `auc` is
    the chance that a true claim's best passage has a higher probability than a false claim's.
    `spread` is the one of SPREADS that was best.
    """

    head: Head
    spread: float
    log_loss: Gain
    balanced_accuracy: Gain
    auc: Gain

    @property
    def not_gained(self) -> str:
        """Why the fit should not be used, "" where it should.

        Log loss must improve significantly. That is not sufficient: a verifier that cannot separate
        true from false claims improves its log loss by predicting no outcome with confidence.
        """
        if self.log_loss.low <= 0:
            return "the interval of the gain in log loss includes 0, or lies below it"
        if self.auc.after_low <= 0.5:
            return (
                "it does not tell true from false claims beyond chance (the interval of its AUC "
                f"begins at {self.auc.after_low:.3f})"
            )
        if self.balanced_accuracy.high < 0:
            return "its balanced accuracy is worse beyond chance"
        return ""


def refit(data: Labelled, head: Head) -> Refit:
    """Refit a last layer on labelled claims of both classes, and measure the gain."""
    # One thread: the same numbers on every machine, and faster on matrices as small as these.
    with threadpool_limits(1):
        new, spread = fit_cross_validated(data, head)
        before = _Measured(data, logits_of(head, data.vectors))
        after = _Measured(data, held_out(data, head))
    return Refit(
        new,
        spread,
        _gain(before.log_loss, after.log_loss, -1),
        _gain(before.balanced_accuracy, after.balanced_accuracy),
        _gain(before.auc, after.auc),
    )


class _Measured:
    """The measures of claims with these logits: of all responses, then of bootstrap samples."""

    def __init__(self, data: Labelled, logits: Floats) -> None:
        _, response = np.unique(np.asarray(data.responses), return_inverse=True)
        draws = _draws(int(response.max()) + 1)
        log_odds = best_log_odds(logits, data.starts)
        # As Probabilities.outcome decides.
        supported = logits[:, 0] >= np.logaddexp(logits[:, 1], logits[:, 2])
        refuted = ~supported & (logits[:, 1] > logits[:, 2])
        votes = np.add.reduceat(supported.astype(int) - refuted, data.starts)
        right = ((votes > 0) == (data.labels == 1)).astype(float)
        losses = log_losses(log_odds, data.labels)
        self.log_loss = _class_mean(data.labels, response, losses, draws)
        self.balanced_accuracy = _class_mean(data.labels, response, right, draws)
        self.auc = _auc(data.labels, response, log_odds, draws)


def _draws(n_responses: int) -> Floats:
    """Return the weights of responses (columns): first 1 each, then of bootstrap samples."""
    random = np.random.default_rng(0)
    drawn = random.multinomial(n_responses, np.full(n_responses, 1 / n_responses), size=_DRAWS)
    return np.concatenate([np.ones((1, n_responses)), drawn])


def _class_mean(labels: Integers, response: Integers, values: Floats, draws: Floats) -> Floats:
    """Return for each draw the mean of the true claims' mean and the false claims' mean."""
    n = draws.shape[1]
    sums = np.zeros(len(draws))
    for label in (0, 1):
        chosen = labels == label
        above = draws @ np.bincount(response[chosen], values[chosen], minlength=n)
        sums += _ratio(above, draws @ np.bincount(response[chosen], minlength=n))
    return sums / 2


def _auc(labels: Integers, response: Integers, scores: Floats, draws: Floats) -> Floats:
    """Return for each draw the share of pairs of a true and a false claim in the right order."""
    true, false = labels == 1, labels == 0
    difference = scores[true][:, None] - scores[false][None, :]
    right = (difference > 0) + 0.5 * (difference == 0)
    one = np.eye(draws.shape[1])
    of_true, of_false = one[response[true]], one[response[false]]
    pairs = of_true.T @ right @ of_false
    above = ((draws @ pairs) * draws).sum(axis=1)
    return _ratio(above, (draws @ of_true.sum(axis=0)) * (draws @ of_false.sum(axis=0)))


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return the ratio, NaN in a draw that has no claim of a class."""
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def _gain(before: Floats, after: Floats, sign: int = 1) -> Gain:
    differences: np.ndarray[Any, Any] = sign * (after - before)
    bounds = [np.nanquantile(one[1:], bound) for one in (after, differences) for bound in _BOUNDS]
    after_low, after_high, low, high = map(float, bounds)
    return Gain(
        float(before[0]), float(after[0]), after_low, after_high, float(differences[0]), low, high
    )
