"""The page for everybody: rules of accessibility, keys, small windows, zoom, themes, motion."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.webapp.browser.windows import THEMES
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread

ALDER = "/#/runs/demo/responses/alder-1"
TABLE = "\n".join("| " + " | ".join([cell] * 14) + " |" for cell in ("Prize", "---", "Chemistry"))
STATES = {
    "form": ("/", ".settings"),
    "form-filled": ("/#/check?text=Water+boils.&question=Does+it&reference=Yes", ".settings"),
    "result": ("/#/check?text=Water+boils+at+100+degrees.&show=1", ".scores"),
    "table": (f"/#/check?text={quote(TABLE)}&show=1", ".sentences td"),
    "support": (f"{ALDER}?support=1&only=supported", ".faded"),
    "sentence": (f"{ALDER}?sentence=2", ".evidence"),
    "errors": (f"{ALDER}?sentence=4&claim=glows", ".evidence"),
    "all": (f"{ALDER}?all=1", ".evidence"),
    "ticked-off": (f"{ALDER}?sentence=2&without_category=other", ".before"),
    "much": ("/#/runs/hard/responses/all%20at%20once?sentence=3", ".evidence"),
    "lists": ("/#/runs/hard/responses/list?all=1&without_category=wiki", ".before"),
    "hostile": ("/#/runs/demo/responses/hostile%2F%3Cb%3E?all=1", ".evidence"),
    "not-scored": ("/#/check?text=وُلدت+في+وارسو+عام+1867.&show=1", ".message .warning"),
    "runs": ("/#/runs", "tbody tr"),
    "runs sorted": ("/#/runs?sort=-score&text=demo", "tbody tr"),
    "overview": ("/#/runs/demo", ".contradicted li"),
    "responses": ("/#/runs/many?text=r1", "tbody tr"),
    "models": ("/#/runs/demo/compare", ".report"),
    "two runs": ("/#/runs/demo/compare?baseline=many", "server-html, .problem"),
    "reports": ("/#/runs/demo/reports", "server-html details"),
    "problem": ("/#/runs/none", ".problem"),
}


def keeps_the_rules(page: Page, shoot: Callable[[str], None] = lambda name: None) -> None:
    """Look at a view in two windows and both themes; a theme changes nothing but contrasts."""
    for width, height in ((1280, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            shoot(f"{width}-{theme}")
            rules = {"runOnly": ["color-contrast"]} if theme == "dark" else None
            report = Axe().run(page, options=rules)
            assert report.violations_count == 0, report.generate_report()


def _show(page: Page, state: str) -> None:
    address, awaited = STATES[state]
    page.goto(address)
    expect(page.locator(awaited).first).to_be_visible()
    for summary in page.locator("summary").all():
        summary.click()


@pytest.mark.parametrize("state", STATES)
def test_no_rule_is_broken_and_nothing_cut_off(page: Page, shots: Path | None, state: str) -> None:
    def shoot(name: str) -> None:
        if shots is not None:
            page.screenshot(path=shots / f"{state}-{name}.png", full_page=True)

    _show(page, state)
    keeps_the_rules(page, shoot)
    # 640 px is what 1280 px leave at a zoom of 200 %.
    for width in (640, 360):
        page.set_viewport_size({"width": width, "height": 844})
        shoot(str(width))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    regions = "[...document.querySelectorAll('section, nav, [role=region]')]"
    name = "one.ariaLabel ?? one.ariaLabelledByElements?.[0].textContent"
    names = page.evaluate(f"{regions}.map((one) => {name})")
    assert all(names)
    assert len(names) == len(set(names))


def test_everything_is_reached_by_keys(page: Page) -> None:
    page.goto("/#/check?text=Marie+Curie+was+a+physicist.+She+was+born+in+Warsaw.")
    page.get_by_label("Text to check").press("Control+Enter")
    expect(page.get_by_text("Done in")).to_be_visible()
    page.locator("#sentence-1").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#sentence-1")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    focused = "document.activeElement"
    for _ in range(60):
        if page.evaluate(f"{focused}.closest('.evidence') && {focused}.type === 'checkbox'"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Scores")).to_contain_text("with all evidence")
    assert page.evaluate(f"{focused}.type") == "checkbox"


@pytest.mark.parametrize("width", [1280, 390])
def test_keys_lead_from_the_text_to_the_evidence_and_back(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/#/runs/hard/responses/long")
    expect(page.locator(".sentence").first).to_be_visible()
    focused = page.locator(":focus")
    while page.evaluate("document.activeElement.id") != "sentence-40":
        page.keyboard.press("Tab")
    for sentence, states, key in ((40, "supports", "Enter"), (41, "contradicts", "Space")):
        page.keyboard.press(key)
        # The focus is in the evidence, and the sheet does not cover its sentence.
        expect(focused).to_have_attribute("aria-label", re.compile(f"Evidence {states}: "))
        text, detail = page.locator(f"#sentence-{sentence}"), page.locator("#detail")
        expect(text).to_have_attribute("aria-expanded", "true")
        upper, sheet = text.bounding_box(), detail.bounding_box()
        assert upper
        assert sheet
        assert 0 <= upper["y"] < upper["y"] + upper["height"] <= 844
        if width == 390:
            assert upper["y"] + upper["height"] <= sheet["y"]
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#detail') !== null")
        page.keyboard.press("Escape")
        expect(focused).to_have_id(f"sentence-{sentence}")
        page.keyboard.press("Tab")
    page.keyboard.press("j")
    expect(focused).to_have_id("sentence-45")
    expect(focused).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="Close ×").click()
    expect(focused).to_have_id("sentence-45")
    # Away from the sentences the keys of the browser scroll as everywhere.
    headline = page.locator("#headline")
    headline.focus()
    expect(headline).to_be_in_viewport()
    page.keyboard.press("Space")
    expect(headline).not_to_be_in_viewport()


def test_the_sheet_leaves_the_sentence_that_was_touched(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/#/runs/hard/responses/long")
    for sentence in (0, 13, 59):
        text = page.locator(f"#sentence-{sentence}")
        text.evaluate("node => node.scrollIntoView({ block: 'end' })")
        text.locator(".words").click()
        expect(page.locator("#detail .claim")).to_be_visible()
        words, sheet = text.bounding_box(), page.locator("#detail").bounding_box()
        assert words
        assert sheet
        assert 0 <= words["y"] < words["y"] + words["height"] <= sheet["y"]
        page.get_by_role("button", name="Close ×").click()
        expect(text).to_be_focused()


def test_the_first_key_leads_past_the_head_and_the_theme_is_kept(page: Page) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto("/")
    expect(page.get_by_label("Text to check")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.get_by_role("button", name="Colours: as the system").click()
    light = page.evaluate(ground)
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(ground) == dark
    # Nothing moves where motion is not wanted.
    page.goto(ALDER)
    expect(page.locator("#sentence-0")).to_be_visible()
    seconds = "getComputedStyle(document.querySelector('#sentence-0')).transitionDuration"
    assert page.evaluate(seconds) == "0s"


# The last is what a window of 1280 x 900 has at a zoom of 200 %.
WINDOWS = {"1280": (1280, 900), "1920": (1920, 1080), "phone": (390, 844), "zoomed": (640, 450)}
LONG = " ".join(f"Town {n} has {n} old stone bridges over the river Sava." for n in range(120))


@pytest.mark.parametrize("window", WINDOWS)
def test_each_window_leads_from_what_is_given_to_the_result_and_back(
    page: Page, window: str
) -> None:
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    text = page.get_by_label("Text to check")
    page.get_by_label("Start from an example").select_option(index=1)
    expect(text).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_in_viewport(ratio=1)
    if window != "zoomed":
        expect(page.get_by_label("Reference 2", exact=True)).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Add a reference")).to_be_in_viewport(ratio=1)
    line = page.locator(".settings > summary")
    expect(line).to_have_text("Settings reference, wikipedia · offline · Multi-Seq")
    box = line.bounding_box()
    assert box
    assert box["height"] < 32
    expect(page.get_by_label("Judge", exact=True)).to_be_hidden()
    line.click()
    expect(page.get_by_label("Judge", exact=True)).to_be_visible()
    text.fill(LONG)
    page.get_by_text("What happens behind the scenes").click()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.get_by_role("button", name="Check", exact=True).click()
    headline = page.locator(".headline")
    for words in ("", "120 claims supported"):
        expect(headline).to_contain_text(words)
        expect(headline).to_be_focused()
        expect(headline).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.get_by_role("button", name="Edit text").click()
    expect(text).to_be_focused()
    expect(text).to_be_in_viewport(ratio=1)


def test_a_setting_that_cannot_be_is_shown_though_it_was_folded_away(page: Page) -> None:
    page.goto("/#/check?text=Water+boils.")
    line = page.locator(".settings > summary")
    line.click()
    passages = page.get_by_label("Passages of each source")
    passages.fill("5000")
    line.click()
    expect(passages).to_be_hidden()
    page.get_by_role("button", name="Check", exact=True).click()
    expect(passages).to_be_visible()
    expect(passages).to_be_focused()


def test_the_token_is_entered_in_a_field_and_the_link_stays(
    browser: Browser, runs: Path, shots: Path | None
) -> None:
    with serve_in_thread(replace(setup(str(runs)), token="right")) as address:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(f"{address}/?token=wrong#/runs/demo")
        expect(page.get_by_role("alert")).to_contain_text("not the token")

        def shoot(name: str) -> None:
            if shots is not None:
                page.screenshot(path=shots / f"token-{name}.png")

        keeps_the_rules(page, shoot)
        for token in ("wrong", "right"):
            field = page.get_by_label("Token")
            expect(field).to_be_focused()
            field.fill(token)
            field.press("Enter")
            expect(page.get_by_role("alert")).to_have_count(1 if token == "wrong" else 0)
        expect(page.locator("tbody tr").first).to_be_visible()
        assert page.url == f"{address}/#/runs/demo"
        page.close()
