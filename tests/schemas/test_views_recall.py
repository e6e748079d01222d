"""The views of factual recall, on tables small enough to add up by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import rows_of
from tests.schemas.labelled import request
from ufo.schemas.records import RecallRecord, RecallVerdict

_OUTCOMES = {"t": ("supported", 1), "f": ("refuted", 0), "n": ("noans", 0), "-": ("error", None)}


def verdicts(record: str, variant: str, formulation: str, said: str, human: str) -> list[Any]:
    """A verdict a letter of `said`: t, f, n (not clear) or - (unanswered); in capitals, one that a
    repair brought. `human` has t, f or a blank for each, and is a formulation of its own."""
    rows = []
    for place, (letter, mark) in enumerate(zip(said, human, strict=True)):
        outcome, label = _OUTCOMES[letter.lower()]
        people = {"t": 1, "f": 0}.get(mark)
        first = "unparsable" if letter.isupper() or letter == "-" else None
        reason = "unparsable" if letter == "-" else None
        rows.append(
            RecallVerdict(
                record, variant, f"{record}{place}", formulation, outcome, reason, first, label,
                people, None, None, None, None, None, "llm", "m",
            )
        )  # fmt: skip
    return rows


def people(record: str, variant: str, human: str) -> list[Any]:
    found = verdicts(record, variant, "human", human.replace(" ", "-"), human)
    return [row for row in found if row.label is not None]


def of_recall(rows: list[Any], requests: Sequence[Any] = ()) -> dict[str, list[Any]]:
    records = [RecallRecord("a", "Q", "T", 4, 2, True)]
    return rows_of({}) | {
        "recall_verdicts": rows, "usage": list(requests), "recall_records": records,
    }  # fmt: skip


def test_scores_by_people_and_by_formulation(ask: Callable[..., Any]) -> None:
    rows = [
        *people("a", "rag", "ttf "),
        *people("b", "rag", "f"),
        *verdicts("a", "rag", "tf", "tfT-", "ttf "),
        *verdicts("b", "rag", "tf", "n", "f"),
        *verdicts("b", "poor", "tf", "-", " "),
    ]
    columns = (
        "n_records, n_facts, n_true, n_false, n_na, n_na_before_repair, accuracy, recall, "
        "mean_recall"
    )
    found = ask(of_recall(rows), "recall")
    assert found(f"SELECT formulation, variant, {columns} FROM recall_scores ORDER BY ALL") == [
        ("human", "rag", 2, 4, 2, 2, 0, 0, 0.5, 0.5, pytest.approx(1 / 3)),
        ("tf", "poor", 1, 1, 0, 0, 1, 1, None, None, None),
        ("tf", "rag", 2, 5, 2, 2, 1, 2, 0.5, 0.4, 0.25),
    ]


def test_failures_are_counted_by_call_and_by_fact(ask: Callable[..., Any]) -> None:
    def by(formulation: str, said: str, requests: str) -> list[Any]:
        rows = verdicts("a", "rag", formulation, said, " " * len(said))
        return [replace(row, request_id=name) for row, name in zip(rows, requests, strict=True)]

    rows = [
        *people("a", "rag", "ttf"),
        # All facts of an answer in a call: one to the end void, one at first.
        *verdicts("a", "rag", "tf", "---", "ttf"),
        *verdicts("b", "rag", "tf", "TF", "  "),
        *verdicts("a", "rag", "prompt", "t-T", "ttf"),
        # Three calls, of which the second was void at first and the third to the end.
        *by("split", "ttFF-", "aabbc"),
        # Two calls, and one for the facts that both of them left out.
        *by("split+xml", "tFtF-", "axbxx"),
    ]
    columns = "n_na, n_na_before_repair, n_calls, n_failed_calls, n_failed_calls_before_repair"
    found = ask(of_recall(rows), "recall")
    assert found(f"SELECT formulation, {columns} FROM recall_scores ORDER BY ALL") == [
        ("human", 0, 0, None, None, None),
        ("prompt", 1, 2, 3, 1, 2),
        ("split", 1, 3, 3, 1, 2),
        ("split+xml", 1, 3, 2, 1, 1),
        ("tf", 3, 5, 2, 1, 2),
    ]


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


def test_errors_over_answered_facts_and_with_unanswered_ones(ask: Callable[..., Any]) -> None:
    # What nobody labelled and people themselves are no errors.
    rows = [*verdicts("a", "none", "tf", "tf", "  "), *people("a", "none", "tf")]
    for said, human in ERRORS:
        rows += verdicts("a", f"{said} {human}", "tf", said, human)
    columns = (
        "variant, n_labelled, n_false, n_na, n_na_before_repair, n_wrong, error_rate, "
        "precision_false, recall_false, f1_false, error_rate_with_na, f1_false_with_na"
    )
    found = ask(of_recall(rows), "recall")(f"SELECT {columns} FROM recall_errors")
    assert {tuple(row[0].split()): (row[1:6], row[6:]) for row in found} == {
        given: (counts, pytest.approx(rates)) for given, (counts, rates) in ERRORS.items()
    }


def test_calls_and_tokens_of_each_formulation(ask: Callable[..., Any]) -> None:
    nothing: Any = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}
    requests = [
        request(None, None, 0.25, step="probe"),
        request("a", None, 0.5, step="facts"),
        request("a", "tf", 0.25),
        request("a", "tf", 0.0, status="500", **nothing),
        request("b", "tf", 0.0, cached=True),
        request("b", "tf", 0.0, coalesced=True, prompt_tokens=0),
        request("a", "prompt", 0.0, cost_usd=None),
    ]
    rows = [
        *verdicts("a", "rag", "tf", "tf", "  "),
        *verdicts("a", "poor", "tf", "tf", "  "),
        *verdicts("a", "rag", "prompt", "tf", "  "),
        *verdicts("a", "rag", "tfn", "tf", "  "),
        # An empty answer is asked about by nobody.
        *(
            replace(row, reason="no_passages")
            for one in ("tf", "tfn")
            for row in verdicts("c", "empty", one, "ff", "  ")
        ),
        *people("a", "rag", "tf"),
    ]
    columns = (
        "formulation, n_answers, n_facts, n_calls, n_requests, n_failed, n_cached, n_shared, "
        "calls_per_answer, prompt_tokens, completion_tokens, cost_usd"
    )
    found = ask(of_recall(rows, requests), "recall")
    order = "formulation IS NOT NULL, formulation"
    assert found(f"SELECT {columns} FROM recall_cost ORDER BY {order}") == [
        (None, None, None, 1, 1, 0, 0, 0, None, 100, 10, 0.5),
        ("prompt", 1, 2, 1, 1, 0, 0, 0, 1.0, 100, 10, None),
        ("tf", 3, 6, 2, 2, 1, 1, 1, 1.0, 200, 20, 0.25),
        ("tfn", 2, 4, 0, 0, 0, 0, 0, 0.0, 0, 0, 0.0),
    ]
    of_another_command = rows_of({"a": {"u": {"ref": "s"}}}) | {"usage": requests}
    for view in ("recall_scores", "recall_errors", "recall_cost"):
        assert ask(of_another_command)(f"FROM {view}") == []
