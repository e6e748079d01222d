"""The pairs that the bundled verifier is trained on, and how often each is seen."""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
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
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair with its label, where it is from and the document it belongs to."""

    pair: Pair
    label: str
    origin: str
    document: str


def read_pairs(path: Path) -> list[Labelled]:
    """Return the licensed pairs of a file, but those of the sets that verifiers are measured on."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [
            Labelled(
                Pair(row["claim"], row["passage"], row.get("title", "")),
                row["label"],
                row["origin"],
                row["document"],
            )
            for row in map(json.loads, file)
            if row["label"] in LABELS
            and row.get("licensed", True)
            and not row["origin"].startswith(MEASURED)
        ]


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
