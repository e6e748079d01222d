"""An index folder of a few pages, built without Beam, and an embedder by letters."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ufo.indexes import folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.embedders import Vectors, unit_rows
from ufo.indexes.reader import Block, RawPage
from ufo.schemas.documents import RawDocument

PAGES = {
    "Marie Curie": "Marie Curie was born in Warsaw in 1867. She won two Nobel Prizes.",
    "Danube": "The Danube flows through ten countries. It ends in the Black Sea.",
    "Black Sea": "The Black Sea lies between Europe and Asia.",
    "Glacier": "",
}

Build = Callable[..., Path]


def page(title: str, text: str, ns: int = 0, redirect: str = "") -> RawPage:
    leads = f'<redirect title="{redirect}" />' if redirect else ""
    return RawPage(
        f"<page><title>{title}</title><ns>{ns}</ns><id>5</id>{leads}<revision><id>6</id>"
        f"<timestamp>2025-02-03T04:05:06Z</timestamp><text>{text}</text></revision></page>".encode()
    )


class Letters:
    """Embeds a text by its letters, and keeps what it was asked."""

    name, version, dimension = "letters", "1", 26

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return unit_rows(np.array(counts, np.float32).reshape(len(texts), 26))


def written(
    output: Path,
    pages: Mapping[str, str] = PAGES,
    embedder: str | None = None,
    wiki: Sequence[RawPage] = (),
) -> Path:
    """Build an index folder of {title: text}, or of pages of a wiki."""
    rows = ({"title": title, "text": text} for title, text in pages.items())
    documents = tuple(RawDocument(json.dumps(row).encode()) for row in rows)
    items: tuple[RawPage | RawDocument, ...] = tuple(wiki) or documents
    block = Block(file=0, number=0, first=0, name="pages", items=items)
    with folder.build_folder(output) as building:
        write_block(building / folder.BLOCKS, block, process_block(block))
        content, _ = folder.assemble(building, {}, [])
        folder.add_engines(building, content, embedder)
    return output


@pytest.fixture
def build_folder(tmp_path: Path) -> Build:
    """Return a function from {title: text} to the index folder `tmp_path / name`."""
    return lambda *pages, name="index", **more: written(tmp_path / name, *pages, **more)
