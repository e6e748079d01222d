import numpy as np
import pytest

from benchmarks.judge_sets import NOANS, NOT, REFUTED, SUPPORTED
from benchmarks.regressions import Examples, examples_of, examples_of_families, fit

NAMES = ("said", "number_differs", "noise")
OF_REFUTED = ("number_differs",)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of pairs whose outcome the first two features decide."""
    random = np.random.default_rng(seed)
    labels = random.choice([SUPPORTED, REFUTED, NOANS], 300)
    said, differs = labels != NOANS, labels == REFUTED
    vectors = np.c_[said, differs, np.zeros(300)] + random.normal(size=(300, 3)) / 10
    return vectors, labels


def test_both_classes_of_each_regression_weigh_the_same() -> None:
    labels = np.array([SUPPORTED] + [NOANS] * 6 + [REFUTED] * 3)
    found = examples_of(np.zeros((10, 3)), labels, 2.0)
    assert found.weights[labels == SUPPORTED].sum() == pytest.approx(1.0)
    assert found.weights.sum() == pytest.approx(2.0)
    of_refuted = found.refuted_weights
    assert of_refuted[labels == REFUTED].sum() == pytest.approx(of_refuted[labels == NOANS].sum())
    assert of_refuted[labels == SUPPORTED].sum() == 0


def test_labels_that_say_only_not_supported_teach_nothing_of_refuted() -> None:
    found = examples_of(np.zeros((4, 3)), np.array([SUPPORTED, NOT, NOT, NOT]), 1.0)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.refuted_weights.sum() == 0


def test_families_weigh_the_same_and_small_ones_nothing() -> None:
    labels = np.array([SUPPORTED, NOANS] * 33)
    families = np.array(["large"] * 40 + ["other"] * 20 + ["tiny"] * 6)
    found = examples_of_families(np.zeros((66, 3)), labels, families, 1.0, smallest=10)
    shares = [found.weights[families == name].sum() for name in ("large", "other", "tiny")]
    assert shares == pytest.approx([0.5, 0.5, 0.0])


def test_what_decides_is_learned_and_what_may_not_be_read_weighs_nothing() -> None:
    vectors, labels = drawn(0)
    found = fit([examples_of(vectors, labels, 1.0)], NAMES, OF_REFUTED)
    assert found["said"][0] > 1 > found["number_differs"][0]
    assert found["number_differs"][1] > 1
    assert (found["said"][1], found["noise"][1]) == (0, 0)


def test_examples_without_weight_change_nothing() -> None:
    part = examples_of(*drawn(0), 1.0)
    vectors, labels = drawn(1)
    nothing = Examples(-vectors, labels, np.zeros(300), np.zeros(300))
    with_it, without = (fit(parts, NAMES, OF_REFUTED) for parts in ([part, nothing], [part]))
    for name, weights in without.items():
        assert with_it[name] == pytest.approx(weights)
