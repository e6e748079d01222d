"""What a probe finds out about endpoints of all kinds, and with how many requests."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, WORKS, LlmServer, Switches
from tests.transforms.llm.asked import call
from ufo.schemas.records import TRUNCATED
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
    Change,
    learned,
    probe_call,
)
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import SendError, of_response
from ufo.transforms.llm.request import VERIFIER, Choice, LlmError, Request


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
        (Switches(tools=REJECTED), CALL, Capabilities(FORMS[2:]), 5),
        (Switches(tool_choice=REJECTED), CALL, Capabilities(FORMS[1:]), 4),
        (Switches(strict=REJECTED), CALL, Capabilities(strict=False), 2),
        (
            Switches(tools=REJECTED, max_tokens=REJECTED),
            CALL,
            Capabilities((WORDS,), False, False, limit_fields=NEW),
            14,
        ),
        (Switches(max_tokens=REJECTED), CALL, Capabilities(limit_fields=NEW), 6),
        (Switches(temperature_fixed=True), CALL, Capabilities(temperature_zero=False), 7),
        (
            Switches(logprobs=REJECTED, n=REJECTED),
            SAMPLE,
            Capabilities(logprobs=False, n=False),
            6,
        ),
    ],
)
def test_what_a_refusal_without_a_name_is_about_is_found(
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
        (WORDS,), False, False, n=False, logprobs=False, temperature_zero=False, limit_fields=()
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
        return [Choice(finish_reason="length")], known  # it was thinking

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [160, 1024]


def test_a_model_that_talks_on_in_place_of_calling_has_ignored_the_form() -> None:
    async def ask(
        request: Request, known: Capabilities, n: int
    ) -> tuple[Sequence[Choice], Capabilities]:
        text = "The word is ready. " * 50 if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_call(ask, Capabilities())).form == JSON_SCHEMA


def refused(message: str = "no", param: str | None = None, status: int = 400) -> SendError:
    payload = {"error": {"message": message, "param": param}}
    return of_response(Endpoint("m", "http://localhost:1"), NO_KEY, status, {}, payload, 0.0)


LOWER = {"forms": FORMS[1:]}
FORMATS = {"forms": FORMS[2:]}
WRITTEN_OUT = {"references": False}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused(param="n"), {"n": False}),
        (refused(param="tools[0].function.strict"), {"strict": False}),
        (refused(param="tools[0].function.parameters"), {"strict": False}),
        (refused("Unsupported parameter: 'max_tokens'."), {"limit_fields": NEW}),
        (refused('[{"loc": ["body", "n"], "msg": "must be 1"}]'), {"n": False}),
        (refused("temperature is fixed"), {"temperature_zero": False}),
        (refused("in a run the text may be to blame"), None),
        (refused("a word, n, in passing"), None),
        (refused(param="messages"), None),
        (refused("max_tokens: 9 > 4, which is the maximum allowed number of output tokens"),
         {"most_tokens": 4}),
        (refused("max_tokens is too large"), {"most_tokens": 4}),
        (refused("`max_tokens` must be less than or equal to `9`"), {"most_tokens": 8}),
        (refused("'n'", status=429), None),
        (refused("'n'", status=401), None),
        (refused(param="tools"), FORMATS),
        (refused("registry.ollama.ai/library/llama3:8b does not support tools"), FORMATS),
        (refused("tools param requires --jinja flag", status=500), FORMATS),
        (refused("Invalid tool_choice type: 'object'."), LOWER),
        (refused("Failed to initialize samplers: failed to parse grammar"), WRITTEN_OUT),
        (refused("JSON schema conversion failed", status=500), WRITTEN_OUT),
        (refused("""Unknown name "$ref" at 'tools[0].function_declarations[0]'"""), WRITTEN_OUT),
    ],
)  # fmt: skip
def test_what_a_refusal_teaches(error: SendError, expected: Change | None) -> None:
    assert learned(Capabilities(), call(max_tokens=9), 5, error, 9) == expected


@pytest.mark.parametrize(
    ("known", "message", "expected"),
    [
        (Capabilities(references=False), "failed to parse grammar", LOWER),
        (Capabilities(FORMS[2:], references=False), "invalid JSON schema in format",
         {"forms": FORMS[3:]}),
        (Capabilities((JSON_OBJECT, WORDS)), "response_format is unavailable now",
         {"forms": (WORDS,)}),
        (Capabilities((WORDS,)), "failed to parse grammar", None),
        (Capabilities((WORDS,)), "does not support tools", None),
    ],
)  # fmt: skip
def test_a_form_is_given_up_where_its_simplest_schema_is_refused(
    known: Capabilities, message: str, expected: Change | None
) -> None:
    assert learned(replace(known, strict=False), call(), 1, refused(message)) == expected


def test_what_is_known_is_kept_as_json() -> None:
    known = Capabilities((REQUIRED, WORDS), n=False)
    assert Capabilities.from_json(json.loads(json.dumps(asdict(known)))) == known
    with pytest.raises(TypeError):
        Capabilities.from_json({"tools": True, "limit_fields": []})
