"""No judgement twice: equal claims of different responses, and what an earlier run has judged."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.judges.llm.scripted import TEXT, answers, asked_for, open_units, passages
from ufo.schemas.records import Evidence, OpenUnits, Usage
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.judgement_cache import JudgementCache, keys_of
from ufo.transforms.judges.llm.judgements import Finding
from ufo.transforms.judges.llm.llm_judge import LlmJudge, case_of, formulation
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.cache import JsonCache, key_of
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.store import SqliteStore, pack

CLIENT = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:1/v1")})
THERE = ClientSettings({VERIFIER: Endpoint("m", "http://localhost:2/v1")})
ROME, OSLO, LIMA = "Rome is in Italy.", "Oslo is in Norway.", "Lima is in Peru."
YES = ("supported", "r2", None)
whole = answers(lambda claim, passage: {"answer": passage, "verdict": "T"})


def units(response_id: str, *claims: str, text: str = "") -> OpenUnits:
    """Claims of the last sentence of a text, by default of none."""
    opened = open_units(claims, text or TEXT)
    place = len(opened.sentence_spans) // 2 - 1 if text else None
    of: dict[str, Any] = {"response_id": response_id, "query": "?", "sentence_index": place}
    own = [replace(unit, **of) for unit in opened.units]
    return replace(opened, response_id=response_id, units=own)


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
        title: str | None = None,
        client: ClientSettings = CLIENT,
        model: str = "m",
        **settings: Any,
    ) -> list[list[Evidence]]:
        """Verify the records together, in what might be a process of its own."""
        self.stores.append(SqliteStore(str(self.path)))
        llm_settings = LlmSettings(model, **{"explain": "none", "repairs": 0, **settings})
        cache = JudgementCache(llm_settings, client, JsonCache(self.stores[-1]))
        judge = LlmJudge(JudgeContext(llm_settings, lambda: self.client, lambda: cache))
        answer = passages(*texts, title=title)

        async def ask() -> Any:
            asked = (judge.verify(record, "s", [answer] * len(record.units)) for record in records)
            return await asyncio.gather(*asked)

        judged = asyncio.run(ask())
        self.usage = [one.usage for one in judged]
        return [one.evidence for one in judged]

    def asked(self) -> list[tuple[list[str], list[str]]]:
        """The claims and the passages of each request so far."""
        calls = map(asked_for, self.client.requests)
        return [
            ([claim for claim, *_ in facts.values()], [text for _, text in shown.values()])
            for facts, shown in calls
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
    usage = [(row.cached, row.request_id) for row in scene.usage[0]]
    assert usage == [(True, "fake-1"), (False, "fake-2")]
    assert scene.usage[0][0].cost_usd == 0.0


def test_equal_claims_of_responses_under_way_are_judged_once(scene: Scene) -> None:
    first, second = scene.run(units("r1", ROME, OSLO), units("r2", OSLO, LIMA, OSLO))
    assert [claims for claims, _ in scene.asked()] == [[ROME, OSLO], [LIMA]]
    assert [row.outcome for row in first + second] == ["supported"] * 5
    own, shared = scene.usage[1]
    usage = [(row.request_id, row.coalesced) for row in (own, shared)]
    assert usage == [("fake-2", False), ("fake-1", True)]
    # What is shared is charged to its first asker.
    assert (shared.prompt_tokens or 0) == 0
    assert shared.cost_usd == 0.0


APART = replace(CLIENT, share=False)


def at(**changes: Any) -> ClientSettings:
    """A client whose endpoint differs in this."""
    return ClientSettings({VERIFIER: replace(CLIENT.endpoints[VERIFIER], **changes)})


def times_judged(scene: Scene, claim: str = ROME, query: str = "?", **change: Any) -> int:
    """How often a model is asked where a claim was judged before and is judged with a change."""
    scene.run(units("r1", ROME))
    scene.reply = lambda request: whole(request) if len(request.messages) > 1 else "True"
    again = units("r2", claim)
    again = replace(again, units=[replace(unit, query=query) for unit in again.units])
    scene.run(again, **change)
    return len(scene.client.requests)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"claim": OSLO}, id="the claim"),
        pytest.param({"query": "Where?"}, id="the query"),
        pytest.param({"texts": ("Another passage.",)}, id="the passage"),
        pytest.param({"title": "A title"}, id="the passage's title"),
        pytest.param({"client": THERE}, id="the endpoint"),
        pytest.param({"client": at(body='{"top_k": 1}')}, id="the endpoint's added fields"),
        pytest.param({"model": "m2"}, id="the model"),
        pytest.param({"formulation": "prompt"}, id="the formulation"),
        pytest.param({"verdict_labels": "tf"}, id="the labels"),
        pytest.param({"explain": "short"}, id="the explanation"),
        pytest.param({"citation": True}, id="the citation"),
        pytest.param({"format": "xml"}, id="the format"),
        pytest.param({"passages_per_call": 1}, id="the passages of a call"),
        pytest.param({"facts_per_call": 1}, id="the facts of a call"),
        pytest.param({"as_published": True}, id="the prompts of the papers"),
        pytest.param({"call_tokens": 9_000}, id="the tokens of a call"),
    ],
)
def test_what_is_judged_otherwise_is_judged_anew(scene: Scene, change: dict[str, Any]) -> None:
    assert times_judged(scene, **change) == 2


def test_a_claim_is_judged_anew_by_another_prompt(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "argument_claim.txt").write_text("Another description.")
    assert times_judged(scene, prompts_dir=str(folder)) == 1  # it is not of judgements
    (folder / "verify_user.txt").write_text("{facts} {passages} {context}")
    assert times_judged(scene, prompts_dir=str(folder)) == 2


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="the response"),
        pytest.param({"extractor_model": "e"}, id="the model of extraction"),
        pytest.param({"extract_tokens": 500}, id="the tokens of extraction"),
        pytest.param({"repairs": 1}, id="the repairs"),
        pytest.param({"client": at(timeout=1.0)}, id="the time-out"),
        pytest.param({"client": at(api_key_env="OTHER_KEY")}, id="the key's variable"),
        pytest.param({"client": replace(CLIENT, concurrency=1)}, id="the concurrency"),
    ],
)
def test_what_changes_no_judgement_is_judged_once(scene: Scene, change: dict[str, Any]) -> None:
    assert times_judged(scene, **change) == 1


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        pytest.param({"client": APART}, 3, id="a response finds only its own"),
        pytest.param({"explain": "short"}, 4, id="one without the rationale asked for is not kept"),
    ],
)
def test_what_is_kept_of_other_judgements(scene: Scene, change: Any, asked: int) -> None:
    scene.run(units("r1", ROME))
    for name in ("r2", "r3", "r2"):
        scene.run(units(name, ROME), **change)
    assert len(scene.client.requests) == asked


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("He was born in Paris in 1901.", id="with a pronoun"),
        pytest.param("Er wurde 1901 in Paris geboren.", id="in German"),
        pytest.param("彼は1901年にパリで生まれた。", id="in Japanese"),
        pytest.param("Rome is in Italy.", id="with a name"),
    ],
)
def test_an_equal_claim_of_another_text_is_judged_in_it(scene: Scene, claim: str) -> None:
    for response_id, man in (("r1", "Karl"), ("r2", "Otto"), ("r3", "Otto")):
        scene.run(units(response_id, claim, text=f"{man} was a painter. {claim}"))
    assert len(scene.client.requests) == 2


def test_equal_claims_without_a_context_or_of_equal_texts_share_a_judgement(scene: Scene) -> None:
    for response_id in ("r1", "r2"):
        scene.run(units(response_id, ROME))
    assert len(scene.client.requests) == 1
    for response_id in ("r3", "r4"):
        scene.run(units(response_id, ROME, text=ROME))
    assert len(scene.client.requests) == 2


TF = {"as_published": True, "verdict_labels": "tf"}
FORMULATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "function": ({}, "function"),
    "function with two labels": ({"verdict_labels": "tf"}, "function"),
    "function, published": ({"as_published": True}, "published"),
    "tags": ({"format": "xml"}, "function"),
    "tags, published": ({"format": "xml", "as_published": True}, "published"),
    "stepwise": ({"formulation": "stepwise"}, "stepwise"),
    "rationale": ({"formulation": "rationale"}, "rationale"),
    "rationale, published": ({"formulation": "rationale", **TF}, "rationale, published"),
    "prompt": ({"formulation": "prompt"}, "prompt"),
    "prompt, published": ({"formulation": "prompt", **TF}, "published"),
}
PLAIN = {
    "before": "Karl was a painter.",
    "claim": "Er wurde 1901 geboren.",
    "query": "Wann?",
    "behind": "So it was.",
    "later": "He died.",
    "title": "Karl",
    "passage": "Karl was born in 1901.",
}
SENT: dict[str, Sequence[str]] = {
    "function": ("before", "claim", "query", "behind", "title", "passage"),
    "stepwise": ("claim", "query", "title", "passage"),
    "rationale": ("before", "claim", "behind", "title", "passage"),
    "prompt": ("claim", "title", "passage"),
    "published": ("claim", "passage"),
    "rationale, published": ("before", "claim", "behind", "title", "passage"),
}


def sent_and_key(settings: dict[str, Any], **change: str) -> tuple[Any, str]:
    """Return the messages that are sent for a claim and a passage, and the key of the judgement."""
    parts = {**PLAIN, **change}
    text = f"{parts['before']} {parts['claim']} {parts['behind']}\n\n{parts['later']}"
    record = units("r1", parts["claim"], text=text)
    unit = replace(record.units[0], query=parts["query"], sentence_index=1)
    record, answer = replace(record, units=[unit]), passages(parts["passage"], title=parts["title"])
    llm_settings = LlmSettings("m", repairs=0, **settings)
    client = FakeClient(lambda request: "It is so.")
    judge = LlmJudge(JudgeContext(llm_settings, lambda: client))
    asyncio.run(judge.verify(record, "s", [answer]))
    asked = case_of(record, [answer]), formulation(llm_settings, judge.prompts)
    keys = keys_of(*asked, lambda *parts: key_of("j", *parts))
    return [(request.messages, request.function) for request in client.requests], keys[0, 0]


@pytest.mark.parametrize("part", PLAIN)
@pytest.mark.parametrize(("settings", "parts"), FORMULATIONS.values(), ids=FORMULATIONS)
def test_what_is_sent_for_a_judgement_is_in_its_key(
    settings: dict[str, Any], parts: str, part: str
) -> None:
    sent, key = sent_and_key(settings)
    other, other_key = sent_and_key(settings, **{part: "Otto was it."})
    assert (sent != other) is (part in SENT[parts])
    assert sent == other or key != other_key


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        pytest.param({}, ["", "A passage."], id="without a title"),
        pytest.param({"title": "A title"}, ["A title", "A passage."], id="with a title"),
        pytest.param({"client": APART}, ["", "A passage.", "r1"], id="of a response alone"),
    ],
)
def test_the_key_of_a_judgement_stays_what_it_is(
    scene: Scene, change: dict[str, Any], parts: list[str]
) -> None:
    scene.run(units("r1", ROME), **change)
    settings = LlmSettings("m", explain="none", repairs=0)
    version = LlmJudge(JudgeContext(settings, lambda: scene.client)).prompt_version
    not_of_it = ("model", "extractor_model", "extract_tokens", "prompts_dir", "repairs")
    options = {name: of for name, of in asdict(settings).items() if name not in not_of_it}
    key = key_of("j", version, "http://localhost:1/v1", "m", options, 1, ROME, "?", "", *parts)
    assert [entry.key for entry in scene.stores[0].entries()] == [key]


def test_of_several_passages_only_those_without_a_judgement_are_asked_about(scene: Scene) -> None:
    first_text, second_text, third_text = texts = (
        "One passage.",
        "Two passages.",
        "Three passages.",
    )
    scene.reply = lambda request: {
        name: {"checks": value["checks"][:1], "noans": []} for name, value in whole(request).items()
    }
    (first,) = scene.run(units("r1", ROME), texts=texts)
    assert [row.outcome for row in first] == ["supported", "error", "error"]
    scene.reply = whole
    (second,) = scene.run(units("r1", ROME), texts=texts)
    (third,) = scene.run(units("r2", ROME), texts=("Four passages.", first_text))
    assert {row.outcome for row in second + third} == {"supported"}
    assert [row.request_id for row in third] == ["fake-3", "fake-1"]
    assert [shown for _, shown in scene.asked()[1:]] == [
        [second_text, third_text],
        ["Four passages."],
    ]


def test_what_an_earlier_version_kept_is_used(scene: Scene) -> None:
    scene.run(units("r1", ROME))
    (store,) = scene.stores
    (key,) = [entry.key for entry in store.entries()]
    kept = asdict(Finding("refuted", request_id="q1"))
    del kept["paid"]
    store.put_many({key: pack([kept, 10, 3])})
    assert scene.run(units("r1", ROME))[0][0].outcome == "refuted"
    assert len(scene.client.requests) == 1
    assert [(row.prompt_tokens, row.completion_tokens) for row in scene.usage[0]] == [(10, 3)]


def test_what_is_kept_is_checked(scene: Scene) -> None:
    scene.run(units("r1", ROME))
    (store,) = scene.stores
    (key,) = [entry.key for entry in store.entries()]
    kept = asdict(Finding("supported", request_id="fake-1"))
    del kept["paid"]
    wrong: list[Any] = [{}, {"supported": 1}, [], [kept], [kept, 10], "supported"]
    wrong += [{**kept, **one} for one in ({"outcome": "error"}, {"x": "y"})]
    for number, value in enumerate(wrong, 2):
        store.put_many({key: pack(value)})
        assert scene.run(units("r1", ROME))[0][0].outcome == "supported"
        assert len(scene.client.requests) == number, value
