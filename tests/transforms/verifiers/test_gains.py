"""What a refitted verifier gains: measures, intervals, and when it counts as a gain."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

from tests.transforms.verifiers.labelled import GOOD, made
from ufo.transforms.verifiers.base import Head, Probabilities
from ufo.transforms.verifiers.fitting import best_log_odds, logits_of
from ufo.transforms.verifiers.gains import Refit, refit

WRONG = Head(GOOD.weights[[1, 0, 2]], GOOD.bias)


def test_the_measures_are_those_of_scikit_learn() -> None:
    data = made(60)
    found = refit(data, GOOD)
    logits = logits_of(GOOD, data.vectors)
    log_odds = best_log_odds(logits, data.starts)
    chances = 1 / (1 + np.exp(-log_odds))
    weights = np.where(data.labels == 1, 1 / data.labels.sum(), 1 / (1 - data.labels).sum())
    assert found.log_loss.before == pytest.approx(
        log_loss(data.labels, chances, sample_weight=weights)
    )
    assert found.auc.before == pytest.approx(roc_auc_score(data.labels, log_odds))
    votes = []
    for passages in np.split(logits, data.starts[1:]):
        raised = np.exp(passages)
        said = [Probabilities(*row).outcome for row in raised / raised.sum(axis=1)[:, None]]
        votes.append(int(said.count("supported") > said.count("refuted")))
    assert found.balanced_accuracy.before == pytest.approx(
        balanced_accuracy_score(data.labels, votes)
    )


@pytest.fixture(name="repaired", scope="module")
def _repaired() -> Refit:
    return refit(made(90), WRONG)


def test_a_wrong_head_gains_beyond_chance(repaired: Refit) -> None:
    assert not repaired.not_gained
    assert repaired.log_loss.before > 1
    assert repaired.log_loss.after < 0.7
    assert repaired.auc.after > 0.75
    assert repaired.auc.low > 0
    for gain in (repaired.log_loss, repaired.balanced_accuracy, repaired.auc):
        assert gain.low < gain.gain < gain.high
        assert gain.after_low < gain.after < gain.after_high


@pytest.mark.parametrize("seed", range(2))
def test_random_labels_teach_nothing(seed: int) -> None:
    assert refit(made(60, seed, random_labels=True), GOOD).not_gained


def test_a_verifier_that_can_tell_nothing_gains_nothing_by_falling_silent() -> None:
    blind = Head(np.array([[0, 9, 0], [0, 0, 0], [0, 0, 0]], dtype=np.float32), GOOD.bias)
    found = refit(made(60, random_labels=True), blind)
    assert found.log_loss.low > 0
    assert "does not tell true from false claims" in found.not_gained


def test_a_head_that_fits_already_gains_nothing(repaired: Refit) -> None:
    assert "in log loss includes 0" in refit(made(90), repaired.head).not_gained


def test_the_same_labels_give_the_same_gains(repaired: Refit) -> None:
    again = refit(made(90), WRONG)
    assert (repaired.log_loss, repaired.auc) == (again.log_loss, again.auc)
    assert np.array_equal(repaired.head.weights, again.head.weights)
