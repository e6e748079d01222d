"""Several addresses of one page are told from addresses of several pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.sources.web.engines import SearchResult
from ufo.transforms.sources.web.same_page import by_page, listing_of, page_key, page_keys

PAGE = "https://herald.example/news/bridge"


@pytest.mark.parametrize(
    "url",
    [
        "http://herald.example/news/bridge",
        "https://HERALD.example./news/bridge",
        "https://www.herald.example/news/bridge/",
        "https://m.herald.example/news/bridge",
        "https://mobile.herald.example/news/bridge",
        "https://amp.herald.example/news/bridge",
        "https://herald.example:443/news/bridge",
        "https://herald.example/news/bridge#section-2",
        "https://herald.example/news/bridge?utm_source=x&UTM_Medium=y",
        "https://herald.example/news/bridge?gclid=1&fbclid=2&msclkid=3&igsh=4&mc_cid=5&_ga=6",
        "https://herald.example/news/bridge?ref_src=twsrc&srsltid=1&ocid=2&cmpid=3",
        "https://herald.example/news/bridge/amp",
        "https://herald.example/news/bridge/amp/",
        "https://herald.example/amp/news/bridge",
        "https://herald.example/news/bridge.amp",
        "https://herald.example/news/bridge?amp",
        "https://herald.example/news/bridge?amp=1&outputType=amp",
        "https://herald.example/news/bridge/index.html",
        "https://herald.example/news/bridge/index.php?",
        "https://herald.example/news/bri%64ge",
        "https://www.google.com/amp/s/herald.example/news/bridge/amp",
        "https://herald-example.cdn.ampproject.org/c/s/herald.example/news/bridge",
        "https://herald-example.cdn.ampproject.org/v/s/www.herald.example/news/bridge?amp_js_v=0.1",
    ],
)
def test_an_address_of_the_page(url: str) -> None:
    assert page_key(url) == page_key(PAGE)


@pytest.mark.parametrize(
    "url",
    [
        "https://herald.example/news",
        "https://herald.example/news/Bridge",
        "https://herald.example/news/bridge-2",
        "https://herald.example/news/amp-bridge",
        "https://herald.example/news/bridge?id=2",
        "https://herald.example/news/bridge?page=2&utm_source=x",
        "https://herald.example:8080/news/bridge",
        "https://sport.herald.example/news/bridge",
        "https://herald.test/news/bridge",
        "https://google.com/news/bridge",
    ],
)
def test_an_address_of_another_page(url: str) -> None:
    assert page_key(url) != page_key(PAGE)


def test_the_order_of_parameters_does_not_matter() -> None:
    assert page_key(f"{PAGE}?a=1&b=2") == page_key(f"{PAGE}?b=2&utm_id=3&a=1")


def test_a_mobile_wiki_is_the_wiki() -> None:
    assert page_key("https://de.m.wikipedia.org/wiki/K") == page_key(
        "https://de.wikipedia.org/wiki/K"
    )


@given(st.text(max_size=60))
def test_any_text_has_a_key(url: str) -> None:
    assert page_key(url) == page_key(url)


@pytest.mark.parametrize(
    ("page", "other", "same"),
    [
        pytest.param(("/a", None, "x"), ("/b", None, "x"), False, id="equal texts alone"),
        pytest.param(("/a", "/c", "x"), ("/b", "/c", "y"), True, id="the same canonical address"),
        pytest.param(("/a", None, "x"), ("/b", "/a", "y"), True, id="the other is canonical"),
        pytest.param(("/a", "/", "x"), ("/b", "/", "y"), False, id="the home page is stated"),
        pytest.param(("/a", "//z", "x"), ("/b", "//z", "x"), True, id="another host, one text"),
        pytest.param(("/a", "//z", "x"), ("/b", "//z", "y"), False, id="another host, two texts"),
    ],
)
def test_pages_that_were_read(
    page: tuple[str, str | None, str], other: tuple[str, str | None, str], same: bool
) -> None:
    first, second = [
        page_keys([f"https://a.example{path}"], address(canonical), text)
        for path, canonical, text in (page, other)
    ]
    assert bool(first & second) == same


def address(path: str | None) -> str | None:
    if path is None:
        return None
    return "https://z.example/z" if path == "//z" else f"https://www.a.example{path}"


def test_a_page_cannot_silence_that_of_another_host() -> None:
    real = page_keys(["https://real.example/a"], "https://real.example/a", "The truth.")
    copy = page_keys(["https://copy.example/a"], "https://real.example/a", "Something else.")
    assert not real & copy


def test_an_article_and_its_syndicated_copy_are_one() -> None:
    real = page_keys(["https://real.example/a"], None, "The truth.")
    copy = page_keys(["https://copy.example/a"], "https://real.example/a", "The truth.")
    assert real & copy


def test_what_is_listed_of_a_page_is_put_together() -> None:
    results = [
        SearchResult(f"{PAGE}#top", "Box", "In 1932.", None, True),
        SearchResult("https://b.example", "B", "Of b."),
        SearchResult(PAGE, "Bridge", "It was opened in 1932.", "2021-03-05"),
        SearchResult(f"{PAGE}?utm_source=x", "Again", "opened in 1932."),
        SearchResult(f"{PAGE}/amp", "More", "It is long."),
        SearchResult(None, None, "From nowhere."),
        SearchResult(None, None, "From nowhere."),
    ]
    listed = by_page(map(listing_of, results))
    bridge, other, *nowhere = listed
    assert bridge.result.title == "Bridge"
    assert bridge.result.published_at == "2021-03-05"
    assert bridge.statements == ["In 1932."]
    assert bridge.snippets == ["It was opened in 1932.", "It is long."]
    assert other.snippets == ["Of b."]
    assert [one.snippets for one in nowhere] == [["From nowhere."]] * 2
