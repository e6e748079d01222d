"""Checking a text: what is given, how, what is shown while it runs, and the address."""

import csv
import json
import re
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.llm_server import LlmServer
from tests.parts import PATIENCE
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread

TEXT = "😀 Marie Curie was born in Warsaw in 1871. She liked tea! Marie Curie was a physicist."
REFERENCE = "Marie Curie was a physicist. Marie Curie was born in Warsaw in 1867."


def _fill(page: Page, text: str = TEXT, reference: str = REFERENCE) -> None:
    page.goto("/")
    page.get_by_label("Text to check").fill(text)
    page.get_by_role("button", name="Add a reference").click()
    page.get_by_label("Reference 1", exact=True).fill(reference)


def _settings(page: Page) -> Locator:
    return page.locator(".settings > summary")


def _start(page: Page) -> None:
    page.get_by_role("button", name="Check", exact=True).click()


def _check(page: Page) -> None:
    _start(page)
    expect(page.get_by_text("Done in")).to_be_visible()


def _asked(page: Page) -> Any:
    """Check, and return what the service is asked."""
    with page.expect_request("**/check") as asked:
        _start(page)
    return asked.value.post_data_json


def _sources(page: Page) -> list[str]:
    return page.locator(".order-item:has(:checked) .order-name").all_inner_texts()


def _downloaded(page: Page, name: str) -> str:
    with page.expect_download() as file:
        of_name = page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name))
        of_name.click()
    return file.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "headline", "score"),
    [
        (
            "Zyx Qwv was born in Blorb in 1871.",
            "0 of 2 claims supported, 2 not found",
            "No score: no source knew any of 2 claims",
        ),
        ("What do you think?", "No claim to check", "No score: there is no claim"),
        (
            "وُلدت ماري كوري في وارسو عام 1867.",
            "Not scored: none of 1 claim could be judged",
            "No score: no judgement was usable",
        ),
    ],
)
def test_a_text_has_the_score_of_its_response(
    page: Page, text: str, headline: str, score: str
) -> None:
    _fill(page, text, "")
    _check(page)
    expect(page.locator(".headline")).to_have_text(headline)
    values = page.locator(".scores strong")
    expect(values.first).to_have_text(score)


def test_markdown_is_shown_as_it_is_read_and_evidence_takes_one_click(page: Page) -> None:
    table = "| City | Country | Founded in |\n|---|---|---|\n| Oslo | Norway | 1048 |"
    text = f"### Oslo 🏔\n\n{table}\n\n- Oslo is **not** large. It lies in Norway and has a harbour."
    _fill(page, text, "Oslo is a city in Norway. It was founded in 1040 and has a harbour.")
    _check(page)
    shown = page.locator(".sentences")
    expect(shown.get_by_role("heading", name="Oslo 🏔")).to_be_visible()
    expect(shown.locator("li strong")).to_have_text("not")
    expect(shown).not_to_contain_text("|")
    # The row is one button, called by the whole row, and each of its cells opens it.
    row = page.locator(".sentences tr").last
    expect(row.get_by_role("cell")).to_have_count(3)
    expect(row.get_by_role("button")).to_have_count(1)
    whole = row.get_by_role("button", name=re.compile("Oslo.*Norway.*1048"))
    for opens in ("true", "false"):
        expect(whole).to_have_attribute("aria-expanded", opens)
        row.get_by_text("Norway").click()
    claims = page.locator("#detail .claim-open")
    assert claims.count() > 1
    opened = page.locator("#detail .claim-open[aria-expanded=true]")
    expect(opened).to_have_count(1)
    expect(page.locator("#detail .evidence").first).to_be_visible()
    opened.click()
    expect(page.locator("#detail .evidence")).to_have_count(0)


