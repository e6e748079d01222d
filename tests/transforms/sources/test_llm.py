"""The source `llm` over real HTTP: what it asks, what it makes of the answers, what it costs."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.errors import UsageError
from schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    SUPPORTED,
    TRANSPORT,
    UNPARSABLE,
    Evidence,
    FactUnit,
    OpenUnits,
)
from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches, faults
from transforms.check import Checked, check
from transforms.judges.base import Judge
from transforms.judges.llm.judge import LlmJudge
from transforms.judges.llm.settings import LlmSettings
from transforms.judges.offline.judge import OfflineJudge
from transforms.llm.base import Choice, LlmError, Request
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.llm.endpoint import endpoints
from transforms.llm.fake import FakeClient
from transforms.prompts.data import read
from transforms.sources.base import Found
from transforms.sources.llm import BUNDLED, PER_QUERY, LlmSource

QUERIES = ("When was the Alma Bridge opened?", "Who built the <q1> Tower & when?", "Where is Oslo?")


def opened(*queries: str, claims: Sequence[str] = ()) -> OpenUnits:
    given = claims or [f"Claim {n}." for n in range(len(queries))]
    units = [
        FactUnit("r1", f"u{n}", None, claim, query, None)
        for n, (claim, query) in enumerate(zip(given, queries, strict=True))
    ]
    return OpenUnits("r1", " ".join(given), None, None, [], [], units)


def over_http(server: LlmServer, **options: Any) -> tuple[LlmSource, Callable[[], OpenAiClient]]:
    """A source with a client of its own, which lives on the loop of the test."""
    settings = ClientSettings(endpoints("offline-judge", server.base_url))
    made: list[OpenAiClient] = []

    def client() -> OpenAiClient:
        made[:] = made or [OpenAiClient(settings)]
        return made[0]

    source = LlmSource(model="offline-judge", client=client, **options)
    source.name = "knows"
    return source, client


def look_up(server: LlmServer, *queries: str, **options: Any) -> list[Found]:
    source, client = over_http(server, **options)

    async def ask() -> list[Found]:
        source.open()
        found = await source.look_up(opened(*queries))
        await client().aclose()
        return found

    return asyncio.run(ask())


def scripted(script: Any, *queries: str, **options: Any) -> tuple[list[Found], list[Request]]:
    client = FakeClient(script)
    source = LlmSource(client=lambda: client, **options)
    source.name = "knows"
    source.open()
    return asyncio.run(source.look_up(opened(*queries))), client.requests


def asked(server: LlmServer) -> list[dict[str, Any]]:
    """The bodies of the requests for knowledge, without those of the probe."""
    return [entry.body for entry in server.chats if entry.step == "knowledge"]


def texts(found: Found) -> list[str]:
    return [hit.passage.text for hit in found.passages]


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
def test_equal_queries_are_asked_once_and_what_was_sent_is_told_once(
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


NOTHING = [
    (Choice(finish_reason="stop", refusal="I can't help with that."), REFUSED),
    (Choice("Half of it", refusal="I can't go on."), REFUSED),
    (Choice(finish_reason="content_filter"), FILTERED),
    (Choice(), UNPARSABLE),
    (Choice(" \n"), UNPARSABLE),
]


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
@pytest.mark.parametrize(("choice", "reason"), NOTHING)
def test_samples_without_an_answer_are_an_error_with_its_reason(
    choice: Choice, reason: str, sampling: str
) -> None:
    found, _ = scripted([choice], QUERIES[0], sampling=sampling)
    assert [(one.passages, one.outcome, one.reason) for one in found] == [((), ERROR, reason)]
    assert reason in found[0].message
    assert len(found[0].usage) == 1


def test_a_sample_without_an_answer_leaves_the_others() -> None:
    script = [[Choice("In 1932."), Choice(refusal="no"), Choice(""), Choice("In 1933.")]]
    (found,), _ = scripted(script, QUERIES[0], samples=4)
    assert [(hit.passage.text, hit.sample_index) for hit in found.passages] == [
        ("In 1932.", 0),
        ("In 1933.", 3),
    ]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"q1": "One.", "q2": "Two."}, ["One.", "Two."]),
        ({"q1": "One.", "q2": 2, "q3": "Three."}, ["One.", UNPARSABLE]),
        ({"q2": "Two."}, [UNPARSABLE, "Two."]),
        (Choice('{"q1": "One.", "q2": "Two."}'), ["One.", "Two."]),
        (Choice(arguments='{"q1": "One.", "q2": "Tw'), [UNPARSABLE, UNPARSABLE]),
        (Choice(arguments="[" * 100_000), [UNPARSABLE, UNPARSABLE]),
        (Choice("I know both."), [UNPARSABLE, UNPARSABLE]),
        (Choice(arguments="[1, 2]"), [UNPARSABLE, UNPARSABLE]),
        (Choice(arguments="null", finish_reason="tool_calls"), [UNPARSABLE, UNPARSABLE]),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_bundle_that_lacks_answers_costs_these_alone(reply: Any, expected: list[str]) -> None:
    found, _ = scripted([reply], *QUERIES[:2], sampling=BUNDLED, samples=1)
    assert [texts(one)[0] if one.passages else one.reason for one in found] == expected


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_what_does_not_get_through_is_an_error_of_its_queries(sampling: str) -> None:
    rows = FakeClient(["x"])
    sent = asyncio.run(rows.complete(Request("knowledge", "m", []))).usage

    def script(request: Request) -> Any:
        if QUERIES[0] in request.messages[-1].content:
            raise LlmError("the line is dead", TRANSPORT, usage=sent)
        return "Fine."

    found, _ = scripted(script, *QUERIES, sampling=sampling)
    failed = [one for one in found if one.outcome == ERROR]
    assert len(failed) == (3 if sampling == BUNDLED else 1)
    assert {(one.reason, one.error_type, one.message) for one in failed} == {
        (TRANSPORT, "LlmError", "the line is dead")
    }
    assert [len(one.usage) for one in failed] == [1, *[0] * (len(failed) - 1)]


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_an_error_that_every_query_would_meet_is_raised(sampling: str) -> None:
    error = LlmError("wrong key", final=True)
    with pytest.raises(LlmError, match="wrong key"):
        scripted(lambda _: error, *QUERIES, sampling=sampling)


def test_a_filtered_prompt_has_its_reason(llm_server: LlmServer) -> None:
    llm_server.faults.extend([None, faults.filtered_prompt()])  # the first is the probe's
    (found,) = look_up(llm_server, QUERIES[0])
    assert (found.outcome, found.reason) == (ERROR, FILTERED)
    assert found.usage[-1].status == "400"


def test_a_sampling_that_is_none_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'bundled'"):
        LlmSource(sampling="bundle")


def test_it_needs_an_endpoint_for_its_own_model_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KNOWLEDGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert "OPENAI_API_KEY" in (LlmSource().unavailable() or "")
    assert LlmSource(base_url="http://127.0.0.1:9/v1").unavailable() is None
    assert LlmSource(knowledge_base_url="http://127.0.0.1:9/v1").unavailable() is None
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
            client=lambda: client,
        )
        source.name = "knows"
        judge = LlmJudge(LlmSettings("offline-judge"), lambda: client)
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
