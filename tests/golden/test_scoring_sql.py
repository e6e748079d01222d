"""The views of a run against the golden vectors of scoring."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank, rows_of, write_run
from ufo.schemas.records import Evidence, FactUnit, Passage, Sentence, Verdict
from ufo.schemas.results import open_results
from ufo.transforms.scores import Selection

CASES = json.loads(Path(__file__).with_name("scoring.json").read_text(encoding="utf-8"))["cases"]
LISTS = ("without_passages", "without_categories", "only_categories", "without_domains")
SELECTION = (*LISTS, "only_domains")
OF_PASSAGE = ("source_category", "hostname", "passage_id")
LABELS = {"supported": 1, "refuted": 0}
Row = dict[str, Any]


def run_of(case_input: Row) -> dict[str, list[Any]]:
    """The rows of a run with one response, without verdicts."""
    rows = rows_of({"r": {}}, case_input["sources"])
    rows["sources"] = [replace(row, position=row.position + 1) for row in rows["sources"]]
    rows["sentences"] = [
        Sentence("r", at, at, at + 1, "t", 0, None) for at in range(case_input["n_sentences"])
    ]
    rows["fact_units"] = [
        FactUnit("r", record["unit_id"], record["sentence_index"], "claim", "query", None)
        for record in case_input["fact_units"]
    ]
    rows["passages"] = [
        Passage("text", **{name: record[name] for name in OF_PASSAGE})
        for record in case_input["passages"]
    ]
    rows["evidence"] = [
        blank(
            Evidence,
            response_id="r",
            label=LABELS.get(record["outcome"]),
            judge="offline",
            **record,
        )
        for record in case_input["evidence"]
    ]
    return rows


# What gives, of a case, these columns of a view. All cases are runs of one database.
Rows = Callable[[str, str, str], list[Row]]


@contextmanager
def written(folder: Path, rows_of_case: Callable[[Row], dict[str, list[Any]]]) -> Iterator[Rows]:
    for case in CASES:
        case_input = case["input"]
        write_run(
            folder, rows_of_case(case), case["name"], mode=case_input["mode"], tie=case_input["tie"]
        )
    with open_results(folder, all_runs=True) as results:
        queried = cache(lambda sql: results.query(sql).to_pylist())

        def rows(case: str, columns: str, view: str) -> list[Row]:
            by_run = queried(f"SELECT run, {columns} FROM {view}")
            names = columns.split(", ")
            return [{name: row[name] for name in names} for row in by_run if row["run"] == case]

        yield rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    """Runs with all evidence of their cases."""
    with written(tmp_path_factory.mktemp("whole"), lambda case: run_of(case["input"])) as runs:
        yield runs


def what_is_left(case: Row) -> dict[str, list[Any]]:
    case_input, rows = case["input"], run_of(case["input"])
    selection = Selection(**{name: case_input[name] for name in SELECTION})
    kept = {one.passage_id: selection.keeps(one.passage_id, one) for one in rows["passages"]}
    rows["evidence"] = [row for row in rows["evidence"] if kept.get(row.passage_id, True)]
    rows["verdicts"] = [Verdict("r", **row) for row in case["expected"]["verdicts"]]
    return rows


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    """Runs with what the selections of their cases leave: the views say of it what those do."""
    with written(tmp_path_factory.mktemp("rest"), what_is_left) as runs:
        yield runs


def as_set(rows: list[Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_categories_are_those_of_all_evidence(case: Row, whole: Rows) -> None:
    columns = "source_category, n_evidence, n_supported, n_refuted, share"
    shares = whole(case["name"], columns, "category_shares")
    shares.sort(key=lambda row: (-row["n_evidence"], row["source_category"]))
    wanted = case["expected"]["categories"]
    assert shares == [{k: row[k] for k in columns.split(", ")} for row in wanted]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_views_of_what_is_left_give_the_same(case: Row, rest: Rows) -> None:
    wanted_of, name = case["expected"], case["name"]
    names = "n_supported, n_refuted, n_noans, n_error, credibility, band"
    sentences = rest(name, f"sentence_index, {names}, state", "sentence_scores")
    sentences.sort(key=lambda row: row["sentence_index"])
    assert sentences == wanted_of["sentences"]
    (passage,) = rest(name, names, "passage_credibility")
    assert {"sentence_index": None, **passage, "state": None} == wanted_of["passage"]
    for view in ("scores", "source_contributions"):
        wanted = wanted_of[view.removeprefix("source_")]
        columns = [column for column in wanted[0] if column not in ("words", "beside")]
        expected = [{column: row[column] for column in columns} for row in wanted]
        assert as_set(rest(name, ", ".join(columns), view)) == as_set(expected)
