"""No judgement twice: equal claims of different responses, and what an earlier run has judged."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.judges.llm.scripted import TEXT, answers, asked_for, open_units, passages
from ufo.schemas.records import OpenUnits
from ufo.transforms.judges.judge import JudgeContext
from ufo.transforms.judges.llm.judgement_cache import JudgementCache, leans_on_context
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.answer_store import SqliteStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.memory import Memory, packed
from ufo.transforms.llm.request import VERIFIER, Choice

CLIENT = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})
THERE = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:2/v1")})
ROME, OSLO, LIMA = "Rome is in Italy.", "Oslo is in Norway.", "Lima is in Peru."
whole = answers(lambda claim, passage: {"answer": passage, "verdict": "T"})


def units(response_id: str, *claims: str, text: str = TEXT) -> OpenUnits:
    found = open_units(claims, text)
    own = [replace(unit, response_id=response_id, query="?") for unit in found.units]
    return replace(found, response_id=response_id, units=own)


def outcomes(judged: Any) -> list[str]:
    return [row.outcome for row in judged.evidence]


class Scene:
    """Judges before one scripted model, which all find each other's judgements in one store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stores: list[SqliteStore] = []
        self.reply: Any = whole
        self.client = FakeClient(lambda request: self.reply(request))

    def run(
        self,
        *records: OpenUnits,
        texts: Sequence[str] = ("A passage.",),
        client: ClientSettings = CLIENT,
        **settings: Any,
    ) -> list[Any]:
        """Verify the records together, in what might be a process of its own."""
        self.stores.append(SqliteStore(str(self.path)))
        memory = Memory(self.stores[-1])
        told = LlmSettings("m", **{"explain": "none", "repairs": 0, **settings})
        judge = LlmJudge(
            JudgeContext(told, lambda: self.client, lambda: JudgementCache(told, client, memory))
        )
        found = passages(*texts)

        async def ask() -> Any:
            asked = (judge.verify(record, "s", [found] * len(record.units)) for record in records)
            return await asyncio.gather(*asked)

        return list(asyncio.run(ask()))

    def asked(self) -> list[list[str]]:
        """The claims of each request so far."""
        requests = [asked_for(request)[0] for request in self.client.requests]
        return [[claim for claim, *_ in facts.values()] for facts in requests]

    def shown(self) -> list[list[str]]:
        """The passages of each request so far."""
        requests = [asked_for(request)[1] for request in self.client.requests]
        return [[text for _, text in told.values()] for told in requests]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path / "cache.sqlite")
    yield scene
    for store in scene.stores:
        store.close()


def test_units_that_were_judged_leave_before_calls_are_packed(scene: Scene) -> None:
    (cold,) = scene.run(units("r1", ROME, OSLO))
    (warm,) = scene.run(units("r2", OSLO, LIMA, ROME))
    assert scene.asked() == [[ROME, OSLO], [LIMA]]
    assert outcomes(warm) == ["supported"] * 3
    assert [row.request_id for row in warm.evidence] == ["fake-1", "fake-2", "fake-1"]
    assert {(row.response_id, row.answer) for row in warm.evidence} == {("r2", None)}
    cached, sent = warm.usage
    assert (cached.cached, cached.request_id, cached.cost_usd) == (True, "fake-1", 0.0)
    assert (sent.cached, sent.request_id) == (False, "fake-2")
    assert [row.cached for row in cold.usage] == [False]


def test_equal_claims_of_responses_under_way_are_judged_once(scene: Scene) -> None:
    first, second = scene.run(units("r1", ROME, OSLO), units("r2", OSLO, LIMA, OSLO))
    assert scene.asked() == [[ROME, OSLO], [LIMA]]
    assert (outcomes(first), outcomes(second)) == (["supported"] * 2, ["supported"] * 3)
    own, shared = second.usage
    assert [(row.request_id, row.coalesced) for row in (own, shared)] == [
        ("fake-2", False),
        ("fake-1", True),
    ]
    # What is shared is charged to its first asker.
    assert (shared.prompt_tokens or 0, shared.cost_usd) == (0, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"texts": ("Another passage.",)},
        {"verdict_labels": "tf"},
        {"citation": True},
        {"formulation": "prompt"},
        {"passages_per_call": 1},
        {"client": THERE},
    ],
)
def test_what_is_judged_otherwise_is_judged_anew(scene: Scene, change: dict[str, Any]) -> None:
    scene.run(units("r1", ROME))
    scene.reply = lambda request: whole(request) if request.function else "True"
    scene.run(units("r2", ROME), **change)
    assert len(scene.client.requests) == 2


