"""No judgement twice: equal claims of different responses, and what an earlier run has judged."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ufo.schemas.records import OpenUnits
from ufo.transforms.judges.judge import JudgeContext
from ufo.transforms.judges.llm.judgement_cache import JudgementCache, leans_on_context
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.answer_store import SqliteStore
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.memory import Memory
from ufo.transforms.llm.request import VERIFIER, Choice

CLIENT = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})
ROME, OSLO, LIMA = "Rome is in Italy.", "Oslo is in Norway.", "Lima is in Peru."


class Scene:
    """Judges before one scripted model, which all find each other's judgements in one store."""

    def __init__(self, llm: SimpleNamespace, path: Path) -> None:
        self.llm = llm
        self.path = path
        self.stores: list[SqliteStore] = []
        self.reply: Any = llm.answers(lambda claim, passage: {"answer": passage, "verdict": "T"})
        self.client = FakeClient(lambda request: self.reply(request))

    def units(self, response_id: str, *claims: str, text: str = "") -> OpenUnits:
        found = self.llm.open_units(claims, *([text] if text else []))
        units = [replace(unit, response_id=response_id, query="?") for unit in found.units]
        return replace(found, response_id=response_id, units=units)

    def run(
        self,
        *records: OpenUnits,
        passages: Sequence[str] = ("A passage.",),
        client: ClientSettings = CLIENT,
        **settings: Any,
    ) -> list[Any]:
        """Verify the records together, in what might be a process of its own."""
        self.stores.append(SqliteStore(str(self.path)))
        memory = Memory(self.stores[-1])
        told = LlmSettings("m", **{"explain": "none", **settings})
        judge = LlmJudge(
            JudgeContext(told, lambda: self.client, lambda: JudgementCache(told, client, memory))
        )
        found = self.llm.passages(*passages)

        async def ask() -> Any:
            asked = (judge.verify(record, "s", [found] * len(record.units)) for record in records)
            return await asyncio.gather(*asked)

        return list(asyncio.run(ask()))

    def asked(self) -> list[list[str]]:
        """The claims of each request so far."""
        return [
            [claim for claim, *_ in self.llm.asked_for(request)[0].values()]
            for request in self.client.requests
        ]


@pytest.fixture
def scene(llm: SimpleNamespace, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(llm, tmp_path / "cache.sqlite")
    yield scene
    for store in scene.stores:
        store.close()


def outcomes(judged: Any) -> list[str]:
    return [row.outcome for row in judged.evidence]


def test_units_that_were_judged_leave_before_calls_are_packed(scene: Scene) -> None:
    (cold,) = scene.run(scene.units("r1", ROME, OSLO))
    (warm,) = scene.run(scene.units("r2", OSLO, LIMA, ROME))
    assert scene.asked() == [[ROME, OSLO], [LIMA]]
    assert outcomes(warm) == ["supported"] * 3
    assert [row.answer for row in warm.evidence] == [None] * 3
    assert [row.request_id for row in warm.evidence] == ["fake-1", "fake-2", "fake-1"]
    assert {row.response_id for row in warm.evidence} == {"r2"}
    cached, sent = warm.usage
    assert (cached.cached, cached.request_id, cached.cost_usd) == (True, "fake-1", 0.0)
    assert (sent.cached, sent.request_id) == (False, "fake-2")
    assert [row.cached for row in cold.usage] == [False]


def test_equal_claims_of_responses_under_way_are_judged_once(scene: Scene) -> None:
    first, second = scene.run(scene.units("r1", ROME, OSLO), scene.units("r2", OSLO, LIMA, OSLO))
    assert scene.asked() == [[ROME, OSLO], [LIMA]]
    assert outcomes(first) == ["supported"] * 2
    assert outcomes(second) == ["supported"] * 3
    assert [(row.request_id, row.coalesced) for row in second.usage] == [
        ("fake-2", False),
        ("fake-1", True),
    ]
    # What is shared is charged to its first asker.
    assert not second.usage[1].prompt_tokens
    assert second.usage[1].cost_usd == 0.0


def test_half_of_the_claims_recur_and_cost_nothing(scene: Scene) -> None:
    claims = [f"Town {n} has {n} bridges." for n in range(20)]
    records = [scene.units(f"r{n}", *claims[n : n + 4]) for n in range(0, 20, 4)]
    again = [scene.units(f"s{n}", *claims[n::5]) for n in range(5)]
    scene.run(*records, *again)
    asked = [claim for request in scene.asked() for claim in request]
    assert sorted(asked) == sorted(claims)


@pytest.mark.parametrize(
    "change",
    [
        {"passages": ("Another passage.",)},
        {"verdict_labels": "tf"},
        {"citation": True},
        {"formulation": "prompt"},
        {"passages_per_call": 1},
        {"client": ClientSettings({VERIFIER: Endpoint("m", "http://localhost:2/v1")})},
    ],
)
def test_what_is_judged_otherwise_is_judged_anew(scene: Scene, change: dict[str, Any]) -> None:
    scene.run(scene.units("r1", ROME))
    before = len(scene.client.requests)
    scene.reply = lambda request: (
        "True"
        if request.function is None
        else scene.llm.answers(lambda claim, passage: {"verdict": "T"})(request)
    )
    scene.run(scene.units("r2", ROME), **change)
    assert len(scene.client.requests) > before


def test_without_sharing_a_response_finds_only_its_own_judgements(scene: Scene) -> None:
    apart = replace(CLIENT, share=False)
    scene.run(scene.units("r1", ROME), scene.units("r2", ROME), client=apart)
    assert scene.asked() == [[ROME], [ROME]]
    scene.run(scene.units("r1", ROME), scene.units("r3", ROME), client=apart)
    assert scene.asked() == [[ROME]] * 3


def test_a_claim_that_leans_on_its_text_is_judged_in_it(scene: Scene) -> None:
    leaning = "It was founded in 1300."
    scene.run(scene.units("r1", leaning, text="Bonn is old. It was founded in 1300."))
    scene.run(scene.units("r2", leaning, text="Rome is old. It was founded in 1300."))
    scene.run(scene.units("r3", leaning, text="Rome is old. It was founded in 1300."))
    assert len(scene.client.requests) == 2
    scene.run(scene.units("r4", ROME, text="Rome is in Italy. It is warm."))
    scene.run(scene.units("r5", ROME, text="Rome is in Italy. Hannibal was not."))
    assert len(scene.client.requests) == 3


@pytest.mark.parametrize("claim", ["She wrote notes.", "The film was released in 1999.", "I know."])
def test_claims_that_lean_on_their_text(claim: str) -> None:
    assert leans_on_context(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "Oslo is the capital of Norway.",
        "The capital of Norway is Oslo.",
        "Water boils at 100 °C.",
        "The “Zürichsee” is a lake.",
        "Iron is a metal.",
    ],
)
def test_claims_that_are_understood_alone(claim: str) -> None:
    assert not leans_on_context(claim)


