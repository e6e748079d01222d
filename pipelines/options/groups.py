"""Declare the options of `ufo evaluate`, each once as a field of a dataclass.

They define the flags, keys of the configuration file, keywords in Python, the fingerprint of a run,
and docs/flags.md. A default of None means the default of the source or judge that takes the option.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ufo.pipelines.options.option import (
    Affects,
    Option,
    names_of,
    of_judge,
    of_results,
    of_run,
    of_source,
    option,
    options_of,
)
from ufo.schemas.cache_folder import cache_uri
from ufo.schemas.errors import UsageError
from ufo.transforms.gate_score import LEFT_OUT, NO_CLAIM
from ufo.transforms.judges.llm.llm_settings import (
    EXPLAIN,
    FUNCTION,
    GRANITE_GUARDIAN,
    JSON,
    LYNX,
    MINICHECK,
    PROMPT,
    RATIONALE,
    STEPWISE,
    TF,
    TFN,
    XML,
    LlmSettings,
)
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.endpoint import Endpoint, check_url
from ufo.transforms.llm.retry import Retry
from ufo.transforms.plugins import Spec
from ufo.transforms.read import named_columns
from ufo.transforms.secrets import named_secrets
from ufo.transforms.sources import defaults
from ufo.transforms.verifiers.by_name import DEFAULT_VERIFIER
from ufo.transforms.votes import ALL, MV, SEQ, SINGLE

NOT_FACTUAL = "not_factual"
TIES = (NOT_FACTUAL, "factual")
_RETRIEVERS = {"bm25": "by words", "dense": "by meaning", "hybrid": "by both"}
_BOTH = Affects.SOURCE | Affects.JUDGE


def source_names(text: str) -> list[str]:
    """Return the names in a list separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--sources names no source")
    return names


