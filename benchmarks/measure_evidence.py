"""Measure what evidence from the web is worth: Facts&Evidence's ablations on data of your own.

Swept over units (claim, sentence), pages (1, 3, 5), context (0, 1, 2 sentences) and selection
(snippet, bm25, dense). Each combination is a whole `ufo evaluate --sources web`; its verdicts are
held against people's labels. Beside it, on the articles of `DATA/wice`: how many of the sentences
that people marked as support are among the first five that a selection takes. The last line is
JSON.

    python benchmarks/measure_evidence.py [--data FOLDER] [--quick]
    python benchmarks/measure_evidence.py --input labelled.jsonl --search serper --snapshot web

Without --input, `evidence_claims.jsonl` is evaluated over the tests' local web. --input takes JSON
Lines of responses; labels of claims, of sentences (`sentence_labels`, `spans`) or of responses are
used where they are. --snapshot keeps what was searched and fetched, so that the same command
measures the same web again. --option NAME=VALUE, or NAME alone, sets any other flag of `ufo
evaluate`.
"""

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate, product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rank_bm25 import BM25Okapi

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import ufo  # noqa: E402
from benchmarks.embedder import HELP, embedder_name  # noqa: E402
from benchmarks.evidence_agreement import Labels, agreement, labels_of  # noqa: E402
from tests.local_web import Engines, LocalWeb  # noqa: E402
from ufo.indexes.embedders import checked_name, make_embedder  # noqa: E402
from ufo.indexes.tokens import terms_of  # noqa: E402
from ufo.schemas.errors import UfoError  # noqa: E402
from ufo.transforms.sentences import Span  # noqa: E402
from ufo.transforms.sources.web.documents import Document  # noqa: E402
from ufo.transforms.sources.web.pages import PageText  # noqa: E402
from ufo.transforms.sources.web.source import BM25, DENSE  # noqa: E402

SNIPPET = "snippet"
UNITS = ("claim", "sentence")
PAGES = (5, 3, 1)  # the most first: a snapshot of it has what the others need
CONTEXTS = (0, 1, 2)
SELECTIONS = (BM25, DENSE, SNIPPET)  # dense where there is an embedder
K = 5
TITLE = "(meta data) TITLE:"
QUICK = {"pages": (5, 1), "contexts": (1,)}


# --- verdicts over the web ----------------------------------------------------------------------


@contextmanager
def local_web() -> Iterator[dict[str, Any]]:
    """Return the tests' web and its engine; gives the options that a run needs for it."""
    with LocalWeb() as web, Engines(web) as engines:
        os.environ["SERPER_BASE_URL"] = engines.url
        yield {"search": "serper", "allow_private_hosts": True}


def combinations(quick: bool, dense: bool) -> Iterator[tuple[str, int, int, str]]:
    """(units, pages, context, selection); snippets have no context."""
    pages = QUICK["pages"] if quick else PAGES
    contexts = QUICK["contexts"] if quick else CONTEXTS
    for units, count, context, selection in product(UNITS, pages, contexts, SELECTIONS):
        if selection == DENSE and not dense:
            continue
        if selection != SNIPPET:
            yield units, count, context, selection
        elif context == contexts[0]:
            yield units, count, 0, selection


def swept(source: Path, options: dict[str, Any], snapshots: Path, quick: bool) -> list[Any]:
    """One row a combination: what it was, agreement with people, and what it took."""
    records = read_records(source)
    as_sentences = [{k: v for k, v in one.items() if k != "claims"} for one in records]
    rows: list[dict[str, Any]] = []
    labels: Labels | None = None
    for units, pages, context, selection in combinations(quick, options["embedder"] is not None):
        chosen: dict[str, Any] = {
            "units": units,
            "pages": pages,
            "context_sentences": context,
            "web_retriever": BM25 if selection == SNIPPET else selection,
            "passages_per_page": 0 if selection == SNIPPET else 1,
        }
        # Other queries are asked for sentences: they are a web of their own.
        chosen["web_snapshot"] = str(snapshots / units)
        result = ufo.evaluate(
            records if units == "claim" else as_sentences,
            sources=["web"],
            quiet=True,
            **chosen,
            **options,
        )
        if labels is None:
            labels = labels_of(result)
        row = {"units": units, "pages": pages, "context": context, "selection": selection}
        rows.append(row | agreement(result, labels) | taken(result))
        print(line(rows[-1]), file=sys.stderr)
    return rows


