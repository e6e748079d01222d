"""What models say of pairs and of the records that are measured, and the regressions over it."""

from collections.abc import Mapping, Sequence

import numpy as np
from transformers import BertForSequenceClassification
from ufo.transforms.verifiers.overlap.features import NAMES, features

from benchmarks.fit_overlap import REFUTED_FEATURES, SHARES, TRAINING
from benchmarks.judge_sets import Record
from benchmarks.regressions import Array, Examples, examples_of, examples_of_families, fit
from benchmarks.verifier_training.folds import FOLDS
from benchmarks.verifier_training.pairs import FAMILIES, Labelled, family, for_last_layer
from benchmarks.verifier_training.training import logits_of
from ufo.transforms.verifiers.base import Pair, Probabilities
from ufo.transforms.verifiers.bundled.encoding import Encoder
from ufo.transforms.verifiers.bundled.verifier import INPUTS, log_odds
from ufo.transforms.verifiers.regressions import Regressions

_MODEL_SUPPORTED = INPUTS.index("model_supported")
KEPT = 500
"""Pairs of a family of other sets, at most, that no model saw."""
REFUTED_INPUTS = (*REFUTED_FEATURES, "said", "model_refuted")
"""`said` among them: what says nothing of a claim does not refute it."""
Vectors = dict[str, list[Array]]
Weights = Mapping[str, tuple[float, float]]


def vectors_of(
    model: BertForSequenceClassification, encoder: Encoder, pairs: Sequence[Pair], words: int
) -> Array:
    """Return INPUTS (n, inputs) of pairs; equal pairs are read once."""
    distinct = list(dict.fromkeys(pairs))
    logits = logits_of(model, [encoder.encode(pair, words) for pair in distinct]).numpy()
    measured = np.array([features(pair) for pair in distinct]).reshape(-1, len(NAMES))
    rows = np.c_[measured, log_odds(logits)]
    place = {pair: row for row, pair in enumerate(distinct)}
    return np.asarray(rows[[place[pair] for pair in pairs]])


def of_sets(
    model: BertForSequenceClassification,
    encoder: Encoder,
    sets: Mapping[str, Sequence[Record]],
    words: int,
) -> Vectors:
    """Return the vectors of each record's passages."""
    pairs = [pair for records in sets.values() for record in records for pair in record.pairs()]
    rows = iter(vectors_of(model, encoder, pairs, words))
    return {
        name: [np.array([next(rows) for _ in record.passages]) for record in records]
        for name, records in sets.items()
    }


def representative(rows: Array) -> Array:
    """Return the vector of the passage that supports a claim most by the model alone."""
    return np.asarray(rows[int(np.argmax(rows[:, _MODEL_SUPPORTED]))])


def fitted(
    vectors: Vectors,
    sets: Mapping[str, Sequence[Record]],
    used: Mapping[str, Sequence[bool]],
    others: Examples,
) -> Weights:
    """Return the regressions of the records that are used, and of other examples."""
    parts = [others]
    for name, share in SHARES.items():
        chosen = [at for at, use in enumerate(used.get(name, ())) if use]
        if chosen:
            rows = np.array([representative(vectors[name][at]) for at in chosen])
            labels = np.array([sets[name][at].label for at in chosen])
            parts.append(examples_of(rows, labels, share))
    return fit(parts, INPUTS, REFUTED_INPUTS)


def probabilities(weights: Weights, rows: Array) -> list[Probabilities]:
    """Return what the regressions say of the rows' pairs."""
    found = Regressions.of(weights, INPUTS)
    return [found.probabilities(row) for row in rows.tolist()]


def unseen_examples(
    model: BertForSequenceClassification,
    encoder: Encoder,
    known: Sequence[Labelled],
    words: int,
) -> Examples:
    """Return the pairs that no model saw, of sets that are not measured, as examples."""
    items = [
        item
        for name in FAMILIES
        for item in [i for i in known if for_last_layer(i) and family(i.origin) == name][:KEPT]
    ]
    rows = vectors_of(model, encoder, [item.pair for item in items], words)
    labels = np.array([item.label for item in items])
    families = np.array([family(item.origin) for item in items])
    return examples_of_families(rows, labels, families, TRAINING)


def out_of_fold(
    held: Vectors,
    sets: Mapping[str, Sequence[Record]],
    folds: Mapping[str, int],
    kept: Examples,
) -> dict[str, list[list[Probabilities]]]:
    """Return what regressions say that were fitted to the other folds."""
    said: dict[str, list[list[Probabilities]]] = {n: [[]] * len(rs) for n, rs in sets.items()}
    for fold in range(FOLDS):
        used = {n: [folds[r.document] != fold for r in rs] for n, rs in sets.items()}
        weights = fitted(held, sets, used, kept)
        for name, uses in used.items():
            for at, use in enumerate(uses):
                if not use:
                    said[name][at] = probabilities(weights, held[name][at])
    return said
