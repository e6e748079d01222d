"""Models that are trained to judge are asked in their own form, and cannot contradict."""

import asyncio
from dataclasses import replace
from math import exp
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.transforms.judges.llm.scripted import open_units, passages, record, verify
from ufo.pipelines.options.command_line import settings_of
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Evidence
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings, formulation_of
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, Message
from ufo.transforms.sentences import segment

BORN, PASSAGE = "Ada was born in 1815.", "Ada Lovelace was born in London in 1815."
MODELS = {
    "bespoke-minicheck": "minicheck",
    "bespoke-minicheck:7b-q8_0": "minicheck",
    "bespokelabs/Bespoke-MiniCheck-7B": "minicheck",
    "granite3-guardian:8b": "granite_guardian",
    "ibm/granite3.3-guardian:8b": "granite_guardian",
    "ibm-granite/granite-guardian-3.3-8b": "granite_guardian",
    "PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct": "lynx",
    "qwen2.5:7b": "function",
    "granite3.3:8b": "function",
}


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_known_by_its_name(model: str) -> None:
    assert formulation_of(model) == MODELS[model]
    options: dict[str, Any] = {"judge": "llm", "base_url": "http://localhost:1/v1", "model": model}
    for named, formulation in ({}, MODELS[model]), ({"formulation": "prompt"}, "prompt"):
        settings = settings_of({"input": "x", "output": "y", **options, **named}).llm()
        assert settings is not None
        assert settings.formulation == formulation


def asked(reply: Any, formulation: str, **settings: Any) -> tuple[Evidence, FakeClient]:
    """Return the judgement on a claim by a passage, of a model that says this."""
    units = open_units([BORN])
    verified = verify([reply], units, [passages(PASSAGE)], formulation=formulation, **settings)
    (row,) = verified.result.evidence
    return row, verified.client


@pytest.mark.parametrize(
    ("formulation", "reply", "supported"),
    [
        pytest.param("minicheck", "Yes", True, id="minicheck, yes"),
        pytest.param("minicheck", " no.", False, id="minicheck, no"),
        pytest.param("minicheck", "YES\n", True, id="minicheck, in capitals"),
        pytest.param("minicheck", "Answer: Yes", True, id="minicheck, named"),
        pytest.param("minicheck", '{"answer": "No"}', False, id="minicheck, JSON"),
        pytest.param("granite_guardian", "No", True, id="granite, no risk"),
        pytest.param("granite_guardian", "Yes", False, id="granite, a risk"),
        pytest.param("granite_guardian", "<score> no </score>", True, id="granite 3.3, no risk"),
        pytest.param("granite_guardian", "<score>yes</score>", False, id="granite 3.3, a risk"),
        pytest.param(
            "granite_guardian", "No\n<confidence> High </confidence>", True, id="granite 3.2"
        ),
        pytest.param("lynx", '{"REASONING": ["So.", "Yes."], "SCORE": "PASS"}', True, id="lynx"),
        pytest.param("lynx", '{"REASONING": "So.", "SCORE": FAIL}', False, id="lynx, no quotes"),
        pytest.param("lynx", "{'REASONING': ['So'], 'SCORE': 'fail'}", False, id="lynx, Python"),
        pytest.param("lynx", '{"REASONING": ["So"], "SCORE": "PASS"', True, id="lynx, not closed"),
        pytest.param("lynx", '{"REASONING": ["So"], "SCORE": ["FAIL."]}', False, id="lynx, list"),
    ],
)
@pytest.mark.parametrize(("labels", "other"), [("tfn", "noans"), ("tf", "refuted")])
def test_what_is_not_supported_is_noans_or_with_two_labels_refuted(
    formulation: str, reply: str, supported: bool, labels: str, other: str
) -> None:
    row, client = asked(reply, formulation, verdict_labels=labels)
    assert row.outcome == ("supported" if supported else other)
    assert len(client.requests) == 1
    assert bool(row.rationale) is (formulation == "lynx")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ('{"REASONING": - It is said\n- so, "SCORE": PASS}', "supported"),
        ("SCORE: FAIL", "noans"),
        ("FAIL", "noans"),
        ("SCORE: FAIL\nSCORE: PASS", "error"),
    ],
)
def test_a_score_of_lynx_without_json_has_no_reasoning(reply: str, outcome: str) -> None:
    row, _ = asked(reply, "lynx")
    assert row.outcome == outcome
    assert row.rationale is None


@pytest.mark.parametrize("reply", ["Yes or No", "Yes/No", "No. Yes"])
def test_both_words_are_no_answer(reply: str) -> None:
    assert asked(reply, "minicheck")[0].outcome == "error"


@pytest.mark.parametrize("formulation", ["minicheck", "granite_guardian", "lynx"])
@pytest.mark.parametrize("reply", ["Perhaps", "", "Nothing", Choice("Yes", finish_reason="length")])
def test_another_reply_is_an_error_and_is_not_asked_again(formulation: str, reply: Any) -> None:
    row, client = asked(reply, formulation)
    assert row.outcome == "error"
    assert len(client.requests) == 1


