"""Models by transformers and sentence-transformers, in the environment that has torch."""

from collections.abc import Callable
from pathlib import Path


def test_models_of_each_architecture_and_an_embedder(with_torch: Callable[..., str]) -> None:
    folder = Path(__file__).parent
    assert "passed" in with_torch(folder / "models.py", folder / "embedder.py")
