"""Fit the weights of the verifier `overlap`, and print them as its code has them.

One logistic regression of supported against the rest over the features of a pair
(`benchmarks/training/regressions.py`).

    python benchmarks/training/overlap.py [--data FOLDER] [--quick]

It is fitted on the sets that `accuracy/judge.py` measures and on the licensed training pairs, the
single-sentence image captions among them left out.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.accuracy.sets import DATA, SUPPORTED, Record, load, load_pairs  # noqa: E402
from benchmarks.training.regressions import (  # noqa: E402
    MIN_FAMILY,
    PENALTY,
    Array,
    Examples,
    examples_of,
    examples_of_families,
    regression,
)
from ufo.transforms.verifiers.overlap import WEIGHTS, features, probabilities  # noqa: E402
from ufo.transforms.verifiers.verifier import Pair, Probabilities  # noqa: E402

NAMES = tuple(WEIGHTS)
# What each of the developers' sets weighs; all training pairs together weigh `TRAINING`. Claims
# are not fitted on: they are judged by the pairs of `stance`.
SHARES = {"stance": 1.5, "wice": 0.7, "wice_whole": 0.7, "begin_wow": 0.5, "begin_cmu": 0.5}
TRAINING = 1.0
_CAPTIONS = ("esnli", "med", "breaking_nli")
# The training pairs that were made from the sets that are measured.
_MEASURED = ("factcheck_gpt", "wice_dev", "begin_wow")


def training_examples(data: Path, sets: Mapping[str, Sequence[Record]], keep: int = 1) -> Examples:
    """Return every `keep`-th training pair of which neither claim nor passage is measured."""
    measured = {
        _plain(text)
        for records in sets.values()
        for record in records
        for text in (record.claim, record.document, *record.passages)
    }
    rows = [
        (pair, label, _family(origin))
        for pair, label, origin, _ in load_pairs(data)
        if label != "partial"
        and not origin.startswith(_CAPTIONS + _MEASURED)
        and measured.isdisjoint((_plain(pair.claim), _plain(pair.passage)))
    ][::keep]
    if not rows:
        sys.exit(f"{data} has no training pairs: verifier/pairs.jsonl.gz")
    vectors = vectors_of([pair for pair, _, _ in rows])
    labels = np.array([label for _, label, _ in rows])
    families = np.array([family for _, _, family in rows])
    return examples_of_families(vectors, labels, families, TRAINING, MIN_FAMILY / keep)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _family(origin: str) -> str:
    """Return the set that a training pair comes from, what was corrupted with what it was."""
    return origin.removesuffix("_cor").split("_")[0]


def representative(rows: Array) -> Array:
    """Return the features of the passage that says the most of the claim."""
    return np.asarray(rows[int(np.argmax(rows[:, NAMES.index("said_together")]))])


def fit(parts: Sequence[Examples]) -> dict[str, float]:
    """Return the weights of supported by feature, and that of `intercept`."""
    vectors = np.vstack([part.vectors for part in parts])
    truth = np.concatenate([part.labels for part in parts]) == SUPPORTED
    weights = np.concatenate([part.weights for part in parts])
    return regression(vectors, truth, weights, NAMES, PENALTY)


def apply(weights: Mapping[str, float], vectors: Array) -> list[Probabilities]:
    """Return the probabilities of pairs with these features."""
    known = [weights[name] for name in NAMES]
    return [probabilities(row, known, weights["intercept"]) for row in vectors.tolist()]


def vectors_of(pairs: Sequence[Pair]) -> Array:
    """Return the features of pairs, of the shape (pairs, features)."""
    return np.array([features(pair) for pair in pairs]).reshape(-1, len(NAMES))


def main() -> None:
    """Print the weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="use a tenth of the training pairs")
    arguments = parser.parse_args()
    sets = load(arguments.data)
    training = training_examples(arguments.data, sets, 10 if arguments.quick else 1)
    parts = [training]
    for name, share in SHARES.items():
        records = sets.get(name, [])
        if records:
            vectors = np.array([representative(vectors_of(r.pairs())) for r in records])
            labels = np.array([record.label for record in records])
            parts.append(examples_of(vectors, labels, share))
    for name, weight in fit(parts).items():
        print(f'    "{name}": {weight:.4f},')


if __name__ == "__main__":
    main()
