"""Which endpoint a role has and what is sent there; keys stay secret; replies in a stream."""

import asyncio
import contextlib
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from tests.llm_server import LlmServer, Switches
from tests.local_server import JsonHandler, LocalServer
from tests.local_web import LocalWeb, Reply
from ufo.schemas.errors import UsageError
from ufo.transforms.llm.chat import completion_of
from ufo.transforms.llm.endpoint import Azure, Endpoint, azure_of, endpoints
from ufo.transforms.llm.errors import SendError, error_inside
from ufo.transforms.llm.http_packages import httpx
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError
from ufo.transforms.llm.transport import Transport, connection_error

TABLES = tables("endpoints")
LOCAL = "http://localhost:8000/v1"
NAMES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_VERSION",
    "AZURE_OPENAI_ENDPOINT",
    "TITLE",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
    "EXTRACTOR_API_KEY",
    "KNOWLEDGE_API_KEY",
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


# --- endpoints and keys ---


def test_without_an_address_the_endpoint_is_openai_s() -> None:
    assert Endpoint().url == "https://api.openai.com/v1"
    assert not Endpoint().configured
    assert endpoints()[VERIFIER].model == "gpt-4o-mini"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"])
def test_any_variable_configures_an_endpoint(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, LOCAL)
    assert Endpoint().configured


def test_the_address_is_given_else_openai_s_else_azure_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://a.example/")
    assert Endpoint().url == "https://a.example?api-version=2024-10-21"
    monkeypatch.setenv("OPENAI_API_VERSION", "7")
    assert Endpoint().url == "https://a.example?api-version=7"
    monkeypatch.setenv("OPENAI_BASE_URL", f" {LOCAL}/ ")
    assert Endpoint().url == LOCAL
    assert Endpoint(base_url="http://far/v1/").url == "http://far/v1"


def test_roles_share_the_endpoint_of_the_verifier() -> None:
    by_role = endpoints("m", LOCAL, timeout=7.0)
    assert by_role == dict.fromkeys(
        (VERIFIER, EXTRACTOR, KNOWLEDGE), Endpoint("m", LOCAL, timeout=7.0)
    )


def test_every_role_can_have_an_endpoint_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWLEDGE_API_KEY", "sk-other")
    by_role = endpoints("m", LOCAL, "e", None, None, "http://far/v1")
    assert by_role[VERIFIER] == Endpoint("m", LOCAL)
    assert by_role[EXTRACTOR] == Endpoint("e", LOCAL)
    assert by_role[KNOWLEDGE] == Endpoint("m", "http://far/v1", "KNOWLEDGE_API_KEY")
    assert by_role[KNOWLEDGE].key() == "sk-other"
    monkeypatch.setenv("EXTRACTOR_API_KEY", "sk-third")
    by_role = endpoints("m", LOCAL, "e", "http://near/v1", "k", None)
    assert by_role[EXTRACTOR] == Endpoint("e", "http://near/v1", "EXTRACTOR_API_KEY")
    assert by_role[KNOWLEDGE] == Endpoint("k", LOCAL, "KNOWLEDGE_API_KEY")


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost:1", True),
        ("LOCALHOST.", True),
        ("model.localhost", True),
        ("127.1.2.3", True),
        ("[::1]:8080", True),
        ("0.0.0.0:80", True),
        ("[::]", True),
        ("10.0.0.7:8000", False),
        ("localhost.example.com", False),
        ("api.openai.com", False),
    ],
)
def test_an_endpoint_on_this_machine_is_local(host: str, here: bool) -> None:
    assert Endpoint("m", f"http://{host}/v1").local is here


OWN = ("model", "messages", "tools", "tool_choice", "response_format", "n", "stream")


RUN = Endpoint("m", LOCAL, timeout=9.0, headers=(("X-Title", "TITLE"),), body='{"top_k": 1}')


def test_an_endpoint_in_a_run_has_the_run_s_time_out_headers_and_fields() -> None:
    assert Endpoint("j", LOCAL, "KEY").with_run_settings(RUN) == replace(
        RUN, model="j", api_key_env="KEY"
    )


def test_an_endpoint_elsewhere_gets_no_secret_of_the_run() -> None:
    elsewhere = Endpoint("j", "http://far/v1", "KEY")
    assert elsewhere.with_run_settings(RUN) == replace(elsewhere, timeout=9.0)


