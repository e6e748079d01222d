from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from indexes import lsa
from indexes.lsa import FILE, Lsa, fit_lsa

Build = Callable[..., Path]

PAGES = {
    f"{kind} {number}": text
    for number in range(6)
    for kind, text in {
        "Car": "The car has an engine and wheels on the road.",
        "Automobile": "An automobile has an engine and wheels on the road.",
        "Bee": "Bees make honey from the nectar of flowers.",
    }.items()
}


def _fitted(path: Path) -> Lsa:
    fit_lsa(path)
    return Lsa(path)


def test_words_that_are_used_alike_are_near(
    build_folder: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsa, "DIMENSION", 2)
    embedder = _fitted(build_folder(PAGES))
    car, automobile, bee = embedder.embed(["car", "automobile", "bees"])
    assert car @ automobile > 0.5 > car @ bee


def test_vectors_have_length_one_or_none(build_folder: Build) -> None:
    embedder = _fitted(build_folder(PAGES))
    vectors = embedder.embed(["engine and honey", "zyzzyva", ""])
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 0, 0]
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_the_same_passages_give_the_same_embedder(build_folder: Build) -> None:
    one, two = _fitted(build_folder(PAGES, "a")), _fitted(build_folder(PAGES, "b"))
    other = _fitted(build_folder({**PAGES, "Fly": "Flies bees honey."}, "c"))
    assert one.version == two.version != other.version
    assert (one.embed(["car"]) == two.embed(["car"])).all()


def test_an_index_without_words_in_common_still_has_an_embedder(build_folder: Build) -> None:
    path = build_folder({"A": "one", "B": ""})
    assert not _fitted(path).embed(["one"]).any()
    assert (path / FILE).exists()
