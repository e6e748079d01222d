"""The source `web` over real HTTP: searches, snippets and pages, and what each response is told."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.embedder import write_embedder
from tests.local_web import BEACON, Engines, Listed, LocalWeb, Reply, html
from tests.local_web.documents import hostile
from tests.local_web.engines import RESET, result, snippet
from tests.transforms.sources.web.pages import NOW, TABLES, no_pause, opened
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import ERROR, NO_PASSAGES, NOANS, TRANSPORT
from ufo.transforms.llm.client_settings import CallSettings, ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.web.engines import APIS, SearchResult, Serper
from ufo.transforms.sources.web.ranking import PageText
from ufo.transforms.sources.web.source import WebSource
from ufo.transforms.sources.web.transport import MOST_BYTES

KEY = "serper-0123456789abcdef"
TEXT = {"content-type": "text/html"}


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    with LocalWeb() as web, Engines(web, KEY) as engines:
        monkeypatch.setenv("SERPER_API_KEY", KEY)
        monkeypatch.setenv("SERPER_BASE_URL", engines.url)
        yield engines
        wait_for(end_run("test"))  # close what a test opened


def web_source(
    day: datetime = NOW, resolve: Any = None, cache: Any = None, sleep: Any = no_pause, **more: Any
) -> WebSource:
    calls = CallSettings(run="test", cache=cache and str(cache))
    arguments = {"allow_private_hosts": True, "context": SourceContext(calls), **more}
    source = WebSource(**arguments)
    source.name, source.sleep, source.clock, source.resolve = "web", sleep, lambda: day, resolve
    source.open()
    return source


def look_up(*queries: str, **options: Any) -> list[Found]:
    return wait_for(web_source(**options).look_up(opened(queries)))


def search(*queries: str, **options: Any) -> list[Found]:
    """What snippets alone have on these queries."""
    return look_up(*queries, passages_per_page=0, **options)


def texts(answer: Found) -> list[str]:
    return [hit.passage.text for hit in answer.passages]


def test_the_queries_of_a_response_are_one_request(engines: Engines) -> None:
    engines.results["a?"] = result(snippet("Of a."))
    more = snippet("More of b.", link="https://example.org/more")
    engines.results["b?"] = result(snippet("Of b."), more)
    a, b, again, nothing = search("a?", "b?", "a?", "c?", pages=7)
    assert engines.bodies == [[{"q": query, "num": 10} for query in ("a?", "b?", "c?")]]
    assert engines.queries[0].headers["x-api-key"] == KEY
    assert texts(a) == texts(again) == ["Of a."]
    assert texts(b) == ["Of b.", "More of b."]
    assert nothing.outcome == NOANS
    assert nothing.reason == NO_PASSAGES
    assert nothing.error_type == ""
    answers = search(*(f"Query {n}?" for n in range(229)), "b?")  # no more than the engine takes
    assert sorted(map(len, engines.bodies[1:])) == [30, 100, 100]
    assert texts(answers[229]) == ["Of b.", "More of b."]
    assert len(answers) == 230


def test_snippets_answer_box_and_knowledge_graph_are_passages(engines: Engines) -> None:
    engines.results["q?"] = result(
        snippet("Plain.", title="T", link="https://a.example/x", date="Mar 5, 2021"),
        snippet(None, link="https://a.example/none"),
        snippet("Old.", date="3 days ago", link=None),
        snippet("Half \ud83d", title="\udc00"),
        snippet("Beyond the pages asked for.", link="https://a.example/last"),
        **TABLES["boxes"],
    )
    (answer,) = search("q?", pages=4)
    rows = [hit.passage for hit in answer.passages]
    text = "Alma Bridge: Bridge in Norway. Over the Alma. Opened: 1932."
    assert [(row.text, row.title, row.url, row.hostname, row.published_at) for row in rows] == [
        ("In 1932", "Box", "https://box.example", "box.example", None),
        (text, "Alma Bridge", "https://graph.example", "graph.example", None),
        ("Plain.", "T", "https://a.example/x", "a.example", "2021-03-05"),
        ("Old.", "A page", None, None, None),
        ("Half \ufffd", "\ufffd", "https://example.org/page", "example.org", None),
    ]
    assert {row.retrieved_at for row in rows} == {"2026-01-02T03:04:05+00:00"}
    assert len({row.passage_id for row in rows}) == 5
    assert all((row.passage_id or "").startswith("web:") for row in rows)


@pytest.mark.parametrize(
    "fault",
    [
        408,
        425,
        429,
        500,
        503,
        599,
        RESET,
        b"{not json",
        b"",
        (429, {}, {"retry-after-ms": "20"}),
    ],
    ids=str,
)
def test_what_passes_is_tried_again(engines: Engines, fault: Any) -> None:
    engines.results["\ufffd?"] = result(snippet("Found."))
    engines.faults.extend([fault, fault])
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    (answer,) = search("\ud83d?", sleep=sleep)
    assert texts(answer) == ["Found."]
    assert len(pauses) == 2
    assert engines.requests == 3
    assert min(pauses) >= (0.02 if isinstance(fault, tuple) else 0)


def failed(answers: Sequence[Found]) -> str:
    """What all of these say that failed alike."""
    outcomes = {(one.passages, one.outcome, one.reason, one.error_type) for one in answers}
    assert outcomes == {((), ERROR, TRANSPORT, "SendError")}
    (message,) = {one.message for one in answers}
    return message


@pytest.mark.parametrize(
    ("fault", "times", "says"),
    [
        (503, 10, "answered 503"),
        *((status, 1, f"answered {status}") for status in (400, 410)),
        ((200, {}, {"content-encoding": "gzip"}), 10, "content coding"),
        (b" " * MOST_BYTES + b"{}", 1, "the reply is over 8,388,608 bytes"),
        # Not one result a query.
        *((reply, 1, "") for reply in (b'"text"', b"null", b"5", b"[]", b'[{"organic": []}]')),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_search_that_fails(engines: Engines, fault: Any, times: int, says: str) -> None:
    engines.faults.extend([fault] * times)
    answers = search("a?", "b?")
    assert says in failed(answers)
    assert len(answers[0].usage) == engines.requests <= times
    assert answers[1].usage == ()
    rows = [(row.step, row.source, row.response_id) for row in answers[0].usage]
    assert {*rows} == {("search", "web", "r")}


class Fragile(Serper):
    """Reads Serper's replies, but for one that its reader did not think of."""

    def results(self, reply: Any) -> Iterator[SearchResult]:
        for search_result in super().results(reply):
            if search_result.text == "odd":
                raise ZeroDivisionError("of a reader")
            yield search_result


