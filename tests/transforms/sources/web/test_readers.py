"""Documents are read in processes of their own, under a budget, and cost nobody else theirs."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.local_web.documents import attributes, links, slow_pdf
from tests.local_web.pdf import pdf
from tests.transforms.sources.web.pages import PARAGRAPHS, fetched, html
from ufo.schemas.errors import RunError
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.documents import Document
from ufo.transforms.sources.web.readers import Readers


def processes() -> set[str]:
    """The processes that this one has started."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.fixture
def readers() -> Iterator[Readers]:
    with closing(Readers()) as opened:
        yield opened


def test_a_page_is_read_in_one_process(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    before = processes()
    assert readers.read(fetched("", reason="http_404")) == Document(None, "", reason="http_404")
    assert processes() == before  # nothing was read
    document = readers.read(fetched(html()))
    assert document.title == "Lake Veyra"
    assert document.text == "\n".join(PARAGRAPHS)
    assert document.spans == reasons.sentences_of(document.text)
    (reader,) = processes() - before
    assert b"sk-secret" not in Path(f"/proc/{reader}/environ").read_bytes()
    pdf_document = readers.read(fetched(pdf("Lakes", ["The lake is deep."]), "application/pdf"))
    assert "deep" in pdf_document.text
    assert processes() - before == {reader}
    readers.close()
    assert processes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "budget", "lost"),
    [
        (attributes(), {}, {reasons.TOO_MANY_ELEMENTS}),
        (slow_pdf(500_000), {"seconds": 0.5}, {reasons.TOO_SLOW}),
        (slow_pdf(), {"most_bytes": 256 * 2**20}, {reasons.TOO_MUCH_MEMORY, reasons.UNREADABLE}),
        (links(), {}, {reasons.TOO_MANY_ELEMENTS}),
    ],
    ids=["attributes", "slow pdf", "large pdf", "links"],
)
def test_budgets_of_pages(body: bytes, budget: Any, lost: set[str]) -> None:
    with closing(Readers(**budget)) as readers:
        assert readers.read(fetched(html())).reason is None
        kind = "application/pdf" if body.startswith(b"%PDF") else "text/html"
        document = readers.read(fetched(body, kind))
        assert readers.read(fetched(html())).text == "\n".join(PARAGRAPHS)
    assert document.reason in lost
    assert document.text == ""
    assert list(document.spans) == []
    assert document.detail


def test_a_killed_process_is_replaced(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    before = processes()
    for remedy in ("", "no process can be started", "does not start"):
        readers.read(fetched(html()))
        (reader,) = processes() - before
        os.kill(int(reader), signal.SIGKILL)
        with monkeypatch.context() as patch:
            if remedy:
                program = "/bin/false" if "does not" in remedy else "/no/such/python"
                patch.setattr("sys.executable", program)
                for _ in range(2):
                    with pytest.raises(RunError, match=remedy):
                        readers.read(fetched(html()))
        assert readers.read(fetched(html())).title == "Lake Veyra"
