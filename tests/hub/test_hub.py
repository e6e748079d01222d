"""Models by transformers and sentence-transformers, in the environment that has torch."""

from collections.abc import Callable
from pathlib import Path


def test_models_of_each_architecture(with_torch: Callable[[Path], str]) -> None:
    assert "passed" in with_torch(Path(__file__).with_name("models.py"))


def test_an_embedder_of_sentence_transformers(with_torch: Callable[[Path], str]) -> None:
    assert "passed" in with_torch(Path(__file__).with_name("embedder.py"))
