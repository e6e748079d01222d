"""Measure verifiers against people, on the sets that `judge_sets.py` reads.

    python benchmarks/measure_judge.py [--data FOLDER] [--quick] [--verifier overlap]
        [--scores FILE] [--pairs FILE]

Every verifier is measured as it is shipped. Where its weights were fitted on these very records,
that flatters it: of `overlap` there is therefore also `overlap, out of fold`, fitted without the
documents that each record is measured by, and beside it `shared words`, the same procedure with
one feature: the share of the claim's content words that the passage says. On records that nothing
was fitted on, the shipped figures are the ones to read.

`--scores` takes the out-of-fold probabilities that a training script wrote, in JSON Lines with
`set`, `key`, `supported`, `refuted` and `noans`; `key` is the SHA-256 of claim, newline and
passage in hexadecimal. `--pairs` writes the pairs to score in that form: `set`, `key`, `claim`,
`passage`, `label` (of the record that the pair belongs to) and `document`.

`figures` in `judge_figures.py` says what each figure is; the intervals are of 95 %, bootstrapped by
document. For the table of false claims, read the set `claims`: `refuted_recall` and
`refuted_precision` where a claim is called false only if more passages refute than support it,
`unsupported_recall` and `unsupported_precision` where it is called false unless more support it.
`overlap, other sets alone` needs the training pairs, `verifier/pairs.jsonl.gz`; without them the
folds are fitted on the sets that there are. The last line is JSON: set, verifier, figure.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import fit_overlap  # noqa: E402
from benchmarks.judge_figures import Said, summary  # noqa: E402
from benchmarks.judge_sets import DATA, Record, key_of, load  # noqa: E402
from benchmarks.regressions import Examples, examples_of, fit  # noqa: E402
from ufo.transforms.english.words import read  # noqa: E402
from ufo.transforms.verifiers.base import Pair, Probabilities, Verifier  # noqa: E402
from ufo.transforms.verifiers.overlap import NAMES  # noqa: E402

from ufo.transforms.verifiers.registry import make_verifier  # noqa: E402

FOLDS = 5
Sets = Mapping[str, Sequence[Record]]
Rows = list[list[Probabilities]]


def predicted(verifier: Verifier, sets: Sets) -> tuple[dict[str, Rows], float]:
    """Return what a verifier says of every record, and the seconds that a pair took."""
    verifier.open()
    rows: dict[str, Rows] = {}
    pairs, start = 0, perf_counter()
    for name, records in sets.items():
        asked = [pair for record in records for pair in record.pairs()]
        found = iter(verifier.predict(asked))
        rows[name] = [[next(found) for _ in record.passages] for record in records]
        pairs += len(asked)
    seconds = (perf_counter() - start) / max(1, pairs)
    verifier.close()
    return rows, seconds


def from_file(path: Path, sets: Sets) -> dict[str, Rows]:
    """Return the probabilities that a file has, of the sets that it covers."""
    known: dict[tuple[str, str], Probabilities] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            three = Probabilities(row["supported"], row["refuted"], row["noans"])
            known[row["set"], row["key"]] = three
    covered = {name for name, _ in known}
    try:
        return {
            name: [[known[name, key_of(pair)] for pair in record.pairs()] for record in records]
            for name, records in sets.items()
            if name in covered
        }
    except KeyError as error:
        raise SystemExit(f"{path} has no scores for the pair {error.args[0]}") from None


def write_pairs(path: Path, sets: Sets) -> None:
    """Write every pair of every set, for scripts that score them."""
    with path.open("w", encoding="utf-8") as file:
        for name, records in sets.items():
            for record in records:
                for pair in record.pairs():
                    row = {"set": name, "key": key_of(pair), "claim": pair.claim}
                    row |= {"passage": pair.passage, "label": record.label}
                    file.write(json.dumps(row | {"document": record.document}) + "\n")


def shared_words(pair: Pair) -> float:
    """Return the share of the claim's content words that the passage says."""
    claim = {word.stem for word in read(pair.claim) if word.kind}
    passage = {word.stem for word in read(pair.passage) if word.kind}
    return len(claim & passage) / max(1, len(claim))


