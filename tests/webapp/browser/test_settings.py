"""The settings: the page shows those of the service that it is of, and sends those that differ."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.llm_server import LlmServer
from tests.parts import PATIENCE
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread

TEXT = "Mount Etna is in Sicily."
PAGE = "/#/check?text=Mount+Etna+is+in+Sicily.&reference=Etna+is+a+volcano+in+Sicily."

CHANGED: Mapping[str, Any] = {
    "mode": "mv",
    "tie": "factual",
    "units": "sentence",
    "passages": 2,
    "samples": 7,
    "temperature": 0.5,
    "sampling": "bundled",
    "pages": 70,
    "passages_per_page": 60,
    "context_sentences": 2,
    "include_categories": "news,wiki",
    "include_domains": "a.org,b.org",
    "exclude_domains": "c.org",
    "judge": "llm",
    "model": "offline-judge",
    "extractor_model": "offline-judge-small",
    "knowledge_model": "offline-knowledge",
}
"""A service that is started with other values than the usual ones."""
FORMS: Mapping[str, Mapping[str, Any]] = {
    "rationale": {"formulation": "rationale", "verdict_labels": "tf"},
    "function": {"formulation": "function", "explain": "none", "citation": True},
}
"""What is of some ways of asking a model alone."""


def value_shown(page: Page, name: str) -> str:
    """The value that holds where nothing is chosen: a select's, or what an empty field says."""
    control = page.locator(f"#setting-{name}")
    tag: str = control.evaluate("one => one.tagName")
    return control.input_value() if tag == "SELECT" else control.get_attribute("placeholder") or ""


def asked(page: Page) -> Any:
    """Check, and return the body of the request."""
    with page.expect_request("**/check") as request:
        page.get_by_role("button", name="Check", exact=True).click()
    return request.value.post_data_json


@pytest.mark.parametrize("form", FORMS)
def test_the_page_shows_the_settings_of_its_service_and_checks_with_them(
    browser: Browser, llm_server: LlmServer, tmp_path: Path, form: str
) -> None:
    flags = {**CHANGED, **FORMS[form], "base_url": llm_server.base_url, "cache": "off"}
    service_setup = setup(str(tmp_path), flags=flags, sources=["wikipedia", "reference"])
    with (
        serve_in_thread(service_setup) as address,
        browser.new_context(base_url=address) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(PAGE)
        page.locator(".settings > summary").click()
        expected = {
            name: str(value).lower() if value is True else str(value)
            for name, value in {**CHANGED, **FORMS[form]}.items()
        }
        assert {name: value_shown(page, name) for name in expected} == expected
        order = page.locator(".order-item:has(:checked) .order-name").all_inner_texts()
        assert order == ["wikipedia", "reference"]
        summary = page.locator(".settings > summary")
        expect(summary).to_have_text(
            "Settings wikipedia, reference · llm (offline-judge) · Multi-MV"
        )
        # Nothing is changed, so nothing is sent, and the service judges as it was started.
        body = asked(page)
        assert body == {"text": TEXT, "question": None, "references": body["references"]}
        expect(page.get_by_text("Done in")).to_be_visible()
        steps = {chat.step for chat in llm_server.chats}
        assert ("verify_facts" in steps) == (form == "function")
        models = {chat.body["model"] for chat in llm_server.chats}
        assert models == {"offline-judge", "offline-judge-small"}


def test_what_is_usual_elsewhere_can_be_chosen(
    browser: Browser, llm_server: LlmServer, tmp_path: Path
) -> None:
    flags = {"base_url": llm_server.base_url, "model": "offline-judge", "cache": "off"}
    service_setup = setup(str(tmp_path), flags={**flags, "formulation": "rationale", "passages": 2})
    with (
        serve_in_thread(service_setup) as address,
        browser.new_context(base_url=address) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(PAGE)
        page.locator(".settings > summary").click()
        how = page.get_by_label("How the model is asked")
        assert how.locator("option:checked").inner_text() == "rationale first (Facts&Evidence)"
        quote = page.get_by_label("A quote with each verdict")
        expect(quote).to_be_disabled()
        how.select_option("function")
        expect(quote).to_be_enabled()
        quote.select_option("true")
        page.get_by_label("Passages of each source").fill("5")
        page.get_by_label("Passages of each source").press("Tab")
        body = asked(page)
        changed = {"formulation": "function", "citation": True, "passages": 5}
        assert {name: body.get(name) for name in changed} == changed
        expect(page.get_by_text("Done in")).to_be_visible()
        assert "verify_facts" in {chat.step for chat in llm_server.chats}
        # Asked in another way, the model gives no quote: what has no effect is not sent.
        page.get_by_role("button", name="Edit text").click()
        page.locator(".settings > summary").click()
        page.get_by_label("How the model is asked").select_option("prompt")
        body = asked(page)
        assert body["formulation"] == "prompt"
        assert "citation" not in body
