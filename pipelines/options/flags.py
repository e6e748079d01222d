"""Declare the options of `ufo evaluate`, each once: a field of a dataclass (more: `judge_flags`).

Flags, keys of the configuration file, keywords in Python, the fingerprint of a run, the metadata of
Dataflow's template and docs/flags.md are made of them. A default of None stands for
the default of the source or judge that takes the option.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ufo.pipelines.options.arguments import (
    names_of,
    of_results,
    of_run,
    of_source,
    option,
    options_of,
)
from ufo.pipelines.options.judge_flags import Answers, Asking, Judging, Limits, Models
from ufo.schemas.errors import UsageError
from ufo.transforms.columns import named_columns
from ufo.transforms.secrets import named_secrets

TIES = ("not_factual", "factual")


def source_names(text: str) -> list[str]:
    """Return the names of a list that commas separate."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise UsageError("--sources names no source")
    return found


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is evaluated, where its results go, and how the work is cut."""

    input: tuple[str, ...] = of_run(
        "files of responses: JSON Lines, a JSON array, CSV, TSV (also .gz) or Parquet, recognised "
        "by content; glob patterns and gs://… are accepted",
        "FILE",
    )
    output: str = option("folder for results, written to DIR/run=NAME; gs://… is accepted", "DIR")
    run: str | None = option(
        "name of the run (default: a hash of the input file names and the options)", "NAME"
    )
    if_finished: str = option(
        "what to do if the run is already finished: replace (default), skip, or retry_errors, "
        "which evaluates only the responses that had errors",
        "WHAT",
        default="replace",
        choices=("replace", "skip", "retry_errors"),
    )
    since: str | None = option(
        "evaluate only new and changed responses; reuse the results of run NAME for the rest",
        "NAME",
    )
    streaming: bool = option(
        "evaluate new files as they arrive; each time window is a run NAME.w000001, …",
        default=False,
    )
    window_seconds: float | None = option(
        "length of a window of --streaming in seconds (default 60)", "S", low=0.01
    )
    idle_seconds: float | None = option(
        "end --streaming after S seconds without a new file (default: never)", "S", low=0
    )
    fresh: bool = option(
        "start over if an unfinished attempt had other options or input", default=False
    )
    workers: int | None = option(
        "worker processes (default: one per core; one if a model is asked)", "N", low=1, high=1024
    )
    chunk_size: int | None = option(
        "responses that are evaluated and written together (default 500 to 4000)", "N", low=1
    )


@dataclass(frozen=True, kw_only=True)
class Gate:
    """When a finished run exits 3."""

    fail_under: float | None = option("exit 3 if the score is below X", "X", low=0, high=1)
    max_error_share: float | None = option(
        "exit 3 if more than this share of the judgements were unusable", "X", low=0, high=1
    )
    baseline: str | None = option(
        "finished run in the same --output to compare with; exit 3 if this run is significantly "
        "worse (--fail_if_worse, default 0.05)",
        "NAME",
    )
    fail_if_worse: float | None = option(
        "exit 3 if the score is significantly lower than the baseline's: the p-value of a "
        "one-sided paired t test is below P (0.05 is usual)",
        "P",
        low=0,
        high=1,
    )


@dataclass(frozen=True, kw_only=True)
class Output:
    """How input is read and output is printed."""

    max_line_bytes: int = of_results(
        "lines longer than this are recorded as failures (default {default})",
        "N",
        default=4 * 1024 * 1024,
        low=2,
    )
    map: Mapping[str, str] | None = of_results(
        "column names of the input for the keys of a record: response=output,question=prompt "
        "(Python: a mapping)",
        "KEY=COLUMN,…",
        read=named_columns,
    )
    dry_run: bool = option(
        "estimate calls, tokens and cost; send and evaluate nothing", default=False
    )
    json: bool = option("print the result as JSON", default=False)
    log_format: str = option(
        "format of stderr: text (default), or json, one object per line with run, step and worker",
        "HOW",
        default="text",
        choices=("text", "json"),
    )
    config: str | None = option(
        "YAML file with any of these flags and named sources; flags on the command line win", "FILE"
    )
    secrets: Mapping[str, str] | None = option(
        "environment variables that every worker sets from Google Secret Manager: "
        "OPENAI_API_KEY=projects/P/secrets/S",
        "VARIABLE=SECRET,…",
        read=named_secrets,
    )


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Which fact sources are asked, and how their answers are voted over."""

    sources: tuple[Any, ...] | None = of_run(
        "fact sources in the order they are asked, by name or path/to/file.py:Class (default: all "
        "that are configured)",
        "A,B,C",
        read=source_names,
    )
    mode: str = of_results(
        "seq: the first source with an answer decides (default); mv: majority vote over all "
        "sources; single: each source alone; all: ask every source about every unit",
        "MODE",
        default="seq",
        choices=("seq", "mv", "single", "all"),
    )
    tie: str = of_results(
        "verdict where votes are tied: not_factual (default) or factual",
        "LABEL",
        default="not_factual",
        choices=TIES,
    )
    units: str = of_results(
        "unit to check: claim (default) or sentence",
        "UNIT",
        default="claim",
        choices=("claim", "sentence"),
    )


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Where passages come from."""

    index: str | None = of_source(
        "folder or gs://… prefix of the index of the source wikipedia", "DIR"
    )
    retriever: str | None = of_source(
        "bm25 (default), or dense or hybrid if the index was built with --embedder",
        "NAME",
    )
    embedder: str | None = of_source(
        "embedder of dense and hybrid: openai[:MODEL], a model folder or a name on a model hub "
        "(default: the one that the index was built with)",
        "NAME",
    )
    passages: int | None = of_source(
        "passages to retrieve per unit and source (default 5)", "N", low=1, high=1000
    )


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """The source `llm`."""

    samples: int | None = of_source(
        "samples per query of the source llm (default 5)", "N", low=1, high=128
    )
    temperature: float | None = of_source(
        "sampling temperature of the source llm (default 1)", "T", low=0, high=2
    )
    sampling: str | None = of_source(
        "requests of the source llm: per_query (default), or bundled, one request per response",
        "HOW",
        choices=("per_query", "bundled"),
    )


@dataclass(frozen=True, kw_only=True)
class Web:
    """The source `web`."""

    search: str | None = of_source(
        "search engine: serper (default), searxng or brave",
        "ENGINE",
        choices=("serper", "searxng", "brave"),
    )
    locale: str | None = of_source(
        "language or language-COUNTRY of the search, such as en-GB", "LOCALE"
    )
    pages: int | None = of_source("pages to fetch per query (default 5)", "N", low=1, high=100)
    passages_per_page: int | None = of_source(
        "best sentences per page (default 1); each is a passage with its own vote, merged if their "
        "contexts overlap; 0: use the search snippets and fetch nothing",
        "N",
        low=0,
        high=100,
    )
    context_sentences: int | None = of_source(
        "sentences of context before and after each best sentence (default 1)", "N", low=0, high=20
    )
    web_retriever: str | None = of_source(
        "ranking of a page's sentences: bm25 (default), or dense, which needs --embedder",
        "NAME",
        choices=("bm25", "dense"),
    )
    include_categories: str | None = of_source(
        "use only hosts of these categories: news,wiki,…", "A,B"
    )
    exclude_categories: str | None = of_source("exclude hosts of these categories", "A,B")
    include_domains: str | None = of_source(
        "use only these registered domains: example.org,*.gov", "A,B"
    )
    exclude_domains: str | None = of_source("exclude these registered domains", "A,B")
    categories: str | None = of_source(
        "YAML file with categories of hosts; takes precedence over the shipped ones", "FILE"
    )
    web_snapshot: str | None = option(
        "a new folder records searches and pages; a finished one replays them without network",
        "DIR",
    )
    allow_private_hosts: bool | None = of_source(
        "also fetch from private addresses and unusual ports"
    )


GROUPS = {
    "run": options_of(Run, Gate, Output),
    "sources": options_of(Sources, Retrieval, Knowledge),
    "web": options_of(Web),
    "judging": options_of(Judging, Asking),
    "models": options_of(Models, Limits, Answers),
}
"""The options of `ufo evaluate` by the titles of its help."""

_OF_RUNS = {*names_of(Run, Gate, Output), "max_cost"} - {"config"}
OF_TEXT = {
    title: [one for one in options if one.name not in _OF_RUNS] for title, options in GROUPS.items()
}
"""The options of `ufo check`."""
OF_SERVICE = [
    one
    for options in OF_TEXT.values()
    for one in options
    if one.name not in names_of(Output, Sources)
]
"""What a service can be started with: what a text is judged by and checked against."""
