"""Facts and findings by any judge, and which judge is asked by prompts of recall."""

import asyncio
from collections.abc import Sequence
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from tests.transforms.scripted import ScriptedJudge, evidence
from ufo.schemas.records import FactUnit, Failure, InputRecord, Passage, RecallAnswer, RecallInput
from ufo.transforms.judges.judge import Draft, Drafts, Judged, JudgeSpec, Queries
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.recall.recallers import (
    LlmRecaller,
    Recaller,
    fact_units,
    make_recaller,
    open_units,
)
from ufo.transforms.sentences import segment
from ufo.transforms.sources.fact_source import Found, Retrieved

ANSWER = RecallAnswer("r1", "rag", "Ada was born.")
RECORD = RecallInput("f:1", "r1", "Who?", "Ada was born. She wrote.", [ANSWER], False, [])
FAILURE = Failure("extract", "r1", "cut", "cut off")
USAGE = usage_row("extract", None, "m", "r1")


def recaller(**said: Any) -> tuple[Recaller, Any]:
    judge = Mock(ScriptedJudge(), model="weights", remote=True, **said)
    judge.name = "mine"
    return Recaller(judge), judge


def test_facts_are_the_claims_of_the_ground_truth() -> None:
    drafts = Drafts([Draft(0, "Ada was born.", "?")], failures=[FAILURE], usage=[USAGE])
    asked, judge = recaller(extract=AsyncMock(return_value=drafts))
    made = asyncio.run(asked.generate(RECORD))
    text = RECORD.ground_truth
    response = InputRecord("f:1", "r1", text, question="Who?")
    judge.extract.assert_awaited_once_with(response, segment(text))
    assert made.facts == ["Ada was born."]
    assert made.failures == [FAILURE]
    assert made.usage == [USAGE]


def test_an_answer_is_the_passage_of_each_fact() -> None:
    unit = FactUnit("r1", "u", None, "Ada was born.", "Born?", None)
    row = evidence(unit, "tf", None, 1, "error")
    judged = Judged([row], failures=[FAILURE], usage=[USAGE])
    asked, judge = recaller(
        queries=AsyncMock(return_value=Queries(["Born?"])), verify=AsyncMock(return_value=judged)
    )
    made = asyncio.run(asked.verify(RECORD, ANSWER, ["Ada was born."], "tf"))
    units, formulation, passages = judge.verify.await_args.args
    assert units == open_units(RECORD, ANSWER, ["Ada was born."], ["Born?"])
    assert formulation == "tf"
    assert passages == [Found([Retrieved(Passage("Ada was born."))])]
    (finding,) = made.findings
    for name in ("outcome", "reason", "answer", "rationale", "citation"):
        assert getattr(finding, name) == getattr(row, name)
    assert made.failures == [FAILURE]
    assert made.usage == [USAGE]


def test_the_judge_is_opened_and_closed_and_has_no_prompts() -> None:
    asked, judge = recaller()
    assert asked.model is None
    asked.open()
    judge.open.assert_called_once_with()
    assert asked.model == "weights"
    assert asked.name == "mine"
    assert asked.remote
    assert asked.prompt_version("tf") is None
    asked.close()
    judge.close.assert_called_once_with()


@pytest.mark.parametrize(("queries", "asked"), [((), ["", ""]), (["a?", "b?"], ["a?", "b?"])])
def test_facts_are_units_with_or_without_queries(queries: Sequence[str], asked: list[str]) -> None:
    units = fact_units("r1", ["a", "b"], queries)
    assert [unit.query for unit in units] == asked
    assert [unit.claim for unit in units] == ["a", "b"]
    assert [unit.response_id for unit in units] == ["r1", "r1"]
    assert len({unit.unit_id for unit in units}) == 2


def test_an_answer_has_open_units_of_its_text_and_question() -> None:
    found = open_units(RECORD, ANSWER, ["a"])
    assert found.response_id == "r1"
    assert found.text == "Ada was born."
    assert found.question == "Who?"
    assert found.units == fact_units("r1", ["a"])


LLM, CLIENT = LlmSettings("m"), ClientSettings({})


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        pytest.param(JudgeSpec("llm", "llm", llm=LLM, client=CLIENT), LlmRecaller, id="the LLM"),
        pytest.param(JudgeSpec(llm=LLM, client=CLIENT), Recaller, id="another judge"),
        pytest.param(
            JudgeSpec("llm", "llm", llm=LLM, instance=ScriptedJudge(), client=CLIENT),
            Recaller,
            id="an object",
        ),
        pytest.param(JudgeSpec(), Recaller, id="without settings"),
    ],
)
def test_the_llm_judge_is_asked_by_prompts_of_recall(spec: JudgeSpec, kind: type) -> None:
    assert type(make_recaller(spec, ("tf",))) is kind
