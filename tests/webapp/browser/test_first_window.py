"""The text is the page: its first sentence is in the first window, whatever is said above it."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.webapp.browser.hard_run import RESPONSES
from tests.webapp.browser.windows import begins_low

RESULT = "0123456789abcdef" * 2


def keep(page: Page, name: str, **ends: Any) -> None:
    """Have the service keep what a check found, as it found it for a response of the run."""

    def answer(route: Route) -> None:
        whole = page.request.get(f"/runs/hard/responses/{quote(name)}").json()
        text, question = whole["response"]["text"], whole["response"]["question"]
        request = {"text": text, "question": question, "references": []}
        kept = {"run": None, "id": RESULT, "problem": None, "request": request, **ends}
        route.fulfill(json=whole | kept)

    page.route(f"**/results/{RESULT}", answer)


@pytest.mark.parametrize("name", RESPONSES)
def test_of_a_response_of_a_run(page: Page, shots: Path | None, name: str) -> None:
    # The way back has the title of the run, which is long.
    page.goto("/#/runs/hard")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.goto(f"/#/runs/hard/responses/{quote(name)}")
    expect(page.locator(".sentence").first).to_be_visible()
    assert begins_low(page, shots, f"response-{name}") == {}


@pytest.mark.parametrize("status", ["done", "cancelled"])
@pytest.mark.parametrize("name", RESPONSES)
def test_of_a_check(page: Page, shots: Path | None, name: str, status: str) -> None:
    keep(page, name, status=status, seconds=61.5)
    page.goto(f"/#/results/{RESULT}")
    expect(page.locator(".sentence").first).to_be_visible()
    assert begins_low(page, shots, f"{status}-{name}") == {}


@pytest.mark.parametrize("name", [name for name, one in RESPONSES.items() if one.letters])
def test_with_evidence_ticked_off(page: Page, shots: Path | None, name: str) -> None:
    keep(page, name, status="done", seconds=3.0)
    page.goto(f"/#/results/{RESULT}?without_category=wiki")
    expect(page.locator(".before")).to_be_visible()
    assert begins_low(page, shots, f"ticked-{name}") == {}
