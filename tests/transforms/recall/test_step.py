"""The step with a scripted model: facts in one call, an answer's facts in one, N/A never hidden."""

import asyncio
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from ufo.schemas.errors import UsageError
from ufo.schemas.records import RecallAnswer, RecallInput, RecallLabel, RecallRecord
from ufo.transforms.judges.llm.asking import SHORT_REPLY
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError
from ufo.transforms.llm.tokens import count
from ufo.transforms.loop import run_now
from ufo.transforms.prompts import load_prompts
from ufo.transforms.recall.formulations import DEFAULT, KNOWN, canonical
from ufo.transforms.recall.recallers import Recalled, Recaller, llm_recaller, recall

T, F = "True", "False"
OFFLINE = Recaller(OfflineJudge(), {"offline": OfflineJudge()})
FACTS = ["Ada was born in 1815.", "Ada wrote notes.", "Ada liked trains."]


def record(with_facts: bool = True, **fields: Any) -> RecallInput:
    texts = fields.pop("answers", {"rag": "Ada was born in 1815."})
    answers = [RecallAnswer("r1", *item) for item in texts.items()]
    first_fields = ("file:1", "r1", "Who was Ada?", "Ada was born in 1815. She wrote notes.")
    facts = fields.pop("facts", FACTS if with_facts else [])
    return RecallInput(*first_fields, answers, with_facts, facts, **fields)


def asked(
    script: Any, what: RecallInput, *formulations: str, **settings: Any
) -> tuple[Recalled, FakeClient]:
    client = FakeClient(script)
    recaller = llm_recaller(LlmSettings("m", **settings), formulations, lambda: client)
    return asyncio.run(recall(what, recaller)), client


def outcomes(recalled: Recalled) -> list[tuple[Any, ...]]:
    return [(row.outcome, row.label, row.reason, row.first_reason) for row in recalled.verdicts]


def test_of_a_list_that_breaks_off_twice_the_longer_is_used_and_the_rest_is_a_failure() -> None:
    lists = (json.dumps({"facts": FACTS[:n]})[:-2] + ', "Ada' for n in (2, 1))
    cut_off = [Choice(arguments=text, finish_reason="length") for text in lists]
    recalled, _ = asked(cut_off, record(with_facts=False))
    assert [row.fact for row in recalled.facts] == FACTS[:2]
    (failure,) = recalled.failures
    assert failure.step == "facts"
    assert failure.error_type == "truncated"
    assert "the last of the facts" in failure.message


def test_the_rows_of_a_record() -> None:
    recalled, _ = asked([{"fact_1": T, "fact_2": F, "fact_3": F}], record(), "tf")
    truth = "Ada was born in 1815. She wrote notes."
    assert recalled.record == RecallRecord("r1", "Who was Ada?", truth, 3, 1, True)
    assert [row.text for row in recalled.answers] == ["Ada was born in 1815."]
    facts = [(row.record_id, row.fact_index, row.fact) for row in recalled.facts]
    assert facts == [("r1", at, fact) for at, fact in enumerate(FACTS)]
    assert [row.fact_id for row in recalled.verdicts] == [row.fact_id for row in recalled.facts]
    (row, *_) = recalled.verdicts
    assert row.record_id == "r1"
    assert row.variant == "rag"
    assert row.formulation == "tf"
    assert row.judge == "llm"
    assert row.model == "m"
    assert row.prompt_version
    assert len(recalled.usage) == 1


@pytest.mark.parametrize(
    ("quote", "is_found"), [("born in 1815", True), ("born in 1816", False), ("", None)]
)
def test_a_quote_is_looked_for_in_the_answer(quote: str, is_found: bool | None) -> None:
    reply = {f"fact_{n}": T for n in (1, 2, 3)}
    reply |= {f"fact_{n}_text_evidence": quote for n in (1, 2, 3)}
    recalled, _ = asked([reply], record(), "tf+citation", repairs=0)
    assert recalled.verdicts[0].citation_found is is_found


