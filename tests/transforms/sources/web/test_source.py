"""The source `web` over real HTTP: what it asks, and what becomes of the answers."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.serper_server import KEY, RESET, SerperServer, result, snippet
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import ERROR, NO_PASSAGES, NOANS, TRANSPORT, FactUnit, OpenUnits
from ufo.transforms.check import Checked, check
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.shared import end_run
from ufo.transforms.llm.usage_log import REQUESTS, UsageReader
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.web.engines import APIS, SearchResult, Serper
from ufo.transforms.sources.web.source import WebSource
from ufo.transforms.sources.web.transport import MOST_BYTES

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def serper(monkeypatch: pytest.MonkeyPatch) -> Iterator[SerperServer]:
    with SerperServer() as server:
        monkeypatch.setenv("SERPER_API_KEY", server.key)
        monkeypatch.setenv("SERPER_BASE_URL", server.url)
        yield server


@pytest.fixture(autouse=True)
def _left() -> Iterator[None]:
    """Close what a test opened, as the end of a run does."""
    yield
    wait_for(end_run("test"))


def opened(*queries: str) -> OpenUnits:
    units = [FactUnit("r1", f"u{n}", None, f"Claim {n}.", q, None) for n, q in enumerate(queries)]
    return OpenUnits("r1", "Claims.", None, None, [], [], units)


def source(pauses: list[float] | None = None, **options: Any) -> WebSource:
    async def sleep(seconds: float) -> None:
        (pauses if pauses is not None else []).append(seconds)
        await asyncio.sleep(0)

    settings = {
        "passages_per_page": 0,
        "context": SourceContext(CallSettings(run="test")),
        **options,
    }  # snippets; test_web_pages.py has the pages
    made = WebSource(**settings)
    made.name, made.sleep, made.clock = "web", sleep, lambda: NOW
    made.open()
    return made


def look_up(*queries: str, pauses: list[float] | None = None, **options: Any) -> list[Found]:
    return wait_for(source(pauses, **options).look_up(opened(*queries)))


def texts(found: Found) -> list[str]:
    return [hit.passage.text for hit in found.passages]


def test_the_queries_of_a_response_are_one_request(serper: SerperServer) -> None:
    serper.results["a?"] = result(snippet("Of a."))
    serper.results["b?"] = result(snippet("Of b."), snippet("More of b."))
    a, b, again, nothing = look_up("a?", "b?", "a?", "c?", pages=7)
    (request,) = serper.requests
    assert request.path == "/search"
    assert request.key == KEY
    assert request.body == [{"q": query, "num": 10} for query in ("a?", "b?", "c?")]
    assert texts(a) == texts(again) == ["Of a."]
    assert texts(b) == ["Of b.", "More of b."]
    assert (nothing.outcome, nothing.reason, nothing.error_type) == (NOANS, NO_PASSAGES, "")


def test_a_request_has_no_more_queries_than_the_engine_takes(serper: SerperServer) -> None:
    queries = [f"Query {n}?" for n in range(230)]
    serper.results[queries[229]] = result(snippet("The last."))
    found = look_up(*queries)
    assert sorted(len(request.body) for request in serper.requests) == [30, 100, 100]
    assert texts(found[229]) == ["The last."]
    assert len(found) == 230


def test_what_was_sent_is_reported_once(serper: SerperServer) -> None:
    serper.faults.append(500)
    found = look_up("a?", "b?", "a?")
    assert [len(one.usage) for one in found] == [2, 0, 0]
    rows = found[0].usage
    assert [(row.step, row.source, row.status, row.retries) for row in rows] == [
        ("search", "web", "500", 0),
        ("search", "web", "ok", 1),
    ]
    assert {row.response_id for row in rows} == {"r1"}
    assert len({row.request_id for row in rows}) == 2


def test_snippets_answer_box_and_knowledge_graph_are_passages_of_their_own(
    serper: SerperServer,
) -> None:
    serper.results["q?"] = result(
        snippet("Plain.", title="T", link="https://a.example/x", date="Mar 5, 2021"),
        snippet(None),
        snippet("Old.", date="3 days ago", link=None),
        snippet("Third result."),
        snippet("Beyond the pages asked for."),
        answerBox={
            "title": "Box",
            "answer": "In 1932",
            "snippet": "It was opened in 1932.",
            "link": "https://box.example",
        },
        knowledgeGraph={
            "title": "Alma Bridge",
            "type": "Bridge in Norway",
            "description": "A bridge over the Alma.",
            "descriptionLink": "https://graph.example",
            "attributes": {"Opened": "1932", "Length": 310, "Total": " "},
        },
    )
    (found,) = look_up("q?", pages=4)
    rows = [hit.passage for hit in found.passages]
    assert [(row.text, row.title, row.url, row.published_at) for row in rows] == [
        ("In 1932", "Box", "https://box.example", None),
        (
            "Alma Bridge: Bridge in Norway. A bridge over the Alma. Opened: 1932.",
            "Alma Bridge",
            "https://graph.example",
            None,
        ),
        ("Plain.", "T", "https://a.example/x", "2021-03-05"),
        ("Old.", "A page", None, None),
        ("Third result.", "A page", "https://example.org/page", None),
    ]
    assert [row.hostname for row in rows] == [
        "box.example",
        "graph.example",
        "a.example",
        None,
        "example.org",
    ]
    assert {row.retrieved_at for row in rows} == {"2026-01-02T03:04:05+00:00"}
    assert len({row.passage_id for row in rows}) == 5
    assert all((row.passage_id or "").startswith("web:") for row in rows)


def test_half_characters_are_replaced(serper: SerperServer) -> None:
    serper.results["\ufffd?"] = result(snippet("half \ud83d", title="\udc00", link="x:\ud800"))
    (found,) = look_up("\ud83d?")
    (hit,) = found.passages
    assert (hit.passage.text, hit.passage.title) == ("half \ufffd", "\ufffd")


@pytest.mark.parametrize(
    "fault",
    [429, 500, 503, 408, RESET, b"{not json", b"", (429, {"retry-after-ms": "20"})],
    ids=str,
)
def test_what_passes_is_tried_again(serper: SerperServer, fault: Any) -> None:
    serper.results["q?"] = result(snippet("Found."))
    serper.faults.extend([fault, fault])
    pauses: list[float] = []
    (found,) = look_up("q?", pauses=pauses)
    assert texts(found) == ["Found."]
    assert len(pauses) == 2
    assert len(serper.requests) == 3
    if isinstance(fault, tuple):
        assert min(pauses) >= 0.02


def _errors(found: Sequence[Found]) -> set[tuple[Any, ...]]:
    return {(one.passages, one.outcome, one.reason, one.error_type) for one in found}


def test_a_search_that_stays_broken_is_an_error_and_not_nothing_found(
    serper: SerperServer,
) -> None:
    serper.faults.extend([503] * 50)
    found = look_up("a?", "b?")
    assert _errors(found) == {((), ERROR, TRANSPORT, "SendError")}
    assert {one.message for one in found} == {f"{serper.url} answered 503"}
    assert len(found[0].usage) == len(serper.requests) <= 10
    assert found[1].usage == ()


@pytest.mark.parametrize(
    "reply", [b'"text"', b"null", b"5", b"[]", b'[{"organic": []}]', b'{"organic": []}'], ids=str
)
def test_a_reply_that_is_not_one_result_a_query_is_an_error(
    serper: SerperServer, reply: bytes
) -> None:
    serper.faults.append(reply)
    assert _errors(look_up("a?", "b?")) == {((), ERROR, TRANSPORT, "SendError")}
    assert len(serper.requests) == 1


def test_a_reply_that_is_too_large_is_an_error(serper: SerperServer) -> None:
    serper.faults.append(b" " * MOST_BYTES + b"{}")
    (found,) = look_up("a?")
    assert _errors([found]) == {((), ERROR, TRANSPORT, "SendError")}
    assert found.message == "the reply is over 8,388,608 bytes"
    assert len(serper.requests) == 1


@pytest.mark.parametrize("bad", ["text", None, 5, [], {}, {"message": "Sorry", "statusCode": 500}])
def test_a_result_that_is_none_costs_its_query_alone(serper: SerperServer, bad: Any) -> None:
    serper.results |= {"a?": bad, "b?": result(snippet("Of b."))}
    a, b = look_up("a?", "b?")
    assert _errors([a]) == {((), ERROR, TRANSPORT, "SendError")}
    assert texts(b) == ["Of b."]
    assert len(a.usage) == 1


class Fragile(Serper):
    """Reads Serper's replies, but for one that its reader did not think of."""

    def results(self, reply: Any) -> Iterator[SearchResult]:
        for one in super().results(reply):
            if one.text == "odd":
                raise ZeroDivisionError("of a reader")
            yield one