@pytest.mark.parametrize(
    "bad", ["text", None, 5, [], {}, {"message": "Sorry", "statusCode": 500}, "odd"], ids=str
)
def test_a_bad_result_costs_itself(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, bad: Any
) -> None:
    monkeypatch.setitem(APIS, "serper", Fragile)
    odd = bad == "odd"
    engines.results |= {"a?": result(snippet(bad)) if odd else bad, "b?": result(snippet("Of b."))}
    a, b = search("a?", "b?")
    assert ("cannot be read: of a reader" in failed([a])) == odd
    assert texts(b) == ["Of b."]
    assert len(a.usage) == 1


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "set it to"),
        (403, "set it to"),
        (402, "top them up"),
        (404, "check SERPER_BASE_URL"),
        (405, "check SERPER_BASE_URL"),
    ],
)
def test_what_every_search_would_meet_ends_it(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, status: int, remedy: str
) -> None:
    engines.faults.append(status)
    with pytest.raises(RunError, match=remedy) as caught:
        search("a?")
    assert engines.url in caught.value.message
    assert engines.requests == 1
    with Engines() as gone:
        monkeypatch.setenv("SERPER_BASE_URL", gone.url)
    with pytest.raises(RunError, match=r"nothing answers at .*; check SERPER_BASE_URL"):
        search("a?")


