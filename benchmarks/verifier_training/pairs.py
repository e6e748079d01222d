"""The pairs that the bundled verifier is trained on, and how often each is seen."""

import gzip
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from ufo.transforms.verifiers.base import Pair

LABELS = ("supported", "refuted", "noans", "not")
"""`not` is refuted or noans: the labels of the set do not say which."""
FAMILIES = ("fm2", "fever", "expertqa", "summedits", "q2", "syn", "made")
"""Sets of passages and claims about the world."""
IN_DOMAIN = ("factcheck_gpt", "wice", "begin")
"""Origins of the sets that the verifier is measured on."""
_TIMES = {
    "breaking_nli": 0.35,
    "med": 0.5,
    "esnli": 0.6,
    "fm2": 2.0,
    "fever_symmetric": 2.0,
    "expertqa": 2.0,
    "summedits": 1.5,
    "q2": 2.0,
}
_TIMES_IN_DOMAIN = 2.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with people's label, where it is from and the document it belongs to."""

    pair: Pair
    label: str
    origin: str
    document: str


def read_pairs(path: Path, licensed: bool = True) -> list[Labelled]:
    """Return the pairs of a file, those with a licence or those without one."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [
            labelled(record)
            for record in map(json.loads, file)
            if record["label"] in LABELS and bool(record.get("licensed", True)) == licensed
        ]


def licences(path: Path) -> dict[str, str]:
    """Return the licence of each origin, as the file states it."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {record["origin"]: record["licence"] for record in map(json.loads, file)}


def labelled(record: dict[str, Any]) -> Labelled:
    """Return one record of a file of pairs."""
    pair = Pair(record["claim"], record["passage"], record.get("title", ""))
    return Labelled(pair, record["label"], record["origin"], record["document"])


def for_last_layer(item: Labelled) -> bool:
    """Return whether no model sees the pair's document, so that the last layer can be fitted to it.

    That is one document in 20, by a checksum of its name.
    """
    return crc32(item.document.encode()) % 20 == 0


def family(origin: str) -> str | None:
    """Return which of FAMILIES an origin belongs to; None for captions of pictures."""
    found = origin.removesuffix("_cor").split("_")[0]
    return found if found in FAMILIES else None


def in_domain(item: Labelled) -> bool:
    """Return whether a pair is from a set that the verifier is measured on."""
    return item.origin.startswith(IN_DOMAIN)


def times(origin: str) -> float:
    """Return how often the pairs of an origin are seen in one pass over all pairs."""
    if origin.startswith(IN_DOMAIN):
        return _TIMES_IN_DOMAIN
    return _TIMES.get(origin.removesuffix("_cor").removesuffix("_noans"), 1.0)


def passes(items: Sequence[Labelled], seed: int) -> Iterable[list[Labelled]]:
    """Yield the pairs of one pass after the other, shuffled, each as often as its origin says."""
    number = 0
    while True:
        chance = random.Random(f"{seed} {number}")
        seen = []
        for item in items:
            often = times(item.origin)
            seen += [item] * (int(often) + (chance.random() < often % 1))
        chance.shuffle(seen)
        yield seen
        number += 1
