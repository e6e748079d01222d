"""Predict by the bundled model, with two regressions over its logits and features of words."""

import json
from collections.abc import Sequence
from hashlib import sha256
from math import exp
from operator import mul
from pathlib import Path
from typing import Any, Final

from ufo.schemas.dependencies import missing
from ufo.schemas.model_files import digest, onnx_session
from ufo.transforms.verifiers.bundled.encoding import Encoder
from ufo.transforms.verifiers.overlap import WEIGHTS, features
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

FOLDER: Final = Path(__file__).parent
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
SETTINGS: Final = "verifier.json"
INPUTS: Final = (
    *WEIGHTS,  # the features of `overlap`
    "model_supported",  # log-odds of supported against the rest, by the model alone
    "model_refuted",  # log-odds of refuted against noans
    "supported_all",  # model_supported where the passage has all words of the claim, else 0
)
"""The inputs of the regressions. With the last one, the model can deny a claim although the passage
has all its words."""
_LARGEST: Final = 30.0


class BundledVerifier(Verifier):
    """Reads claim and evidence with a small model that comes with ufo, beside their words.

    `folder` has the output of `benchmarks/training/train.py`; by default it is this package. The
    model runs on one thread.

    Two regressions read the model's log-odds and the features of `overlap`: one for supported, one
    for refuted among the rest. A claim that shares too little with its passage is NOANS without a
    call of the model; `verifier.json` has the threshold.
    """

    name = "bundled"

    def __init__(self, folder: str | None = None) -> None:
        self._folder = FOLDER if folder is None else Path(folder)
        if folder is not None:
            self.name = self._folder.name
        self._session: Any = None

    def unavailable(self) -> str | None:
        """Return which file or package is missing, with the remedy, or None."""
        for name in (MODEL, TOKENIZER, SETTINGS):
            if not (self._folder / name).is_file():
                return f"{self._folder / name} is missing; install the package again"
        absent = missing("onnx")
        return f"it needs {absent}" if absent else None

    def open(self) -> None:
        """Load the model."""
        from tokenizers import Tokenizer  # of the extra `onnx`

        settings = json.loads((self._folder / SETTINGS).read_text(encoding="utf-8"))
        if settings["weights"].keys() != {"intercept", *INPUTS}:
            raise RuntimeError(f"{SETTINGS} was made for other features; train the verifier again")
        self._words: int = settings["words"]
        self._unrelated: float = settings["unrelated"]["below"]
        self._noans = Probabilities(*settings["unrelated"]["probabilities"])
        weights = [settings["weights"][name] for name in ("intercept", *INPUTS)]
        self._supported, self._refuted = zip(*weights, strict=True)
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

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order; equal pairs are read once."""
        probabilities = dict.fromkeys(pairs, self._noans)
        for pair in probabilities:
            measured = features(pair)
            if measured[0] >= self._unrelated:
                probabilities[pair] = self._regress([1.0, *self._inputs(pair, measured)])
        return [probabilities[pair] for pair in pairs]

    def inputs(self, pair: Pair) -> list[float]:
        """Return the inputs of the regressions for a pair, in the order of INPUTS."""
        return self._inputs(pair, features(pair))

    def _inputs(self, pair: Pair, measured: Sequence[float]) -> list[float]:
        # One pair at a time: the weights are int8, and inputs are scaled by the values of a whole
        # call. In a batch, a pair would depend on the others.
        ids, types = self._encoder.encode(pair, self._words)
        import numpy as np  # slow to import, and not needed to judge by rules

        (logits,) = self._session.run(None, {"ids": np.array([ids]), "types": np.array([types])})
        of_supported, of_refuted, of_noans = logits[0].tolist()
        supported = of_supported - float(np.logaddexp(of_refuted, of_noans))
        words = match(pair)
        everything = supported if words.said == words.claim.everything else 0.0
        return [*measured, supported, of_refuted - of_noans, everything]

    def _regress(self, vector: Sequence[float]) -> Probabilities:
        supported, refuted = (
            1 / (1 + exp(-max(-_LARGEST, min(_LARGEST, sum(map(mul, weights, vector))))))
            for weights in (self._supported, self._refuted)
        )
        refuted *= 1 - supported
        return Probabilities(supported, refuted, 1 - supported - refuted)
