"""The views of a run, and the macros of a selection, against the golden vectors of scoring."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.records import (
    Evidence,
    FactUnit,
    Passage,
    Response,
    Sentence,
    SourceStatus,
    Verdict,
)
from ufo.schemas.results import Results, open_results
from ufo.schemas.tables import TABLES

CASES = json.loads(Path(__file__).with_name("scoring.json").read_text(encoding="utf-8"))["cases"]
LISTS = ("without_passages", "without_categories", "only_categories", "without_domains")
SELECTION = (*LISTS, "only_domains")
LABELS = {"supported": 1, "refuted": 0}
MODES = {"all": ("seq", "mv", "single")}
Row = dict[str, Any]


def run_of(given: Row) -> dict[str, list[Any]]:
    """The rows of a run with one response, without verdicts."""
    rows: dict[str, list[Any]] = {table: [] for table in TABLES}
    rows["responses"] = [Response("r", None, None, None, None, "text", 0, None, None)]
    rows["sources"] = [
        SourceStatus(at, name, "test", "used", None, "{}")
        for at, name in enumerate(given["sources"], 1)
    ]
    rows["sentences"] = [
        Sentence("r", at, at, at + 1, "t", 0, None) for at in range(given["n_sentences"])
    ]
    rows["fact_units"] = [
        FactUnit("r", one["unit_id"], one["sentence_index"], "claim", "query", None)
        for one in given["fact_units"]
    ]
    rows["passages"] = [
        Passage(
            "text",
            source_category=one["source_category"],
            hostname=one["hostname"],
            passage_id=one["passage_id"],
        )
        for one in given["passages"]
    ]
    nothing = dict.fromkeys(
        (
            *("rank", "retrieval_score", "answer", "reason", "raw_verdict", "probability"),
            *("rationale", "citation", "citation_found"),
        )
    )
    rows["evidence"] = [
        Evidence(
            response_id="r", label=LABELS.get(one["outcome"]), judge="offline", **{**nothing, **one}
        )
        for one in given["evidence"]
    ]
    return rows


def selected(given: Row) -> tuple[str, Row]:
    """The arguments of a macro for a selection, and their values."""
    params = {name: given[name] for name in SELECTION if given[name] not in (None, [])}
    if given["only_categories"] == []:
        params["only_categories"] = []
    words = "".join(f", {name} := CAST(${name} AS VARCHAR[])" for name in params)
    return words, params


class Runs:
    """Every case as a run, in one database, so that each view is made once."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._known: dict[str, list[Row]] = {}

    def of(self, name: str, columns: str, view: str, params: Row | None = None) -> list[Row]:
        """Return the rows that a view or a macro has of one case's run."""
        sql = f"SELECT run, {columns} FROM {view}"
        key = json.dumps([sql, params])
        if key not in self._known:
            self._known[key] = self._results.query(sql, params or {}).to_pylist()
        return [
            {column: value for column, value in row.items() if column != "run"}
            for row in self._known[key]
            if row["run"] == name
        ]


def gone(runs: Runs, case: Row) -> set[str]:
    """Return the passages that the selection of a case leaves out."""
    _, params = selected(case["input"])
    lists = (f"CAST(${n} AS VARCHAR[])" if n in params else "NULL" for n in SELECTION)
    call = f"excluded_passages({', '.join(lists)})"
    return {row["passage_id"] for row in runs.of(case["name"], "passage_id", call, params)}


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, write_run: Callable[..., Path]
) -> Iterator[Runs]:
    """Runs with all evidence of their cases."""
    folder = tmp_path_factory.mktemp("whole")
    for case in CASES:
        given = case["input"]
        write_run(folder, run_of(given), case["name"], mode=given["mode"], tie=given["tie"])
    with open_results(folder, all_runs=True) as results:
        yield Runs(results)


@pytest.fixture(scope="module")
def rest(
    tmp_path_factory: pytest.TempPathFactory, write_run: Callable[..., Path], whole: Runs
) -> Iterator[Runs]:
    """Runs with what the selections of their cases leave: the views say of it what those do."""
    folder = tmp_path_factory.mktemp("rest")
    for case in CASES:
        given, rows, left_out = case["input"], run_of(case["input"]), gone(whole, case)
        rows["evidence"] = [row for row in rows["evidence"] if row.passage_id not in left_out]
        rows["verdicts"] = [Verdict("r", **row) for row in case["expected"]["verdicts"]]
        write_run(folder, rows, case["name"], mode=given["mode"], tie=given["tie"])
    with open_results(folder, all_runs=True) as results:
        yield Runs(results)


def as_set(rows: list[Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_macros_give_what_a_selection_gives(case: Row, whole: Runs) -> None:
    given, expected, name = case["input"], case["expected"], case["name"]
    words, params = selected(given)
    modes = MODES.get(given["mode"], (given["mode"],))
    columns = ", ".join(expected["verdicts"][0]) if expected["verdicts"] else "unit_id"
    verdicts = f"verdicts_if({words.removeprefix(', ')})"
    found = [
        row
        for row in whole.of(name, f"{columns}, mode AS m", verdicts, params)
        if row.pop("m") in modes
    ]
    assert as_set(found) == as_set(expected["verdicts"])
    columns = (
        "mode, source, n_units, n_supported, n_refuted, factuality_score, "
        "decided_score, coverage, n_judgements, n_unusable"
    )
    scores = [
        row
        for mode in modes
        for row in whole.of(name, columns, f"scores_if('{mode}'{words})", params)
    ]
    wanted = [
        {key: value for key, value in row.items() if key != "n_undecided"}
        for row in expected["scores"]
    ]
    assert as_set(scores) == as_set(wanted)
    columns = "source_category, n_evidence, n_supported, n_refuted, share"
    shares = whole.of(name, columns, "category_shares")
    shares.sort(key=lambda row: (-row["n_evidence"], row["source_category"]))
    assert shares == [{k: row[k] for k in columns.split(", ")} for row in expected["categories"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_views_of_what_is_left_give_the_same(case: Row, rest: Runs) -> None:
    expected, name = case["expected"], case["name"]
    names = "n_supported, n_refuted, n_noans, n_error, credibility, band"
    sentences = rest.of(name, f"sentence_index, {names}, state", "sentence_scores")
    sentences.sort(key=lambda row: row["sentence_index"])
    assert sentences == expected["sentences"]
    (passage,) = rest.of(name, names, "passage_credibility")
    assert {"sentence_index": None, **passage, "state": None} == expected["passage"]
    for view in ("scores", "source_contributions"):
        wanted = expected[view.removeprefix("source_")]
        assert as_set(rest.of(name, ", ".join(wanted[0]), view)) == as_set(wanted)
