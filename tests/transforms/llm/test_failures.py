"""What a status and an error's words lead to, those of a request that is too long included."""

from typing import Any

import pytest

from tests.llm_server import PROFILES
from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import (
    Overflow,
    SendError,
    of_response,
    overflow_of,
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
    assert "wants a key (401): set OPENAI_API_KEY" in failure(401, NO_KEY, message="no").message


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_passes_is_tried_again(status: int) -> None:
    found = failure(status, headers={"retry-after": "3"}, message="later")
    assert found.transient
    assert not found.final
    assert found.retry_after == 3.0


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (400, {"message": "no", "code": "content_filter"}, FILTERED),
        (400, {"message": "no", "code": "content_policy_violation"}, FILTERED),
        (400, {"message": "Too long", "code": "context_length_exceeded"}, TRUNCATED),
        (400, {"message": "This model's maximum context length is 8 tokens."}, TRUNCATED),
        (413, {"message": "Request entity too large"}, TRUNCATED),
        # As llama.cpp said it first: github.com/ggml-org/llama.cpp/pull/15780.
        (500, {"message": "too much", "type": "exceed_context_size_error"}, TRUNCATED),
        (500, {"message": "tools param requires --jinja flag"}, TRANSPORT),
        (500, {"message": "Unsupported param: tools"}, TRANSPORT),
        (404, {"message": "No endpoints found that support tool use."}, TRANSPORT),
        (400, {"message": "Invalid 'n'", "param": "n"}, TRANSPORT),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "bad"}]}, TRANSPORT),
    ],
)
def test_what_is_wrong_with_one_request_concerns_it_alone(
    status: int, error: Any, reason: str
) -> None:
    found = failure(status, **error)
    assert (found.reason, found.final, found.transient) == (reason, False, False)


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


SAID = [
    (
        "request (931 tokens) exceeds the available context size (512 tokens), try increasing it",
        Overflow(512, 931),
    ),
    (
        "the request exceeds the available context size. try increasing the context size or enable "
        "context shift",
        Overflow(),
    ),
    ("Requested tokens (2285) exceed context window of 2048", Overflow(2048, 2285)),
    (
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens "
        "(112946 in the messages, 10000 in the completion). Please reduce the length of the "
        "messages or completion.",
        Overflow(16384, 112946),
    ),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output "
        "tokens and your prompt contains at least 62466 input tokens, for a total of at least "
        "128001 tokens.",
        Overflow(128000),
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context "
        "length is 64001 tokens and your request has 24235 input tokens (64000 > 64001 - 24235).",
        Overflow(64001, 24235),
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 4116 tokens "
        "(3860 in your prompt; 256 for the completion).",
        Overflow(4097, 3860),
    ),
    (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is "
        "loaded with context length of only 32768 tokens, which is not enough.",
        Overflow(32768, 111490),
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or "
        "provide a shorter input.",
        Overflow(4096, 13055),
    ),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", Overflow(7424, 15028)),
    ("prompt is too long: 202609 tokens > 200000 maximum", Overflow(200000, 202609)),
    ("Your input exceeds the context window of this model.", Overflow()),
]


@pytest.mark.parametrize(("message", "expected"), SAID)
def test_the_numbers_are_read_where_they_are_said(message: str, expected: Overflow) -> None:
    assert overflow_of(400, set(), {}, message) == expected


def test_fields_go_before_words() -> None:
    fields = {"n_prompt_tokens": 1407, "n_ctx": 256}
    assert overflow_of(500, {"exceed_context_size_error"}, fields, "") == Overflow(256, 1407)


@pytest.mark.parametrize(
    ("status", "codes", "message"),
    [
        (429, set(), "Rate limit: too many tokens in the context window"),
        (400, {"invalid_value"}, "max_tokens is too large: 9. This model supports at most 4"),
        (400, set(), "registry.ollama.ai/library/llama3:8b does not support tools"),
    ],
)
def test_other_errors_are_none(status: int, codes: set[str], message: str) -> None:
    assert overflow_of(status, codes, {}, message) is None


@pytest.mark.parametrize("profile", PROFILES)
def test_the_numbers_of_every_profile_are_read(profile: str) -> None:
    error = PROFILES[profile].too_long(512, 700, 40).payload()
    fields = error.get("error", error)
    fields = fields if isinstance(fields, dict) else {"message": fields}
    codes = {str(fields.get(name)) for name in ("code", "type")}
    assert overflow_of(400, codes, fields, fields["message"]) == Overflow(512, 700)
