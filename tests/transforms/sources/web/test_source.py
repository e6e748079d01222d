"""The source `web` over real HTTP: what it asks, and what becomes of the answers."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.local_web.engines import RESET, Engines, result, snippet
from tests.transforms.sources.web.pages import TABLES, opened
from ufo.schemas.errors import RunError
from ufo.schemas.records import ERROR, NO_PASSAGES, NOANS, TRANSPORT
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.web.engines import APIS, SearchResult, Serper
from ufo.transforms.sources.web.source import WebSource
from ufo.transforms.sources.web.transport import MOST_BYTES

KEY = "serper-0123456789abcdef"


@pytest.fixture
def serper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    with Engines(key=KEY) as server:
        monkeypatch.setenv("SERPER_API_KEY", KEY)
        monkeypatch.setenv("SERPER_BASE_URL", server.url)
        yield server
        wait_for(end_run("test"))  # close what a test opened


def source(pauses: list[float] | None = None, pages: int = 5) -> WebSource:
    async def sleep(seconds: float) -> None:
        (pauses if pauses is not None else []).append(seconds)
        await asyncio.sleep(0)

    context = SourceContext(CallSettings(run="test"))
    made = WebSource(passages_per_page=0, pages=pages, context=context)  # snippets alone
    made.name, made.sleep = "web", sleep
    made.clock = lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    made.open()
    return made


def look_up(*queries: str, **options: Any) -> list[Found]:
    return wait_for(source(**options).look_up(opened(queries)))


def texts(found: Found) -> list[str]:
    return [hit.passage.text for hit in found.passages]


def test_the_queries_of_a_response_are_one_request(serper: Engines) -> None:
    serper.results["a?"] = result(snippet("Of a."))
    serper.results["b?"] = result(snippet("Of b."), snippet("More of b."))
    a, b, again, nothing = look_up("a?", "b?", "a?", "c?", pages=7)
    assert serper.bodies == [[{"q": query, "num": 10} for query in ("a?", "b?", "c?")]]
    assert serper.queries[0].headers["x-api-key"] == KEY
    assert texts(a) == texts(again) == ["Of a."]
    assert texts(b) == ["Of b.", "More of b."]
    assert (nothing.outcome, nothing.reason, nothing.error_type) == (NOANS, NO_PASSAGES, "")
    found = look_up(*(f"Query {n}?" for n in range(229)), "b?")  # no more than the engine takes
    assert sorted(map(len, serper.bodies[1:])) == [30, 100, 100]
    assert (texts(found[229]), len(found)) == (["Of b.", "More of b."], 230)


def test_snippets_answer_box_and_knowledge_graph_are_passages(serper: Engines) -> None:
    serper.results["q?"] = result(
        snippet("Plain.", title="T", link="https://a.example/x", date="Mar 5, 2021"),
        snippet(None),
        snippet("Old.", date="3 days ago", link=None),
        snippet("Half \ud83d", title="\udc00"),
        snippet("Beyond the pages asked for."),
        **TABLES["boxes"],
    )
    (found,) = look_up("q?", pages=4)
    rows = [hit.passage for hit in found.passages]
    told = "Alma Bridge: Bridge in Norway. Over the Alma. Opened: 1932."
    assert [(row.text, row.title, row.url, row.hostname, row.published_at) for row in rows] == [
        ("In 1932", "Box", "https://box.example", "box.example", None),
        (told, "Alma Bridge", "https://graph.example", "graph.example", None),
        ("Plain.", "T", "https://a.example/x", "a.example", "2021-03-05"),
        ("Old.", "A page", None, None, None),
        ("Half \ufffd", "\ufffd", "https://example.org/page", "example.org", None),
    ]
    assert {row.retrieved_at for row in rows} == {"2026-01-02T03:04:05+00:00"}
    assert len({row.passage_id for row in rows}) == 5
    assert all((row.passage_id or "").startswith("web:") for row in rows)


@pytest.mark.parametrize(
    "fault",
    [429, 500, 503, 408, RESET, b"{not json", b"", (429, {}, {"retry-after-ms": "20"})],
    ids=str,
)
def test_what_passes_is_tried_again(serper: Engines, fault: Any) -> None:
    serper.results["\ufffd?"] = result(snippet("Found."))
    serper.faults.extend([fault, fault])
    pauses: list[float] = []
    (found,) = look_up("\ud83d?", pauses=pauses)
    assert texts(found) == ["Found."]
    assert (len(pauses), serper.requests) == (2, 3)
    assert min(pauses) >= (0.02 if isinstance(fault, tuple) else 0)


def failed(found: Sequence[Found]) -> str:
    """What all of these say that failed alike."""
    told = {(one.passages, one.outcome, one.reason, one.error_type) for one in found}
    assert told == {((), ERROR, TRANSPORT, "SendError")}
    (message,) = {one.message for one in found}
    return message


@pytest.mark.parametrize(
    ("fault", "times", "says"),
    [
        (503, 10, "answered 503"),
        ((200, {}, {"content-encoding": "gzip"}), 10, "content coding"),
        (b" " * MOST_BYTES + b"{}", 1, "the reply is over 8,388,608 bytes"),
        # Not one result a query.
        *((reply, 1, "") for reply in (b'"text"', b"null", b"5", b"[]", b'[{"organic": []}]')),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_search_that_fails(serper: Engines, fault: Any, times: int, says: str) -> None:
    serper.faults.extend([fault] * times)
    found = look_up("a?", "b?")
    assert says in failed(found)
    assert len(found[0].usage) == serper.requests <= times
    assert found[1].usage == ()
    rows = [(row.step, row.source, row.response_id) for row in found[0].usage]
    assert {*rows} == {("search", "web", "r")}


class Fragile(Serper):
    """Reads Serper's replies, but for one that its reader did not think of."""

    def results(self, reply: Any) -> Iterator[SearchResult]:
        for one in super().results(reply):
            if one.text == "odd":
                raise ZeroDivisionError("of a reader")
            yield one


