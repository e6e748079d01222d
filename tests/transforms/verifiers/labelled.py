"""Labelled claims made up for tests: what is said of each is a few numbers."""

import numpy as np

from ufo.transforms.verifiers.base import Head
from ufo.transforms.verifiers.fitting import Labelled

GOOD = Head(
    np.array([[2, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32), np.zeros(3, dtype=np.float32)
)
"""Reads the data of `made` well: the first number tells support."""


def made(n: int = 120, seed: int = 0, random_labels: bool = False) -> Labelled:
    """Claims of 1 to 4 passages, three a response. The first number of a passage is higher where
    it supports its claim, which one passage of every true claim does."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, n)
    starts = np.cumsum(sizes) - sizes
    labels = (random.random(n) < 0.7).astype(np.int64)
    vectors = random.normal(size=(sizes.sum(), 3)) - np.array([1.5, 0, 0])
    vectors[starts + random.integers(0, sizes), 0] += 3 * labels
    if random_labels:
        labels = random.permutation(labels)
    return Labelled(vectors, starts, labels, [f"r{number // 3}" for number in range(n)])
