"""Views on tables small enough to compute by hand; test_snapshots.py has what each gives."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import rows_of
from tests.schemas.labelled import people, verdicts
from ufo.schemas.records import Failure, Sentence

Ask = Callable[..., Any]


def test_responses_without_a_score_are_counted_apart(ask: Ask) -> None:
    votes = {
        "fine": {"a": {"ref": "s"}},
        "silent": {},
        "failed": {"b": {"ref": "e"}},
        "foreign": {"c": {"ref": "n"}, "d": {"ref": "n"}},
    }
    rows = rows_of(votes, ("ref",))
    rows["evidence"][2:] = [replace(r, reason="unsupported_language") for r in rows["evidence"][2:]]
    found = ask(rows)
    assert found("SELECT response_id, no_score, factuality_score FROM scores ORDER BY ALL") == [
        ("failed", "nothing usable", None),
        ("fine", None, 1.0),
        ("foreign", "unsupported language", None),
        ("silent", "no claim", None),
    ]
    counts = "n_responses, n_without_units, n_unjudged, n_unsupported, factuality_score"
    assert found(f"SELECT {counts} FROM scores_by_run") == [(4, 1, 1, 1, 1.0)]


def test_a_sentence_without_a_claim_may_be_one_that_could_not_be_read(ask: Ask) -> None:
    rows = rows_of({"r": {"u0": {"ref": "e"}, "u1": {"ref": "s"}}})
    rows["sentences"].append(Sentence("r", 2, 90, 99, "What of this?", 0, None))
    states = "SELECT state FROM sentence_scores ORDER BY sentence_index"
    assert ask(rows)(states) == [("error",), ("supported",), ("no claim",)]
    rows["failures"].append(Failure("extract", "r", "truncated", "sentences 3", None))
    assert ask(rows)(states) == [("error",), ("supported",), ("error",)]


# What was said, what people say, and what follows: n_labelled, n_false, n_na, n_na_before_repair,
# n_wrong; the rates of errors over answered facts and, the last two, with unanswered ones.
ERRORS = {
    # Three false facts: one found, one missed, one unanswered; one false alarm among the true.
    ("ftFt--", "ffttft"): ((6, 3, 2, 3, 2), (1 / 2, 1 / 2, 1 / 2, 1 / 2, 4 / 6, 2 / (2 + 4))),
    ("tttt", "tttt"): ((4, 0, 0, 0, 0), (0, None, None, None, 0, None)),
    ("fttt", "tttt"): ((4, 0, 0, 0, 1), (0.25, 0, None, None, 0.25, None)),
    ("tttt", "ffff"): ((4, 4, 0, 0, 4), (1, None, 0, 0, 1, 0)),
    ("nffN", "ffff"): ((4, 4, 0, 1, 0), (0, 1, 1, 1, 0, 1)),
    # All false facts are unanswered: over answered facts there is none.
    ("tt--", "ttff"): ((4, 2, 2, 2, 0), (0, None, None, None, 0.5, 0)),
    ("----", "tfff"): ((4, 3, 4, 4, 0), (None, None, None, None, 1, 0)),
}


def test_errors_over_answered_facts_and_with_unanswered_ones(ask: Ask) -> None:
    # What nobody labelled and people themselves are no errors.
    rows = [*verdicts("a", "none", "tf", "tf", "  "), *people("a", "none", "tf")]
    for said, human in ERRORS:
        rows += verdicts("a", f"{said} {human}", "tf", said, human)
    columns = (
        "variant, n_labelled, n_false, n_na, n_na_before_repair, n_wrong, error_rate, "
        "precision_false, recall_false, f1_false, error_rate_with_na, f1_false_with_na"
    )
    found = ask(rows_of({}) | {"recall_verdicts": rows}, "recall")
    table = found(f"SELECT {columns} FROM recall_errors")
    assert {tuple(row[0].split()): (row[1:6], row[6:]) for row in table} == {
        given: (counts, pytest.approx(rates)) for given, (counts, rates) in ERRORS.items()
    }