def test_an_error_is_asked_about_again_and_what_was_paid_for_is_not(scene: Scene) -> None:
    whole = scene.reply

    def partial(request: Any) -> Any:
        return {name: value for name, value in whole(request).items() if name == "f1"}

    scene.reply = partial
    (first,) = scene.run(scene.units("r1", ROME, OSLO), repairs=0)
    assert outcomes(first) == ["supported", "error"]
    assert first.evidence[1].reason == "unparsable"
    scene.reply = whole
    (second,) = scene.run(scene.units("r1", ROME, OSLO), repairs=0)
    assert outcomes(second) == ["supported", "supported"]
    assert scene.asked() == [[ROME, OSLO], [OSLO]]
    scene.run(scene.units("r1", ROME, OSLO), repairs=0)
    assert len(scene.client.requests) == 2


def test_of_several_passages_only_those_without_a_judgement_are_asked_about(scene: Scene) -> None:
    whole = scene.reply

    def first_passage(request: Any) -> Any:
        return {
            name: {"checks": value["checks"][:1], "noans": []}
            for name, value in whole(request).items()
        }

    passages = ("One passage.", "Two passages.", "Three passages.")
    scene.reply = first_passage
    (first,) = scene.run(scene.units("r1", ROME), repairs=0, passages=passages)
    assert outcomes(first) == ["supported", "error", "error"]
    scene.reply = whole
    (second,) = scene.run(scene.units("r1", ROME), repairs=0, passages=passages)
    assert outcomes(second) == ["supported"] * 3
    _, asked = (scene.llm.asked_for(request)[1] for request in scene.client.requests)
    assert [text for _, text in asked.values()] == ["Two passages.", "Three passages."]


def test_a_unit_that_found_one_more_passage_is_asked_about_that_one(scene: Scene) -> None:
    scene.run(scene.units("r1", ROME), passages=("One passage.", "Two passages."))
    (judged,) = scene.run(scene.units("r2", ROME), passages=("Three passages.", "One passage."))
    assert outcomes(judged) == ["supported"] * 2
    assert [row.request_id for row in judged.evidence] == ["fake-2", "fake-1"]
    _, asked = (scene.llm.asked_for(request)[1] for request in scene.client.requests)
    assert [text for _, text in asked.values()] == ["Three passages."]


def test_those_who_wait_for_a_failure_ask_themselves(scene: Scene) -> None:
    whole = scene.reply
    replies: list[Callable[[Any], Any]] = [lambda request: Choice("", refusal="No."), whole]
    scene.reply = lambda request: (replies.pop(0) if replies else whole)(request)
    first, second = scene.run(scene.units("r1", ROME), scene.units("r2", ROME), repairs=0)
    assert outcomes(first) == ["error"]
    assert first.evidence[0].reason == "refused"
    assert outcomes(second) == ["supported"]
    assert len(scene.client.requests) == 2


def test_what_is_kept_is_checked(scene: Scene) -> None:
    scene.run(scene.units("r1", ROME))
    (store,) = scene.stores
    from ufo.transforms.llm.memory import packed

    (key,) = [entry.key for entry in store.entries()]
    kept = ["supported", None, None, None, None, None, "fake-1", 10, 3]
    wrong: list[Any] = [
        {"supported": 1},
        [],
        [kept],
        kept[:-1],
        ["error", *kept[1:]],
        ["supported", 1, *kept[2:]],
        [*kept[:-1], "3"],
    ]
    for number, value in enumerate(wrong, 2):
        store.put_many({key: packed(value)})
        (judged,) = scene.run(scene.units("r1", ROME))
        assert outcomes(judged) == ["supported"]
        assert len(scene.client.requests) == number, value


def test_one_without_the_rationale_asked_for_is_not_kept(scene: Scene) -> None:
    scene.reply = scene.llm.answers(lambda claim, passage: {"answer": passage, "verdict": "T"})
    scene.run(scene.units("r1", ROME), explain="short")
    asked = len(scene.client.requests)
    scene.run(scene.units("r2", ROME), explain="short")
    assert len(scene.client.requests) > asked