@pytest.mark.parametrize(
    "variable", ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "OPENAI_API_KEY"]
)
def test_azure_s_key_is_in_a_variable(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "secret")
    assert endpoints("m", "https://a.openai.azure.com")[VERIFIER].api_key_env == variable


def test_a_key_is_needed_at_openai_alone_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint("m", LOCAL)
    assert endpoint.key() == "none"
    with pytest.raises(LlmError, match=r"set OPENAI_API_KEY, or name another .* --base_url") as e:
        Endpoint().key()
    assert e.value.final
    monkeypatch.setenv("OPENAI_API_KEY", " sk-secret \n")
    assert endpoint.key() == "sk-secret"
    assert b"sk-secret" not in pickle.dumps(endpoint) + repr(endpoint).encode()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\nsk-second")
    with pytest.raises(LlmError, match="has characters that a key cannot have") as error:
        endpoint.key()
    assert "secret" not in str(error.value)


IN_URL = "put the key into the environment variable"
WITH_USER = [(f"http://{user}@x/v1", IN_URL) for user in ("me", ":secret", "me:secret")]


@pytest.mark.parametrize(("url", "message"), [*TABLES["urls"], *WITH_USER])
def test_urls_that_cannot_be_used(url: str, message: str) -> None:
    with pytest.raises(LlmError, match=message) as error:
        _ = Endpoint("m", url).url
    assert error.value.final
    assert "secret" not in str(error.value)


HOSTS = ("a.openai.azure.com", "a.openai.azure.us", "a.cognitiveservices.azure.com")
AT_AZURE = [(f"https://{host}", [f"https://{host}", "2024-10-21"]) for host in HOSTS]


@pytest.mark.parametrize(
    ("url", "parts"),
    [*TABLES["azure"].values(), *AT_AZURE],
    ids=[*TABLES["azure"], *HOSTS],
)
def test_what_is_azure(url: str, parts: list[str] | None) -> None:
    assert azure_of(url) == (parts and Azure(*parts))


@pytest.mark.parametrize("name", OWN)
def test_a_field_that_is_written_here_cannot_be_added(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name!r}, a field that ufo writes itself"):
        endpoints("m", body_json=json.dumps({"top_k": 1, name: 1}))


@pytest.mark.parametrize(("flags", "message"), TABLES["flags"].values(), ids=TABLES["flags"])
def test_what_is_no_header_or_body_is_refused(flags: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        endpoints("m", **flags)


# --- what is sent ---


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(keys=None) as running:
        yield running


def send(endpoint: Endpoint) -> Any:
    async def sent() -> Any:
        transport = Transport(endpoint)
        try:
            messages = [{"role": "user", "content": "Who?"}]
            return (await transport.send({"model": endpoint.model, "messages": messages})).value
        finally:
            await transport.aclose()

    return asyncio.run(sent())


def test_azure_is_asked_for_the_models_deployment_with_its_own_header(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.switches = Switches(azure="mini")
    address = server.base_url.removesuffix("/v1")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{address}/")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret")
    endpoint = endpoints("mini")[VERIFIER]
    assert endpoint.configured
    assert send(endpoint)["choices"]
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "ad-secret")
    url = f"{address}/openai/deployments/mini/chat/completions?api-version=2025-01-01"
    assert send(endpoints("other", url)[VERIFIER])["choices"]
    by_key, by_token = server.chats
    assert by_key.query == "api-version=2024-10-21"
    assert by_token.query == "api-version=2025-01-01"
    assert by_key.headers["api-key"] == "azure-secret"  # openai 2 sends it as a token, too
    assert by_key.body["model"] == "mini"
    assert by_token.authorization == "Bearer ad-secret"


def looked(url: str, path: str = "/models", body: Any = None) -> Any:
    async def look() -> Any:
        transport = Transport(Endpoint("m", url))
        try:
            return await transport.look(path, body)
        finally:
            await transport.aclose()

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("reply", "payload"),
    [(Reply(b'{"data": 5}'), {"data": 5}), (Reply(b"<html>"), None), (Reply(b"{}", 404), None)],
    ids=["JSON", "a page", "not found"],
)
def test_a_look_at_the_server_fails_in_silence(reply: Reply, payload: Any) -> None:
    with LocalWeb() as web:
        web.pages["/v1/models"] = web.pages["/props"] = reply
        assert looked(web.url("/v1")) == payload
        assert looked(web.url("/v1"), web.url("/props")) == payload