def test_a_reply_that_its_reader_fails_on_costs_its_query_alone(
    serper: SerperServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(APIS, "serper", Fragile)
    serper.results |= {"a?": result(snippet("odd")), "b?": result(snippet("Of b."))}
    a, b = look_up("a?", "b?")
    assert _errors([a]) == {((), ERROR, TRANSPORT, "SendError")}
    assert a.message == "the search's reply cannot be read: of a reader"
    assert (texts(b), len(a.usage)) == (["Of b."], 1)


def test_a_reply_that_cannot_be_decoded_is_that_reply_s_failure(serper: SerperServer) -> None:
    serper.faults.extend([(200, {"content-encoding": "gzip"})] * 10)
    (found,) = look_up("a?")
    assert _errors([found]) == {((), ERROR, TRANSPORT, "SendError")}
    assert "content coding" in found.message


def test_one_result_may_come_without_a_list(serper: SerperServer) -> None:
    serper.faults.append(b'{"organic": [{"snippet": "Alone."}]}')
    (found,) = look_up("a?")
    assert texts(found) == ["Alone."]


@pytest.mark.parametrize("status", [401, 403, 404, 400, 402])
def test_what_every_search_would_meet_ends_the_run_with_the_remedy(
    serper: SerperServer, status: int
) -> None:
    serper.faults.append(status)
    with pytest.raises(RunError) as caught:
        look_up("a?")
    remedy = {404: "check SERPER_BASE_URL", 401: "set it to", 403: "set it to"}
    assert remedy.get(status, "top them up") in caught.value.message
    assert serper.url in caught.value.message
    assert len(serper.requests) == 1


def test_an_address_without_a_server_ends_the_run(
    serper: SerperServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SerperServer() as gone:
        url = gone.url
    monkeypatch.setenv("SERPER_BASE_URL", url)
    with pytest.raises(RunError, match=r"nothing answers at .*; check SERPER_BASE_URL"):
        look_up("a?")


def test_the_key_is_nowhere_but_in_the_header(
    serper: SerperServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "wrong-key-0123456789"
    monkeypatch.setenv("SERPER_API_KEY", f" {secret}\n")
    with caplog.at_level(logging.DEBUG), pytest.raises(RunError) as caught:
        look_up("a?")
    assert serper.requests[0].key == secret
    assert secret not in caplog.text
    assert secret not in str(caught.value)
    assert "SERPER_API_KEY" in caught.value.message


@pytest.mark.parametrize(
    ("key", "url", "reason"),
    [
        ("", "", "set SERPER_API_KEY"),
        ("k", "", None),
        ("", "http://127.0.0.1:1", None),
        ("k", "https://search.example/v1", None),
        ("schlüssel", "", "the key in SERPER_API_KEY"),
        ("k", "localhost:80", "SERPER_BASE_URL is no"),
        ("k", "http://[::1", "SERPER_BASE_URL is no"),
        ("k", "http://host:port", "SERPER_BASE_URL is no"),
        ("k", "http://me:secret@host", "SERPER_BASE_URL is no"),
    ],
)
def test_it_says_why_it_can_not_serve(
    monkeypatch: pytest.MonkeyPatch, key: str, url: str, reason: str | None
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", key)
    monkeypatch.setenv("SERPER_BASE_URL", url)
    found = WebSource().unavailable()
    assert found is None if reason is None else reason in (found or "")
    assert "secret" not in (found or "")


def test_an_engine_that_is_none_is_reported_which_there_are() -> None:
    with pytest.raises(UsageError, match="allowed: serper, searxng, brave"):
        WebSource(search="google")


def test_with_a_judge_nothing_found_and_not_asked_are_distinguished(serper: SerperServer) -> None:
    serper.results["a?"] = result(snippet("Claim 0."))
    serper.results["c?"] = "garbage"
    checked: Checked = wait_for(check(opened("a?", "b?", "c?"), source(), OfflineJudge()))
    assert [(row.passage_id is None, row.outcome, row.reason) for row in checked.evidence[1:]] == [
        (True, NOANS, NO_PASSAGES),
        (True, ERROR, TRANSPORT),
    ]
    assert checked.evidence[0].passage_id == checked.passages[0].passage_id
    assert [(row.step, row.key) for row in checked.failures] == [("source:web", "u2")]
    assert [row.step for row in checked.usage] == ["search"]


def test_requests_are_written_into_the_usage_log(serper: SerperServer, tmp_path: Path) -> None:
    serper.results["a?"] = result(snippet("Of a."))
    log = str(tmp_path / "usage.jsonl")
    calls = CallSettings(run="test", usage_log=log)
    (found,) = look_up("a?", context=SourceContext(calls))
    reader = UsageReader(log)
    assert list(reader.rows()) == list(found.usage) != []
    assert (found.usage[0].source, found.usage[0].response_id) == ("web", "r1")
    assert UsageReader(log).totals()[REQUESTS] == 1
