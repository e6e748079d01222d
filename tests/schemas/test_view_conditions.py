"""Each condition of a view, with a row that it alone leaves out; a test names the view."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import Rows, rows_of, write_run
from tests.schemas.labelled import people, request, verdicts
from ufo.schemas.records import Failure, Sentence, SourceStatus
from ufo.schemas.results import open_results
from ufo.schemas.tables import LABELS, Label, to_arrow

Query = Callable[[str], list[tuple[Any, ...]]]
Ask = Callable[..., Query]


@contextmanager
def opened(
    folder: Path, runs: dict[str, tuple[str, Rows]], labels: Sequence[Label] = ()
) -> Iterator[Query]:
    """Write runs (a mode and rows) and labels, and give what returns the rows of a query."""
    for name, (mode, rows) in runs.items():
        write_run(folder, rows, name, mode=mode)
    if labels:
        (folder / LABELS).mkdir()
        pq.write_table(to_arrow(LABELS, labels), folder / LABELS / "a.parquet")
    with open_results(folder, all_runs=True) as results:
        yield lambda sql: [tuple(row.values()) for row in results.query(sql).to_pylist()]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """A function: write these runs; what it returns gives the rows of a query."""
    with ExitStack() as stack:
        yield lambda *given: stack.enter_context(opened(tmp_path, *given))


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A query over a run without a claim."""
    with opened(tmp_path_factory.mktemp("run"), {"one": ("seq", rows_of({"x": {}}))}) as found:
        yield found


def said(unit: str, label: int | None, sheet: str, **more: Any) -> Label:
    given: dict[str, Any] = {"note": None, "stratum": None, "weight": None, "annotator": "x"}
    response = more.pop("response_id", "x")
    return Label("one", response, unit, label, sheet=sheet, **(given | more))


def labelled_by_people(rows: Rows, labels: dict[tuple[str, str], int]) -> Rows:
    rows["fact_units"] = [
        replace(row, human_label=labels.get((row.response_id, row.unit_id)))
        for row in rows["fact_units"]
    ]
    return rows


# --- units of the same name in two responses, and responses of the same name in two runs ---

TWINS = {"x": {"u": {"ref": "s", "wiki": "r"}}, "y": {"u": {"ref": "r", "wiki": "rr"}}}
OTHERS = {"x": {"v": {"ref": "s"}, "u": {"ref": "n"}}}


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    of_twins = labelled_by_people(rows_of(TWINS, mode="all"), {("x", "u"): 0, ("y", "u"): 1})
    other = rows_of(OTHERS, ("ref",))
    other["sentences"].append(Sentence("x", 2, 90, 99, "What of this?", 0, None))
    other["failures"].append(Failure("extract", "x", "truncated", "sentences 3", None))
    of_twins["sentences"].append(Sentence("x", 2, 90, 99, "What of this?", 0, None))
    runs = {"one": ("all", of_twins), "two": ("seq", other)}
    with opened(tmp_path_factory.mktemp("twins"), runs) as found:
        yield found


IN_TWO_RESPONSES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "tallies": (
        "response_id, source, n_supported, n_refuted FROM tallies",
        [("x", "ref", 1, 0), ("x", "wiki", 0, 1), ("y", "ref", 0, 1), ("y", "wiki", 0, 2)],
    ),
    "human_labels": (
        "response_id, label FROM human_labels",
        [("x", 0), ("y", 1)],
    ),
    "disagreements": (
        "kind, response_id, claim, human_label, n_supported, n_refuted FROM disagreements",
        [
            ("people", "x", "Claim u.", 0, 1, 0),
            ("people", "y", "Claim u.", 1, 0, 1),
            ("sources", "x", "Claim u.", None, 1, 1),
        ],
    ),
    "sentence_scores": (
        "response_id, sentence_index, n_supported, n_refuted, state FROM sentence_scores",
        [
            ("x", 0, 1, 1, "supported"),
            ("x", 2, 0, 0, "no claim"),
            ("y", 0, 0, 3, "contradicted"),
        ],
    ),
    "source_benchmark": (
        "mode, source_order, n_labelled, accuracy FROM source_benchmark WHERE mode = 'single'",
        [("single", "ref", 2, 0.0), ("single", "wiki", 2, 0.5)],
    ),
    "source_contributions": (
        "source, n_votes, n_agreeing FROM source_contributions WHERE mode = 'mv'",
        [("ref", 2, 1), ("wiki", 3, 3)],
    ),
    "judge_errors": (
        "mode, error, n, n_errors FROM judge_errors WHERE mode = 'seq' AND source = 'all'",
        [
            ("seq", "false_refuted", 1, 1),
            ("seq", "false_supported", 1, 1),
            ("seq", "undecided", 2, 0),
            ("seq", "wrong", 2, 2),
        ],
    ),
    "agreement": (
        "metric, value, n FROM agreement WHERE mode = 'seq' AND part = 'all' "
        "AND metric IN ('accuracy', 'coverage')",
        [("accuracy", 0.0, 2), ("coverage", 1.0, 2)],
    ),
    "corrected_scores": (
        "n_labelled, n_units, corrected_score FROM corrected_scores "
        "WHERE mode = 'seq' AND level = 'run'",
        [(2, 2, 0.5)],
    ),
}


