"""The responses of a run that make no claim, and those of them that abstain."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from ufo.pipelines.reports.abstentions import abstained, without_claim
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
        assert abstained(results) == count


def test_responses_without_a_claim_are_counted(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}}, "b": {}})
    write_run(tmp_path, rows, "one")
    with open_results(tmp_path) as results:
        assert without_claim(results) == 1
