"""The shipped model on pairs that were written for this project and are in no training."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.verifiers.bundled import BundledVerifier
from ufo.transforms.verifiers.overlap import ruled
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair


@pytest.fixture(scope="module")
def verifier() -> Iterator[BundledVerifier]:
    made = BundledVerifier()
    made.open()
    yield made
    made.close()


def rows(name: str) -> list[dict[str, Any]]:
    with Path(__file__).with_name(name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def share(verifier: BundledVerifier, pairs: Sequence[Pair], outcome: str) -> float:
    said = [
        ruled(match(pair), one) for pair, one in zip(pairs, verifier.predict(pairs), strict=True)
    ]
    return sum(one.outcome == outcome for one in said) / len(said)


def test_it_reads_who_did_what_to_whom(verifier: BundledVerifier) -> None:
    told = rows("roles.jsonl")
    true = [Pair(row["claim"], row["passage"]) for row in told]
    exchanged = [Pair(row["exchanged"], row["passage"]) for row in told]
    assert len({row["relation"] for row in told}) > 25
    # Measured .95 and .65; words alone call all of both supported.
    assert share(verifier, true, SUPPORTED) >= 0.93
    assert share(verifier, exchanged, SUPPORTED) <= 0.7


def test_what_is_said_of_another_contradicts_nothing(verifier: BundledVerifier) -> None:
    pairs: dict[str, list[Pair]] = {"other": [], "contradicted": []}
    for row in rows("subjects.jsonl"):
        pairs[row["label"]].append(Pair(row["claim"], row["passage"], row["title"]))
    assert share(verifier, pairs["other"], REFUTED) <= 0.15
    assert share(verifier, pairs["contradicted"], REFUTED) >= 0.6