def test_what_cannot_be_checked_is_reported_before_it_is_sent(page: Page) -> None:
    page.goto("/")
    check = page.get_by_role("button", name="Check", exact=True)
    why = page.locator("#why")
    expect(check).to_be_disabled()
    expect(why).to_have_text("Paste a text, or start from an example")
    expect(page.get_by_label("What can be done here")).to_contain_text("80 articles")
    page.get_by_label("Text to check").fill("a" * 100_001)
    expect(why).to_contain_text("The text has 100001 characters, and 100000 are the most")
    expect(check).to_be_disabled()
    page.get_by_label("Text to check").fill("Water boils.")
    expect(check).to_be_enabled()
    _settings(page).click()
    for name in ("reference", "wikipedia"):
        page.get_by_role("checkbox", name=name).uncheck()
    expect(why).to_have_text("Tick a source to ask")
    expect(_settings(page)).to_have_text("Settings no source · offline · Multi-Seq")
    expect(check).to_be_disabled()


def test_a_pasted_text_is_labelled_and_downloaded(page: Page) -> None:
    _fill(page)
    _check(page)
    expect(page.get_by_label("Progress")).to_contain_text("no model was asked")
    assert page.locator(".sentence .words").all_inner_texts() == [
        "😀 Marie Curie was born in Warsaw in 1871.",
        "She liked tea!",
        "Marie Curie was a physicist.",
    ]
    expect(page.get_by_label("Progress").locator(".stage").nth(1)).to_contain_text("4 of 4")
    result = json.loads(_downloaded(page, "Download as JSON"))
    assert result["response"]["text"] == TEXT
    headline = "2 of 4 claims supported, 1 contradicted, 1 not found"
    assert result["scores"]["headline"] == headline
    assert "Marie Curie was a physicist" in _downloaded(page, "Download as a report")
    page.locator("#sentence-2").click()
    asked = page.get_by_role("group", name="Is the verdict right?")
    asked.get_by_role("button", name="Agree").click()
    expect(page.locator("#detail")).to_contain_text("you agree")
    page.reload()
    (row,) = csv.DictReader(StringIO(_downloaded(page, "Download your labels")))
    assert [row[name] for name in ("verdict", "label")] == ["supported", "1"]
    asked.get_by_role("button", name="Agree").click()
    expect(page.get_by_role("button", name="Download your labels")).to_have_count(0)


def test_a_link_is_short_and_an_old_one_still_opens(page: Page) -> None:
    page.goto("/#/check?text=Water+boils+at+100+degrees.&reference=Water+boils.&show=1")
    expect(page.get_by_text("Done in")).to_be_visible()
    page.wait_for_url(re.compile(r"#/results/[0-9a-f]{32}$"))
    link = page.url
    page.evaluate("sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_text("Done in")).to_be_visible()
    expect(page.locator(".sentence")).to_contain_text(["Water boils at 100 degrees."])
    page.get_by_role("button", name="Edit text").click()
    page.get_by_label("Text to check").fill("Water is wet.")
    page.wait_for_url(re.compile(r"#/check$"))
    page.reload()
    expect(page.get_by_label("Text to check")).to_have_value("Water is wet.")
    page.goto("/#/check?draft=0123456789ab")
    expect(page.get_by_role("alert")).to_contain_text("no text is kept under that name")
    # The form is there all the same.
    expect(page.locator(".settings")).to_contain_text("reference, wikipedia")


def test_a_result_opens_again_without_a_check_until_it_is_forgotten(
    page: Page, browser: Browser, service: str
) -> None:
    page.goto("/")
    page.get_by_label("Text to check").fill("Water boils at 100 degrees.")
    page.get_by_label("Reference 1", exact=True).fill("Water boils at 90 degrees.")
    _check(page)
    headline = page.locator(".headline").inner_text()
    checks: list[str] = []
    page.on("request", lambda asked: checks.append(asked.url) if asked.method == "POST" else None)
    page.reload()
    expect(page.locator(".headline")).to_have_text(headline)
    page.get_by_role("button", name="Agree").first.click()
    expect(page.locator("#detail")).to_contain_text("saved")
    with closing(browser.new_context(base_url=service)) as context:
        other = context.new_page()
        other.goto(page.url)
        expect(other.locator(".headline")).to_have_text(headline)
        expect(other.locator("#detail")).to_contain_text("you agree")
    assert [url for url in checks if url.endswith("/check")] == []
    link = page.url
    page.get_by_role("button", name="Forget").click()
    page.wait_for_url(re.compile("#/check$"))
    expect(page.get_by_label("Text to check")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".headline")).to_have_text(headline)
    page.get_by_role("button", name="Forget").click()
    page.wait_for_url(re.compile("#/check$"))
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("alert")).to_contain_text("no result is kept under that name")


