"""The fields of passages that are ranked, and the fusion of two rankings."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ufo.indexes import folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.index import open_index
from ufo.indexes.reader import Block, RawPage
from ufo.indexes.retriever import NOT_RANKED, Hit, Hybrid, Ranked, ranked_passages

A = [Hit(1, 9.0), Hit(2, 8.0)]
B = [Hit(2, 0.9), Hit(3, 0.8)]


class _Fixed:
    def __init__(self, hits: list[Hit]) -> None:
        self._hits = hits

    def search(
        self, queries: Sequence[str], k: int, within: Sequence[Sequence[int] | None] | None = None
    ) -> list[list[Hit]]:
        assert k >= 100  # what is fused goes deeper than what is asked for
        return [self._hits for _ in queries]


def test_reciprocal_ranks_are_added_and_the_best_returned() -> None:
    hybrid = Hybrid(_Fixed(A), _Fixed(B))
    [hits] = hybrid.search(["x"], 5)
    assert [hit.row for hit in hits] == [2, 1, 3]
    assert [hit.score for hit in hits] == pytest.approx(
        [0.5 / 12 + 0.5 / 11, 0.5 / 11, 0.5 / 12], abs=1e-12
    )
    assert [[hit.row for hit in found] for found in hybrid.search(["x", "y"], 1)] == [[2], [2]]


def test_ties_go_to_the_lower_row() -> None:
    [hits] = Hybrid(_Fixed([Hit(7, 1.0)]), _Fixed([Hit(4, 1.0)])).search(["x"], 5)
    assert [hit.row for hit in hits] == [4, 7]


DUMP = (
    "<page><title>Danube</title><ns>0</ns><id>1</id><revision><id>2</id>"
    "<text>A river.\n== Course ==\nIt flows.\n== {heading} ==\nNot this.</text></revision></page>"
)
REDIRECT = (
    '<page><title>{alias}</title><ns>0</ns><redirect title="Danube" /><revision><text>'
    "</text></revision></page>"
)


@pytest.mark.parametrize("heading", NOT_RANKED)
def test_passages_with_the_words_of_aliases_that_the_title_lacks(
    tmp_path: Path, heading: str
) -> None:
    output = tmp_path / "index"
    page = RawPage(DUMP.replace("{heading}", heading.capitalize()).encode())
    aliases = ["The Danube in Bavaria", "Donau", "Dunaj (river)"]
    redirects = [RawPage(REDIRECT.replace("{alias}", alias).encode()) for alias in aliases]
    block = Block(file=0, number=0, first=0, name="dump", items=(page, *redirects))
    with folder.building(output) as building:
        write_block(building / folder.BLOCKS, block, process_block(block))
        content, _ = folder.assemble(building, {}, [])
        folder.add_engines(building, content)
    words = "donau dunaj river bavaria"
    assert list(ranked_passages(output)) == [
        Ranked("Danube", words, "", "A river."),
        Ranked("Danube", words, "Course", "It flows."),
        None,
    ]
    index = open_index(output)
    [found] = index.search(["donau"], 5)
    assert {hit.passage.text for hit in found} == {"A river.", "It flows."}


def test_rows_follow_one_another_over_pages_without_passages(
    build_folder: Callable[..., Path],
) -> None:
    path = build_folder({"A": "", "B": "x", "C": "", "D": "y"})
    assert [one.title for one in ranked_passages(path) if one] == ["B", "D"]
