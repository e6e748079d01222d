"""Each view on a table small enough to compute by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.records import Failure, Sentence, SourceStatus
from ufo.schemas.results import open_results
from ufo.schemas.views import load_views, parse_view

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
ALL = {
    "a": {"a1": {"ref": "ss", "wiki": "r"}, "a2": {"ref": "r", "wiki": "rs"}},
    "b": {"b1": {"ref": "-", "wiki": "s"}, "b2": {"ref": "n", "wiki": "n"}},
}


def test_scores_count_undecided_as_zero_and_leave_out_what_has_no_units(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
    rows = rows_of(SEQ, models={"a": "m1", "b": "m1", "c": "m2"})
    rows["responses"][0] = replace(rows["responses"][0], human_score=0.5)
    rows["responses"][2] = replace(rows["responses"][2], human_score=1.0)
    columns = "n_units, n_supported, n_refuted, n_undecided"
    found = ask(rows)
    assert found(
        f"SELECT response_id, mode, source, {columns}, factuality_score, decided_score, "
        "coverage FROM scores ORDER BY response_id"
    ) == [
        ("a", "seq", None, 3, 1, 1, 1, 1 / 3, 1 / 2, 2 / 3),
        ("b", "seq", None, 1, 1, 0, 0, 1.0, 1.0, 1.0),
        ("c", "seq", None, 0, 0, 0, 0, None, None, None),
    ]
    means = (
        "n_responses, n_without_units, n_units, factuality_score, decided_score, coverage, "
        "human_score, n_human_scores"
    )
    both = pytest.approx((2, 0, 4, 2 / 3, 3 / 4, 5 / 6, 0.5, 1))
    assert found(f"SELECT {means} FROM scores_by_run") == [
        pytest.approx((3, 1, 4, 2 / 3, 3 / 4, 5 / 6, 0.5, 1))
    ]
    assert found(f"SELECT {means} FROM scores_by_model ORDER BY model") == [
        both,
        (1, 1, 0, None, None, None, None, 0),
    ]
    assert found("SELECT dataset, n_responses FROM scores_by_dataset") == [(None, 3)]


def test_responses_without_a_score_are_counted_apart(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
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
    sql = "SELECT response_id, no_score, factuality_score, low FROM scores ORDER BY ALL"
    assert [row[:3] for row in found(sql)] == [
        ("failed", "nothing usable", None),
        ("fine", None, 1.0),
        ("foreign", "unsupported language", None),
        ("silent", "no claim", None),
    ]
    counts = "n_responses, n_without_units, n_unjudged, n_unsupported, factuality_score"
    assert found(f"SELECT {counts} FROM scores_by_run") == [(4, 1, 1, 1, 1.0)]


def test_seq_contributions_are_shares_of_units_that_sum_to_one(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
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
        ("m1", "ref", 3, 1),
        ("m1", "wiki", 3, 1),
        ("m1", "none", 3, 1),
        ("m2", "ref", 1, 1),
        ("m2", "wiki", 1, 0),
        ("m2", "none", 1, 0),
    ]


def test_a_sentence_without_a_claim_may_be_one_that_could_not_be_read(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
    rows = rows_of({"r": {"u0": {"ref": "e"}, "u1": {"ref": "s"}}})
    rows["sentences"].append(Sentence("r", 2, 90, 99, "What of this?", 0, None))
    states = "SELECT state FROM sentence_scores ORDER BY sentence_index"
    assert ask(rows)(states) == [("error",), ("supported",), ("no claim",)]
    rows["failures"].append(Failure("extract", "r", "truncated", "sentences 3", None))
    assert ask(rows)(states) == [("error",), ("supported",), ("error",)]


def test_views_of_several_runs_keep_them_apart(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    # The same ids in both, as when one input is evaluated twice.
    write_run(tmp_path, rows_of({"a": {"u": {"ref": "s"}}}), "one")
    again = rows_of({"a": {"u": {"ref": "r", "wiki": "s"}}}, mode="all")
    write_run(tmp_path, again, "two", mode="all")
    with open_results(tmp_path, all_runs=True) as results:
        for view, n in [
            ("scores", 5),
            ("source_contributions", 10),
            ("sentence_scores", 2),
            ("evidence_full", 3),
        ]:
            rows = results.query(f"SELECT run FROM {view}").column("run").to_pylist()
            assert (len(rows), set(rows)) == (n, {"one", "two"}), view


def test_every_view_says_what_it_is() -> None:
    for view in load_views():
        assert view.title, view.name
        assert view.help.endswith("."), view.name
        assert view.order or view.parameters is not None, view.name


def test_views_come_after_what_they_need() -> None:
    names = [view.name for view in load_views()]
    for view in load_views():
        assert all(names.index(need) < names.index(view.name) for need in view.needs)


def test_a_header_is_read_to_the_first_line_of_sql() -> None:
    view = parse_view(
        "v", "-- Title\n-- Two lines: of\n-- help.\n-- needs: a, b\nSELECT 1 -- x\n-- y\n;\n"
    )
    assert (view.title, view.help, view.needs) == ("Title", "Two lines: of help.", ("a", "b"))
    assert view.sql == "SELECT 1 -- x\n-- y\n"
    assert parse_view("v", "SELECT 1").title == "v"