def test_back_after_an_edit_shows_the_result_with_its_own_text(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Text to check").fill("Water boils at 100 degrees.")
    _check(page)
    page.wait_for_url(re.compile("#/results/"))
    page.get_by_role("button", name="Edit text").click()
    page.get_by_label("Text to check").fill("Water is wet.")
    page.go_back()
    expect(page.locator(".sentence")).to_contain_text(["Water boils at 100 degrees."])
    page.get_by_role("button", name="Edit text").click()
    expect(page.get_by_label("Text to check")).to_have_value("Water boils at 100 degrees.")


def test_a_result_that_cannot_be_shown_leaves_ways_on(page: Page) -> None:
    page.goto(f"/#/results/{'0' * 32}")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no result is kept under that name")
    alert.get_by_role("button", name="Try again").click()
    expect(alert).to_contain_text("no result is kept under that name")
    alert.get_by_role("button", name="Check another text").click()
    expect(page.get_by_label("Text to check")).to_be_visible()
    expect(alert).to_have_count(0)


def test_every_example_opens_with_all_its_claims_and_is_kept(page: Page) -> None:
    page.goto("/")
    picker = page.get_by_label("Start from an example")
    expect(picker.get_by_role("option")).not_to_have_count(1)
    for at in range(1, picker.get_by_role("option").count()):
        picker.select_option(index=at)
        fields = [page.get_by_label("Text to check"), page.get_by_label("Reference 1", exact=True)]
        texts = [one.input_value() for one in fields]
        assert texts[0]
        _check(page)
        if page.locator(".headline").inner_text() != "No claim to check":
            page.get_by_role("button", name="Open all").click()
            expect(page.locator(".claim").first).to_be_visible()
        empty = page.locator(".claim:not(:has(.claim-body .evidence))")
        expect(empty).to_have_count(0)
        page.get_by_role("button", name="Edit text").click()
        assert [one.input_value() for one in fields] == texts


def test_kinds_of_web_pages_and_retrievers_are_chosen(page: Page) -> None:
    with_vectors = False

    def offered(route: Route) -> None:
        options = route.fetch().json()
        for source in options["sources"]:
            source["status"] = "used"
        for setting in options["settings"]:
            if setting["name"] == "sources":
                setting["value"] = [offer["source"] for offer in options["sources"]]
            choices = setting["choices"] if setting["name"] == "retriever" and with_vectors else ()
            for choice in choices:
                choice["reason"] = None
        route.fulfill(json=options)

    page.goto("/#/check?text=Water+boils.")
    _settings(page).click()
    expect(page.get_by_label("How web pages are searched")).to_be_disabled()
    page.get_by_text("Kinds of web pages: all").click()
    expect(page.get_by_role("checkbox", name="news")).to_be_disabled()
    page.route("**/options", offered)
    page.goto("about:blank")
    page.goto("/#/check?text=Water+boils.")
    _settings(page).click()
    page.get_by_text("Kinds of web pages: all").click()
    page.get_by_role("checkbox", name="social media").uncheck()
    page.get_by_role("checkbox", name="news").uncheck()
    expect(page.get_by_text("Kinds of web pages: all but social media, news")).to_be_visible()
    assert _asked(page)["exclude_categories"] == ["social_media", "news"]
    page.goto("about:blank")
    page.goto("/")
    _settings(page).click()
    hybrid = page.get_by_label("How the index is searched").locator("option[value=hybrid]")
    expect(hybrid).to_be_disabled()
    expect(hybrid).to_contain_text("the index has no vectors")
    with_vectors = True
    page.goto("about:blank")
    _fill(page)
    _settings(page).click()
    page.get_by_label("How the index is searched").select_option("hybrid")
    page.get_by_label("Temperature of these answers").fill("0.7")
    page.get_by_label("Passages of each page").fill("2")
    body = _asked(page)
    assert body["retriever"] == "hybrid"
    assert body["temperature"] == 0.7
    assert body["passages_per_page"] == 2


def test_settings_are_sent_and_the_page_says_what_they_do(page: Page) -> None:
    _fill(page)
    _settings(page).click()
    page.get_by_label("Mode", exact=True).select_option("mv")
    page.get_by_label("A tie counts as").select_option("factual")
    expect(page.get_by_label("Sentences of context")).to_be_disabled()
    expect(page.locator("#why-pages")).to_have_text("no chosen source or judge uses it")
    page.get_by_label("Verifier of the offline judge").select_option("overlap")
    page.get_by_label("Passages of each source").fill("3")
    page.get_by_label("Passages of each source").press("Tab")
    page.get_by_text("What happens behind the scenes").click()
    settings = "offline · Multi-MV · A tie counts as: factual · Passages of each source: 3"
    expect(_settings(page)).to_have_text(f"Settings reference, wikipedia · {settings}")
    expect(page.get_by_text("pages to fetch per query (default 5)")).to_be_visible()
    body = _asked(page)
    assert body["mode"] == "mv"
    assert body["tie"] == "factual"
    assert body["passages"] == 3
    expect(page.get_by_role("heading", name="Share of the votes")).to_be_visible()
    page.get_by_role("button", name="Edit text").click()
    expect(page.get_by_label("Text to check")).to_have_value(TEXT)
    expect(page.get_by_label("Passages of each source")).to_have_value("3")


def test_sources_are_ordered_by_buttons_keys_and_drag(page: Page) -> None:
    _fill(page)
    _settings(page).click()
    status = page.get_by_role("status")
    # The sources are listed once the service has told which can serve.
    expect(page.get_by_role("button", name="Move wikipedia up")).to_be_visible()
    assert _sources(page) == ["reference", "wikipedia"]
    page.get_by_role("button", name="Move wikipedia up").click()
    expect(status).to_have_text("wikipedia is now 1 of 2")
    assert _sources(page) == ["wikipedia", "reference"]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Move wikipedia up"
    page.keyboard.press("Alt+ArrowDown")
    expect(status).to_have_text("wikipedia is now 2 of 2")
    assert _sources(page) == ["reference", "wikipedia"]
    items = page.locator(".order-item")
    items.nth(1).drag_to(items.nth(0))
    assert _sources(page) == ["wikipedia", "reference"]
    page.get_by_role("checkbox", name="reference").uncheck()
    expect(status).to_have_text("reference is not asked")
    assert _asked(page)["sources"] == ["wikipedia"]


def test_reload_back_and_a_link_to_a_claim(page: Page) -> None:
    _fill(page)
    _check(page)
    page.locator("#sentence-2").click()
    claim = page.locator(".claim").first
    expect(claim).to_contain_text("Marie Curie was a physicist")
    expect(claim.locator(".evidence").first).to_be_visible()
    link = page.url
    page.reload()
    expect(page.locator("#sentence-2")).to_have_attribute("aria-expanded", "true")
    page.go_back()
    expect(page.locator("#sentence-2")).to_have_attribute("aria-expanded", "false")
    page.go_back()
    assert page.get_by_label("Text to check").input_value() == TEXT
    page.evaluate("sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".claim .evidence").first).to_be_visible()
    expect(page.locator(".claim")).to_contain_text(["Marie Curie was a physicist"])


@pytest.mark.parametrize("sources", ["llm", "web", "reference,web"])
def test_a_link_spends_nothing_by_itself(page: Page, sources: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/#/check?text=Water+boils.&sources={sources}&show=1")
    expect(page.get_by_role("status")).to_have_text("Press Check to judge this text")
    assert not any(url.endswith("/check") for url in asked)


def test_a_running_check_shows_what_there_is_and_can_be_cancelled(
    browser: Browser, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def verifies() -> bool:
        return llm_server.chats[-1].body["tools"][0]["function"]["name"] == "verify_facts"

    llm_server.latency = lambda: 60.0 if verifies() else 0.0
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server.base_url)
    with (
        serve_in_thread(setup(str(tmp_path))) as address,
        browser.new_context(base_url=address) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        _fill(page)
        _settings(page).click()
        page.get_by_label("Model", exact=True).fill("offline-judge")
        _start(page)
        progress = page.get_by_label("Progress")
        expect(progress.locator(".stage.done")).to_contain_text("Claims")
        expect(progress.locator(".stage.running")).to_contain_text("reference 0 of 4")
        expect(page.locator(".sentence", has_text="not judged").first).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator(".headline")).to_have_text("Cancelled: 0 of 4 claims judged")
        expect(page.get_by_role("button", name="Check again")).to_be_visible()
        # Once it answers, the same text is checked, and what that took is said.
        llm_server.latency = lambda: 0.0
        n_before = len(llm_server.chats)
        page.get_by_role("button", name="Check again").click()
        line = progress.locator("summary")
        expect(line).to_contain_text("Done in")
        answered = llm_server.chats[n_before:]
        tokens = sum(one.prompt_tokens + one.completion_tokens for one in answered)
        costs = f"{len(answered)} calls, {tokens:,} tokens, price not known"
        expect(line).to_have_text(re.compile(rf"^Done in [\d.]+ s · {costs}$"))
        table = page.get_by_role("region", name="Calls, tokens and cost")
        expect(table).to_be_hidden()
        line.click()
        expect(table.get_by_role("row", name="extract · offline-judge")).to_be_visible()


@pytest.mark.slow
def test_ten_checks_of_eighty_claims_are_read_again_without_a_call(
    browser: Browser, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server.base_url)
    usual = setup(str(tmp_path))
    unhurried = replace(usual.limits, reads_per_minute=10**6)
    results: dict[str, str] = {}
    with serve_in_thread(replace(usual, limits=unhurried)) as address:
        with closing(browser.new_context(base_url=address)) as context:
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            for text in range(10):
                claims = [f"Town {n} of land {text} has {n + text} gates." for n in range(80)]
                known = [
                    claims[n] if n % 2 else f"Town {n} of land {text} is old." for n in range(80)
                ]
                page.goto("about:blank")
                page.goto("/#/check?judge=llm&model=offline-judge&sources=reference")
                page.get_by_label("Text to check").fill(" ".join(claims))
                page.get_by_label("Reference 1", exact=True).fill(" ".join(known))
                _start(page)
                page.wait_for_url(re.compile("#/results/"))
                expect(page.get_by_text("Done in")).to_be_visible()
                results[page.url] = page.locator(".headline").inner_text()
                assert "80 claims" in results[page.url]
            calls = len(llm_server.requests)
            assert calls >= 10
            page.reload()
            expect(page.locator(".headline")).to_have_text(results[page.url])
        with closing(browser.new_context(base_url=address)) as context:
            other = context.new_page()
            other.set_default_timeout(PATIENCE)
            for link, headline in results.items():
                other.goto(f"{link}?sentence=79")
                other.reload()
                expect(other.locator(".headline")).to_have_text(headline)
                expect(other.locator("#sentence-79")).to_have_attribute("aria-expanded", "true")
    assert len(results) == 10
    assert len(llm_server.requests) == calls
