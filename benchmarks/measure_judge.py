"""Measure verifiers against people, on the sets that `judge_sets.py` reads.

    python benchmarks/measure_judge.py [--data FOLDER] [--quick] [--verifier overlap,bundled]
        [--write]

What a verifier says is held to the rules of the judge (`ufo.transforms.verifiers.overlap`); beside
each there is the same without them, and with each rule alone.

`out of domain` is what a user's own texts meet: nothing was fitted on records of the measured sets.
`bundled` is shipped that way. `overlap` is shipped fitted on these very records, which flatters it,
so it is fitted again: `overlap, out of domain` on the pairs of `verifier/pairs.jsonl.gz` alone,
`overlap, out of fold` on all but the documents that each record is measured by. `shared words` is
that with one feature, the share of the claim's words that the passage says.

`figures` in `judge_figures.py` says what each figure is; the intervals are of 95 %, bootstrapped by
document. Of the set `claims`, `refuted_precision` and `refuted_recall` are what users are told: of
the claims that it calls contradicted, the share that people found false, and of the false ones the
share that it calls contradicted. `--write` writes the figures out of domain to
`transforms/verifiers/figures.json`. The last line is JSON: set, verifier, figure.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import fit_overlap  # noqa: E402
from benchmarks.judge_figures import Said, summary  # noqa: E402
from benchmarks.judge_sets import DATA, Record, load  # noqa: E402
from benchmarks.regressions import Array, Examples, examples_of  # noqa: E402
from ufo.transforms.verifiers.by_name import make_verifier  # noqa: E402
from ufo.transforms.verifiers.overlap import (  # noqa: E402
    DENIALS,
    OverlapVerifier,
    ruled,
)
from ufo.transforms.verifiers.texts import match  # noqa: E402
from ufo.transforms.verifiers.verifier import Probabilities, Verifier  # noqa: E402

FIGURES = ROOT / "transforms" / "verifiers" / "figures.json"
TOLD = ("balanced_accuracy", "auc", "refuted_precision", "refuted_recall", "refuted_called")
"""What FIGURES has of a set."""
FOLDS = 5
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
        found = iter(verifier.predict(asked))
        rows[name] = [[next(found) for _ in record.passages] for record in records]
        pairs += len(asked)
    seconds = (perf_counter() - start) / max(1, pairs)
    verifier.close()
    return rows, seconds


def held(rows: Rows, sets: Sets, *rules: Any, needs_ground: bool = True) -> Rows:
    """Return probabilities held to some rules of the judge."""
    return {
        name: [
            [
                ruled(match(pair), three, rules, needs_ground)
                for pair, three in zip(record.pairs(), row, strict=True)
            ]
            for record, row in zip(records, rows[name], strict=True)
        ]
        for name, records in sets.items()
    }


def by_rules(name: str, rows: Rows, sets: Sets) -> dict[str, Rows]:
    """Return what a verifier says as the judge has it, without the rules, and with one each."""
    plain = f"{name}, no rules"
    found = {name: held(rows, sets, *DENIALS), plain: rows}
    for rule in DENIALS:
        found[f"{name}, {rule.__name__} alone"] = held(rows, sets, rule, needs_ground=False)
    return found


def out_of_fold(
    vectors: Vectors, sets: Sets, training: Examples | None, repeats: int
) -> list[Rows]:
    """Return, for each repeat, what weights say that were fitted on other documents."""
    documents = sorted({record.document for records in sets.values() for record in records})
    chosen = {n: np.array([fit_overlap.representative(row) for row in vectors[n]]) for n in sets}
    labels = {n: np.array([record.label for record in records]) for n, records in sets.items()}
    runs: list[Rows] = []
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(len(documents))
        fold_of = {documents[row]: place % FOLDS for place, row in enumerate(order)}
        folds = {n: np.array([fold_of[r.document] for r in rs]) for n, rs in sets.items()}
        said: Rows = {name: [[]] * len(records) for name, records in sets.items()}
        for fold in range(FOLDS):
            parts = [] if training is None else [training]
            for name, share in fit_overlap.SHARES.items():
                if name in sets:
                    seen = folds[name] != fold
                    parts.append(examples_of(chosen[name][seen], labels[name][seen], share))
            weights = fit_overlap.fit(parts)
            for name in sets:
                for row in map(int, np.flatnonzero(folds[name] == fold)):
                    said[name][row] = fit_overlap.apply(weights, vectors[name][row])
        runs.append(said)
    return runs


def shared_words(vectors: Vectors) -> dict[str, list[Array]]:
    """Return vectors with one feature, the share of words said; all others are the same for all."""
    return {
        name: [np.where(np.arange(row.shape[1]) == 0, row, 1.0) for row in rows]
        for name, rows in vectors.items()
    }


def of_overlap(sets: Sets, data: Path, quick: bool) -> dict[str, list[Rows]]:
    """Return what `overlap` says where it was not fitted on the records, and its baseline."""
    repeats = 1 if quick else 5
    training = fit_overlap.training_examples(data, sets, 5 if quick else 1)
    vectors = {
        name: [fit_overlap.vectors_of(record.pairs()) for record in records]
        for name, records in sets.items()
    }
    runs = out_of_fold(vectors, sets, training, repeats)
    found = {"overlap, out of fold": [held(rows, sets, *DENIALS) for rows in runs]}
    if training is not None:
        weights = fit_overlap.fit([training])
        away = {n: [fit_overlap.apply(weights, row) for row in rows] for n, rows in vectors.items()}
        named = by_rules(f"overlap{OUT_OF_DOMAIN}", away, sets)
        found |= {name: [rows] for name, rows in named.items()}
    found["shared words"] = out_of_fold(shared_words(vectors), sets, None, repeats)
    return found


def measured(
    sets: Sets, arguments: argparse.Namespace
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Return the figures of each set and verifier, and the seconds a pair took each verifier."""
    said: dict[str, list[Rows]] = {}
    seconds: dict[str, float] = {}
    for name in filter(None, arguments.verifier.split(",")):
        rows, seconds[name] = predicted(make_verifier(name), sets)
        if name == OverlapVerifier.name:
            said[name] = [held(rows, sets, *DENIALS)]
            said |= of_overlap(sets, arguments.data, arguments.quick)
        else:
            named = by_rules(f"{name}{OUT_OF_DOMAIN}", rows, sets)
            said |= {each: [held_rows] for each, held_rows in named.items()}
    draws = 100 if arguments.quick else 1000
    figures = {
        of: {
            name: summary([Said.of(rows[of]) for rows in runs], records, draws)
            for name, runs in said.items()
        }
        for of, records in sets.items()
    }
    return figures, seconds


def told(result: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Return what FIGURES has: by verifier and set, the figures out of domain."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for of, verifiers in result.items():
        for name, figures in verifiers.items():
            if name.endswith(OUT_OF_DOMAIN):
                values = {key: figures[key]["value"] for key in TOLD if key in figures}
                verifier = name.removesuffix(OUT_OF_DOMAIN)
                found.setdefault(verifier, {})[of] = {"n": figures["n"]} | values
    return found


def main() -> None:
    """Print a line for each set and verifier, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="fewer draws, folds drawn once")
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
        FIGURES.write_text(json.dumps(known | told(result), indent=1) + "\n", encoding="utf-8")
    micros = {name: round(1e6 * value, 1) for name, value in seconds.items()}
    print(json.dumps(result | {"microseconds_per_pair": micros}))


if __name__ == "__main__":
    main()