def test_azure_is_asked_for_no_list_since_requests_name_deployments() -> None:
    with LocalWeb() as web:
        assert looked(web.url("/openai/deployments/mini?api-version=1")) is None
        assert web.requests == []


def test_headers_and_fields_go_to_the_endpoint_that_they_are_meant_for(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.base_url}?user=7"
    options: dict[str, Any] = {
        "body_json": '{"provider": {"order": ["a"]}}',
        "reasoning_effort": "low",
    }
    by_role = endpoints("m", url, None, "http://other/v1", header=["X-Title=TITLE"], **options)
    with pytest.raises(LlmError, match="TITLE is not set") as error:
        send(by_role[VERIFIER])
    assert error.value.final
    monkeypatch.setenv("TITLE", "nightly")
    with contextlib.suppress(SendError):  # the server knows no queries
        send(by_role[VERIFIER])
    (asked,) = server.chats
    assert asked.query == "user=7"
    assert asked.headers["x-title"] == "nightly"
    assert asked.body["provider"] == {"order": ["a"]}
    assert asked.body["reasoning_effort"] == "low"
    assert by_role[KNOWLEDGE] == by_role[VERIFIER]
    assert by_role[EXTRACTOR].headers == ()
    assert by_role[EXTRACTOR].added == {}
    assert "nightly" not in repr(by_role)


def events(*chunks: Any) -> str:
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    return f": waiting\n\n{''.join(lines)}data: [DONE]\n\n"