@pytest.mark.parametrize(
    "bad", ["text", None, 5, [], {}, {"message": "Sorry", "statusCode": 500}, "odd"], ids=str
)
def test_a_bad_result_costs_itself(
    serper: Engines, monkeypatch: pytest.MonkeyPatch, bad: Any
) -> None:
    monkeypatch.setitem(APIS, "serper", Fragile)
    odd = bad == "odd"
    serper.results |= {"a?": result(snippet(bad)) if odd else bad, "b?": result(snippet("Of b."))}
    a, b = look_up("a?", "b?")
    assert ("cannot be read: of a reader" in failed([a])) == odd
    assert (texts(b), len(a.usage)) == (["Of b."], 1)


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "set it to"), (404, "check SERPER_BASE_URL"), (402, "top them up")],
)
def test_what_every_search_would_meet_ends_it(
    serper: Engines, monkeypatch: pytest.MonkeyPatch, status: int, remedy: str
) -> None:
    serper.faults.append(status)
    with pytest.raises(RunError, match=remedy) as caught:
        look_up("a?")
    assert serper.url in caught.value.message
    assert serper.requests == 1
    with Engines() as gone:
        monkeypatch.setenv("SERPER_BASE_URL", gone.url)
    with pytest.raises(RunError, match=r"nothing answers at .*; check SERPER_BASE_URL"):
        look_up("a?")


def test_the_key_is_nowhere_but_in_the_header(
    serper: Engines, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "wrong-key-0123456789"
    monkeypatch.setenv("SERPER_API_KEY", f" {secret}\n")
    with caplog.at_level(logging.DEBUG), pytest.raises(RunError, match="SERPER_API_KEY") as caught:
        look_up("a?")
    assert serper.requests == 1  # answered with the key in it
    assert secret not in caplog.text
    assert secret not in str(caught.value)
