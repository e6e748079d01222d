"""A few invented records in the layout of the data that scripts of benchmarks/ read."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

TOWNS = ("Arden", "Brill", "Corfe", "Dunster", "Eyam", "Frome", "Goring", "Hythe")
PAGE = """<html><head><title>{0}</title></head><body><nav>Home</nav><article><h1>{0}</h1>
<p>{1} The market of the town is held on Mondays, and many people of the valley come to it.</p>
</article></body></html>"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write claims on invented towns: half of them as the passage says, half with another year."""
    folder = tmp_path / "data"
    for name in ("factcheck_gpt", "wice", "begin", "verifier", "hotpotqa", "html/pages"):
        (folder / name).mkdir(parents=True)
    benchmark: list[Any] = []
    stance: list[Any] = []
    wice: list[Any] = []
    begin: list[Any] = []
    pairs: list[Any] = []
    passages: list[Any] = []
    questions: list[Any] = []
    truths: dict[str, Any] = {}
    for number, town in enumerate(TOWNS):
        true = number % 2 == 0
        year = 1800 + number
        passage = f"{town} is a town on the river Wend. The bridge of {town} was built in {year}."
        claim = f"The bridge of {town} was built in {year if true else year + 7}."
        sentence = {
            "text": claim,
            "decontext": claim,
            "claims": [claim],
            "auto_evidence": [[passage, "The weather was fine."]],
            "claims_factuality_label": [true],
        }
        texts = {"prompt": f"When was the bridge of {town} built?", "response": claim}
        benchmark.append({**texts, "sentences": {"0": sentence}})
        label = "completely-support" if true else "refute"
        stance.append({"claim": claim, "evidence": passage, "stance": label})
        stance.append({"claim": claim, "evidence": "It rained.", "stance": "irrelevant"})
        label = "supported" if true else "not_supported"
        evidence = [passage, "It rained."]
        wice.append(
            {"claim": claim, "evidence": evidence, "label": label, "supporting_sentences": [[0]]}
        )
        label = "Fully attributable" if true else "Generic"
        begin.append({"response": claim, "knowledge": passage, "begin_label": label})
        for answer in ("supported", "refuted", "noans"):
            texts = {"claim": f"{answer} {town} {year}", "passage": f"{town} {year}"}
            pair = dict[str, Any](
                texts, label=answer, origin="invented", document=town, licensed=True
            )
            pairs += [pair] * 10
        passages.append({"title": f"{town} town", "text": passage})
        other = f"{TOWNS[number - 1]} town"
        questions.append({"question": claim, "gold_titles": [f"{town} town", other]})
        page = PAGE.format(town, passage).encode()
        (folder / "html/pages" / f"{town}.html.gz").write_bytes(gzip.compress(page))
        truths[town] = {"url": f"https://{town}.example/", "articleBody": passage}
    _write(folder / "factcheck_gpt" / "benchmark.jsonl", benchmark)
    _write(folder / "factcheck_gpt" / "stance.jsonl", stance)
    _write(folder / "wice" / "dev.jsonl", wice)
    _write(folder / "hotpotqa" / "passages.jsonl", passages)
    _write(folder / "hotpotqa" / "questions.jsonl", questions)
    (folder / "html/ground-truth.json").write_text(json.dumps(truths))
    for part in ("wow", "cmu"):
        with (folder / "begin" / f"begin_dev_{part}.tsv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(begin[0]), delimiter="\t")
            writer.writeheader()
            writer.writerows(begin)
    with gzip.open(folder / "verifier" / "pairs.jsonl.gz", "wt") as packed:
        packed.writelines(json.dumps(pair) + "\n" for pair in pairs)
    return folder


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