HTML = b"<!doctype html><html><head><title>Welcome to Vara</title></head></html>"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        pytest.param(HTML, "'Welcome to Vara'.*set SERPER_BASE_URL to", id="a web page"),
        pytest.param(b" <p>no title", "a page without a title", id="a piece of a page"),
        pytest.param(
            (302, {}, {"location": "https://u:p@login.example/in?key=k"}),
            r"redirects to https://login\.example/in \(302\); set SERPER_BASE_URL",
            id="a redirect",
        ),
        pytest.param((307, {}, {}), r"redirects.*\(307\)", id="a redirect to nowhere"),
        pytest.param(
            (400, {"message": "Missing API key"}),
            r"refused the key in SERPER_API_KEY \(400: Missing API key\); set it",
            id="a key that is missed",
        ),
        pytest.param(
            (200, {"message": "Unauthorized.", "statusCode": 403}),
            r"refused the key in SERPER_API_KEY \(200: Unauthorized\.\)",
            id="no key with 200",
        ),
        pytest.param((407, {}), r"refused the key.*\(407", id="a proxy"),
    ],
)
def test_an_engine_that_is_none_ends_the_run_at_once(
    engines: Engines, fault: Any, says: str
) -> None:
    engines.faults.append(fault)
    with pytest.raises(RunError, match=says) as caught:
        search("a?")
    assert engines.url in caught.value.message
    assert "key=k" not in caught.value.message
    assert engines.requests == 1


def test_the_same_refusal_of_every_search_ends_the_run(engines: Engines) -> None:
    engines.faults.extend([(422, {"message": "No such product."})] * 9)
    source = web_source(passages_per_page=0)

    def searched() -> None:
        for query in ("a?", "b?", "c?"):
            wait_for(source.look_up(opened([query])))

    with pytest.raises(RunError, match=r"No such product\. 2 requests in a row were refused so"):
        searched()
    assert engines.requests == 2


@pytest.mark.parametrize(
    ("address", "remedy"),
    [
        ("https://127.0.0.1:{port}", "does not speak TLS .* write http:// .* in SERPER_BASE_URL"),
        ("http://a.invalid", "the host of http://a.invalid is not known here .* SERPER_BASE_URL"),
    ],
)
def test_what_keeps_searches_from_their_engine_is_said_with_the_remedy(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, address: str, remedy: str
) -> None:
    monkeypatch.setenv("SERPER_BASE_URL", address.format(port=engines.port))
    with pytest.raises(RunError, match=remedy):
        search("a?")


def test_an_engine_without_a_key_says_that_it_wants_one(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "")
    with pytest.raises(RunError, match=r"wants a key \(403.*set SERPER_API_KEY to one"):
        search("a?")


def test_a_web_page_after_searches_that_succeeded_is_tried_again(engines: Engines) -> None:
    engines.results |= {"a?": result(snippet("Of a.")), "b?": result(snippet("Of b."))}
    source = web_source(passages_per_page=0)
    wait_for(source.look_up(opened(["a?"])))
    engines.faults.append(HTML)
    (answer,) = wait_for(source.look_up(opened(["b?"])))
    assert texts(answer) == ["Of b."]


