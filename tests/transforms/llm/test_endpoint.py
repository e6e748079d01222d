"""Which endpoint a role has; keys stay in the environment."""

import pickle

import pytest

from ufo.transforms.llm.endpoint import DEFAULT_MODEL, NO_KEY, OPENAI_URL, Endpoint, endpoints
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

LOCAL = "http://localhost:8000/v1"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EXTRACTOR_API_KEY", "KNOWLEDGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_roles_without_an_endpoint_have_the_verifiers() -> None:
    assert set(endpoints("m", LOCAL).values()) == {Endpoint("m", LOCAL)}


def test_every_role_can_have_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWLEDGE_API_KEY", "sk-other")
    found = endpoints("m", LOCAL, "e", None, None, "http://far/v1")
    assert found[VERIFIER] == Endpoint("m", LOCAL)
    assert found[EXTRACTOR] == Endpoint("e", LOCAL)
    assert found[KNOWLEDGE] == Endpoint("m", "http://far/v1", "KNOWLEDGE_API_KEY")
    assert found[KNOWLEDGE].key() == "sk-other"


def test_the_url_comes_from_the_option_the_environment_or_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Endpoint().url == OPENAI_URL
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL + "/")
    assert Endpoint().url == LOCAL
    assert Endpoint(base_url="http://far/v1").url == "http://far/v1"
    assert endpoints()[VERIFIER].model == DEFAULT_MODEL


def test_no_key_is_needed_but_at_openai() -> None:
    assert Endpoint("m", LOCAL).key() == NO_KEY
    with pytest.raises(LlmError, match=r"set OPENAI_API_KEY, or name another .* --base_url") as e:
        Endpoint().key()
    assert e.value.final


def test_the_key_is_never_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-secret \n")
    endpoint = Endpoint("m", LOCAL)
    assert endpoint.key() == "sk-secret"
    assert b"sk-secret" not in pickle.dumps(endpoint)
    assert "sk-secret" not in repr(endpoint)


def test_a_key_that_no_header_holds_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\nsk-second")
    with pytest.raises(LlmError, match="has characters that a key cannot have") as error:
        Endpoint("m", LOCAL).key()
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8000", "is not an http"),
        ("ftp://x/v1", "is not an http"),
        ("http://", "is not an http"),
        ("http://a..b/v1", "is not an http"),
        ("http://x:port/v1", "base URL"),
        ("http://me:secret@x/v1", "put the key into the environment variable"),
    ],
)
def test_urls_that_cannot_be_used(url: str, message: str) -> None:
    with pytest.raises(LlmError, match=message) as error:
        _ = Endpoint("m", url).url
    assert error.value.final
    assert "secret" not in str(error.value)


def test_configured_means_a_key_or_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Endpoint().configured
    assert Endpoint("m", LOCAL).configured
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert Endpoint().configured


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://LOCALHOST./v1", True),
        ("http://model.localhost/v1", True),
        ("http://127.0.0.1:11434/v1", True),
        ("http://127.1.2.3/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://0.0.0.0:8080/v1", True),
        ("http://10.0.0.7:8000/v1", False),
        ("http://localhost.example.com/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_which_addresses_are_on_this_machine(url: str, local: bool) -> None:
    assert Endpoint("m", url).local == local
