"""A few invented records in the layout of the data that scripts of benchmarks/ read."""

import gzip
import json
from collections import defaultdict
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
    rows: dict[str, list[Any]] = defaultdict(list)
    truths: dict[str, Any] = {}
    rain = "It rained."
    for number, town in enumerate(TOWNS):
        true, year = number % 2 == 0, 1800 + number
        passage = f"{town} is a town on the river Wend. The bridge of {town} was built in {year}."
        claim = f"The bridge of {town} was built in {year if true else year + 7}."
        known = {"claim": claim, "evidence": passage}
        sentence: Any = {"text": claim, "decontext": claim, "claims": [claim]}
        sentence |= {"auto_evidence": [[passage, rain]], "claims_factuality_label": [true]}
        asked = {"prompt": f"When was the bridge of {town} built?", "response": claim}
        rows["factcheck_gpt/benchmark"].append({**asked, "sentences": {"0": sentence}})
        label = "completely-support" if true else "refute"
        rows["factcheck_gpt/stance"].append({**known, "stance": label})
        rows["factcheck_gpt/stance"].append({**known, "evidence": rain, "stance": "irrelevant"})
        label = "supported" if true else "not_supported"
        of_wice = {"evidence": [passage, rain], "label": label, "supporting_sentences": [[0]]}
        rows["wice/dev"].append({"claim": claim, **of_wice})
        label = "Fully attributable" if true else "Generic"
        rows["begin"].append({"response": claim, "knowledge": passage, "begin_label": label})
        for answer in ("supported", "refuted", "noans"):
            pair = {"claim": f"{answer} {town} {year}", "passage": f"{town} {year}"}
            pair |= {"label": answer, "origin": "invented", "document": town}
            rows["pairs"] += [{**pair, "licensed": True}] * 10
        rows["hotpotqa/passages"].append({"title": f"{town} town", "text": passage})
        gold = [f"{town} town", f"{TOWNS[number - 1]} town"]
        rows["hotpotqa/questions"].append({"question": claim, "gold_titles": gold})
        page = PAGE.format(town, passage).encode()
        (folder / "html/pages" / f"{town}.html.gz").write_bytes(gzip.compress(page))
        truths[town] = {"url": f"https://{town}.example/", "articleBody": passage}
    (folder / "html/ground-truth.json").write_text(json.dumps(truths))
    (folder / "enwiki").mkdir()
    pages = (
        f"<page><title>{town}</title><revision><text>It has 5 {{{{x}}}}. It is {{{{frac|1|2}}}}."
        "</text></revision></page>"
        for town in TOWNS
    )
    (folder / "enwiki/towns.xml").write_text(f"<mediawiki>{''.join(pages)}</mediawiki>")
    begin, pairs = rows.pop("begin"), rows.pop("pairs")
    lines = "\n".join("\t".join(cells) for cells in (begin[0], *map(dict.values, begin)))
    for part in ("wow", "cmu"):
        (folder / "begin" / f"begin_dev_{part}.tsv").write_text(lines)
    for name, of_file in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in of_file))
    with gzip.open(folder / "verifier" / "pairs.jsonl.gz", "wt") as packed:
        packed.writelines(json.dumps(pair) + "\n" for pair in pairs)
    return folder