def url_of(flag: str) -> Callable[[str], str]:
    """Return a function that checks the URL of an endpoint; its UsageError names the flag."""

    def read(url: str) -> str:
        try:
            check_url(url, flag)
        except ValueError as error:
            raise UsageError(str(error)) from None
        return url

    return read


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """The input, and the folder of the results."""

    input: tuple[str, ...] = of_run(
        "files of responses: JSON Lines, a JSON array, CSV, TSV (also .gz, .bz2, .zst) or Parquet, "
        "recognised by content; glob patterns and gs://… are accepted",
        "FILE",
    )
    output: str = option("folder for results, written to DIR/run=NAME; gs://… is accepted", "DIR")
    map: Mapping[str, str] | None = of_results(
        "keys of a record and the columns of the input that hold them: "
        "response=output,question=prompt",
        "KEY=COLUMN,…",
        read=named_columns,
    )
    max_line_bytes: int = of_results(
        "longest line in bytes; longer ones are recorded as failures (default {default})",
        "N",
        default=4 * 1024 * 1024,
        low=2,
        expert=True,
    )
    json: bool = option("print the result as JSON", default=False)
    log_format: str = option(
        "format of stderr: text (default), or json, one object per line",
        "HOW",
        default="text",
        choices=("text", "json"),
        expert=True,
    )
    config: str | None = option(
        "YAML file with these options, named sources and judges; flags on the command line win",
        "FILE",
    )
    secrets: Mapping[str, str] | None = option(
        "environment variables of workers that hold secrets of Google Secret Manager: "
        "OPENAI_API_KEY=projects/P/secrets/S",
        "VARIABLE=SECRET,…",
        read=named_secrets,
        expert=True,
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is divided and resumed, and when a finished run exits 3."""

    title: str | None = option("title of the run in reports (default: input and time)", "TEXT")
    run: str | None = option(
        "name of the run (default: a hash of the input file names and the options)", "NAME"
    )
    if_finished: str = option(
        "if the run is finished: replace it (default), skip, or retry_errors, which evaluates only "
        "responses with errors again",
        "WHAT",
        default="replace",
        choices=("replace", "skip", "retry_errors"),
    )
    since: str | None = option(
        "evaluate only new and changed responses; take the others from run NAME", "NAME"
    )
    fresh: bool = option(
        "start over if an unfinished attempt had other options or input", default=False
    )
    streaming: bool = option(
        "evaluate new files as they arrive; each time window is a run NAME.w000001, …",
        default=False,
    )
    window_seconds: float = option(
        "length of a window of --streaming in seconds (default {default:g})",
        "S",
        default=60.0,
        low=0.01,
        expert=True,
    )
    idle_seconds: float | None = option(
        "end --streaming after S seconds without a new file", "S", low=0, expert=True
    )
    workers: int | None = option(
        "worker processes (default: one per core; one if a model is asked)", "N", low=1, high=1024
    )
    chunk_size: int | None = option(
        "responses to evaluate and write together (default 500 to 4000)", "N", low=1, expert=True
    )
    fail_under: float | None = option("exit 3 if the score is below X", "X", low=0, high=1)
    no_claim: str = option(
        "what a response without a claim means for --fail_under",
        "WHAT",
        default=LEFT_OUT,
        choices=NO_CLAIM,
    )
    min_scored: float | None = option(
        "exit 3 if less than this share of the responses has a score", "SHARE", low=0, high=1
    )
    baseline: str | None = option(
        "finished run in --output to compare with; exit 3 if this run is significantly worse, or "
        "if that cannot be decided",
        "NAME",
    )
    fail_if_worse: float = option(
        "significance level of --baseline: exit 3 if p of a one-sided paired t test is below it "
        "(default {default})",
        "P",
        default=0.05,
        low=0,
        high=1,
    )
    least_shared: float = option(
        "share of the questions of each run that must be in both with a score: with less, nothing "
        "is decided (default {default})",
        "SHARE",
        default=0.5,
        low=0,
        high=1,
    )
    dry_run: bool = option("estimate calls, tokens and cost; evaluate nothing", default=False)


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The fact sources, the vote over their answers, and what they retrieve."""

    sources: tuple[Any, ...] | None = of_run(
        "fact sources in the order asked, by name or FILE.py:Class (default: all that can serve)",
        "A,B,C",
        read=source_names,
        label="Sources, in order",
    )
    mode: str = of_results(
        "how the sources decide",
        "MODE",
        default=SEQ,
        choices={
            SEQ: "Multi-Seq, the first source with an answer decides",
            MV: "Multi-MV, a majority vote over all sources",
            SINGLE: "Single, each source alone",
            ALL: "all three, every source is asked about every claim",
        },
        label="Mode",
    )
    tie: str = of_results(
        "verdict where as many passages support a claim as contradict it: not_factual (default) or "
        "factual",
        "LABEL",
        default=NOT_FACTUAL,
        choices=TIES,
        label="A tie counts as",
    )
    units: str = of_results(
        "what is checked as a claim",
        "UNIT",
        default="claim",
        choices={"claim": "atomic claims of a sentence", "sentence": "each sentence as a whole"},
        label="Judge each",
    )
    index: str | None = of_source("index of the source wikipedia, a folder or gs://…", "DIR")
    retriever: str | None = of_source(
        "how an index is searched (dense and hybrid need one that was built with --embedder)",
        "NAME",
        default=defaults.RETRIEVER,
        choices=_RETRIEVERS,
        label="How the index is searched",
    )
    embedder: str | None = of_source(
        "embedder of dense and hybrid: openai[:MODEL], a model folder or a name on a model hub "
        "(default: the one that the index was built with)",
        "NAME",
    )
    passages: int | None = of_source(
        "passages to retrieve per claim and source (default {default}); more see more, and cost "
        "more",
        "N",
        default=defaults.PASSAGES,
        low=1,
        high=1000,
        label="Passages of each source",
    )
    samples: int | None = of_source(
        "samples of the source llm (default {default})",
        "N",
        default=defaults.SAMPLES,
        low=1,
        high=128,
        label="Answers to each question",
    )
    temperature: float | None = of_source(
        "sampling temperature of the source llm (default {default:g})",
        "T",
        default=defaults.TEMPERATURE,
        low=0,
        high=2,
        label="Temperature of these answers",
    )
    sampling: str | None = of_source(
        "requests of the source llm",
        "HOW",
        default=defaults.PER_QUERY,
        choices={
            defaults.PER_QUERY: "one for each query",
            defaults.BUNDLED: "one for all queries of a response",
        },
        expert=True,
        label="Requests for these answers",
    )


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """The source `web`."""

    search: str | None = of_source(
        "search engine: serper (default), searxng or brave",
        "ENGINE",
        default=defaults.ENGINE,
        choices=("serper", "searxng", "brave"),
    )
    pages: int | None = of_source(
        "pages to fetch per query (default {default}); several addresses of one page count as one",
        "N",
        default=defaults.PAGES,
        low=1,
        high=100,
        label="Web pages of each search",
    )
    passages_per_page: int | None = of_source(
        "best sentences to take per page (default {default}); each is a passage, and "
        "those whose contexts overlap are merged; 0: use the search snippets and fetch nothing",
        "N",
        default=defaults.PASSAGES_PER_PAGE,
        low=0,
        high=100,
        label="Passages of each page",
    )
    context_sentences: int | None = of_source(
        "sentences before and after each best one (default {default})",
        "N",
        default=defaults.CONTEXT_SENTENCES,
        low=0,
        high=20,
        expert=True,
        label="Sentences of context",
    )
    web_retriever: str | None = of_source(
        "how the sentences of a page are ranked (dense needs --embedder)",
        "NAME",
        default=defaults.RETRIEVER,
        choices={name: _RETRIEVERS[name] for name in ("bm25", "dense")},
        expert=True,
        label="How web pages are searched",
    )
    include_categories: str | None = of_source(
        "use only pages of these categories: news,wiki,…", "A,B", label="Only these kinds of pages"
    )
    exclude_categories: str | None = of_source(
        "exclude hosts of these categories", "A,B", label="Without these kinds of pages"
    )
    include_domains: str | None = of_source(
        "use only these domains: example.org,*.gov", "A,B", label="Only these domains"
    )
    exclude_domains: str | None = of_source(
        "exclude these registered domains", "A,B", label="Without these domains"
    )
    web_snapshot: str | None = option(
        "a new folder records searches and pages; a finished one replays them without network",
        "DIR",
    )
    allow_private_hosts: bool | None = of_source(
        "also fetch from private addresses and unusual ports", expert=True
    )


_LLM: Final = LlmSettings("")
"""The defaults of the LLM judge."""
_of_function = partial(option, affects=Affects.FUNCTION)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The judge, and how the LLM judge asks its model; None is the judge's default."""

    judge: Spec = of_judge(
        "llm (default if a key or base URL is given); offline: a small local model, no network; "
        "FILE.py:Class, or any that `ufo judges` lists",
        "JUDGE",
        label="Judge",
    )
    verifier: str | None = of_judge(
        "model of the offline judge: overlap (default), bundled, a folder, FILE.py:Class or a "
        "cross-encoder on a model hub (organisation/model)",
        "NAME",
        default=DEFAULT_VERIFIER,
        label="Verifier of the offline judge",
    )
    formulation: str | None = of_judge(
        "how the model is asked",
        "HOW",
        default=_LLM.formulation,
        choices={
            FUNCTION: "all facts in one call (FaaF)",
            STEPWISE: "step by step (UFO)",
            RATIONALE: "rationale first (Facts&Evidence)",
            PROMPT: "each fact alone",
            MINICHECK: "MiniCheck's form",
            GRANITE_GUARDIAN: "Granite Guardian's",
            LYNX: "Lynx's",
        },
        label="How the model is asked",
    )
    verdict_labels: str | None = of_judge(
        "labels that the model may give",
        "WHICH",
        default=_LLM.verdict_labels,
        choices={TFN: "true, false, not clear", TF: "true, false"},
        label="Labels of the model",
    )
    explain: str | None = _of_function(
        "ask for an answer and a rationale with each verdict: short (default) or none",
        "HOW",
        default=_LLM.explain,
        choices=EXPLAIN,
        label="Rationale of each verdict",
    )
    citation: bool | None = _of_function(
        "ask for an exact quote with each verdict",
        default=_LLM.citation,
        label="A quote with each verdict",
    )
    format: str | None = _of_function(
        "format of the reply to the formulation function: json (default) or xml",
        "FORMAT",
        default=_LLM.format,
        choices=(JSON, XML),
    )
    repairs: int | None = of_judge(
        "times to ask again for missing parts of a reply: 1 (default) or 0",
        "N",
        default=_LLM.repairs,
        low=0,
        high=1,
        expert=True,
    )
    as_published: bool | None = of_judge(
        "use the prompts of the papers: FaaF's for function and prompt, Facts&Evidence's for "
        "rationale and its claims; prompt and rationale need --verdict_labels tf",
        default=_LLM.as_published,
        expert=True,
    )
    passages_per_call: int | None = _of_function(
        "maximum number of passages in one call (default {default})",
        "N",
        default=_LLM.passages_per_call,
        low=1,
        expert=True,
    )
    facts_per_call: int | None = _of_function(
        "maximum number of facts in one call (default {default})",
        "N",
        default=_LLM.facts_per_call,
        low=1,
        expert=True,
    )
    extract_tokens: int | None = of_judge(
        "split a text longer than N tokens for extraction (default {default})",
        "N",
        default=_LLM.extract_tokens,
        low=50,
        expert=True,
    )
    prompts: str | None = option(
        "folder with prompts that replace the shipped ones of the same name", "DIR", affects=_BOTH
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The models and their endpoints, limits on requests, and prices."""

    model: str | None = option(
        "model of the judge; also of extraction and the source llm, unless they have their own",
        "NAME",
        affects=_BOTH,
        label="Model",
    )
    base_url: str | None = of_source(
        "endpoint of --model (default: OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT, else OpenAI's)",
        "URL",
        read=url_of("--base_url"),
    )
    extractor_model: str | None = of_judge(
        "model that extracts claims", "NAME", label="Model that extracts claims"
    )
    extractor_base_url: str | None = option(
        "endpoint of --extractor_model", "URL", read=url_of("--extractor_base_url"), expert=True
    )
    knowledge_model: str | None = of_source(
        "model of the source llm", "NAME", label="Model that is asked what it knows"
    )
    knowledge_base_url: str | None = of_source(
        "endpoint of --knowledge_model", "URL", read=url_of("--knowledge_base_url"), expert=True
    )
    header: tuple[str, ...] = option(
        "extra header of requests to --base_url, and the environment variable that holds its value",
        "NAME=VARIABLE",
        default=(),
    )
    body_json: str | None = option(
        'JSON object of fields to add to requests to --base_url, such as {{"top_k": 1}}',
        "JSON",
        affects=Affects.RESULTS,
        expert=True,
    )
    reasoning_effort: str | None = option(
        "how much a model at --base_url reasons, in its API's words: none, low, medium, high, …",
        "EFFORT",
        affects=Affects.RESULTS,
        expert=True,
    )
    context: int | None = option(
        "context size of the models in tokens, prompt and reply together; calls are packed to fit "
        "(default: learned from the endpoint's errors)",
        "N",
        low=128,
    )
    concurrency: int = option(
        "requests at a time to an endpoint (default {default})",
        "N",
        default=CallSettings().concurrency,
        low=1,
        high=4096,
    )
    requests_per_minute: int | None = option("requests per minute to an endpoint", "N", low=1)
    tokens_per_minute: int | None = option(
        "tokens of prompt and reply per minute at an endpoint", "N", low=1
    )
    timeout: float = option(
        "time-out of a request in seconds (default {default:g})",
        "S",
        default=Endpoint().timeout,
        low=0.1,
        expert=True,
    )
    retry_seconds: float = option(
        "seconds for which a failed request is retried (default {default:g}); the run ends if an "
        "endpoint asks for a longer pause",
        "S",
        default=Retry().seconds,
        low=0,
        expert=True,
    )
    cache: str | None = option(
        "where replies are cached: a .sqlite file (default: in the user's cache folder), a folder "
        "or bucket prefix ending in /, or off",
        "URI",
        read=cache_uri,
    )
    no_share: bool = of_results(
        "judge equal claims of different responses anew, instead of once",
        default=False,
        expert=True,
    )
    max_cost: float | None = option(
        "budget in US dollars, with earlier attempts; the run stops before exceeding it (exit 4)",
        "USD",
        low=0,
    )
    prices: str | None = option(
        "YAML file with model prices; they override the shipped ones", "FILE", expert=True
    )
    batch: bool = option(
        "ask models through their provider's batch API: about half the price, within 24 hours",
        default=False,
    )
    batch_wait: float | None = option(
        "seconds to wait for batches (default: until all are done), then exit 5; give the same "
        "command again to continue",
        "S",
        low=0,
    )
    batch_requests: int = option(
        "maximum number of requests in a batch (default {default})",
        "N",
        default=50_000,
        low=1,
        expert=True,
    )
    batch_mb: float = option(
        "maximum size of a batch in megabytes (default {default:g})",
        "MB",
        default=200.0,
        low=0,
        expert=True,
    )
    batch_endpoints: tuple[str, ...] = option(
        "base URLs to ask by batches (default: all); others are asked at once",
        "URL",
        default=(),
        expert=True,
    )


GROUPS = {
    "input and output": options_of(InputOptions),
    "sources": options_of(SourceOptions),
    "web": options_of(WebOptions),
    "judge": options_of(JudgeOptions),
    "models": options_of(ModelOptions),
    "run": options_of(RunOptions),
}
"""The options of `ufo evaluate` by the titles of its help."""

_OF_BATCHES = {"batch", "batch_wait", "batch_requests", "batch_mb", "batch_endpoints"}
_OF_RUNS = {*names_of(InputOptions, RunOptions), "max_cost", *_OF_BATCHES} - {"config"}
OF_TEXT = {
    title: [one for one in options if one.name not in _OF_RUNS] for title, options in GROUPS.items()
}
"""The options of `ufo check`."""
OF_SERVICE = [one for options in OF_TEXT.values() for one in options if one.name != "config"]
"""The options to start a service with: the defaults of its checks."""
OF_REQUESTS = [one for one in OF_SERVICE if one.label]
"""The options that a request to the service may set; the page shows them."""

COMMAND_ALONE = {"json", "log_format", "dry_run", "streaming", "window_seconds", "idle_seconds"}
"""The options of the command that are no keywords in Python."""
# The first four are parameters of the functions.
_NO_KEYWORDS = {"input", "output", "sources", "mode", *COMMAND_ALONE}


def keywords(groups: Mapping[str, Iterable[Option]]) -> list[Option]:
    """Return the options in these groups that are keywords in Python."""
    return [one for options in groups.values() for one in options if one.name not in _NO_KEYWORDS]


OF_EVALUATE_KEYWORDS = keywords(GROUPS)
OF_CHECK_KEYWORDS = keywords(OF_TEXT)
