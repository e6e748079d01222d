"""No judgement twice: equal claims of different responses, and what an earlier run has judged."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.judges.llm.scripted import TEXT, answers, asked_for, open_units, passages
from ufo.schemas.records import Evidence, OpenUnits, Usage
from ufo.transforms.judges.judge import JudgeContext
from ufo.transforms.judges.llm.judgement_cache import JudgementCache, leans_on_context
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.answer_store import SqliteStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.memory import Memory, packed
from ufo.transforms.llm.request import VERIFIER

CLIENT = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})
THERE = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:2/v1")})
ROME, OSLO, LIMA = "Rome is in Italy.", "Oslo is in Norway.", "Lima is in Peru."
YES = ("supported", "r2", None)
whole = answers(lambda claim, passage: {"answer": passage, "verdict": "T"})


def units(response_id: str, *claims: str, text: str = TEXT) -> OpenUnits:
    found = open_units(claims, text)
    own = [replace(unit, response_id=response_id, query="?") for unit in found.units]
    return replace(found, response_id=response_id, units=own)


class Scene:
    """Judges before one scripted model, which all find each other's judgements in one store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stores: list[SqliteStore] = []
        self.reply: Any = whole
        self.client = FakeClient(lambda request: self.reply(request))
        self.usage: list[list[Usage]] = []

    def run(
        self,
        *records: OpenUnits,
        texts: Sequence[str] = ("A passage.",),
        client: ClientSettings = CLIENT,
        **settings: Any,
    ) -> list[list[Evidence]]:
        """Verify the records together, in what might be a process of its own."""
        self.stores.append(SqliteStore(str(self.path)))
        told = LlmSettings("m", **{"explain": "none", "repairs": 0, **settings})
        cache = JudgementCache(told, client, Memory(self.stores[-1]))
        judge = LlmJudge(JudgeContext(told, lambda: self.client, lambda: cache))
        found = passages(*texts)

        async def ask() -> Any:
            asked = (judge.verify(record, "s", [found] * len(record.units)) for record in records)
            return await asyncio.gather(*asked)

        judged = asyncio.run(ask())
        self.usage = [one.usage for one in judged]
        return [one.evidence for one in judged]

    def asked(self) -> list[tuple[list[str], list[str]]]:
        """The claims and the passages of each request so far."""
        told = map(asked_for, self.client.requests)
        return [
            ([claim for claim, *_ in facts.values()], [text for _, text in shown.values()])
            for facts, shown in told
        ]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path / "cache.sqlite")
    yield scene
    for store in scene.stores:
        store.close()


def test_units_that_were_judged_leave_before_calls_are_packed(scene: Scene) -> None:
    scene.run(units("r1", ROME, OSLO))
    assert [row.cached for row in scene.usage[0]] == [False]
    (warm,) = scene.run(units("r2", OSLO, LIMA, ROME))
    assert [claims for claims, _ in scene.asked()] == [[ROME, OSLO], [LIMA]]
    assert {(row.outcome, row.response_id, row.answer) for row in warm} == {YES}
    assert [row.request_id for row in warm] == ["fake-1", "fake-2", "fake-1"]
    told = [(row.cached, row.request_id) for row in scene.usage[0]]
    assert told == [(True, "fake-1"), (False, "fake-2")]
    assert scene.usage[0][0].cost_usd == 0.0


def test_equal_claims_of_responses_under_way_are_judged_once(scene: Scene) -> None:
    first, second = scene.run(units("r1", ROME, OSLO), units("r2", OSLO, LIMA, OSLO))
    assert [claims for claims, _ in scene.asked()] == [[ROME, OSLO], [LIMA]]
    assert [row.outcome for row in first + second] == ["supported"] * 5
    own, shared = scene.usage[1]
    told = [(row.request_id, row.coalesced) for row in (own, shared)]
    assert told == [("fake-2", False), ("fake-1", True)]
    # What is shared is charged to its first asker.
    assert (shared.prompt_tokens or 0) == 0
    assert shared.cost_usd == 0.0


APART = replace(CLIENT, share=False)


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"texts": ("Another passage.",)}, 2),
        ({"verdict_labels": "tf"}, 2),
        ({"citation": True}, 2),
        ({"formulation": "prompt"}, 2),
        ({"passages_per_call": 1}, 2),
        ({"client": THERE}, 2),
        ({"client": APART}, 3),  # a response finds only its own
        ({"explain": "short"}, 4),  # one without the rationale asked for is not kept
    ],
)
def test_what_is_judged_otherwise_is_judged_anew(scene: Scene, change: Any, asked: int) -> None:
    scene.run(units("r1", ROME))
    scene.reply = lambda request: whole(request) if request.function else "True"
    for name in ("r2", "r3", "r2"):
        scene.run(units(name, ROME), **change)
    assert len(scene.client.requests) == asked


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
    assert [row.outcome for row in first] == ["supported", "error", "error"]
    scene.reply = whole
    (second,) = scene.run(units("r1", ROME), texts=texts)
    (third,) = scene.run(units("r2", ROME), texts=("Four passages.", one))
    assert {row.outcome for row in second + third} == {"supported"}
    assert [row.request_id for row in third] == ["fake-3", "fake-1"]
    assert [shown for _, shown in scene.asked()[1:]] == [[two, three], ["Four passages."]]


def test_what_is_kept_is_checked(scene: Scene) -> None:
    scene.run(units("r1", ROME))
    (store,) = scene.stores
    (key,) = [entry.key for entry in store.entries()]
    kept = ["supported", None, None, None, None, None, "fake-1", 10, 3]
    wrong: list[Any] = [{"supported": 1}, [], [kept], kept[:-1], ["error", *kept[1:]]]
    wrong += [["supported", 1, *kept[2:]], [*kept[:-1], "3"]]
    for number, value in enumerate(wrong, 2):
        store.put_many({key: packed(value)})
        assert scene.run(units("r1", ROME))[0][0].outcome == "supported"
        assert len(scene.client.requests) == number, value
