"""Measure which sentences of a page are taken as evidence, against those that people marked.

On the articles of `DATA/wice`: how many of the sentences that people marked as support are among
the first five that each selection takes, alone and with one or two sentences of context. The last
line is JSON. What units, pages and selections are worth for verdicts on your own labelled records
is one `ufo evaluate --sources web --web_snapshot DIR` each, and the view `agreement`.

    python benchmarks/accuracy/evidence.py [--data FOLDER] [--quick] [--embedder NAME]
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rank_bm25 import BM25Okapi

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.embedder import HELP, embedder_name  # noqa: E402
from ufo.indexes.embedders import checked_name, make_embedder  # noqa: E402
from ufo.indexes.tokens import terms_of  # noqa: E402
from ufo.transforms.sentences import Span  # noqa: E402
from ufo.transforms.sources.defaults import RETRIEVER  # noqa: E402
from ufo.transforms.sources.web.documents import Document  # noqa: E402
from ufo.transforms.sources.web.ranking import PageText  # noqa: E402
from ufo.transforms.sources.web.source import DENSE  # noqa: E402

SNIPPET = "snippet"
UNITS = ("claim", "sentence")
PAGES = (5, 3, 1)  # the most first: a snapshot of it has what the others need
CONTEXTS = (0, 1, 2)
SELECTIONS = (RETRIEVER, DENSE, SNIPPET)  # dense where there is an embedder
K = 5
TITLE = "(meta data) TITLE:"
QUICK = {"pages": (5, 1), "contexts": (1,)}


Select = Callable[[str, Sequence[str]], list[int]]


def plain_bm25(claim: str, sentences: Sequence[str]) -> list[int]:
    """BM25Okapi over stems, k1 1.5, b .75: what a first attempt would be."""
    scores = BM25Okapi([terms_of(text) or [""] for text in sentences]).get_scores(terms_of(claim))
    return sorted(range(len(sentences)), key=lambda row: (-scores[row], row))[:K]


def by(embedder: Any = None, titled: bool = False) -> Select:
    """Return the web source's own selection, on sentences as they were cut by the data's authors.

    The title is one of these sentences; `titled` tells it as the page's title besides.
    """

    def select(claim: str, sentences: Sequence[str]) -> list[int]:
        title = sentences[0].partition(TITLE)[2] if titled else None
        ends = list(accumulate(len(sentence) + 1 for sentence in sentences))
        spans = [
            Span(end - len(sentence) - 1, end - 1)
            for end, sentence in zip(ends, sentences, strict=True)
        ]
        page = PageText(Document(title, "\n".join(sentences), spans=spans), embedder)
        return [row for row, _ in page.sentences(claim, K)]

    return select


def selected(data: Path, quick: bool, embedder: str | None) -> dict[str, Any]:
    """Recall of the best gold set for each selection, and with sentences of context around."""
    with (data / "wice" / "dev.jsonl").open(encoding="utf-8") as file:
        records = [json.loads(text) for text in file]
    cases = [
        (
            record["claim"],
            record["evidence"],
            [set(gold) for gold in record["supporting_sentences"]],
        )
        for record in records
        if any(record["supporting_sentences"])
    ]
    cases = cases[:: 3 if quick else 1]
    methods: dict[str, Select] = {
        "plain_bm25": plain_bm25,
        RETRIEVER: by(),
        f"{RETRIEVER}_titled": by(titled=True),
    }
    if embedder is not None:
        methods[DENSE] = by(make_embedder(checked_name(embedder)))
    report: dict[str, Any] = {"claims": len(cases)}
    print(
        f"\nwice: {len(cases)} claims; share of the best gold set among the first {K} sentences",
        file=sys.stderr,
    )
    for name, select in methods.items():
        picks = [select(claim, sentences) for claim, sentences, _ in cases]
        report[name] = {}
        for context in CONTEXTS:
            shares, words = [], []
            for rows, (_, sentences, golds) in zip(picks, cases, strict=True):
                near = {
                    other
                    for row in rows
                    for other in range(row - context, row + context + 1)
                    if 0 <= other < len(sentences)
                }
                shares.append(max(len(near & gold) / len(gold) for gold in golds if gold))
                words.append(sum(len(sentences[row].split()) for row in near))
            report[name][f"context_{context}"] = {
                "recall": round(mean(shares), 4),
                "standard_error": round(stdev(shares) / math.sqrt(len(shares)), 4),
                "words": round(mean(words), 1),
            }
        cells = " ".join(
            f"{figures['recall']:.3f} ({figures['words']:.0f} words)"
            for figures in report[name].values()
        )
        print(f"{name:12} with 0, 1, 2 sentences of context: {cells}", file=sys.stderr)
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="a third of the claims")
    parser.add_argument("--embedder", metavar="NAME", help=HELP)
    arguments = parser.parse_args()
    if not (arguments.data / "wice" / "dev.jsonl").is_file():
        parser.error(f"{arguments.data} has no wice/dev.jsonl; name the data's folder with --data")
    print(json.dumps(selected(arguments.data, arguments.quick, embedder_name(arguments.embedder))))


if __name__ == "__main__":
    main()
