"""Build, search and describe an index (`ufo index build | search | info`)."""

import argparse
import sys
import textwrap
from dataclasses import asdict
from typing import Any

from ufo.indexes.index import ScoredPassage, open_index
from ufo.indexes.manifest import read_manifest
from ufo.indexes.remote_index import local_index
from ufo.indexes.tokens import query_terms
from ufo.pipelines.commands.output import declare, print_json
from ufo.pipelines.options.option import Option
from ufo.pipelines.options.settings import cores
from ufo.schemas.documents import KEYS
from ufo.schemas.errors import EXIT_DONE, UsageError
from ufo.schemas.file_systems import is_remote
from ufo.transforms.read import named_columns

_EXAMPLE = "title=name,text=body"


def register(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `index` with its three commands; each sets `handler`, which gets the parsed arguments."""
    index = subparsers.add_parser("index")
    commands = index.add_subparsers(dest="index_command", metavar="COMMAND", required=True)
    build = commands.add_parser(
        "build",
        help="build an index from a Wikipedia dump or documents",
        description="Build an index folder from a MediaWiki pages-articles export (.xml, .xml.bz2, "
        ".xml.gz), from JSON Lines, a JSON array, CSV, TSV or Parquet with a title and a text, or "
        "from Markdown, text, HTML and PDF files or a folder of them.",
    )
    build.add_argument(
        "--input", required=True, nargs="+", metavar="DUMP", help="files, folders or glob patterns"
    )
    build.add_argument("--output", required=True, metavar="DIR", help="folder for the index")
    help_text = (
        "add vectors, for --retriever dense or hybrid: openai or openai:MODEL (a /v1/embeddings "
        "endpoint), the folder of an ONNX or sentence-transformers model, or such a model's name "
        "on a model hub (organisation/model)"
    )
    declare(
        build,
        Option(
            "map",
            str,
            "the columns of the title, text, url and id of rows, or the paths of fields, as in "
            f"{_EXAMPLE}; those of DPR, KILT, wikiextractor and Pyserini are known",
            "KEY=COLUMN,…",
            read=_columns,
        ),
        _number("passage_words", 20, 1000, 100, "words per passage"),
        Option("embedder", str, help_text, "NAME"),
        _number("workers", 1, 1024, cores(), "worker processes"),
    )
    build.set_defaults(handler=run_build)

    search = commands.add_parser("search", help="show the passages an index has for a query")
    search.add_argument("index", metavar="DIR")
    search.add_argument("query", metavar="QUERY")
    help_text = "bm25 (default); dense or hybrid where the index was built with --embedder"
    declare(
        search,
        _number("passages", 1, 1000, 5, "maximum number of passages"),
        Option("retriever", str, help_text, "NAME", default="bm25"),
    )
    search.set_defaults(handler=run_search)

    info = commands.add_parser("info", help="describe an index and check that it is complete")
    info.add_argument("index", metavar="DIR")
    declare(info, Option("verify", bool, "verify the checksum of every file"))
    info.set_defaults(handler=run_info)
    for command in (build, search, info):
        declare(command, Option("json", bool, "print the result as JSON"))


def _columns(text: str) -> dict[str, str]:
    return named_columns(text, KEYS, _EXAMPLE)


def _number(name: str, low: int, high: int, default: int, what: str) -> Option:
    help_text = f"{what} (default {default})"
    return Option(name, int, help_text, "N", default=default, low=low, high=high)


def run_build(args: argparse.Namespace) -> int:
    """Build an index; return the exit code."""
    for path in (*args.input, args.output):
        if is_remote(path):
            raise UsageError(
                f"{path}: an index is built from files and in a folder of this machine; copy them, "
                "for example by 'gcloud storage cp -r'. A copied prefix is an --index like any "
                "other."
            )
    from ufo.pipelines.build_index import build  # slow to import, for the other subcommands

    result = build(
        args.input,
        args.output,
        words=args.passage_words,
        columns=args.map or {},
        embedder=args.embedder,
        workers=args.workers,
        progress=_say,
    )
    for warning in result.warnings:
        _say(f"warning: {warning}")
    if args.json:
        built = {"path": str(result.path), "seconds": round(result.seconds, 3)}
        print_json({**built, "counts": result.counts, "warnings": result.warnings})
    else:
        print(f"{result.path}: built in {result.seconds:.1f} s")
        _print_counts(result.counts)
    return EXIT_DONE


def run_search(args: argparse.Namespace) -> int:
    """Print the passages for a query; return the exit code."""
    index = open_index(args.index, args.retriever)
    if not args.query.strip():
        raise UsageError("the query is empty; give a few words or a sentence")
    [hits] = index.search([args.query], args.passages, [index.names_in(args.query)])
    if not hits and not query_terms(args.query):
        raise UsageError(
            f"the query {args.query!r} has no word to search for; give a few words or a sentence"
        )
    if args.json:
        print_json([_hit_object(hit) for hit in hits])
    elif not hits:
        print("no passage shares a word with the query")
    else:
        print("\n\n".join(_hit_text(rank, hit) for rank, hit in enumerate(hits, start=1)))
    return EXIT_DONE


def run_info(args: argparse.Namespace) -> int:
    """Print the contents of an index; return the exit code."""
    manifest, _ = read_manifest(local_index(args.index), verify=bool(args.verify))
    if args.json:
        print_json({**manifest, "verified": bool(args.verify)})
        return EXIT_DONE
    size = sum(file["bytes"] for file in manifest["files"])
    checked = "all checksums agree" if args.verify else "sizes agree; --verify compares checksums"
    kind = f"{manifest['format']} version {manifest['version']}"
    print(f"{args.index}: {kind}, {size:,} bytes, {checked}")
    for entry in manifest.get("inputs", ()):
        print(f"  made from {entry['name']} ({entry['bytes']:,} bytes)")
    engine, embedder = manifest["settings"]["engine"]["name"], manifest.get("embedder")
    vectors = f", vectors of {embedder['dimension']} by {embedder['name']}" if embedder else ""
    print(f"  searched with {engine}{vectors}")
    if manifest.get("dump_date"):
        print(f"  as of {manifest['dump_date']}")
    _print_counts(manifest["counts"])
    return EXIT_DONE


def _print_counts(counts: dict[str, int]) -> None:
    for name, n in counts.items():
        if n or name in ("articles", "passages"):
            print(f"  {n:>9,} {name.replace('_', ' ')}")


def _hit_text(rank: int, hit: "ScoredPassage") -> str:
    passage = hit.passage
    where = f"{passage.title} › {passage.section}" if passage.section else passage.title
    lines = [f"{rank}. {where}  (score {hit.score:.3f})"]
    if passage.url:
        lines.append(f"   {passage.url}")
    for line in passage.text.splitlines():
        lines.extend(textwrap.wrap(line, 96, initial_indent="   ", subsequent_indent="   "))
    return "\n".join(lines)


def _hit_object(hit: "ScoredPassage") -> dict[str, Any]:
    passage = asdict(hit.passage)
    del passage["ordinal"]
    return {"row": hit.row, "score": hit.score, **passage}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
