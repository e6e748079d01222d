"""A check that ends early, at five moments: what was found stays, and the page lives on."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.llm_server import LlmServer
from tests.parts import PATIENCE
from tests.webapp.browser.patient_service import NOT_JUDGED, NOT_READ, patient
from tests.webapp.browser.windows import begins_low
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread

CLAIMS = 100
SENTENCES = [f"The river Sava has {n} old stone bridges." for n in range(CLAIMS)]
SHORT = "Town 1 has 7 old stone bridges."
REFERENCE = "The river Sava has 500 old stone bridges. Town 1 has 7 old stone bridges."


def _at(place: int, word: str) -> str:
    """The text, with the word in one of its sentences."""
    return " ".join([*SENTENCES[:place], f"The town {word} lies in Chile.", *SENTENCES[place:]])


ALL = CLAIMS + 1
MOMENTS = {
    "before the first event": (_at(0, "Lima"), "Reading the text", "before a claim was found"),
    "extraction": (_at(0, NOT_READ), "Reading the text", "before a claim was found"),
    "first verdicts": (_at(15, NOT_JUDGED), f"15 of {ALL} claims", f"15 of {ALL} claims judged, "),
    "late": (_at(CLAIMS, NOT_JUDGED), f"{CLAIMS} of", f"{CLAIMS} of {ALL} claims judged, "),
    "after": (_at(0, "Lima"), "supported", f"of {ALL} claims supported"),
}


class Service:
    """A service in a process of its own, started anew at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        self.port = "0"

    def start(self) -> str:
        """Start it where it does not run, and return its address."""
        address = f"http://127.0.0.1:{self.port}"
        if self.process is not None:
            return address
        words = ["-m", "tests.webapp.browser.patient_service", str(self.folder), self.port]
        self.process = subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        for line in self.process.stderr:
            if match := re.search(r"serving at (\S+:(\d+))", line):
                self.port = match[2]
                return match[1]
        raise AssertionError("the service did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("none"))
    yield service
    service.kill()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Open a page that must not fail in its script."""
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)

    def opened(address: str) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{address}/#/check?sources=reference")
        # What is offered has been loaded.
        expect(page.locator(".settings")).to_contain_text("reference")
        page.get_by_label("Reference 1", exact=True).fill(REFERENCE)
        return page

    yield opened
    context.close()
    assert wrong == []


def _check(page: Page, text: str) -> None:
    page.get_by_label("Text to check").fill(text)
    page.get_by_role("button", name="Check", exact=True).click()


def _ended(page: Page, headline: str) -> None:
    """The page shows what was found, and checks another text."""
    expect(page.locator(".headline")).to_contain_text(headline)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    if "judged" in headline:
        counts = r"\d+ (supported|contradicted|not found)"
        expect(page.locator(".headline")).to_have_text(re.compile(f"{counts}$"))
        page.locator("#sentence-1").click()
        expect(page.locator(".claim .evidence").first).to_be_visible()
        expect(page.locator(f"#sentence-{CLAIMS} .chip").first).to_have_text("… not judged")


def _lives_on(page: Page, back: str = "Edit text") -> None:
    page.get_by_role("button", name=back).click()
    _check(page, SHORT)
    expect(page.get_by_text("Done in")).to_be_visible()
    expect(page.locator(".headline")).to_have_text("1 of 1 claim supported")
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_in_thread(patient(str(tmp_path_factory.mktemp("none")))) as url:
        yield url


@pytest.mark.parametrize("moment", MOMENTS)
def test_cancel_keeps_what_was_found(
    visit: Callable[[str], Page], address: str, shots: Path | None, moment: str
) -> None:
    text, going, headline = MOMENTS[moment]
    page = visit(address)
    held: list[Route] = []
    if moment == "before the first event":
        page.route("**/check", lambda route: held.append(route))
    _check(page, text)
    expect(page.locator(".headline")).to_contain_text(going)
    assert begins_low(page, shots, f"at {moment}") == {}
    if moment == "after":
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    else:
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_label("Progress")).to_contain_text("Check again starts anew")
    assert begins_low(page, shots, f"cancelled {moment}") == {}
    _ended(page, headline)
    page.unroute("**/check")
    _lives_on(page)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_service_that_is_killed_leaves_what_was_found(
    visit: Callable[[str], Page], process: Service, moment: str
) -> None:
    text, going, headline = MOMENTS[moment]
    page = visit(process.start())

    def killed(route: Route) -> None:
        process.kill()
        route.continue_()

    if moment == "before the first event":
        page.route("**/check", killed)
    _check(page, text)
    if moment != "before the first event":
        expect(page.locator(".headline")).to_contain_text(going)
        process.kill()
    if moment == "after":
        page.get_by_role("button", name="Check again").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The service does not answer")
    expect(alert).to_contain_text("See whether `ufo serve` still runs, then try again.")
    _ended(page, headline)
    page.unroute("**/check")
    process.start()
    _lives_on(page)


STARTED = 'event: started\ndata: {"mode": "seq", "tie": "factual", "sources"'
EMPTY = '{"response": null, "sentences": [{}], "fact_units": [], "failures": [], "usage": []}'


@pytest.mark.parametrize(
    ("stream", "message", "back"),
    [
        (f"{STARTED}\n\n", "The service does not answer", "Edit text"),
        (
            f"{STARTED}: []}}\n\nevent: extracted\ndata: {EMPTY}\n\n",
            "The page cannot show this",
            "Back to the text",
        ),
    ],
    ids=["ends too early", "has an event of another form"],
)
def test_a_damaged_stream_ends_in_a_message(
    visit: Callable[[str], Page], address: str, stream: str, message: str, back: str
) -> None:
    page = visit(address)
    kind = "text/event-stream"
    page.route("**/check", lambda route: route.fulfill(content_type=kind, body=stream))
    _check(page, SHORT)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(message)
    if back != "Edit text":
        expect(alert.get_by_role("button", name="Download what was found")).to_be_visible()
    page.unroute("**/check")
    _lives_on(page, back)


def test_who_does_not_answer_is_named(
    visit: Callable[[str], Page],
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    llm_server.latency = lambda: 3_600.0
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server.base_url)
    service_setup = setup(str(tmp_path), flags={"judge": "llm", "model": "offline-judge"})
    # The defaults make it four seconds; here it is at once.
    limits = replace(service_setup.limits, pulse_seconds=0.05, silent_seconds=0.05)
    assert service_setup.limits.pulse_seconds + service_setup.limits.silent_seconds < 5
    with serve_in_thread(replace(service_setup, limits=limits)) as address:
        page = visit(address)
        _check(page, SHORT)
        progress = page.get_by_label("Progress")
        expect(progress).to_contain_text(f"No answer from {llm_server.base_url} for")
        expect(page.get_by_role("status")).to_contain_text(f"No answer from {llm_server.base_url}")
        page.get_by_role("button", name="Cancel").click()
        expect(progress).not_to_contain_text("No answer")


def test_a_service_that_falls_silent_is_named(visit: Callable[[str], Page], address: str) -> None:
    page = visit(address)
    page.clock.install()
    held: list[Route] = []
    page.route("**/check", lambda route: held.append(route))
    _check(page, SHORT)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.clock.fast_forward(4_000)
    progress = page.get_by_label("Progress")
    expect(progress).to_contain_text("No answer from the service for 4 s. Still waiting; Cancel")
    held[0].continue_()
    expect(page.get_by_text("Done in")).to_be_visible()
    expect(progress).not_to_contain_text("No answer")
