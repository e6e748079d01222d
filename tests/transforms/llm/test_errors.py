"""What the errors of endpoints mean, by their words and their status."""

import json
from typing import Any

import pytest

from tests.golden.tables import tables
from tests.llm_server.profiles import refusals
from ufo.transforms.llm import errors
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.errors import Overflow, SendError, of_response

TABLES = tables("endpoints")
KEY = "a.secret.of.no.usual.form"
ENDPOINT = Endpoint("gpt-x", "http://localhost:1/v1?token=hidden")


def failure(status: int, key: str = KEY, **error: Any) -> SendError:
    return of_response(ENDPOINT, key, status, {}, {"error": error} if error else None, now=0.0)


@pytest.mark.parametrize(
    ("status", "error", "remedy"), TABLES["remedies"].values(), ids=TABLES["remedies"]
)
def test_final_errors_end_with_the_remedy(status: int, error: Any, remedy: str) -> None:
    refusal = failure(status, **error)
    assert refusal.final
    assert not refusal.transient
    assert refusal.status == str(status)
    assert remedy in refusal.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_message_has_the_key_or_the_query_of_the_url_and_all_are_cut(status: int) -> None:
    words = f"No entry <{KEY}>, nor Bearer sk-other-key-999999, for\nmodel gpt-x {'x' * 10_000}"
    message = failure(status, message=words).message
    assert [word for word in (KEY, "999999", "hidden", "\n") if word in message] == []
    assert len(message) < 600


@pytest.mark.parametrize("word", ["x", "ollama", "EMPTY"])
def test_a_word_in_place_of_a_key_is_not_taken_out_of_messages(word: str) -> None:
    assert f"{word} does not exist" in failure(400, word, message=f"{word} does not exist").message


def test_a_wait_of_hours_is_waited_for_as_long_as_retries_may_take() -> None:
    error = failure(429, message="Too many requests, try again in 1 hour")
    assert error.transient
    assert error.retry_after == 3600.0


FINAL = ("day", "quota", "key", "region", "tls", "unloaded", "model")
KINDS = [row["kind"] for row in refusals()]
ROWS = [(row["kind"], one) for row in refusals() for one in row["examples"]]


@pytest.mark.parametrize(("kind", "example"), ROWS, ids=lambda it: it if it in KINDS else it["of"])
def test_what_each_provider_says_is_known(kind: str, example: Any) -> None:
    status, message = example.get("status", 400), example["says"]
    codes = example.get("codes")
    error = failure(status, message=message, param=example.get("param"), code=codes)
    assert error.kind == kind
    assert message[:60] in error.message
    assert str(status) in error.message
    assert error.cap == example.get("cap")
    numbers = Overflow(example.get("context"), example.get("prompt"))
    assert error.overflow == (numbers if kind == "overflow" else None)
    assert error.final == (kind in FINAL)
    assert error.transient == (kind == "busy")
    assert error.reason == {"overflow": "truncated", "filtered": "filtered"}.get(kind, "transport")


# Words that providers use beside those of the examples, by the kind of error that they name.
SAID = {
    "quota": ["billing_hard_limit_reached", "billing_not_active", "access_terminated"],
    "key": ["invalid_api_key"],
    "unloaded": ["the model is not loaded", "model was unloaded"],
    "model": ["model_not_found", "an invalid model", "invalid_model"],
    "stream": [
        "it only supports the stream mode",
        "enable the stream parameter",
        "stream=true is required",
    ],
    "filtered": [
        "content_filter",
        "content_policy_violation",
        "ResponsibleAIPolicyViolation",
        "the content management policy",
    ],
    "overflow": [
        "context_length_exceeded",
        "too many input tokens",
        "it exceeds the context",
        "reduce the length of the messages",
        "longer than the maximum",
    ],
    "strict": ["strict is unknown", "invalid_function_parameters", "function.parameters"],
    "schema": [
        "a bad schema",
        "a $ref",
        "no $defs",
        "maxItems?",
        "additionalProperties?",
        "Unknown name",
        "nesting depth",
        "too many states",
    ],
    "tools": ["unsupported param: tools", "no functions here", "no function_call"],
    "format": ["json_schema?", "json_object?", "no json mode", "no structured output"],
    "busy": [
        "the rate limit",
        "too many requests",
        "temporarily down",
        "try again later",
        "ResourceExhausted",
        "RESOURCE_EXHAUSTED",
    ],
}


