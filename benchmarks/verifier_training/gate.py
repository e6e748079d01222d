"""What the bundled verifier is worth beside `overlap`, on records that neither has seen.

Both are as fitted to other sets alone. Every set's differences are paired by document, and have a
bootstrapped interval of 95 %. Of the pairs about roles and about other subjects it is counted how
often each outcome is said.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import fit_overlap
from benchmarks.judge_figures import Said, figures
from benchmarks.judge_sets import NOANS, REFUTED, SUPPORTED, Record
from ufo.transforms.sentences import segment
from ufo.transforms.verifiers.overlap import REFUTED_WITH_GROUND, REFUTED_WITHOUT, WEIGHTS, ruled
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "transforms" / "verifiers" / "bundled"
DIFFERS = list(WEIGHTS).index("differs")
Predict = Callable[[Sequence[Pair]], list[Probabilities]]


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def overlap_alone(data: Path, sets: Mapping[str, Sequence[Record]]) -> dict[str, float]:
    """Return the weights of `overlap` fitted to other sets than the measured ones."""
    training = fit_overlap.training_examples(data, sets)
    assert training is not None, "no training pairs"
    return fit_overlap.fit([training])


def measured(
    bundled: Predict,
    weights: Mapping[str, float],
    data: Path,
    sets: Mapping[str, Sequence[Record]],
    draws: int,
) -> dict[str, Any]:
    """Return the figures of both verifiers on every set, and their counts on the tests' pairs."""
    slopes = np.array([weights[name] for name in WEIGHTS])

    def overlap(pairs: Sequence[Pair]) -> list[Probabilities]:
        rows = fit_overlap.vectors_of(pairs)
        supported = 1 / (1 + np.exp(-(rows @ slopes + weights["intercept"])))
        share = np.where(rows[:, DIFFERS], REFUTED_WITH_GROUND, REFUTED_WITHOUT)
        refuted = (1 - supported) * share
        three = np.stack([supported, refuted, 1 - supported - refuted], axis=1)
        return [Probabilities(*row) for row in three.tolist()]

    both = {"bundled": remembered(bundled), "overlap": remembered(overlap)}
    return {
        how: _measured({name: held_to(of) for name, of in both.items()}, data, sets, draws)
        for how, held_to in (("with rules", by_rules), ("without", lambda of: of))
    }


def remembered(predict: Predict) -> Predict:
    """Return the same predictions, each pair's computed once."""
    known: dict[Pair, Probabilities] = {}

    def told(pairs: Sequence[Pair]) -> list[Probabilities]:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        known.update(zip(new, predict(new) if new else (), strict=True))
        return [known[pair] for pair in pairs]

    return told


def by_rules(predict: Predict) -> Predict:
    """Return a verifier's predictions as the offline judge takes them."""
    return lambda pairs: [
        ruled(match(pair), said) for pair, said in zip(pairs, predict(pairs), strict=True)
    ]


def _measured(
    both: Mapping[str, Predict], data: Path, sets: Mapping[str, Sequence[Record]], draws: int
) -> dict[str, Any]:
    pages, written = subjects_of_pages(data), read(TESTS / "subjects.jsonl")
    return {
        "sets": compared(sets, both["bundled"], both["overlap"], draws),
        "roles": {name: roles(of) for name, of in both.items()},
        "subjects of real pages": {name: subjects(of, pages) for name, of in both.items()},
        "subjects of written passages": {name: subjects(of, written) for name, of in both.items()},
    }


def compared(
    sets: Mapping[str, Sequence[Record]], one: Predict, other: Predict, draws: int
) -> dict[str, dict[str, Any]]:
    """Return the figures of both and their differences, by set."""
    found = {}
    for name, records in sets.items():
        said = [_said(records, predict) for predict in (one, other)]
        labels = [record.label for record in records]
        names, of = np.unique([record.document for record in records], return_inverse=True)
        chance = np.random.default_rng(0)
        even = np.full(len(names), 1 / len(names))
        weights = [chance.multinomial(len(names), even)[of] for _ in range(draws)]
        whole = [figures(each, labels, np.ones(len(records))) for each in said]
        drawn = [[figures(each, labels, weight) for each in said] for weight in weights]
        found[name] = {"n": len(records)} | {
            figure: {
                "bundled": round(value, 4),
                "overlap": round(whole[1][figure], 4),
                "difference": round(value - whole[1][figure], 4),
                "interval": _interval([a[figure] - b[figure] for a, b in drawn]),
            }
            for figure, value in whole[0].items()
        }
    return found


def _said(records: Sequence[Record], predict: Predict) -> Said:
    told = iter(predict([pair for record in records for pair in record.pairs()]))
    return Said.of([[next(told) for _ in record.passages] for record in records])


def _interval(values: Sequence[float]) -> list[float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]


def roles(predict: Predict) -> dict[str, float]:
    """Return how often true claims and claims with exchanged roles are called supported."""
    rows = read(TESTS / "roles.jsonl")
    shares = {}
    for name, of in (("true", "claim"), ("exchanged", "exchanged")):
        said = predict([Pair(row[of], row["passage"]) for row in rows])
        shares[f"{name} called supported"] = _share(said, SUPPORTED)
        shares[f"{name} called refuted"] = _share(said, REFUTED)
    return shares


def subjects(predict: Predict, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return how often a passage about another, and one that contradicts, is called refuted."""
    shares = {}
    for label in ("other", "contradicted"):
        pairs = [
            Pair(row["claim"], row["passage"], row["title"])
            for row in rows
            if row["label"] == label
        ]
        said = predict(pairs)
        for outcome in (SUPPORTED, REFUTED, NOANS):
            shares[f"{label} called {outcome}"] = _share(said, outcome)
    return shares


def subjects_of_pages(data: Path) -> list[dict[str, Any]]:
    """Return the rows of `subjects.jsonl`, with the sentences that they point to."""
    rows = read(data / "hotpotqa" / "passages.jsonl")
    texts = {row["title"]: row["text"] for row in rows}
    found = []
    for row in read(ROOT / "benchmarks" / "subjects.jsonl"):
        text = texts[row["title"]]
        spans = segment(text)
        sentences = [text[spans[at].start : spans[at].end] for at in row["sentences"]]
        found.append(row | {"passage": " ".join(sentences)})
    return found


def _share(said: Sequence[Probabilities], outcome: str) -> float:
    return round(sum(one.outcome == outcome for one in said) / len(said), 4)
