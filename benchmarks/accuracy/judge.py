"""Measure verifiers against people, out of domain, on the sets that `sets.py` reads.

    python benchmarks/accuracy/judge.py [--data FOLDER] [--quick] [--verifier overlap,bundled]
        [--write]

Nothing was fitted on records of the measured sets. `bundled` is shipped that way; `overlap` is
shipped fitted on these very records too, so here it is fitted again, on the pairs of
`verifier/pairs.jsonl.gz` alone. What a verifier says is held to the rules of the judge
(`ufo.transforms.verifiers.overlap`). Beside them: `shared words`, fitted alike with one feature,
the share of the claim's words that the passage says, and `coin`, which says supported of half.

`figures` in `figures.py` says what each figure is; the intervals are of 95 %, bootstrapped by
document. Of the set `claims`, `refuted_precision` and `refuted_recall` are what users are told: of
the claims that it calls contradicted, the share that people found false, and of the false ones the
share that it calls contradicted. `--write` writes the figures to
`transforms/verifiers/figures.json`. The last line is JSON: set, verifier, figure.
"""

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.accuracy.figures import VerifierScores, summary  # noqa: E402
from benchmarks.accuracy.sets import DATA, Record, load  # noqa: E402
from benchmarks.training import overlap  # noqa: E402
from benchmarks.training.regressions import Array, Examples  # noqa: E402
from ufo.transforms.verifiers.by_name import make_verifier  # noqa: E402
from ufo.transforms.verifiers.grounds import apply_rules  # noqa: E402
from ufo.transforms.verifiers.overlap import OverlapVerifier  # noqa: E402
from ufo.transforms.verifiers.texts import match  # noqa: E402
from ufo.transforms.verifiers.verifier import Probabilities, Verifier  # noqa: E402

FIGURES = ROOT / "transforms" / "verifiers" / "figures.json"
TOLD = ("balanced_accuracy", "auc", "refuted_precision", "refuted_recall", "refuted_called")
"""What FIGURES has of a set."""
OUT_OF_DOMAIN = ", out of domain"
Sets = Mapping[str, Sequence[Record]]
Rows = dict[str, list[list[Probabilities]]]
Vectors = Mapping[str, Sequence[Array]]


def predicted(verifier: Verifier, sets: Sets) -> tuple[Rows, float]:
    """Return what a verifier says of every record, and the seconds that a pair took."""
    verifier.open()
    rows: Rows = {}
    pairs, start = 0, perf_counter()
    for name, records in sets.items():
        asked = [pair for record in records for pair in record.pairs()]
        probabilities = iter(verifier.predict(asked))
        rows[name] = [[next(probabilities) for _ in record.passages] for record in records]
        pairs += len(asked)
    seconds = (perf_counter() - start) / max(1, pairs)
    verifier.close()
    return rows, seconds


def held(rows: Rows, sets: Sets) -> Rows:
    """Return probabilities held to the rules of the judge."""
    return {
        name: [
            [
                apply_rules(match(pair), three)
                for pair, three in zip(record.pairs(), row, strict=True)
            ]
            for record, row in zip(records, rows[name], strict=True)
        ]
        for name, records in sets.items()
    }


def fitted(sets: Sets, training: Examples, vectors: Vectors) -> Rows:
    """Return what weights say that were fitted to the training pairs alone."""
    weights = overlap.fit([training])
    return {name: [overlap.apply(weights, row) for row in vectors[name]] for name in sets}


def words_alone(vectors: Array) -> Array:
    """Return features that are the same for all pairs but the first, the share of words said."""
    return np.where(np.arange(vectors.shape[1]) == 0, vectors, 1.0)


def of_overlap(sets: Sets, data: Path, quick: bool) -> dict[str, Rows]:
    """Return what `overlap` says where it was not fitted on the records, and its baseline."""
    training = overlap.training_examples(data, sets, 5 if quick else 1)
    vectors = {
        name: [overlap.vectors_of(record.pairs()) for record in records]
        for name, records in sets.items()
    }
    alone = {name: [words_alone(row) for row in rows] for name, rows in vectors.items()}
    of_words = replace(training, vectors=words_alone(training.vectors))
    return {
        f"{OverlapVerifier.name}{OUT_OF_DOMAIN}": held(fitted(sets, training, vectors), sets),
        "shared words": fitted(sets, of_words, alone),
    }


def coin(sets: Sets) -> Rows:
    """Return what a coin says of every record."""
    chance = random.Random(1)
    sides = Probabilities(1.0, 0.0, 0.0), Probabilities(0.0, 0.0, 1.0)
    return {
        name: [[sides[chance.random() < 0.5]] for _ in records] for name, records in sets.items()
    }


def measured(
    sets: Sets, arguments: argparse.Namespace
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Return the figures of each set and verifier, and the seconds a pair took each verifier."""
    probabilities = {"coin": coin(sets)}
    seconds: dict[str, float] = {}
    for name in filter(None, arguments.verifier.split(",")):
        rows, seconds[name] = predicted(make_verifier(name), sets)
        if name == OverlapVerifier.name:
            probabilities |= of_overlap(sets, arguments.data, arguments.quick)
        else:
            probabilities[f"{name}{OUT_OF_DOMAIN}"] = held(rows, sets)
    draws = 100 if arguments.quick else 1000
    figures = {
        of: {
            name: summary(VerifierScores.of(rows[of]), records, draws)
            for name, rows in probabilities.items()
        }
        for of, records in sets.items()
    }
    return figures, seconds


def published_figures(
    result: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, dict[str, float]]]:
    """Return what FIGURES has: by verifier and set, the figures out of domain."""
    by_verifier: dict[str, dict[str, dict[str, float]]] = {}
    for of, verifiers in result.items():
        for name, figures in verifiers.items():
            if name.endswith(OUT_OF_DOMAIN):
                values = {key: figures[key]["value"] for key in TOLD if key in figures}
                verifier = name.removesuffix(OUT_OF_DOMAIN)
                by_verifier.setdefault(verifier, {})[of] = {"n": figures["n"]} | values
    return by_verifier


def main() -> None:
    """Print a line for each set and verifier, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="fewer draws and training pairs")
    parser.add_argument("--verifier", default="overlap", help="names, divided by commas")
    parser.add_argument("--write", action="store_true", help="write what users are told")
    arguments = parser.parse_args()
    sets = load(arguments.data)
    if not sets:
        parser.error(f"{arguments.data} has none of the sets")
    result, seconds = measured(sets, arguments)
    for name, verifiers in result.items():
        for verifier, figures in verifiers.items():
            values = " ".join(
                f"{figure} {value['value']:.3f}"
                for figure, value in figures.items()
                if figure != "n"
            )
            print(f"{name} ({figures['n']}) {verifier}: {values}", file=sys.stderr)
    if arguments.write:
        known = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
        figures = json.dumps(known | published_figures(result), indent=1)
        FIGURES.write_text(figures + "\n", encoding="utf-8")
    micros = {name: round(1e6 * value, 1) for name, value in seconds.items()}
    print(json.dumps(result | {"microseconds_per_pair": micros}))


if __name__ == "__main__":
    main()