@given(st.lists(st.tuples(st.integers(0, 2), st.text(max_size=5)), max_size=12))
def test_pieces_of_choices_are_put_together(pieces: list[tuple[int, str]]) -> None:
    chunks = [{"choices": [{"index": at, "delta": {"content": text}}]} for at, text in pieces]
    expected = {at: "".join(text for i, text in pieces if i == at) for at, _ in pieces}
    choices = completion_of(events(*chunks))["choices"]
    assert [one["message"]["content"] for one in choices] == [
        expected[at] for at in sorted(expected)
    ]


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        pytest.param([{"id": "c1"}, {"id": ""}], {"id": "c1", "choices": []}, id="the id"),
        pytest.param(
            [{"usage": None}, {"usage": {"prompt_tokens": 7}}],
            {"usage": {"prompt_tokens": 7}, "choices": []},
            id="the usage",
        ),
        pytest.param([{"error": {"code": 9}}], {"error": {"code": 9}}, id="error"),
    ],
)
def test_what_a_stream_says_of_a_reply_is_kept(chunks: list[Any], whole: dict[str, Any]) -> None:
    assert completion_of(events(*chunks)) == whole


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def named_call(index: int, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    named = {"name": name} if name else {}
    return {"index": index, "function": {**named, "arguments": arguments}}


def test_calls_in_pieces_are_put_together_by_their_number() -> None:
    (choice,) = completion_of(
        events(
            delta(role="assistant", tool_calls=[named_call(0, "a", "{")]),
            delta(role="assistant", tool_calls=[named_call(1, "b", "[")]),
            delta(tool_calls=[named_call(0, None, "}"), named_call(1, None, "]")]),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        )
    )["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["role"] == "assistant"
    calls = [call["function"] for call in choice["message"]["tool_calls"]]
    assert calls == [{"name": "a", "arguments": "{}"}, {"name": "b", "arguments": "[]"}]


def test_log_probabilities_in_pieces_are_all_kept() -> None:
    pieces = [{"content": [{"logprob": -1.0}]}, None, {"content": [{"logprob": -2.0}]}]
    chunks = [{"choices": [{"index": 0, "delta": {}, "logprobs": piece}]} for piece in pieces]
    (choice,) = completion_of(events(*chunks))["choices"]
    assert choice["logprobs"]["content"] == [{"logprob": -1.0}, {"logprob": -2.0}]


WHOLE = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
STREAM = events({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(STREAM, "application/json", id="a stream as JSON"),
        pytest.param(STREAM, "text/plain", id="a stream as text"),
        pytest.param(STREAM.replace("\n", "\r"), "text/event-stream", id="carriage returns"),
        pytest.param(f"\ufeff{STREAM[STREAM.index('data') :]}", "text/event-stream", id="a mark"),
        pytest.param(json.dumps(WHOLE), "text/event-stream", id="JSON as a stream"),
    ],
)
def test_a_reply_is_read_by_its_content_whatever_type_it_has(body: str, kind: str) -> None:
    with answering(v1=Reply(body.encode(), 200, {"content-type": kind})) as server:
        assert send(Endpoint("m", f"{server.address}/v1")) == WHOLE


@pytest.mark.parametrize("body", [b"", b"Hello.", b'{"choices": [', b"data: [DONE", b": waiting"])
def test_a_reply_of_another_content_is_garbled(body: bytes) -> None:
    with answering(v1=Reply(body)) as server:
        error = failed(f"{server.address}/v1")
    assert isinstance(error, SendError)
    assert error.status == "garbled"
    assert error.transient


def test_a_stream_of_something_else_is_no_reply() -> None:
    with pytest.raises(ValueError, match="not an object"):
        completion_of("data: [1]\n\n")


# --- what keeps a request from its endpoint ---


class Answers(JsonHandler):
    """Answers every request by the reply of its path."""

    replies: ClassVar[dict[str, Reply]] = {}

    def do_POST(self) -> None:
        self.body()
        reply = self.replies[self.path]
        self.reply(reply.status, reply.body, reply.headers)


def answering(**replies: Reply) -> LocalServer:
    """A server whose chat endpoint below each of these paths answers so."""
    paths = {f"/{name}/chat/completions": reply for name, reply in replies.items()}
    return LocalServer(type("Handler", (Answers,), {"replies": paths}))


PROXIES = [f"{scheme}_proxy" for scheme in ("http", "https", "all", "no")]
NOBODY = "127.0.0.1:1"


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.upper, PROXIES), "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def failed(url: str, reached: bool = False) -> SendError | LlmError:
    """The error of a request to an endpoint."""

    async def sent() -> None:
        transport = Transport(Endpoint("m", url, timeout=5.0), reached)
        try:
            await transport.send({"model": "m", "messages": []})
        finally:
            await transport.aclose()

    with pytest.raises((SendError, LlmError)) as error:
        asyncio.run(sent())
    assert isinstance(error.value, SendError | LlmError)
    return error.value


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("variables", "url", "words"),
    [
        pytest.param({}, f"http://{NOBODY}/v1", "check --base_url, and that the server", id="none"),
        pytest.param({}, "http://a.invalid/v1", "the host of http://a.invalid/v1 is", id="no host"),
        pytest.param({}, "http://\u2603.example/v1", "is not an address", id="no name of a host"),
        pytest.param(
            {"HTTP_PROXY": f"http://me:secret@{NOBODY}"},
            "http://a.invalid/v1",
            f"the proxy http://***@{NOBODY} (HTTP_PROXY) does not answer",
            id="a proxy",
        ),
        pytest.param(
            {"ALL_PROXY": f"socks5://me:secret@{NOBODY}"},
            "http://a.invalid/v1",
            "pip install socksio",
            id="a SOCKS proxy",
        ),
        pytest.param(
            {"HTTPS_PROXY": f"socks4://me:secret@{NOBODY}"},
            "http://a.invalid/v1",
            "(HTTPS_PROXY) is not a proxy that can be used",
            id="a proxy of another kind",
        ),
        pytest.param(
            {"https_proxy": "http://a:port"},
            "http://a.invalid/v1",
            "the proxy http://a:port (https_proxy) is not a proxy that can be used",
            id="a proxy without a port",
        ),
        pytest.param(
            {"http_proxy": "http://127.0.0.1:99999"},
            "http://a.invalid/v1",
            "the proxy http://127.0.0.1:99999 (http_proxy) is not a proxy that can be used",
            id="a proxy at a port that none has",
        ),
        pytest.param(
            {"SSL_CERT_FILE": "/no/such.pem"},
            f"http://{NOBODY}/v1",
            "the certificates in SSL_CERT_FILE=/no/such.pem cannot be read",
            id="no file of certificates",
        ),
        pytest.param(
            {"SSL_CERT_FILE": __file__},
            f"http://{NOBODY}/v1",
            f"the certificates in SSL_CERT_FILE={__file__} cannot be read",
            id="a file of something else",
        ),
    ],
)
def test_what_keeps_a_request_from_its_endpoint_is_said_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str, words: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    error = failed(url)
    assert error.final
    assert words in error.message
    assert "secret" not in error.message


@pytest.mark.usefixtures("no_proxies")
def test_an_endpoint_that_was_reached_before_may_come_back() -> None:
    error = failed(f"http://{NOBODY}/v1", reached=True)
    assert isinstance(error, SendError)
    assert error.transient


