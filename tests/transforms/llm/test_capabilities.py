"""What a probe finds out about endpoints of all kinds, and with how many requests."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, WORKS, LlmServer, Switches
from tests.transforms.llm.asked import call
from ufo.schemas.records import TRUNCATED
from ufo.transforms.llm.base import VERIFIER, Choice, LlmError, Request
from ufo.transforms.llm.capabilities import (
    CALL,
    FORMS,
    JSON_OBJECT,
    JSON_OBJECT_SCHEMA,
    JSON_SCHEMA,
    REQUIRED,
    SAMPLE,
    WORDS,
    Capabilities,
    learned,
    probe_call,
)
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.settings import ClientSettings


def probe(server: LlmServer, *shapes: str) -> Capabilities:
    async def ask() -> Capabilities:
        endpoint = Endpoint("offline-judge", server.base_url)
        client = OpenAiClient(ClientSettings({VERIFIER: endpoint}))
        try:
            known, rows = await client.probe(VERIFIER, *shapes)
            again, nothing = await client.probe(VERIFIER, *shapes)
            assert again == known
            assert nothing == []
            assert [row.step for row in rows] == ["probe"] * len(server.chats)
            return known
        finally:
            await client.aclose()

    return asyncio.run(ask())


BOTH = (CALL, SAMPLE)
NEW = ("max_completion_tokens",)


@pytest.mark.parametrize(
    ("switches", "shapes", "expected", "requests"),
    [
        (Switches(), BOTH, Capabilities(), 2),
        (Switches(), (CALL,), Capabilities(), 1),
        (Switches(tools=REJECTED), (CALL,), Capabilities(FORMS[2:]), 2),
        (Switches(tools=IGNORED), (CALL,), Capabilities(FORMS[2:]), 3),
        (Switches(tool_choice=REJECTED), (CALL,), Capabilities(FORMS[1:]), 2),
        (Switches(tool_choice=IGNORED), (CALL,), Capabilities(FORMS[1:]), 2),
        (
            Switches(tools=IGNORED, json_schema=IGNORED),
            (CALL,),
            Capabilities((JSON_OBJECT, WORDS)),
            5,
        ),
        (
            Switches(tools=REJECTED, response_format=REJECTED),
            (CALL,),
            Capabilities((WORDS,)),
            5,
        ),
        (Switches(strict=REJECTED), (CALL,), Capabilities(strict=False), 2),
        (Switches(temperature_fixed=True), BOTH, Capabilities(temperature_zero=False), 3),
        (Switches(n=REJECTED), (SAMPLE,), Capabilities(n=False), 2),
        (Switches(n=IGNORED), (SAMPLE,), Capabilities(n=False), 1),
        (Switches(logprobs=REJECTED), (SAMPLE,), Capabilities(logprobs=False), 2),
        (Switches(logprobs=IGNORED), (SAMPLE,), Capabilities(logprobs=False), 1),
        (Switches(max_completion_tokens=REJECTED), BOTH, Capabilities(), 2),
        (Switches(max_tokens=REJECTED), BOTH, Capabilities(limit_fields=NEW), 3),
        (Switches(max_tokens=IGNORED), BOTH, Capabilities(limit_fields=NEW), 3),
        (
            Switches(max_tokens=REJECTED, max_completion_tokens=REJECTED),
            BOTH,
            Capabilities(limit_fields=()),
            4,
        ),
        (
            Switches(max_tokens=IGNORED, max_completion_tokens=IGNORED),
            (SAMPLE,),
            Capabilities(limit_fields=()),
            3,
        ),
    ],
)
def test_probe(
    llm_server: LlmServer,
    switches: Switches,
    shapes: tuple[str, ...],
    expected: Capabilities,
    requests: int,
) -> None:
    llm_server.switches = switches
    assert probe(llm_server, *shapes) == expected
    assert len(llm_server.chats) == requests


@pytest.mark.parametrize(
    ("switches", "shape", "expected", "requests"),
    [
        (Switches(tools=REJECTED), CALL, Capabilities(FORMS[2:]), 3),
        (Switches(tool_choice=REJECTED), CALL, Capabilities(FORMS[1:]), 2),
        (Switches(strict=REJECTED), CALL, Capabilities(strict=False), 5),
        (
            Switches(tools=REJECTED, max_tokens=REJECTED),
            CALL,
            Capabilities(FORMS[2:], limit_fields=NEW),
            12,
        ),
        (Switches(max_tokens=REJECTED), CALL, Capabilities(limit_fields=NEW), 10),
        (Switches(temperature_fixed=True), CALL, Capabilities(temperature_zero=False), 13),
        (
            Switches(logprobs=REJECTED, n=REJECTED),
            SAMPLE,
            Capabilities(logprobs=False, n=False),
            7,
        ),
    ],
)
def test_what_a_refusal_without_a_name_is_about_is_found_and_nothing_else_given_up(
    llm_server: LlmServer,
    switches: Switches,
    shape: str,
    expected: Capabilities,
    requests: int,
) -> None:
    llm_server.switches = replace(switches, named_errors=False)
    assert probe(llm_server, shape) == expected
    assert len(llm_server.chats) == requests


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("openai", Capabilities()),
        ("ollama", Capabilities(FORMS[2:], n=False, logprobs=False)),
        ("lmstudio", Capabilities(FORMS[1:], n=False, logprobs=False)),
        ("llamacpp", Capabilities(FORMS[2:], n=False)),
        ("vllm", Capabilities()),
    ],
)
def test_what_is_found_of_servers_as_people_run_them(
    llm_server: LlmServer, profile: str, expected: Capabilities
) -> None:
    llm_server.switches = PROFILES[profile]
    assert probe(llm_server) == expected


@pytest.mark.parametrize(
    ("switches", "form"),
    [
        (replace(PROFILES["lmstudio"], tools=IGNORED), JSON_SCHEMA),
        (replace(PROFILES["lmstudio"], tools=IGNORED, json_schema=IGNORED), WORDS),
        (
            Switches(tools=IGNORED, json_schema=REJECTED, json_object_schema=WORKS),
            JSON_OBJECT_SCHEMA,
        ),
        (Switches(tools=IGNORED, json_schema=REJECTED), JSON_OBJECT),
    ],
)
def test_the_best_form_that_brings_the_arguments_is_used(
    llm_server: LlmServer, switches: Switches, form: str
) -> None:
    llm_server.switches = switches
    assert probe(llm_server, CALL).form == form


def test_an_endpoint_that_takes_the_least_can_be_used(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(
        tools=REJECTED, strict=REJECTED, n=REJECTED, logprobs=REJECTED, response_format=REJECTED,
        temperature_fixed=True, max_tokens=REJECTED, max_completion_tokens=REJECTED,
        named_errors=False,
    )  # fmt: skip
    known = probe(llm_server)
    assert known == Capabilities(
        (WORDS,), n=False, logprobs=False, temperature_zero=False, limit_fields=()
    )


def test_an_endpoint_that_refuses_the_plainest_request_is_unusable(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=1)
    with pytest.raises(LlmError, match="maximum context length") as error:
        probe(llm_server)
    assert error.value.final


def test_a_small_context_that_has_to_hold_the_reply_too_is_no_reason_to_give_up() -> None:
    limits: list[int | None] = []

    async def ask(
        request: Request, known: Capabilities, n: int
    ) -> tuple[Sequence[Choice], Capabilities]:
        limits.append(request.max_tokens)
        if (request.max_tokens or 0) > 256:
            raise SendError("maximum context length is 512 tokens", "400", reason=TRUNCATED)
        return [Choice(arguments='{"word": "ready"}')], known

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [1024, 128]


def refused(message: str = "no", param: str | None = None, **more: Any) -> SendError:
    return SendError(message, "400", param=param, **more)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused(param="n"), Capabilities(n=False)),
        (refused(param="tools[0].function.strict"), Capabilities(strict=False)),
        (refused(param="tools[0].function.parameters"), Capabilities(strict=False)),
        (
            refused("Unsupported parameter: 'max_tokens'."),
            Capabilities(limit_fields=NEW),
        ),
        (refused('[{"loc": ["body", "n"], "msg": "must be 1"}]'), Capabilities(n=False)),
        (refused("temperature is fixed"), Capabilities(temperature_zero=False)),
        (refused("in a run the text may be to blame"), None),
        (refused("a word, n, in passing"), None),
        (refused(param="messages"), None),
        (
            refused(
                "max_tokens is too large: 8192. This model supports at most 4096 completion "
                "tokens, whereas you provided 8192.",
                "max_tokens",
            ),
            Capabilities(most_tokens=4096),
        ),
        (refused("'n'", transient=True), None),
        (refused("'n'", final=True), None),
        (refused("max_completion_tokens is too large", reason=TRUNCATED), None),
    ],
)
def test_what_a_refusal_teaches(error: SendError, expected: Capabilities | None) -> None:
    assert learned(Capabilities(), call(max_tokens=9), 5, error) == expected


@pytest.mark.parametrize(
    ("error", "forms"),
    [
        (refused(param="tools"), FORMS[2:]),
        (refused("registry.ollama.ai/library/llama3:8b does not support tools"), FORMS[2:]),
        (refused("Invalid tool_choice type: 'object'."), FORMS[1:]),
        (refused(param="tool_choice"), FORMS[1:]),
    ],
)
def test_tools_are_given_up_by_a_probe_only(error: SendError, forms: tuple[str, ...]) -> None:
    assert learned(Capabilities(), call(), 1, error) is None
    assert learned(Capabilities(), call(), 1, error, probing=True) == Capabilities(forms)


def test_a_response_format_is_given_up_in_a_run_too() -> None:
    known = Capabilities(FORMS[2:], strict=False)
    error = refused("Invalid schema for response_format 'verify_facts'")
    assert learned(known, call(), 1, error) == replace(known, forms=FORMS[3:])


def test_what_is_known_is_kept_as_json() -> None:
    known = Capabilities((REQUIRED, WORDS), n=False)
    assert Capabilities.from_json(json.loads(json.dumps(asdict(known)))) == known
    with pytest.raises(TypeError):
        Capabilities.from_json({"tools": True, "limit_fields": []})
