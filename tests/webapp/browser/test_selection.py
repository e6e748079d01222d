"""Ticking evidence on and off: the service is asked for the scores, shown beside the original."""

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

ALDER = "/#/runs/demo/responses/alder-1"


def _values(page: Page) -> list[str]:
    values = page.get_by_label("Scores").locator("strong").all_text_contents()
    return [re.findall(r"\d\.\d+", value)[0] for value in values]


def test_a_document_off_moves_every_score_and_reset_brings_it_back(page: Page) -> None:
    page.goto(f"{ALDER}?sentence=2")
    panel = page.get_by_label("Evidence that counts")
    expect(page.get_by_label("Scores")).to_be_visible()
    before = _values(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    panel.get_by_label("Nile", exact=True).uncheck()
    expect(page.get_by_label("Scores")).to_contain_text("was 0.500 with all evidence")
    expect(page.locator("#sentence-2 .chip").first).to_have_text("? not found")
    assert _values(page) == ["0.167", "0.500", "0.333", "0.400"]
    expect(page.locator(".headline")).to_have_text(
        "1 of 6 claims supported, 1 contradicted, 2 not found, 2 errors"
    )
    expect(page.locator(".claim-facts .chip").first).to_have_text("? not found")
    ours = [url for url in asked if "/page/" not in url]
    assert [url.rpartition("/")[2] for url in ours] == ["score"]
    page.reload()
    expect(panel.get_by_label("Nile", exact=True)).not_to_be_checked()
    panel.get_by_role("button", name="Reset").click()
    expect(page.get_by_label("Scores")).not_to_contain_text("with all evidence")
    assert _values(page) == before
    # A tick at the evidence is the same tick.
    page.locator(".evidence").first.get_by_label("Count Nile").uncheck()
    expect(panel.get_by_label("Nile", exact=True)).not_to_be_checked()


def test_categories_have_shares_and_are_ticked_for_all(page: Page) -> None:
    page.goto(f"{ALDER}?sentence=2")
    rows = page.get_by_role("region", name="Source categories").get_by_role("row")
    expect(rows).to_have_count(3)
    assert [row.split() for row in rows.all_inner_texts()[1:]] == [
        ["other", "7", "88", "%", "50", "%"],
        ["wiki", "1", "13", "%", "50", "%"],
    ]
    page.get_by_label("other", exact=True).uncheck()
    left_out = page.get_by_label("Result").locator(".before")
    expect(left_out).to_contain_text("Left out: 7 of 13 pieces of evidence.")
    expect(left_out).to_contain_text(
        "With all evidence: 2 of 6 claims supported, 1 contradicted, 1 not found, 2 errors; "
        "factuality score 0.333"
    )
    assert _values(page) == ["0.167", "1.000", "0.167", "1.000"]
    page.locator("#sentence-0").click()
    expect(page.locator(".claim-facts .chip").first).to_have_text("☐ not found (ticked off)")


def test_the_old_scores_stay_until_the_new_ones_are_there(page: Page) -> None:
    held: list[Route] = []
    page.route("**/score", lambda route: held.append(route))
    page.goto(ALDER)
    expect(page.get_by_label("Scores")).to_be_visible()
    before = _values(page)
    with page.expect_request("**/score"):
        page.get_by_label("other", exact=True).uncheck()
    assert _values(page) == before
    expect(page.get_by_label("Result")).not_to_contain_text("all evidence:")
    page.get_by_label("wiki", exact=True).uncheck()  # asked for once the first is answered
    with page.expect_request("**/score") as asked:
        held[0].continue_()
    body: Any = asked.value.post_data_json
    assert body["without_categories"] == ["other", "wiki"]
    # Scores that cannot be updated stay as they were.
    page.unroute("**/score")
    page.route("**/score", lambda route: route.abort())
    page.goto("about:blank")
    page.goto(ALDER)
    expect(page.get_by_label("Scores")).to_be_visible()
    page.get_by_label("other", exact=True).uncheck()
    expect(page.get_by_role("alert").first).to_contain_text("The scores were not updated")
    assert _values(page) == before