def test_without_sharing_a_response_finds_only_its_own_judgements(scene: Scene) -> None:
    apart = replace(CLIENT, share=False)
    scene.run(units("r1", ROME), units("r2", ROME), client=apart)
    scene.run(units("r1", ROME), units("r3", ROME), client=apart)
    assert scene.asked() == [[ROME]] * 3


def test_a_claim_that_leans_on_its_text_is_judged_in_it(scene: Scene) -> None:
    leaning = "It was founded in 1300."
    for number, town in enumerate(("Bonn", "Rome", "Rome")):
        scene.run(units(f"r{number}", leaning, text=f"{town} is old. It was founded in 1300."))
    assert len(scene.client.requests) == 2
    for number, more in enumerate(("It is warm.", "Hannibal was not.")):
        scene.run(units(f"s{number}", ROME, text=f"Rome is in Italy. {more}"))
    assert len(scene.client.requests) == 3
    lean = ["She wrote notes.", "The film was released in 1999.", "I know."]
    alone = ["Oslo is the capital of Norway.", "The capital of Norway is Oslo.", "Iron is a metal."]
    alone += ["Water boils at 100 °C.", "The “Zürichsee” is a lake."]
    assert [claim for claim in lean + alone if leans_on_context(claim)] == lean


def test_of_several_passages_only_those_without_a_judgement_are_asked_about(scene: Scene) -> None:
    one, two, three = texts = ("One passage.", "Two passages.", "Three passages.")
    scene.reply = lambda request: {
        name: {"checks": value["checks"][:1], "noans": []} for name, value in whole(request).items()
    }
    (first,) = scene.run(units("r1", ROME), texts=texts)
    assert outcomes(first) == ["supported", "error", "error"]
    scene.reply = whole
    (second,) = scene.run(units("r1", ROME), texts=texts)
    (third,) = scene.run(units("r2", ROME), texts=("Four passages.", one))
    assert (outcomes(second), outcomes(third)) == (["supported"] * 3, ["supported"] * 2)
    assert [row.request_id for row in third.evidence] == ["fake-3", "fake-1"]
    assert scene.shown()[1:] == [[two, three], ["Four passages."]]


def test_those_who_wait_for_a_failure_ask_themselves(scene: Scene) -> None:
    replies = iter([lambda request: Choice("", refusal="No."), whole])
    scene.reply = lambda request: next(replies)(request)
    first, second = scene.run(units("r1", ROME), units("r2", ROME))
    assert [row.reason for row in first.evidence] == ["refused"]
    assert outcomes(second) == ["supported"]


def test_what_is_kept_is_checked(scene: Scene) -> None:
    scene.run(units("r1", ROME))
    (store,) = scene.stores
    (key,) = [entry.key for entry in store.entries()]
    kept = ["supported", None, None, None, None, None, "fake-1", 10, 3]
    wrong: list[Any] = [{"supported": 1}, [], [kept], kept[:-1], ["error", *kept[1:]]]
    wrong += [["supported", 1, *kept[2:]], [*kept[:-1], "3"]]
    for number, value in enumerate(wrong, 2):
        store.put_many({key: packed(value)})
        assert outcomes(scene.run(units("r1", ROME))[0]) == ["supported"]
        assert len(scene.client.requests) == number, value


def test_one_without_the_rationale_asked_for_is_not_kept(scene: Scene) -> None:
    for number in (1, 2):
        scene.run(units(f"r{number}", ROME), explain="short")
        assert len(scene.client.requests) == number
