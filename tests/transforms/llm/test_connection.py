"""Which endpoint a role has and what is sent there; keys stay secret; replies in a stream."""

import asyncio
import contextlib
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.tables import tables
from tests.llm_server import LlmServer, Switches
from ufo.schemas.errors import UsageError
from ufo.transforms.llm.connection import Transport, completion_of
from ufo.transforms.llm.endpoint import Azure, Endpoint, azure_of, endpoints
from ufo.transforms.llm.failures import SendError
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

TABLES = tables("endpoints")
LOCAL = "http://localhost:8000/v1"
NAMES = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT", "TITLE"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "EXTRACTOR_API_KEY", "KNOWLEDGE_API_KEY"),
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


# --- endpoints and keys ---


def test_every_role_can_have_an_endpoint_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Endpoint().url == "https://api.openai.com/v1"
    assert not Endpoint().configured
    assert endpoints()[VERIFIER].model == "gpt-4o-mini"
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL + "/")
    assert Endpoint().url == LOCAL
    assert Endpoint().configured
    assert Endpoint(base_url="http://far/v1").url == "http://far/v1"
    assert set(endpoints("m", LOCAL).values()) == {Endpoint("m", LOCAL)}
    monkeypatch.setenv("KNOWLEDGE_API_KEY", "sk-other")
    found = endpoints("m", LOCAL, "e", None, None, "http://far/v1")
    assert found[VERIFIER] == Endpoint("m", LOCAL)
    assert found[EXTRACTOR] == Endpoint("e", LOCAL)
    assert found[KNOWLEDGE] == Endpoint("m", "http://far/v1", "KNOWLEDGE_API_KEY")
    assert found[KNOWLEDGE].key() == "sk-other"
    here = ["localhost:1", "LOCALHOST.", "model.localhost", "127.1.2.3", "[::1]:8080", "0.0.0.0:80"]
    away = ["10.0.0.7:8000", "localhost.example.com", "api.openai.com"]
    assert [host for host in here + away if Endpoint("m", f"http://{host}/v1").local] == here


def test_a_key_is_needed_at_openai_alone_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint("m", LOCAL)
    assert endpoint.key() == "none"
    with pytest.raises(LlmError, match=r"set OPENAI_API_KEY, or name another .* --base_url") as e:
        Endpoint().key()
    assert e.value.final
    monkeypatch.setenv("OPENAI_API_KEY", " sk-secret \n")
    assert endpoint.key() == "sk-secret"
    assert Endpoint().configured
    assert b"sk-secret" not in pickle.dumps(endpoint) + repr(endpoint).encode()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\nsk-second")
    with pytest.raises(LlmError, match="has characters that a key cannot have") as error:
        endpoint.key()
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(("url", "message"), TABLES["urls"])
def test_urls_that_cannot_be_used(url: str, message: str) -> None:
    with pytest.raises(LlmError, match=message) as error:
        _ = Endpoint("m", url).url
    assert error.value.final
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(("url", "found"), TABLES["azure"])
def test_what_is_azure(url: str, found: list[str] | None) -> None:
    assert azure_of(url) == (found and Azure(*found))


@pytest.mark.parametrize(("given", "said"), TABLES["flags"], ids=str)
def test_what_is_no_header_or_body_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        endpoints("m", **given)


# --- what is sent ---


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(keys=None) as running:
        yield running


def send(endpoint: Endpoint) -> Any:
    async def sent() -> Any:
        transport = Transport(endpoint, 1)
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
    assert by_key.headers["api-key"] == "azure-secret"
    assert by_key.body["model"] == "mini"
    assert "azure-secret" not in by_key.authorization
    assert by_token.authorization == "Bearer ad-secret"


def test_headers_and_fields_go_to_the_endpoint_that_they_are_meant_for(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.base_url}?user=7"
    told: dict[str, Any] = {
        "body_json": '{"provider": {"order": ["a"]}}',
        "reasoning_effort": "low",
    }
    found = endpoints("m", url, None, "http://other/v1", header=["X-Title=TITLE"], **told)
    with pytest.raises(LlmError, match="TITLE is not set") as error:
        send(found[VERIFIER])
    assert error.value.final
    monkeypatch.setenv("TITLE", "nightly")
    with contextlib.suppress(SendError):  # the server knows no queries
        send(found[VERIFIER])
    (asked,) = server.chats
    assert asked.query == "user=7"
    assert asked.headers["x-title"] == "nightly"
    assert asked.body["provider"] == {"order": ["a"]}
    assert asked.body["reasoning_effort"] == "low"
    assert found[KNOWLEDGE] == found[VERIFIER]
    assert found[EXTRACTOR].headers == ()
    assert found[EXTRACTOR].added == {}
    assert "nightly" not in repr(found)


def events(*chunks: Any) -> str:
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    return f": waiting\n\n{''.join(lines)}data: [DONE]\n\n"


@given(st.lists(st.tuples(st.integers(0, 2), st.text(max_size=5)), max_size=12))
def test_pieces_of_choices_are_put_together(pieces: list[tuple[int, str]]) -> None:
    chunks = [{"choices": [{"index": at, "delta": {"content": text}}]} for at, text in pieces]
    expected = {at: "".join(text for i, text in pieces if i == at) for at, _ in pieces}
    found = completion_of(events(*chunks))["choices"]
    assert [one["message"]["content"] for one in found] == [expected[at] for at in sorted(expected)]
