"""A real Chromium, the real service, and a folder of runs with every state."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

from tests.conftest import rows_of, write_run
from tests.parts import PATIENCE
from tests.webapp.browser.demo_run import demo_rows
from tests.webapp.browser.hard_run import LONG_TITLE, hard_rows
from ufo.pipelines.commands.serve import setup
from ufo.webapp.server import serve_in_thread


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder, demo_rows(), name="demo")
    write_run(folder, hard_rows(), name="hard", title=LONG_TITLE)
    many = {f"r{n:02}": {f"u{n}": {"ref": "s" if n % 3 else "r"}} for n in range(60)}
    models = {name: ("even", "odd")[int(name[1:]) % 2] for name in many}
    write_run(
        folder,
        rows_of(many, sources=("ref",), models=models, datasets=dict.fromkeys(many, "set")),
        name="many",
        finished_at="2025-05-01T12:00:00+00:00",
    )
    return folder


@pytest.fixture(scope="session")
def service(runs: Path) -> Iterator[str]:
    keys = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SERPER_API_KEY", "SERPER_BASE_URL")
    with pytest.MonkeyPatch.context() as patch:
        for key in keys:
            patch.delenv(key, raising=False)
        usual = setup(str(runs))
        # As many requests are taken as tests send at once.
        unhurried = replace(usual.limits, reads_per_minute=10**6, writes_per_minute=10**6)
        with serve_in_thread(replace(usual, limits=unhurried)) as address:
            yield address


@pytest.fixture
def page(browser: Browser, service: str) -> Iterator[Page]:
    """A page that must not fail, log an error, break the policy, or ask anybody else."""
    context = browser.new_context(base_url=service, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))

    def logged(message: ConsoleMessage) -> None:
        # Chromium logs every refusal of the service; the page's own files are looked at apart.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            wrong.append(f"log: {message.text}")

    def answered(answer: Response) -> None:
        if "/page/" in answer.url and not answer.ok and answer.status != 304:
            wrong.append(f"{answer.status}: {answer.url}")

    def requested(asked: Request) -> None:
        if not asked.url.startswith((service, "data:", "blob:")):
            wrong.append(f"asked: {asked.url}")

    page.on("console", logged)
    page.on("response", answered)
    page.on("request", requested)
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def shots(pytestconfig: pytest.Config) -> Path | None:
    """Where screenshots are kept: `--screenshots DIR`; without it none are taken."""
    option = pytestconfig.getoption("--screenshots", default=None)
    if option is None:
        return None
    folder = Path(option)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
