from typing import Any

import pytest

from ufo.indexes.store import PassageStore
from ufo.schemas.records import passage_id


def test_rows_at_random(build_folder: Any) -> None:
    store = PassageStore(build_folder({f"T{number}": f"Text {number}." for number in range(3_000)}))
    assert len(store) == 3_000
    assert [p.text for p in store.get([2_999, 0, 1_024, 0])] == [
        *("Text 2999.", "Text 0.", "Text 1024.", "Text 0."),
    ]
    assert store.get([]) == []
    for row in (-1, 3_000):
        with pytest.raises(IndexError, match=str(row)):
            store.get([row])


def test_the_rows_of_a_page(build_folder: Any) -> None:
    pages = {"A": "One two three. " * 100, "B": "", "C": "C."}
    store = PassageStore(build_folder(pages))
    assert store.rows_of_pages([0]) == [0, 1, 2]
    assert store.rows_of_pages([1]) == []
    assert store.rows_of_pages([2, 0]) == [3, 0, 1, 2]
    assert [p.ordinal for p in store.get(range(4))] == [0, 1, 2, 0]


def test_a_stored_passage_as_a_row_of_the_table(build_folder: Any) -> None:
    [stored] = PassageStore(build_folder({"A": "One."})).get([0])
    passage = stored.as_passage("enwiki")
    assert passage.passage_id == passage_id("enwiki", None, "One.", 0)
    assert (passage.source, passage.title, passage.section) == ("enwiki", "A", None)
    assert (passage.url, passage.hostname, passage.source_category) == (None, None, "wiki")


def test_passages_read_after_their_pages_were_given_back(build_folder: Any) -> None:
    store = PassageStore(build_folder({f"T{n}": f"Text {n}." for n in range(200)}))
    rows = [*range(0, 200, 7), *range(199, -1, -1)]
    assert [passage.text for passage in store.get(rows)] == [f"Text {row}." for row in rows]
