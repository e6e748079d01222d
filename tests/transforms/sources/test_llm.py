"""The source `llm` over real HTTP: what it asks, what it makes of the answers, what it costs."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches
from tests.transforms.sources.knowledge import (
    QUERIES,
    asked,
    look_up,
    opened,
    over_http,
    texts,
)
from ufo.schemas.errors import UsageError
from ufo.schemas.records import (
    SUPPORTED,
    Evidence,
    OpenUnits,
)
from ufo.transforms.check import Checked, check
from ufo.transforms.judges.judge import Judge, JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.prompts.data import read
from ufo.transforms.sources.fact_source import SourceContext
from ufo.transforms.sources.llm import BUNDLED, PER_QUERY, LlmSource


def test_a_request_holds_the_query_alone(llm_server: LlmServer) -> None:
    found = look_up(llm_server, *QUERIES)
    bodies = asked(llm_server)
    assert [body["messages"] for body in sorted(bodies, key=lambda b: QUERIES.index(_user(b)))] == [
        [{"role": "user", "content": query}] for query in QUERIES
    ]
    assert {(body["n"], body["temperature"], body["logprobs"]) for body in bodies} == {
        (5, 1.0, True)
    }
    assert not any("tools" in body or "response_format" in body for body in bodies)
    assert [len(one.passages) for one in found] == [5, 5, 5]


def _user(body: dict[str, Any]) -> str:
    content: str = body["messages"][-1]["content"]
    return content


@pytest.mark.parametrize(
    ("switches", "requests"),
    [
        (Switches(), 1),
        (Switches(n=2), 3),
        (Switches(n=IGNORED), 5),
        (Switches(n=REJECTED), 5),
        (Switches(n=REJECTED, logprobs=REJECTED, temperature_fixed=True), 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_all_samples_come_whatever_the_endpoint_does_with_n(
    llm_server: LlmServer, switches: Switches, requests: int, sampling: str
) -> None:
    llm_server.switches = switches
    llm_server.knowledge.texts[QUERIES[0]] = [f"Sample {n}." for n in range(5)]
    (found,) = look_up(llm_server, QUERIES[0], sampling=sampling)
    assert sorted(texts(found)) == [f"Sample {n}." for n in range(5)]
    assert [hit.sample_index for hit in found.passages] == list(range(5))
    # What is not known of `n` yet may take one request more.
    assert requests <= len(asked(llm_server)) <= requests + 1


def test_bundled_asks_all_queries_of_a_response_in_one_request(llm_server: LlmServer) -> None:
    found = look_up(llm_server, *QUERIES, sampling=BUNDLED, samples=3)
    (body,) = asked(llm_server)
    system, user = [message["content"] for message in body["messages"]]
    assert system.startswith("Task: recall_answers\n")
    assert [read(line[4:-5]) for line in user.splitlines()] == list(QUERIES)
    schema = body["tools"][0]["function"]["parameters"]
    assert list(schema["properties"]) == schema["required"] == ["q1", "q2", "q3"]
    assert [len(one.passages) for one in found] == [3, 3, 3]
    # An answer is its query's, whichever way it was asked.
    alone = look_up(llm_server, *QUERIES, samples=3)
    assert [set(texts(one)) for one in found] == [set(texts(one)) for one in alone]


def test_samples_are_passages_of_their_own_with_what_is_known_of_them(
    llm_server: LlmServer,
) -> None:
    llm_server.knowledge.texts[QUERIES[0]] = ["In 1932.", "In 1932.", "Never."]
    (found,) = look_up(llm_server, QUERIES[0], samples=3)
    ids = [hit.passage.passage_id for hit in found.passages]
    assert len(set(ids)) == 3
    assert all(one.startswith("knows:") for one in ids)
    assert {hit.passage.source for hit in found.passages} == {"knows"}
    assert all(hit.logprob_mean is not None and hit.logprob_mean < 0 for hit in found.passages)
    sent = {row.request_id for row in found.usage if row.step == "knowledge"}
    assert {hit.request_id for hit in found.passages} <= sent
    again = look_up(llm_server, QUERIES[0], samples=3)
    assert [hit.passage.passage_id for hit in again[0].passages] == ids


def test_nothing_depends_on_log_probabilities(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(logprobs=IGNORED)
    (found,) = look_up(llm_server, QUERIES[0])
    assert {hit.logprob_mean for hit in found.passages} == {None}
    assert len(found.passages) == 5


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_equal_queries_are_asked_once_and_what_was_sent_is_reported_once(
    llm_server: LlmServer, sampling: str
) -> None:
    first, second, again = look_up(
        llm_server, QUERIES[0], QUERIES[2], QUERIES[0], sampling=sampling
    )
    assert texts(again) == texts(first) != texts(second)
    assert again.usage == ()
    told = [row for one in (first, second) for row in one.usage]
    assert len(told) == len(llm_server.chats)
    assert len({row.request_id for row in told}) == len(told)
    assert {row.response_id for row in told if row.step == "knowledge"} == {"r1"}
    assert {row.source for row in told if row.step == "knowledge"} == {"knows"}
    paid = sum(row.prompt_tokens or 0 for row in told)
    assert paid == sum(entry.prompt_tokens for entry in llm_server.chats)


def test_a_sampling_that_is_none_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'bundled'"):
        LlmSource(sampling="bundle")


def test_it_needs_an_endpoint_for_its_own_model_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KNOWLEDGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert "OPENAI_API_KEY" in (LlmSource().unavailable() or "")
    assert LlmSource(base_url="http://127.0.0.1:9/v1").unavailable() is None
    assert LlmSource(knowledge_base_url="http://127.0.0.1:9/v1").unavailable() is None
    for url, told in (("localhost:8000", "not an http"), ("http://u:p@h/v1", "password")):
        assert told in (LlmSource(base_url=url).unavailable() or "")
    monkeypatch.setenv("KNOWLEDGE_API_KEY", "k")
    assert LlmSource().unavailable() is None


def test_options_of_the_run_choose_the_model() -> None:
    assert LlmSource(model="a").knowledge_model == "a"
    assert LlmSource(model="a", knowledge_model="b").knowledge_model == "b"


# --- with a judge -------------------------------------------------------------------------------


def checked(
    source: LlmSource, judge: Judge, units: OpenUnits, client: Callable[[], OpenAiClient]
) -> Checked:
    async def run() -> Checked:
        source.open()
        result = await check(units, source, judge)
        await client().aclose()
        return result

    return asyncio.run(run())


CLAIM = "The Alma Bridge was opened in 1932."


def _told(row: Evidence) -> tuple[Any, ...]:
    return row.rank, row.sample_index, row.outcome


def test_evidence_of_the_offline_judge_has_the_samples_columns(llm_server: LlmServer) -> None:
    llm_server.knowledge.texts[QUERIES[0]] = [CLAIM, "The Alma Bridge was opened in 1950."]
    source, client = over_http(llm_server, samples=2)
    result = checked(source, OfflineJudge(), opened(QUERIES[0], claims=[CLAIM]), client)
    assert [_told(row) for row in result.evidence] == [(1, 0, SUPPORTED), (2, 1, "refuted")]
    hits = {row.request_id for row in result.usage if row.step == "knowledge"}
    for row in result.evidence:
        assert row.judge == "offline"
        assert row.logprob_mean is not None
        assert row.request_id in hits
    assert len(result.passages) == 2


def test_the_knowledge_model_is_at_another_endpoint_than_the_judge(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(models=["wise"], keys=["sk-of-the-wise-0123456789"]) as other:
        monkeypatch.setenv("KNOWLEDGE_API_KEY", other.key)
        other.knowledge.texts[QUERIES[0]] = [CLAIM]
        places = endpoints(
            "offline-judge",
            llm_server.base_url,
            knowledge_model="wise",
            knowledge_base_url=other.base_url,
        )
        client = OpenAiClient(ClientSettings(places))
        source = LlmSource(
            samples=2,
            model="offline-judge",
            base_url=llm_server.base_url,
            knowledge_model="wise",
            knowledge_base_url=other.base_url,
            context=SourceContext(client=lambda: client),
        )
        source.name = "knows"
        judge = LlmJudge(JudgeContext(LlmSettings("offline-judge"), lambda: client))
        result = checked(source, judge, opened(QUERIES[0], claims=[CLAIM]), lambda: client)
        assert [entry.body["model"] for entry in other.chats] == ["wise"] * len(other.chats)
        assert {entry.step for entry in other.chats} == {"probe", "knowledge"}
        assert {entry.step for entry in llm_server.chats} == {"probe", "verify_facts"}
    assert [_told(row) for row in result.evidence] == [(1, 0, SUPPORTED), (2, 1, SUPPORTED)]
    for row in result.evidence:
        assert (row.judge, row.model) == ("llm", "offline-judge")
        assert row.logprob_mean is not None
    judged = {row.request_id for row in result.usage if row.step == "verify"}
    assert {row.request_id for row in result.evidence} == judged
    assert {row.model for row in result.usage} == {"wise", "offline-judge"}
