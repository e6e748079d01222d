"""Facts and verdicts by any judge, and which judge is asked by prompts of recall."""

import asyncio
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from tests.transforms.scripted import ScriptedJudge, evidence
from ufo.schemas.records import FactUnit, Failure, InputRecord, Passage, RecallAnswer, RecallInput
from ufo.transforms.judges.by_name import JudgeSpec
from ufo.transforms.judges.judge import Draft, Drafts, Judged, Queries
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.recall.recallers import FactJudge, Recalled, Recaller, make_recaller, recall
from ufo.transforms.sentences import segment
from ufo.transforms.sources.fact_source import Found, Retrieved

ANSWER = RecallAnswer("r1", "rag", "Ada was born.")
RECORD = RecallInput("f:1", "r1", "Who?", "Ada was born. She wrote.", [ANSWER], False, [])
USAGE = usage_row("extract", None, "m", "r1")


def verify_row(open_units: Any, source: str, found: Any) -> Judged:
    """The judgement that a passage refutes the one unit of a response."""
    (unit,) = open_units.units
    failures = [Failure("verify", "r1", "cut", "cut off"), Failure("verify", "u", "cut", "cut off")]
    return Judged([evidence(unit, source, None, 1, "refuted")], failures=failures, usage=[USAGE])


def asked() -> tuple[Recalled, Any]:
    """Recall one record by a judge that finds one claim."""
    failure = Failure("extract", "r1", "cut", "cut off")
    drafts = Drafts([Draft(0, "Ada was born.", "?")], failures=[failure], usage=[USAGE])
    judge = Mock(
        ScriptedJudge(),
        model="weights",
        remote=True,
        prompt_version=None,
        extract=AsyncMock(return_value=drafts),
        queries=AsyncMock(return_value=Queries(["Born?"], usage=[USAGE])),
        verify=AsyncMock(side_effect=verify_row),
    )
    judge.name = "mine"
    return asyncio.run(recall(RECORD, Recaller(judge, {"tf": judge}))), judge


def test_facts_are_the_claims_of_the_ground_truth() -> None:
    recalled, judge = asked()
    text = RECORD.ground_truth
    response = InputRecord("f:1", "r1", text, question="Who?")
    judge.extract.assert_awaited_once_with(response, segment(text))
    assert [row.fact for row in recalled.facts] == ["Ada was born."]
    assert recalled.failures[0].step == "extract"
    assert len(recalled.usage) == 3


def test_an_answer_is_the_passage_of_each_fact() -> None:
    recalled, judge = asked()
    open_units, formulation, passages = judge.verify.await_args.args
    (fact,) = recalled.facts
    assert open_units.text == ANSWER.text
    assert open_units.question == "Who?"
    assert open_units.units == [FactUnit("r1", fact.fact_id, None, fact.fact, "Born?", None)]
    assert formulation == "tf"
    assert passages == [Found([Retrieved(Passage("Ada was born."))])]


def test_a_verdict_is_the_evidence_of_its_judge() -> None:
    recalled, _ = asked()
    (row,) = recalled.verdicts
    assert (row.outcome, row.label) == ("refuted", 0)
    assert (row.judge, row.model, row.prompt_version) == ("mine", "weights", None)
    assert row.fact_id == recalled.facts[0].fact_id


def test_a_failure_has_the_key_of_its_answer_or_of_its_own() -> None:
    recalled, _ = asked()
    assert [row.key for row in recalled.failures[1:]] == ["r1/rag/tf", "u"]


LLM, CLIENT = LlmSettings("m"), ClientSettings({})


@pytest.mark.parametrize(
    ("spec", "by_prompts"),
    [
        pytest.param(JudgeSpec("llm", "llm", llm=LLM, client=CLIENT), True, id="the LLM"),
        pytest.param(JudgeSpec(llm=LLM, client=CLIENT), False, id="another judge"),
        pytest.param(
            JudgeSpec("llm", "llm", llm=LLM, instance=ScriptedJudge(), client=CLIENT),
            False,
            id="an object",
        ),
        pytest.param(JudgeSpec(), False, id="without settings"),
    ],
)
def test_the_llm_judge_is_asked_by_prompts_of_recall(spec: JudgeSpec, by_prompts: bool) -> None:
    recaller = make_recaller(spec, ("tf",))
    for judge in (recaller.extractor, recaller.judges["tf"]):
        assert isinstance(judge, FactJudge) is by_prompts
