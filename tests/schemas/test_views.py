"""Views on tables small enough to compute by hand, and sources alone and in every order against
verdicts recomputed order by order; test_snapshots.py has what each view gives."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.schemas.labelled import people, request, verdicts
from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results
from ufo.transforms.scores import VoteRules
from ufo.transforms.what_if import recomputed, scores_if

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


# --- sources alone and in every order ---

SOURCES = ("ref", "wiki", "web")
SCORED = ("factuality_score", "coverage")
AGREEMENT = ("accuracy", "balanced_accuracy", "accuracy_all", "balanced_accuracy_all")


def agreement(verdicts: list[list[int]]) -> tuple[float, ...]:
    """Return accuracy and balanced accuracy; the first verdicts are those of false claims."""
    right = [[label == human for label in one] for human, one in enumerate(verdicts)]
    return sum(map(sum, right)) / sum(map(len, right)), sum(sum(o) / len(o) for o in right) / 2


def test_every_order_scores_as_its_verdicts_do(tmp_path: Path) -> None:
    draw = random.Random(3)
    votes = {
        f"r{n}": {
            f"u{n}-{u}": {source: draw.choice(["s", "r", "sr", "n", "-"]) for source in SOURCES}
            for u in range(draw.randrange(0, 5))
        }
        for n in range(25)
    }
    labels = {unit: draw.choice([0, 1, 1, None]) for units in votes.values() for unit in units}
    write_run(tmp_path, rows_of(votes, SOURCES, "all", labels=labels), mode="all")
    with open_results(tmp_path) as results:
        found = {
            (row["mode"], row["source_order"]): row
            for row in results.query("FROM source_benchmark").to_pylist()
        }
        ways = [("seq", order) for order in permutations(SOURCES)]
        ways += [("single", (source,)) for source in SOURCES] + [("mv", SOURCES)]
        assert set(found) == {(mode, ",".join(order)) for mode, order in ways}
        for mode, order in ways:
            rules = VoteRules(order, mode)
            score = scores_if(results, rules)[0]
            verdicts = [row for _, scores in recomputed(results, rules) for row in scores.verdicts]
            judged = [
                [row.label for row in verdicts if labels[row.unit_id] == human] for human in (0, 1)
            ]
            decided = [[label for label in one if label is not None] for one in judged]
            everything = [[label or 0 for label in one] for one in judged]
            row = found[mode, ",".join(order)]
            assert row["given"] == (mode == "seq" and order == SOURCES)
            assert row["n_labelled"] == sum(map(len, judged))
            expected = [score[name] for name in SCORED]
            expected += [*agreement(decided), *agreement(everything)]
            assert [row[name] for name in (*SCORED, *AGREEMENT)] == pytest.approx(expected)
    measures = ("balanced_accuracy_all", "accuracy_all")
    in_order = [row for row in found.values() if row["mode"] == "seq"]
    best = max(in_order, key=lambda row: [round(row[name], 9) for name in measures])
    assert best["rank_by_people"] == 1


def test_an_order_is_charged_for_what_earlier_sources_leave_open(ask: Ask) -> None:
    costs = "SELECT mode, source_order, n_calls, cost_usd FROM source_benchmark"
    votes = {
        "a": {f"a{n}": {"ref": "s" if n < 3 else "n", "wiki": "r"} for n in range(4)},
        "b": {"b0": {"ref": "s", "wiki": "s"}},
    }
    rows = rows_of(votes, mode="all")
    rows["usage"] = [
        request("a", None, 9.0),  # extraction is no source's
        request("a", "ref", 0.4),
        *(request("a", "wiki", 0.25) for _ in range(8)),  # two requests a unit
        request("b", "wiki", 0.5),
        request("b", "wiki", 7.0, coalesced=True),  # charged to who asked first
        request("b", "ref", 0.0, cached=True),  # it would have been needed
    ]
    assert {row[:2]: row[2:] for row in ask(rows, "all")(costs)} == {
        ("single", "ref"): (2, pytest.approx(0.4)),
        ("single", "wiki"): (9, pytest.approx(2.5)),
        ("mv", "ref,wiki"): (11, pytest.approx(2.9)),
        # One of four units of a is open: two of eight requests. b is settled.
        ("seq", "ref,wiki"): (4, pytest.approx(0.9)),
        ("seq", "wiki,ref"): (9, pytest.approx(2.5)),
    }
    # A cost that nobody knows is not a sum.
    rows = rows_of({"a": {"a0": {"ref": "s", "wiki": "s"}}}, mode="all")
    rows["usage"] = [request("a", "ref", 0.5), request("a", "wiki", 0.5, cost_usd=None)]
    assert {row[:2]: row[3] for row in ask(rows, "all")(costs)} == {
        ("single", "ref"): 0.5,
        ("single", "wiki"): None,
        ("mv", "ref,wiki"): None,
        ("seq", "ref,wiki"): 0.5,  # ref settles all of it
        ("seq", "wiki,ref"): None,
    }


def test_six_sources_have_all_their_orders_and_seven_are_refused(ask: Ask) -> None:
    names = "abcdef"
    votes = {"r": {"u": {name: "s" if name == "f" else "n" for name in names}}}
    sql = "SELECT mode, count(*), min(coverage) FROM source_benchmark GROUP BY ALL"
    found = ask(rows_of(votes, names, mode="all"), "all")(sql)
    assert set(found) == {("seq", 720, 1.0), ("single", 6, 0.0), ("mv", 1, 1.0)}
    votes["r"]["u"]["g"] = "n"
    refused = ask(rows_of(votes, "abcdefg", mode="all"), "all")
    with pytest.raises(UsageError, match=r"^the orders of 7 sources .*ufo benchmark DIR --order"):
        refused(sql)
