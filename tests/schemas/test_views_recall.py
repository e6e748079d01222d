"""The views of factual recall, on tables small enough to add up by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import rows_of
from tests.schemas.test_views_cost import NOTHING, usage
from ufo.schemas.records import (
    RecallRecord,
    RecallVerdict,
)

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
    rows = [
        *people("a", "rag", "ttf"),
        *verdicts("a", "rag", "tf", "---", "ttf"),
        *verdicts("b", "rag", "tf", "TF", "  "),
        *verdicts("a", "rag", "prompt", "t-T", "ttf"),
    ]
    columns = "n_na, n_na_before_repair, n_calls, n_failed_calls, n_failed_calls_before_repair"
    found = ask(of_recall(rows), "recall")
    assert found(f"SELECT formulation, {columns} FROM recall_scores ORDER BY ALL") == [
        ("human", 0, 0, None, None, None),
        ("prompt", 1, 2, 3, 1, 2),
        ("tf", 3, 5, 2, 1, 2),
    ]


def test_calls_that_were_split_are_counted_each(ask: Callable[..., Any]) -> None:
    def by(formulation: str, said: str, requests: str) -> list[Any]:
        rows = verdicts("a", "rag", formulation, said, " " * len(said))
        return [replace(row, request_id=name) for row, name in zip(rows, requests, strict=True)]

    rows = [
        # Three calls, of which the second was void at first and the third to the end.
        *by("tf", "ttFF-", "aabbc"),
        # Two calls, and one for the facts that both of them left out.
        *by("tf+xml", "tFtF-", "axbxx"),
    ]
    columns = "n_calls, n_failed_calls, n_failed_calls_before_repair"
    found = ask(of_recall(rows), "recall")
    assert found(f"SELECT formulation, {columns} FROM recall_scores ORDER BY ALL") == [
        ("tf", 3, 1, 2),
        ("tf+xml", 2, 1, 1),
    ]


COUNTS = "n_labelled, n_false, n_na, n_na_before_repair, n_wrong"
RATES = "error_rate, precision_false, recall_false, f1_false, error_rate_with_na, f1_false_with_na"


def errors(ask: Any, said: str, human: str) -> list[tuple[Any, ...]]:
    found = ask(of_recall(verdicts("a", "rag", "tf", said, human)), "recall")
    rows: list[tuple[Any, ...]] = found(f"SELECT {COUNTS}, {RATES} FROM recall_errors")
    return rows


@pytest.mark.parametrize(
    ("said", "human", "counts", "rates"),
    [
        # Three false facts: one found, one missed, one unanswered; one false alarm among the true.
        ("ftFt--", "ffttft", (6, 3, 2, 3, 2), None),
        ("tttt", "tttt", (4, 0, 0, 0, 0), (0, None, None, None, 0, None)),
        ("fttt", "tttt", (4, 0, 0, 0, 1), (0.25, 0, None, None, 0.25, None)),
        ("tttt", "ffff", (4, 4, 0, 0, 4), (1, None, 0, 0, 1, 0)),
        ("nffN", "ffff", (4, 4, 0, 1, 0), (0, 1, 1, 1, 0, 1)),
        # All false facts are unanswered: over answered facts there is none.
        ("tt--", "ttff", (4, 2, 2, 2, 0), (0, None, None, None, 0.5, 0)),
        ("----", "tfff", (4, 3, 4, 4, 0), (None, None, None, None, 1, 0)),
    ],
)
def test_errors_over_answered_facts_and_with_unanswered_ones(
    ask: Callable[..., Any],
    said: str,
    human: str,
    counts: tuple[int, ...],
    rates: tuple[Any, ...] | None,
) -> None:
    ((*row,),) = errors(ask, said, human)
    assert tuple(row[:5]) == counts
    if rates is None:
        # Answered are f:f, t:f, F:t, t:t: one hit, one miss, one false alarm, one right.
        rates = (2 / 4, 1 / 2, 1 / 2, 1 / 2, 4 / 6, 2 / (2 + 1 + 1 + 2))
    assert tuple(row[5:]) == pytest.approx(rates)


def test_what_nobody_labelled_and_people_themselves_are_no_errors(ask: Callable[..., Any]) -> None:
    found = ask(
        of_recall([*verdicts("a", "rag", "tf", "tf", "  "), *people("a", "rag", "tf")]), "recall"
    )
    assert found("FROM recall_errors") == []


def test_calls_and_tokens_of_each_formulation(ask: Callable[..., Any]) -> None:
    said = {"source": "tf"}
    requests = [
        usage("probe", None),
        usage("facts", "a", cost_usd=0.5),
        usage("verify", "a", **said),
        usage("verify", "a", **said, status="500", retries=0, request_id="f", **NOTHING),
        usage("verify", "b", **said, cached=True, cost_usd=0.0),
        usage("verify", "b", **said, coalesced=True, cost_usd=0.0, prompt_tokens=0),
        usage("verify", "a", source="prompt", cost_usd=None),
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


def test_views_of_another_commands_run_are_empty(ask: Callable[..., Any]) -> None:
    found = ask(rows_of({"a": {"u": {"ref": "s"}}}) | {"usage": [usage("verify", "a")]})
    for view in ("recall_scores", "recall_errors", "recall_cost"):
        assert found(f"FROM {view}") == []
