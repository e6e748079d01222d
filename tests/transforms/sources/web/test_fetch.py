"""Pages over real HTTP: what comes, what does not and why, and how politely it is asked for."""

import asyncio
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from protego import Protego

from tests.case_files import cases
from tests.local_web import LocalWeb, Reply
from tests.transforms.sources.web.pages import TABLES, get
from tests.transforms.sources.web.test_robots import failed_as
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web import fetch, readers
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.transport import USER_AGENT

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


PAGE = {"content-type": "text/html"}
TEXT = b"<p>A text of a page.</p>"


def at(web: LocalWeb, reply: Reply, **options: Any) -> FetchedPage:
    """The page at an address that replies so; its site has no rules."""
    web.pages |= {"/it": reply, "/robots.txt": Reply(b"", 404)}
    (page,) = get(web.url("/it"), **options)
    return page


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(web: LocalWeb, status: int) -> None:
    page = at(web, Reply(b"", status, {"location": "/beacon"}))
    assert page.reason is None
    assert page.final_url == web.url("/beacon")


@pytest.mark.parametrize("status", [201, 300, 304, 305, 306, 309, 404])
def test_another_status_leads_nowhere(web: LocalWeb, status: int) -> None:
    page = at(web, Reply(b"", status, {"location": "/beacon"}))
    assert page.reason == f"http_{status}"
    assert "/beacon" not in web.paths()


@pytest.mark.parametrize(("steps", "reason"), [(5, None), (6, reasons.TOO_MANY_REDIRECTS)])
def test_five_redirects_are_followed(web: LocalWeb, steps: int, reason: str | None) -> None:
    for step in range(1, steps):
        web.pages[f"/step{step}"] = Reply(b"", 302, {"location": f"/step{step + 1}"})
    web.pages[f"/step{steps}"] = Reply(TEXT, 200, PAGE)
    assert at(web, Reply(b"", 302, {"location": "/step1"})).reason == reason


@pytest.mark.parametrize("status", [200, 203, 201, 202, 205, 206, 226])
def test_a_page_comes_with_a_good_status_alone(web: LocalWeb, status: int) -> None:
    good = status in (200, 203)
    assert at(web, Reply(TEXT, status, PAGE)).reason == (None if good else f"http_{status}")


@pytest.mark.parametrize("location", ["http://[::1", "//[x/"])
def test_a_redirect_to_what_is_no_address_is_a_page_that_cannot_be_read(
    web: LocalWeb, location: str
) -> None:
    page = at(web, Reply(b"", 302, {"location": location}))
    assert page.reason == reasons.UNREADABLE
    assert page.detail == "ValueError('Invalid IPv6 URL')"
    assert page.final_url == web.url("/it")


AGAIN = (408, 425, 429, 502, 503, 504)


@pytest.mark.parametrize("status", [*AGAIN, 400, 401, 403, 409, 410, 418, 500, 501, 505])
def test_a_page_is_asked_for_once_more_after_some_errors(web: LocalWeb, status: int) -> None:
    assert at(web, Reply(b"", status)).reason == f"http_{status}"
    assert web.paths().count("/it") == (2 if status in AGAIN else 1)


KINDS = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf")
OTHERS = ("image/png", "text/css", "application/json", "text/xml")
UNTOLD = ("", "application/octet-stream", "binary/octet-stream")


@pytest.mark.parametrize("kind", [*KINDS, "TEXT/HTML ; charset=utf-8", *OTHERS])
def test_a_page_of_a_type_that_can_be_read_comes(web: LocalWeb, kind: str) -> None:
    page = at(web, Reply(b"words", 200, {"content-type": kind}))
    assert page.reason == (reasons.UNSUPPORTED_TYPE if kind in OTHERS else None)
    assert page.content_type == kind.lower().partition(" ")[0]


@pytest.mark.parametrize("kind", UNTOLD)
def test_a_page_of_an_untold_type_comes_if_its_first_bytes_tell(web: LocalWeb, kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    assert at(web, Reply(b"<!DOCTYPE html>words", 200, headers)).content_type == "text/html"
    assert at(web, Reply(b"words", 200, headers)).reason == reasons.UNSUPPORTED_TYPE


@pytest.mark.parametrize(("most", "reason"), [(24, None), (23, reasons.TOO_LARGE)])
def test_a_page_has_as_many_bytes_as_allowed(web: LocalWeb, most: int, reason: str | None) -> None:
    assert at(web, Reply(TEXT, 200, PAGE), most_bytes=most).reason == reason


@pytest.mark.parametrize(
    ("asked", "private"),
    [
        ("no-store", True),
        ("private", True),
        ("max-age=9, No-Store", True),
        ("no-cache", False),
        ("public", False),
        ("", False),
    ],
)
def test_a_host_may_ask_that_a_page_is_not_kept(web: LocalWeb, asked: str, private: bool) -> None:
    assert at(web, Reply(TEXT, 200, {**PAGE, "cache-control": asked})).private is private


@pytest.mark.parametrize(
    ("page", "for_the_day"),
    [
        *((failed_as(reason, 200), True) for reason in (None, "too_large", "empty")),
        (failed_as("unsupported_type", 200), True),
        *((failed_as(f"http_{n}", n), True) for n in (400, 403, 404, 410, 499)),
        *((failed_as(f"http_{n}", n), False) for n in (302, 399, 408, 425, 429, 500, 503)),
        *((failed_as(reason, 0), False) for reason in ("timeout", "connection", "garbled")),
        *((failed_as(reason, 0), False) for reason in ("blocked_by_robots", "refused_address")),
        (failed_as(None, 200, private=True), False),
        (failed_as("http_404", 404, private=True), False),
    ],
    ids=lambda value: f"{value.reason} {value.status}" if isinstance(value, FetchedPage) else "",
)
def test_what_lasts_for_the_day(page: FetchedPage, for_the_day: bool) -> None:
    assert fetch.lasts(page) is for_the_day


@pytest.mark.parametrize(
    ("size", "reason"), [(fetch.MOST_RULES, None), (fetch.MOST_RULES + 1, "blocked_by_robots")]
)
def test_rules_have_at_most_so_many_bytes(web: LocalWeb, size: int, reason: str | None) -> None:
    rules = b"User-agent: *\nAllow: /\n#"
    web.pages["/robots.txt"] = Reply(rules.ljust(size, b"x"), 200, PLAIN)
    (page,) = get(web.url("/lighthouse"))
    assert page.reason == reason


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
