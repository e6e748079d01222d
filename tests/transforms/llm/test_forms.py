"""What a probe finds out about endpoints of all kinds, and what their errors lead to."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from tests.golden.tables import tables
from tests.llm_server import PROFILES, LlmServer, Switches
from tests.transforms.llm.asked import Asked, call
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError, of_response
from ufo.transforms.llm.forms import (
    CALL,
    FORMS,
    JSON_SCHEMA,
    Capabilities,
    change_for,
    features_of,
    probe_endpoint,
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


def changes(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of Capabilities that a table tells of, where forms are those from a number on."""
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    forms = {"forms": FORMS[row["forms"] :]} if "forms" in row else {}
    return {**row, **lists, **forms}


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
    capabilities = probe(llm_server, *row.get("shapes", ("call", "sample")))
    assert capabilities == Capabilities(**changes(row.get("found", {})))
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
    parameters = dict(fields(schema))
    assert parameters.keys() >= {"words", "lines", "word", "kind"}
    assert [name for name, field in parameters.items() if not {"type", "$ref"} & field.keys()] == []


@pytest.mark.parametrize(
    ("cut", "form"),
    [
        pytest.param('{"report": {"words": [', FORMS[0], id="within the arguments"),
        pytest.param("", FORMS[0], id="within thoughts"),
        pytest.param("The word is ready. " * 50, JSON_SCHEMA, id="within talk"),
    ],
)
def test_a_form_is_kept_where_a_reply_to_it_is_cut_off(cut: str, form: str) -> None:
    async def ask(request: Request, known: Capabilities) -> Any:
        text = cut if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_endpoint(CALL, ask, Capabilities())).form == form


ENDPOINT = Endpoint("gpt-x", "http://localhost:1/v1")


def failure(status: int, **error: Any) -> SendError:
    return of_response(ENDPOINT, "none", status, {}, {"error": error}, now=0.0)


@pytest.mark.parametrize("row", TABLES["lessons"], ids=said_in)
def test_what_a_refusal_teaches(row: dict[str, Any]) -> None:
    known = Capabilities()
    if "known" in row:
        known = Capabilities(FORMS[row["known"] :], strict=False, references=False)
    error = {"message": row.get("message", "no"), "param": row.get("param")}
    changed = change_for(known, call(max_tokens=9), 5, failure(row.get("status", 400), **error), 9)
    assert changed == (row["learned"] and changes(row["learned"]))


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
    assert list(features_of(Capabilities(FORMS[first:]), asked, 2)) == [*features, *REST]


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
    assert list(features_of(Capabilities(**known), asked, n)) == features


def test_what_is_given_up_for_each_feature() -> None:
    changed = features_of(Capabilities(), call(max_tokens=9, logprobs=True, temperature=1.0), 2)
    assert changed == {
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
    plain = features_of(Capabilities(strict=False, references=False), call(), 1)
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
    assert change_for(known, call(max_tokens=limit), 1, refusal("cap", cap=cap), limit) == change


@pytest.mark.parametrize(("streams", "change"), [(False, {"streams": True}), (True, None)])
def test_a_stream_is_asked_for_once(streams: bool, change: dict[str, bool] | None) -> None:
    assert change_for(Capabilities(streams=streams), call(), 1, refusal("stream")) == change


@pytest.mark.parametrize(
    "more",
    [{"transient": True}, {"final": True}, {"reason": "filtered"}],
    ids=["one that passes", "one for every request", "one about the text"],
)
def test_no_parameter_is_given_up_for_another_kind_of_error(more: dict[str, Any]) -> None:
    assert change_for(Capabilities(), call(), 2, refusal("n")) == {"n": False}
    assert change_for(Capabilities(), call(), 2, refusal("n", **more)) is None


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
