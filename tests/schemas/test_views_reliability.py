"""What the judge's numbers mean to people, computed by hand."""

from dataclasses import replace

import pytest

# Shares of supporting evidence: .5 (a tie, so refuted), .5, 1 and, its error apart, 0; b2 has no
# passage.
VOTES = {
    "a": {"a1": {"ref": "sr"}, "a2": {"ref": "sn"}, "a3": {"ref": "s"}},
    "b": {"b1": {"ref": "ren"}, "b2": {"ref": "-"}},
}
LABELS = {"a1": 1, "a2": 0, "a3": 1, "b1": 0, "b2": 1}
PROBABILITIES = {("a1", 0): 0.93, ("a1", 1): 0.2, ("a3", 0): 0.97, ("b1", 0): 0.3}


def test_bins_hold_what_was_measured_beside_what_people_say(ask, rows_of):
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
    (two,) = found("SELECT low, high FROM reliability WHERE measure = 'credibility' AND bin = 5")
    # Wilson's interval of 1 in 2, by the textbook.
    assert two == pytest.approx((0.0945, 0.9055), abs=1e-4)
