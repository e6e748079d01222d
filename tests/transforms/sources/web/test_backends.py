"""What each search API is asked, and what its replies mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.errors import UsageError
from ufo.transforms.sources.web.engines import (
    APIS,
    SearchResult,
    api_of,
)

UNUSABLE: list[Any] = [None, 5, "text", [], {}]


def test_an_engine_that_is_none_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'searxng'"):
        api_of("searx")


def test_serper_is_asked_many_queries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERPER_BASE_URL", raising=False)
    assert api_of("serper").call(["a?", "b?"], 10, "k") == {
        "method": "POST",
        "url": "https://google.serper.dev/search",
        "headers": {"X-API-KEY": "k"},
        "json": [{"q": q, "num": 10} for q in ("a?", "b?")],
    }


def test_searxng_is_asked_for_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_BASE_URL", "http://searx.example/?x=y")
    assert api_of("searxng").call(["a?"], 10, "") == {
        "method": "GET",
        "url": "http://searx.example/search",
        "params": {"q": "a?", "format": "json"},
    }


def test_brave_is_asked_with_its_own_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_BASE_URL", raising=False)
    call = api_of("brave").call(["a?"], 30, "k")
    assert call["url"] == "https://api.search.brave.com/res/v1/web/search"
    assert call["headers"]["X-Subscription-Token"] == "k"
    assert call["params"] == {"q": "a?", "count": 20}
    assert "X-Subscription-Token" not in api_of("brave").call(["a?"], 30, "")["headers"]


def test_brave_gets_no_query_that_it_would_refuse() -> None:
    def sent(query: str) -> str:
        text: str = api_of("brave").call([query], 5, "")["params"]["q"]
        return text

    assert sent("word " * 90).split() == ["word"] * 50
    longer = sent("abcdefghi " * 50)
    assert len(longer) <= 400
    assert set(longer.split()) == {"abcdefghi"}
    assert len(sent("x" * 900)) == 400


def test_searxng_results() -> None:
    reply = {
        "query": "q",
        "results": [
            {
                "url": "https://a.example/",
                "title": "A",
                "content": "Of a.",
                "publishedDate": "2021-03-05T10:00:00",
            },
            {"url": "https://b.example/", "title": "B", "content": ""},
            {"title": 5, "content": ["no text"]},
        ],
    }
    assert list(api_of("searxng").results(reply)) == [
        SearchResult("https://a.example/", "A", "Of a.", "2021-03-05"),
        SearchResult("https://b.example/", "B", None),
        SearchResult(None, None, None),
    ]


def test_brave_results() -> None:
    reply = {
        "type": "search",
        "web": {
            "results": [
                {
                    "url": "https://a.example/",
                    "title": "<strong>A</strong> &amp; more",
                    "description": "Of <strong>a</strong>. 1 &lt; 2.",
                    "extra_snippets": ["And <b>more</b>.", 5, ""],
                    "page_age": "2021-03-05T10:00:00",
                },
                {"url": "https://b.example/"},
            ]
        },
    }
    assert list(api_of("brave").results(reply)) == [
        SearchResult("https://a.example/", "A & more", "Of a. 1 < 2. And more.", "2021-03-05"),
        SearchResult("https://b.example/", None, None),
    ]


@pytest.mark.parametrize(
    ("name", "reply", "answers"),
    [
        ("serper", {"organic": []}, True),
        ("serper", {"message": "Sorry"}, False),
        ("searxng", {"results": []}, True),
        ("searxng", {"results": [], "unresponsive_engines": [["google", "timeout"]]}, False),
        ("searxng", {"results": [{"url": "u"}], "unresponsive_engines": [["x", "y"]]}, True),
        ("searxng", {"error": "no"}, False),
        ("brave", {"type": "search", "query": {}}, True),
        ("brave", {"web": {"results": []}}, True),
        ("brave", {"type": "ErrorResponse"}, False),
        *((name, value, False) for name in APIS for value in UNUSABLE),
    ],
)
def test_nothing_found_and_no_answer_differ(name: str, reply: Any, answers: bool) -> None:
    assert api_of(name).answers(reply) is answers


@pytest.mark.parametrize(
    ("name", "status", "text", "says"),
    [
        ("serper", 400, "Not enough credits", "top them up"),
        ("serper", 402, "", "top them up"),
        ("searxng", 403, "Forbidden", "add json to search.formats"),
        ("brave", 422, '{"code": "SUBSCRIPTION_TOKEN_INVALID"}', "BRAVE_API_KEY"),
        ("brave", 402, "", "used up"),
        ("brave", 429, '{"code": "QUOTA_LIMITED"}', "used up"),
    ],
)
def test_an_api_s_own_refusals_end_the_run_with_the_remedy(
    name: str, status: int, text: str, says: str
) -> None:
    assert says in api_of(name).refused(status, text, "http://engine")


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("status", [400, 429, 500])
def test_other_statuses_are_for_all_engines_alike(name: str, status: int) -> None:
    assert api_of(name).refused(status, "", "http://engine") == ""


@pytest.mark.parametrize(
    ("name", "environment", "says"),
    [
        ("searxng", {}, "set SEARXNG_BASE_URL"),
        ("searxng", {"SEARXNG_BASE_URL": "http://127.0.0.1:8080"}, None),
        ("searxng", {"SEARXNG_BASE_URL": "searx.example"}, "SEARXNG_BASE_URL is no"),
        ("brave", {}, "set BRAVE_API_KEY"),
        ("brave", {"BRAVE_API_KEY": "k"}, None),
        ("brave", {"BRAVE_BASE_URL": "http://127.0.0.1:1"}, None),
        ("brave", {"BRAVE_API_KEY": "schlüssel"}, "the key in BRAVE_API_KEY"),
    ],
)
def test_an_engine_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, name: str, environment: dict[str, str], says: str | None
) -> None:
    for variable in ("SEARXNG_BASE_URL", "BRAVE_BASE_URL", "BRAVE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    found = api_of(name).unavailable()
    assert found is None if says is None else says in (found or "")


keys = st.sampled_from(
    [
        *("organic", "answerBox", "knowledgeGraph", "attributes", "snippet", "title", "answer"),
        *("date", "link", "type", "results", "web", "url", "content", "publishedDate"),
        *("description", "extra_snippets", "page_age", ""),
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("name", APIS)
@given(anything)
def test_whatever_an_engine_says_is_read_without_an_error(name: str, reply: Any) -> None:
    backend = api_of(name)
    assert backend.answers(reply) in (True, False)
    backend.split(reply, 2)
    for result in backend.results(reply):
        for value in (result.text, result.title, result.url, result.published_at):
            assert value is None or (value.strip() and value.encode())
