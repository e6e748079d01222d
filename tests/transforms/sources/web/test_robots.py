"""Which pages the rules of a site allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.robots import rules_of
from ufo.transforms.sources.web.transport import ROBOT


def failed_as(reason: str | None, status: int, private: bool = False) -> FetchedPage:
    url = "https://a.example/robots.txt"
    return FetchedPage(url, url, status, "", b"", None, "2026-01-01", reason, private=private)


@pytest.mark.parametrize(
    ("reason", "status", "allowed"),
    [
        *(("http_400", 400, True), ("http_404", 404, True), ("http_499", 499, True)),
        *(("http_500", 500, False), ("http_503", 503, False), ("too_large", 200, False)),
        ("too_many_redirects", 0, True),
    ],
)
def test_a_site_whose_rules_do_not_come(reason: str, status: int, allowed: bool) -> None:
    rules = rules_of(failed_as(reason, status))
    assert isinstance(rules, Protego)
    assert rules.can_fetch("https://a.example/a", ROBOT) is allowed


def test_a_site_that_cannot_be_reached_fails_as_its_rules_do() -> None:
    page = failed_as("timeout", 0)
    assert rules_of(page) is page


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
