"""Each condition of a view, with a row that it alone leaves out; a test names the view."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import Rows, rows_of, write_run
from tests.schemas.labelled import people, request, verdicts
from ufo.schemas.labels import Label
from ufo.schemas.records import Failure, Sentence, SourceStatus
from ufo.schemas.results import open_results
from ufo.schemas.tables import LABELS, to_arrow

Query = Callable[[str], list[tuple[Any, ...]]]


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


def one_vote(votes: str = "s", source: str = "ref", **more: Any) -> Rows:
    """The rows of one claim that one source was asked about."""
    return rows_of({"x": {"u": {source: votes}}}, (source,), **more)


QUESTION = Sentence("x", 2, 90, 99, "What of this?", 0, None)


def labelled_by_people(rows: Rows, labels: dict[tuple[str, str], int]) -> Rows:
    rows["fact_units"] = [
        replace(row, human_label=labels.get((row.response_id, row.unit_id)))
        for row in rows["fact_units"]
    ]
    return rows


# --- units of the same name in two responses, and responses of the same name in two runs ---

TWINS = {"x": {"u": {"ref": "s", "wiki": "r"}}, "y": {"u": {"ref": "r", "wiki": "rr"}}}
OTHERS = {"x": {"v": {"ref": "s"}, "u": {"ref": "n"}}}


def twins() -> Rows:
    rows = labelled_by_people(rows_of(TWINS, mode="all"), {("x", "u"): 0, ("y", "u"): 1})
    return rows | {"sentences": [*rows["sentences"], QUESTION]}


def other_than_twins() -> Rows:
    rows = rows_of(OTHERS, ("ref",))
    failed = Failure("extract", "x", "truncated", "sentences 3", None)
    return rows | {"sentences": [*rows["sentences"], QUESTION], "failures": [failed]}


# --- rows without a partner ---


def without_evidence() -> Rows:
    """A unit with a verdict and a label, and no evidence; a sentence without a claim."""
    rows = one_vote(labels={"u": 0})
    return rows | {"evidence": [], "sentences": [*rows["sentences"], QUESTION]}


def without_passage(outcome: str) -> Rows:
    """A unit with a vote, and evidence of this outcome that names no passage."""
    rows = one_vote()
    (row,) = rows["evidence"]
    return rows | {"evidence": [row, replace(row, passage_id=None, outcome=outcome, label=None)]}


def unknown_language(*more: str) -> Rows:
    """A unit about which the judge was asked in a language that it does not know."""
    rows = one_vote("n")
    (row,) = rows["evidence"]
    asked = replace(row, passage_id=None, reason="unsupported_language")
    others = [replace(row, outcome=outcome) for outcome in more]
    return rows | {"evidence": [asked, *others]}


def failed_at(step: str) -> Rows:
    rows = one_vote()
    failed = Failure(step, "x", "truncated", "of a request", None)
    return rows | {"sentences": [*rows["sentences"], QUESTION], "failures": [failed]}


def no_score() -> Rows:
    votes = {"x": {"u": {"ref": "s", "wiki": "s"}}, "y": {"u": {"ref": "e", "wiki": "e"}}}
    return labelled_by_people(rows_of(votes, mode="all"), {("x", "u"): 1, ("y", "u"): 1})


def labelled_sentence(votes: str) -> Rows:
    rows = one_vote(votes)
    return rows | {"sentences": [replace(row, human_label=0) for row in rows["sentences"]]}


UNAVAILABLE = SourceStatus(0, "ref", "web", "unavailable", "no key", "{}")
TWO_UNITS = {"x": {"u": {"ref": "s"}, "v": {"ref": "s"}}}
TWO_MODELS = {"x": {"u": {"ref": "s"}}, "y": {"v": {"ref": "s"}}}
MODELS = {"x": "m1", "y": "m2"}
OUTCOMES = ("supported", "refuted", "noans", "error")
COUNTS = "n_supported, n_refuted, n_noans, n_error"
JUDGED = "n_judgements, n_unusable, no_score"

RUNS: dict[str, Rows] = {
    "a response of the same name elsewhere": other_than_twins(),
    "a source that is not listed": one_vote() | {"sources": []},
    "a passage that is not there": one_vote(source="wiki") | {"passages": []},
    "no evidence": without_evidence(),
    "a source that could not serve": one_vote("n") | {"sources": [UNAVAILABLE]},
    **{f"no passage, {outcome}": without_passage(outcome) for outcome in OUTCOMES},
    "a unit without a label": rows_of(TWO_UNITS, ("ref",), labels={"u": 0}),
    "a model without a label": rows_of(TWO_MODELS, ("ref",), models=MODELS, labels={"u": 0}),
    "two data sets": rows_of(TWO_MODELS, ("ref",), datasets={"x": "d1", "y": "d2"}),
    "another language": unknown_language(),
    "another language and an error": unknown_language("error"),
    "an error and a vote": one_vote("es"),
    "a failed extraction": failed_at("extract"),
    "a failed judgement": failed_at("verify"),
    "three tenths pass": labelled_sentence("sssrrrrrrr"),
    "two tenths do not": labelled_sentence("ssrrrrrrrr"),
    "nothing decided": one_vote("n"),
    "one before": one_vote("s"),
    "one after": one_vote("r"),
    "two before": rows_of({one: {"u" + one: {"ref": "s"}} for one in "xy"}, ("ref",)),
    "two after": rows_of({one: {"u" + one: {"ref": "r"}} for one in "xy"}, ("ref",)),
}
OF_SENTENCES = "agreement WHERE part = 'all' AND metric = 'recall_not_factual'"
OF_CLAIMS = "agreement WHERE mode = 'seq' AND part = 'all' AND metric IN ('accuracy', 'coverage')"

# A run, a view, columns of it, and the rows.
CASES: list[tuple[str, str, str, list[Any]]] = [
    (
        "a response of the same name elsewhere",
        "sentence_scores",
        "sentence_index, n_supported, n_noans, state",
        [(0, 1, 0, "supported"), (1, 0, 1, "not found"), (2, 0, 0, "error")],
    ),
    ("a source that is not listed", "tallies", "source, n_supported", [("ref", 1)]),
    ("a passage that is not there", "category_shares", "source_category", [("other",)]),
    ("no evidence", "disagreements", "label, human_label, sources_for", [(1, 0, None)]),
    (
        "no evidence",
        "sentence_scores",
        f"{COUNTS}, band, state",
        [(0, 0, 0, 0, "grey", "no claim"), (0, 0, 0, 0, "grey", "supported")],
    ),
    ("no evidence", "scores", "factuality_score, n_judgements, no_score", [(1.0, 0, None)]),
    ("a source that could not serve", "source_contributions", "source", [("none",)]),
    *((f"no passage, {one}", "sentence_scores", COUNTS, [(1, 0, 0, 0)]) for one in OUTCOMES),
    *((f"no passage, {one}", "passage_credibility", COUNTS, [(1, 0, 0, 0)]) for one in OUTCOMES),
    ("a unit without a label", "human_labels", "unit_id", [("u",)]),
    ("a model without a label", "corrected_scores WHERE level = 'model'", "name", [("m1",)]),
    ("three tenths pass", OF_SENTENCES, "value", [(0.0,)]),
    ("two tenths do not", OF_SENTENCES, "value", [(1.0,)]),
    ("two data sets", "scores_by_dataset", "dataset, n_units", [("d1", 1), ("d2", 1)]),
    ("no passage, error", "scores", JUDGED, [(2, 1, None)]),
    ("no passage, noans", "scores", JUDGED, [(1, 0, None)]),
    ("another language", "scores", JUDGED, [(1, 1, "unsupported language")]),
    ("another language and an error", "scores", JUDGED, [(2, 2, "nothing usable")]),
    ("an error and a vote", "scores", JUDGED, [(2, 1, None)]),
    ("another language", "sentence_scores", "state, n_noans", [("error", 0)]),
    ("nothing decided", "sentence_scores", "state, n_noans", [("not found", 1)]),
    ("a failed extraction", "sentence_scores", "state", [("error",), ("supported",)]),
    ("a failed judgement", "sentence_scores", "state", [("no claim",), ("supported",)]),
    (
        "no score",
        "corrected_scores WHERE mode = 'seq' AND level = 'run'",
        "n_responses, n_units, n_labelled",
        [(1, 1, 1)],
    ),
    ("nothing decided", "scores_by_run", "factuality_score, n_undecided", [(0.0, 1)]),
    ("no score", "source_benchmark", "DISTINCT coverage, n_labelled", [(1.0, 1)]),
    ("nothing usable", "source_benchmark", "source_order", []),
    (
        "twins",
        "tallies",
        "response_id, source, n_supported, n_refuted",
        [("x", "ref", 1, 0), ("x", "wiki", 0, 1), ("y", "ref", 0, 1), ("y", "wiki", 0, 2)],
    ),
    ("twins", "human_labels", "response_id, label", [("x", 0), ("y", 1)]),
    (
        "twins",
        "disagreements",
        "kind, response_id, claim, human_label, n_supported, n_refuted, severity",
        [
            ("people", "x", "Claim u.", 0, 1, 0, 1.0),
            ("people", "y", "Claim u.", 1, 0, 1, 1.0),
            ("sources", "x", "Claim u.", None, 1, 1, 1.0),
        ],
    ),
    (
        "twins",
        "sentence_scores",
        "response_id, n_supported, n_refuted, state",
        [("x", 0, 0, "no claim"), ("x", 1, 1, "supported"), ("y", 0, 3, "contradicted")],
    ),
    (
        "twins",
        "source_benchmark WHERE mode = 'single'",
        "source_order, n_labelled, accuracy",
        [("ref", 2, 0.0), ("wiki", 2, 0.5)],
    ),
    (
        "twins",
        "source_contributions WHERE mode = 'mv'",
        "source, n_votes, n_agreeing",
        [("ref", 2, 1), ("wiki", 3, 3)],
    ),
    (
        "twins",
        "judge_errors WHERE mode = 'seq' AND source = 'all'",
        "error, n, n_errors",
        [("false_refuted", 1, 1), ("false_supported", 1, 1), ("undecided", 2, 0), ("wrong", 2, 2)],
    ),
    ("twins", OF_CLAIMS, "metric, value, n", [("accuracy", 0.0, 2), ("coverage", 1.0, 2)]),
    (
        "twins",
        "corrected_scores WHERE mode = 'seq' AND level = 'run'",
        "n_labelled, n_units, corrected_score",
        [(2, 2, 0.5)],
    ),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A query over all these runs."""
    nothing = rows_of({"x": {"u": {"ref": "e", "wiki": "e"}}}, mode="all")
    all_modes = {"twins": ("all", twins()), "no score": ("all", no_score())}
    all_modes["nothing usable"] = ("all", nothing)
    others = {name: ("seq", rows) for name, rows in RUNS.items()}
    with opened(tmp_path_factory.mktemp("runs"), all_modes | others) as query:
        yield query


