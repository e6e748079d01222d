"""An index folder of a few pages, built without Beam."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ufo.indexes import folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.reader import Block, RawDocument, RawPage

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


@pytest.fixture
def build_folder(tmp_path: Path) -> Build:
    """Return a function from {title: text} to the index folder `tmp_path / name`."""

    def build(
        pages: Mapping[str, str] = PAGES,
        name: str = "index",
        embedder: str | None = None,
        wiki: Sequence[RawPage] = (),
    ) -> Path:
        rows = ({"title": title, "text": text} for title, text in pages.items())
        documents = tuple(RawDocument(json.dumps(row).encode()) for row in rows)
        items: tuple[RawPage | RawDocument, ...] = tuple(wiki) or documents
        block = Block(file=0, number=0, first=0, name="pages", items=items)
        output = tmp_path / name
        with folder.building(output) as building:
            write_block(building / folder.BLOCKS, block, process_block(block))
            content, _ = folder.assemble(building, {}, [])
            folder.add_engines(building, content, embedder)
        return output

    return build
