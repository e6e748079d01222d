"""UFO's files as input records."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.importers import import_records
from ufo.schemas.records import Failure
from ufo.transforms.read import parse


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> Callable[..., Any]:
    def read(*rows: dict[str, Any], name: str = "set/GPT4/test.jsonl") -> tuple[Any, ...]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        told: list[Any] = []
        return list(import_records("ufo", path, told, Counter())), told

    return read


def test_a_data_set_of_the_demo_system(read: Callable[..., Any]) -> None:
    records, told = read(
        {
            "id": 0,
            "question": "Who was Ada? \r\n",
            "prompt": "Who was Ada? \r\n",
            "response": "Ada was a poet.",
            "reference_answers": ["Ada was a mathematician.", " "],
            "evidence": "",
            "label": 0.25,
        },
        {"id": 1, "question": "Q", "response": "R.", "reference_answers": [], "label": None},
        {"id": 2, "question": "Q", "response": "R.", "label": 7},
    )
    assert records == [
        {
            "id": "ufo-set-GPT4-0",
            "model": "GPT4",
            "dataset": "set",
            "question": "Who was Ada?",
            "response": "Ada was a poet.",
            "reference_answers": ["Ada was a mathematician."],
            "label": 0.25,
        },
        {
            "id": "ufo-set-GPT4-1",
            "model": "GPT4",
            "dataset": "set",
            "question": "Q",
            "response": "R.",
            "reference_answers": [],
        },
    ]
    assert len(told) == 1
    assert "expected `label` to be from 0 to 1, found 7" in told[0]


def test_results_of_the_demo_system_keep_their_fact_units(read: Callable[..., Any]) -> None:
    unit = {"claims": "Python is old", "queries": ["How old?", "Python age"], "web_sources": []}
    (record,), _ = read(
        {"response": "Python is old.", "reference_answers": ["No."], "output": [unit]},
        name="result.jsonl",
    )
    assert record["claims"] == [{"claim": "Python is old", "query": "How old?"}]
    _, told = read(
        {"response": "R."},
        {"response": "R.", "output": ["x"]},
        {"response": "R.", "output": [{"claim": "x"}]},
    )
    assert ["found text" in told[0], "expected `claims`" in told[1]] == [True, True]


def test_the_first_release_has_other_names(read: Callable[..., Any]) -> None:
    (first, second), _ = read(
        {"prompt": "Title: moon", "answer": ["1969"], "modelText": "They landed in 1969."},
        {
            "answer": "cheese",
            "mgt": "It is rock.",
            "human_written_evidences": ["It is of rock."],
            "reference_documents": ["A page.", "It is of rock."],
            "model_retrieved_documents": ["What it read itself."],
            "facts": [{"Question": "What is it of?", "Answer": "Rock."}],
        },
        name="set/gpt0125.jsonl",
    )
    assert first == {
        "id": "ufo-set-gpt0125-1",
        "model": "gpt0125",
        "dataset": "set",
        "question": "Title: moon",
        "response": "They landed in 1969.",
        "reference_answers": [],
        "metadata": {"answer": ["1969"]},
    }
    assert second["reference_answers"] == ["It is of rock.", "A page."]
    assert second["claims"] == [{"claim": "What is it of? Rock.", "query": "What is it of?"}]
    for record in (first, second):
        assert not isinstance(parse("k", json.dumps(record).encode(), 2**20), Failure)