@pytest.mark.parametrize("view", IN_TWO_RESPONSES)
def test_units_of_one_name_in_two_responses_stay_apart_in(twins: Query, view: str) -> None:
    sql, expected = IN_TWO_RESPONSES[view]
    of_one = f"{sql} {'AND' if 'WHERE' in sql else 'WHERE'} run = 'one'"
    assert sorted(twins(f"SELECT {of_one}"), key=repr) == sorted(expected, key=repr)


def test_sentence_scores_of_two_runs_stay_apart(twins: Query) -> None:
    columns = "sentence_index, n_supported, n_noans, state"
    assert twins(f"SELECT {columns} FROM sentence_scores WHERE run = 'two' ORDER BY ALL") == [
        (0, 1, 0, "supported"),
        (1, 0, 1, "not found"),
        (2, 0, 0, "error"),  # the extraction failed in this run alone
    ]


# --- rows without a partner ---


def test_tallies_have_the_votes_of_a_source_that_is_not_listed(ask: Ask) -> None:
    rows = rows_of({"x": {"u": {"ref": "s"}}}, ("ref",))
    rows["sources"] = []
    found = ask({"one": ("seq", rows)})("SELECT source, position, n_supported FROM tallies")
    assert found == [("ref", None, 1)]


def test_category_shares_have_a_passage_that_is_not_there_as_other(ask: Ask) -> None:
    rows = rows_of({"x": {"u": {"wiki": "s"}}}, ("wiki",))
    rows["passages"] = []
    found = ask({"one": ("seq", rows)})("SELECT source_category, n_evidence FROM category_shares")
    assert found == [("other", 1)]


@pytest.fixture
def bare(ask: Ask) -> Query:
    """A unit with a verdict and a label, and no evidence; a sentence without a claim."""
    rows = rows_of({"x": {"u": {"ref": "s"}}}, ("ref",), labels={"u": 0})
    rows["evidence"] = []
    rows["sentences"].append(Sentence("x", 1, 90, 99, "What of this?", 0, None))
    return ask({"one": ("seq", rows)})


def test_disagreements_have_a_verdict_without_evidence(bare: Query) -> None:
    columns = "kind, unit_id, label, human_label, sources_for"
    assert bare(f"SELECT {columns} FROM disagreements") == [("people", "u", 1, 0, None)]


def test_sentence_scores_have_sentences_without_evidence_and_without_a_claim(bare: Query) -> None:
    columns = "sentence_index, n_supported, n_refuted, n_noans, n_error, band, state"
    assert bare(f"SELECT {columns} FROM sentence_scores ORDER BY ALL") == [
        (0, 0, 0, 0, 0, "grey", "supported"),
        (1, 0, 0, 0, 0, "grey", "no claim"),
    ]


def test_scores_have_a_response_whose_verdicts_have_no_evidence(bare: Query) -> None:
    columns = "factuality_score, n_judgements, n_unusable, no_score"
    assert bare(f"SELECT {columns} FROM scores") == [(1.0, 0, 0, None)]


