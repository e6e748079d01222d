"""The score of a run, and the responses that it leaves out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from ufo.pipelines.reports.main_score import count_abstentions, left_out, main_scores
from ufo.schemas.records import Sentence
from ufo.schemas.results import open_results


def sentence(response: str, text: str, at: int = 0) -> Sentence:
    return Sentence(response, at, 0, len(text), text, 0, None)


@pytest.mark.parametrize(
    ("sentences", "count"),
    [
        pytest.param([sentence("a", "Hello there!")], 0, id="no claim"),
        pytest.param([sentence("a", "I don't know.")], 1, id="an abstention"),
        pytest.param(
            [sentence("a", "I don't know."), sentence("a", "No answer.", 1)],
            1,
            id="two of one",
        ),
        pytest.param(
            [sentence("a", "I don't know."), sentence("b", "Das weiß ich nicht.")],
            2,
            id="two, one of them in another language",
        ),
    ],
)
def test_responses_that_abstain_are_counted(
    tmp_path: Path, sentences: list[Any], count: int
) -> None:
    write_run(tmp_path, rows_of({}) | {"sentences": sentences}, "one")
    with open_results(tmp_path) as results:
        assert count_abstentions(results) == count


VOTES = {"a": {"u": {"ref": "s"}}, "b": {}}


def left_out_of(folder: Path, source: str, references: int) -> str:
    """What the score of two responses, one of them without a claim, leaves out."""
    rows = rows_of(VOTES, sources=("ref",))
    rows["sources"] = [replace(row, type=source) for row in rows["sources"]]
    rows["responses"] = [replace(row, n_references=references) for row in rows["responses"]]
    write_run(folder, rows, "one")
    with open_results(folder) as results:
        return left_out(results, main_scores(results)["one"], 1)


SILENT = "1 of 2 responses have a score; 1 without a claim (1 of them abstains)"


@pytest.mark.parametrize(
    ("source", "references", "text"),
    [
        pytest.param("reference", 0, f"{SILENT}; 2 of 2 responses without a reference", id="none"),
        pytest.param("reference", 1, SILENT, id="one each"),
        pytest.param("wikipedia", 0, SILENT, id="a source that needs none"),
    ],
)
def test_what_a_score_leaves_out(tmp_path: Path, source: str, references: int, text: str) -> None:
    assert left_out_of(tmp_path, source, references) == text


def test_a_run_without_a_response_has_counts_of_0(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({}), "one")
    with open_results(tmp_path) as results:
        row = main_scores(results)["one"]
    assert row["n_scored"] == 0
    assert row["factuality_score"] is None
