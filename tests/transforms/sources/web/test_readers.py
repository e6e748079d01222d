"""Documents are read in processes of their own, under a budget, and cost nobody else theirs."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.local_web.documents import attributes, links, slow_pdf
from tests.transforms.sources.web.pages import PARAGRAPHS, fetched, html, pdf
from ufo.schemas.errors import RunError
from ufo.transforms.sources.web.documents import (
    TOO_MANY_ELEMENTS,
    TOO_MUCH_MEMORY,
    TOO_SLOW,
    UNREADABLE,
    sentences_of,
)
from ufo.transforms.sources.web.readers import Readers

Made = Callable[..., Readers]


@pytest.fixture
def made() -> Iterator[Made]:
    """Readers, closed at the end."""
    opened: list[Readers] = []

    def make(**budget: float) -> Readers:
        opened.append(Readers(**budget))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for readers in opened:
        readers.close()


def processes() -> set[str]:
    """The processes that this one has started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(children.read_text().split())


def test_a_page_comes_with_its_sentences_and_the_process_is_kept(made: Made) -> None:
    readers = made()
    before = processes()
    assert readers.read(fetched("", reason="http_404")).reason == "http_404"
    assert processes() == before  # nothing was read
    document = readers.read(fetched(html()))
    assert (document.title, document.text) == ("Lake Veyra", "\n".join(PARAGRAPHS))
    assert document.spans == sentences_of(document.text)
    started = processes() - before
    assert len(started) == 1
    assert "deep" in readers.read(fetched(pdf("The lake is deep."), "application/pdf")).text
    assert processes() - before == started
    readers.close()
    assert processes() == before


@pytest.mark.parametrize(
    ("body", "kind", "budget", "reasons"),
    [
        (attributes(), "text/html", {}, {TOO_MANY_ELEMENTS}),
        (slow_pdf(500_000), "application/pdf", {"seconds": 0.5}, {TOO_SLOW}),
        (slow_pdf(), "application/pdf", {"most_bytes": 256 * 2**20}, {TOO_MUCH_MEMORY, UNREADABLE}),
        (links(), "text/html", {}, {TOO_MANY_ELEMENTS}),
    ],
    ids=["attributes", "slow pdf", "large pdf", "links"],
)
def test_past_its_budget_a_page_is_a_reason_and_the_next_one_is_read(
    made: Made, body: bytes, kind: str, budget: dict[str, float], reasons: set[str]
) -> None:
    readers = made(**budget)
    assert readers.read(fetched(html())).reason is None
    lost = readers.read(fetched(body, kind))
    assert lost.reason in reasons
    assert (lost.text, list(lost.spans)) == ("", [])
    assert lost.detail
    assert readers.read(fetched(html())).text == "\n".join(PARAGRAPHS)


def test_a_process_that_is_killed_while_it_waits_is_replaced(made: Made) -> None:
    readers = made()
    before = processes()
    readers.read(fetched(html()))
    (reader,) = processes() - before
    os.kill(int(reader), signal.SIGKILL)
    assert readers.read(fetched(html())).reason is None


def test_a_page_finds_no_key_in_the_process_that_reads_it(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    readers = made()
    before = processes()
    readers.read(fetched(html()))
    (reader,) = processes() - before
    assert b"sk-secret" not in Path(f"/proc/{reader}/environ").read_bytes()


def test_where_no_process_starts_the_run_ends(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with pytest.raises(RunError, match="no process can be started"):
        made().read(fetched(html()))
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RunError, match="does not start"):
        made().read(fetched(html()))


def test_once_processes_start_again_pages_are_read_again(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers, before = made(), processes()
    readers.read(fetched(html()))
    (reader,) = processes() - before
    os.kill(int(reader), signal.SIGKILL)
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/no/such/python")
        for _ in range(2):
            with pytest.raises(RunError, match="no process can be started"):
                readers.read(fetched(html()))
    assert readers.read(fetched(html())).title == "Lake Veyra"
