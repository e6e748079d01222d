"""robots.txt: the rules for this robot, also in a file that names thousands of others."""

from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.fetch import Site, site_of
from ufo.transforms.sources.web.transport import ROBOT

ROBOTS = ("*", "ufo", "UFO # us", "u", "ufo*", "*u*f*", "ufo/1.0", "xufo", "other", "", "#", "a b")
NAMES = ("User-agent:", "user agent", "USERAGENT :", "User-Agent", "\tuser  agent\t", "Agent:")
RULES = ("Disallow: /a", "Allow: /a/b", "Disallow: /", "Crawl-delay: 3", "Sitemap: /s", "", "x")
AGENTS = st.builds("{} {}".format, st.sampled_from(NAMES), st.sampled_from(ROBOTS))


def rules_in(text: str) -> Site:
    url = "https://a.example/robots.txt"
    return site_of(FetchedPage(url, url, 200, "text/plain", text.encode(), None, "2026-01-01"))


@given(st.lists(AGENTS | st.sampled_from(RULES), max_size=12))
def test_a_file_allows_what_its_rules_for_this_robot_do(lines: list[str]) -> None:
    rules, plain = rules_in("\n".join(lines)), Protego.parse("\n".join(lines))
    for path in ("/", "/a", "/a/b"):
        url = f"https://a.example{path}"
        assert rules.allow(url) == plain.can_fetch(url, ROBOT), url
    assert rules.crawl_delay == plain.crawl_delay(ROBOT)


def test_thousands_of_robots_with_thousands_of_rules_are_read() -> None:
    """Protego alone needs minutes and gigabytes for these 500 KB."""
    robots = "".join(f"User-agent: a{number}\n" for number in range(15_000))
    rules = rules_in(f"{robots}User-agent: ufo\n" + "Disallow: /private\n" * 14_000)
    assert rules.allow("https://a.example/")
    assert not rules.allow("https://a.example/private/page")
