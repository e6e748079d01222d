"""Measure the main text of pages against what people marked as the article.

Each page of `DATA/html` goes the way of a fetched page (`document_of`). Its precision, recall and
F1 are those of words as multisets, case aside; the means over pages are given, with F1 of
overlapping runs of four words beside them, which minds their order. trafilatura by itself, plain
and in its precision mode, is measured on the same pages. The last line is JSON.

    python benchmarks/accuracy/main_text.py [--data FOLDER] [--quick]

Pages a second are by this process's CPU time, the median of three passes with their spread;
`--quick` makes one pass over a quarter of the pages.
"""

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any

from trafilatura import extract

from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.reading import document_of

RETRIEVED = "2026-01-01T00:00:00+00:00"
PASSES = 3
SHINGLE = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched, and its article as people marked it."""

    url: str
    body: bytes
    truth: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one page: precision, recall and F1 of words, and F1 of runs of words."""

    precision: float
    recall: float
    f1: float
    shingle_f1: float


def load(folder: Path) -> list[Page]:
    """Return the pages of `ground-truth.json`, in the order of their names."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Page(
            truth[name].get("url", ""),
            gzip.decompress((folder / "pages" / f"{name}.html.gz").read_bytes()),
            truth[name]["articleBody"],
        )
        for name in sorted(truth)
    ]


def ours(page: Page) -> str:
    """Return what the web source takes of a page."""
    return document_of(
        FetchedPage(page.url, page.url, 200, "text/html", page.body, None, RETRIEVED)
    ).text


def plain(page: Page) -> str:
    """Return what trafilatura takes, comments aside."""
    return extract(page.body, include_comments=False) or ""


def precise(page: Page) -> str:
    """Return what trafilatura takes in its precision mode, comments aside."""
    return extract(page.body, include_comments=False, favor_precision=True) or ""


METHODS: dict[str, Callable[[Page], str]] = {
    "ours": ours,
    "trafilatura": plain,
    "trafilatura_precision": precise,
}


def overlap(truth: Counter[Any], extracted: Counter[Any]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a multiset; all 1 where both are empty."""
    same = (truth & extracted).total()
    precision = same / extracted.total() if extracted else float(not truth)
    recall = same / truth.total() if truth else float(not extracted)
    return precision, recall, 2 * precision * recall / (precision + recall) if same else precision


def scored(truth: str, extracted: str) -> Scores:
    """Return the scores of one page."""
    true_words, read_words = _WORD.findall(truth.lower()), _WORD.findall(extracted.lower())
    precision, recall, f1 = overlap(Counter(true_words), Counter(read_words))
    return Scores(precision, recall, f1, overlap(shingles(true_words), shingles(read_words))[2])


def shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return the runs of SHINGLE words; of a shorter text the whole."""
    last = max(1, len(words) - SHINGLE + 1) if words else 0
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(last))


def measured(method: Callable[[Page], str], pages: Sequence[Page], passes: int) -> dict[str, Any]:
    """Return the means over all pages."""
    method(pages[0])  # so that imports and compiled patterns count for no page
    speeds: list[float] = []
    for _ in range(passes):
        started = process_time()
        texts = [method(page) for page in pages]
        speeds.append(len(pages) / (process_time() - started))
    scores = [scored(page.truth, text) for page, text in zip(pages, texts, strict=True)]
    return {
        "f1": round(mean(score.f1 for score in scores), 4),
        "precision": round(mean(score.precision for score in scores), 4),
        "recall": round(mean(score.recall for score in scores), 4),
        "shingle_f1": round(mean(score.shingle_f1 for score in scores), 4),
        "pages_per_cpu_second": round(median(speeds), 1),
        "pages_per_cpu_second_spread": [round(min(speeds), 1), round(max(speeds), 1)],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="one pass over a quarter of the pages")
    options = parser.parse_args()
    folder = options.data / "html"
    if not (folder / "ground-truth.json").is_file():
        parser.error(f"{folder} has no ground-truth.json; name the data's folder with --data")
    pages = load(folder)
    if options.quick:
        pages = pages[::4]
    report: dict[str, Any] = {"pages": len(pages)}
    for name, method in METHODS.items():
        report[name] = measured(method, pages, 1 if options.quick else PASSES)
        print(f"{name}: {report[name]}", file=sys.stderr)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
