"""What each search API is asked, and what its replies mean."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.transforms.sources.web.pages import TABLES
from ufo.schemas.errors import UsageError
from ufo.transforms.sources.web.engines import APIS, SearchResult, api_of
from ufo.transforms.sources.web.source import WebSource


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERPER", "SEARXNG", "BRAVE"):
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)


def test_each_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    call = api_of("serper").call(["a?", "b?"], 10, "k")
    assert call["method"] == "POST"
    assert call["url"] == "https://google.serper.dev/search"
    assert call["json"] == [{"q": q, "num": 10} for q in ("a?", "b?")]
    assert call["headers"] == {"X-API-KEY": "k"}
    assert api_of("serper").call(["a?"], 10, "")["headers"] == {}
    monkeypatch.setenv("SEARXNG_BASE_URL", "http://searx.example/?x=y")
    call = api_of("searxng").call(["a?"], 10, "")
    assert call["url"] == "http://searx.example/search"
    assert call["method"] == "GET"
    assert call["params"] == {"q": "a?", "format": "json"}
    call = api_of("brave").call(["a?"], 30, "k")
    assert call["url"] == "https://api.search.brave.com/res/v1/web/search"
    assert call["headers"]["X-Subscription-Token"] == "k"
    assert call["params"] == {"q": "a?", "count": 20}
    assert "X-Subscription-Token" not in api_of("brave").call(["a?"], 30, "")["headers"]
    with pytest.raises(UsageError, match=r"allowed: serper, searxng, brave.*mean 'searxng'"):
        api_of("searx")


@pytest.mark.parametrize(
    ("query", "word", "words"), [("word ", "word", 50), ("abcdefghi ", "abcdefghi", 40)]
)
def test_brave_gets_no_query_that_it_would_refuse(query: str, word: str, words: int) -> None:
    sent = api_of("brave").call([query * 90], 5, "")["params"]["q"]
    assert sent.split() == [word] * words
    assert len(api_of("brave").call(["x" * 900], 5, "")["params"]["q"]) == 400


@pytest.mark.parametrize(
    ("name", "reply", "results"), TABLES["results"].values(), ids=TABLES["results"]
)
def test_results(name: str, reply: Any, results: list[Any]) -> None:
    assert list(api_of(name).results(reply)) == [SearchResult(*one) for one in results]


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("Mar 5, 2021", "2021-03-05"),
        ("5 Mar 2021", "2021-03-05"),
        ("2021-03-05", "2021-03-05"),
        ("2021-03-05T23:59:59+02:00", "2021-03-05"),
        (" 2021-03-05 ", "2021-03-05"),
        ("3 days ago", None),
        ("2021", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("field", ["publishedDate", "pubdate"])
def test_the_date_of_a_result(field: str, date: str, day: str | None) -> None:
    (search_result,) = api_of("searxng").results({"results": [{field: date}]})
    assert search_result.published_at == day


@pytest.mark.parametrize(
    "part", ["organic", "answerBox", "knowledgeGraph", "peopleAlsoAsk", "searchParameters"]
)
def test_serper_answers_with_any_part_of_a_result(part: str) -> None:
    assert api_of("serper").answers({part: []})


@pytest.mark.parametrize(
    ("parts", "search_result"),
    [
        ({"answerBox": {"snippet": "In 1932."}}, SearchResult(None, None, "In 1932.", None, True)),
        (
            {"answerBox": {"answer": "1932", "date": "2021-03-05"}},
            SearchResult(None, None, "1932", "2021-03-05", True),
        ),
        (
            {"knowledgeGraph": {"title": "Alma", "type": "River", "website": "http://a.example"}},
            SearchResult("http://a.example", "Alma", "Alma: River.", None, True),
        ),
        (
            {"knowledgeGraph": {"title": "Alma", "attributes": {"Length": " 9 km "}}},
            SearchResult(None, "Alma", "Length: 9 km.", None, True),
        ),
    ],
    ids=["a snippet", "a date", "a kind and an address", "an attribute"],
)
def test_what_serper_shows_above_the_pages(
    parts: dict[str, Any], search_result: SearchResult
) -> None:
    assert list(api_of("serper").results(parts)) == [search_result]


@pytest.mark.parametrize("tag", ["strong", "b", "em"])
def test_brave_s_marks_of_words_are_left_out(tag: str) -> None:
    item = {"title": f"<{tag}>A</{tag}>", "description": f"Of <{tag}>a</{tag}>."}
    (search_result,) = api_of("brave").results({"web": {"results": [item]}})
    assert search_result == SearchResult(None, "A", "Of a.")


@pytest.mark.parametrize("code", ["QUOTA_LIMITED", "USAGE_LIMIT_EXCEEDED"])
def test_a_plan_of_brave_that_is_used_up_is_told(code: str) -> None:
    assert "is used up (429)" in api_of("brave").refused(429, code, "http://engine")


UNUSABLE: dict[str, Any] = {
    "null": None,
    "a number": 5,
    "a text": "text",
    "an empty list": [],
    "an empty object": {},
}


@pytest.mark.parametrize(
    ("name", "reply", "answers"),
    [
        *(pytest.param(*row, id=name) for name, row in TABLES["answers"].items()),
        *(
            pytest.param(name, bad, False, id=f"{name} replies {kind}")
            for name in APIS
            for kind, bad in UNUSABLE.items()
        ),
    ],
)
def test_nothing_found_and_no_answer_differ(name: str, reply: Any, answers: bool) -> None:
    assert api_of(name).answers(reply) is answers


@pytest.mark.parametrize(
    ("name", "status", "text", "says"), TABLES["refusals"].values(), ids=TABLES["refusals"]
)
def test_refusals_with_the_remedy(name: str, status: int, text: str, says: str | None) -> None:
    message = api_of(name).refused(status, text, "http://engine")
    assert says in message if says else message == ""


@pytest.mark.parametrize(
    ("name", "key", "url", "says"), cases(Path(__file__).with_name("engines.txt"))
)
def test_an_engine_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, name: str, key: str, url: str, says: str | None
) -> None:
    monkeypatch.setenv(f"{name.upper()}_API_KEY", key)
    monkeypatch.setenv(f"{name.upper()}_BASE_URL", url)
    message = WebSource(search=name).unavailable() or ""
    assert says in message if says else message == ""
    assert "secret" not in message


KEYS = """organic answerBox knowledgeGraph attributes snippet title answer date link type results
    web url content publishedDate description extra_snippets page_age"""
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["", *KEYS.split()]), inner, max_size=5)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("name", APIS)
@given(ANYTHING)
def test_whatever_an_engine_says_is_read_without_an_error(name: str, reply: Any) -> None:
    backend = api_of(name)
    assert backend.answers(reply) in (True, False)
    backend.split(reply, 2)
    for result in backend.results(reply):
        for value in (result.text, result.title, result.url, result.published_at):
            assert value is None or (value.strip() and value.encode())


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        pytest.param(f"{'x' * 398} y", f"{'x' * 398} y", id="400 characters"),
        pytest.param(f"{'x' * 399} y", "x" * 399, id="401 characters"),
        pytest.param(f"{'x' * 400} y", "x" * 400, id="a word of 400 characters"),
        pytest.param(f"{'x' * 401} y", "x" * 400, id="a word of 401 characters"),
        pytest.param("a  b\nc", "a b c", id="white space"),
    ],
)
def test_a_query_for_brave_is_cut_at_a_word(query: str, sent: str) -> None:
    assert api_of("brave").call([query], 5, "")["params"] == {"q": sent, "count": 5}


@pytest.mark.parametrize("name", ["SERPER", "SEARXNG", "BRAVE"])
def test_the_address_of_an_engine_has_no_query_and_no_slash_at_its_end(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"{name}_BASE_URL", " http://near.example/a//?b=c ")
    assert api_of(name.lower()).url == "http://near.example/a"


@pytest.mark.parametrize(
    ("name", "payload", "queries", "replies"),
    [
        pytest.param("serper", [{"a": 1}, {}], 2, [{"a": 1}, {}], id="a reply to each"),
        pytest.param("serper", [{}], 2, None, id="fewer replies"),
        pytest.param("serper", [{}, {}, {}], 2, None, id="more replies"),
        pytest.param("serper", {"a": 1}, 1, [{"a": 1}], id="one reply"),
        pytest.param("serper", {"a": 1}, 2, None, id="one reply to two"),
        pytest.param("serper", "x", 1, None, id="a text"),
        pytest.param("brave", {"a": 1}, 1, [{"a": 1}], id="an engine for one query"),
    ],
)
def test_a_reply_is_split_by_its_queries(
    name: str, payload: Any, queries: int, replies: list[Any] | None
) -> None:
    assert api_of(name).split(payload, queries) == replies


@pytest.mark.parametrize(
    ("name", "status", "text"),
    [
        ("serper", 400, "Bad query"),
        ("serper", 401, "credits"),
        ("searxng", 404, ""),
        ("brave", 422, "other"),
        ("brave", 400, "SUBSCRIPTION_TOKEN_INVALID"),
    ],
)
def test_another_refusal_is_of_one_search(name: str, status: int, text: str) -> None:
    assert api_of(name).refused(status, text, "http://engine") == ""
