"""Verifiers with a last layer that `ufo judges fit` refitted to human labels.

The folder has `verifier.json` (the last layer, the name of the base verifier and the measured gain)
and `card.md`, a readable summary. The base verifier is not copied.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ufo.schemas.errors import UsageError
from ufo.transforms.verifiers.base import Array, Head, Pair, Probabilities, Verifier

FILE = "verifier.json"
CARD = "card.md"
_FORMAT = 1
_OUTCOMES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The refitted last layer of the verifier `base`.

    `fingerprint` is the base's checksum at that time. `trained` describes the labels and the gain.
    """

    base: str
    fingerprint: str
    head: Head
    trained: Mapping[str, Any]


class FittedVerifier(Verifier):
    """A base verifier with the last layer of a `Fit`."""

    def __init__(self, name: str, base: Verifier, fit: Fit) -> None:
        self.name = name
        self._base = base
        self._fit = fit

    def unavailable(self) -> str | None:
        """Return the error message of the base verifier, if it cannot be used."""
        return self._base.unavailable()

    def open(self) -> None:
        """Open the base verifier."""
        self._base.open()

    def close(self) -> None:
        """Close the base verifier."""
        self._base.close()

    def fingerprint(self) -> str:
        """Return a checksum of the base verifier and of the last layer."""
        head = self._fit.head
        whole = self._fit.fingerprint.encode() + head.weights.tobytes() + head.bias.tobytes()
        return sha256(whole).hexdigest()[:16]

    def accuracy(self) -> str:
        """Return the cross-validated accuracy of the fit."""
        trained = self._fit.trained
        found = trained["gains"]["balanced_accuracy"]
        return (
            f"balanced accuracy {found['after']:.2f} ({found['after_low']:.2f} to "
            f"{found['after_high']:.2f}) on {trained['n_claims']:,} claims that were labelled for "
            f"it, of run {trained['run']}"
        )

    def settled(self, pairs: Sequence[Pair]) -> list[Probabilities | None]:
        """Return the base verifier's probabilities that do not depend on the last layer."""
        return self._base.settled(pairs)

    def vectors(self, pairs: Sequence[Pair]) -> Array:
        """Return the input of the base verifier's last layer."""
        return self._base.vectors(pairs)

    def head(self) -> Head:
        """Return the refitted last layer."""
        return self._fit.head


def is_fitted(folder: str | Path) -> bool:
    """Return whether `ufo judges fit` wrote a folder; other verifiers may have its files too."""
    try:
        found = json.loads((Path(folder) / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "base" in found


def read_fit(folder: str | Path) -> Fit:
    """Read a folder that `ufo judges fit` wrote.

    Raises:
        UsageError: the folder has no such verifier, or one of a newer version.
    """
    path = Path(folder) / FILE
    again = "write it again: ufo judges fit RESULTS --output FOLDER"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT:
            raise UsageError(
                f"{str(path)!r} has the format {found['format']!r}, and this version of ufo reads "
                f"{_FORMAT}; update ufo, or {again}"
            )
        head = Head(
            np.array(found["weights"], dtype=np.float32), np.array(found["bias"], dtype=np.float32)
        )
        fit = Fit(found["base"], found["base_fingerprint"], head, found["trained"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{str(path)!r} cannot be read: {type(error).__name__}: {error}; {again}"
        ) from error
    if head.weights.shape[:-1] != (_OUTCOMES,) or head.bias.shape != (_OUTCOMES,):
        raise UsageError(
            f"{str(path)!r} has weights and bias of the shapes {head.weights.shape} and "
            f"{head.bias.shape}, not (3, d) and (3,); {again}"
        )
    return fit


def write_fit(folder: str | Path, fit: Fit, card: str) -> Path:
    """Write a fit and its card, replacing existing ones; return the path of `verifier.json`."""
    found = {
        "format": _FORMAT,
        "base": fit.base,
        "base_fingerprint": fit.fingerprint,
        "weights": fit.head.weights.tolist(),
        "bias": fit.head.bias.tolist(),
        "trained": fit.trained,
    }
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / CARD, card)
    # Last: with it the folder is a verifier.
    return _replace(folder / FILE, json.dumps(found, ensure_ascii=False) + "\n")


def _replace(path: Path, text: str) -> Path:
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    return unfinished.replace(path)