def out_of_fold(
    vectors: Mapping[str, Sequence[Any]],
    sets: Sets,
    training: Examples | None,
    repeats: int,
) -> dict[str, list[Said]]:
    """Return, for each repeat, what weights say that were fitted on other documents."""
    documents = sorted({record.document for records in sets.values() for record in records})
    runs: dict[str, list[Said]] = {name: [] for name in sets}
    chosen = {
        name: np.array([fit_overlap.representative(rows) for rows in vectors[name]])
        for name in sets
    }
    labels = {name: np.array([r.label for r in records]) for name, records in sets.items()}
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(len(documents))
        fold_of = {documents[row]: place % FOLDS for place, row in enumerate(order)}
        folds = {n: np.array([fold_of[r.document] for r in rs]) for n, rs in sets.items()}
        said: dict[str, dict[int, list[Probabilities]]] = {name: {} for name in sets}
        for fold in range(FOLDS):
            parts = [] if training is None else [training]
            for name, share in fit_overlap.SHARES.items():
                if name in sets:
                    seen = folds[name] != fold
                    parts.append(examples_of(chosen[name][seen], labels[name][seen], share))
            weights = fit(parts, NAMES, fit_overlap.REFUTED_FEATURES)
            for name in sets:
                for row in map(int, np.flatnonzero(folds[name] == fold)):
                    said[name][row] = fit_overlap.apply(weights, vectors[name][row])
        for name, records in sets.items():
            runs[name].append(Said.of([said[name][row] for row in range(len(records))]))
    return runs


def alone(vectors: Iterable[Any]) -> list[Any]:
    """Return vectors with all features but the first put to zero."""
    return [np.where(np.arange(rows.shape[1]) == 0, rows, 0.0) for rows in vectors]


def main() -> None:
    """Print a line for each set and verifier, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="fewer draws, folds drawn once")
    parser.add_argument("--verifier", default="overlap", help="names, divided by commas")
    parser.add_argument("--scores", type=Path, help="out-of-fold probabilities, JSON Lines")
    parser.add_argument("--pairs", type=Path, help="only write the pairs to score here")
    arguments = parser.parse_args()
    sets = load(arguments.data)
    if not sets:
        parser.error(f"{arguments.data} has none of the sets")
    if arguments.pairs:
        write_pairs(arguments.pairs, sets)
        return
    result, seconds = measured(sets, arguments)
    for name, verifiers in result.items():
        for verifier, figures in verifiers.items():
            values = " ".join(
                f"{figure} {value['value']:.3f}"
                for figure, value in figures.items()
                if figure != "n"
            )
            print(f"{name} ({figures['n']}) {verifier}: {values}", file=sys.stderr)
    micros = {name: round(1e6 * value, 1) for name, value in seconds.items()}
    print(json.dumps(result | {"microseconds_per_pair": micros}))


def measured(
    sets: Sets, arguments: argparse.Namespace
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Return the figures of each set and verifier, and the seconds a pair took each verifier."""
    draws, repeats = (100, 1) if arguments.quick else (1000, 5)
    said: dict[str, dict[str, list[Said]]] = {name: {} for name in sets}
    seconds: dict[str, float] = {}
    names = [name for name in arguments.verifier.split(",") if name]
    for name in names:
        rows, seconds[name] = predicted(make_verifier(name), sets)
        for of, found in rows.items():
            said[of][name] = [Said.of(found)]
    if OverlapVerifier.name in names:
        training = fit_overlap.training_examples(arguments.data, sets, 5 if arguments.quick else 1)
        vectors = {
            name: [fit_overlap.vectors_of(record.pairs()) for record in records]
            for name, records in sets.items()
        }
        for of, runs in out_of_fold(vectors, sets, training, repeats).items():
            said[of]["overlap, out of fold"] = runs
        if training is not None:
            weights = fit([training], NAMES, fit_overlap.REFUTED_FEATURES)
            for of, of_records in vectors.items():
                others = [fit_overlap.apply(weights, row) for row in of_records]
                said[of]["overlap, other sets alone"] = [Said.of(others)]
        for name, records in sets.items():
            for rows_of, record in zip(vectors[name], records, strict=True):
                rows_of[:, 0] = [shared_words(pair) for pair in record.pairs()]
        only = {name: alone(rows) for name, rows in vectors.items()}
        for of, runs in out_of_fold(only, sets, None, repeats).items():
            said[of]["shared words"] = runs
    if arguments.scores:
        for of, found in from_file(arguments.scores, sets).items():
            said[of][arguments.scores.stem] = [Said.of(found)]
    figures = {
        of: {name: summary(runs, sets[of], draws) for name, runs in verifiers.items()}
        for of, verifiers in said.items()
    }
    return figures, seconds


if __name__ == "__main__":
    main()
