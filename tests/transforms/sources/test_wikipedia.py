import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.embedder import write_embedder
from tests.indexes.conftest import page
from tests.transforms.scripted import opened
from ufo.indexes.index import open_index
from ufo.pipelines.build_index import build
from ufo.schemas.errors import UsageError
from ufo.transforms.sources.fact_source import Found
from ufo.transforms.sources.wikipedia import WikipediaSource

PAGES = {
    "Etna": "Mount Etna is an active volcano on the east coast of Sicily.",
    "Oslo": "Oslo is the capital of Norway. The city lies at the Oslofjord.",
    "Honey": "Honey is a sweet food made by bees from the nectar of flowers.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("index")
    rows = [
        {"title": title, "text": text, "url": f"https://example.org/{title}"}
        for title, text in PAGES.items()
    ]
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, rows)))
    build(folder / "pages.jsonl", folder / "index")
    return str(folder / "index")


def ask(index: str, *claims: str, passages: int = 5) -> list[Found]:
    source = WikipediaSource(index, passages)
    source.name = "wikipedia"
    source.open()
    return asyncio.run(source.look_up(opened(claims)))


def test_each_unit_gets_its_best_passages(index: str) -> None:
    etna, honey, same, none = ask(
        index, "Etna is a volcano", "Bees make honey", "Sicily has Etna", "zyzzyva quux"
    )
    hit = etna.passages[0]
    assert hit.passage.title == "Etna"
    assert hit.passage.source == "wikipedia"
    assert hit.passage.text == PAGES["Etna"]
    assert hit.passage.url == "https://example.org/Etna"
    assert hit.passage.passage_id.startswith("wikipedia:")
    assert (hit.score or 0) > 0
    assert honey.passages[0].passage.title == "Honey"
    assert same.passages[0].passage is hit.passage  # units of one response share equal ones
    assert not none.passages
    (answer,) = ask(index, "volcano capital honey Oslo", passages=1)
    assert len(answer.passages) == 1
    with pytest.raises(UsageError, match="bm25"):
        WikipediaSource(index, retriever="bm52").unavailable()
    assert WikipediaSource(index).unavailable() is None
    assert "no index is named" in (WikipediaSource().unavailable() or "")
    assert WikipediaSource(index).passages == 5
    assert WikipediaSource(index).fingerprint() == open_index(index).fingerprint


def test_an_index_with_vectors_of_another_embedder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"title": "Etna", "text": PAGES["Etna"]}))
    model, other = (str(write_embedder(tmp_path / name, name)) for name in ("volcano", "a bee"))
    build(tmp_path / "pages.jsonl", tmp_path / "index", embedder=model)
    folder = str(tmp_path / "index")
    assert WikipediaSource(folder, retriever="dense").unavailable() is None
    assert WikipediaSource(folder, retriever="dense", embedder=model).unavailable() is None
    with pytest.raises(UsageError, match="embedder"):
        WikipediaSource(folder, retriever="dense", embedder=other).unavailable()


@pytest.mark.parametrize(("claim", "query"), [("Sicily", "?"), ("So", "Sicily?")])
def test_the_words_of_a_claim_and_of_its_query_are_searched(
    index: str, claim: str, query: str
) -> None:
    source = WikipediaSource(index)
    source.open()
    units = opened([claim])
    asked = replace(units, units=[replace(units.units[0], query=query)])
    (answer,) = asyncio.run(source.look_up(asked))
    assert [hit.passage.title for hit in answer.passages] == ["Etna"]


@pytest.mark.parametrize("name", ["Northern Rock", "Muckle Flugga"])
def test_a_page_that_the_claim_names_is_considered(tmp_path: Path, name: str) -> None:
    # Thirty other passages are of more of the claim's words.
    text = f"{name}: its lighthouse was lit in 1860 by keepers from the north. " * 2
    pages = [
        page("Muckle Flugga", "It was lit in 1854."),
        page("Northern Rock", "", redirect="Muckle Flugga"),
        *(page(f"{name} lighthouse {n}", text) for n in range(30)),
    ]
    dump = b"<mediawiki>" + b"".join(one.xml for one in pages) + b"</mediawiki>"
    (tmp_path / "dump.xml").write_bytes(dump)
    build(tmp_path / "dump.xml", tmp_path / "index")
    claim = f"{name} has a lighthouse that keepers lit in 1860"
    [plain] = open_index(tmp_path / "index").search([claim], 20)
    assert "Muckle Flugga" not in [hit.passage.title for hit in plain]
    (answer,) = ask(str(tmp_path / "index"), claim)
    assert "Muckle Flugga" in [hit.passage.title for hit in answer.passages]
