"""The page as a file in a real Chromium: quiet, alone, accessible, in both themes, on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.parts import PATIENCE


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory, page, hostile_page):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "told.html").write_text(page, encoding="utf-8")
    (folder / "hostile.html").write_text(hostile_page, encoding="utf-8")
    return folder


@pytest.fixture(name="opened")
def _opened(browser, files):
    """A function that opens a page, which must not complain or ask anybody for anything."""
    wrong = []
    contexts = []

    def opened(name="told", width=1200, theme="light", **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, color_scheme=theme, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        address = (files / f"{name}.html").as_uri()
        page.on("console", lambda said: wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append("dialog"))
        page.on(
            "request",
            lambda asked: asked.url.startswith(address) or wrong.append(f"asked: {asked.url}"),
        )
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("name", ["told", "hostile"])
@pytest.mark.parametrize(("width", "theme"), [(1200, "light"), (400, "dark")])
def test_a_page_is_accessible_and_as_wide_as_its_window(opened, name, width, theme):
    page = opened(name, width, theme)
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= width
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate(wide) <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def becomes(page, color):
    expect(page.locator("body")).to_have_css("background-color", color)


@pytest.mark.parametrize("script", [True, False])
def test_the_theme_is_the_readers_or_the_systems(opened, script):
    light, dark = (opened(theme=theme, java_script_enabled=script) for theme in ("light", "dark"))
    if not script:
        # What a page looks like cannot be asked of one without scripts, but shows.
        shots = [light.screenshot()]
        light.get_by_label("Dark").check()
        shots.append(light.screenshot())
        assert shots[0] != shots[1]
        return
    colors = background(light), background(dark)
    assert colors[0] != colors[1]
    for page, name, expected in ((light, "Dark", colors[1]), (dark, "Light", colors[0])):
        page.get_by_label(name).check()
        becomes(page, expected)
        page.reload()
        becomes(page, expected)
        page.get_by_label("Auto").check()
    becomes(light, colors[0])
    becomes(dark, colors[1])


def test_a_mark_opens_the_evidence_of_its_sentence(opened):
    page = opened()
    article = page.locator("article").first
    assert not article.get_by_role("heading", level=4).first.is_visible()
    article.locator("a.mark").first.click()
    assert article.get_by_role("heading", level=4).first.is_visible()


def test_a_print_has_what_is_folded_and_is_light(opened):
    page = opened(theme="dark")
    before = background(page)
    page.emulate_media(media="print")
    assert background(page) != before
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("blockquote").first.is_visible()
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_no_column_of_a_table_is_cut_off_on_paper(opened):
    page = opened(width=718)  # A4 within the margins that a browser leaves
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    cut = """[...document.querySelectorAll("table")]
        .filter((table) => table.offsetWidth > table.parentElement.clientWidth)
        .map((table) => table.caption.textContent)"""
    assert page.locator("table").count() > 10
    assert page.evaluate(cut) == []


def test_colours_of_plots_follow_the_theme(opened):
    ink = "getComputedStyle(document.querySelector('svg.plot text')).fill"
    assert opened(theme="light").evaluate(ink) != opened(theme="dark").evaluate(ink)
