"""Files of responses: chosen, recognised, mapped, evaluated, followed, deleted."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, Locator, Page, Route, expect

from tests.parts import PATIENCE
from tests.transforms.test_recognise import READ, REFUSED, TEXTS
from tests.webapp.conftest import leave_upload
from tests.webapp.test_uploads import WAITING
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread

WINDOWS = [(1280, 900), (390, 844)]
LINE = {"response": "Oslo is big.", "reference_answers": ["Oslo is big."]}


@pytest.fixture
def own(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a page of a service over a folder of its own, which evaluates by a command."""
    opened = []

    def page_of(*evaluate: str) -> Page:
        service_setup = setup(str(tmp_path))
        service = serve_in_thread(
            replace(service_setup, evaluate=evaluate) if evaluate else service_setup
        )
        page = browser.new_page(base_url=service.__enter__())
        page.set_default_timeout(PATIENCE)
        opened.append((page, service))
        return page

    yield page_of
    for page, service in opened:
        page.close()
        service.__exit__(None, None, None)


def _payload(name: str, content: str | bytes) -> FilePayload:
    body = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "text/plain", "buffer": body}


def _choose(page: Page, *files: FilePayload, by: str = "Choose files") -> None:
    """Choose files in the window that the browser opens."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=by).click()
    chooser.value.set_files(list(files))


def _file(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def _uploads(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Uploads").get_by_role("row", name=name)


def _evaluate(page: Page) -> Locator:
    return page.get_by_role("button", name="Evaluate", exact=True)


def _no_faults(page: Page) -> None:
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        report = Axe().run(page)
        assert report.violations_count == 0, report.generate_report()


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_a_file_can_be_chosen_on_the_first_view(
    page: Page, shots: Path | None, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    offer = page.get_by_role("button", name="or evaluate a file of responses")
    expect(offer).to_be_in_viewport(ratio=1)
    _choose(page, _payload("mine.jsonl", json.dumps(LINE) + "\n"), by="evaluate a file")
    expect(_file(page, "mine.jsonl")).to_contain_text("a JSON object, 2 columns")
    expect(_evaluate(page)).to_be_enabled()
    if shots:
        page.screenshot(path=shots / f"files-one-{width}.png", full_page=True)


@pytest.mark.parametrize("name", READ)
def test_what_a_file_is_stands_beside_its_name(page: Page, name: str) -> None:
    content, kind, _, fields = READ[name]
    page.goto("/#/runs")
    _choose(page, _payload("mine", content))
    expect(_file(page, "mine")).to_contain_text(f"{kind}, ")
    expect(page.get_by_label("response", exact=True)).to_have_value(fields["response"])
    expect(_evaluate(page)).to_be_enabled()


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_wrong_files_are_named_with_what_to_do_and_cannot_be_sent(
    page: Page, shots: Path | None, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/#/runs")
    wrong = REFUSED | {name: (body, "paste it into “Text") for name, body in TEXTS.items()}
    _choose(page, *(_payload(name, body) for name, (body, _) in wrong.items()))
    for name, (_, message) in wrong.items():
        expect(_file(page, name)).to_contain_text(message, ignore_case=True)
    expect(_evaluate(page)).to_be_disabled()
    expect(page.get_by_text("None of these files can be evaluated")).to_be_visible()
    _no_faults(page)
    if shots:
        page.screenshot(path=shots / f"files-wrong-{width}.png", full_page=True)
    # The others stay when one is removed.
    _file(page, "a PDF").get_by_role("button", name="Remove a PDF").click()
    expect(_file(page, "a PDF")).to_have_count(0)
    expect(_file(page, "Excel")).to_be_visible()
    assert page.evaluate("document.activeElement.ariaLabel").startswith("Remove ")


def test_a_file_with_a_text_is_taken_as_the_text(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Text to check").fill("My own.")
    _choose(page, _payload("essay.txt", "Oslo is big."), by="evaluate a file")
    page.get_by_role("button", name="Check it as a text").click()
    expect(page.get_by_label("Text to check")).to_have_value("Oslo is big.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Text to check")).to_have_value("My own.")


DRAGGED = """(type, names) => {
  const data = new DataTransfer();
  for (const name of names) data.items.add(new File(['{"response": "Oslo is big."}'], name));
  document.body.dispatchEvent(
    new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }),
  );
}"""


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_files_may_be_dropped_anywhere(
    page: Page, shots: Path | None, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/")
    drag = DRAGGED.replace("(type, names)", "([type, ...names])")
    hint = page.get_by_text("Drop files of responses to evaluate them")
    page.evaluate(drag, ["dragover", "a"])
    expect(hint).to_be_in_viewport(ratio=1)
    _no_faults(page)
    if shots:
        page.screenshot(path=shots / f"files-drop-{width}.png")
    page.evaluate(drag, ["dragleave", "a"])
    expect(hint).to_have_count(0)
    page.evaluate(drag, ["dragover", "a"])
    page.evaluate(drag, ["drop", "one.jsonl", "two.jsonl"])
    expect(hint).to_have_count(0)
    for name in ("one.jsonl", "two.jsonl"):
        expect(_file(page, name)).to_contain_text("a JSON object, 1 column")


def test_a_file_that_changes_after_it_was_chosen_is_chosen_again(
    page: Page, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text(json.dumps(LINE))
    page.goto("/#/runs")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(mine)
    expect(_evaluate(page)).to_be_enabled()
    mine.write_text(json.dumps(LINE) * 2)
    _evaluate(page).click()
    expect(_file(page, "mine.jsonl").get_by_role("alert")).to_contain_text("moved or changed")


def test_columns_are_recognised_and_mapped(page: Page) -> None:
    page.route("**/upload?*", lambda route: route.abort())
    page.goto("/#/runs")
    _choose(page, _payload("a.tsv", "foo\tprompt\nOslo is big.\tHow is Oslo?\n"))
    message = "Say which column has the responses"
    expect(_file(page, "a.tsv")).to_contain_text(message)
    expect(_evaluate(page)).to_be_disabled()
    page.get_by_label("question (optional)").select_option("none")
    page.get_by_label("response", exact=True).select_option("foo")
    page.get_by_label("question (optional)").select_option("prompt")
    expect(_file(page, "a.tsv")).not_to_contain_text(message)
    with page.expect_request("**/upload?*") as asked:
        _evaluate(page).click()
    query = parse_qs(urlsplit(asked.value.url).query)
    assert query == {"name": ["a.tsv"], "map": ["question=prompt,response=foo"]}
    expect(_file(page, "a.tsv").get_by_role("alert")).to_contain_text("The service does not answer")
    expect(_evaluate(page)).to_be_enabled()


def test_a_file_is_evaluated_followed_opened_and_corrected_by_a_label(page: Page) -> None:
    line = {"response": "Oslo is big. Oslo is old.", "reference_answers": ["Oslo is big."]}
    page.goto("/#/runs")
    _choose(page, _payload("mine.jsonl", json.dumps(line | {"model": "m"}) + "\n"))
    expect(page.get_by_label("model (optional)")).to_have_value("model")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    row = page.get_by_role("region", name="Uploads").get_by_role("row", name="mine.jsonl")
    expect(row).to_contain_text("finished")
    row.get_by_role("button", name="Open").click()
    overview = page.get_by_role("region", name="Overview")
    expect(overview.get_by_role("heading")).to_have_text("1 of 2 claims supported, 1 not found")
    expect(overview.get_by_role("img", name="who decided: reference 50 %")).to_be_visible()
    expect(overview).not_to_contain_text("Corrected by people")
    responses = page.get_by_role("region", name="Responses of the run")
    expect(responses.get_by_role("row").nth(1)).to_contain_text("1 of 2 supported")
    page.locator(".excerpt .link").click()
    asked = page.get_by_role("group", name="Is the verdict right?")
    comment = asked.get_by_label("Comment")

    def typing(saving: Route) -> None:
        comment.fill("=not so big")
        saving.continue_()

    page.route("**/labels", typing, times=1)
    asked.get_by_role("button", name="Wrong").click()
    expect(asked.get_by_text("saved", exact=True)).to_be_visible()
    with page.expect_response("**/labels"):
        comment.press("Tab")
    page.reload()
    expect(comment).to_have_value("=not so big")
    expect(asked.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="←").click()
    expect(overview).to_contain_text("Corrected by people 0.000, from 1 label")
    with page.expect_download() as file:
        page.get_by_role("link", name="Download your labels").click()
    assert ",0,'=not so big" in file.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_several_files_become_several_runs_and_a_wrong_one_is_left_out(
    page: Page, shots: Path | None, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/#/runs")
    names = [f"{width}-one.csv", f"{width}-two.jsonl"]
    _choose(
        page,
        _payload(names[0], "answer;key\nOslo is big.;1\n"),
        _payload("wrong.pdf", b"%PDF-1.7"),
        _payload(names[1], json.dumps(LINE)),
    )
    expect(_file(page, names[0])).to_contain_text("response from answer, id from key")
    expect(_file(page, "wrong.pdf")).to_contain_text("It is a PDF; give the text of it.")
    _no_faults(page)
    if shots:
        page.screenshot(path=shots / f"files-several-{width}.png", full_page=True)
    _evaluate(page).click()
    for name in names:
        expect(_uploads(page, name)).to_contain_text("finished")
        expect(_file(page, name)).to_have_count(0)
    expect(_file(page, "wrong.pdf")).to_be_visible()
    if shots:
        page.screenshot(path=shots / f"files-finished-{width}.png", full_page=True)
    # A run that is deleted cannot be opened from its upload.
    upload = _uploads(page, names[1])
    runs = page.get_by_role("region", name="Finished runs")
    runs.get_by_role("button", name=f"Delete {names[1]}").click()
    expect(upload.get_by_role("button", name="Delete")).to_be_visible()
    expect(upload.get_by_role("button", name="Open")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(upload.get_by_role("button", name="Open")).to_be_visible()
    # The row goes and comes back; the run stays.
    _uploads(page, names[0]).get_by_role("button", name="Delete").click()
    expect(_uploads(page, names[0])).to_have_count(0)
    assert page.evaluate("document.activeElement.ariaLabel").startswith("Delete ")
    expect(page.get_by_role("region", name="Finished runs").get_by_text(names[0])).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(_uploads(page, names[0])).to_contain_text("finished")
    page.reload()
    expect(_uploads(page, names[0])).to_contain_text("finished")


def test_what_is_under_way_tells_its_progress_all_the_time(
    own: Callable[..., Page], shots: Path | None
) -> None:
    page = own("python", "-S", "-c", WAITING)
    page.goto("/#/runs")
    _choose(page, _payload("mine.jsonl", json.dumps(LINE)))
    _evaluate(page).click()
    row = _uploads(page, "mine.jsonl")
    expect(row).to_contain_text("2 of 5 · 1 s")
    expect(row).to_contain_text("2 of 5 · 2 s")
    expect(row).to_contain_text("2 of 5 · 3 s")
    if shots:
        page.screenshot(path=shots / "files-running.png")
    row.get_by_role("button", name="Stop").click()
    expect(row).to_contain_text("stopped")
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("heading", name="Evaluate files")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("stopped")


def test_bytes_are_counted_while_a_file_is_sent(page: Page) -> None:
    page.goto("/#/runs")
    seen: list[str] = []

    def sending(route: Route) -> None:
        seen.append(_file(page, "mine.jsonl").get_by_role("status").inner_text())
        route.abort()

    page.route("**/upload?*", sending)
    _choose(page, _payload("mine.jsonl", (json.dumps(LINE) + "\n") * 30_000))
    _evaluate(page).click()
    expect(_file(page, "mine.jsonl").get_by_role("alert")).to_be_visible()
    assert seen[0].startswith("Sent 0 kB of 2 MB")


@pytest.mark.parametrize("wrong", ["a column", "the content"])
def test_what_fails_speaks_of_the_page_and_is_not_resumed(
    own: Callable[..., Page], wrong: str
) -> None:
    page = own()
    page.goto("/#/runs")

    def otherwise(route: Route) -> None:
        # The file is changed after the page has read its beginning, or has no such column.
        if wrong == "a column":
            route.continue_(url=route.request.url.replace("%3Dtext", "%3Dother"))
        else:
            route.continue_(post_data='{"other": "Oslo is big."}\n')

    page.route("**/upload?*", otherwise)
    _choose(page, _payload("mine.jsonl", '{"text": "Oslo is big."}\n'))
    _evaluate(page).click()
    row = _uploads(page, "mine.jsonl")
    expect(row).to_contain_text("failed")
    expect(row).to_contain_text("Change the file or its columns")
    expect(row).not_to_contain_text("--")
    expect(row).not_to_contain_text("command")
    expect(row.get_by_role("button", name="Resume")).to_have_count(0)
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_a_stopped_upload_is_resumed(browser: Browser, tmp_path: Path) -> None:
    line = {"response": "Oslo is big.", "reference_answers": ["Oslo is big."]}
    leave_upload(tmp_path, json.dumps(line) + "\n")
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto("/#/runs")
        row = page.get_by_role("region", name="Uploads").get_by_role("row", name="mine")
        expect(row).to_contain_text("stopped")
        assert Axe().run(page).violations_count == 0
        row.get_by_role("button", name="Resume").click()
        expect(row).to_contain_text("finished")
        row.get_by_role("button", name="Open").click()
        overview = page.get_by_role("region", name="Overview")
        expect(overview.get_by_role("heading")).to_have_text("1 of 1 claim supported")
        page.close()


def test_thousands_of_an_upload_are_set_off(browser: Browser, tmp_path: Path) -> None:
    leave_upload(tmp_path, "\n" * 1_200)
    with serve_in_thread(setup(str(tmp_path))) as address:
        page = browser.new_page(base_url=address)
        page.goto("/#/runs")
        expect(page.get_by_role("row", name="mine")).to_contain_text("0 of 1,200")
        page.close()
