"""docs/papers.md: its commands run as they stand, and print what the page shows.

`UFO_SNAPSHOTS=write` writes what they print into the page; read the difference.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import agrees, blocks, run, with_outputs
from tests.llm_server import LlmServer
from tests.local_web import Engines, Listed, LocalWeb, Reply, html

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/papers.md"
HTML = {"content-type": "text/html; charset=utf-8"}


class Web(LocalWeb):
    """The pages of web.txt, with an engine that knows them by their words."""

    def __init__(self) -> None:
        super().__init__()
        text = Path(__file__).with_name("web.txt").read_text(encoding="utf-8")
        for block in text.strip().split("\n\n"):
            head, *lines = block.split("\n")
            path, title = head.split(" | ")
            self.pages[path] = Reply(html(title, lines), headers=HTML)
            self.listed.append(Listed(path, title, lines[0]))


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llm_server: LlmServer
) -> Iterator[Path]:
    """The folder of a reader of the page: the examples, a model's endpoint and a search engine."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    with (tmp_path / "examples/papers/facts_and_evidence.yaml").open("a") as settings:
        settings.write("allow_private_hosts: true\n")  # the web is on this machine
    with Web() as web, Engines(web) as engines:
        environment = {
            "OPENAI_BASE_URL": llm_server.base_url,
            "MODEL": "offline-judge",
            "SECOND": "offline-judge-small",
            "SERPER_BASE_URL": engines.url,
            "SERPER_API_KEY": "a key",
            "COLUMNS": "80",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


@pytest.mark.slow
def test_every_block_runs_and_prints_what_the_page_shows(reader: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    printed: dict[int, str] = {}
    differ = []
    names: dict[str, object] = {}
    for block in blocks(page):
        output = run(block, names)
        if block.shown is not None:
            printed[block.start] = output
            differ += [] if agrees(output, block.shown) else [output]
    if os.environ.get("UFO_SNAPSHOTS") == "write":
        PAGE.write_text(with_outputs(page, printed), encoding="utf-8")
    else:
        assert not differ, "UFO_SNAPSHOTS=write writes what is printed:\n" + "\n".join(differ)
    assert len(printed) == 3
