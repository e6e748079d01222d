"""Runs: overview, responses with filters, sort and paging; comparisons; reports."""

import re
from pathlib import Path

from filelock import FileLock
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import rows_of, write_run
from tests.parts import PATIENCE
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread


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
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto("/#/runs/one/responses/r")
        asked = page.get_by_role("group", name="Is the verdict right?")
        notes: list[str] = []

        def first(saving: Route) -> None:
            asked.get_by_role("button", name="Agree").click()
            saving.continue_()

        def second(saving: Route) -> None:
            notes.append(asked.inner_text())
            saving.continue_()

        # The route that was added last is the first to be asked.
        page.route("**/labels", second, times=1)
        page.route("**/labels", first, times=1)
        asked.get_by_role("button", name="Wrong").click()
        expect(asked.get_by_text("saved", exact=True)).to_be_visible()
        assert len(notes) == 1
        assert "saving…" in notes[0]
        expect(asked.get_by_role("button", name="Agree")).to_have_attribute("aria-pressed", "true")
        page.close()


def test_a_run_is_filtered_sorted_and_paged(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Browse runs").click()
    page.get_by_role("button", name=re.compile("^many")).click()
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


def test_runs_are_searched_sorted_renamed_and_deleted(browser: Browser, tmp_path: Path) -> None:
    for at, (name, letters) in enumerate({"beech": "s", "cedar": "r", "ash": "sr"}.items(), 1):
        votes = {f"r{n}": {f"u{n}": {"ref": one}} for n, one in enumerate(letters)}
        rows = rows_of(votes, ("ref",), models=dict.fromkeys(votes, f"model of {name}"))
        write_run(tmp_path, rows, name, finished_at=f"2025-01-0{at}T00:00:00+00:00", title=name)
    (write_run(tmp_path, rows_of({}), "torn") / "manifest.json").write_text("{")
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto("/#/runs")
        names = page.get_by_role("table", name="Finished runs").locator("tbody th")
        expect(names).to_have_text(["ash", "cedar", "beech", re.compile("torn.*damaged", re.S)])
        row = page.get_by_role("row", name="cedar")
        expect(row).to_contain_text("0.000")
        expect(row).to_contain_text("1 contradicted")
        page.get_by_label("Sort").select_option("-score")
        expect(names).to_have_text(["beech", "ash", "cedar", re.compile("torn")])
        page.get_by_label("Find").fill("MODEL OF")
        page.get_by_label("Find").press("Enter")
        expect(names).to_have_text(["beech", "ash", "cedar"])
        page.reload()
        expect(names).to_have_text(["beech", "ash", "cedar"])
        expect(page.get_by_text("3 of 4 runs")).to_be_visible()
        page.go_back()
        expect(names).to_have_text(["beech", "ash", "cedar", re.compile("torn")])
        page.get_by_role("button", name="Rename ash").click()
        title = page.get_by_label("New title")
        title.press("Escape")
        expect(title).to_have_count(0)
        page.get_by_role("button", name="Rename ash").click()
        title.fill("دردار")
        title.press("Enter")
        expect(names.nth(1)).to_have_text("دردار")
        page.get_by_role("button", name="Undo").click()
        expect(names.nth(1)).to_have_text("ash")
        with FileLock(tmp_path / "run=ash" / ".lock"):
            page.get_by_role("button", name="Delete ash").click()
            expect(names.nth(1)).to_contain_text("is being evaluated again")
        page.get_by_role("button", name="Delete ash").click()
        expect(names).to_have_text(["beech", "cedar", re.compile("torn")])
        # The focus goes to the next row, from the last one to the one before.
        expect(page.get_by_role("button", name="Delete cedar")).to_be_focused()
        page.reload()
        expect(names).to_have_text(["beech", "cedar", re.compile("torn")])
        page.get_by_role("button", name="Delete torn").press("Enter")
        expect(names).to_have_text(["beech", "cedar"])
        expect(page.get_by_role("button", name="Delete cedar")).to_be_focused()
        page.get_by_role("button", name="Undo").click()
        expect(names).to_have_count(3)
        page.close()


def test_contradictions_disagreement_and_failures_are_found_and_opened(page: Page) -> None:
    page.goto("/#/runs/demo")
    overview = page.get_by_role("region", name="Overview")
    expect(overview.get_by_role("heading", name="claims supported")).to_be_visible()
    expect(overview).to_contain_text("1 request, 99 tokens, $0.0021")
    doubtful = page.get_by_role("region", name="Contradicted claims").get_by_role("listitem")
    doubtful.filter(has_text="What is so?").get_by_role("button").first.click()
    expect(page.locator("#sentence-1")).to_have_attribute("aria-expanded", "true")
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


def test_all_contradicted_claims_are_paged_and_downloaded(browser: Browser, tmp_path: Path) -> None:
    votes = {f"r{n:02}": {f"u{n:02}": {"ref": "r"}} for n in range(60)}
    write_run(tmp_path, rows_of(votes, ("ref",)))
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto("/#/runs/r1?sort=id&page=2")
        claims = page.get_by_role("region", name="Contradicted claims")
        expect(claims.get_by_role("heading")).to_have_text("Contradicted claims 1 to 50 of 60")
        expect(claims.get_by_role("listitem")).to_have_count(50)
        claims.get_by_role("button", name="Next page").click()
        expect(claims.get_by_role("heading")).to_have_text("Contradicted claims 51 to 60 of 60")
        last = claims.get_by_role("listitem").last
        expect(last).to_contain_text("what ref says of u59")
        responses = page.get_by_label("Responses", exact=True).first.get_by_role("status")
        expect(responses).to_have_text("60 responses, page 2 of 2")
        page.reload()
        expect(last).to_contain_text("Claim u59.")
        with page.expect_download() as file:
            claims.get_by_role("link", name="All of them as CSV").click()
        assert file.value.path().read_text().count("\nr") == 60
        last.get_by_role("button").click()
        expect(page.locator("#sentence-0")).to_have_attribute("aria-expanded", "true")
        assert page.url.endswith("/responses/r59?sentence=0&claim=u59")
        page.go_back()
        expect(last).to_contain_text("Claim u59.")
        page.close()


# Texts of a plot that leave it, or stand on each other; those without a width are not shown.
MISPLACED = """() => [...document.querySelectorAll("svg.chart")].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.getBBox().width > 0);
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const out = texts.filter((text, at) => boxes[at].left < whole.left - 1
    || boxes[at].right > whole.right + 1 || boxes[at].bottom > whole.bottom + 1);
  const over = texts.filter((text, at) => boxes.some((box, other) => other > at
    && boxes[at].left < box.right && box.left < boxes[at].right
    && boxes[at].top + 2 < box.bottom && box.top + 2 < boxes[at].bottom));
  return [...out, ...over].map((text) => text.textContent);
})"""
LONG_NAMES = {
    "words": "meta-llama/Llama-3.1-405B-Instruct-Turbo-" + "quantized-" * 7,
    "wide": "M" * 60 + "W" * 60,
    "capitals": "WWWWWWWWWWWWWWWWWWWWWWWWWW",
    "Chinese": "通义千问大模型增强版二零二五年六月发布正式版本" * 3,
    "Arabic": "نموذج-اللغة-العربية-الكبير-ذو-الاسم-الطويل-" * 2,
    "emoji": "😀" * 60,
    "not judged": "q" * 90,
}


def test_long_names_fit_into_plots_and_lists(browser: Browser, tmp_path: Path) -> None:
    votes = {key: {f"{key}{n}": {"ref": "r" if n else "s"} for n in (0, 1)} for key in LONG_NAMES}
    votes["not judged"] = {"x": {"ref": "e"}}
    rows = rows_of(votes, ("ref", "a-source-of-a-long-name-" * 4), models=LONG_NAMES)
    write_run(tmp_path, rows, "names", title="T" * 200)
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        for width, height in ((1280, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto("/#/runs/names")
            expect(page.get_by_role("img", name="factuality score")).to_be_visible()
            assert page.evaluate(MISPLACED) == []
            assert page.locator("svg title", has_text=LONG_NAMES["wide"]).count() > 0
            for place in ("/#/runs/names", "/#/runs", "/#/runs/names/compare"):
                page.goto(place)
                expect(page.locator("tbody tr, .report").first).to_be_visible()
                assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.goto("/#/runs")
        page.close()


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
    page.goto("/#/runs/demo/reports")
    scores = page.get_by_role("region", name="Scores", exact=True)
    expect(scores).to_contain_text("Each response: score, coverage and counts of claims")
    report = scores.get_by_role("group").filter(has_text="Scores of each response")
    report.locator("summary").click()
    expect(report.get_by_role("table")).to_contain_text("alder-1")
    assert "alder-1" in _downloaded(page, "All rows as CSV")
    page.goto("/#/runs/demo")
    assert "<h1" in _downloaded(page, "Download the report")
