"""The page as a file in a real Chromium: quiet, alone, accessible, in both themes, on a phone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, ViewportSize

from tests.parts import PATIENCE


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: pytest.TempPathFactory, page: str, hostile_page: str) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "told.html").write_text(page, encoding="utf-8")
    (folder / "hostile.html").write_text(hostile_page, encoding="utf-8")
    return folder


@pytest.fixture(name="opened")
def _opened(browser: Browser, files: Path) -> Iterator[Callable[..., Any]]:
    """A function that opens a page, which must not complain or ask anybody for anything."""
    wrong = []
    contexts = []

    def opened(name: str = "told", width: int = 1200, theme: Any = "light") -> Page:
        size = ViewportSize(width=width, height=900)
        contexts.append(browser.new_context(viewport=size, color_scheme=theme))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        address = (files / f"{name}.html").as_uri()

        def requested(asked: Request) -> None:
            if not asked.url.startswith(address):
                wrong.append(f"asked: {asked.url}")

        page.on("console", lambda said: wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append("dialog"))
        page.on("request", requested)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "width", "theme"), [("told", 1200, "light"), ("hostile", 400, "dark")]
)
def test_a_page_is_accessible_and_as_wide_as_its_window(
    opened: Callable[..., Any], name: str, width: int, theme: str
) -> None:
    page = opened(name, width, theme)
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= width
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate(wide) <= width
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == []


def background(page: Page) -> Any:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_a_mark_opens_the_evidence_of_its_sentence(opened: Callable[..., Any]) -> None:
    page = opened()
    article = page.locator("article").first
    assert not article.get_by_role("heading", level=4).first.is_visible()
    article.locator("a.chip").first.click()
    assert article.get_by_role("heading", level=4).first.is_visible()


def test_a_print_has_what_is_folded_and_is_light(opened: Callable[..., Any]) -> None:
    page = opened(theme="dark")
    before = background(page)
    page.emulate_media(media="print")
    assert background(page) != before
    assert page.locator("blockquote").first.is_visible()
