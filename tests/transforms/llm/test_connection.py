"""What is sent where: Azure's paths and header, further headers and fields; replies in a stream."""

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local_server import LocalServer
from ufo.schemas.errors import UsageError
from ufo.transforms.llm.connection import Transport, completion_of
from ufo.transforms.llm.endpoint import Azure, Endpoint, azure_of, endpoints
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

WHOLE = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
NAMES = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "EXTRACTOR_API_KEY", "KNOWLEDGE_API_KEY"),
)


class Echo(BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers with the reply that is set."""

    asked: list[tuple[str, dict[str, str], Any]]
    reply: tuple[str, bytes]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.asked.append((self.path, headers, body))
        kind, content = self.reply
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    Echo.asked, Echo.reply = [], ("application/json", json.dumps(WHOLE).encode())
    with LocalServer(Echo) as running:
        yield running


def send(endpoint: Endpoint, body: dict[str, Any] | None = None) -> Any:
    async def sent() -> Any:
        transport = Transport(endpoint, 1)
        try:
            return (await transport.send(body or {"model": endpoint.model, "messages": []})).value
        finally:
            await transport.aclose()

    return asyncio.run(sent())


def test_azure_is_asked_for_the_models_deployment_with_its_own_header(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.address}/")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret")
    endpoint = endpoints("mini")[VERIFIER]
    assert endpoint.configured
    assert send(endpoint) == WHOLE
    ((path, headers, body),) = Echo.asked
    assert path == "/openai/deployments/mini/chat/completions?api-version=2024-10-21"
    assert headers["api-key"] == "azure-secret"
    assert "azure-secret" not in headers.get("authorization", "")
    assert body["model"] == "mini"


def test_azure_by_the_url_of_a_deployment_and_with_a_token(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "ad-secret")
    url = f"{server.address}/openai/deployments/prod/chat/completions?api-version=2025-01-01"
    send(endpoints("mini", url)[VERIFIER])
    ((path, headers, _),) = Echo.asked
    assert path == "/openai/deployments/prod/chat/completions?api-version=2025-01-01"
    assert headers["authorization"] == "Bearer ad-secret"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://a.openai.azure.com", Azure("https://a.openai.azure.com", "2024-10-21")),
        ("https://a.openai.azure.com/openai/v1", None),
        ("https://a.openai.azure.com/openai/v1?api-version=preview", None),
        ("http://gate/team/openai?api-version=7", Azure("http://gate/team", "7")),
        ("https://api.openai.com/v1", None),
    ],
)
def test_what_is_azure(url: str, found: Azure | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_VERSION", raising=False)
    assert azure_of(url) == found


def test_headers_and_fields_go_to_the_endpoint_that_they_are_meant_for(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TITLE", "nightly")
    url = f"{server.address}/v1?user=7"
    found = endpoints(
        *("m", url, None, "http://other/v1"),
        header=["X-Title=TITLE"],
        body_json='{"provider": {"order": ["a"]}}',
        reasoning_effort="low",
    )
    send(found[VERIFIER])
    ((path, headers, body),) = Echo.asked
    assert (path, headers["x-title"]) == ("/v1/chat/completions?user=7", "nightly")
    assert body["provider"] == {"order": ["a"]}
    assert body["reasoning_effort"] == "low"
    assert found[KNOWLEDGE] == found[VERIFIER]
    assert (found[EXTRACTOR].headers, found[EXTRACTOR].added) == ((), {})
    assert "nightly" not in repr(found)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"header": ["X-Title"]}, "NAME=VARIABLE"),
        ({"header": ["X Title=A"]}, "NAME=VARIABLE"),
        ({"body_json": "{"}, "is not JSON"),
        ({"body_json": "[]"}, "is not a JSON object"),
        ({"body_json": '{"messages": []}'}, "'messages', a field that ufo writes itself"),
    ],
)
def test_what_is_no_header_or_body_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        endpoints("m", **given)


def test_a_header_without_its_variable_ends_the_run(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TITLE", raising=False)
    with pytest.raises(LlmError, match="TITLE is not set") as error:
        send(endpoints("m", f"{server.address}/v1", header=["X-Title=TITLE"])[VERIFIER])
    assert error.value.final


def events(*chunks: Any) -> str:
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    return f": waiting\n\n{''.join(lines)}data: [DONE]\n\n"


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_a_stream_is_read_as_one_reply(server: LocalServer) -> None:
    call = {"index": 0, "id": "t1", "type": "function", "function": {"name": "f", "arguments": ""}}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    text = events(
        chunk(role="assistant", content=None, tool_calls=[call]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"a":'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": " 1}"}}], reasoning="I "),
        chunk("tool_calls", reasoning="think"),
        {"choices": [], "usage": usage},
    )
    Echo.reply = ("text/event-stream; charset=utf-8", text.encode())
    whole = send(Endpoint("m", f"{server.address}/v1"))
    (choice,) = whole["choices"]
    (made,) = choice["message"]["tool_calls"]
    assert made["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert made["id"] == "t1"
    assert choice["message"]["reasoning"] == "I think"
    assert (choice["finish_reason"], whole["usage"], whole["id"]) == ("tool_calls", usage, "c1")


def test_an_error_in_a_stream_is_kept() -> None:
    said = completion_of(events(chunk(content="a"), {"error": {"message": "overloaded"}}))
    assert said["error"] == {"message": "overloaded"}


@given(st.lists(st.tuples(st.integers(0, 2), st.text(max_size=5)), max_size=12))
def test_pieces_of_choices_are_put_together(pieces: list[tuple[int, str]]) -> None:
    chunks = [{"choices": [{"index": at, "delta": {"content": text}}]} for at, text in pieces]
    expected = {at: "".join(text for i, text in pieces if i == at) for at, _ in pieces}
    found = completion_of(events(*chunks))["choices"]
    assert [one["message"]["content"] for one in found] == [expected[at] for at in sorted(expected)]
