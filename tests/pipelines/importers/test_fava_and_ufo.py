"""FAVA's tagged texts and UFO's files as input records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.pipelines.importers import import_records
from ufo.pipelines.importers.formats import fava
from ufo.pipelines.importers.reading import LEFT_OUT
from ufo.schemas.records import Failure
from ufo.transforms.read import parse
from ufo.transforms.values import UnusableValue

TYPES = ("entity", "relation", "contradictory", "invented", "subjective", "unverifiable")


def tagged(annotated: str, **more: str) -> dict[str, str]:
    return {
        "annotated": annotated,
        "prompt": " Who was Messi? ",
        "model": "Llama2-Chat 70B",
        **more,
    }


def errors(record: dict[str, Any]) -> list[Any]:
    return [
        (span["label"], record["response"][span["start"] : span["end"]]) for span in record["spans"]
    ]


def test_the_response_is_what_was_written_and_its_errors_are_spans() -> None:
    annotated = (
        "Messi 🙂 is an <entity><delete>American</delete><mark>Argentine</mark></entity> player."
        " <invented>He has flown to Mars.</invented> He "
        "<relation><mark>won</mark><delete>lost</delete></relation> much."
    )
    record = fava(tagged(annotated, subject="Messi", dataset="wiki"), Path("annotations"), 7)
    assert record == {
        "id": "fava-7",
        "model": "Llama2-Chat 70B",
        "dataset": "fava",
        "question": "Who was Messi?",
        "response": "Messi 🙂 is an American player. He has flown to Mars. He lost much.",
        "spans": record["spans"],
        "metadata": {
            "subject": "Messi",
            "dataset": "wiki",
            "errors": {"entity": 1, "relation": 1, "invented": 1},
        },
        LEFT_OUT: [],
    }
    assert errors(record) == [
        ("entity", "American"),
        ("invented", "He has flown to Mars."),
        ("relation", "lost"),
    ]


def test_the_output_tells_which_side_is_the_response() -> None:
    annotated = "He was <entity><delete>Argentine</delete> <mark>American</mark></entity>.\n\nYes ."
    swapped = fava(tagged(annotated, output="He was American.\nYes."), Path("a"), 1)
    assert swapped["response"] == "He was  American.\n\nYes ."
    assert errors(swapped) == [("entity", "American")]
    unlike = fava(tagged(annotated, output="Quite another text."), Path("a"), 1)
    assert errors(unlike) == [("entity", "Argentine")]


def test_errors_that_were_put_in_are_what_was_written() -> None:
    record = fava(
        {
            "errored_passage": "An <entity><delete>Argentine</delete><mark>American</mark></entity>"
            " player. <invented>He flew.</invented>",
            "evidence": "Messi is an Argentine player.",
            "subject": "Lionel Messi",
        },
        Path("annotations"),
        1,
    )
    assert record["response"] == "An American player. He flew."
    assert errors(record) == [("entity", "American"), ("invented", "He flew.")]
    assert record["reference_answers"] == ["Messi is an Argentine player."]


def test_errors_in_errors_and_corrections_that_replace_nothing() -> None:
    annotated = (
        "<unverifiable>Some say <entity><delete>ten</delete></entity> men</unverifiable> came"
        "<relation><mark> not</mark></relation>."
    )
    record = fava(tagged(annotated), Path("a"), 1)
    assert record["response"] == "Some say ten men came."
    assert errors(record) == [("unverifiable", "Some say ten men"), ("entity", "ten")]
    assert record["metadata"]["errors"] == {"entity": 1, "relation": 1, "unverifiable": 1}


@pytest.mark.parametrize(
    ("annotated", "message"),
    [
        ("A <entity>b", "<entity> left open"),
        ("A b</entity>", "</entity> that nothing opens"),
        ("<entity><delete>a</entity></delete>", "</entity> inside <delete>"),
        ("<invented><mark>a</mark></invented>", "corrections only"),
        ("  ", "empty text"),
    ],
)
def test_tags_that_do_not_match_are_no_record(annotated: str, message: str) -> None:
    with pytest.raises(UnusableValue, match=message):
        fava(tagged(annotated), Path("a"), 1)


WORDS = st.text("abcé🙂 <>", min_size=1, max_size=8)


@given(st.lists(st.tuples(st.sampled_from((*TYPES, None)), WORDS, WORDS), min_size=1, max_size=8))
def test_tagging_and_reading_is_the_text(parts: list[Any]) -> None:
    written = "x"
    annotated = "x"
    expected = []
    for kind, wrong, right in parts:
        if kind is None:
            annotated += wrong
        else:
            annotated += f"<{kind}><delete>{wrong}</delete><mark>{right}</mark></{kind}>"
            if wrong.strip():
                expected.append((kind, wrong.strip()))
        written += wrong
    record = fava(tagged(annotated, output=written), Path("a"), 1)
    assert record["response"] == written
    assert sorted(errors(record)) == sorted(expected)
    assert not isinstance(parse("k", json.dumps(record).encode(), 2**20), Failure)


# --- ufo -----------------------------------------------------------------------------------------


@pytest.fixture(name="read")
def _read(tmp_path: Path) -> Callable[..., Any]:
    def read(*rows: dict[str, Any], name: str = "GPT4/test.jsonl") -> tuple[Any, ...]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        told: list[Any] = []
        return list(import_records("ufo", path, told.append)), told

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
            "id": "ufo-GPT4-0",
            "model": "GPT4",
            "dataset": "ufo",
            "question": "Who was Ada?",
            "response": "Ada was a poet.",
            "reference_answers": ["Ada was a mathematician."],
            "label": 0.25,
        },
        {
            "id": "ufo-GPT4-1",
            "model": "GPT4",
            "dataset": "ufo",
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
        name="gpt0125.jsonl",
    )
    assert first == {
        "id": "ufo-gpt0125-1",
        "model": "gpt0125",
        "dataset": "ufo",
        "question": "Title: moon",
        "response": "They landed in 1969.",
        "reference_answers": [],
        "metadata": {"answer": ["1969"]},
    }
    assert second["reference_answers"] == ["It is of rock.", "A page."]
    assert second["claims"] == [{"claim": "What is it of? Rock.", "query": "What is it of?"}]
    for record in (first, second):
        assert not isinstance(parse("k", json.dumps(record).encode(), 2**20), Failure)


@pytest.mark.parametrize(
    ("name", "dataset", "prefix", "model"),
    [
        ("felm-wk/GPT4/test.jsonl", "felm-wk", "ufo-felm-wk-GPT4", "GPT4"),
        ("MS MARCO/chatgpt.jsonl", "msmarco", "ufo-msmarco-chatgpt", "chatgpt"),
        ("elsewhere/chatgpt.jsonl", "ufo", "ufo-chatgpt", "chatgpt"),
    ],
)
def test_records_of_several_data_sets_have_ids_of_their_own(
    read: Callable[..., Any], name: str, dataset: str, prefix: str, model: str
) -> None:
    (record,), _ = read({"id": 0, "response": "R."}, name=name)
    assert (record["dataset"], record["id"], record["model"]) == (dataset, f"{prefix}-0", model)
