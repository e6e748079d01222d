"""Pages over real HTTP: what comes, what does not and why, and how politely it is asked for."""

import asyncio
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from tests.case_files import cases
from tests.local_web import LocalWeb, Reply
from tests.transforms.sources.web.pages import TABLES, get, no_pause
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web import fetch, readers
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.fetch import Hosts, rules_of
from ufo.transforms.sources.web.transport import ROBOT, USER_AGENT

PLAIN = {"content-type": "text/plain"}


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with LocalWeb() as web:
        yield web


PAGES = cases(Path(__file__).with_name("pages.txt"))


@pytest.mark.parametrize(("path", "final", "kind"), [row for row in PAGES if len(row) == 3])
def test_pages_that_come(web: LocalWeb, path: str, final: str, kind: str) -> None:
    (page,) = get(web.url(path))
    assert page.reason is None
    assert page.detail == ""
    assert page.status == 200
    assert page.url == web.url(path)
    assert page.final_url == web.url(final)
    assert page.content_type == kind
    assert page.retrieved_at == "2026-01-02T03:04:05+00:00"
    assert page.body == web.pages[final].body or path in ("/gzip", "/busy")
    assert page.body


@pytest.mark.parametrize(("path", "reason"), [row for row in PAGES if len(row) == 2])
def test_pages_that_do_not(web: LocalWeb, path: str, reason: str) -> None:
    slow: Any = {"seconds": 0.2} if reason == reasons.TIMEOUT else {}
    (page,) = get(web.url(path), most_bytes=300_000, **slow)
    assert page.reason == reason
    assert page.body == b""
    assert page.url == web.url(path)


def test_nobody_there_and_no_name_are_reasons_too() -> None:
    with LocalWeb() as gone:
        url = gone.url("/lighthouse")

    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    pages = get(url, "http://no-such-host.example/", resolve=unknown)
    assert [(page.reason, page.status) for page in pages] == [(reasons.CONNECTION, 0)] * 2


def test_a_bomb_never_is_in_memory_as_a_whole(web: LocalWeb) -> None:
    tracemalloc.start()
    try:
        (page,) = get(web.url("/bomb"))  # 24 MB of 24 KB
        assert page.reason == reasons.TOO_LARGE
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_it_says_who_it_is(web: LocalWeb, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    paths = ["/cookies", "/cookies", "/beacon"]
    assert [page.reason for page in get(*map(web.url, paths))] == [None] * 3
    assert web.paths() == paths
    for asked in web.requests:
        assert asked.headers["user-agent"] == USER_AGENT
        assert not {"cookie", "authorization", "referer", "proxy-authorization"} & {*asked.headers}
    assert USER_AGENT.startswith("ufo/")


@pytest.mark.parametrize("at_once", [False, True])
def test_robots_are_asked_once_and_before_every_redirect(web: LocalWeb, at_once: bool) -> None:
    web.pages["/to-diary"] = Reply(b"", 302, {"location": "/private/diary"})
    pages = get(*map(web.url, ("/lighthouse", "/to-diary", "/ferry")), at_once=at_once)
    assert [page.reason for page in pages] == [None, reasons.BLOCKED_BY_ROBOTS, None]
    assert web.requests[0].path == "/robots.txt"
    assert [asked.path for asked in web.requests].count("/robots.txt") == 1
    assert "/private/diary" not in web.paths()


@pytest.mark.parametrize("reply", TABLES["robots"].values(), ids=TABLES["robots"])
def test_a_site_without_rules_allows_all(web: LocalWeb, reply: dict[str, Any]) -> None:
    body = reply.get("body", "").encode("latin-1")
    web.pages["/robots.txt"] = Reply(body, reply.get("status", 200), reply.get("headers", PLAIN))
    (page,) = get(web.url("/lighthouse"))
    assert page.reason == (None if reply["allowed"] else reasons.BLOCKED_BY_ROBOTS)
    assert web.paths().count("/lighthouse") == int(reply["allowed"])


@pytest.mark.parametrize("rule", ["Disallow: /*ab{}", "Disallow: /%41{}", "User-agent: a{}"])
def test_as_many_rules_as_are_read_take_no_longer_than_a_page(web: LocalWeb, rule: str) -> None:
    lines = [rule.format(n) for n in range(fetch.MOST_RULES // (len(rule) + 4))]
    web.pages["/robots.txt"] = Reply("\n".join(["User-agent: *", *lines]).encode(), headers=PLAIN)
    web.pages["/" + "a" * 3000] = web.pages["/lighthouse"]
    began = time.process_time()
    (page,) = get(web.url("/" + "a" * 3000))
    assert page.reason is None
    assert time.process_time() - began < readers.SECONDS


def test_rules_that_fail_cost_their_site(web: LocalWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Protego.parse

    def broken(text: str) -> Any:
        return 1 / 0 if text else parse(text)

    monkeypatch.setattr(Protego, "parse", broken)
    with LocalWeb() as other:
        other.pages["/robots.txt"] = Reply(b"", 404)
        pages = get(web.url("/lighthouse"), other.url("/lighthouse"))
    assert [page.reason for page in pages] == [reasons.UNREADABLE, None]
    assert "division by zero" in pages[0].detail
    assert "/lighthouse" not in web.paths()


def test_what_passes_is_tried_once_more_and_no_longer_than_a_moment(web: LocalWeb) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    pages = get(*map(web.url, ("/busy", "/too-busy")), sleep=sleep)
    assert [page.reason for page in pages] == [None, "http_429"]
    assert web.paths() == ["/busy", "/busy", "/too-busy"]
    assert 1 <= max(pauses) <= 5


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


@pytest.mark.parametrize(("workers", "delay", "names", "moments"), TABLES["paces"])
def test_a_host_has_a_pause_between_requests_and_another_host_its_own(
    workers: int, delay: float | None, names: str, moments: list[float]
) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    async def ask() -> list[float]:
        hosts = Hosts(workers=workers, sleep=sleep, clock=lambda: now)
        hosts.crawl_delay("a", delay)
        found = []
        for name in names:
            async with hosts.turn(name):
                found.append(round(now, 6))
        return found

    assert asyncio.run(ask()) == moments


def test_no_more_than_a_few_are_under_way_at_a_host() -> None:
    hosts, under_way, most = Hosts(sleep=no_pause), [0], [0]

    async def one() -> None:
        async with hosts.turn("a"):
            under_way[0] += 1
            most.append(under_way[0])
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            under_way[0] -= 1

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(9)))

    asyncio.run(many())
    assert max(most) == 2