@pytest.mark.parametrize(
    ("run", "view", "columns", "expected"),
    CASES,
    ids=[f"{view.partition(' ')[0]}: {run}" for run, view, *_ in CASES],
)
def test_of_a_run_a_view_has(
    runs: Query, run: str, view: str, columns: str, expected: list[Any]
) -> None:
    of_run = f"{view} {'AND' if 'WHERE' in view else 'WHERE'} run = '{run}'"
    assert sorted(runs(f"SELECT {columns} FROM {of_run}"), key=repr) == expected


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        pytest.param("one", (1, -1.0, None, None, None), id="one pair has no interval"),
        pytest.param("two", (2, -1.0, None, None, 0.25), id="equal differences have no interval"),
    ],
)
def test_run_comparison_at_its_limits(runs: Query, pair: str, expected: tuple[Any, ...]) -> None:
    compared = f"run_comparison('{pair} before', '{pair} after')"
    assert runs(f"SELECT n_pairs, difference, low, high, p FROM {compared}") == [expected]


@pytest.mark.parametrize("question", ["''", "' '", "NULL"])
def test_responses_without_a_question_are_clusters_of_their_own(runs: Query, question: str) -> None:
    ((two_responses, two_datasets, one_question),) = runs(
        f"SELECT cluster_of('d', {question}, 'x') = cluster_of('d', {question}, 'y') "
        f"AS two_responses, cluster_of('d', {question}, 'x') = cluster_of('e', {question}, 'x') "
        "AS two_datasets, cluster_of('d', ' q', 'x') = cluster_of('d', 'q ', 'y') AS one_question"
    )
    assert two_responses is False
    assert two_datasets is False
    assert one_question is True


