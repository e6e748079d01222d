"""The source `llm`: what it asks, what it makes of the answers, and where there are none."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.llm_server import LlmServer
from tests.transforms.sources.web.pages import opened
from ufo.schemas.errors import UsageError
from ufo.transforms.check import check
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint, endpoints
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import VERIFIER, Choice, LlmError, Message, Request
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.prompts.data import read
from ufo.transforms.sources.defaults import BUNDLED, PER_QUERY
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.llm import LlmSource

QUERIES = ("When was the Alma Bridge opened?", "Who built the <q1> Tower & when?", "Where is Oslo?")
CLAIM = "The Alma Bridge was opened in 1932."
BOTH = pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])


TABLES = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))


def source_of(client: Callable[[], Any], **options: Any) -> LlmSource:
    source = LlmSource(context=SourceContext(client=client), **options)
    source.name = "knows"
    source.open()
    return source


def look_up(server: LlmServer, *queries: str, **options: Any) -> list[Found]:
    async def whole() -> list[Found]:
        client = OpenAiClient(ClientSettings(endpoints("offline-judge", server.base_url)))
        source = source_of(lambda: client, model="offline-judge", **options)
        answers = await source.look_up(opened(queries, "r1"))
        await client.aclose()
        return answers

    return asyncio.run(whole())


def scripted(script: Any, *queries: str, **options: Any) -> tuple[list[Found], list[Request]]:
    client = FakeClient(script)
    source = source_of(lambda: client, **options)
    return asyncio.run(source.look_up(opened(queries, "r1"))), client.requests


def asked(server: LlmServer) -> list[dict[str, Any]]:
    """The bodies of the requests for knowledge, without those of the probe."""
    return [entry.body for entry in server.chats if entry.step == "knowledge"]


def texts(answer: Found) -> list[str]:
    return [hit.passage.text for hit in answer.passages]


def test_bundled_asks_all_queries_of_a_response_in_one_request(llm_server: LlmServer) -> None:
    answers = look_up(llm_server, *QUERIES, sampling=BUNDLED, samples=3)
    (body,) = asked(llm_server)
    system, user = [message["content"] for message in body["messages"]]
    assert system.startswith("Task: recall_answers\n")
    assert [read(line[4:-5]) for line in user.splitlines()] == list(QUERIES)
    schema = body["tools"][0]["function"]["parameters"]
    assert list(schema["properties"]) == schema["required"] == ["q1", "q2", "q3"]
    # An answer is its query's, whichever way it was asked: alone, it holds nothing but the query.
    alone = look_up(llm_server, *QUERIES, samples=3)
    assert [set(texts(one)) for one in answers] == [set(texts(one)) for one in alone]
    _, *bodies = asked(llm_server)
    assert [body["messages"][0] for body in bodies] == [
        {"role": "user", "content": query} for query in QUERIES
    ]
    sampled = {(body["n"], body["temperature"]) for body in bodies}
    assert sampled == {(3, 1.0)}
    assert not any("tools" in body or "response_format" in body for body in bodies)


@BOTH
def test_equal_queries_are_asked_and_told_once(llm_server: LlmServer, sampling: str) -> None:
    llm_server.knowledge.texts[QUERIES[0]] = ["In 1932.", "In 1932.", "Never."]
    queries = [QUERIES[0], QUERIES[2], QUERIES[0]]
    first, second, again = look_up(llm_server, *queries, sampling=sampling, samples=3)
    assert texts(again) == texts(first) != texts(second)
    assert again.usage == ()
    usage = [row for one in (first, second) for row in one.usage]
    assert len(usage) == len({row.request_id for row in usage}) == len(llm_server.chats)
    whose = {(row.response_id, row.source) for row in usage if row.step == "knowledge"}
    assert whose == {("r1", "knows")}
    paid = sum(row.prompt_tokens or 0 for row in usage)
    assert paid == sum(entry.prompt_tokens for entry in llm_server.chats)
    # Samples are passages, each with its place and with what is known of its request.
    assert [hit.sample_index for hit in first.passages] == [0, 1, 2]
    assert len({hit.passage.passage_id for hit in first.passages}) == 3
    assert {hit.passage.source for hit in first.passages} == {"knows"}
    assert {hit.request_id for hit in first.passages} <= {row.request_id for row in usage}


def test_a_query_is_sent_alone() -> None:
    _, (sent,) = scripted(["In 1932."], QUERIES[0], model="m", samples=2, temperature=0.5)
    assert sent == Request(
        role="knowledge",
        model="m",
        messages=[Message("user", QUERIES[0])],
        temperature=0.5,
        n=2,
        max_tokens=1024,
        step="knowledge",
        source="knows",
        response_id="r1",
    )


def test_two_queries_are_sent_together_with_room_for_both() -> None:
    _, (sent,) = scripted([{"q1": "1932"}], *QUERIES[:2], sampling=BUNDLED)
    assert sent.max_tokens == 2048
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert sent.function is not None
    assert sent.function.name == "recall_answers"


@BOTH
def test_a_choice_with_an_answer_is_worth_keeping(sampling: str) -> None:
    _, (sent,) = scripted(["In 1932."], QUERIES[0], sampling=sampling)
    assert sent.keep is not None
    assert sent.keep(Choice("In 1932.", '{"q1": "1932"}'))
    assert not sent.keep(Choice(" ", '{"q1": " "}'))
    assert not sent.keep(Choice("In 1932.", '{"q1": "1932"}', refusal="no"))


def test_a_question_that_is_too_long_alone_is_an_error() -> None:
    (answer,), sent = scripted([LlmError("long", "truncated")], QUERIES[0], sampling=BUNDLED)
    assert answer.reason == "truncated"
    assert len(sent) == 1


ADDRESS = "http://127.0.0.1:9/v1"


def test_a_fingerprint_has_the_address_and_for_bundled_questions_their_prompts(
    tmp_path: Path,
) -> None:
    def of(**options: Any) -> str:
        return LlmSource(base_url=ADDRESS, **options).fingerprint()

    assert of() == f"{ADDRESS} "
    plain = of(sampling=BUNDLED)
    assert plain.startswith(f"{ADDRESS} ")
    seen = {plain}
    for name in ("knowledge_bundled_system", "function_knowledge"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("Answer.")
        seen.add(of(sampling=BUNDLED, prompts=str(tmp_path / name)))
    assert len(seen) == 3


def test_a_client_of_its_own_needs_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert source_of(lambda: FakeClient([])).unavailable() is None


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    assert "it needs openai" in (LlmSource(base_url=ADDRESS).unavailable() or "")


def test_it_needs_an_endpoint_for_its_own_model_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KNOWLEDGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert "OPENAI_API_KEY" in (LlmSource().unavailable() or "")
    assert LlmSource(base_url="http://127.0.0.1:9/v1").unavailable() is None
    assert LlmSource(knowledge_base_url="http://127.0.0.1:9/v1").unavailable() is None
    for url, reason in (("localhost:8000", "not an http"), ("http://u:p@h/v1", "password")):
        assert reason in (LlmSource(base_url=url).unavailable() or "")
    assert LlmSource(context=SourceContext(client=lambda: FakeClient([]))).unavailable() is None
    monkeypatch.setenv("KNOWLEDGE_API_KEY", "k")
    assert LlmSource().unavailable() is None
    models = [LlmSource(model="a"), LlmSource(model="a", knowledge_model="b")]
    assert [source.knowledge_model for source in models] == ["a", "b"]
    with pytest.raises(UsageError, match="Did you mean 'bundled'"):
        LlmSource(sampling="bundle")


def test_in_a_run_whose_only_endpoint_is_the_verifiers_it_asks_with_its_fields(
    llm_server: LlmServer, tmp_path: Path
) -> None:
    verifier = Endpoint("offline-judge", llm_server.base_url, body='{"top_k": 7}')
    log = str(tmp_path / "usage")
    run = ClientSettings({VERIFIER: verifier}, usage_log=log)

    async def whole() -> None:
        context = SourceContext(models=run)
        source = LlmSource(model="offline-judge", base_url=llm_server.base_url, context=context)
        source.open()
        await source.look_up(opened(QUERIES[:1], "r1"))
        await end_run(log)

    asyncio.run(whole())
    assert [body["top_k"] for body in asked(llm_server)] == [7]


# --- where there is no answer ---------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("reply", "reason"), TABLES["samples"].values(), ids=TABLES["samples"])
def test_samples_without_an_answer_are_an_error(reply: Any, reason: str, sampling: str) -> None:
    choice = Choice(**reply)
    (answer,), _ = scripted([choice], QUERIES[0], sampling=sampling)
    assert answer.passages == ()
    assert answer.outcome == "error"
    assert answer.reason == reason
    assert reason in answer.message
    assert len(answer.usage) == 1
    if sampling == PER_QUERY:  # one leaves the others
        script = [[Choice("In 1932."), choice, Choice("In 1933.")]]
        (answer,), _ = scripted(script, QUERIES[0], samples=3)
        samples = [(hit.passage.text, hit.sample_index) for hit in answer.passages]
        assert samples == [("In 1932.", 0), ("In 1933.", 2)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [*TABLES["bundles"].values(), ({"arguments": "[" * 100_000}, ["truncated"] * 2)],
    ids=[*TABLES["bundles"], "a hundred thousand brackets"],
)
def test_a_bundle_that_lacks_answers_costs_these_alone(reply: Any, expected: list[str]) -> None:
    choice = Choice(**reply) if {"text", "arguments"} & set(reply) else reply
    answers, _ = scripted([choice], *QUERIES[:2], sampling=BUNDLED, samples=1)
    assert [texts(one)[0] if one.passages else one.reason for one in answers] == expected


@BOTH
def test_what_does_not_get_through_is_an_error_of_its_queries(sampling: str) -> None:
    sent = [usage_row("knowledge", "knows", "m", "r1")]

    def script(request: Request) -> Any:
        if QUERIES[0] in request.messages[-1].content:
            raise LlmError("the line is dead", "transport", usage=sent)
        return "Fine."

    answers, _ = scripted(script, *QUERIES, sampling=sampling)
    failed = [one for one in answers if one.outcome == "error"]
    assert [len(one.usage) for one in failed] == ([1, 0, 0] if sampling == BUNDLED else [1])
    causes = {(one.reason, one.error_type, one.message) for one in failed}
    assert causes == {("transport", "LlmError", "the line is dead")}
    error = LlmError("wrong key", final=True)  # one that every query would meet
    with pytest.raises(LlmError, match="wrong key"):
        scripted(lambda _: error, *QUERIES, sampling=sampling)


def test_a_bundle_that_is_too_long_is_asked_in_halves() -> None:
    def reply(request: Request) -> Any:
        names = request.function.parameters["properties"] if request.function else {}
        if len(names) > 1:
            return LlmError(
                "too long", "truncated", usage=[usage_row("knowledge", "knows", "m", "r1")]
            )
        return dict.fromkeys(names, "In 1932.")

    answers, sent = scripted(reply, *QUERIES, sampling=BUNDLED, samples=1)
    assert [texts(one) for one in answers] == [["In 1932."]] * len(QUERIES)
    assert len(sent) == 2 * len(QUERIES) - 1
    assert [len(one.usage) for one in answers] == [2, 2, 1]  # with those too long


# --- with a judge ---------------------------------------------------------------------------------


@BOTH
def test_what_came_is_judged_and_what_did_not_is_an_error_row(sampling: str) -> None:
    replies = {PER_QUERY: Choice(CLAIM), BUNDLED: Choice(arguments=f'{{"q1": "{CLAIM}"}}')}
    came = [replies[sampling]] * 3
    broke = LlmError("the line broke", "transport", choices=came, request_id="req-1")
    client = FakeClient([broke])
    source = source_of(lambda: client, model="m", sampling=sampling)
    units = opened([QUERIES[0]], "r1")
    units = replace(units, units=[replace(units.units[0], claim=CLAIM)])
    result = asyncio.run(check(units, source, OfflineJudge()))
    *samples, missing = result.evidence
    assert [(row.outcome, row.request_id) for row in samples] == [("supported", "req-1")] * 3
    assert missing.outcome == "error"
    assert missing.reason == "transport"
    assert missing.passage_id is None
    assert missing.rationale == "3 of 5 samples came; the line broke"
    (votes,) = result.tallies
    assert votes.n_supported == 3
    assert votes.n_error == 1
    (failure,) = result.failures
    assert failure.key == "u0"
    assert failure.message == missing.rationale
