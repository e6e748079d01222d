"""Ticking evidence on and off: every score follows at once, beside the original."""

from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Page, expect

from schemas.results import Results
from schemas.runs import finished_runs

ALDER = "/#/runs/demo/responses/alder-1"


def _values(page: Page) -> list[str]:
    values = page.get_by_label("Scores").locator(".score .value").all_inner_texts()
    return [value.split()[0] for value in values]


def test_a_document_off_moves_every_score_and_reset_brings_it_back(page: Page) -> None:
    page.goto(f"{ALDER}?sentence=2")
    panel = page.get_by_label("Evidence that counts")
    expect(page.get_by_label("Scores")).to_be_visible()
    before = _values(page)
    asked: list[str] = []
    page.on("request", lambda request: "/page/" in request.url or asked.append(request.url))
    panel.get_by_label("Nile", exact=True).uncheck()
    expect(page.get_by_label("Scores")).to_contain_text("was 0.50 with all evidence")
    assert _values(page) == ["0.40", "0.17", "0.50", "0.33"]
    expect(page.locator("#sentence-2 .chip").first).to_have_text("? unsupported 0/1")
    expect(page.locator(".claim-facts .chip").first).to_have_text("? Not answered")
    assert asked == []
    page.reload()
    expect(panel.get_by_label("Nile", exact=True)).not_to_be_checked()
    panel.get_by_role("button", name="Reset").click()
    expect(page.get_by_label("Scores")).not_to_contain_text("with all evidence")
    assert _values(page) == before


def test_a_tick_at_the_evidence_is_the_same_tick(page: Page) -> None:
    page.goto(f"{ALDER}?sentence=2")
    page.locator(".evidence").nth(1).get_by_label("Count Nile").uncheck()
    expect(page.get_by_label("Nile", exact=True)).not_to_be_checked()


def test_categories_have_shares_and_are_ticked_for_all(page: Page) -> None:
    page.goto(f"{ALDER}?sentence=2")
    rows = page.get_by_role("region", name="Source categories").get_by_role("row")
    expect(rows).to_have_count(3)
    assert [row.split() for row in rows.all_inner_texts()[1:]] == [
        ["other", "7", "88", "%", "50", "%"],
        ["wiki", "1", "13", "%", "50", "%"],
    ]
    page.get_by_label("other", exact=True).uncheck()
    assert _values(page) == ["1.00", "0.17", "1.00", "0.17"]
    page.locator("#sentence-0").click()
    expect(page.locator(".claim-facts .chip").first).to_have_text("☐ All ticked off")


@pytest.mark.parametrize("off", ["without_category=other", "without=wiki%3Anile-1"])
def test_the_sql_gives_the_same_scores(page: Page, runs: Path, off: str) -> None:
    page.goto(f"{ALDER}?{off}")
    page.get_by_role("button", name="Copy the SQL").click()
    expect(page.get_by_role("status")).to_have_text("SQL copied")
    sql = page.evaluate("navigator.clipboard.readText()")
    with Results(finished_runs(runs)) as results:
        (row,) = results.query(sql).to_pylist()
    shown = [row[name] for name in ("credibility", "factuality_score", "decided_score", "coverage")]
    assert [f"{value:.2f}" for value in shown] == _values(page)


def test_the_sql_of_a_pasted_text_brings_its_rows(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Start from an example").select_option(index=1)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("Done in")).to_be_visible()
    page.get_by_label("other", exact=True).uncheck()
    expect(page.get_by_label("Scores")).to_contain_text("with all evidence")
    page.get_by_role("button", name="Copy the SQL").click()
    expect(page.get_by_role("status")).to_have_text("SQL copied")
    sql = page.evaluate("navigator.clipboard.readText()")
    (row,) = duckdb.connect().sql(sql).to_arrow_table().to_pylist()
    shown = [row[name] for name in ("credibility", "factuality_score", "decided_score", "coverage")]
    assert [f"{value:.2f}" for value in shown] == _values(page)