@pytest.mark.parametrize(
    ("kind", "words"), [(kind, words) for kind, many in SAID.items() for words in many]
)
def test_an_error_is_known_by_any_of_its_words(kind: str, words: str) -> None:
    assert kind in failure(400, message=words).kinds


BUSY = (408, 409, 425, 429, 500, 501, 502, 503, 504, 529, 599)


@pytest.mark.parametrize("status", [*BUSY, 400, 401, 402, 403, 404, 405, 406, 410, 418, 422, 499])
def test_an_unknown_error_passes_by_its_status_alone(status: int) -> None:
    assert failure(status, message="the flux is inverted").transient == (status in BUSY)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "key"), (402, "quota"), (404, "path"), (405, "path"), (407, "page"), (412, "quota")],
)
def test_an_error_that_all_would_meet_is_final_by_its_status(status: int, kind: str) -> None:
    error = failure(status, message="the flux is inverted")
    assert error.kind == kind
    assert error.final
    assert not error.refusal


@pytest.mark.parametrize("words", ["no model here", f"no {ENDPOINT.model} here"])
def test_nothing_at_an_address_is_about_the_model_where_it_is_named(words: str) -> None:
    assert failure(404, message=words).kind == "model"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abcdef",
        "pk-abcdef",
        "sk_abcdef",
        "PK abcdef",
        "key-abcde1",
        "Bearer abcde1",
        "key_abcd**",
    ],
)
def test_what_looks_like_a_key_is_not_shown(secret: str) -> None:
    message = failure(400, message=f"no entry for {secret}.").message
    assert secret not in message
    assert "no entry for ***" in message


@pytest.mark.parametrize(
    "words", ["sk-short", "the key-value pair", "Bearer of news", "desk-abcdefg"]
)
def test_words_that_are_no_key_are_shown(words: str) -> None:
    assert f"about {words}" in failure(400, message=f"about {words}").message


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "odd flux"}},
        {"error": {"Message": "odd flux"}},
        {"error": {"detail": "odd flux"}},
        {"error": "odd flux"},
        {"detail": "odd flux"},
        {"message": "odd flux"},
        [{"error": {"message": "odd flux"}}],
        "odd flux",
    ],
    ids=json.dumps,
)
def test_the_words_of_an_error_are_found_wherever_they_are(payload: Any) -> None:
    assert of_response(ENDPOINT, KEY, 400, {}, payload, 0.0).message.endswith("400: odd flux")


@pytest.mark.parametrize("field", ["code", "type", "status"])
def test_the_code_of_an_error_is_found_in_any_of_its_fields(field: str) -> None:
    payload = {"error": {"message": "no", field: "insufficient_quota"}}
    assert of_response(ENDPOINT, KEY, 400, {}, payload, 0.0).kind == "quota"


def test_an_error_has_the_id_of_its_request_and_the_wait_that_is_asked_for() -> None:
    headers = {"x-request-id": "q1", "retry-after": "7"}
    error = of_response(ENDPOINT, KEY, 503, headers, {"error": "busy"}, 0.0)
    assert error.request_id == "q1"
    assert error.retry_after == 7.0


def test_a_used_up_limit_is_waited_for_only_after_status_429() -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s"}
    waits = [of_response(ENDPOINT, KEY, n, headers, {}, 0.0).retry_after for n in (429, 503)]
    assert waits == [9.0, None]


def test_a_request_that_is_too_long_is_known_by_fields_before_words() -> None:
    fields: dict[str, Any] = {"n_prompt_tokens": 1407, "n_ctx": 256}
    assert failure(500, **fields, type="exceed_context_size_error").overflow == Overflow(256, 1407)
    raw = {"raw": "prompt is too long: 210000 tokens > 200000 maximum"}
    error = failure(400, message="Provider returned error", metadata=raw)  # of a gateway
    assert error.overflow == Overflow(200000, 210000)
    assert "Provider returned error: prompt is too long" in error.message
    busy = failure(429, message="Rate limit: too many tokens in the context window")
    large = "max_tokens is too large: 9. This model supports at most 4 completion tokens"
    assert busy.overflow is failure(400, message=large).overflow is None