def test_the_key_is_nowhere_but_in_the_header(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "wrong-key-0123456789"
    monkeypatch.setenv("SERPER_API_KEY", f" {secret}\n")
    with caplog.at_level(logging.DEBUG), pytest.raises(RunError, match="SERPER_API_KEY") as caught:
        search("a?")
    assert engines.requests == 1  # answered with the key in it
    assert secret not in caplog.text
    assert secret not in str(caught.value)


# --- pages ---


def listed(engines: Engines, query: str, *paths: str, snippet: str = "The snippet.") -> str:
    """Let the engine find these pages, and only these, for a query."""
    engines.extra[query] = [Listed(path, f"Title of {path}", snippet) for path in paths]
    return query


def reasons(*answers: Found) -> list[str]:
    return [failure.error_type for one in answers for failure in one.failures]


@pytest.mark.slow
def test_the_best_sentences_come_with_those_around_them(engines: Engines, tmp_path: Path) -> None:
    query = listed(engines, "xyzzy tower height?", "/lighthouse")
    (hit,) = look_up(query, context_sentences=0)[0].passages
    granite = "The tower is 31 metres high and made of grey granite from the quarry at Skarvik."
    assert hit.passage.text == granite
    assert hit.passage.title == "Tarnholm Lighthouse"
    assert hit.score is not None
    assert hit.passage.url == engines.web.url("/lighthouse")
    assert hit.passage.retrieved_at == "2026-01-02T03:04:05+00:00"
    (wider,) = look_up(query, context_sentences=1)[0].passages
    assert wider.passage.text.startswith("Tarnholm Lighthouse was built in 1874.")
    assert granite in wider.passage.text
    query = listed(engines, "xyzzy tower, or the steps?", "/lighthouse")
    two = look_up(query, context_sentences=0, passages_per_page=2)[0].passages
    assert len(two) == 2
    dense = {"web_retriever": "dense", "embedder": str(write_embedder(tmp_path, "paraffin"))}
    query = listed(engines, "xyzzy of paraffin", "/lighthouse")
    (answer,) = look_up(query, context_sentences=0, **dense)
    assert "paraffin" in answer.passages[0].passage.text
    (answer,) = look_up(listed(engines, "xyzzy jetty", "/dated", "/chain"))
    pier, beacon = [hit.passage for hit in answer.passages]
    assert pier.title == "The new pier"
    assert pier.published_at == "2020-05-17"
    assert beacon.url == engines.web.url("/beacon")
    assert beacon.title == "The beacon of Holmsund"


def serve(engines: Engines, pages: dict[str, str]) -> None:
    """Put pages on the local web."""
    engines.web.pages |= {path: Reply(text.encode(), 200, TEXT) for path, text in pages.items()}


WALL = (
    "<title>Just a moment...</title><h1>Checking your browser</h1>"
    "<p>This process is automatic. Your browser will redirect to your content shortly.</p>"
)
MOVED = (
    '<title>Moved</title><meta http-equiv=refresh content="0; url={}"><p>Click on this link.</p>'
)


@pytest.mark.parametrize(
    ("page", "words", "failures"),
    [
        pytest.param(WALL, "The snippet.", ["bot_wall"], id="a check for robots"),
        pytest.param(MOVED.format("/beacon"), BEACON[0], [], id="a page that has moved"),
        pytest.param(MOVED.format("/again"), "The snippet.", ["moved"], id="moved once more"),
        pytest.param(MOVED.format("/gone"), "The snippet.", ["http_404"], id="moved to nothing"),
    ],
)
def test_a_page_that_is_none(engines: Engines, page: str, words: str, failures: list[str]) -> None:
    serve(engines, {"/page": page, "/again": MOVED.format("/beacon")})
    (answer,) = look_up(listed(engines, "xyzzy beacon", "/page"))
    (hit,) = answer.passages
    assert words.partition(". ")[0] in hit.passage.text
    assert reasons(answer) == failures
    assert {failure.key for failure in answer.failures} <= {engines.web.url("/page")}
    if failures == ["http_404"]:
        (failure,) = answer.failures
        assert f"it sends its readers to {engines.web.url('/gone')}; answered" in failure.message


def test_the_sentences_that_a_page_loses_are_counted(engines: Engines) -> None:
    body = "<p>The mole is old. It has steps.</p><p>It cost 5<sup>99</sup> marks. It is long.</p>"
    serve(engines, {"/mole": f"<html><body><main><h1>Mole</h1>{body}</main></body></html>"})
    (answer,) = look_up(listed(engines, "xyzzy mole", "/mole"), passages_per_page=9)
    assert "marks" not in " ".join(texts(answer))
    (failure,) = answer.failures
    assert failure.key == engines.web.url("/mole")
    assert failure.error_type == "sentences_left_out"
    assert failure.message.startswith("1 sentence left out")


def test_the_addresses_of_a_page_are_one_passage_and_one_place(engines: Engines) -> None:
    stated = f"<link rel=canonical href='{engines.web.url('/real')}'>"
    page = html("Mole", ["The mole has steps. It is old."] * 9, head=stated).decode()
    serve(engines, dict.fromkeys(["/real?utm_source=x", "/print"], page))
    same = ["/real?utm_source=x", "/real#top", "/print", "/amp/real", "/real?fbclid=1&gclid=2"]
    query = listed(engines, "xyzzy mole", *same, "/beacon", "/lighthouse")
    (answer,) = look_up(query, pages=2)
    urls = [hit.passage.url for hit in answer.passages]
    assert urls == [engines.web.url("/real?utm_source=x"), engines.web.url("/beacon")]
    assert "/lighthouse" not in engines.web.paths()


def test_the_address_under_which_a_page_can_be_read_is_taken(engines: Engines) -> None:
    stated = f"<link rel=canonical href='{engines.web.url('/gone')}'>"
    page = html("Mole", ["The mole has steps. It is old."] * 9, head=stated)
    serve(engines, {"/print": page.decode()})
    (answer,) = look_up(listed(engines, "xyzzy mole", "/gone", "/print", "/beacon"), pages=2)
    urls = [hit.passage.url for hit in answer.passages]
    assert urls == [engines.web.url("/print"), engines.web.url("/beacon")]
    assert reasons(answer) == ["http_404"]


def test_what_the_engine_says_of_a_page_is_in_its_passage(engines: Engines) -> None:
    url = engines.web.url("/beacon")
    box = {"answer": "31 metres", "link": f"{url}#height", "title": "Box"}
    asked = {"question": "Who?", "snippet": "By Oda Lund.", "link": "https://lund.example"}
    organic = snippet("The snippet.", link=url)
    engines.results["q?"] = result(organic, answerBox=box, peopleAlsoAsk=[asked])
    (answer,) = look_up("q?")
    lund, beacon = [hit.passage for hit in answer.passages]
    assert (lund.text, lund.url, lund.title) == ("By Oda Lund.", "https://lund.example", "Who?")
    assert beacon.url == url
    assert beacon.text.startswith(f"31 metres\n{BEACON[0].partition('. ')[0]}")
    (answer,) = search("q?")
    assert texts(answer) == ["By Oda Lund.", "31 metres\nThe snippet."]


def test_what_is_said_of_a_page_by_its_canonical_address_is_in_its_passage(
    engines: Engines,
) -> None:
    stated = f"<link rel=canonical href='{engines.web.url('/real')}'>"
    page = html("Mole", ["The mole has steps. It is old."] * 9, head=stated).decode()
    serve(engines, {"/print": page})
    box = {"answer": "31 steps", "link": engines.web.url("/real")}
    organic = snippet("The snippet.", link=engines.web.url("/print"))
    engines.results["q?"] = result(organic, answerBox=box)
    (answer,) = look_up("q?")
    assert [text.split("\n")[0] for text in texts(answer)] == ["31 steps"]


@pytest.mark.slow
def test_hostile_documents_cost_themselves_alone(engines: Engines) -> None:
    bad = hostile()
    towers = {f"/good-{n}": f"Tower {n} is {n} metres high, as all who climb." for n in range(50)}
    good = {path: Reply(html("Tower", [said] * 12), 200, TEXT) for path, said in towers.items()}
    engines.web.pages |= {path: reply for path, (reply, _) in bad.items()} | good
    query = listed(engines, "xyzzy how high is the tower", *bad, *good, snippet="")
    (answer,) = look_up(query, pages=100)
    texts = " ".join(hit.passage.text for hit in answer.passages)
    assert all(f"Tower {n} is" in texts for n in range(50))
    lost = {failure.key: failure.error_type for failure in answer.failures}
    for path, (_, allowed) in bad.items():
        assert lost.pop(engines.web.url(path), None) in allowed, path
    assert lost == {}


def breaks(patch: pytest.MonkeyPatch, error: Exception) -> None:
    """Raise an error where the page of the beacon is read."""
    windows = PageText.windows

    def broken(self: PageText, query: str, *options: Any) -> list[tuple[str, float]]:
        ranked = windows(self, query, *options)
        if "beacon" in ranked[0][0]:
            raise error
        return ranked

    patch.setattr(PageText, "windows", broken)


def test_a_broken_result_costs_itself(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, ZeroDivisionError("of a library"))
    (answer,) = look_up(listed(engines, "xyzzy beacon or lighthouse", "/beacon", "/lighthouse"))
    assert [hit.passage.url for hit in answer.passages] == [engines.web.url("/lighthouse")]
    (failure,) = answer.failures
    assert failure.key == engines.web.url("/beacon")
    assert failure.error_type == "ZeroDivisionError"


def test_a_lack_of_memory_ends_the_run(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, MemoryError())
    with pytest.raises(MemoryError):
        look_up(listed(engines, "xyzzy beacon or lighthouse", "/beacon", "/lighthouse"))


@pytest.mark.parametrize(
    ("options", "passages"),
    [
        pytest.param({}, 1, id="to any host"),
        pytest.param({"exclude_domains": "localhost"}, 0, id="to an excluded host"),
        pytest.param({"exclude_domains": "elsewhere.example"}, 1, id="to a host that is not"),
    ],
)
def test_a_page_that_is_redirected(
    engines: Engines, options: dict[str, Any], passages: int
) -> None:
    there = engines.web.url("/beacon").replace("127.0.0.1", "localhost")
    engines.web.pages["/moved"] = Reply(b"", 302, {"location": there})
    (answer,) = look_up(listed(engines, "xyzzy beacon", "/moved"), **options)
    assert [hit.passage.url for hit in answer.passages] == [there] * passages


def test_a_page_without_a_title_has_that_of_the_search(engines: Engines) -> None:
    text = "The mole of Skarvik was built by the crew of a whaler in the winter of 1874. " * 9
    engines.web.pages["/untitled"] = Reply(f"<body><p>{text}</p><p>End.</p>".encode(), 200, TEXT)
    (answer,) = look_up(listed(engines, "xyzzy mole of Skarvik", "/untitled"))
    assert [hit.passage.url for hit in answer.passages] == [engines.web.url("/untitled")]
    assert [hit.passage.title for hit in answer.passages] == ["Title of /untitled"]


def test_without_leave_a_private_page_is_not_fetched(engines: Engines) -> None:
    (answer,) = look_up(listed(engines, "xyzzy private", "/lighthouse"), allow_private_hosts=False)
    assert [hit.passage.text for hit in answer.passages] == ["The snippet."]
    assert reasons(answer) == ["refused_address"]
    # The engine is the user's own and may be local.
    assert engines.web.requests == []
    assert engines.requests == 1


def test_a_page_of_several_queries_is_fetched_and_told_once(engines: Engines) -> None:
    queries = [listed(engines, f"xyzzy {n}", "/beacon", "/gone") for n in range(3)]
    answers = look_up(*queries)
    assert engines.web.paths().count("/beacon") == 1
    assert [len(one.failures) for one in answers] == [1, 0, 0]
    usage = [row for one in answers for row in one.usage]
    steps = [("page", "404"), ("page", "ok"), ("search", "ok")]
    assert sorted((row.step, row.status) for row in usage) == steps
    assert all(row.cost_usd == 0.0 for row in usage if row.step == "page")
    assert {(row.source, row.response_id) for row in usage} == {("web", "r")}


def test_responses_at_the_same_time_share_searches_and_pages(engines: Engines) -> None:
    query = listed(engines, "xyzzy shared", "/beacon")
    source = web_source()

    async def together() -> list[list[Found]]:
        asked = (source.look_up(opened([query], f"s{n}")) for n in range(6))
        return list(await asyncio.gather(*asked))

    answers = wait_for(together())
    assert engines.requests == 1
    assert engines.web.paths() == ["/beacon"]
    assert len({hit.passage.text for (one,) in answers for hit in one.passages}) == 1
    searches = [row for (one,) in answers for row in one.usage if row.step == "search"]
    assert sorted(row.coalesced for row in searches) == [False] + [True] * 5
    assert len({row.request_id for row in searches}) == 1


def test_searches_and_pages_are_kept_for_a_day(engines: Engines, tmp_path: Path) -> None:
    query = listed(engines, "xyzzy today", "/beacon", "/gone")
    cache = tmp_path / "cache.sqlite"
    asked, texts = [], set()
    for hours in (0, 20, 21, 0):
        (answer,) = look_up(query, cache=cache, day=NOW + timedelta(hours=hours))
        wait_for(end_run("test"))
        passage, snippet = (hit.passage for hit in answer.passages)
        rows = {row.cached for row in answer.usage}
        asked.append((engines.requests, len(engines.web.paths()), rows, passage.retrieved_at))
        texts.add((passage.text, snippet.text))
        assert reasons(answer) == ["http_404"]
    first_time, second_time = NOW.isoformat(), (NOW + timedelta(hours=21)).isoformat()
    expected = [
        (1, 2, {False}, first_time),
        (1, 2, {True}, first_time),
        (2, 4, {False}, second_time),
        (2, 4, {True}, first_time),
    ]
    assert asked == expected
    assert len(texts) == 1
    # What was fetched by leave of its user is not given to who may not ask.
    (refused,) = look_up(query, cache=cache, allow_private_hosts=False)
    assert {*reasons(refused)} == {"refused_address"}


@pytest.mark.parametrize(
    ("change", "searches"),
    [
        pytest.param({}, 1, id="nothing"),
        pytest.param({"pages": 7}, 1, id="fewer pages than results"),
        pytest.param({"pages": 11}, 2, id="more results"),
        pytest.param({"query": "b?"}, 2, id="the query"),
        pytest.param({"day": NOW + timedelta(days=1)}, 2, id="the day"),
        pytest.param({"address": "localhost"}, 2, id="the engine's address"),
    ],
)
def test_another_search_is_another_answer(
    engines: Engines,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    change: dict[str, Any],
    searches: int,
) -> None:
    cache, options = tmp_path / "cache.sqlite", dict(change)
    engines.results |= {"a?": result(snippet("Of a.")), "b?": result(snippet("Of b."))}
    search("a?", cache=cache)
    wait_for(end_run("test"))
    if options.pop("address", ""):
        monkeypatch.setenv("SERPER_BASE_URL", engines.url.replace("127.0.0.1", "localhost"))
    search(options.pop("query", "a?"), cache=cache, **options)
    assert engines.requests == searches


@pytest.mark.parametrize("it", TABLES["lasting"].values(), ids=TABLES["lasting"])
def test_what_lasts_is_kept(engines: Engines, tmp_path: Path, it: dict[str, Any]) -> None:
    body = html("Tower", [it["body"] * it.get("times", 1)]) if "body" in it else b""
    headers = {**TEXT, **it.get("headers", {})}
    engines.web.pages["/it"] = Reply(body, it.get("status", 200), headers)
    query = listed(engines, "xyzzy tower", "/it")
    asked = set()
    for _ in range(2):
        assert look_up(query, cache=tmp_path / "cache.sqlite")[0].passages
        wait_for(end_run("test"))
        asked.add(len(engines.web.paths()))
    assert (len(asked) == 1) == it["kept"]


def test_what_no_rule_knows_is_asked(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    away = engines.web.url("/beacon", host="beacons.example")
    monkeypatch.setattr(engines.web, "url", lambda path: away)
    query = listed(engines, "xyzzy who is it", "/away")
    models = ClientSettings(endpoints("m", "http://127.0.0.1:1"))
    client = FakeClient(["wiki", "wiki"])
    context = SourceContext(CallSettings(run="test"), models, True, lambda: client)
    (answer,) = look_up(query, context=context, resolve=resolve)
    assert [hit.passage.source_category for hit in answer.passages] == ["wiki"]
    assert BEACON[0].partition(". ")[0] in answer.passages[0].passage.text
    assert [row.step for row in answer.usage] == ["search", "page", "category"]
    (answer,) = look_up(query, context=context, resolve=resolve, exclude_categories="wiki")
    assert answer.passages == []


@pytest.mark.parametrize(("options", "says"), TABLES["options"].values(), ids=TABLES["options"])
def test_options_that_are_wrong_are_reported(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        WebSource(**options)
