"""Inputs in the columns of other tools: the `--map` that is proposed works when it is given."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import ok, ufo
from ufo.schemas.records import InputRecord
from ufo.transforms.read import named_columns, parse

ANSWER = "Oslo is the capital of Norway."
TRUTH = "Oslo has been the capital of Norway since 1814."
ASKED = "What is the capital of Norway?"
CHAT = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": ANSWER}]
REPLY = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}

RECORDS: dict[str, tuple[dict[str, Any], str]] = {
    "DeepEval": (
        {"input": ASKED, "actual_output": ANSWER, "retrieval_context": [TRUTH]},
        "response=actual_output,question=input,reference_answers=retrieval_context",
    ),
    "DeepEval with all": (
        {
            "name": None,
            "input": ASKED,
            "actual_output": ANSWER,
            "expected_output": "Oslo.",
            "context": [TRUTH],
            "retrieval_context": [TRUTH],
        },
        "response=actual_output,question=input,reference_answers=retrieval_context",
    ),
    "DeepEval without passages": (
        {"input": ASKED, "actual_output": ANSWER, "expected_output": TRUTH},
        "response=actual_output,question=input,reference_answers=expected_output",
    ),
    "Ragas of old": (
        {"question": ASKED, "answer": ANSWER, "contexts": [TRUTH], "ground_truth": "Oslo."},
        "response=answer,reference_answers=contexts",
    ),
    "Ragas of old without contexts": (
        {"question": ASKED, "answer": ANSWER, "ground_truths": [TRUTH]},
        "response=answer,reference_answers=ground_truths",
    ),
    "promptfoo": (
        {"vars": {"question": ASKED}, "output": ANSWER, "success": True},
        "response=output,question=vars.question",
    ),
    "promptfoo, a result": (
        {
            "vars": {"query": ASKED, "context": TRUTH},
            "response": {"output": ANSWER, "tokenUsage": {"total": 12}},
            "score": 1,
        },
        "response=response.output,question=vars.query,reference_answers=vars.context",
    ),
    "lm-evaluation-harness": (
        {
            "doc_id": 0,
            "doc": {"question": ASKED, "answer": TRUTH},
            "target": TRUTH,
            "arguments": [[ASKED, {"until": ["\n"]}]],
            "resps": [[ANSWER]],
            "filtered_resps": [ANSWER],
        },
        "response=filtered_resps[0],question=doc.question,reference_answers=target",
    ),
    "lm-evaluation-harness without filters": (
        {"doc": {"question": ASKED, "answer": TRUTH}, "target": 3, "resps": [[ANSWER]]},
        "response=resps[0][0],question=doc.question,reference_answers=doc.answer",
    ),
    "HELM": (
        {
            "instance": {"id": "id1"},
            "request": {"prompt": ASKED},
            "result": {"completions": [{"text": ANSWER, "logprob": -1.5}]},
        },
        "response=result.completions[0].text,question=request.prompt",
    ),
    "OpenAI evals": (
        {"input": CHAT[:1], "ideal": TRUTH, "sampled": [ANSWER]},
        "response=sampled[0],question=input[-1].content,reference_answers=ideal",
    ),
    "OpenAI evals, an event": (
        {"type": "sampling", "data": {"prompt": CHAT[:1], "sampled": [ANSWER]}},
        "response=data.sampled[0],question=data.prompt[-1].content",
    ),
    "OpenAI, a completion": (
        {"object": "chat.completion", "model": "m", "choices": [REPLY]},
        "response=choices[0].message.content",
    ),
    "OpenAI, a line of a batch": (
        {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": [REPLY]}}},
        "response=response.body.choices[0].message.content",
    ),
    "a chat": ({"messages": CHAT}, "response=messages[-1].content,question=messages[-2].content"),
    "a chat in parts": (
        {"messages": [CHAT[0], CHAT[1] | {"content": [{"type": "text", "text": ANSWER}]}]},
        "response=messages[-1].content[0].text,question=messages[-2].content",
    ),
    "MLflow": (
        {"inputs": ASKED, "outputs": ANSWER, "targets": TRUTH},
        "response=outputs,question=inputs,reference_answers=targets",
    ),
    "MLflow, objects": (
        {
            "inputs": {"question": ASKED},
            "outputs": {"response": ANSWER},
            "expectations": {"expected_response": TRUTH},
        },
        "response=outputs.response,question=inputs.question,"
        "reference_answers=expectations.expected_response",
    ),
    "MLflow, predictions": (
        {"inputs": ASKED, "predictions": ANSWER, "targets": [TRUTH]},
        "response=predictions,question=inputs,reference_answers=targets",
    ),
    "a prediction": (
        {"prediction": ANSWER, "prompt": ASKED},
        "response=prediction,question=prompt",
    ),
    "vLLM": (
        {"prompt": ASKED, "outputs": [{"index": 0, "text": ANSWER}]},
        "response=outputs[0].text,question=prompt",
    ),
    "a generation": ({"generation": ANSWER}, "response=generation"),
    "Hugging Face": ({"generated_text": ANSWER}, "response=generated_text"),
    "a completion": (
        {"prompt": ASKED, "completion": ANSWER},
        "response=completion,question=prompt",
    ),
    "Inspect": (
        {
            "id": 1,
            "input": ASKED,
            "target": TRUTH,
            "messages": CHAT,
            "output": {"model": "m", "choices": [REPLY], "completion": ANSWER},
        },
        "response=output.completion,question=input,reference_answers=target",
    ),
    "Inspect, a chat": (
        {"input": CHAT[:1], "target": [TRUTH], "output": {"completion": ANSWER}},
        "response=output.completion,question=input[-1].content,reference_answers=target",
    ),
    "passages with titles": (
        {"query": ASKED, "answer": ANSWER, "documents": [{"title": "Oslo", "text": TRUTH}]},
        "response=answer,question=query,reference_answers=documents[0].text",
    ),
    "a question in an object": (
        {"response": ANSWER, "question": {"text": ASKED}},
        "question=question.text",
    ),
    "an object with one text": ({"output": {"said": ANSWER, "n": 1}}, "response=output.said"),
}  # fmt: skip


def advice_in(message: str) -> str:
    """Return the value of the `--map` that a message proposes."""
    match = re.search(r"did you mean --map (.*?)\?", message)
    assert match, message
    words = shlex.split(match[1])
    assert len(words) == 1
    return words[0]


@pytest.mark.parametrize(("record", "advice"), RECORDS.values(), ids=RECORDS)
def test_the_columns_of_a_tool_are_proposed_and_give_texts(
    record: dict[str, Any], advice: str
) -> None:
    line = json.dumps(record).encode()
    failure = parse("in:1", line)
    assert not isinstance(failure, InputRecord), "nothing is mapped unless it is said"
    assert advice_in(failure.message) == advice
    read = parse("in:1", line, columns=named_columns(advice))
    assert isinstance(read, InputRecord)
    assert read.text == ANSWER
    assert read.question in (ASKED, None)
    assert read.references in ([TRUTH], [])
    assert ("question=" in advice or "question" in record) == (read.question == ASKED)
    assert ("reference_answers=" in advice) == (read.references == [TRUTH])


@pytest.mark.parametrize(
    "tool", ["DeepEval", "lm-evaluation-harness", "promptfoo, a result", "a chat", "Inspect"]
)
def test_an_input_is_evaluated_without_failures_by_the_map_that_is_proposed(
    tmp_path: Path, tool: str
) -> None:
    path, output = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text(f"{json.dumps(RECORDS[tool][0])}\n")
    command = ("evaluate", "--input", path, "--output", output, "--judge", "offline")
    refused = ufo(*command, "--sources", "reference")
    assert refused.code == 1
    done = ok(*command, "--sources", "reference", "--map", advice_in(refused.err), "--json")
    assert (done.json["responses"], done.json["failures"]) == (1, 0)


def test_a_path_beside_the_right_one_is_answered_with_that_one(tmp_path: Path) -> None:
    path, output = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text(json.dumps({"resps": [[ANSWER]]}))
    command = ("evaluate", "--input", path, "--output", output, "--judge", "offline")
    refused = ufo(*command, "--map", "response=resps[0]")
    assert advice_in(refused.err) == "response=resps[0][0]"
    refused = ufo(*command, "--map", "response=resps[1][0]")
    assert "Did you mean 'resps[0][0]'?" in refused.err


def test_a_cell_of_json_is_looked_into(tmp_path: Path) -> None:
    path, output = tmp_path / "in.csv", tmp_path / "out"
    path.write_text('id,outputs\na,"{""answer"": ""Oslo is a city.""}"\n')
    command = ("evaluate", "--input", path, "--output", output, "--judge", "offline")
    advice = advice_in(ufo(*command).err)
    assert advice == "response=outputs.answer"
    assert ok(*command, "--map", advice, "--json").json["failures"] == 0
