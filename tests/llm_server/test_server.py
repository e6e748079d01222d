"""The server itself: it is what other tests trust, so it answers as the real endpoint does."""

import asyncio
from typing import Any

import pytest
from openai import APIStatusError, AsyncOpenAI

from tests.llm_server import IGNORED, REJECTED, Limits, LlmServer, Switches, faults

TOOL = {
    "type": "function",
    "function": {
        "name": "choose",
        "description": "",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
            "additionalProperties": False,
        },
    },
}
CHOOSE = {"type": "function", "function": {"name": "choose"}}


def ask(server: LlmServer, key: str = "", times: int = 1, **body: Any) -> Any:
    """The reply or the error of the last of some equal requests."""
    given: dict[str, Any] = {
        "model": "offline-judge",
        "messages": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "One, two?"},
        ],
    }
    given |= body

    async def send() -> Any:
        url, secret = server.base_url, key or server.key
        async with AsyncOpenAI(base_url=url, api_key=secret, max_retries=0) as client:
            reply: Any = None
            for _ in range(times):
                try:
                    reply = await client.chat.completions.create(**given)
                except APIStatusError as error:
                    reply = error
            return reply

    return asyncio.run(send())


def test_a_text_and_its_tokens(llm_server: LlmServer) -> None:
    reply = ask(llm_server)
    assert reply.choices[0].message.content == "A plain answer in a few words."
    assert reply.choices[0].finish_reason == "stop"
    # Words and signs: "Answer ." and "One , two ?"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (6, 8)
    assert llm_server.by_step() == {
        "other": {"calls": 1, "prompt_tokens": 6, "completion_tokens": 8}
    }


@pytest.mark.parametrize(("choice", "finish"), [(CHOOSE, "stop"), ("required", "tool_calls")])
def test_a_function_call(llm_server: LlmServer, choice: Any, finish: str) -> None:
    reply = ask(llm_server, tools=[TOOL], tool_choice=choice).choices[0]
    assert reply.message.content is None
    assert reply.message.tool_calls[0].function.arguments == '{"word": "x"}'
    assert reply.finish_reason == finish


def test_choices_logprobs_and_the_token_limit(llm_server: LlmServer) -> None:
    reply = ask(llm_server, n=3, logprobs=True, max_tokens=4)
    assert [choice.message.content for choice in reply.choices] == ["A plain answer in"] * 3
    assert {choice.finish_reason for choice in reply.choices} == {"length"}
    assert [token.token for token in reply.choices[0].logprobs.content] == [
        "A", "plain", "answer", "in",
    ]  # fmt: skip
    assert reply.usage.completion_tokens == 12


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({"model": "gpt-9"}, 404, "model_not_found", "model"),
        ({"messages": []}, 400, None, "messages"),
        ({"n": 0}, 400, None, "n"),
        ({"temperature": 3}, 400, None, "temperature"),
        ({"tools": [], "tool_choice": "auto"}, 400, "empty_array", "tools"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            400,
            None,
            "tool_choice",
        ),
        (
            {"tools": [{"type": "function", "function": TOOL["function"] | {"parameters": {}}}]},  # type: ignore[operator]
            400,
            "invalid_function_parameters",
            "tools[0].function.parameters",
        ),
    ],
)
def test_errors_in_the_apis_shape(
    llm_server: LlmServer, body: Any, status: int, code: str | None, param: str
) -> None:
    error = ask(llm_server, **body)
    assert (error.status_code, error.code, error.param) == (status, code, param)
    assert error.request_id.startswith("req_")


def test_keys_are_checked(llm_server: LlmServer) -> None:
    error = ask(llm_server, key="sk-wrong")
    assert (error.status_code, error.code) == (401, "invalid_api_key")
    llm_server.keys = None
    assert ask(llm_server, key="anything").choices


@pytest.mark.parametrize(
    ("switches", "body", "param"),
    [
        (Switches(tools=REJECTED), {"tools": [TOOL]}, "tools"),
        (Switches(strict=REJECTED), {"tools": [TOOL]}, "tools[0].function.strict"),
        (Switches(n=REJECTED), {"n": 2}, "n"),
        (Switches(logprobs=REJECTED), {"logprobs": True}, "logprobs"),
        (Switches(temperature_fixed=True), {"temperature": 0}, "temperature"),
        (Switches(max_tokens=REJECTED), {"max_tokens": 5}, "max_tokens"),
        (Switches(context=3), {}, "messages"),
    ],
)
def test_switches_refuse(llm_server: LlmServer, switches: Switches, body: Any, param: str) -> None:
    llm_server.switches = switches
    error = ask(llm_server, **body)
    assert (error.status_code, error.param) == (400, param)


def test_switches_pass_over(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(tools=IGNORED, n=IGNORED, logprobs=IGNORED, max_tokens=IGNORED)
    reply = ask(llm_server, tools=[TOOL], n=3, logprobs=True, max_tokens=1)
    (choice,) = reply.choices
    assert choice.message.tool_calls is None
    assert choice.message.content == "A plain answer in a few words."
    assert choice.logprobs is None


@pytest.mark.parametrize("limits", [Limits(requests=2), Limits(tokens=12)])
def test_the_limit_a_minute_and_its_headers(limits: Limits, llm_server: LlmServer) -> None:
    with LlmServer(limits=limits) as server:
        error = ask(server, times=3)
        assert (error.status_code, error.code) == (429, "rate_limit_exceeded")
        assert 0 < int(error.response.headers["retry-after"]) <= 60
        what = "requests" if limits.requests else "tokens"
        assert error.response.headers[f"x-ratelimit-remaining-{what}"] == "0"
        assert [entry.status for entry in server.chats] == [200, 200, 429]
        assert server.most_in(60.0) == 3


def test_a_mix_of_faults_depends_on_the_request_and_not_on_the_order() -> None:
    kinds = [faults.status(500), faults.prose()]
    bodies = [f"body {number}".encode() for number in range(200)]

    def given(order: list[bytes]) -> dict[bytes, list[str]]:
        mix = faults.Mix(0.2, kinds, seed=7, most=1)
        found: dict[bytes, list[str]] = {}
        for body in order * 3:
            fault = mix.next(body)
            if fault:
                found.setdefault(body, []).append(fault.kind)
        return found

    found = given(bodies)
    assert given(bodies[::-1]) == found
    assert all(len(kinds_) == 1 for kinds_ in found.values())
    assert 70 < len(found) < 120  # 1 - .8 ** 3 of 200 is 98


def test_arguments_are_spoiled(llm_server: LlmServer) -> None:
    two = TOOL["function"] | {  # type: ignore[operator]
        "strict": False,
        "parameters": {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}},
    }
    expected = {
        faults.wrong_types(): '{"a": {"value": "x"}, "b": [{"value": "x"}]}',
        faults.missing_arguments(): '{"a": "x"}',
        faults.half_arguments(): '{"a": "x", ',
    }
    for fault, arguments in expected.items():
        llm_server.faults.append(fault)
        reply = ask(llm_server, tools=[{"type": "function", "function": two}])
        assert reply.choices[0].message.tool_calls[0].function.arguments == arguments


def test_models_are_listed(llm_server: LlmServer) -> None:
    async def models() -> list[str]:
        async with AsyncOpenAI(base_url=llm_server.base_url, api_key=llm_server.key) as client:
            return [model.id async for model in client.models.list()]

    assert asyncio.run(models()) == llm_server.models