@pytest.mark.parametrize("reached", [False, True])
def test_an_error_in_code_is_not_a_broken_connection(
    monkeypatch: pytest.MonkeyPatch, reached: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-shown")
    transport = Transport(Endpoint("m", "https://far/v1"), reached)
    with pytest.raises(SendError) as raised:
        asyncio.run(transport.send({"messages": {"sk-not-to-be-shown"}}))
    error = raised.value
    assert (error.status, error.transient, error.final) == ("internal", False, not reached)
    assert "by an error in the code and not of the connection (TypeError: " in error.message
    assert f"openai {openai.__version__}" in error.message
    assert "sk-not" not in error.message


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "set SSL_CERT_FILE to"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] Hostname mismatch", "is for another host"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", "write http:// in place of https://"),
        ("[SSL: UNEXPECTED_EOF_WHILE_READING] EOF", "no secure connection to"),
        ("[Errno 113] No route to host", "check the network"),
        ("[Errno -3] Temporary failure in name resolution", "and its DNS"),
    ],
)
def test_each_cause_of_a_connection_that_fails_has_its_remedy(cause: str, words: str) -> None:
    error = httpx.ConnectError("All connection attempts failed")
    error.__cause__ = OSError(cause)
    failure = connection_error(Endpoint("m", "https://far/v1"), error, reached=False)
    assert failure.final
    assert words in failure.message
    assert cause in failure.message


@pytest.mark.parametrize(
    ("status", "words"),
    [(407, "wants a user and password"), (403, "does not let requests through to https://far/v1")],
)
@pytest.mark.usefixtures("no_proxies")
def test_a_proxy_that_refuses_is_named(
    monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://gate:3128")
    failure = connection_error(
        Endpoint("m", "https://far/v1"), httpx.ProxyError(f"{status} no"), False
    )
    assert "the proxy http://gate:3128 (HTTPS_PROXY)" in failure.message
    assert words in failure.message


@pytest.mark.usefixtures("no_proxies")
def test_a_host_without_proxy_is_not_blamed_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://gate:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "gate" not in failed(f"http://{NOBODY}/v1").message


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(b"<html><title>Sign in</title>"), "(200: Sign in)"),
        (Reply(b"<html><title>Blocked</title>", 403), "(403: Blocked)"),
        (Reply(b"", 302, {"location": "https://login.example/sso?token=secret"}), "/sso)"),
        (Reply(b"", 302, {"location": "ftp://127.0.0.1/a"}), "redirects to ftp://127.0.0.1/a"),
        (Reply(b"", 307, {"location": "/v1/chat/completions"}), "redirects in a circle"),
        (Reply(b"Client sent an HTTP request to an HTTPS server.", 400), "write https://"),
    ],
    ids=["a login", "a web filter", "a redirect", "FTP", "a circle", "a port with TLS"],
)
def test_a_page_in_place_of_the_endpoint_is_said(reply: Reply, words: str) -> None:
    with answering(v1=reply) as server:
        error = failed(f"{server.address}/v1")
    assert error.final
    assert words in error.message
    assert "secret" not in error.message


def test_a_redirect_on_the_same_host_is_followed_with_the_request() -> None:
    moved = Reply(b"", 307, {"location": "/v2/chat/completions"})
    with answering(v1=moved, v2=Reply(b'{"choices": []}')) as server:
        assert send(Endpoint("m", f"{server.address}/v1")) == {"choices": []}


def test_an_error_in_a_stream_is_the_reply() -> None:
    error = {"object": "error", "message": "the flux is inverted", "code": 503}
    reply = completion_of(events(delta(content="The ri"), error))
    assert error_inside(reply) == (503, reply)


def test_choices_and_calls_without_a_number_are_put_together() -> None:
    chunk = {"index": None, "delta": {"content": "a", "tool_calls": [{"index": None}]}}
    (choice,) = completion_of(events({"choices": [chunk]}, {"choices": None}))["choices"]
    assert choice["message"]["content"] == "a"


@pytest.mark.parametrize("chunk", [{"choices": [5]}, {"choices": [{"delta": "a"}]}])
def test_chunks_of_another_shape_are_no_reply(chunk: Any) -> None:
    with pytest.raises(ValueError, match="another shape"):
        completion_of(events(chunk))
