import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes.index import open_index
from ufo.pipelines.build_index import build
from ufo.schemas.errors import IndexUnusable, UsageError
from ufo.schemas.records import OpenUnits
from ufo.transforms.sources.fact_source import Found
from ufo.transforms.sources.wikipedia import WikipediaSource

Opened = Callable[..., OpenUnits]

PAGES = {
    "Etna": "Mount Etna is an active volcano on the east coast of Sicily.",
    "Oslo": "Oslo is the capital of Norway. The city lies at the Oslofjord.",
    "Honey": "Honey is a sweet food made by bees from the nectar of flowers.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("index")
    documents = folder / "pages.jsonl"
    rows = [
        {"title": title, "text": text, "url": f"https://example.org/{title}"}
        for title, text in PAGES.items()
    ]
    documents.write_text("\n".join(map(json.dumps, rows)))
    build(documents, folder / "index")
    return str(folder / "index")


def ask(index: str, open_units: OpenUnits, passages: int = 5) -> list[Found]:
    source = WikipediaSource(index, passages)
    source.name = "wikipedia"
    source.open()
    return asyncio.run(source.look_up(open_units))


def test_each_unit_gets_its_best_passages(index: str, opened: Opened) -> None:
    etna, honey = ask(index, opened(["Etna is a volcano", "Bees make honey"]))
    best = etna.passages[0]
    assert (best.passage.title, best.passage.source) == ("Etna", "wikipedia")
    assert best.passage.text == PAGES["Etna"]
    assert best.passage.url == "https://example.org/Etna"
    assert best.passage.passage_id.startswith("wikipedia:")
    assert (best.score or 0) > 0
    assert honey.passages[0].passage.title == "Honey"


def test_units_of_one_response_share_equal_passages(index: str, opened: Opened) -> None:
    one, other = ask(index, opened(["Etna is a volcano", "Sicily has the volcano Etna"]))
    assert one.passages[0].passage is other.passages[0].passage


@pytest.mark.parametrize("name", ["Northern Rock", "Muckle Flugga"])
def test_a_page_that_the_claim_names_is_considered_wherever_it_ranks(
    tmp_path: Path, opened: Opened, name: str
) -> None:
    # Thirty other passages are of more of the claim's words.
    told = f"{name}: its lighthouse was lit in 1860 by keepers from the north. " * 2
    pages = [
        _page("Muckle Flugga", "It was lit in 1854."),
        _page("Northern Rock", "", "Muckle Flugga"),
    ]
    pages += [_page(f"{name} lighthouse {n}", told) for n in range(30)]
    dump = tmp_path / "dump.xml"
    dump.write_text(f"<mediawiki>{''.join(pages)}</mediawiki>")
    build(dump, tmp_path / "index")
    claim = f"{name} has a lighthouse that keepers lit in 1860"
    [plain] = open_index(tmp_path / "index").search([claim], 20)
    assert "Muckle Flugga" not in [hit.passage.title for hit in plain]
    (found,) = ask(str(tmp_path / "index"), opened([claim]))
    assert "Muckle Flugga" in [hit.passage.title for hit in found.passages]


def _page(title: str, text: str, redirect: str = "") -> str:
    leads = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>0</ns><id>1</id>{leads}"
        f"<revision><id>2</id><text>{text}</text></revision></page>"
    )


def test_what_shares_no_word_is_not_found(index: str, opened: Opened) -> None:
    (found,) = ask(index, opened(["zyzzyva quux"]))
    assert not found.passages


def test_no_more_passages_than_asked_for(index: str, opened: Opened) -> None:
    (found,) = ask(index, opened(["volcano capital honey Oslo"]), passages=1)
    assert len(found.passages) == 1


def test_without_an_index_it_is_unavailable_and_says_how_to_make_one() -> None:
    assert "ufo index build" in (WikipediaSource().unavailable() or "")


def test_it_can_serve_with_one_and_its_fingerprint_is_the_index_s(index: str) -> None:
    source = WikipediaSource(index)
    assert source.unavailable() is None
    assert len(source.fingerprint()) == 64


def test_what_is_not_an_index_is_reported_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="ufo index build"):
        WikipediaSource(str(tmp_path)).unavailable()


def test_an_unknown_retriever_is_a_usage_error(index: str) -> None:
    with pytest.raises(UsageError, match="bm25"):
        WikipediaSource(index, retriever="bm52").unavailable()
