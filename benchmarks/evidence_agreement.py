"""How far a run agrees with people, by sentence: claims and sentences as units are held against
the same labels. For `measure_evidence.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Labels:
    """What people said: of sentences 1 or 0, of responses 0 to 1."""

    sentences: Mapping[Key, int]
    responses: Mapping[str, float]


def labels_of(result: Any) -> Labels:
    """Return the labels of a run's input.

    A sentence's own label, else 0 where one of its claims is labelled 0, 1 where all are 1. A
    response's own, else the mean over its labelled claims, or else sentences.
    """
    sentences: dict[Key, int] = {}
    claims = result.sql(
        "SELECT response_id, sentence_index, min(human_label) AS label FROM fact_units "
        "WHERE human_label IS NOT NULL AND sentence_index IS NOT NULL GROUP BY ALL"
    )
    own = result.sql(
        "SELECT response_id, sentence_index, human_label AS label FROM sentences "
        "WHERE human_label IS NOT NULL"
    )
    for row in claims.to_pylist() + own.to_pylist():
        sentences[row["response_id"], row["sentence_index"]] = row["label"]
    responses = result.sql(
        "SELECT response_id, coalesce(any_value(human_score), avg(u.human_label), "
        "avg(s.human_label)) AS label FROM responses "
        "LEFT JOIN fact_units u USING (response_id) LEFT JOIN sentences s USING (response_id) "
        "GROUP BY response_id"
    )
    return Labels(
        sentences,
        {
            row["response_id"]: row["label"]
            for row in responses.to_pylist()
            if row["label"] is not None
        },
    )


def agreement(result: Any, labels: Labels) -> dict[str, Any]:
    """Agreement of a run's verdicts with labels.

    A sentence is said to be wrong where one of its units is refuted, right where all of its decided
    units are supported. `coverage` is the share of labelled sentences of which either is said;
    `accuracy`, `balanced_accuracy` and `kappa` (Cohen 1960) are over those, `right` is the share of
    all labelled sentences of which the same is said as people do. `response_error` is the mean
    distance of a response's factuality score from people's.
    """
    said = {
        (row["response_id"], row["sentence_index"]): row["label"]
        for row in result.sql(
            "SELECT f.response_id, f.sentence_index, min(v.label) AS label FROM verdicts v "
            "JOIN fact_units f USING (response_id, unit_id) "
            "WHERE v.label IS NOT NULL AND f.sentence_index IS NOT NULL GROUP BY ALL"
        ).to_pylist()
    }
    pairs = [(label, said[key]) for key, label in labels.sentences.items() if key in said]
    same = sum(label == guess for label, guess in pairs)
    total = len(labels.sentences)
    return {
        "labelled": total,
        "accuracy": _share(same, len(pairs)),
        "balanced_accuracy": _balanced(pairs),
        "kappa": _kappa(pairs),
        "coverage": _share(len(pairs), total),
        "right": _share(same, total),
        "response_error": _error(result, labels.responses),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _balanced(pairs: list[tuple[int, int]]) -> float | None:
    recalls = []
    for value in (0, 1):
        of = [guess for label, guess in pairs if label == value]
        if of:
            recalls.append(of.count(value) / len(of))
    return round(mean(recalls), 4) if recalls else None


def _kappa(pairs: list[tuple[int, int]]) -> float | None:
    if not pairs:
        return None
    n = len(pairs)
    ours, theirs = (sum(pair[side] for pair in pairs) / n for side in (1, 0))
    chance = ours * theirs + (1 - ours) * (1 - theirs)
    if chance == 1:
        return None  # both said the same of everything: nothing beyond chance can be seen
    return round((sum(a == b for a, b in pairs) / n - chance) / (1 - chance), 4)


def _error(result: Any, responses: Mapping[str, float]) -> float | None:
    scores = result.scores.select(["response_id", "factuality_score"]).to_pylist()
    distances = [
        abs(row["factuality_score"] - responses[row["response_id"]])
        for row in scores
        if row["factuality_score"] is not None and row["response_id"] in responses
    ]
    return round(mean(distances), 4) if distances else None
