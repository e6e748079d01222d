"""What keeps a client for an address from being made is an error with its remedy."""

import httpx
import pytest

from ufo.schemas.errors import RunError
from ufo.transforms.llm.connections import client_errors, explain_failure, proxies

NAMES = [f"{scheme}_proxy" for scheme in ("http", "https", "all", "no")]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, *map(str.upper, NAMES)):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("error", [ImportError("no socksio"), ValueError("bad"), OSError("gone")])
def test_whatever_keeps_a_client_from_being_made_is_of_the_kind_asked_for(error: Exception) -> None:
    with (
        pytest.raises(RunError, match=r"socksio|no connection to http://far"),
        client_errors("http://far", RunError),
    ):
        raise error


def test_a_search_engine_behind_an_unusable_proxy_ends_the_run_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    with (
        pytest.raises(RunError, match="pip install socksio"),
        client_errors("http://far", RunError),
    ):
        httpx.AsyncClient()


@pytest.mark.parametrize(
    ("variables", "url", "shown"),
    [
        ({}, "http://far", ""),
        ({"HTTP_PROXY": "http://a:1"}, "http://far", "the proxy http://a:1 (HTTP_PROXY)"),
        ({"HTTP_PROXY": "me:secret@a:1"}, "http://far", "the proxy ***@a:1 (HTTP_PROXY)"),
        ({"HTTP_PROXY": "http://a:1"}, "https://far", ""),
        ({"ALL_PROXY": "http://b:2"}, "https://far", "the proxy http://b:2 (ALL_PROXY)"),
        ({"HTTP_PROXY": "http://a:1", "NO_PROXY": "far"}, "http://far", ""),
        ({"HTTP_PROXY": "a:1", "ALL_PROXY": "b:2"}, "",
         "the proxy a:1 (HTTP_PROXY) or the proxy b:2 (ALL_PROXY)"),
    ],
)  # fmt: skip
def test_the_proxy_in_the_way_is_shown_without_its_password(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str, shown: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxies(url) == shown


def test_an_unknown_cause_passes_and_is_named() -> None:
    explanation = explain_failure("http://far", RuntimeError("odd"), "", reached=True)
    assert explanation == ("the connection to http://far broke (RuntimeError: odd)", False)
