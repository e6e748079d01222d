from collections.abc import Callable, Sequence
from pathlib import Path

import faiss
import numpy as np
import pytest

from ufo.indexes import dense
from ufo.indexes.dense import Dense
from ufo.indexes.embedders import Vectors, unit_rows
from ufo.indexes.index import open_index
from ufo.schemas.errors import IndexUnusable

Build = Callable[..., Path]


class Letters:
    """Embeds a text by its letters, and counts what it was asked."""

    name, version, dimension = "letters", "1", 26

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += len(texts)
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return unit_rows(np.array(counts, np.float32).reshape(len(texts), 26))


PAGES = {"Aa": "aaa", "Bb": "bbb", "See also": "", "Cc": "ccc aaa"}


@pytest.fixture
def opened(build_folder: Build, tmp_path: Path) -> Dense:
    path = build_folder(PAGES)
    dense.build(path, Letters(), tmp_path)
    return Dense(path, Letters().embed)


def test_the_nearest_come_first(opened: Dense) -> None:
    first, second, nothing = opened.search(["a", "cab", "xyz"], 5)
    assert [hit.row for hit in first] == [0, 2]
    assert first[0].score == pytest.approx(1)
    assert second[0].row == 2
    assert nothing == []
    assert [[hit.row for hit in hits] for hits in opened.search(["a"], 1)] == [[0]]
    assert opened.search([], 5) == []


def test_within_ranks_only_the_rows_given(opened: Dense) -> None:
    found = opened.search(["a", "a", "a"], 5, [[2, 1, 2], None, []])
    assert [[hit.row for hit in hits] for hits in found] == [[2], [0, 2], []]


def test_a_stopped_build_goes_on_with_the_shards_that_are_there(
    build_folder: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_SHARD", 2)
    path = build_folder({f"T{n}": "abc"[n % 3] for n in range(7)})
    said: list[str] = []
    dense.build(path, Letters(), tmp_path, said.append)
    assert said[-1] == "7 of 7 passages embedded"
    (tmp_path / "000002.npy").unlink()
    (tmp_path / "000003.npy").unlink()
    again = Letters()
    dense.build(path, again, tmp_path)
    assert again.asked == 3
    [hits] = Dense(path, Letters().embed).search(["b"], 9)
    assert [hit.row for hit in hits[:2]] == [1, 4]


def test_codes_of_many_vectors_find_nearly_what_flat_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(1)
    centres = random.standard_normal((40, 64))
    vectors = unit_rows(
        centres[random.integers(0, 40, 6_000)] + 0.5 * random.standard_normal((6_000, 64))
    )
    shards = []
    for number, part in enumerate(np.array_split(vectors, 3)):
        shards.append(tmp_path / f"{number}.npy")
        np.save(shards[-1], part)
    np.save(tmp_path / dense.ROWS, np.arange(6_000))
    monkeypatch.setattr(dense, "FLAT", 1_000)
    dense.write_vectors(tmp_path, shards, 6_000)
    queries = unit_rows(vectors[:100] + 0.1 * random.standard_normal((100, 64)))
    found = Dense(tmp_path, lambda texts: queries).search([""] * 100, 10)
    best = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    recall = np.mean(
        [
            len({hit.row for hit in hits} & set(row)) / 10
            for hits, row in zip(found, best, strict=True)
        ]
    )
    assert recall > 0.9
    [hits] = Dense(tmp_path, lambda texts: queries[:1]).search([""], 3, [[5, 7, 0]])
    assert hits[0].row == 0
    assert hits[0].score == pytest.approx(float(queries[0] @ vectors[0]), abs=0.01)


def test_vectors_of_an_older_version_are_refused(build_folder: Build, tmp_path: Path) -> None:
    path = build_folder(PAGES)
    dense.build(path, Letters(), tmp_path)
    faiss.write_index(faiss.IndexIVFFlat(faiss.IndexFlatIP(26), 26, 1), str(path / dense.INDEX))
    with pytest.raises(ValueError, match="older ufo"):
        Dense(path, Letters().embed)


def test_an_index_without_vectors_says_how_to_get_them(build_folder: Build) -> None:
    with pytest.raises(IndexUnusable, match=r"has no vectors: use --retriever bm25.*--embedder"):
        open_index(build_folder(), "dense")