def test_contributions_have_no_row_of_a_source_that_could_not_serve(ask: Ask) -> None:
    rows = rows_of({"x": {"u": {"ref": "n"}}}, ("ref",))
    rows["sources"] = [SourceStatus(0, "ref", "web", "unavailable", "no key", "{}")]
    found = ask({"one": ("seq", rows)})("SELECT source, n_units FROM source_contributions")
    assert found == [("none", 1)]


@pytest.mark.parametrize("outcome", ["supported", "refuted", "noans", "error"])
def test_sentence_scores_count_no_evidence_without_a_passage(ask: Ask, outcome: str) -> None:
    rows = rows_of({"x": {"u": {"ref": "s"}}}, ("ref",))
    (one,) = rows["evidence"]
    rows["evidence"].append(replace(one, passage_id=None, outcome=outcome, label=None))
    columns = "n_supported, n_refuted, n_noans, n_error"
    found = ask({"one": ("seq", rows)})
    assert found(f"SELECT {columns} FROM sentence_scores") == [(1, 0, 0, 0)]
    assert found(f"SELECT {columns} FROM passage_credibility") == [(1, 0, 0, 0)]


@pytest.mark.parametrize("question", ["", " ", None])
def test_responses_without_a_question_are_clusters_of_their_own(
    nothing: Query, question: str | None
) -> None:
    told = "NULL" if question is None else f"'{question}'"
    (row,) = nothing(
        f"SELECT cluster_of('d', {told}, 'x') = cluster_of('d', {told}, 'y'), "
        f"cluster_of('d', {told}, 'x') = cluster_of('e', {told}, 'x'), "
        "cluster_of('d', ' q', 'x') = cluster_of('d', 'q ', 'y')"
    )
    assert row == (False, False, True)


# --- people's labels ---

SHEETS = {
    "a sheet": ([said("u", 1, "a")], [(1, "sheet", 1, None)]),
    "a sheet that says nothing": ([said("u", None, "a")], [(0, "input", 1, None)]),
    "two sheets of three": (
        [said("u", 1, "a"), said("u", 1, "b"), said("u", 0, "c")],
        [(1, "sheet", 3, None)],
    ),
    "two of which one says nothing": (
        [said("u", 1, "a"), said("u", None, "b"), said("w", 1, "b")],
        [(1, "sheet", 1, None)],
    ),
    "two that differ": ([said("u", 1, "a"), said("u", 0, "b")], [(0, "input", 1, None)]),
    "another unit": ([said("w", 1, "a")], [(0, "input", 1, None)]),
    "another response": ([said("u", 1, "a", response_id="y")], [(0, "input", 1, None)]),
    # A sheet counts by its share of the labels of the sheets that were drawn.
    "two that were drawn, and one that was not": (
        [
            *(said("u", 1, "a", weight=4.0), said("w", 1, "a", weight=4.0)),
            *(said("w", None, "a", weight=4.0), said("v", 1, "b", weight=4.0)),
            *(said("v", 1, "c"), said("w", 1, "c")),
        ],
        [(1, "sheet", 1, pytest.approx(4 * 2 / 3))],
    ),
}


@pytest.mark.parametrize("name", SHEETS)
def test_human_labels_are_of_sheets_where_these_agree(ask: Ask, name: str) -> None:
    labels, expected = SHEETS[name]
    rows = rows_of({"x": {"u": {"ref": "s"}}}, ("ref",), labels={"u": 0})
    columns = "label, origin, n_labels, weight"
    assert ask({"one": ("seq", rows)}, labels)(f"SELECT {columns} FROM human_labels") == expected


def test_human_labels_have_no_row_of_a_unit_without_a_label(ask: Ask) -> None:
    rows = rows_of({"x": {"u": {"ref": "s"}, "v": {"ref": "s"}}}, ("ref",), labels={"u": 0})
    assert ask({"one": ("seq", rows)})("SELECT unit_id FROM human_labels") == [("u",)]


def test_corrected_scores_have_no_row_of_a_model_without_a_label(ask: Ask) -> None:
    votes = {"x": {"u": {"ref": "s"}}, "y": {"v": {"ref": "s"}}}
    rows = rows_of(votes, ("ref",), models={"x": "m1", "y": "m2"}, labels={"u": 0})
    found = ask({"one": ("seq", rows)})
    names = "SELECT name FROM corrected_scores WHERE level = 'model'"
    assert found(names) == [("m1",)]


