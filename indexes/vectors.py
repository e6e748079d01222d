"""The vectors that embedders return, as float32 arrays (n, dimension)."""

from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


def unit_rows(vectors: npt.NDArray[Any]) -> Vectors:
    """Return the rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
    return scaled
