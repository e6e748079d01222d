"""The source `web` over the local web: the passages of pages, and what each response is told."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.embedder import write_embedder
from tests.local_web import BEACON, Engines, Listed, LocalWeb
from tests.local_web.documents import hostile
from tests.local_web.pages import Reply, html
from ufo.schemas.errors import UsageError
from ufo.schemas.records import FactUnit, OpenUnits
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.web.pages import PageText
from ufo.transforms.sources.web.source import WebSource
from ufo.transforms.sources.web.transport import Resolve

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    with LocalWeb() as web, Engines(web) as engines:
        monkeypatch.setenv("SERPER_BASE_URL", engines.url)
        monkeypatch.delenv("SERPER_API_KEY", raising=False)
        yield engines


@pytest.fixture(autouse=True)
def _left() -> Iterator[None]:
    """Close what a test opened, as the end of a run does."""
    yield
    wait_for(end_run("test"))


def made(
    clock: Callable[[], datetime] | None = None, resolve: Resolve | None = None, **options: Any
) -> WebSource:
    context = SourceContext(CallSettings(run="test"))
    source = WebSource(**{"allow_private_hosts": True, "context": context, **options})
    source.name, source.sleep, source.clock, source.resolve = (
        "web",
        _no_pause,
        clock or _now,
        resolve,
    )
    source.open()
    return source


async def _no_pause(seconds: float) -> None:
    await asyncio.sleep(0)


def look_up(response_id: str, *queries: str, **options: Any) -> list[Found]:
    source = made(**options)
    return wait_for(source.look_up(opened(response_id, queries)))


def _now() -> datetime:
    return NOW


def opened(response_id: str, queries: Sequence[str]) -> OpenUnits:
    units = [FactUnit(response_id, f"u{n}", None, q, q, None) for n, q in enumerate(queries)]
    return OpenUnits(response_id, "Claims.", None, None, [], [], units)


def listed(engines: Engines, query: str, *paths: str, snippet: str = "The snippet.") -> None:
    """Let the engine find these pages, and only these, for a query."""
    engines.extra[query] = [Listed(path, f"Title of {path}", snippet) for path in paths]


def test_the_best_sentences_come_with_those_around_them(engines: Engines) -> None:
    query = "xyzzy tower height?"
    listed(engines, query, "/lighthouse")
    (found,) = look_up("r1", query, context_sentences=0)
    (hit,) = found.passages
    assert hit.passage.text == (
        "The tower is 31 metres high and made of grey granite from the quarry at Skarvik."
    )
    assert hit.score is not None
    assert hit.passage.title == "Tarnholm Lighthouse"
    assert hit.passage.url == engines.web.url("/lighthouse")
    assert hit.passage.retrieved_at == "2026-01-02T03:04:05+00:00"
    (wider,) = look_up("r2", query, context_sentences=1)[0].passages
    assert wider.passage.text.startswith("Tarnholm Lighthouse was built in 1874.")
    assert hit.passage.text in wider.passage.text
    query = "xyzzy tower, or the steps?"
    listed(engines, query, "/lighthouse")
    two = look_up("r3", query, context_sentences=0, passages_per_page=2)[0].passages
    assert ["tower" in hit.passage.text or "steps" in hit.passage.text for hit in two] == [True] * 2


def test_dense_ranking_is_by_the_embedder(engines: Engines, tmp_path: Path) -> None:
    query = "xyzzy granite of the tower"
    listed(engines, query, "/lighthouse")
    dense = {"web_retriever": "dense", "embedder": str(write_embedder(tmp_path, "granite"))}
    (found,) = look_up("r4", query, context_sentences=0, **dense)
    assert "granite" in found.passages[0].passage.text


def test_a_page_tells_its_own_address_title_and_date(engines: Engines) -> None:
    query = "xyzzy jetty"
    listed(engines, query, "/dated", "/chain")
    (found,) = look_up("r5", query)
    pier, beacon = [hit.passage for hit in found.passages]
    assert (pier.title, pier.published_at) == ("The new pier", "2020-05-17")
    assert beacon.url == engines.web.url("/beacon")
    assert beacon.title == "The beacon of Holmsund"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/gone", "http_404"),
        ("/private/diary", "blocked_by_robots"),
        ("/paywall", "paywall"),
        ("/script", "javascript_only"),
        ("/picture", "unsupported_type"),
        ("/far", "too_many_redirects"),
        ("/to-file", "refused_address"),
    ],
)
def test_the_snippet_stands_in_and_the_reason_is_reported(
    engines: Engines, path: str, reason: str
) -> None:
    query = f"xyzzy {path}"
    listed(engines, query, path)
    (found,) = look_up("r6", query)
    assert [(hit.passage.text, hit.score) for hit in found.passages] == [("The snippet.", None)]
    (failure,) = found.failures
    assert (failure.step, failure.key, failure.error_type) == (
        "page",
        engines.web.url(path),
        reason,
    )
    assert failure.message.startswith(f"{reason}: ")


@pytest.mark.slow
def test_hostile_documents_cost_themselves_and_the_good_ones_beside_them_are_read(
    engines: Engines,
) -> None:
    bad = hostile()
    good = {f"/good-{n}": Reply(page(n), 200, {"content-type": "text/html"}) for n in range(50)}
    engines.web.pages |= {path: reply for path, (reply, _) in bad.items()} | good
    query = "xyzzy how high is the tower"
    listed(engines, query, *bad, *good, snippet="")
    (found,) = look_up("h", query, pages=100)
    texts = " ".join(hit.passage.text for hit in found.passages)
    assert all(f"Tower {n} is" in texts for n in range(50))
    reasons = {failure.key: failure.error_type for failure in found.failures}
    for path, (_, allowed) in bad.items():
        assert reasons.pop(engines.web.url(path), None) in allowed, path
    assert reasons == {}


def page(n: int) -> bytes:
    return html(f"Tower {n}", [f"Tower {n} is {n} metres high, as all who climb it say."] * 12)


def test_a_result_that_nothing_can_be_made_of_costs_only_itself(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = PageText.windows

    def broken(self: PageText, query: str, *given: Any) -> list[tuple[str, float]]:
        found = windows(self, query, *given)
        if "beacon" in found[0][0]:
            raise ZeroDivisionError("of a library")
        return found

    monkeypatch.setattr(PageText, "windows", broken)
    query = "xyzzy beacon or lighthouse"
    listed(engines, query, "/beacon", "/lighthouse")
    (found,) = look_up("b", query)
    assert [hit.passage.url for hit in found.passages] == [engines.web.url("/lighthouse")]
    (failure,) = found.failures
    assert (failure.key, failure.error_type) == (engines.web.url("/beacon"), "ZeroDivisionError")


def test_without_leave_a_private_page_is_not_fetched(engines: Engines) -> None:
    query = "xyzzy private"
    listed(engines, query, "/lighthouse")
    (found,) = look_up("r7", query, allow_private_hosts=False)
    assert [hit.passage.text for hit in found.passages] == ["The snippet."]
    assert {failure.error_type for failure in found.failures} == {"refused_address"}
    assert engines.web.requests == []
    # The engine is the user's own and may be local.
    assert engines.requests == 1


def test_a_page_of_several_queries_is_fetched_and_told_once(engines: Engines) -> None:
    queries = ["xyzzy one", "xyzzy two", "xyzzy three"]
    for query in queries:
        listed(engines, query, "/beacon", "/gone")
    found = look_up("r8", *queries)
    assert engines.web.paths().count("/beacon") == 1
    assert [len(one.failures) for one in found] == [1, 0, 0]
    usage = [row for one in found for row in one.usage]
    assert sorted((row.step, row.status) for row in usage) == [
        ("page", "404"),
        ("page", "ok"),
        ("search", "ok"),
    ]
    assert all(row.cost_usd == 0.0 for row in usage if row.step == "page")
    assert {row.source for row in usage} == {"web"}
    assert {row.response_id for row in usage} == {"r8"}


def test_responses_at_the_same_time_share_searches_and_pages(engines: Engines) -> None:
    query = "xyzzy shared"
    listed(engines, query, "/beacon")
    source = made()

    async def together() -> list[list[Found]]:
        asked = (source.look_up(opened(f"s{n}", [query])) for n in range(6))
        return list(await asyncio.gather(*asked))

    found = wait_for(together())
    assert engines.requests == 1
    assert engines.web.paths() == ["/beacon"]
    texts = {hit.passage.text for (one,) in found for hit in one.passages}
    assert len(texts) == 1
    searches = [row for (one,) in found for row in one.usage if row.step == "search"]
    assert sorted(row.coalesced for row in searches) == [False] + [True] * 5
    assert len({row.request_id for row in searches}) == 1


def test_searches_and_pages_are_kept_for_a_day(engines: Engines, tmp_path: Path) -> None:
    query = "xyzzy today"
    listed(engines, query, "/beacon", "/gone")
    days = [NOW, NOW + timedelta(hours=20), NOW + timedelta(hours=21), NOW]
    asked, texts = [], set()
    for run, day in enumerate(days):
        calls = CallSettings(cache=str(tmp_path / "cache.sqlite"), run="test")
        found = look_up(f"d{run}", query, context=SourceContext(calls), clock=lambda day=day: day)
        wait_for(end_run("test"))
        passage, snippet = (hit.passage for hit in found[0].passages)
        rows = [row.cached for row in found[0].usage]
        asked.append((engines.requests, engines.web.paths(), rows, passage.retrieved_at))
        texts.add((passage.text, snippet.text))
        assert [failure.error_type for failure in found[0].failures] == ["http_404"]
    pages = ["/beacon", "/gone"]
    one, two = NOW.isoformat(), (NOW + timedelta(hours=21)).isoformat()
    assert [(n, sorted(paths), *more) for n, paths, *more in asked] == [
        (1, pages, [False] * 3, one),
        (1, pages, [True] * 3, one),
        (2, sorted(pages * 2), [False] * 3, two),
        (2, sorted(pages * 2), [True] * 3, one),
    ]
    assert len(texts) == 1
    # What was fetched by leave of its user is not given to who may not ask.
    options = {"context": SourceContext(calls), "allow_private_hosts": False}
    (refused,) = look_up("p", query, **options)
    assert {failure.error_type for failure in refused.failures} == {"refused_address"}


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (Reply(html("Kept", ["The tower is tall."]), 200, {"cache-control": "max-age=5"}), True),
        (Reply(html("No", ["The tower is tall."]), 200, {"cache-control": "No-Store"}), False),
        (Reply(html("No", ["Tall."]), 200, {"cache-control": "max-age=9, private"}), False),
        (Reply(b"x", 302, {"cache-control": "no-store", "location": "/beacon"}), False),
        (Reply(html("Long", ["The tower is tall. " * 70_000])), False),
        (Reply(b"", 503), False),
        (Reply(b"", 403), True),
    ],
    ids=["kept", "no-store", "private", "redirect", "long", "down", "forbidden"],
)
def test_a_page_is_kept_where_it_lasts(
    engines: Engines, tmp_path: Path, reply: Reply, kept: bool
) -> None:
    headers = {"content-type": "text/html", **reply.headers}
    engines.web.pages["/it"] = Reply(reply.body, reply.status, headers)
    query = "xyzzy tower"
    listed(engines, query, "/it")
    asked = []
    for _ in range(2):
        calls = CallSettings(cache=str(tmp_path / "cache.sqlite"), run="test")
        (found,) = look_up("k", query, context=SourceContext(calls))
        wait_for(end_run("test"))
        assert found.passages
        asked.append(len(engines.web.paths()))
    assert (asked[0] == asked[1]) == kept


def test_what_no_rule_knows_is_asked_of_the_judge_s_model(engines: Engines) -> None:
    from ufo.transforms.llm.client_settings import ClientSettings
    from ufo.transforms.llm.endpoint import endpoints

    client = FakeClient(["wiki"])

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    query = "xyzzy who is it"
    away = engines.web.url("/beacon", host="beacons.example")
    engines.web.url = lambda path, host="": away if path == "/away" else ""  # type: ignore[method-assign]
    engines.extra[query] = [Listed("/away", "A page", "The snippet.")]
    models = ClientSettings(endpoints("m", "http://127.0.0.1:1"))
    context = SourceContext(CallSettings(run="test"), models, True, lambda: client)
    options = {"context": context, "resolve": resolve}
    (found,) = look_up("r9", query, **options)
    assert [hit.passage.source_category for hit in found.passages] == ["wiki"]
    assert BEACON[0].partition(". ")[0] in found.passages[0].passage.text
    assert [row.step for row in found.usage] == ["search", "page", "category"]
    client = FakeClient(["wiki"])
    (left_out,) = look_up("r10", query, exclude_categories="wiki", **options)
    assert left_out.passages == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"search": "bing"}, "--search"),
        ({"web_retriever": "tfidf"}, "--web_retriever"),
        ({"web_retriever": "dense"}, "--web_retriever dense needs --embedder"),
        ({"web_retriever": "dense", "embedder": "lsa"}, "unknown embedder 'lsa'"),
        ({"include_categories": "newz"}, "--include_categories"),
        ({"exclude_domains": "https://example.org/x"}, "--exclude_domains"),
    ],
)
def test_options_that_are_wrong_are_reported(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        WebSource(**options)
