"""`ufo doctor` of search engines: one search each, and the remedy where one cannot be used."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.local_web import Engines, LocalWeb
from tests.pipelines.llm_runs import ENVIRONMENT

NAMES = ("SEARXNG_BASE_URL", "BRAVE_API_KEY", "BRAVE_BASE_URL")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    for name in (*ENVIRONMENT, *NAMES):
        monkeypatch.delenv(name, raising=False)
    with LocalWeb() as web, Engines(web) as engines:
        yield engines


def test_each_engine_of_the_environment_is_asked_one_query(
    ufo: Any, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPER_BASE_URL", engines.url)
    monkeypatch.setenv("BRAVE_BASE_URL", engines.url)
    monkeypatch.setenv("BRAVE_API_KEY", "secret-0123456789")
    done = ufo("doctor", "--json")
    assert done.code == 0, done.err
    assert [(row["search"], row["usable"], row["requests"]) for row in done.json] == [
        ("serper", True, 1),
        ("brave", True, 1),
    ]
    assert len(engines.queries) == 2
    assert "secret" not in done.out
    assert f"search by serper at {engines.url}" in ufo("doctor").out


@pytest.mark.parametrize(
    ("status", "says"), [(403, "search.formats"), (404, "SEARXNG_BASE_URL"), (200, "not a search")]
)
def test_an_engine_that_cannot_be_used_is_reported_with_the_remedy(
    ufo: Any, engines: Engines, monkeypatch: pytest.MonkeyPatch, status: int, says: str
) -> None:
    monkeypatch.setenv("SEARXNG_BASE_URL", engines.url)
    engines.faults.append((status, {"error": "x"}))
    done = ufo("doctor")
    assert done.code == 1
    assert says in done.out


def test_an_address_that_is_none_is_reported_without_asking(
    ufo: Any, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARXNG_BASE_URL", "searx.example")
    done = ufo("doctor")
    assert done.code == 1
    assert "SEARXNG_BASE_URL is not an http://" in done.out


def test_where_nothing_is_configured_it_is_wrong_usage(ufo: Any, engines: Engines) -> None:
    assert ufo("doctor").code == 2
