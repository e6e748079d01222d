"""Compute what a verifier is worth on a set: AUC, balanced accuracy, refuted.

Every figure is a function of weights on the records, so that a bootstrap that draws whole documents
only has to count how often it drew each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.accuracy.sets import REFUTED, SUPPORTED, Record
from ufo.transforms.verifiers.verifier import Probabilities

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class VerifierScores:
    """What a verifier says of the records of a set.

    `score` is the highest probability of "supported" over a record's passages. A record counts as
    supported where more passages support than refute it, and as refuted where more refute it.
    """

    score: Array
    against: Array  # The highest probability of "refuted".
    supported: Array
    refuted: Array

    @classmethod
    def of(cls, rows: Sequence[Sequence[Probabilities]]) -> "VerifierScores":
        """Pool the probabilities of each record's passages."""
        votes = [sum(_vote(p) for p in row) for row in rows]
        return cls(
            np.array([max((p.supported for p in row), default=0.0) for row in rows]),
            np.array([max((p.refuted for p in row), default=0.0) for row in rows]),
            np.array([vote > 0 for vote in votes]),
            np.array([vote < 0 for vote in votes]),
        )


def _vote(p: Probabilities) -> int:
    """Return 1 for "supported", -1 for "refuted", else 0."""
    return {SUPPORTED: 1, REFUTED: -1}.get(p.outcome, 0)


def auc(score: Array, truth: Array, weight: Array) -> float:
    """Return the chance that a true record scores above a false one, ties counting half."""
    order = np.argsort(score, kind="stable")
    score, truth, weight = score[order], truth[order], weight[order]
    starts = np.r_[0, np.flatnonzero(np.diff(score)) + 1]
    true = np.add.reduceat(weight * truth, starts)
    false = np.add.reduceat(weight * ~truth, starts)
    below = np.cumsum(false) - false
    total = true.sum() * false.sum()
    return float((true * (below + false / 2)).sum() / total) if total else float("nan")


def balanced_accuracy(positive: Array, truth: Array, weight: Array) -> float:
    """Return the mean of the two classes' recall."""
    recalls = [_share(positive == truth, weight * (truth == of)) for of in (True, False)]
    return float(np.mean(recalls))


def precision_recall_f1(positive: Array, truth: Array, weight: Array) -> tuple[float, float, float]:
    """Return the three for the records where `truth` holds."""
    hits = float((weight * (positive & truth)).sum())
    called, there = float((weight * positive).sum()), float((weight * truth).sum())
    precision = hits / called if called else 0.0
    recall = hits / there if there else float("nan")
    return precision, recall, 2 * hits / max(called + there, 1e-9)


def _share(hits: Array, weight: Array) -> float:
    total = weight.sum()
    return float((weight * hits).sum() / total) if total else float("nan")


def figures(verdicts: VerifierScores, labels: Sequence[str], weight: Array) -> dict[str, float]:
    """Return the figures of one set; those of refuted only where people labelled it.

    `auc` and `balanced_accuracy` count supported against the rest. For the false
    records, `refuted_*` counts one as recognised where more passages refute than support it, and
    `unsupported_*` where supporting passages are not in the majority: refuted or undecided.
    `refuted_called` counts the records of which more passages refute than support them.
    """
    named = np.array(labels)
    truth = named == SUPPORTED
    measures = {
        "auc": auc(verdicts.score, truth, weight),
        "balanced_accuracy": balanced_accuracy(verdicts.supported, truth, weight),
    }
    false = named == REFUTED
    if false.any():
        measures["refuted_auc"] = auc(verdicts.against, false, weight)
        for name, called in (("refuted", verdicts.refuted), ("unsupported", ~verdicts.supported)):
            three = precision_recall_f1(called, false, weight)
            names = [f"{name}_{of}" for of in ("precision", "recall", "f1")]
            measures |= zip(names, three, strict=True)
        measures["refuted_called"] = float((weight * verdicts.refuted).sum())
    return measures


def summary(verdicts: VerifierScores, records: Sequence[Record], draws: int) -> dict[str, Any]:
    """Return each figure with its 95 % bootstrap interval, by whole documents."""
    labels = [record.label for record in records]
    names, of = np.unique([record.document for record in records], return_inverse=True)
    random = np.random.default_rng(0)
    chances = np.full(len(names), 1 / len(names))
    drawn = [
        figures(verdicts, labels, random.multinomial(len(names), chances)[of]) for _ in range(draws)
    ]
    result: dict[str, Any] = {"n": len(records)}
    for name, value in figures(verdicts, labels, np.ones(len(records))).items():
        low, high = np.nanpercentile([one[name] for one in drawn], [2.5, 97.5])
        result[name] = {"value": _round(value), "interval": [_round(low), _round(high)]}
    return result


def _round(value: float) -> float:
    return round(float(value), 4)
