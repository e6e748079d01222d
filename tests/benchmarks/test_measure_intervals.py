"""The simulation of intervals: what it counts, and that its true values are those it draws from."""

import numpy as np

from benchmarks.measure_intervals import Tally, cases


def test_an_interval_that_is_not_there_is_not_counted() -> None:
    tally = Tally()
    for low, high in ((0.1, 0.3), (0.25, 0.45), (np.nan, np.nan)):
        tally.add(low, high, 0.2)
    assert tally.row() == {"coverage": 0.5, "width": 0.2, "exists": 0.667}


def test_intervals_lie_about_what_is_called_the_truth() -> None:
    off: dict[str, list[float]] = {}
    for draw in cases():
        random = np.random.default_rng(4)
        for _ in range(20):
            for name, low, high, truth in draw(random):
                if "100 questions" in name or "50 labels, truth 0.7" in name:
                    off.setdefault(name, []).append((low + high) / 2 - truth)
    assert len(off) == 19
    for name, differences in off.items():
        assert abs(np.mean(differences)) < 4 * np.std(differences) / 20**0.5 + 0.004, name
