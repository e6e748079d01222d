"""What the judge's numbers mean to people, computed by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ufo.schemas.statistics.estimates import mean_interval

# Shares of supporting evidence: .5 (a tie, so refuted), .5, 1 and, its error apart, 0; b2 has no
# passage.
VOTES = {
    "a": {"a1": {"ref": "sr"}, "a2": {"ref": "sn"}, "a3": {"ref": "s"}},
    "b": {"b1": {"ref": "ren"}, "b2": {"ref": "-"}},
}
LABELS = {"a1": 1, "a2": 0, "a3": 1, "b1": 0, "b2": 1}
PROBABILITIES = {("a1", 0): 0.93, ("a1", 1): 0.2, ("a3", 0): 0.97, ("b1", 0): 0.3}


def test_bins_hold_what_was_measured_beside_what_people_say(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
    rows = rows_of(VOTES)
    rows["fact_units"] = [
        replace(row, human_label=LABELS[row.unit_id]) for row in rows["fact_units"]
    ]
    rows["responses"] = [
        replace(row, human_score={"a": 0.5, "b": 0.25}[row.response_id])
        for row in rows["responses"]
    ]
    rows["evidence"] = [
        replace(row, probability=PROBABILITIES.get((row.unit_id, row.rank)))
        for row in rows["evidence"]
    ]
    found = ask(rows)
    names = "measure, bin, n, measured, people"
    assert found(f"SELECT {names} FROM reliability ORDER BY measure, bin") == [
        ("credibility", 0, 1, 0.0, 0.0),
        ("credibility", 5, 2, 0.5, 0.5),
        ("credibility", 9, 1, 1.0, 1.0),
        ("probability", 3, 1, 0.3, 0.0),
        ("probability", 9, 2, pytest.approx(0.95), 1.0),
        ("score", 0, 1, 0.0, 0.25),
        ("score", 6, 1, pytest.approx(2 / 3), 0.5),
    ]
    assert found("SELECT DISTINCT low, high FROM reliability") == [(None, None)], (
        "one question a bin"
    )


def test_intervals_are_clustered_by_question(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
    rows = rows_of({name: {name: {"ref": "sr"}} for name in "abc"})
    rows["fact_units"] = [
        replace(row, human_label=int(row.unit_id != "c")) for row in rows["fact_units"]
    ]
    (bounds,) = ask(rows)("SELECT low, high FROM reliability WHERE measure = 'credibility'")
    own = mean_interval(np.array([1.0, 1, 0]), np.ones(3), np.arange(3, dtype=np.uint64))
    assert bounds == pytest.approx((own.low, own.high))