# --- models ---


def test_model_comparison_pairs_two_models_with_two_shared_questions_at_least(ask: Ask) -> None:
    # m1 and m2 share q1 and q2; m0 and m3 share one question with others.
    asked = {"a": "m1 q1", "b": "m1 q2", "c": "m2 q1", "d": "m2 q2", "e": "m3 q1", "f": "m3 q3"}
    asked["g"] = "m0 q3"
    votes = {name: {f"u{name}": {"ref": "s" if name in "adf" else "r"}} for name in asked}
    models = {name: words.split()[0] for name, words in asked.items()}
    questions = {name: words.split()[1] for name, words in asked.items()}
    of: dict[str, Any] = {"models": models, "questions": questions}
    # In the other run they share one question; of the sources, `wiki` has only errors about q2.
    apart = rows_of(votes, ("ref",), models=models, questions=questions | {"d": "q4"})
    both = {
        name: {unit: by | {"wiki": "e" if questions[name] == "q2" else "s"}}
        for name, units in votes.items()
        for unit, by in units.items()
    }
    found = ask(
        {
            "one": ("seq", rows_of(votes, ("ref",), **of)),
            "two": ("seq", apart),
            "three": ("all", rows_of(both, mode="all", **of)),
        }
    )
    sql = (
        "SELECT run, source, model_a || model_b || ' ' || comparison || ' ' || n "
        "FROM model_comparison WHERE mode != 'mv' AND (run != 'three' OR mode = 'single')"
    )
    told: dict[tuple[str, str | None], list[str]] = {}
    for run, source, pair in sorted(found(sql), key=lambda row: str(row[2])):
        told.setdefault((run, source), []).append(pair)
    others = ["m0m1 unpaired 3", "m0m2 unpaired 3", "m0m3 unpaired 3"]
    more = ["m1m3 unpaired 4", "m2m3 unpaired 4"]
    assert told == {
        ("one", None): [*others, "m1m2 paired 2", *more],
        ("two", None): [*others, "m1m2 unpaired 4", *more],
        ("three", "ref"): [*others, "m1m2 paired 2", *more],
        ("three", "wiki"): [
            *("m0m1 unpaired 2", "m0m2 unpaired 2", "m0m3 unpaired 3"),
            *("m1m2 unpaired 2", "m1m3 unpaired 3", "m2m3 unpaired 3"),
        ],
    }


# --- requests ---

BIG = {"prompt_tokens": 7, "completion_tokens": 3, "seconds": 64.0}
SENT = request("x", "ref", 0.5)
# Each of them is left out by one condition: it was not sent, or it failed, or is of no source.
NOT_SENT = [
    request("x", "ref", 8.0, cached=True, **BIG),
    request("x", "ref", 16.0, coalesced=True, **BIG),
    request("x", "ref", 0.0, cached=True, status="429", **(BIG | {"cost_usd": None})),
    request("x", "ref", 0.0, cached=True, **(BIG | {"cost_usd": None})),
]


@pytest.fixture
def spent(ask: Ask) -> Query:
    votes = {"x": {"u": {"ref": "s", "wiki": "n"}}}
    rows = rows_of(votes, mode="all", labels={"u": 1})
    failed = request("x", "ref", 0.0, status="500", cost_usd=None)
    no_cost = request("x", "wiki", 0.0, status="500", cost_usd=None)
    others = [
        request(None, "ref", 32.0),
        request("x", None, 32.0),
        request("x", "elsewhere", 32.0, cost_usd=None),
    ]
    rows["usage"] = [SENT, failed, no_cost, *NOT_SENT, *others]
    other = rows_of(votes, mode="mv", labels={"u": 1})
    return ask({"one": ("all", rows), "two": ("mv", other)})


