"""What a probe finds out about endpoints of all kinds, and what their errors lead to."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from tests.golden.tables import tables
from tests.llm_server import PROFILES, LlmServer, Switches
from tests.llm_server.profiles import refusals
from tests.transforms.llm.asked import Asked, call
from ufo.transforms.llm import errors
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.errors import Overflow, SendError, of_response
from ufo.transforms.llm.forms import (
    FORMS,
    JSON_SCHEMA,
    Capabilities,
    learned,
    probe_call,
    used,
)
from ufo.transforms.llm.request import VERIFIER, Choice, Message, Request


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


TABLES = tables("endpoints")


def changes(told: dict[str, Any]) -> dict[str, Any]:
    """The fields of Capabilities that a table tells of, where forms are those from a number on."""
    lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
    forms = {"forms": FORMS[told["forms"] :]} if "forms" in told else {}
    return {**told, **lists, **forms}


def named(row: dict[str, Any]) -> str:
    """What the endpoint of a row does not do, in words."""
    switches = [f"{name} {value}" for name, value in row.get("switches", {}).items()]
    return row.get("profile") or ", ".join(switches) or "all that is asked for"


def said_in(row: dict[str, Any]) -> str:
    """The words of a refusal, or the parameter that it names."""
    return str(row.get("message") or row["param"])[:60]


@pytest.mark.parametrize("row", TABLES["probes"], ids=named)
def test_probe(llm_server: LlmServer, row: dict[str, Any]) -> None:
    llm_server.switches = (
        PROFILES[row["profile"]] if "profile" in row else Switches(**row["switches"])
    )
    found = probe(llm_server, *row.get("shapes", ("call", "sample")))
    assert found == Capabilities(**changes(row.get("found", {})))
    assert row.get("requests") in (None, len(llm_server.chats))


def test_every_field_of_the_schema_that_a_probe_asks_for_has_a_type(llm_server: LlmServer) -> None:
    def fields(schema: Any) -> Iterator[tuple[str, Any]]:
        for part in [schema, *schema.get("$defs", {}).values()]:
            for name, field in part.get("properties", {}).items():
                yield name, field
                yield from fields(field)
                yield from fields(field.get("items", {}))

    Asked(llm_server, [call()], known=None)
    schema = llm_server.chats[0].body["tools"][0]["function"]["parameters"]
    found = dict(fields(schema))
    assert found.keys() >= {"words", "lines", "word", "kind"}
    assert [name for name, field in found.items() if not {"type", "$ref"} & field.keys()] == []


def test_a_small_context_that_has_to_hold_the_reply_too_is_no_reason_to_give_up() -> None:
    limits: list[int | None] = []

    async def ask(request: Request, known: Capabilities, n: int) -> Any:
        limits.append(request.max_tokens)
        if (request.max_tokens or 0) > 256:
            raise SendError("maximum context length is 512 tokens", "400", reason="truncated")
        return [Choice(finish_reason="length")], known  # it was thinking

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [160, 1024]

    async def talk(request: Request, known: Capabilities, n: int) -> Any:
        text = "The word is ready. " * 50 if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_call(talk, Capabilities())).form == JSON_SCHEMA


@pytest.mark.parametrize("row", TABLES["lessons"], ids=said_in)
def test_what_a_refusal_teaches(row: dict[str, Any]) -> None:
    known = Capabilities()
    if "known" in row:
        known = Capabilities(FORMS[row["known"] :], strict=False, references=False)
    said = {"message": row.get("message", "no"), "param": row.get("param")}
    found = learned(known, call(max_tokens=9), 5, failure(row.get("status", 400), **said), 9)
    assert found == (row["learned"] and changes(row["learned"]))


KEY = "a.secret.of.no.usual.form"
ENDPOINT = Endpoint("gpt-x", "http://localhost:1/v1?token=hidden")


def failure(status: int, key: str = KEY, **error: Any) -> SendError:
    return of_response(ENDPOINT, key, status, {}, {"error": error} if error else None, now=0.0)


@pytest.mark.parametrize(
    ("status", "error", "remedy"), TABLES["remedies"].values(), ids=TABLES["remedies"]
)
def test_final_errors_end_with_the_remedy(status: int, error: Any, remedy: str) -> None:
    found = failure(status, **error)
    assert found.final
    assert not found.transient
    assert found.status == str(status)
    assert remedy in found.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_message_has_the_key_or_the_query_of_the_url_and_all_are_cut(status: int) -> None:
    said = f"No entry <{KEY}>, nor Bearer sk-other-key-999999, for\nmodel gpt-x {'x' * 10_000}"
    message = failure(status, message=said).message
    assert [word for word in (KEY, "999999", "hidden", "\n") if word in message] == []
    assert len(message) < 600


def header_in(value: Any) -> str:
    """The last of some headers, or the wait that is read in them."""
    return [*value.values(), "nothing"][0] if isinstance(value, dict) else str(value)


@pytest.mark.parametrize(("headers", "seconds"), TABLES["waits"], ids=header_in)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert errors.retry_after(headers, now=100.0) == seconds


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        *(("20ms", 0.02), ("1s", 1.0), ("6m0s", 360.0), ("1h2m3.5s", 3723.5), ("2d", 172_800.0)),
        *(("12", 12.0), ("1700000030", 30.0), ("0s", None), ("soon", None), ("", None)),
        *(("5s soon", None), ("1699999999", None), ("1000000000", 1e9), ("1000000001", None)),
    ],
)
@pytest.mark.parametrize("what", ["requests", "tokens"])
def test_a_used_up_limit_is_waited_for(what: str, reset: str, seconds: float | None) -> None:
    headers = {f"x-ratelimit-remaining-{what}": "0", f"x-ratelimit-reset-{what}": reset}
    assert errors.used_up(headers, 1_700_000_000.0) == seconds


@pytest.mark.parametrize(
    ("left", "resets", "seconds"),
    [
        pytest.param(("0", "0"), ("3s", "2s"), 3.0, id="the longer of two"),
        pytest.param(("0", "1"), ("3s", "9s"), 3.0, id="one that is used up"),
        pytest.param(("1", "1"), ("3s", "2s"), None, id="something is left of both"),
    ],
)
def test_limits_that_are_used_up_are_waited_for(
    left: tuple[str, str], resets: tuple[str, str], seconds: float | None
) -> None:
    headers = {}
    for what, remaining, reset in zip(("requests", "tokens"), left, resets, strict=True):
        headers[f"x-ratelimit-remaining-{what}"] = remaining
        headers[f"x-ratelimit-reset-{what}"] = reset
    assert errors.used_up(headers, 0.0) == seconds


def test_without_headers_no_limit_is_waited_for() -> None:
    assert errors.used_up({}, 0.0) is None


KINDS = [row["kind"] for row in refusals()]
ROWS = [(row["kind"], one) for row in refusals() for one in row["examples"]]


@pytest.mark.parametrize(("kind", "example"), ROWS, ids=lambda it: it if it in KINDS else it["of"])
def test_what_each_provider_says_is_known(kind: str, example: Any) -> None:
    status, said = example.get("status", 400), example["says"]
    codes = example.get("codes")
    found = failure(status, message=said, param=example.get("param"), code=codes)
    assert found.kind == kind
    assert said[:60] in found.message
    assert str(status) in found.message
    assert found.cap == example.get("cap")
    numbers = Overflow(example.get("context"), example.get("prompt"))
    assert found.overflow == (numbers if kind == "overflow" else None)
    assert found.final == (kind in ("quota", "key", "unloaded", "model"))
    assert found.transient == (kind == "busy")
    assert found.reason == {"overflow": "truncated", "filtered": "filtered"}.get(kind, "transport")


# Words that providers use beside those of the examples, by the kind of error that they name.
SAID = {
    "quota": ["billing_hard_limit_reached", "billing_not_active", "access_terminated"],
    "key": ["invalid_api_key"],
    "unloaded": ["the model is not loaded", "model was unloaded"],
    "model": ["model_not_found", "an invalid model", "invalid_model"],
    "stream": [
        *("it only supports the stream mode", "enable the stream parameter"),
        "stream=true is required",
    ],
    "filtered": [
        *("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"),
        "the content management policy",
    ],
    "overflow": [
        *("context_length_exceeded", "too many input tokens", "it exceeds the context"),
        *("reduce the length of the messages", "longer than the maximum"),
    ],
    "strict": ["strict is unknown", "invalid_function_parameters", "function.parameters"],
    "schema": [
        *("a bad schema", "a $ref", "no $defs", "maxItems?", "additionalProperties?"),
        *("Unknown name", "nesting depth", "too many states"),
    ],
    "tools": ["unsupported param: tools", "no functions here", "no function_call"],
    "format": ["json_schema?", "json_object?", "no json mode", "no structured output"],
    "busy": [
        *("the rate limit", "too many requests", "temporarily down", "try again later"),
        *("ResourceExhausted", "RESOURCE_EXHAUSTED"),
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
    [(401, "key"), (402, "quota"), (403, "forbidden"), (404, "path"), (405, "path")],
)
def test_an_error_that_all_would_meet_is_final_by_its_status(status: int, kind: str) -> None:
    found = failure(status, message="the flux is inverted")
    assert found.kind == kind
    assert found.final
    assert not found.refusal


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
    found = of_response(ENDPOINT, KEY, 503, headers, {"error": "busy"}, 0.0)
    assert found.request_id == "q1"
    assert found.retry_after == 7.0


def test_a_used_up_limit_is_waited_for_only_after_status_429() -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s"}
    waits = [of_response(ENDPOINT, KEY, n, headers, {}, 0.0).retry_after for n in (429, 503)]
    assert waits == [9.0, None]


def test_a_request_that_is_too_long_is_known_by_fields_before_words() -> None:
    fields: dict[str, Any] = {"n_prompt_tokens": 1407, "n_ctx": 256}
    assert failure(500, **fields, type="exceed_context_size_error").overflow == Overflow(256, 1407)
    raw = {"raw": "prompt is too long: 210000 tokens > 200000 maximum"}
    found = failure(400, message="Provider returned error", metadata=raw)  # of a gateway
    assert found.overflow == Overflow(200000, 210000)
    assert "Provider returned error: prompt is too long" in found.message
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
    found = errors.inside(payload)
    assert (found and found[0]) == expected


@pytest.mark.parametrize("code", [399, 600, "4290", None])
def test_an_error_inside_a_reply_with_no_status_of_an_error_is_a_bad_request(code: Any) -> None:
    assert errors.inside({"error": {"code": code}}) == (400, {"error": {"code": code}})


def test_300_characters_of_a_message_are_shown() -> None:
    assert failure(400, message="x" * 301).message.endswith(f"400: {'x' * 300}")


@pytest.mark.parametrize(("before", "kind"), [(3985, "filtered"), (3986, "")])
def test_4000_characters_of_a_message_are_searched(before: int, kind: str) -> None:
    assert failure(400, message=f"{'x' * before} content_filter").kind == kind


def test_numbers_of_tokens_may_have_commas() -> None:
    said = "prompt is too long: 210,000 tokens > 200,000 maximum"
    assert failure(400, message=said).overflow == Overflow(200_000, 210_000)


def test_a_wait_that_is_asked_for_goes_before_a_limit_that_is_used_up() -> None:
    limit = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s"}
    found = of_response(ENDPOINT, KEY, 429, {**limit, "retry-after": "7"}, {}, 0.0)
    assert found.retry_after == 7.0


# --- which feature is given up for an error ---

REST = ["logprobs", "n", "limit", "temperature", "system"]


@pytest.mark.parametrize(
    ("first", "features"),
    [
        pytest.param(0, ["strict", "schema", "tool_choice", "tools"], id="a tool"),
        pytest.param(1, ["strict", "schema", "tool_choice", "tools"], id="any tool"),
        pytest.param(2, ["strict", "schema", "format"], id="a schema"),
        pytest.param(3, ["schema", "format"], id="an object with its schema"),
        pytest.param(4, ["format"], id="an object"),
        pytest.param(5, [], id="words"),
    ],
)
def test_each_form_uses_features_that_may_be_refused(first: int, features: list[str]) -> None:
    asked = call(max_tokens=9, logprobs=True)
    assert list(used(Capabilities(FORMS[first:]), asked, 2)) == [*features, *REST]


@pytest.mark.parametrize(
    ("change", "known", "n", "features"),
    [
        pytest.param({}, {}, 1, ["temperature"], id="nothing else is asked for"),
        pytest.param({"logprobs": True}, {}, 1, ["logprobs", "temperature"], id="asked for"),
        pytest.param({"logprobs": True}, {"logprobs": False}, 1, ["temperature"], id="given up"),
        pytest.param({}, {}, 2, ["n", "temperature"], id="two choices"),
        pytest.param({}, {"n": False}, 2, ["temperature"], id="two choices one by one"),
        pytest.param({"max_tokens": 9}, {}, 1, ["limit", "temperature"], id="a limit"),
        pytest.param({"max_tokens": 9}, {"limit_fields": ()}, 1, ["temperature"], id="no limit"),
        pytest.param({}, {"temperature_zero": False}, 1, [], id="a fixed temperature"),
        pytest.param({"temperature": 1.0}, {"temperature_one": False}, 1, [], id="never 1"),
    ],
)
def test_what_is_not_sent_cannot_be_refused(
    change: dict[str, Any], known: dict[str, Any], n: int, features: list[str]
) -> None:
    asked = call(function=None, messages=[Message("user", "One.")], **change)
    assert list(used(Capabilities(**known), asked, n)) == features


def test_what_is_given_up_for_each_feature() -> None:
    found = used(Capabilities(), call(max_tokens=9, logprobs=True, temperature=1.0), 2)
    assert found == {
        "strict": {"strict": False},
        "schema": {"references": False},
        "tool_choice": {"forms": FORMS[1:]},
        "tools": {"forms": FORMS[2:]},
        "logprobs": {"logprobs": False},
        "n": {"n": False},
        "limit": {"limit_fields": ("max_completion_tokens",)},
        "temperature": {"temperature_one": False},
        "system": {"system": False},
    }
    plain = used(Capabilities(strict=False, references=False), call(), 1)
    assert plain["schema"] == {"forms": FORMS[1:]}  # there is nothing left to write out
    assert "strict" not in plain
    assert plain["temperature"] == {"temperature_zero": False}


def refusal(*kinds: str, **more: Any) -> SendError:
    return SendError("no", "400", kinds=kinds, **more)


@pytest.mark.parametrize(
    ("cap", "most", "limit", "change"),
    [
        pytest.param(4, None, 9, {"most_tokens": 4}, id="a lower cap"),
        pytest.param(9, None, 9, {"most_tokens": 8}, id="the limit itself is too high"),
        pytest.param(10, None, 9, {"most_tokens": 4}, id="a higher cap is not believed"),
        pytest.param(None, None, 9, {"most_tokens": 4}, id="no cap, and half is tried"),
        pytest.param(4, 3, 9, {"most_tokens": 3}, id="an earlier cap was lower"),
        pytest.param(4, 5, 9, {"most_tokens": 4}, id="an earlier cap was higher"),
        pytest.param(None, None, 2, {"most_tokens": 1}, id="half of two"),
        pytest.param(None, None, 1, None, id="no less than one token"),
    ],
)
def test_the_cap_of_a_reply_is_learned(
    cap: int | None, most: int | None, limit: int, change: dict[str, int] | None
) -> None:
    known = Capabilities(most_tokens=most)
    assert learned(known, call(max_tokens=limit), 1, refusal("cap", cap=cap), limit) == change


@pytest.mark.parametrize(("streams", "change"), [(False, {"streams": True}), (True, None)])
def test_a_stream_is_asked_for_once(streams: bool, change: dict[str, bool] | None) -> None:
    assert learned(Capabilities(streams=streams), call(), 1, refusal("stream")) == change


@pytest.mark.parametrize(
    "more",
    [{"transient": True}, {"final": True}, {"reason": "filtered"}],
    ids=["one that passes", "one for every request", "one about the text"],
)
def test_no_parameter_is_given_up_for_another_kind_of_error(more: dict[str, Any]) -> None:
    assert learned(Capabilities(), call(), 2, refusal("n")) == {"n": False}
    assert learned(Capabilities(), call(), 2, refusal("n", **more)) is None


def test_capabilities_are_read_back_from_json() -> None:
    known = Capabilities(
        forms=FORMS[2:],
        strict=False,
        references=False,
        n=False,
        logprobs=False,
        temperature_zero=False,
        temperature_one=False,
        limit_fields=("max_completion_tokens",),
        most_tokens=7,
        thinks=True,
        streams=True,
    )
    assert Capabilities.from_json(json.loads(json.dumps(asdict(known)))) == known
    assert Capabilities.from_json({}) == Capabilities()
    with pytest.raises(TypeError):
        Capabilities.from_json({"unheard_of": True})
