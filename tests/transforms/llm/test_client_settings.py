"""Settings of clients: the endpoint of a role, how it is asked, and what workers are sent."""

from dataclasses import replace

import pytest

from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings, store_path
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.limiter import RateLimits
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER

HERE, THERE = Endpoint("m", "http://a.example/v1"), Endpoint("e", "http://b.example/v1")
SETTINGS = ClientSettings({VERIFIER: HERE, EXTRACTOR: THERE})


@pytest.mark.parametrize(
    ("role", "model", "endpoint"),
    [
        pytest.param(VERIFIER, "", HERE, id="its own"),
        pytest.param(EXTRACTOR, "", THERE, id="another role's own"),
        pytest.param(KNOWLEDGE, "", HERE, id="the verifier's"),
        pytest.param(EXTRACTOR, "x", replace(THERE, model="x"), id="its own, for another model"),
    ],
)
def test_the_endpoint_of_a_role(role: str, model: str, endpoint: Endpoint) -> None:
    assert SETTINGS.endpoint(role, model) == endpoint


@pytest.mark.parametrize(
    ("urls", "batched"),
    [
        pytest.param((), [True, True], id="all"),
        pytest.param(("http://b.example/v1",), [False, True], id="one"),
        pytest.param(("http://c.example/v1",), [False, False], id="another"),
        pytest.param(None, [False, False], id="none without batches"),
    ],
)
def test_which_are_asked_in_batches(urls: tuple[str, ...] | None, batched: list[bool]) -> None:
    settings = replace(SETTINGS, batch=None if urls is None else BatchSettings("path", "run", urls))
    assert [settings.batched(role) for role in (VERIFIER, EXTRACTOR)] == batched


def test_workers_are_sent_addresses_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://c.example/v1")
    unnamed, known = Endpoint("m"), Capabilities(n=False)
    sent = ClientSettings({VERIFIER: unnamed}, {unnamed: known, THERE: known}).elsewhere()
    named = Endpoint("m", "http://c.example/v1")
    assert sent.endpoints == {VERIFIER: named}
    assert sent.capabilities == {named: known, THERE: known}


def test_limits_are_those_that_were_set() -> None:
    settings = replace(SETTINGS, concurrency=3, requests_per_minute=4, tokens_per_minute=5)
    assert settings.limits == RateLimits(3, 4, 5)


@pytest.mark.parametrize("cache", ["/a/cache", "/a/cache/"])
def test_batches_are_beside_the_cache(cache: str) -> None:
    assert store_path(cache) == "/a/cache.batches"
