"""What a probe finds out about endpoints of all kinds, and with how many requests."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, LlmServer, Switches
from tests.transforms.llm.asked import call
from ufo.schemas.records import TRUNCATED
from ufo.transforms.llm.capabilities import (
    CALL,
    FORMS,
    JSON_OBJECT,
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
            assert await client.probe(VERIFIER, *shapes) == (known, [])
            assert [row.step for row in rows] == ["probe"] * len(server.chats)
            return known
        finally:
            await client.aclose()

    return asyncio.run(ask())


BOTH = (CALL, SAMPLE)
NO, PASSED = REJECTED, IGNORED
NEW: dict[str, Any] = {"limit_fields": ("max_completion_tokens",)}
LOWER, FORMATS = {"forms": FORMS[1:]}, {"forms": FORMS[2:]}
WORDS_ALONE = {"forms": (WORDS,), "references": False, "strict": False}
LM = PROFILES["lmstudio"]
UNNAMED = Switches(named_errors=False)
LEAST = Switches(
    tools=NO, strict=NO, n=NO, logprobs=NO, response_format=NO, temperature_fixed=True,
    max_tokens=NO, max_completion_tokens=NO, named_errors=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("switches", "shapes", "expected", "requests"),
    [
        (Switches(), BOTH, {}, 2),
        (Switches(tools=NO), (CALL,), FORMATS, 2),
        (Switches(tools=PASSED), (CALL,), FORMATS, 3),
        (Switches(tool_choice=NO), (CALL,), LOWER, 2),
        (Switches(tool_choice=PASSED), (CALL,), LOWER, 2),
        (Switches(tools=PASSED, json_schema=PASSED), (CALL,), {"forms": (JSON_OBJECT, WORDS)}, 5),
        (Switches(tools=NO, response_format=NO), (CALL,), {"forms": (WORDS,)}, 5),
        (Switches(strict=NO), (CALL,), {"strict": False}, 2),
        (Switches(temperature_fixed=True), BOTH, {"temperature_zero": False}, 3),
        (Switches(n=NO), (SAMPLE,), {"n": False}, 2),
        (Switches(n=PASSED), (SAMPLE,), {"n": False}, 1),
        (Switches(logprobs=NO), (SAMPLE,), {"logprobs": False}, 2),
        (Switches(logprobs=PASSED), (SAMPLE,), {"logprobs": False}, 1),
        (Switches(max_completion_tokens=NO), BOTH, {}, 2),
        (Switches(max_tokens=NO), BOTH, NEW, 3),
        (Switches(max_tokens=PASSED), BOTH, NEW, 3),
        (Switches(max_tokens=NO, max_completion_tokens=NO), BOTH, {"limit_fields": ()}, 4),
        (Switches(max_tokens=PASSED, max_completion_tokens=PASSED), (SAMPLE,),
         {"limit_fields": ()}, 3),
        # A refusal that does not say what it is about.
        (replace(UNNAMED, tools=NO), (CALL,), FORMATS, 5),
        (replace(UNNAMED, tool_choice=NO), (CALL,), LOWER, 4),
        (replace(UNNAMED, strict=NO), (CALL,), {"strict": False}, 2),
        (replace(UNNAMED, tools=NO, max_tokens=NO), (CALL,), WORDS_ALONE | NEW, 14),
        (replace(UNNAMED, max_tokens=NO), (CALL,), NEW, 6),
        (replace(UNNAMED, temperature_fixed=True), (CALL,), {"temperature_zero": False}, 7),
        (replace(UNNAMED, logprobs=NO, n=NO), (SAMPLE,), {"logprobs": False, "n": False}, 6),
        (LEAST, BOTH, WORDS_ALONE
         | {"n": False, "logprobs": False, "temperature_zero": False, "limit_fields": ()}, None),
        # Servers as people run them.
        (PROFILES["ollama"], BOTH, FORMATS | {"n": False, "logprobs": False}, None),
        (LM, BOTH, LOWER | {"n": False, "logprobs": False}, None),
        (PROFILES["llamacpp"], BOTH, FORMATS | {"n": False}, None),
        (PROFILES["vllm"], BOTH, {}, None),
    ],
)  # fmt: skip
def test_probe(
    llm_server: LlmServer,
    switches: Switches,
    shapes: tuple[str, ...],
    expected: dict[str, Any],
    requests: int | None,
) -> None:
    llm_server.switches = switches
    assert probe(llm_server, *shapes) == Capabilities(**expected)
    assert requests in (None, len(llm_server.chats))


def test_an_endpoint_that_refuses_the_plainest_request_is_unusable(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=1)
    with pytest.raises(LlmError, match="maximum context length") as error:
        probe(llm_server)
    assert error.value.final


Answered = tuple[Sequence[Choice], Capabilities]


def test_a_small_context_that_has_to_hold_the_reply_too_is_no_reason_to_give_up() -> None:
    limits: list[int | None] = []

    async def ask(request: Request, known: Capabilities, n: int) -> Answered:
        limits.append(request.max_tokens)
        if (request.max_tokens or 0) > 256:
            raise SendError("maximum context length is 512 tokens", "400", reason=TRUNCATED)
        return [Choice(finish_reason="length")], known  # it was thinking

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [160, 1024]


def test_a_model_that_talks_on_in_place_of_calling_has_ignored_the_form() -> None:
    async def ask(request: Request, known: Capabilities, n: int) -> Answered:
        text = "The word is ready. " * 50 if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_call(ask, Capabilities())).form == JSON_SCHEMA


def refused(message: str = "no", param: str | None = None, status: int = 400) -> SendError:
    payload = {"error": {"message": message, "param": param}}
    return of_response(Endpoint("m", "http://localhost:1"), NO_KEY, status, {}, payload, 0.0)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused(param="n"), {"n": False}),
        (refused(param="tools[0].function.strict"), {"strict": False}),
        (refused(param="tools[0].function.parameters"), {"strict": False}),
        (refused("Unsupported parameter: 'max_tokens'."), NEW),
        (refused('[{"loc": ["body", "n"], "msg": "must be 1"}]'), {"n": False}),
        (refused("temperature is fixed"), {"temperature_zero": False}),
        (refused("in a run the text may be to blame"), None),
        (refused("a word, n, in passing"), None),
        (refused(param="messages"), None),
        (refused("max_tokens: 9 > 4, the maximum allowed number of tokens"), {"most_tokens": 4}),
        (refused("max_tokens is too large"), {"most_tokens": 4}),
        (refused("`max_tokens` must be less than or equal to `9`"), {"most_tokens": 8}),
        (refused("'n'", status=429), None),
        (refused("'n'", status=401), None),
        (refused(param="tools"), FORMATS),
        (refused("tools param requires --jinja flag", status=500), FORMATS),
        (refused("Invalid tool_choice type: 'object'."), LOWER),
        (refused("JSON schema conversion failed", status=500), {"references": False}),
    ],
)
def test_what_a_refusal_teaches(error: SendError, expected: Change | None) -> None:
    assert learned(Capabilities(), call(max_tokens=9), 5, error, 9) == expected


def test_a_form_is_given_up_where_its_simplest_schema_is_refused() -> None:
    def lesson(message: str, *forms: str) -> Change | None:
        known = Capabilities(forms or FORMS, strict=False, references=False)
        return learned(known, call(), 1, refused(message))

    assert lesson("failed to parse grammar") == LOWER
    assert lesson("invalid JSON schema in format", *FORMS[2:]) == {"forms": FORMS[3:]}
    assert lesson("response_format is unavailable now", JSON_OBJECT, WORDS) == {"forms": (WORDS,)}
    assert lesson("failed to parse grammar", WORDS) is None
    assert lesson("does not support tools", WORDS) is None


def test_what_is_known_is_kept_as_json() -> None:
    known = Capabilities((REQUIRED, WORDS), n=False)
    assert Capabilities.from_json(json.loads(json.dumps(asdict(known)))) == known
    with pytest.raises(TypeError):
        Capabilities.from_json({"tools": True, "limit_fields": []})
