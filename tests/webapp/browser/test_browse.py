"""Runs: overview, responses with filters, sort and paging; comparisons; reports."""

from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import rows_of, write_run
from tests.parts import PATIENCE
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import served


def _ids(page: Page) -> list[str]:
    return page.locator(".excerpt .link").all_inner_texts()


def _downloaded(page: Page, name: str) -> str:
    with page.expect_download() as file:
        page.get_by_role("link", name=name).click()
    return file.value.path().read_text(encoding="utf-8")


def test_a_label_is_not_called_saved_while_a_newer_one_waits(
    browser: Browser, tmp_path: Path
) -> None:
    write_run(tmp_path, rows_of({"r": {"u": {"ref": "s"}}}, sources=("ref",)), name="one")
    with served(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto("/#/runs/one/responses/r")
        asked = page.get_by_role("group", name="Is the verdict right?")
        said: list[str] = []

        def first(saving: Route) -> None:
            asked.get_by_role("button", name="Agree").click()
            saving.continue_()

        def second(saving: Route) -> None:
            said.append(asked.inner_text())
            saving.continue_()

        # The route that was added last is the first to be asked.
        page.route("**/labels", second, times=1)
        page.route("**/labels", first, times=1)
        asked.get_by_role("button", name="Wrong").click()
        expect(asked.get_by_text("saved", exact=True)).to_be_visible()
        assert len(said) == 1
        assert "saving…" in said[0]
        expect(asked.get_by_role("button", name="Agree")).to_have_attribute("aria-pressed", "true")
        page.close()


def test_a_run_is_filtered_sorted_and_paged(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Browse runs").click()
    page.get_by_role("button", name="many").click()
    count = page.get_by_label("Responses", exact=True).first.get_by_role("status")
    expect(count).to_have_text("60 responses, page 1 of 2")
    page.get_by_role("button", name="Next page").click()
    expect(count).to_have_text("60 responses, page 2 of 2")
    page.get_by_label("Low score").check()
    expect(count).to_have_text("20 responses, page 1 of 1")
    page.get_by_label("Model", exact=True).select_option("odd")
    expect(count).to_have_text("10 responses, page 1 of 1")
    page.get_by_label("Text", exact=True).fill("r09")
    page.get_by_label("Text", exact=True).press("Enter")
    expect(count).to_have_text("1 response, page 1 of 1")
    assert _ids(page) == ["What of r09?"]
    page.reload()
    expect(count).to_have_text("1 response, page 1 of 1")
    page.get_by_label("Text", exact=True).fill("")
    page.get_by_label("Text", exact=True).press("Enter")
    page.get_by_label("Low score").uncheck()
    expect(count).to_have_text("30 responses, page 1 of 1")
    page.get_by_label("Sort").select_option("-score")
    first = page.locator("tr", has=page.locator(".excerpt")).first
    expect(first.get_by_role("cell").nth(3)).to_have_text("1.000")
    page.get_by_label("Sort").select_option("id")
    expect(page.locator(".excerpt .link").first).to_have_text("What of r01?")


def test_contradictions_disagreement_and_failures_are_found_and_opened(page: Page) -> None:
    page.goto("/#/runs/demo")
    overview = page.get_by_role("region", name="Overview")
    expect(overview.get_by_role("heading", name="claims supported")).to_be_visible()
    doubtful = overview.get_by_role("listitem").filter(has_text="What is so?")
    doubtful.get_by_role("link").first.click()
    expect(page.get_by_role("list", name="Contradicted claims")).to_be_visible()
    page.go_back()
    expect(overview.get_by_role("img", name="factuality score")).to_be_visible()
    count = page.get_by_label("Responses", exact=True).first.get_by_role("status")
    expect(count).to_have_text("3 responses, page 1 of 1")
    page.get_by_label("Sources disagree").check()
    expect(count).to_have_text("1 response, page 1 of 1")
    page.get_by_label("Failures").check()
    expect(count).to_have_text("1 response, page 1 of 1")
    rows = page.get_by_role("region", name="Responses of the run")
    expect(rows.get_by_role("row").nth(1)).to_contain_text("≠ 1 claim disputed, ⚠ 2 errors")
    rows.get_by_role("button", name="What is so?").click()
    expect(page.locator(".sentence")).to_have_count(6)
    page.get_by_role("button", name="Edit text and check again").click()
    assert page.get_by_label("Question it answers").input_value() == "What is so?"
    assert page.get_by_label("Text to check").input_value().startswith("😀 Water boils")


def test_two_models_and_two_runs_are_compared(page: Page) -> None:
    page.goto("/#/runs/demo/compare?question=What%20is%20so%3F")  # with a field that is ignored
    shown = page.get_by_role("region", name="Comparison")
    expect(shown.get_by_role("heading").first).to_contain_text("alder scores")
    page.get_by_label("Model", exact=True).select_option("alder")
    page.get_by_label("and", exact=True).select_option("birch")
    expect(shown.get_by_role("heading").first).to_contain_text("between birch and")
    page.reload()
    expect(shown.get_by_role("heading").first).to_contain_text("between birch and")


def test_reports_stand_in_groups_and_are_downloaded(page: Page) -> None:
    page.goto("/#/runs/demo/reports/scores")  # as it was once called
    scores = page.get_by_role("region", name="Scores", exact=True)
    expect(scores).to_contain_text("Each response: score, coverage and counts of claims")
    report = scores.get_by_role("group").filter(has_text="Scores of each response")
    report.locator("summary").click()
    expect(report.get_by_role("table")).to_contain_text("alder-1")
    assert "alder-1" in _downloaded(page, "All rows as CSV")
    page.goto("/#/runs/demo")
    assert "<h1" in _downloaded(page, "Download the report")