def read_records(source: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file, each with an id: both kinds of units share it."""
    records = []
    with source.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                records.append({"id": f"line {number}", **json.loads(text)})
            except (ValueError, TypeError) as error:
                sys.exit(f"{source}:{number} is not a JSON object: {error}; correct or remove it")
    return records


def taken(result: Any) -> dict[str, Any]:
    """Return what a run took: passages and their words, queries, pages, calls of a model, money."""
    rows = result.sql("SELECT text FROM passages").column("text").to_pylist()
    words = [len(text.split()) for text in rows]
    queries = result.sql("SELECT count(DISTINCT query) AS n FROM fact_units").to_pylist()[0]["n"]
    steps = result.sql(
        "SELECT step, model IS NOT NULL AS asks, count(*) AS n, sum(cost_usd) AS usd FROM usage "
        "GROUP BY ALL"
    ).to_pylist()
    return {
        "passages": len(words),
        "words_per_passage": round(mean(words), 1) if words else None,
        "queries": queries,
        "pages_read": sum(step["n"] for step in steps if step["step"] == "page"),
        "llm_calls": sum(step["n"] for step in steps if step["asks"]),
        "cost_usd": round(sum(step["usd"] or 0.0 for step in steps), 6),
        "failures": result.failures.num_rows,
    }


HEAD = (
    "units     pages context selection  accuracy balanced  kappa coverage  right  mae  "
    "words queries pages calls"
)


def line(row: dict[str, Any]) -> str:
    """A row of the table."""

    def number(name: str, width: int) -> str:
        value = row[name]
        return f"{'–' if value is None else f'{value:.3f}':>{width}}"

    size = row["words_per_passage"]
    return (
        f"{row['units']:9} {row['pages']:5} {row['context']:7} {row['selection']:9} "
        f"{number('accuracy', 9)} {number('balanced_accuracy', 8)} {number('kappa', 6)} "
        f"{number('coverage', 8)} {number('right', 6)} {number('response_error', 5)} "
        f"{'–' if size is None else f'{size:.0f}':>5} {row['queries']:7} {row['pages_read']:5} "
        f"{row['llm_calls']:5}"
    )


# --- sentence selection -------------------------------------------------------------------------

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
            Span(end - len(one) - 1, end - 1) for end, one in zip(ends, sentences, strict=True)
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
        BM25: by(),
        f"{BM25}_titled": by(titled=True),
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
            f"{found['recall']:.3f} ({found['words']:.0f} words)" for found in report[name].values()
        )
        print(f"{name:12} with 0, 1, 2 sentences of context: {cells}", file=sys.stderr)
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="fewer combinations, fewer claims")
    parser.add_argument("--input", type=Path, help="labelled responses, JSON Lines")
    parser.add_argument("--search", default="serper", help="the engine for --input")
    parser.add_argument("--snapshot", type=Path, help="folder that keeps what the web said")
    parser.add_argument("--embedder", metavar="NAME", help=HELP)
    parser.add_argument("--judge", default="offline", help="of ufo evaluate (default offline)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME[=VALUE]", help="of ufo evaluate"
    )
    given = parser.parse_args()
    options: dict[str, Any] = {"judge": given.judge, "workers": 1}
    for pair in given.option:
        name, equals, value = pair.partition("=")
        options[name] = value if equals else True
    options["embedder"] = embedder = embedder_name(given.embedder)
    report: dict[str, Any] = {}
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ufo-evidence-")))
        options.setdefault("cache", str(temporary / "cache.sqlite"))
        if given.input:
            options["search"] = given.search
        else:
            options |= stack.enter_context(local_web())
        source = given.input or Path(__file__).with_name("evidence_claims.jsonl")
        print(HEAD, file=sys.stderr)
        report["sweep"] = swept(source, options, given.snapshot or temporary, given.quick)
    if (given.data / "wice" / "dev.jsonl").is_file():
        report["wice"] = selected(given.data, given.quick, embedder)
    elif not given.input:
        parser.error(f"{given.data} has no wice/dev.jsonl; name the data's folder with --data")
    else:
        print(
            f"sentence selection is not measured: {given.data} has no wice/dev.jsonl",
            file=sys.stderr,
        )
    print(json.dumps(report))


if __name__ == "__main__":
    try:
        main()
    except UfoError as error:
        sys.exit(str(error))
