"""Refitting a last layer: what is repaired, what is left, and that nothing leaks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from threadpoolctl import threadpool_limits

from tests.transforms.verifiers.labelled import GOOD, made
from ufo.transforms.verifiers.base import Head
from ufo.transforms.verifiers.fitting import (
    SPREADS,
    Labelled,
    Objective,
    balanced,
    best_log_odds,
    fit,
    fit_cross_validated,
    held_out,
    log_losses,
    logits_of,
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As in `refit`: threads only cost time on matrices as small as these."""
    with threadpool_limits(1):
        yield


def loss(data: Labelled, head: Head) -> Any:
    log_odds = best_log_odds(logits_of(head, data.vectors), data.starts)
    return balanced(data.labels) @ log_losses(log_odds, data.labels) / len(data.labels)


def test_a_claim_is_as_likely_as_its_best_passage() -> None:
    logits = np.log(np.array([[0.2, 0.1, 0.7], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]))
    odds = np.exp(best_log_odds(logits, np.array([0, 2])))
    assert odds == pytest.approx([0.5 / 0.5, 0.1 / 0.9])


def test_a_loss_is_minus_the_logarithm_of_what_the_label_was_given() -> None:
    log_odds = np.log([3.0, 3.0, 1.0])
    found = log_losses(log_odds, np.array([1, 0, 0]))
    assert found == pytest.approx(-np.log([0.75, 0.25, 0.5]))


def test_both_classes_weigh_the_same() -> None:
    assert balanced(np.array([1, 1, 1, 0])) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    assert balanced(np.array([1, 1])) == pytest.approx([1, 1])


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_gradient_is_that_of_the_value(spread: float) -> None:
    head = Head(
        np.random.default_rng(3).normal(size=(3, 3)).astype(np.float32),
        np.array([0.3, -0.2, 0.1], dtype=np.float32),
    )
    objective = Objective(made(40), head, spread)
    for seed in range(3):
        at: Any = np.random.default_rng(seed).normal(size=objective.size) / 2
        numeric = approx_fprime(at, lambda one: objective(one)[0], 1e-6)
        assert objective(at)[1] == pytest.approx(numeric, abs=1e-3)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_head_of_parameters_gives_the_value_that_is_minimised(spread: float) -> None:
    data = made(40)
    objective = Objective(data, GOOD, spread)
    at: Any = np.random.default_rng(1).normal(size=objective.size) / 3
    penalties = 0.05 * (at[:2] @ at[:2]) + 3 / 2 * (at[2:] @ at[2:])
    assert objective(at)[0] == pytest.approx(
        len(data.labels) * loss(data, objective.head(at)) + penalties, rel=1e-5
    )


def test_a_head_that_reads_the_wrong_numbers_is_repaired() -> None:
    wrong = Head(GOOD.weights[[1, 0, 2]], GOOD.bias)
    data, others = made(300, seed=1), made(300, seed=2)
    fitted, spread = fit_cross_validated(data, wrong)
    assert spread > 0
    assert loss(others, wrong) > 1
    assert loss(others, fitted) < 0.4


def test_one_that_is_only_too_sure_keeps_its_weights_in_their_ratio() -> None:
    sure = Head(GOOD.weights * 6, np.array([4, 0, 0], dtype=np.float32))
    data = made(60)
    fitted = fit(data, sure, 0.0)
    share = fitted.weights[0, 0] / sure.weights[0, 0]
    assert 0.01 < share < 0.5
    # The distance from `noans` has a temperature; its logit stays.
    distance = sure.weights[0] - sure.weights[2]
    assert fitted.weights[0] - fitted.weights[2] == pytest.approx(share * distance, abs=1e-5)
    assert loss(data, fitted) < loss(data, sure)


def test_refuted_and_not_answered_stay_as_they_were() -> None:
    head = Head(GOOD.weights, np.array([0, 0.5, -0.5], dtype=np.float32))
    fitted = fit(made(), head, 4.0)
    assert np.array_equal(fitted.weights[1:], head.weights[1:])
    assert np.array_equal(fitted.bias[1:], head.bias[1:])
    assert not np.array_equal(fitted.weights[0], head.weights[0])


def test_a_number_that_never_differs_changes_nothing() -> None:
    data = made(60)
    wider = Labelled(
        np.column_stack([data.vectors, np.full(len(data.vectors), 7.0)]),
        data.starts,
        data.labels,
        data.responses,
    )
    weights = np.column_stack([GOOD.weights, np.zeros(3)]).astype(np.float32)
    fitted = fit(wider, Head(weights, GOOD.bias), 1.0)
    assert fitted.weights[:, 3] == pytest.approx([0, 0, 0])
    assert fitted.weights[:, :3] == pytest.approx(fit(data, GOOD, (3 / 4) ** 0.5).weights, rel=1e-3)


@pytest.mark.parametrize("n", [24, 60])  # a response a fold, and five folds
def test_what_is_held_out_does_not_depend_on_its_own_labels(n: int) -> None:
    data = made(n)
    mine = np.array([name == "r2" for name in data.responses])
    rows = np.repeat(mine, np.diff(data.starts, append=len(data.vectors)))
    turned = np.where(mine, 1 - data.labels, data.labels)
    other = Labelled(data.vectors, data.starts, turned, data.responses)
    spreads = SPREADS[-2:] if n == 60 else SPREADS[:1]
    before, after = (held_out(one, GOOD, spreads) for one in (data, other))
    assert np.array_equal(before[rows], after[rows])
    assert not np.array_equal(before[~rows], after[~rows])


def test_labels_that_all_agree_are_fitted_to_finite_weights() -> None:
    data = made(60)
    true = data.part(data.labels == 1)
    fitted = fit(true, GOOD, 4.0)
    assert np.isfinite(fitted.weights).all()
    assert np.isfinite(fitted.bias).all()
    assert loss(true, fitted) < loss(true, GOOD)