BANDS = {"0": "red", "0.2999": "red", "0.3": "orange", "0.5999": "orange", "0.6": "green"}


@pytest.mark.parametrize(
    ("credibility", "band"), [*BANDS.items(), ("1", "green"), ("NULL", "grey")]
)
def test_a_band_begins_at_its_bound(runs: Query, credibility: str, band: str) -> None:
    assert runs(f"SELECT band_of({credibility})") == [(band,)]


# --- people's labels ---


def sheet_label(unit: str, label: float | None, sheet: str, **more: Any) -> Label:
    defaults: dict[str, Any] = {"note": None, "stratum": None, "weight": None, "annotator": sheet}
    response = more.pop("response_id", "x")
    return Label("one", response, unit, label, sheet=sheet, **(defaults | more))


SHEETS = {
    "a sheet": ([sheet_label("u", 1, "a")], [(1, "sheet", 1, None)]),
    "a sheet that says nothing": ([sheet_label("u", None, "a")], [(0, "input", 1, None)]),
    "two sheets of three": (
        [sheet_label("u", 1, "a"), sheet_label("u", 1, "b"), sheet_label("u", 0, "c")],
        [(1, "sheet", 3, None)],
    ),
    "two of which one says nothing": (
        [sheet_label("u", 1, "a"), sheet_label("u", None, "b"), sheet_label("w", 1, "b")],
        [(1, "sheet", 1, None)],
    ),
    "two that differ": (
        [sheet_label("u", 1, "a"), sheet_label("u", 0, "b")],
        [(0.5, "sheet", 2, None)],
    ),
    "two sheets of one annotator": (
        [
            sheet_label("u", 1, "a"),
            sheet_label("u", 1, "b", annotator="a"),
            sheet_label("u", 0, "c"),
        ],
        [(0.5, "sheet", 2, None)],
    ),
    "a label between": ([sheet_label("u", 0.7, "a")], [(0.7, "sheet", 1, None)]),
    "another unit": ([sheet_label("w", 1, "a")], [(0, "input", 1, None)]),
    "another response": ([sheet_label("u", 1, "a", response_id="y")], [(0, "input", 1, None)]),
    # A sheet counts by its share of the labels of the sheets that were drawn.
    "two that were drawn, and one that was not": (
        [
            sheet_label("u", 1, "a", weight=4.0),
            sheet_label("w", 1, "a", weight=4.0),
            sheet_label("w", None, "a", weight=4.0),
            sheet_label("v", 1, "b", weight=4.0),
            sheet_label("v", 1, "c"),
            sheet_label("w", 1, "c"),
        ],
        [(1, "sheet", 1, pytest.approx(4 * 2 / 3))],
    ),
}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A run with a response for each of these, whose claim the input calls false."""
    rows = rows_of({f"{name} x": {"u": {"ref": "s"}} for name in SHEETS}, ("ref",), labels={"u": 0})
    labels = [
        replace(label, response_id=f"{name} {label.response_id}", sheet=f"{name} {label.sheet}")
        for name, (sheet_labels, _) in SHEETS.items()
        for label in sheet_labels
    ]
    other = rows_of({"z": {"v": {"ref": "s"}, "w": {"ref": "s"}}}, ("ref",), labels={"v": 0})
    runs = {"one": ("seq", rows), "two": ("seq", other)}
    with opened(tmp_path_factory.mktemp("labels"), runs, labels) as query:
        yield query


@pytest.mark.parametrize("name", SHEETS)
def test_human_labels_are_of_sheets_where_these_agree(labelled: Query, name: str) -> None:
    columns = "label, origin, n_labels, weight"
    rows = labelled(f"SELECT {columns} FROM human_labels WHERE response_id = '{name} x'")
    assert rows == SHEETS[name][1]


def test_judge_errors_count_a_sampled_unit_by_its_weight(labelled: Query) -> None:
    # Of ten units, which the judge found true, people found three false, and three partly so.
    columns = "error, n, n_errors, value"
    rows = labelled(f"SELECT {columns} FROM judge_errors WHERE run = 'one' AND source = 'all'")
    assert sorted(rows) == [
        ("false_supported", 10, 4.3, pytest.approx(4.3 / (9 + 8 / 3))),
        ("undecided", 10, 0, 0.0),
        ("wrong", 10, 4.3, pytest.approx(4.3 / (9 + 8 / 3))),
    ]


def test_corrected_scores_take_what_was_drawn_alone_where_a_sheet_was_drawn(
    labelled: Query,
) -> None:
    sql = "SELECT run, n_labelled, n_units FROM corrected_scores WHERE level = 'run' ORDER BY run"
    assert labelled(sql) == [("one", 1, 10), ("two", 1, 2)]


# --- models ---


def test_model_comparison_pairs_two_models_with_two_shared_questions_at_least(
    tmp_path: Path,
) -> None:
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
    runs = {
        "one": ("seq", rows_of(votes, ("ref",), **of)),
        "two": ("seq", apart),
        "three": ("all", rows_of(both, mode="all", **of)),
    }
    sql = (
        "SELECT run, source, model_a || model_b || ' ' || comparison || ' ' || n "
        "FROM model_comparison WHERE mode != 'mv' AND (run != 'three' OR mode = 'single')"
    )
    pairs: dict[tuple[str, str | None], list[str]] = {}
    with opened(tmp_path, runs) as query:
        for run, source, pair in sorted(query(sql), key=lambda row: str(row[2])):
            pairs.setdefault((run, source), []).append(pair)
    others = ["m0m1 unpaired 3", "m0m2 unpaired 3", "m0m3 unpaired 3"]
    more = ["m1m3 unpaired 4", "m2m3 unpaired 4"]
    assert pairs == {
        ("one", None): [*others, "m1m2 paired 2", *more],
        ("two", None): [*others, "m1m2 unpaired 4", *more],
        ("three", "ref"): [*others, "m1m2 paired 2", *more],
        ("three", "wiki"): [
            "m0m1 unpaired 2",
            "m0m2 unpaired 2",
            "m0m3 unpaired 3",
            "m1m2 unpaired 2",
            "m1m3 unpaired 3",
            "m2m3 unpaired 3",
        ],
    }


# --- requests ---

BIG = {"prompt_tokens": 7, "completion_tokens": 3, "seconds": 64.0}
SENT = request("x", "ref", 0.5)
# Each of them is left out by one condition: it was not sent, or it failed, or is of no source.
NOT_SENT = [
    request("x", "ref", 8.0, cached=True, saved_usd=4.0, **BIG),
    request("x", "ref", 16.0, coalesced=True, **BIG),
    request("x", "ref", 0.0, cached=True, status="429", **(BIG | {"cost_usd": None})),
    request("x", "ref", 0.0, cached=True, **(BIG | {"cost_usd": None})),
]


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    votes = {"x": {"u": {"ref": "s", "wiki": "n"}}}
    rows = rows_of(votes, mode="all", labels={"u": 1})
    failed = request("x", "ref", 0.0, status="500", cost_usd=None)
    no_cost = request("x", "wiki", 0.0, status="500", cost_usd=None)
    others = [
        request(None, "ref", 32.0),
        request("x", None, 32.0),
        request("x", "elsewhere", 32.0, cost_usd=None),
        request("y", "wiki", 32.0),
    ]
    rows["usage"] = [SENT, failed, no_cost, *NOT_SENT, *others]
    other = rows_of(votes, mode="mv", labels={"u": 1})
    runs = {"one": ("all", rows), "two": ("mv", other)}
    with opened(tmp_path_factory.mktemp("spent"), runs) as query:
        yield query


def test_cost_counts_what_was_sent(spent: Query) -> None:
    columns = (
        "n_requests, n_failed, n_cached, n_coalesced, prompt_tokens, completion_tokens, "
        "saved_tokens, seconds, cost_usd, n_unpriced"
    )
    sql = f"SELECT {columns} FROM cost WHERE source = 'ref' AND model = 'm'"
    assert spent(sql) == [(3, 1, 3, 1, 300, 30, 40, 1.5, 32.5, 0)]


def test_source_benchmark_counts_the_requests_of_responses_to_its_sources(spent: Query) -> None:
    sql = (
        "SELECT source_order, n_calls, cost_usd, n_requests, paid_usd FROM source_benchmark "
        "WHERE run = 'one' AND mode = 'single' ORDER BY ALL"
    )
    # A request that was shared is another response's.
    assert spent(sql) == [("ref", 3, 4.5, 2, 0.5), ("wiki", 0, 0.0, 1, 0.0)]


def test_source_benchmark_has_runs_of_mode_all_alone(spent: Query) -> None:
    assert spent("SELECT DISTINCT run FROM source_benchmark") == [("one",)]


def test_recall_cost_counts_what_was_sent_for_each_run(tmp_path: Path) -> None:
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
    with opened(tmp_path, {"one": ("recall", rows), "two": ("recall", other)}) as query:
        costs = query(f"SELECT {columns} FROM recall_cost ORDER BY run, formulation NULLS FIRST")
    assert costs == [
        ("one", None, None, 1, 0, 0, 1, 0, 100, 0.0, 0.0),
        ("one", "gone", None, 1, 1, 0, 0, 0, 100, 0.5, 4.0),
        ("one", "tf", 2, 3, 2, 1, 3, 2, 114, 1.0, 0.5),
        ("two", "tf", 1, 0, 0, 0, 0, 0, 0, 0.0, 0.0),
    ]


# --- one run against another ---


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
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
    runs = {
        "before": ("all", rows_of(before, mode="all", **of)),
        "after": ("all", rows_of(after, mode="all", **of)),
        "third": ("seq", rows_of(third, ("ref",), **of)),
    }
    with opened(tmp_path_factory.mktemp("compared"), runs) as query:
        yield query


def test_run_comparison_is_over_what_both_runs_scored(compared: Query) -> None:
    columns = (
        "n_pairs, n_questions, n_responses, only_baseline, only_run, baseline_score, run_score, "
        "difference"
    )
    rows = compared(f"SELECT {columns} FROM run_comparison('before', 'after')")
    # x: 1/2 and 0; y: 0 and 1/2; z, e and o before alone; w after alone.
    assert rows == [(2, 1, 1, 3, 1, 0.25, 0.25, 0.0)]
    # Also those without a score have a place: b in both, e after.
    columns = "n_baseline, n_run, n_places, n_asked, n_scored_baseline, n_scored_run"
    rows = compared(f"SELECT {columns} FROM run_comparison('before', 'after')")
    assert rows == [(6, 5, 7, 5, 2, 2)]


def test_turned_claims_are_those_that_one_run_alone_found_supported(compared: Query) -> None:
    columns = "run, response_id, unit_id, before, after, source_before, source_after, claim"
    assert compared(f"SELECT {columns} FROM turned_claims('before', 'after')") == [
        ("after", "e", "e", "supported", "undecided", "ref", "none", "Claim e."),
        ("after", "x", "u", "supported", "refuted", "ref", "ref", "Claim u."),
        ("after", "y", "u", "refuted", "supported", "ref", "ref", "Claim u."),
    ]