def test_errors_of_other_shapes_are_read() -> None:
    shapes: list[Any] = [None, [], "oops", {"error": "oops"}, {"error": None}, 3]
    for shape in shapes:
        assert of_response(ENDPOINT, KEY, 500, {}, shape, 0.0).transient, shape
    assert "wants a key: set OPENAI_API_KEY (401: no)" in failure(401, NO_KEY, message="no").message
    unknown = [failure(status, message="the flux is inverted") for status in (400, 413, 422, 500)]
    assert [one.unexplained for one in unknown] == [True, False, True, False]
    assert "answered 413: the flux is inverted" in unknown[1].message


@pytest.mark.parametrize(("payload", "expected"), TABLES["inside"].values(), ids=TABLES["inside"])
def test_an_error_inside_a_reply_is_found(payload: Any, expected: int | None) -> None:
    status = errors.error_inside(payload)
    assert (status and status[0]) == expected


@pytest.mark.parametrize("code", [399, 600, "4290"])
def test_an_error_inside_a_reply_with_no_status_of_an_error_is_a_bad_request(code: Any) -> None:
    assert errors.error_inside({"error": {"code": code}}) == (400, {"error": {"code": code}})


def test_300_characters_of_a_message_are_shown() -> None:
    assert failure(400, message="x" * 301).message.endswith(f"400: {'x' * 300}")


@pytest.mark.parametrize(("before", "kind"), [(3985, "filtered"), (3986, "")])
def test_4000_characters_of_a_message_are_searched(before: int, kind: str) -> None:
    assert failure(400, message=f"{'x' * before} content_filter").kind == kind


def test_numbers_of_tokens_may_have_commas() -> None:
    message = "prompt is too long: 210,000 tokens > 200,000 maximum"
    assert failure(400, message=message).overflow == Overflow(200_000, 210_000)


def test_a_wait_that_is_asked_for_goes_before_a_limit_that_is_used_up() -> None:
    limit = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s"}
    error = of_response(ENDPOINT, KEY, 429, {**limit, "retry-after": "7"}, {}, 0.0)
    assert error.retry_after == 7.0


def test_a_status_403_alone_is_about_one_request() -> None:
    error = failure(403, message="the flux is inverted")
    assert not error.final
    assert not error.refusal
    assert "--model" in error.message
    assert error.sameness == "403 the flux is inverted"


PAGE = "<!doctype html><html><head><title>Sign in &amp; go</title></head></html>"


@pytest.mark.parametrize("status", [200, 302, 403])
def test_a_web_page_is_in_place_of_the_endpoint(status: int) -> None:
    error = of_response(ENDPOINT, KEY, status, {}, PAGE, 0.0)
    assert error.final
    assert f"({status}: Sign in & go)" in error.message
    assert "--base_url" in error.message


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_web_page_of_a_busy_server_passes(status: int) -> None:
    error = of_response(ENDPOINT, KEY, status, {}, PAGE, 0.0)
    assert error.transient
    assert "Sign in & go" in error.message


@pytest.mark.parametrize(
    ("payload", "seconds"),
    [
        ({"error": {"message": "Rate limit. Please try again in 6m0s."}}, 360.0),
        ({"error": {"message": "slow down", "retry_after": 12}}, 12.0),
        ({"error": {"details": [{"retryDelay": "31.5s"}]}}, 31.5),
        ({"error": {"metadata": {"headers": {"Retry-After": "9"}}}}, 9.0),
        ({"error": {"message": "slow down"}}, None),
    ],
)
def test_the_wait_is_read_in_the_body_of_an_error(payload: Any, seconds: float | None) -> None:
    assert of_response(ENDPOINT, KEY, 429, {}, payload, 0.0).retry_after == seconds
