"""Run the bundled model: word pieces of a pair in, logits out, and two regressions over them."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from math import log, log1p
from pathlib import Path
from typing import Any, Final

import numpy as np
from tokenizers import Tokenizer

from ufo.schemas.models import digest, onnx_session
from ufo.transforms.verifiers.base import Array, Head, Pair, Probabilities, Verifier
from ufo.transforms.verifiers.bundled.encoding import Encoder
from ufo.transforms.verifiers.overlap import WEIGHTS, features
from ufo.transforms.verifiers.regressions import Regressions, chance

FOLDER: Final = Path(__file__).parent
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
SETTINGS: Final = "verifier.json"
FIGURES: Final = "figures.json"
INPUTS: Final = (
    *WEIGHTS,
    "model_supported",  # log-odds of supported against the rest, by the model alone
    "model_refuted",  # log-odds of refuted against noans
)
"""What the regressions read."""
_MEASURED: Final = {
    "stance": "web evidence",
    "wice": "cited articles",
    "begin_wow": "dialogue",
    "claims": "whole claims by the web",
}
_SAID: Final = 0


class BundledVerifier(Verifier):
    """Verify with the cross-encoder that this project trained, beside what `overlap` measures.

    `folder` has what `benchmarks/train_verifier.py` wrote; by default it is this package. The model
    runs on one thread.

    Two regressions read the model's log-odds and the features of `overlap`. A pair that shares too
    little with its passage is NOANS without a call of the model; `verifier.json` says how little.
    """

    name = "bundled"

    def __init__(self, folder: str | None = None) -> None:
        self._folder = FOLDER if folder is None else Path(folder)
        if folder is not None:
            self.name = self._folder.name
        self._session: Any = None

    def unavailable(self) -> str | None:
        """Return which package or file is missing, with the remedy, or None."""
        for package in ("onnxruntime", "tokenizers"):
            if find_spec(package) is None:
                return f"the package {package} is missing; run: pip install {package}"
        for name in (MODEL, TOKENIZER, SETTINGS):
            if not (self._folder / name).is_file():
                return f"{self._folder / name} is missing; install the package again"
        return None

    def open(self) -> None:
        """Load the model."""
        settings = json.loads((self._folder / SETTINGS).read_text(encoding="utf-8"))
        if settings["weights"].keys() != {"intercept", *INPUTS}:
            raise RuntimeError(f"{SETTINGS} was made for other features; train the verifier again")
        self._words: int = settings["words"]
        self._unrelated: float = settings["unrelated"]["below"]
        self._noans = Probabilities(*settings["unrelated"]["probabilities"])
        self._regressions = Regressions.of(settings["weights"], INPUTS)
        tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._encoder = Encoder(tokenizer, settings["common"])
        self._session = onnx_session(str(self._folder / MODEL))

    def close(self) -> None:
        """Drop the model."""
        self._session = None

    def fingerprint(self) -> str:
        """Return a checksum of the model and its last layer."""
        parts = [digest(str(self._folder / name)) for name in (MODEL, TOKENIZER, SETTINGS)]
        return sha256(" ".join(parts).encode()).hexdigest()[:12]

    def accuracy(self) -> str:
        """Return how often it agreed with people on texts unlike those it learned from."""
        known = self.by_set()
        figures = [f"{known[name]:.2f} {of}" for name, of in _MEASURED.items() if name in known]
        return (
            f"balanced accuracy on people's labels of texts it had not seen: {', '.join(figures)}"
        )

    def by_set(self) -> Mapping[str, float]:
        """Return the same figures by the sets that they are of."""
        figures = json.loads((self._folder / FIGURES).read_text(encoding="utf-8"))["new_domain"]
        return {name: found["balanced_accuracy"]["value"] for name, found in figures.items()}

    def head(self) -> Head:
        """Return the regression of supported, and that of the rest as the last two inputs are."""
        of, zeros = self._regressions, [0.0] * len(INPUTS)
        weights = [[*of.supported, 0.0, 0.0], [*zeros, 1.0, 0.0], [*zeros, 0.0, 1.0]]
        bias = [of.intercepts[0], 0.0, 0.0]
        return Head(np.array(weights, dtype=np.float32), np.array(bias, dtype=np.float32))

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order; equal pairs are read once."""
        distinct = list(dict.fromkeys(pairs))
        measured = [features(pair) for pair in distinct]
        asked = [row for row, said in enumerate(measured) if said[_SAID] >= self._unrelated]
        found = dict.fromkeys(distinct, self._noans)
        if asked:
            rows = self._vectors([distinct[row] for row in asked], [measured[row] for row in asked])
            for row, said in zip(asked, self.head().probabilities(rows), strict=True):
                found[distinct[row]] = said
        return [found[pair] for pair in pairs]

    def settled(self, pairs: Sequence[Pair]) -> list[Probabilities | None]:
        """Return NOANS for pairs that share too little for a call of the model."""
        shares = [features(pair)[_SAID] for pair in pairs]
        return [None if said >= self._unrelated else self._noans for said in shares]

    def vectors(self, pairs: Sequence[Pair]) -> Array:
        """Return INPUTS of each pair, and the logarithms of the shares of refuted and noans."""
        return self._vectors(pairs, [features(pair) for pair in pairs])

    def _vectors(self, pairs: Sequence[Pair], measured: Sequence[Sequence[float]]) -> Array:
        # One pair at a time: the weights are int8 and the scale of what they are multiplied with is
        # that of a whole call, so that a pair would depend on those beside it.
        of, rows = self._regressions, []
        for pair, numbers in zip(pairs, measured, strict=True):
            ids, types = self._encoder.encode(pair, self._words)
            inputs = {"ids": np.array([ids]), "types": np.array([types])}
            (logits,) = self._session.run(None, inputs)
            row = [*numbers, *log_odds(logits)[0].tolist()]
            refuted = chance(of.intercepts[1], of.refuted, row)
            rows.append([*row, log(refuted), log1p(-refuted)])
        return np.array(rows, dtype=np.float32).reshape(len(rows), len(INPUTS) + 2)


def log_odds(logits: Array) -> Array:
    """Return `model_supported` and `model_refuted` (n, 2) of the model's logits (n, 3)."""
    supported, refuted, noans = logits.T
    return np.stack([supported - np.logaddexp(refuted, noans), refuted - noans], axis=1)
