import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.importers import import_records
from ufo.schemas.errors import UsageError


def sentence(
    text: str,
    claims: Sequence[Any] = (),
    labels: Sequence[Any] = (),
    evidence: Sequence[Any] = (),
    label: bool | str = True,
) -> dict[str, Any]:
    return {
        "text": text,
        "claims": list(claims),
        "claims_factuality_label": list(labels),
        "auto_evidence": list(evidence),
        "sentence_factuality_label": label,
    }


def factcheck(
    response: str,
    *sentences: dict[str, Any],
    factuality: bool | str = False,
    prompt: str = "Who was Ada?",
) -> dict[str, Any]:
    return {
        "prompt": prompt,
        "response": response,
        "response_factuality": factuality,
        "sentences": {f"sentence{n}": one for n, one in enumerate(sentences, start=1)},
    }


def biography(output: str, *facts: tuple[Any, ...], relevant: bool = True) -> dict[str, Any]:
    return {
        "input": "Question: Tell me a bio of Ada.",
        "output": output,
        "annotations": [
            {
                "text": text,
                "is-relevant": relevant,
                "human-atomic-facts": None
                if found is None
                else [{"text": fact, "label": label} for fact, label in found],
            }
            for text, found in facts
        ],
    }


def test_factcheck_gpt_becomes_a_record_with_claims_labels_and_references(
    read: Callable[..., Any],
) -> None:
    (record,), told, _ = read(
        "factcheck_gpt",
        factcheck(
            "Ada Lovelace was born in 1815. 🙂 She wrote a poem in Rome. I hope this helps!",
            sentence(
                "Ada Lovelace was born in 1815.",
                ["Ada Lovelace was born.", "Ada was born in 1815."],
                [True, "unknown"],
                [["E1", " E2 "], ["E2", "", "E3"]],
            ),
            sentence("🙂 She wrote a poem in Rome.", ["Ada wrote in Rome."], [False], [[]], False),
            sentence("I hope this helps!", label="NA"),
            prompt="Who was Ada? \r",
        ),
    )
    assert told == []
    assert record == {
        "id": "factcheck_gpt-1",
        "model": "ChatGPT",
        "dataset": "factcheck_gpt",
        "question": "Who was Ada?",
        "response": record["response"],
        "label": False,
        "claims": [
            {"claim": "Ada Lovelace was born.", "label": True},
            {"claim": "Ada was born in 1815."},
            {"claim": "Ada wrote in Rome.", "label": False},
        ],
        "sentence_labels": [
            {"start": 0, "end": 30, "label": True},
            {"start": 31, "end": 58, "label": False},
        ],
        "reference_answers": ["E1", "E2", "E3"],
    }


def test_a_sentence_that_was_rewritten_has_no_place_and_a_repeated_one_its_own(
    read: Callable[..., Any],
) -> None:
    (record,), _, _ = read(
        "factcheck_gpt",
        factcheck(
            "It rained. It snowed. It RAINED",
            sentence("It rained.", ["a"], [True], [[]]),
            sentence("It rained.", ["b"], [True], [[]]),
            sentence("Rain was what fell.", ["c"], [True], [[]]),
        ),
    )
    places = [(one["start"], one["end"]) for one in record["sentence_labels"]]
    assert [record["response"][slice(*place)] for place in places] == ["It rained.", "It RAINED"]


def test_factscore_labels_and_score(read: Callable[..., Any]) -> None:
    (record,), told, _ = read(
        "factscore",
        biography(
            "Ada is an actor. She was born in Rome.",
            ("Ada is an actor.", [("Ada is a person.", "S"), ("Ada is an actor.", "NS")]),
            ("She was born in Rome.", [("Rome is in Italy.", "IR"), ("Ada was born.", "S")]),
        ),
        name="InstructGPT.v2.jsonl",
    )
    assert told == []
    assert record == {
        "id": "factscore-InstructGPT-1",
        "model": "InstructGPT",
        "dataset": "factscore",
        "question": "Question: Tell me a bio of Ada.",
        "response": "Ada is an actor. She was born in Rome.",
        "claims": [
            {"claim": "Ada is a person.", "label": True},
            {"claim": "Ada is an actor.", "label": False},
            {"claim": "Rome is in Italy."},
            {"claim": "Ada was born.", "label": True},
        ],
        "label": pytest.approx(2 / 3),
    }


def test_a_model_that_declined_has_no_claims_and_no_label(read: Callable[..., Any]) -> None:
    declined = {**biography("I'm sorry, I do not know."), "annotations": None}
    skipped = biography("Hm.", ("Hm.", None), relevant=False)
    records, _, _ = read("factscore", declined, skipped)
    assert [(record["claims"], "label" in record) for record in records] == [([], False)] * 2


