"""`ufo report` over several runs, and at another threshold."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.pipelines.conftest import ends, ok
from tests.pipelines.llm_runs import EXAMPLE
from tests.schemas.labelled import labelled_rows

Rows = dict[str, list[object]]


@pytest.fixture
def runs(tmp_path: Path, rows_of: Callable[..., Rows], write_run: Callable[..., Path]) -> Path:
    """Two runs of which people labelled responses and sentences."""
    rows = labelled_rows(rows_of)
    write_run(tmp_path, rows, "first", mode="all")
    options = '{"web_retriever": "dense", "pages": 3, "context_sentences": 0}'
    sources = [replace(row, options=options) for row in rows["sources"]]
    write_run(tmp_path, rows | {"sources": sources}, "second", mode="all")
    return tmp_path


def test_the_rows_of_all_runs_stand_in_one_table(runs: Path) -> None:
    rows = ok("report", runs, "sentence_f1", "--all_runs", "--json").json
    assert [row["run"] for row in rows] == ["first", "second"]
    settings = [(row["retriever"], row["pages"], row["context"]) for row in rows]
    assert settings == [(None, None, None), ("dense", 3, 0)]
    (first_row,) = ok("report", runs, "sentence_f1", "--run", "first", "--json").json
    assert first_row == rows[0]
    printed = ok("report", runs, "sentence_f1", "--all_runs").out
    assert printed.startswith("Not factual sentences that the judge finds, all runs\n")
    assert printed.split("\n")[2].split()[:2] == ["run", "retriever"]
    assert "run" not in ok("report", runs, "sentence_f1").out.split("\n")[2].split()
    # Also of a report that shows all of its columns, and one that chooses them.
    for name in ("correlations", "scores_by_model"):
        assert "second" in ok("report", runs, name, "--all_runs").out.partition("\n")[2]


def test_all_runs_are_of_a_named_report(runs: Path) -> None:
    for words in (("--all_runs",), ("scores", "--all_runs", "--run", "first")):
        assert "--all_runs takes the NAME of a report" in ends(2, "report", runs, *words).err


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.34, 0.5, 1.0])
def test_a_sentence_is_not_factual_below_the_threshold(runs: Path, threshold: float) -> None:
    flags = ("--run", "first", "--threshold", threshold, "--json")
    (row,) = ok("report", runs, "sentence_f1", *flags).json
    sentences = ok("report", runs, "sentence_scores", "--run", "first", "--json").json
    labelled = [sentence for sentence in sentences if sentence["human_label"] is not None]
    called = [
        sentence["human_label"]
        for sentence in labelled
        if sentence["credibility"] is not None and sentence["credibility"] < threshold
    ]
    hits, wrong = called.count(0), sum(sentence["human_label"] == 0 for sentence in labelled)
    assert row["threshold"] == threshold
    assert row["n"] == len(labelled)
    assert row["n_unscored"] == sum(sentence["credibility"] is None for sentence in labelled)
    assert row["recall"] == pytest.approx(hits / wrong)
    assert row["precision"] == (pytest.approx(hits / len(called)) if called else None)
    assert row["f1"] == pytest.approx(2 * hits / (len(called) + wrong))
    measured = ok("report", runs, "agreement", *flags).json
    (same,) = (
        sentence["value"]
        for sentence in measured
        if sentence["metric"] == "f1_not_factual" and sentence["part"] == "all"
    )
    assert same == row["f1"]


def test_a_threshold_is_a_share(runs: Path) -> None:
    for value in ("1.1", "-1", "much"):
        assert "from 0 to 1" in ends(2, "report", runs, "sentence_f1", "--threshold", value).err


def test_correlations_are_those_of_the_agreement(runs: Path) -> None:
    measured = {
        (row["mode"], row["source"], row["metric"]): (row["value"], row["n"])
        for row in ok("report", runs, "agreement", "--run", "first", "--json").json
        if row["level"] == "response" and row["part"] == "all"
    }
    printed = ok("report", runs, "correlations", "--run", "first", "--json").json
    assert {
        (row["mode"], row["source"], metric): (row[metric], row["n"])
        for row in printed
        for metric in ("pearson", "spearman", "kendall")
    } == measured


def test_models_of_several_recall_runs_stand_in_one_table(tmp_path: Path) -> None:
    words = ("recall", "--input", EXAMPLE, "--output", tmp_path, "--workers", 1)
    for name in ("one", "two"):
        ok(*words, "--judge", "offline", "--run", name)
    printed = ok("report", tmp_path, "recall_models", "--all_runs", "--json").json
    assert [row["run"] for row in printed] == ["one", "two"]
    assert printed[0]["model"].startswith("overlap@")
    parts = ok("report", tmp_path, "recall_errors", "--run", "one", "--json").json
    assert printed[0]["n_labelled"] == sum(row["n_labelled"] for row in parts)
    wrong = sum(row["n_wrong"] for row in parts)
    assert printed[0]["error_rate"] == pytest.approx(
        wrong / (printed[0]["n_labelled"] - printed[0]["n_na"])
    )
