"""Run the bundled model: word pieces of a pair in, logits out, and two regressions over them.

Of a long passage, the model reads the sentences that share most with the claim.
"""

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from math import exp
from operator import mul
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from ufo.schemas.model_files import digest, onnx_session
from ufo.transforms.english.words import STOP_WORDS
from ufo.transforms.verifiers.overlap import WEIGHTS, features, match
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

CLAIM_PIECES: Final = 96
PIECES: Final = 176
"""Word pieces of claim and passage together, with the three that mark their ends."""
CLAIM, PASSAGE, SHARED = 0, 1, 2
"""Token types: a piece of the claim or the passage; SHARED is added where both have it."""
_END: Final = re.compile(
    r"(?<=[.!?])(?<![ .][A-Z]\.)[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n+\s*"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.,:/-]?\d+)*")
_LONGEST: Final = 40
"""Words in a sentence; a longer one (a list, a table without line ends) is cut."""
_AGAIN: Final = 0.3
"""What a word counts that a chosen sentence has already."""
_NAME: Final = 2.0
"""What a name or a number counts; other words count 1."""


class Encoded(NamedTuple):
    """Word pieces and their types, of the same length."""

    ids: list[int]
    types: list[int]


class Encoder:
    """Makes word pieces of pairs: `[CLS] claim [SEP] passage [SEP]`.

    A piece that claim and passage share has a type of its own, unless it is one of `common`: the
    pieces of function words and punctuation, which any two texts share.
    """

    def __init__(self, tokenizer: Tokenizer, common: Iterable[int]) -> None:
        self._tokenizer = tokenizer
        self._common = frozenset(common)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._start, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def encode(self, pair: Pair, words: int) -> Encoded:
        """Return a pair as the model reads it, the passage cut to its best sentences."""
        text = focus(pair.claim, pair.passage, words)
        if pair.title and not text.startswith(pair.title):
            text = f"{pair.title}. {text}"
        claim = self.pieces(pair.claim)[:CLAIM_PIECES]
        passage = self.pieces(text)[: PIECES - 3 - len(claim)]
        shared = (set(claim) & set(passage)) - self._common
        ids = [self._start, *claim, self._end, *passage, self._end]
        of_claim = len(claim) + 2
        types = [
            (CLAIM if at < of_claim else PASSAGE) + (SHARED if piece in shared else 0)
            for at, piece in enumerate(ids)
        ]
        return Encoded(ids, types)

    def pieces(self, text: str) -> list[int]:
        """Return the word pieces of a text."""
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found


def focus(claim: str, passage: str, words: int) -> str:
    """Return the sentences of a passage that share most with the claim, up to so many words.

    Sentences are chosen one after the other, each for the claim's content words that it adds, and
    keep their order. Where there is room, those before and after a chosen one follow. A passage of
    at most that many words is returned as it is.
    """
    if len(passage.split()) <= words:
        return passage
    sentences = split(passage)
    weights = content(claim)
    said = [weights.keys() & {word.lower() for word in _WORD.findall(text)} for text in sentences]
    lengths = [len(text.split()) for text in sentences]
    return " ".join(sentences[row] for row in sorted(_chosen(weights, said, lengths, words)))


def split(passage: str) -> list[str]:
    """Return the sentences of a passage, none of them longer than 40 words."""
    found = []
    for sentence in _END.split(passage):
        words = sentence.split()
        found += [" ".join(words[at : at + _LONGEST]) for at in range(0, len(words), _LONGEST)]
    return found


def content(claim: str) -> dict[str, float]:
    """Return the weight of each content word of a claim, in lower case."""
    return {
        word.lower(): _NAME if word[0].isupper() or word[0].isdigit() else 1.0
        for word in _WORD.findall(claim)
        if word.lower() not in STOP_WORDS
    }


def _chosen(
    weights: dict[str, float], said: Sequence[set[str]], lengths: Sequence[int], room: int
) -> set[int]:
    chosen: set[int] = set()
    covered: set[str] = set()
    left = set(range(len(said)))
    while left and (not chosen or room > 0):
        gains = {
            row: sum(weights[word] * (_AGAIN if word in covered else 1.0) for word in said[row])
            for row in left
        }
        best = max(left, key=lambda row: (gains[row], -row))
        left.remove(best)
        if chosen and (not gains[best] or lengths[best] > room):
            if not gains[best]:
                break
            continue
        chosen.add(best)
        covered |= said[best]
        room -= lengths[best]
    for row in sorted({near for at in chosen for near in (at - 1, at + 1)} - chosen):
        if 0 <= row < len(lengths) and lengths[row] <= room:
            chosen.add(row)
            room -= lengths[row]
    return chosen


# --- the verifier --------------------------------------------------------------------------------

FOLDER: Final = Path(__file__).parent
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
SETTINGS: Final = "verifier.json"
INPUTS: Final = (
    *WEIGHTS,  # what `overlap` measures
    "model_supported",  # log-odds of supported against the rest, by the model alone
    "model_refuted",  # log-odds of refuted against noans
    "supported_all",  # model_supported where the passage says all words of the claim, else 0
)
"""What the regressions read. By the last one the model may deny what shared words do not."""
_LARGEST: Final = 30.0


class BundledVerifier(Verifier):
    """Reads claim and evidence with a small model that comes with ufo, beside their words.

    `folder` has what `benchmarks/train_verifier.py` wrote; by default it is this package. The model
    runs on one thread.

    Two regressions, of supported and of refuted among the rest, read the model's log-odds and the
    features of `overlap`. A pair that shares too little with its passage is NOANS without a call of
    the model; `verifier.json` says how little.
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
        found = dict.fromkeys(pairs, self._noans)
        for pair in found:
            measured = features(pair)
            if measured[0] >= self._unrelated:
                found[pair] = self._weighed([1.0, *self._inputs(pair, measured)])
        return [found[pair] for pair in pairs]

    def inputs(self, pair: Pair) -> list[float]:
        """Return what the regressions read of a pair, in the order of INPUTS."""
        return self._inputs(pair, features(pair))

    def _inputs(self, pair: Pair, measured: Sequence[float]) -> list[float]:
        # One pair at a time: the weights are int8 and the scale of what they are multiplied with is
        # that of a whole call, so that a pair would depend on those beside it.
        ids, types = self._encoder.encode(pair, self._words)
        (logits,) = self._session.run(None, {"ids": np.array([ids]), "types": np.array([types])})
        of_supported, of_refuted, of_noans = logits[0].tolist()
        supported = of_supported - float(np.logaddexp(of_refuted, of_noans))
        words = match(pair)
        everything = supported if words.said == words.claim.everything else 0.0
        return [*measured, supported, of_refuted - of_noans, everything]

    def _weighed(self, vector: Sequence[float]) -> Probabilities:
        supported, refuted = (
            1 / (1 + exp(-max(-_LARGEST, min(_LARGEST, sum(map(mul, weights, vector))))))
            for weights in (self._supported, self._refuted)
        )
        refuted *= 1 - supported
        return Probabilities(supported, refuted, 1 - supported - refuted)
