"""The pairs that the bundled verifier is trained on, and how often each is seen."""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from ufo.transforms.verifiers.verifier import Pair

LABELS = ("supported", "refuted", "noans", "not")
"""`not` is refuted or noans: the labels of the set do not say which."""
MEASURED = ("factcheck_gpt", "wice", "begin")
"""Origins of the sets that verifiers are measured on: never trained on."""
_TIMES = {
    "breaking_nli": 0.15,
    "med": 0.25,
    "esnli": 0.3,
    "fm2": 3.0,
    "fever_symmetric": 3.0,
    "expertqa": 2.0,
    "summedits": 1.5,
    "q2": 2.0,
    "made": 0.6,
    "made_cut": 1.0,
    "made_exchanged": 1.0,
    "made_fact": 1.0,
    "made_relative": 2.0,
    "made_roles": 1.5,
    "made_subject": 1.0,
    "made_symmetric": 2.0,
}
_PAGES = ("hp-", "wiki-")
"""What the document of a pair made from a page's text begins with, before its title."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with its label, where it is from and the document it belongs to."""

    pair: Pair
    label: str
    origin: str
    document: str


def read_pairs(path: Path) -> list[Labelled]:
    """Return the licensed pairs of sets and pages that are not measured."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["label"] in LABELS]
        found = [of_row(row) for row in rows if row["licensed"]]
    return [
        item
        for item in found
        if not item.origin.startswith(MEASURED)
        and not any(
            item.document.startswith(start) and left_to_tests(item.document.removeprefix(start))
            for start in _PAGES
        )
    ]


def of_row(row: dict[str, Any]) -> Labelled:
    """Return one row of a file of pairs."""
    pair = Pair(row["claim"], row["passage"], row.get("title", ""))
    return Labelled(pair, row["label"], row["origin"], row["document"])


def licences(path: Path) -> dict[str, str]:
    """Return the licence of each origin, as the file states it."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {record["origin"]: record["licence"] for record in map(json.loads, file)}


def left_to_tests(title: str) -> bool:
    """Return whether a page is left to the tests (`benchmarks/subjects.jsonl`): one in eight."""
    return crc32(title.encode()) % 8 == 1


def held(document: str) -> bool:
    """Return whether no model sees a document's pairs: the last layer is fitted to them.

    That is one document in ten, by a checksum of its name.
    """
    return crc32(document.encode()) % 10 == 0


def family(origin: str) -> str:
    """Return the set that an origin belongs to, what was corrupted with what it was."""
    return origin.removesuffix("_cor").split("_")[0]


def passes(items: Sequence[Labelled], seed: int) -> Iterator[list[Labelled]]:
    """Yield the pairs of one pass after the other, shuffled, each as often as its origin says."""
    number = 0
    while True:
        chance = random.Random(f"{seed} {number}")
        seen = []
        for item in items:
            origin = item.origin.removesuffix("_cor").removesuffix("_noans")
            often = _TIMES.get(origin, _TIMES.get(origin.split("_")[0], 1.0))
            seen += [item] * (int(often) + (chance.random() < often % 1))
        chance.shuffle(seen)
        yield seen
        number += 1
