"""What a status and an error's words lead to, those of a request that is too long included."""

from typing import Any

import pytest

from tests.llm_server.profiles import refusals
from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import (
    Overflow,
    SendError,
    inside,
    of_response,
    retry_after,
    used_up,
)

KEY = "a.secret.of.no.usual.form"
ENDPOINT = Endpoint("gpt-x", "http://localhost:1/v1?token=hidden")


def failure(status: int, key: str = KEY, headers: Any = None, **error: Any) -> SendError:
    payload = {"error": error} if error else None
    return of_response(ENDPOINT, key, status, headers or {}, payload, now=0.0)


@pytest.mark.parametrize(
    ("status", "error", "remedy"),
    [
        (401, {"message": f"Incorrect API key provided: {KEY}"}, "set it to one that is valid"),
        (402, {"message": "Payment required"}, "top it up"),
        (403, {"message": "Country not supported"}, "--model"),
        (404, {"message": "The model `gpt-x` does not exist", "code": "model_not_found"}, "gpt-x"),
        (404, {"message": "Invalid URL (POST /chat)"}, "/v1"),
        (405, {}, "/v1"),
        (429, {"message": "You exceeded your quota", "code": "insufficient_quota"}, "top it up"),
        (429, {"message": "Spent", "type": "insufficient_quota", "code": None}, "top it up"),
    ],
)
def test_final_errors_end_with_the_remedy(status: int, error: Any, remedy: str) -> None:
    found = failure(status, **error)
    assert found.final
    assert not found.transient
    assert remedy in found.message
    assert found.status == str(status)


def test_a_missing_key_is_distinguished_from_a_wrong_one() -> None:
    assert "wants a key: set OPENAI_API_KEY (401: no)" in failure(401, NO_KEY, message="no").message


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_passes_is_tried_again(status: int) -> None:
    found = failure(status, headers={"retry-after": "3"}, message="later")
    assert found.transient
    assert not found.final
    assert found.retry_after == 3.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_message_has_the_key_or_the_query_of_the_url(status: int) -> None:
    said = f"No entry <{KEY}>, nor Bearer sk-other-key-999999, for\nmodel gpt-x"
    message = failure(status, message=said).message
    assert KEY not in message
    assert "999999" not in message
    assert "hidden" not in message
    assert "\n" not in message


def test_the_endpoints_words_are_cut() -> None:
    assert len(failure(500, message="x" * 10_000).message) < 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "600"}, 600.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=100.0) == seconds


@pytest.mark.parametrize("payload", [None, [], "oops", {"error": "oops"}, {"error": None}, 3])
def test_errors_of_other_shapes_are_read(payload: Any) -> None:
    assert of_response(ENDPOINT, KEY, 500, {}, payload, 0.0).transient


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("20ms", 0.02),
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("12", 12.0),
        ("1700000030", 30.0),
        ("0s", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_budget_that_is_used_up_is_waited_for(reset: str, seconds: float | None) -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset}
    assert used_up(headers, 1_700_000_000.0) == seconds


def test_a_budget_with_something_left_is_not_waited_for() -> None:
    headers = {"x-ratelimit-remaining-tokens": "1", "x-ratelimit-reset-tokens": "1s"}
    assert used_up(headers, 0.0) is None
    assert used_up({}, 0.0) is None


ROWS = [
    pytest.param(row["kind"], one, id=f"{row['kind']} {one['of']}")
    for row in refusals()
    for one in row["examples"]
]


@pytest.mark.parametrize(("kind", "example"), ROWS)
def test_what_each_provider_says_is_known(kind: str, example: Any) -> None:
    error = {
        "message": example["says"],
        "param": example.get("param"),
        "code": example.get("codes"),
    }
    found = failure(example.get("status", 400), **error)
    assert found.kind == kind
    assert example["says"][:60] in found.message
    assert str(example.get("status", 400)) in found.message
    assert found.cap == example.get("cap")
    numbers = Overflow(example.get("context"), example.get("prompt"))
    assert found.overflow == (numbers if kind == "overflow" else None)
    assert found.final == (kind in ("quota", "key", "unloaded", "model"))
    assert found.transient == (kind == "busy")
    reasons = {"overflow": TRUNCATED, "filtered": FILTERED}
    assert found.reason == reasons.get(kind, TRANSPORT)


def test_every_provider_is_in_the_table() -> None:
    known: dict[str, set[str]] = {}
    for row in refusals():
        for one in row["examples"]:
            known.setdefault(one["of"], set()).add(row["kind"])
    hosted = {"OpenAI", "Azure", "Anthropic", "Gemini", "Bedrock", "Mistral", "Groq", "DeepSeek"}
    local = {"vLLM", "llama.cpp", "Ollama", "LM Studio"}
    for name in (*hosted, *local, "OpenRouter"):
        assert "overflow" in known[name], name


def test_fields_go_before_words() -> None:
    fields: dict[str, Any] = {
        "n_prompt_tokens": 1407,
        "n_ctx": 256,
        "type": "exceed_context_size_error",
    }
    assert failure(500, **fields).overflow == Overflow(256, 1407)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Rate limit: too many tokens in the context window"),
        (400, "max_tokens is too large: 9. This model supports at most 4 completion tokens"),
        (400, "registry.ollama.ai/library/llama3:8b does not support tools"),
    ],
)
def test_other_errors_are_no_overflow(status: int, message: str) -> None:
    assert failure(status, message=message).overflow is None


@pytest.mark.parametrize("status", [400, 413, 422, 404, 500])
def test_words_that_are_not_known_are_an_unexplained_refusal_of_the_request(status: int) -> None:
    found = failure(status, message="the flux is inverted")
    assert found.unexplained == (status in (400, 422))
    if status != 404:
        assert f"answered {status}: the flux is inverted" in found.message


def test_what_the_provider_behind_a_gateway_said_is_shown() -> None:
    found = failure(
        400,
        message="Provider returned error",
        metadata={"raw": "prompt is too long: 210000 tokens > 200000 maximum"},
    )
    assert found.overflow == Overflow(200000, 210000)
    assert "Provider returned error: prompt is too long" in found.message


def test_an_error_in_a_list_is_read() -> None:
    payload = [{"error": {"code": 400, "message": "Overloaded", "status": "UNAVAILABLE"}}]
    assert of_response(ENDPOINT, KEY, 400, {}, payload, 0.0).transient


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"error": {"message": "x", "code": 429}}, 429),
        ({"error": {"message": "x", "code": "502"}, "choices": []}, 502),
        ({"error": "x"}, 400),
        ({"error": {"message": "x", "code": "server_error"}}, 400),
        ({"choices": [{"error": {"code": 503}, "message": {"content": "The ri"}}]}, 503),
        ({"choices": [{"message": {}}], "error": {"code": 500}}, 500),
        ({"error": None, "choices": []}, None),
        ("x", None),
    ],
)
def test_an_error_inside_a_reply_is_found(payload: Any, expected: int | None) -> None:
    found = inside(payload)
    assert (found and found[0]) == expected


def test_an_error_inside_a_reply_says_so() -> None:
    found = of_response(ENDPOINT, KEY, 503, {}, {"error": {"message": "later"}}, 0.0, inside=True)
    assert found.transient
    assert "answered 200 with the error 503: later" in found.message