@pytest.mark.parametrize(
    ("formulation", "text", "probability"),
    [
        pytest.param("minicheck", "Yes", exp(-0.1), id="of yes"),
        pytest.param("minicheck", "No", 1 - exp(-0.1), id="of no"),
        pytest.param("granite_guardian", "No", exp(-0.1), id="of no risk"),
        pytest.param("granite_guardian", "Yes", 1 - exp(-0.1), id="of a risk"),
        pytest.param("granite_guardian", "<score> no </score>", None, id="of several words"),
        pytest.param("granite_guardian", "<score>no</score>", None, id="of words and tags"),
    ],
)
def test_the_probability_of_support_is_that_of_the_word(
    formulation: str, text: str, probability: float | None
) -> None:
    row, client = asked(Choice(text, logprob_mean=-0.1), formulation)
    assert row.probability == (probability and pytest.approx(probability))
    assert client.requests[0].logprobs
    assert asked(Choice(text), formulation)[0].probability is None


@pytest.mark.parametrize(
    ("model", "role"),
    [
        ("granite3-guardian:8b", "context"),
        ("ibm-granite/granite-guardian-3.2-5b", "context"),
        ("ibm/granite3.3-guardian:8b", "document"),
        ("ibm-granite/granite-guardian-3.3-8b", "document"),
    ],
)
def test_the_messages_of_granite_guardian(model: str, role: str) -> None:
    client = FakeClient(["No"])
    judge = LlmJudge(
        JudgeContext(LlmSettings(model, formulation="granite_guardian"), lambda: client)
    )
    asyncio.run(judge.verify(open_units([BORN]), "s", [passages(PASSAGE)]))
    assert client.requests[0].messages == [
        Message("system", "groundedness"),
        Message(role, PASSAGE),
        Message("assistant", BORN),
    ]


def test_the_message_of_minicheck() -> None:
    _, client = asked("Yes", "minicheck")
    assert client.requests[0].messages == [Message("user", f"Document: {PASSAGE}\nClaim: {BORN}")]


TEXT = "Marie Curie was born in Warsaw in 1867. She was born in 1868. Curie discovered radium."
FOUND = ("Marie Curie was born in Warsaw in 1867.", "The Rhine flows into the North Sea.")


async def judged(server: LlmServer, model: str) -> tuple[list[str], list[Evidence]]:
    client = OpenAiClient(ClientSettings(endpoints(model, server.base_url)))
    settings = LlmSettings(model, formulation=formulation_of(model))
    judge = LlmJudge(JudgeContext(settings, lambda: client))
    try:
        drafts = (await judge.extract(record(TEXT), segment(TEXT))).drafts
        units = open_units([draft.claim for draft in drafts], TEXT)
        rows = (await judge.verify(units, "s", [passages(*FOUND) for _ in drafts])).evidence
    finally:
        await client.aclose()
    return [draft.claim for draft in drafts], rows


@pytest.mark.parametrize(
    "model", ["bespoke-minicheck", "granite3-guardian", "ibm/granite3.3-guardian", "patronus-lynx"]
)
def test_such_a_model_judges_the_claims_that_rules_find(model: str) -> None:
    with LlmServer(keys=None, models=[model]) as server:
        server.switches = replace(server.switches, any_role=True)
        claims, rows = asyncio.run(judged(server, model))
        steps = {entry.step for entry in server.chats}
    rules = asyncio.run(OfflineJudge().extract(record(TEXT), segment(TEXT))).drafts
    assert claims == [draft.claim for draft in rules]
    units = open_units(claims, TEXT)
    expected = asyncio.run(OfflineJudge().verify(units, "s", [passages(*FOUND) for _ in claims]))
    supported = [row.outcome == "supported" for row in expected.evidence]
    assert [row.outcome == "supported" for row in rows] == supported
    assert {row.outcome for row in rows} == {"supported", "noans"}
    assert len(steps) == 2  # the probe, and the judgements
    in_a_word = model in ("bespoke-minicheck", "granite3-guardian")
    assert all((row.probability is not None) is in_a_word for row in rows)


def test_another_model_extracts_if_it_is_named() -> None:
    client = FakeClient([{"facts": [], "no_claim": [1]}])
    settings = LlmSettings("m", "qwen2.5:7b", "minicheck")
    judge = LlmJudge(JudgeContext(settings, lambda: client))
    asyncio.run(judge.extract(record("It rains."), segment("It rains.")))
    assert [request.model for request in client.requests] == ["qwen2.5:7b"]


@pytest.mark.parametrize("formulation", ["minicheck", "granite_guardian", "lynx"])
def test_such_a_model_is_not_asked_as_published_by_others(formulation: str) -> None:
    with pytest.raises(UsageError, match="leave out --as_published"):
        asked("Yes", formulation, as_published=True)
