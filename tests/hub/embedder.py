"""The real all-MiniLM-L6-v2 by sentence-transformers.

Not collected with the other tests: test_hub.py runs this file where torch is installed.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.speed.embedder import base_folder
from ufo.indexes.embedders import LocalEmbedder, make_embedder
from ufo.indexes.index import open_index
from ufo.pipelines.build_index import build
from ufo.schemas.errors import UsageError

PAGES = {
    "Radium": "Marie Curie and her husband isolated this element from pitchblende in 1898.",
    "Danube": "It flows through ten countries into the Black Sea.",
    "Honey": "Bees make it from the nectar of flowers.",
}


def test_texts_of_one_meaning_are_near() -> None:
    embedder = make_embedder(str(base_folder()))
    assert isinstance(embedder, LocalEmbedder)
    assert (embedder.name, embedder.dimension) == (str(base_folder()), 384)
    vectors = embedder.embed(["The physician cured him.", "A doctor healed the man.", "It rained."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert embedder.embed([]).shape == (0, 384)


def test_an_index_is_searched_by_meaning(tmp_path: Path) -> None:
    source = tmp_path / "pages.jsonl"
    rows = ({"title": title, "text": text} for title, text in PAGES.items())
    source.write_text("\n".join(map(json.dumps, rows)))
    result = build(source, tmp_path / "index", embedder=str(base_folder()))
    assert open_index(result.path).search(["insects' sweet food"], 1) == [[]]  # no word of it
    for retriever in ("dense", "hybrid"):
        [found] = open_index(result.path, retriever).search(["insects' sweet food"], 1)
        assert [hit.passage.title for hit in found] == ["Honey"]


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a sentence-transformers model"):
        make_embedder(str(tmp_path))
