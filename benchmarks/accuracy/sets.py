"""Read the sets of human labels that verifiers are measured on, and name their pairs.

The data folder has `factcheck_gpt/benchmark.jsonl` and `stance.jsonl`,
`wice/dev.jsonl`, `begin/begin_dev_wow.tsv` and `begin_dev_cmu.tsv`. A file that is missing leaves
its set out. Two origins of `verifier/pairs.jsonl.gz` are measured, and nothing is fitted on them:
`encyclopaedia`, claims about the climate each with sentences of Wikipedia (left out where these
disagree), and `given_texts`, claims about health each with a sentence of a paper.
"""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ufo.transforms.extraction.by_rules import query_of
from ufo.transforms.sources.reference import Ranking, windows
from ufo.transforms.verifiers.verifier import Pair

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
_OF_SENTENCES = ("stance", "claims", "wice", "wice_whole", "begin_wow", "begin_cmu")
SETS = (*_OF_SENTENCES, "encyclopaedia", "given_texts")
SUPPORTED, REFUTED, NOANS = "supported", "refuted", "noans"
NOT = "not"  # Refuted or noans: people did not say which.
PASSAGES = 5
_STANCES = {
    "completely-support": SUPPORTED,
    "partially-support": SUPPORTED,
    "irrelevant": NOANS,
    "refute": REFUTED,
}


@dataclass(frozen=True, slots=True)
class Record:
    """A claim, the passages it is judged by, the label that people gave and the document.

    `label` is "supported", "refuted", "noans" or "not" (refuted or noans). Records of one document
    are drawn together in a bootstrap and stay in one fold.
    """

    claim: str
    passages: tuple[str, ...]
    label: str
    document: str

    def pairs(self) -> list[Pair]:
        """Return a pair for each passage."""
        return [Pair(self.claim, passage) for passage in self.passages]


def load(data: Path) -> dict[str, list[Record]]:
    """Return the records of each set that the folder has."""
    sets: dict[str, list[Record]] = {name: [] for name in SETS}
    responses: dict[str, str] = {}  # claim -> its response
    for number, record in enumerate(_lines(data / "factcheck_gpt" / "benchmark.jsonl")):
        document = f"response {number}"
        for claim, evidence, label in _labelled(record):
            responses.setdefault(claim, document)
            if isinstance(label, bool):  # Else "unknown".
                answer = SUPPORTED if label else REFUTED
                sets["claims"].append(Record(claim, tuple(evidence), answer, document))
    for record in _lines(data / "factcheck_gpt" / "stance.jsonl"):
        claim, label = record["claim"], _STANCES[record["stance"]]
        document = responses.get(claim, claim)
        sets["stance"].append(Record(claim, (record["evidence"],), label, document))
    for record in _lines(data / "wice" / "dev.jsonl"):
        claim, text = record["claim"], "\n".join(record["evidence"])
        label = SUPPORTED if record["label"] == "supported" else NOT
        sets["wice"].append(Record(claim, _as_reference(claim, text), label, text))
        sets["wice_whole"].append(Record(claim, (text,), label, text))
    for part in ("wow", "cmu"):
        for row in _rows(data / "begin" / f"begin_dev_{part}.tsv"):
            claim, text = row["response"], row["knowledge"]
            label = SUPPORTED if row["begin_label"] == "Fully attributable" else NOT
            sets[f"begin_{part}"].append(Record(claim, _as_reference(claim, text), label, text))
    encyclopaedia: dict[str, list[dict[str, Any]]] = {}
    for row in _all_pairs(data):
        if row["origin"] == "climate_fever":
            encyclopaedia.setdefault(row["claim"], []).append(row)
        elif row["origin"] == "healthver":
            pair = Record(row["claim"], (row["passage"],), row["label"], row["document"])
            sets["given_texts"].append(pair)
    for claim, rows in encyclopaedia.items():
        labels = {row["label"] for row in rows} - {NOANS} or {NOANS}
        if len(labels) == 1:
            passages = tuple(row["passage"] for row in rows)
            sets["encyclopaedia"].append(Record(claim, passages, labels.pop(), rows[0]["document"]))
    return {name: records for name, records in sets.items() if records}


def load_pairs(data: Path) -> list[tuple[Pair, str, str, str]]:
    """Return (pair, label, origin, document) of the training pairs whose licence is stated."""
    return [
        (Pair(row["claim"], row["passage"]), row["label"], row["origin"], row["document"])
        for row in _all_pairs(data)
        if row["licensed"]
    ]


def _all_pairs(data: Path) -> list[dict[str, Any]]:
    path = data / "verifier" / "pairs.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _as_reference(claim: str, text: str) -> tuple[str, ...]:
    """Return the passages that the reference source gives for one text."""
    cut = windows(text)
    if len(cut) <= PASSAGES:
        return tuple(cut)
    best = Ranking(cut).best(f"{claim} {query_of(claim)}", PASSAGES)
    return tuple(cut[row] for row, _ in best)


def _labelled(record: dict[str, Any]) -> Iterator[tuple[str, list[str], object]]:
    """Yield (claim, evidence, label) of a Factcheck-GPT response; some labels are "unknown"."""
    for sentence in record["sentences"].values():
        yield from zip(
            sentence["claims"],
            sentence["auto_evidence"],
            sentence["claims_factuality_label"],
            strict=True,
        )


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a tab-separated file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
