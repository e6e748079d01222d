"""Pages over real HTTP: what comes, what does not and why, and how politely it is asked for."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from tests.local_web import LocalWeb, Reply
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web import fetch, readers
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.fetch import LONGEST_DELAY, Cached, Fetcher, Hosts, rules_of
from ufo.transforms.sources.web.transport import ROBOT, USER_AGENT

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_web() -> Iterator[LocalWeb]:
    with LocalWeb() as web:
        yield web


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with LocalWeb() as web:
        yield web


async def _no_pause(seconds: float) -> None:
    await asyncio.sleep(0)


def get(*urls: str, **options: Any) -> list[FetchedPage]:
    """The pages, fetched one after another by one fetcher."""

    async def fetched() -> list[FetchedPage]:
        settings = {"allow_private": True, "sleep": _no_pause}
        fetcher = Fetcher(**{**settings, "clock": lambda: NOW, **options})
        try:
            return [await fetcher.get(url) for url in urls]
        finally:
            await fetcher.aclose()

    return wait_for(fetched())


def test_a_page_comes_whole(shared_web: LocalWeb) -> None:
    url = shared_web.url("/lighthouse#tower")
    (page,) = get(url)
    assert (page.url, page.final_url) == (url, shared_web.url("/lighthouse"))
    assert (page.status, page.content_type, page.charset) == (200, "text/html", "utf-8")
    assert page.body == shared_web.pages["/lighthouse"].body
    assert page.retrieved_at == "2026-01-02T03:04:05+00:00"
    assert page.reason is None


@pytest.mark.parametrize(
    ("path", "final", "kind"),
    [
        ("/moved", "/lighthouse", "text/html"),
        ("/chain", "/beacon", "text/html"),
        ("/gzip", "/gzip", "text/html"),
        ("/charset", "/charset", "text/html"),
        ("/notes.txt", "/notes.txt", "text/plain"),
        ("/report.pdf", "/report.pdf", "application/pdf"),
        ("/untyped", "/untyped", "text/html"),
        ("/private/open", "/private/open", "text/html"),
        ("/busy", "/busy", "text/html"),
    ],
)
def test_pages_that_come(web: LocalWeb, path: str, final: str, kind: str) -> None:
    (page,) = get(web.url(path))
    assert (page.reason, page.detail) == (None, "")
    assert page.final_url == web.url(final)
    assert page.content_type == kind
    assert page.body


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/far", reasons.TOO_MANY_REDIRECTS),
        ("/loop", reasons.TOO_MANY_REDIRECTS),
        ("/to-file", reasons.REFUSED_ADDRESS),
        ("/nowhere", "http_302"),
        ("/private/diary", reasons.BLOCKED_BY_ROBOTS),
        ("/no-ufo", reasons.BLOCKED_BY_ROBOTS),
        ("/gone", "http_404"),
        ("/never-was", "http_404"),
        ("/broken", "http_500"),
        ("/too-busy", "http_429"),
        ("/huge", reasons.TOO_LARGE),
        ("/endless", reasons.TOO_LARGE),
        ("/bomb", reasons.TOO_LARGE),
        ("/brotli", reasons.GARBLED),
        ("/not-zipped", reasons.GARBLED),
        ("/flood", reasons.GARBLED),
        ("/picture", reasons.UNSUPPORTED_TYPE),
        ("/empty", reasons.EMPTY),
    ],
)
def test_pages_that_do_not(shared_web: LocalWeb, path: str, reason: str) -> None:
    (page,) = get(shared_web.url(path), most_bytes=300_000)
    assert page.reason == reason
    assert page.body == b""
    assert page.url == shared_web.url(path)


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (Reply(b""), 200, reasons.EMPTY),
        (Reply(b"x", headers={"content-type": "image/png"}), 200, reasons.UNSUPPORTED_TYPE),
        (Reply(b"", 302, {"location": "/gone"}), 404, "http_404"),
    ],
)
def test_what_asks_not_to_be_kept_is_not_kept_without_a_body_either(
    web: LocalWeb, reply: Reply, status: int, reason: str
) -> None:
    web.pages["/once"] = replace(reply, headers={**reply.headers, "cache-control": "no-store"})
    (page,) = get(web.url("/once"))
    assert (page.status, page.reason) == (status, reason)
    assert not fetch.lasts(page)


@pytest.mark.parametrize("path", ["/slow", "/drip"])
def test_what_takes_too_long_is_cut(shared_web: LocalWeb, path: str) -> None:
    (page,) = get(shared_web.url(path), seconds=0.2)
    assert page.reason == reasons.TIMEOUT


def test_nobody_there_and_no_name_are_reasons_too() -> None:
    with LocalWeb() as gone:
        url = gone.url("/lighthouse")

    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    pages = get(url, "http://no-such-host.example/", resolve=unknown)
    assert [page.reason for page in pages] == [reasons.CONNECTION] * 2
    assert [page.status for page in pages] == [0, 0]


def test_a_bomb_never_is_in_memory_as_a_whole(shared_web: LocalWeb) -> None:
    import tracemalloc

    tracemalloc.start()
    try:
        (page,) = get(shared_web.url("/bomb"))  # 24 MB of 24 KB
        assert page.reason == reasons.TOO_LARGE
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_it_says_who_it_is_and_brings_nothing_of_the_user(
    web: LocalWeb, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    pages = get(web.url("/cookies"), web.url("/cookies"), web.url("/beacon"))
    assert [page.reason for page in pages] == [None] * 3
    assert web.paths() == ["/cookies", "/cookies", "/beacon"]
    for asked in web.requests:
        assert asked.headers["user-agent"] == USER_AGENT
        assert not {"cookie", "authorization", "referer", "proxy-authorization"} & {*asked.headers}
    assert USER_AGENT.startswith("ufo/")


def test_robots_are_asked_once_a_site_and_before_every_redirect(web: LocalWeb) -> None:
    web.pages["/to-diary"] = Reply(b"", 302, {"location": "/private/diary"})
    pages = get(web.url("/lighthouse"), web.url("/to-diary"), web.url("/ferry"))
    assert [page.reason for page in pages] == [None, reasons.BLOCKED_BY_ROBOTS, None]
    assert [asked.path for asked in web.requests].count("/robots.txt") == 1
    assert web.requests[0].path == "/robots.txt"
    assert "/private/diary" not in web.paths()


@pytest.mark.parametrize(
    ("robots", "reason"),
    [
        (Reply(b"", 404), None),
        (Reply(b"", 403), None),
        (Reply(b"", 503), reasons.BLOCKED_BY_ROBOTS),
        (Reply(b"", 302, {"location": "/loop"}), None),
        (Reply(b"", headers={"content-type": "text/plain"}), None),
        (Reply(b"User-agent: ufo\nDisallow: /", headers={"content-type": "x/y"}), "rules"),
        (Reply(b"User-agent: *\nDisallow: /", headers={"content-type": "text/plain"}), "rules"),
        (Reply(b"\x00\xffno rules\n", headers={"content-type": "text/plain"}), None),
        (Reply(b"<html>a page</html>", headers={"content-type": "text/html"}), None),
    ],
    ids=["none", "forbidden", "down", "loop", "empty", "odd type", "disallow", "nonsense", "page"],
)
def test_a_site_without_rules_allows_all_and_one_that_is_down_nothing(
    web: LocalWeb, robots: Reply, reason: str | None
) -> None:
    web.pages["/robots.txt"] = robots
    (page,) = get(web.url("/lighthouse"))
    assert page.reason == (reasons.BLOCKED_BY_ROBOTS if reason else None)
    assert web.paths().count("/lighthouse") == (0 if reason else 1)


@pytest.mark.parametrize("rule", ["Disallow: /*ab{}", "Disallow: /%41{}", "User-agent: a{}"])
def test_as_many_rules_as_are_read_take_no_longer_than_a_page(web: LocalWeb, rule: str) -> None:
    lines = [rule.format(n) for n in range(fetch.MOST_RULES // (len(rule) + 4))]
    text = "\n".join(["User-agent: *", *lines]).encode()
    assert len(text) <= fetch.MOST_RULES
    web.pages["/robots.txt"] = Reply(text, headers={"content-type": "text/plain"})
    web.pages["/" + "a" * 3000] = web.pages["/lighthouse"]
    began = time.process_time()
    (page,) = get(web.url("/" + "a" * 3000))
    assert page.reason is None
    assert time.process_time() - began < readers.SECONDS


def test_rules_that_a_library_fails_on_cost_their_site_alone(
    web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = Protego.parse

    def broken(text: str) -> Protego:
        if text:
            raise ZeroDivisionError("of a library")
        return parse(text)

    monkeypatch.setattr(Protego, "parse", broken)
    with LocalWeb() as other:
        other.pages["/robots.txt"] = Reply(b"", 404)
        pages = get(web.url("/lighthouse"), other.url("/lighthouse"))
    assert [page.reason for page in pages] == [reasons.UNREADABLE, None]
    assert "of a library" in pages[0].detail
    assert "/lighthouse" not in web.paths()


def test_many_who_ask_a_new_site_ask_its_robots_once(web: LocalWeb) -> None:
    async def fetched() -> list[FetchedPage]:
        fetcher = Fetcher(allow_private=True, sleep=_no_pause)
        urls = [web.url(path) for path in ("/ferry", "/museum", "/quarry", "/cheese", "/church")]
        try:
            return list(await asyncio.gather(*map(fetcher.get, urls)))
        finally:
            await fetcher.aclose()

    assert [page.reason for page in wait_for(fetched())] == [None] * 5
    assert [asked.path for asked in web.requests].count("/robots.txt") == 1


def test_what_passes_is_tried_once_more_and_no_longer_than_a_moment(web: LocalWeb) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    pages = get(*map(web.url, ("/busy", "/too-busy")), sleep=sleep)
    assert [page.reason for page in pages] == [None, "http_429"]
    assert web.paths() == ["/busy", "/busy", "/too-busy"]
    assert 1 <= max(pauses) <= 5


# --- robots.txt -----------------------------------------------------------------------------------


ROBOTS = ("*", "ufo", "UFO # us", "u", "ufo*", "*u*f*", "ufo/1.0", "xufo", "other", "", "#", "a b")
NAMES = ("User-agent:", "user agent", "USERAGENT :", "User-Agent", "\tuser  agent\t", "Agent:")
RULES = ("Disallow: /a", "Allow: /a/b", "Disallow: /", "Crawl-delay: 3", "Sitemap: /s", "", "x")
AGENTS = st.builds("{} {}".format, st.sampled_from(NAMES), st.sampled_from(ROBOTS))


def rules_in(text: str) -> Protego:
    url = "https://a.example/robots.txt"
    page = FetchedPage(url, url, 200, "text/plain", text.encode(), None, "2026-01-01")
    rules = rules_of(page)
    assert isinstance(rules, Protego)
    return rules


@given(st.lists(AGENTS | st.sampled_from(RULES), max_size=12))
def test_a_file_allows_what_its_rules_for_this_robot_do(lines: list[str]) -> None:
    rules, plain = rules_in("\n".join(lines)), Protego.parse("\n".join(lines))
    for path in ("/", "/a", "/a/b"):
        url = f"https://a.example{path}"
        assert rules.can_fetch(url, ROBOT) == plain.can_fetch(url, ROBOT), url
    assert rules.crawl_delay(ROBOT) == plain.crawl_delay(ROBOT)


def test_thousands_of_robots_with_thousands_of_rules_are_read() -> None:
    """Protego alone needs minutes and gigabytes for these 500 KB."""
    robots = "".join(f"User-agent: a{number}\n" for number in range(15_000))
    rules = rules_in(f"{robots}User-agent: ufo\n" + "Disallow: /private\n" * 14_000)
    assert rules.can_fetch("https://a.example/", ROBOT)
    assert not rules.can_fetch("https://a.example/private/page", ROBOT)


# --- politeness, on a clock of the test's own -----------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def starts(hosts: Hosts, clock: Clock, names: list[str]) -> list[float]:
    """The moments at which requests to these hosts start, one after another."""

    async def ask() -> list[float]:
        moments = []
        for name in names:
            async with hosts.turn(name):
                moments.append(round(clock.now - 100.0, 6))
        return moments

    return asyncio.run(ask())


def test_a_host_has_a_pause_between_requests_and_another_host_its_own() -> None:
    clock = Clock()
    hosts = Hosts(sleep=clock.sleep, clock=clock)
    assert starts(hosts, clock, ["a", "a", "b", "a"]) == [0.0, 0.1, 0.1, 0.2]


def test_the_processes_of_a_run_share_the_pace() -> None:
    clock = Clock()
    hosts = Hosts(workers=4, sleep=clock.sleep, clock=clock)
    assert starts(hosts, clock, ["a", "a"]) == [0.0, 0.4]


def test_a_crawl_delay_is_kept_up_to_a_cap() -> None:
    clock = Clock()
    hosts = Hosts(sleep=clock.sleep, clock=clock)
    for host, delay in (("a", 3.0), ("b", 86_400.0), ("c", None), ("d", -5.0)):
        hosts.crawl_delay(host, delay)
    assert starts(hosts, clock, ["a", "a"]) == [0.0, 3.0]
    assert starts(hosts, clock, ["b", "b"])[1] - 3.0 == LONGEST_DELAY
    for host in "cd":
        one, two = starts(hosts, clock, [host, host])
        assert round(two - one, 6) == 0.1


def test_no_more_than_a_few_are_under_way_at_a_host() -> None:
    hosts = Hosts(sleep=Clock().sleep)
    under_way = most = 0

    async def one() -> None:
        nonlocal under_way, most
        async with hosts.turn("a"):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            under_way -= 1

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(9)))

    asyncio.run(many())
    assert most == 2


# --- values made once -----------------------------------------------------------------------------


class Maker:
    """Makes 1, 2, 3, … when `go` is set; counts how often it was asked."""

    def __init__(self) -> None:
        self.made = 0
        self.go = asyncio.Event()

    async def make(self) -> int:
        self.made += 1
        number = self.made
        await self.go.wait()
        return number


def test_those_who_ask_at_once_share_one_value_also_where_the_first_gives_up() -> None:
    async def asked() -> tuple[list[tuple[int, bool]], int]:
        maker, cached = Maker(), Cached[int](10, 60.0)
        tasks = [asyncio.create_task(cached.get("a", maker.make)) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        maker.go.set()
        return await asyncio.gather(*tasks[1:]), maker.made

    assert asyncio.run(asked()) == ([(1, True), (1, True)], 1)


def test_a_value_is_made_again_once_it_is_old_or_others_took_its_place() -> None:
    async def asked() -> list[tuple[int, bool]]:
        now = 0.0
        maker, cached = Maker(), Cached[int](1, 60.0, lambda: now)
        maker.go.set()
        found = [await cached.get("a", maker.make)]
        now = 59.0
        found.append(await cached.get("a", maker.make))
        now = 61.0
        found.append(await cached.get("a", maker.make))
        await cached.get("b", maker.make)
        return [*found, await cached.get("a", maker.make)]

    assert asyncio.run(asked()) == [(1, False), (1, True), (2, False), (4, False)]


def test_what_fails_is_asked_for_again() -> None:
    async def asked() -> int:
        cached = Cached[int](10, 60.0)

        async def fail() -> int:
            raise OSError("down")

        async def work() -> int:
            return 5

        with pytest.raises(OSError, match="down"):
            await cached.get("a", fail)
        return (await cached.get("a", work))[0]

    assert asyncio.run(asked()) == 5