BAD = [
    ("factscore", {"output": "  ", "input": "x"}, "found an empty text"),
    ("factscore", {"input": "x"}, "expected `output`, found only: input"),
    ("factscore", biography("A b.", ("A b.", [("x", "T")])), "S, NS or IR, found {'text': 'x'"),
    ("factscore", {**biography("A."), "annotations": ["x"]}, "hold objects, found text"),
    ("factscore", [1], "a record is a JSON object, not a list"),
    (
        "factcheck_gpt",
        {**factcheck("A."), "sentences": {"s": 1}},
        "`sentences` to hold objects, found a number",
    ),
    (
        "factcheck_gpt",
        factcheck("A.", sentence("A.", ["x"], [True, False])),
        "one of `claims_factuality_label` for each claim, found 2 for 1",
    ),
    (
        "factcheck_gpt",
        factcheck("A.", sentence("A.", ["x"], [True], [[{}]])),
        "`auto_evidence` to hold texts, found an object",
    ),
]
GOOD = {
    "factscore": biography("It rained.", ("It rained.", [("a", "S")])),
    "factcheck_gpt": factcheck("It rained."),
}


@pytest.mark.parametrize(("kind", "row", "message"), BAD)
def test_a_bad_line_is_reported_with_its_number_and_the_others_go_on(
    read: Callable[..., Any], kind: str, row: Any, message: str
) -> None:
    records, told, _ = read(kind, row, GOOD[kind], row)
    assert len(records) == 1
    assert [one.split(": ")[0].rsplit(":")[-1] for one in told] == ["1", "3"]
    assert all(message in one for one in told)


def test_a_file_of_another_format_is_one_error(read: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match=r"none of 2 records .*:1: expected `output`, found only"):
        read("factscore", GOOD["factcheck_gpt"], GOOD["factcheck_gpt"])
    for other in ("ufo", "begin"):
        with pytest.raises(UsageError, match=r"is of another format|expected `knowledge`"):
            read(other, GOOD["factcheck_gpt"])
    with pytest.raises(UsageError, match="has no records"):
        read("factscore")
    with pytest.raises(UsageError, match=r"unknown format 'factscor'.*Did you mean 'factscore'"):
        read("factscor", GOOD["factscore"])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    packed, binary = tmp_path / "M.jsonl.gz", tmp_path / "x.jsonl"
    packed.write_bytes(gzip.compress((json.dumps(GOOD["factscore"]) + "\n").encode()))
    (record,) = import_records("factscore", packed, [], Counter())
    assert record["model"] == "M"
    packed.write_bytes(packed.read_bytes()[:-12])
    binary.write_bytes(b"\xff\xfe\x00\n{\n")
    bad = ((tmp_path, "cannot read"), (tmp_path / "missing.jsonl", "cannot read"))
    for path, said in (*bad, (packed, "cannot read"), (binary, "none of 2 records")):
        with pytest.raises(UsageError, match=said):
            list(import_records("factscore", path, [], Counter()))


def test_a_data_set_of_the_demo_system(read: Callable[..., Any]) -> None:
    records, told, _ = read(
        "ufo",
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
        name="set/GPT4/test.jsonl",
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
    (record, _), told, _ = read(
        "ufo",
        {"response": "Python is old.", "reference_answers": ["No."], "output": [unit]},
        {"response": "R."},
        {"response": "R.", "output": ["x"]},
        {"response": "R.", "output": [{"claim": "x"}]},
        name="result.jsonl",
    )
    assert record["claims"] == [{"claim": "Python is old", "query": "How old?"}]
    assert ["found text" in told[0], "expected `claims`" in told[1]] == [True, True]


def test_the_first_release_has_other_names(read: Callable[..., Any]) -> None:
    (first, second), _, _ = read(
        "ufo",
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


def test_the_command_writes_records_and_says_what_it_leaves_out(tmp_path: Path, ufo: Any) -> None:
    source, target = tmp_path / "M.jsonl", tmp_path / "out.jsonl"
    row = {"input": "Who was Ada?", "output": "Adá 🙂.", "annotations": None}
    source.write_text(json.dumps(row) + "\n\n" + "{}\n", encoding="utf-8")
    done = ufo("import", "factscore", source)
    assert (done.code, done.json["response"]) == (0, "Adá 🙂.")
    assert f"left out {source}:3: expected `output`" in done.err
    assert done.err.endswith("1 record, 1 left out\n")
    told = ufo("import", "factscore", source, "--output", target)
    assert (told.code, told.out) == (0, "")
    assert target.read_text(encoding="utf-8") == done.out
    # One that fails leaves what was there.
    source.write_text("{}\n")
    for place, said in ((target, "none of 1 records"), (tmp_path / "no" / "x", "cannot write")):
        failed = ufo("import", "factscore", source, "--output", place)
        assert (failed.code, said in failed.err) == (2, True)
    assert target.read_text(encoding="utf-8") == done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["M.jsonl", "out.jsonl"]
