"""Views on tables small enough to compute by hand; test_snapshots.py has what each gives."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import rows_of
from tests.schemas.labelled import request
from ufo.schemas.records import Failure, Sentence, SourceStatus

Ask = Callable[..., Any]
# Response a: one unit decided by ref, one by wiki after ref had no answer, one by nobody.
SEQ = {
    "a": {
        "a1": {"ref": "ssr"},
        "a2": {"ref": "n-", "wiki": "rrs"},
        "a3": {"ref": "-", "wiki": "n"},
    },
    "b": {"b1": {"ref": "s"}},
    "c": {},
}


def test_scores_count_undecided_as_zero_and_leave_out_what_has_no_units(ask: Ask) -> None:
    rows = rows_of(SEQ, models={"a": "m1", "b": "m1", "c": "m2"})
    rows["responses"][0] = replace(rows["responses"][0], human_score=0.5)
    rows["responses"][2] = replace(rows["responses"][2], human_score=1.0)
    found = ask(rows)
    assert found(
        "SELECT response_id, mode, source, n_units, n_supported, n_refuted, n_undecided, "
        "factuality_score, decided_score, coverage FROM scores ORDER BY response_id"
    ) == [
        ("a", "seq", None, 3, 1, 1, 1, 1 / 3, 1 / 2, 2 / 3),
        ("b", "seq", None, 1, 1, 0, 0, 1.0, 1.0, 1.0),
        ("c", "seq", None, 0, 0, 0, 0, None, None, None),
    ]
    means = (
        "n_responses, n_without_units, n_units, factuality_score, decided_score, coverage, "
        "human_score, n_human_scores"
    )
    of_all = (3, 1, 4, 2 / 3, 3 / 4, 5 / 6, 0.5, 1)
    for view in ("run", "dataset"):
        assert found(f"SELECT {means} FROM scores_by_{view}") == [pytest.approx(of_all)]
    assert found(f"SELECT {means} FROM scores_by_model ORDER BY model") == [
        pytest.approx((2, 0, 4, 2 / 3, 3 / 4, 5 / 6, 0.5, 1)),
        (1, 1, 0, None, None, None, None, 0),
    ]


def test_responses_without_a_score_are_counted_apart(ask: Ask) -> None:
    votes = {
        "fine": {"a": {"ref": "s"}},
        "silent": {},
        "failed": {"b": {"ref": "e"}},
        "foreign": {"c": {"ref": "n"}, "d": {"ref": "n"}},
    }
    rows = rows_of(votes, ("ref",))
    rows["evidence"] = [
        replace(row, reason="unsupported_language") if row.response_id == "foreign" else row
        for row in rows["evidence"]
    ]
    found = ask(rows)
    assert found("SELECT response_id, no_score, factuality_score FROM scores ORDER BY ALL") == [
        ("failed", "nothing usable", None),
        ("fine", None, 1.0),
        ("foreign", "unsupported language", None),
        ("silent", "no claim", None),
    ]
    counts = "n_responses, n_without_units, n_unjudged, n_unsupported, factuality_score"
    assert found(f"SELECT {counts} FROM scores_by_run") == [(4, 1, 1, 1, 1.0)]


def test_seq_contributions_are_shares_of_units_that_sum_to_one(ask: Ask) -> None:
    models = {"a": "m1", "b": "m2", "c": "m2"}
    rows = rows_of(SEQ, sources=("ref", "wiki", "idle"), models=models)
    rows["sources"].append(SourceStatus(3, "web", "web", "unavailable", "no key", "{}"))
    found = ask(rows)
    columns = "source, position, n_units, n_decided, share, n_votes, agreeing_share"
    assert found(f"SELECT {columns} FROM source_contributions ORDER BY position") == [
        ("ref", 0, 4, 2, 0.5, None, None),
        ("wiki", 1, 4, 1, 0.25, None, None),
        ("idle", 2, 4, 0, 0.0, None, None),
        ("none", None, 4, 1, 0.25, None, None),
    ]
    assert found(
        "SELECT model, source, n_units, n_decided FROM source_contributions_by_model "
        "WHERE source != 'idle' ORDER BY model, position"
    ) == [
        *(("m1", "ref", 3, 1), ("m1", "wiki", 3, 1), ("m1", "none", 3, 1)),
        *(("m2", "ref", 1, 1), ("m2", "wiki", 1, 0), ("m2", "none", 1, 0)),
    ]


def test_a_sentence_without_a_claim_may_be_one_that_could_not_be_read(ask: Ask) -> None:
    rows = rows_of({"r": {"u0": {"ref": "e"}, "u1": {"ref": "s"}}})
    rows["sentences"].append(Sentence("r", 2, 90, 99, "What of this?", 0, None))
    states = "SELECT state FROM sentence_scores ORDER BY sentence_index"
    assert ask(rows)(states) == [("error",), ("supported",), ("no claim",)]
    rows["failures"].append(Failure("extract", "r", "truncated", "sentences 3", None))
    assert ask(rows)(states) == [("error",), ("supported",), ("error",)]


def test_where_sources_differ_and_where_people_do(ask: Ask) -> None:
    votes = {
        "a": {
            "even": {"ref": "s", "wiki": "r", "web": "n"},
            "most": {"ref": "sss", "wiki": "r", "web": "-"},
            "tied": {"ref": "ss", "wiki": "sr", "web": "e"},
            "same": {"ref": "s", "wiki": "s", "web": "s"},
        },
        "b": {
            "open": {"ref": "n", "wiki": "-", "web": "n"},
            "lost": {"ref": "e", "wiki": "n", "web": "n"},
            "past": {"ref": "e", "wiki": "r", "web": "n"},
        },
    }
    labels = {"even": 0, "same": 1, "open": 1, "past": 1}
    found = {}
    for tie in ("not_factual", "factual"):
        rows = rows_of(votes, mode="all", sources=("ref", "wiki", "web"), tie=tie)
        rows["fact_units"] = [
            replace(row, human_label=labels.get(row.unit_id)) for row in rows["fact_units"]
        ]
        found[tie] = ask(rows, "all", tie=tie)
    differ = (
        "SELECT unit_id, severity, sources_for, sources_against FROM disagreements "
        "WHERE kind = 'sources' ORDER BY severity DESC, unit_id"
    )
    worst = [("even", 1.0, "ref", "wiki"), ("most", 0.5, "ref", "wiki")]
    assert found["factual"](differ) == worst
    assert found["not_factual"](differ) == [*worst, ("tied", 0.5, "ref", "wiki")]
    people = (
        "SELECT unit_id, label, human_label, severity FROM disagreements "
        "WHERE kind = 'people' ORDER BY unit_id"
    )
    assert found["not_factual"](people) == [("even", 1, 0, 1.0), ("past", 0, 1, 1.0)]


def test_cost_by_step_source_and_model(ask: Ask) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}}, "b": {"v": {"ref": "s"}}})
    nothing: Any = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}
    rows["usage"] = [
        request(None, None, 0.25, step="probe"),
        request("a", None, 0.25),
        request("a", None, 0.0, status="429", retries=1, seconds=0.1, **nothing),
        request("b", None, 0.0, cached=True),
        request("a", "ref", 1.0),
        request("b", "ref", 0.0, coalesced=True),
        request("b", "ref", 0.0, model="unknown", cost_usd=None),
    ]
    columns = (
        "step, source, model, n_requests, n_failed, n_cached, n_coalesced, prompt_tokens, "
        "completion_tokens, saved_tokens, seconds, cost_usd, n_unpriced"
    )
    assert ask(rows)(f"SELECT {columns} FROM cost ORDER BY ALL") == [
        ("extract", None, "m", 2, 1, 1, 0, 100, 10, 110, 0.6, 0.25, 0),
        ("probe", None, "m", 1, 0, 0, 0, 100, 10, None, 0.5, 0.25, 0),
        ("verify", "ref", "m", 1, 0, 0, 1, 100, 10, 110, 0.5, 1.0, 0),
        ("verify", "ref", "unknown", 1, 0, 0, 0, 100, 10, None, 0.5, None, 1),
    ]