def test_cost_counts_what_was_sent(spent: Query) -> None:
    columns = (
        "n_requests, n_failed, n_cached, n_coalesced, prompt_tokens, completion_tokens, "
        "saved_tokens, seconds, cost_usd, n_unpriced"
    )
    sql = f"SELECT {columns} FROM cost WHERE source = 'ref' AND model = 'm'"
    assert spent(sql) == [(3, 1, 3, 1, 300, 30, 40, 1.5, 32.5, 0)]


def test_source_benchmark_counts_the_requests_of_responses_to_its_sources(spent: Query) -> None:
    sql = (
        "SELECT source_order, n_calls, cost_usd FROM source_benchmark "
        "WHERE run = 'one' AND mode = 'single' ORDER BY ALL"
    )
    # What was cached was paid for once, and a request that was shared is another response's.
    assert spent(sql) == [("ref", 5, 8.5), ("wiki", 1, 0.0)]


def test_source_benchmark_has_runs_of_mode_all_alone(spent: Query) -> None:
    assert spent("SELECT DISTINCT run FROM source_benchmark") == [("one",)]


def test_source_benchmark_leaves_out_a_response_without_a_score(ask: Ask) -> None:
    votes = {"x": {"u": {"ref": "s", "wiki": "s"}}, "y": {"u": {"ref": "e", "wiki": "e"}}}
    rows = labelled_by_people(rows_of(votes, mode="all"), {("x", "u"): 1, ("y", "u"): 1})
    sql = "SELECT DISTINCT mode, coverage, n_labelled FROM source_benchmark ORDER BY ALL"
    found = ask({"one": ("all", rows)})(sql)
    assert found == [("mv", 1.0, 1), ("seq", 1.0, 1), ("single", 1.0, 1)]


def test_recall_cost_counts_what_was_sent_for_each_run(ask: Ask) -> None:
    rows = rows_of({}) | {
        "recall_verdicts": [*verdicts("x", "rag", "tf", "tf", "  "), *people("x", "rag", "t")],
        "usage": [
            request("x", "tf", 0.5),
            request("x", "tf", 0.0, status="500", cost_usd=None),
            *(replace(one, source="tf") for one in NOT_SENT),
            request("x", None, 8.0, step="facts", cached=True),
            request("x", None, 32.0, step="probe"),
            request("x", "gone", 4.0),
        ],
    }
    other = rows_of({}) | {"recall_verdicts": verdicts("x", "rag", "tf", "t", " ")}
    columns = (
        "run, formulation, n_facts, n_calls, n_requests, n_failed, n_cached, n_shared, "
        "prompt_tokens, seconds, cost_usd"
    )
    found = ask({"one": ("recall", rows), "two": ("recall", other)})
    assert found(f"SELECT {columns} FROM recall_cost ORDER BY run, formulation NULLS FIRST") == [
        ("one", None, None, 1, 0, 0, 1, 0, 100, 0.0, 0.0),
        ("one", "gone", None, 1, 1, 0, 0, 0, 100, 0.5, 4.0),
        ("one", "tf", 2, 3, 2, 1, 3, 2, 114, 1.0, 0.5),
        ("two", "tf", 1, 0, 0, 0, 0, 0, 0, 0.0, 0.0),
    ]


# --- one run against another ---


@pytest.fixture
def compared(ask: Ask) -> Query:
    """Two runs that share a question, a response without one, and units; and a third run."""
    questions = {"x": " q1 ", "y": "", "z": "q2", "w": "q3", "e": "q4", "b": "q5", "o": ""}
    before = {
        "x": {"u": {"ref": "s", "wiki": "s"}, "v": {"ref": "r", "wiki": "r"}},
        "y": {"u": {"ref": "r", "wiki": "r"}, "n": {"ref": "n", "wiki": "n"}},
        "z": {"z": {"ref": "s", "wiki": "s"}},
        "e": {"e": {"ref": "s", "wiki": "s"}},
        "b": {"b": {"ref": "e", "wiki": "e"}},
        "o": {"o": {"ref": "s", "wiki": "s"}},
    }
    after = {
        "x": {"u": {"ref": "r", "wiki": "s"}, "v": {"ref": "r", "wiki": "s"}},
        "y": {"u": {"ref": "s", "wiki": "r"}, "n": {"ref": "r", "wiki": "n"}},
        "w": {"w": {"ref": "s", "wiki": "s"}},
        "e": {"e": {"ref": "e", "wiki": "e"}},  # without a score there is no pair
        "b": {"b": {"ref": "e", "wiki": "e"}},
    }
    third = {name: {unit: {"ref": "s"} for unit in units} for name, units in before.items()}
    of: dict[str, Any] = {"questions": questions}
    return ask(
        {
            "before": ("all", rows_of(before, mode="all", **of)),
            "after": ("all", rows_of(after, mode="all", **of)),
            "third": ("seq", rows_of(third, ("ref",), **of)),
        }
    )