def test_without_facts_nobody_is_asked_and_without_formulations_an_answer_is_not_missed() -> None:
    recalled, client = asked([], record(facts=[]), "tf")
    assert recalled.verdicts == []
    assert client.requests == []
    assert asked([], record(answers={}))[0].failures == []


def test_an_error_beside_the_model_is_a_failure_of_its_answer_and_formulation() -> None:
    recalled, _ = asked([RuntimeError("broken")], record(), "tf")
    (failure,) = recalled.failures
    assert failure.step == "verify"
    assert failure.key == "r1/rag/tf"
    assert failure.message == "error in judge llm: RuntimeError: broken"


VOID = yaml.safe_load(Path(__file__).with_name("void.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("void", VOID.values(), ids=VOID)
def test_a_value_of_another_type_voids_the_call(void: Any) -> None:
    good = {"fact_1": T, "fact_2": F, "fact_3": F}
    recalled, client = asked([void, good], record(), "tf")
    verdicts = [(row.outcome, row.label, row.first_reason) for row in recalled.verdicts]
    expected = [("supported", 1), ("refuted", 0), ("refuted", 0)]
    assert verdicts == [(*one, "unparsable") for one in expected]
    assert "it lacked a value of the allowed ones" in client.requests[1].messages[0].content
    lost, client = asked([void, void], record(), "tf")
    assert set(outcomes(lost)) == {("error", None, "unparsable", "unparsable")}
    assert [(row.step, row.key) for row in lost.failures] == [("verify", "r1/rag/tf")]
    # A void call costs its facts alone.
    replies = [{"fact_1": T, "fact_2": F}, {"fact_1": True}]
    part, _ = asked(replies, record(), "tf", repairs=0, facts_per_call=2)
    assert [row[1] for row in outcomes(part)] == [1, 0, None]


def test_a_refusal_and_a_lost_connection_are_no_verdicts() -> None:
    refused = Choice(refusal="I will not.", finish_reason="stop")
    recalled, _ = asked([refused, refused, refused], record(), "tf")
    assert {row[1:3] for row in outcomes(recalled)} == {(None, "refused")}
    lost, _ = asked([LlmError("gone", "transport")], record(), "tf")
    assert {row[1:] for row in outcomes(lost)} == {(None, "transport", "transport")}
    with pytest.raises(LlmError):
        asked([LlmError("wrong key", final=True)], record(), "tf")
    broken, _ = asked([RuntimeError("broken")], record(), "tf")
    assert {row[1:] for row in outcomes(broken)} == {(None, "exception", "exception")}
    assert [row.error_type for row in broken.failures] == ["RuntimeError"]


def test_an_empty_answer_says_nothing_and_nobody_is_asked() -> None:
    recalled, client = asked([], record(answers={"silent": " "}), "tf", "prompt")
    assert set(outcomes(recalled)) == {("noans", 0, "no_passages", None)}
    assert len(recalled.verdicts) == 6
    assert client.requests == []


def test_a_record_without_an_answer_is_reported() -> None:
    recalled, _ = asked([], record(answers={}), "tf")
    assert [(row.key, row.error_type) for row in recalled.failures] == [("file:1", "no_answers")]


def test_a_label_of_people_is_that_of_its_answer_and_fact() -> None:
    labels = [RecallLabel("rag", 0, 1), RecallLabel("rag", 1, 0), RecallLabel("poor", 0, 0)]
    what = record(answers={"rag": "Ada.", "poor": " "}, labels=labels)
    recalled, _ = asked([{"fact_1": T, "fact_2": T, "fact_3": F}], what, "tf")
    human = [(row.variant, row.label) for row in recalled.verdicts if row.formulation == "human"]
    assert human == [("rag", 1), ("rag", 0), ("poor", 0)]
    beside = [row.human_label for row in recalled.verdicts if row.formulation == "tf"]
    assert beside == [1, 0, None, 0, None, None]


def test_facts_are_made_by_prompts_of_their_own_as_published() -> None:
    plain, published = (
        llm_recaller(LlmSettings("m", as_published=as_published), [], lambda: FakeClient([]))
        for as_published in (False, True)
    )
    assert len({plain.facts_version, published.facts_version}) == 2
    assert len(plain.facts_version or "") == len(published.facts_version or "") == 12


NAMES = ["generate_facts_system", "generate_facts_user", "function_facts", "argument_fact"]


@pytest.mark.parametrize(
    ("name", "published", "changes"),
    [
        *((name, False, True) for name in (*NAMES, "argument_facts", "repair")),
        ("faaf_facts_user", True, True),
        ("repair", True, True),
        ("function_facts", True, False),
    ],
)
def test_the_version_of_facts_is_that_of_each_prompt_for_them(
    tmp_path: Path, name: str, published: bool, changes: bool
) -> None:
    text = load_prompts()[name]
    (tmp_path / f"{name}.txt").write_text(f"{text} And so on.")
    plain, changed = (
        llm_recaller(LlmSettings("m", prompts_dir=folder, as_published=published), [], Mock())
        for folder in (None, str(tmp_path))
    )
    assert (plain.facts_version != changed.facts_version) is changes


@pytest.mark.parametrize("published", [False, True], ids=["a function", "as published"])
def test_facts_are_asked_for_with_room_for_twice_their_text(published: bool) -> None:
    reply = "- Ada was." if published else {"facts": ["Ada was."]}
    recalled, client = asked([reply], record(with_facts=False), as_published=published)
    assert [row.fact for row in recalled.facts] == ["Ada was."]
    (sent,) = client.requests
    assert (sent.function is None) is published
    assert sent.expects == 2 * count(record().ground_truth) + SHORT_REPLY


def test_what_the_offline_judge_cannot_read_stays_unanswered() -> None:
    text = "Ada wurde im Jahr 1815 geboren, und sie schrieb viele Bemerkungen über die Maschine."
    german = record(answers={"rag": text})
    recalled = run_now(recall(german, OFFLINE))
    assert {row[:3] for row in outcomes(recalled)} == {("noans", None, "unsupported_language")}


# --- names of formulations ---


def test_names_are_written_one_way_and_each_comes_once() -> None:
    names = ["T/F/N+citation", "tfn+citation", "prompt", "tf+xml+citation"]
    assert canonical(names) == ("tfn+citation", "prompt", "tf+citation+xml")
    assert canonical(KNOWN) == KNOWN
    in_tags = ("tf+xml", "tf+citation+xml", "tfn+xml", "tfn+citation+xml")
    assert canonical(DEFAULT, "xml") == ("prompt", *in_tags)


@pytest.mark.parametrize(
    "name", ["", "function", "prompt+citation", "prompt+xml", "tf+", "tf+cite"]
)
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"unknown formulation .* allowed: prompt, tf, "):
        canonical([name])


ABSTAINS = record(answers={"rag": "I do not know.", "base": "Ada was born in 1815."})


def test_an_answer_that_abstains_has_no_label_and_is_not_asked_about() -> None:
    reply = Choice(arguments=json.dumps({f"fact_{at}": T for at in (1, 2, 3)}))
    recalled, client = asked([reply], ABSTAINS, "tf")
    rows = [(row.variant, row.label, row.reason) for row in recalled.verdicts]
    assert rows[:3] == [("rag", None, "abstained")] * 3
    assert [variant for variant, *_ in rows[3:]] == ["base"] * 3
    assert len(client.requests) == 1


def test_as_published_an_answer_that_abstains_is_asked_about() -> None:
    reply = Choice(arguments=json.dumps({f"fact_{at}": F for at in (1, 2, 3)}))
    recalled, client = asked([reply, reply], ABSTAINS, "tf", as_published=True, repairs=0)
    assert len(client.requests) == 2
    assert "abstained" not in {row.reason for row in recalled.verdicts}


def test_an_answer_that_abstains_and_then_states_facts_has_labels() -> None:
    answers = {"rag": "I do not know all of it. Ada was born in 1815."}
    recalled = run_now(recall(record(answers=answers), OFFLINE))
    assert [row.label for row in recalled.verdicts][:1] == [1]