def test_run_comparison_is_over_what_both_runs_scored(compared: Query) -> None:
    columns = (
        "n_pairs, n_questions, n_responses, only_baseline, only_run, baseline_score, run_score, "
        "difference"
    )
    found = compared(f"SELECT {columns} FROM run_comparison('before', 'after')")
    # x: 1/2 and 0; y: 0 and 1/2; z, e and o before alone; w after alone.
    assert found == [(2, 1, 1, 3, 1, 0.25, 0.25, 0.0)]


def test_run_comparison_of_one_pair_has_no_interval(ask: Ask) -> None:
    runs = {
        name: ("seq", rows_of({"x": {"u": {"ref": vote}}}, ("ref",)))
        for name, vote in (("before", "s"), ("after", "r"))
    }
    columns = "n_pairs, difference, low, high, p"
    found = ask(runs)(f"SELECT {columns} FROM run_comparison('before', 'after')")
    assert found == [(1, -1.0, None, None, None)]


def test_run_comparison_of_equal_differences_has_an_interval_of_one_value(ask: Ask) -> None:
    runs = {
        name: ("seq", rows_of({one: {"u" + one: {"ref": vote}} for one in "xy"}, ("ref",)))
        for name, vote in (("before", "s"), ("after", "r"))
    }
    columns = "difference, low, high, p"
    found = ask(runs)(f"SELECT {columns} FROM run_comparison('before', 'after')")
    assert found == [(-1.0, -1.0, -1.0, 0.25)]


def test_turned_claims_are_those_that_one_run_alone_found_supported(compared: Query) -> None:
    columns = "run, response_id, unit_id, before, after, source_before, source_after, claim"
    assert compared(f"SELECT {columns} FROM turned_claims('before', 'after')") == [
        ("after", "e", "e", "supported", "undecided", "ref", "none", "Claim e."),
        ("after", "x", "u", "supported", "refuted", "ref", "ref", "Claim u."),
        ("after", "y", "u", "refuted", "supported", "ref", "ref", "Claim u."),
    ]


# --- bounds ---


@pytest.mark.parametrize(
    ("credibility", "band"),
    [
        *(("NULL", "grey"), ("0", "red"), ("0.2999", "red"), ("0.3", "orange")),
        *(("0.5999", "orange"), ("0.6", "green"), ("1", "green")),
    ],
)
def test_a_band_begins_at_its_bound(nothing: Query, credibility: str, band: str) -> None:
    assert nothing(f"SELECT band_of({credibility})") == [(band,)]


@pytest.mark.parametrize(
    ("votes", "recall"),
    [("sssrrrrrrr", 0.0), ("ssrrrrrrrr", 1.0)],
    ids=["three tenths pass", "two tenths do not"],
)
def test_agreement_of_sentences_takes_less_than_three_tenths_for_not_factual(
    ask: Ask, votes: str, recall: float
) -> None:
    rows = rows_of({"x": {"u": {"ref": votes}}}, ("ref",))
    rows["sentences"] = [replace(row, human_label=0) for row in rows["sentences"]]
    sql = "SELECT value FROM agreement WHERE part = 'all' AND metric = 'recall_not_factual'"
    assert ask({"one": ("seq", rows)})(sql) == [(recall,)]


def test_score_means_have_none_where_nothing_was_decided(ask: Ask) -> None:
    found = ask({"one": ("seq", rows_of({"x": {"u": {"ref": "n"}}}, ("ref",)))})
    columns = "factuality_score, n_responses, n_undecided"
    assert found(f"SELECT {columns} FROM scores_by_run") == [(None, 1, 1)]
