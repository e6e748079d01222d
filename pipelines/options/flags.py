"""The flags of `ufo evaluate`, declared once; what each takes, and its help.

A flag that is not given stays None: the configuration file, and then the default, fill it.
"""

import argparse

from pipelines.options.arguments import Flag

MODES = ("seq", "mv", "single", "all")
TIES = ("not_factual", "factual")
UNITS = ("claim", "sentence")
FORMULATIONS = ("function", "stepwise", "rationale", "prompt")
OPTIONS = ("tfn", "tf")
EXPLAIN = ("short", "none")
FORMATS = ("json", "xml")
SAMPLINGS = ("per_query", "bundled")
SEARCHES = ("serper", "searxng", "brave")
WEB_RETRIEVERS = ("bm25", "dense")
LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
LOG_FORMATS = ("text", "json")
IF_FINISHED = ("replace", "skip", "retry_errors")

FAIL_IF_WORSE = Flag(
    "fail_if_worse",
    "exit 3 where the score has dropped significantly: P bounds the p-value of a one-sided paired "
    "t test, the share of false alarms to put up with; it is no number of points (0.05 is usual)",
    "P",
    low=0,
    high=1,
    whole=False,
)
RUN = (
    Flag("input", "responses: .jsonl, .jsonl.gz or .parquet; patterns and gs://… too", "FILE"),
    Flag("output", "results go to DIR/run=NAME; gs://… too", "DIR"),
    Flag("run", "the run's name (default: a hash of inputs' names and options)", "NAME"),
    Flag(
        "if_finished",
        "what to do where the run is finished: replace (default), skip, or retry_errors: only "
        "responses that had errors",
        "WHAT",
        IF_FINISHED,
    ),
    Flag("since", "evaluate new and changed responses only; the rest as in run NAME", "NAME"),
    Flag("streaming", "go on with new files as they arrive: each window is a run NAME.w000001, …"),
    Flag(
        "window_seconds",
        "how long --streaming gathers files before it evaluates them (default 60)",
        "S",
        low=0.01,
        whole=False,
    ),
    Flag(
        "idle_seconds",
        "end --streaming after so long without a new file (default: never)",
        "S",
        low=0,
        whole=False,
    ),
    Flag("fresh", "start over where an unfinished attempt differs from this command"),
    Flag("workers", "processes (default: one a core; one with a model)", "N", low=1, high=1024),
    Flag("chunk_size", "responses finished on disk together (default 500 to 2000)", "N", low=1),
    Flag("fail_under", "exit 3 where the score is below X", "X", low=0, high=1, whole=False),
    Flag(
        "baseline",
        "finished run of the same --output to compare with: exit 3 where this one is significantly "
        "worse (--fail_if_worse, default 0.05)",
        "NAME",
    ),
    FAIL_IF_WORSE,
    Flag("max_line_bytes", "longer lines are failures (default 4194304)", "N", low=2),
    Flag("dry_run", "tell calls, tokens and cost beforehand; nothing is sent or evaluated"),
    Flag("json", "print the result as JSON"),
    Flag(
        "log_format",
        "of stderr: text (default), or json: an object a line, with run, step and worker",
        "HOW",
        LOG_FORMATS,
    ),
    Flag("config", "YAML with any of these flags, and named sources; a flag beats it", "FILE"),
    Flag(
        "secrets",
        "variables with keys, and the secrets of Google Secret Manager that every process reads "
        "them from, where nobody can set a worker's: OPENAI_API_KEY=projects/P/secrets/S",
        "VARIABLE=SECRET,…",
    ),
)
SOURCES = (
    Flag(
        "sources",
        "fact sources in the order they are asked; names or path/to/file.py:Class (default: those "
        "that can serve)",
        "A,B,C",
    ),
    Flag(
        "mode",
        "seq: the first source with an answer decides (default); mv: majority over all; single: "
        "one source; all: every source for every unit",
        "MODE",
        MODES,
    ),
    Flag("tie", "what a tie of votes is: not_factual (default) or factual", "LABEL", TIES),
    Flag("units", "claim (default) or sentence", "UNIT", UNITS),
    Flag("index", "the wikipedia source's index folder, or its prefix: gs://…", "DIR"),
    Flag(
        "retriever",
        "bm25 (default); dense or hybrid where the index was built with --embedder",
        "NAME",
    ),
    Flag(
        "embedder",
        "of dense and hybrid: openai[:MODEL], a model's folder or its name on a model hub; of an "
        "index: the one it was built with (default)",
        "NAME",
    ),
    Flag("passages", "passages asked of a source for a unit (default 5)", "N", low=1, high=1000),
    Flag("samples", "passages a query of the llm source (default 5)", "N", low=1, high=128),
    Flag("temperature", "of the llm source (default 1)", "T", low=0, high=2, whole=False),
    Flag("sampling", "per_query (default), or bundled: one request a response", "HOW", SAMPLINGS),
)
WEB = (
    Flag("search", "the engine: serper (default), searxng or brave", "ENGINE", SEARCHES),
    Flag("locale", "language, or language-COUNTRY, to search in: en-GB", "LOCALE"),
    Flag("pages", "pages a query (default 5)", "N", low=1, high=100),
    Flag(
        "passages_per_page",
        "best sentences taken of each (default 1); 0: snippets alone, nothing is fetched",
        "N",
        low=0,
        high=100,
    ),
    Flag("context_sentences", "before and after each of them (default 1)", "N", low=0, high=20),
    Flag(
        "web_retriever",
        "of a page's sentences: bm25 (default), or dense, which needs --embedder",
        "NAME",
        WEB_RETRIEVERS,
    ),
    Flag("include_categories", "use only hosts of these kinds: news,wiki,…", "A,B"),
    Flag("exclude_categories", "leave out hosts of these kinds", "A,B"),
    Flag("include_domains", "use only these registered domains: example.org,*.gov", "A,B"),
    Flag("exclude_domains", "leave out these", "A,B"),
    Flag("categories", "YAML with kinds of hosts, before the shipped ones", "FILE"),
    Flag(
        "web_snapshot",
        "new: takes down what is searched and fetched; finished: replays it, with no network",
        "DIR",
    ),
    Flag("allow_private_hosts", "fetch from addresses and ports that are not public, too"),
)
JUDGING = (
    Flag(
        "judge",
        "llm (default where a key or base URL is given); offline: by a small model, no endpoint "
        "and no network; cascade: offline, and llm for what that is not sure of; "
        "path/to/file.py:Class, or any that `ufo judges` lists",
        "JUDGE",
    ),
    Flag(
        "verifier",
        "the offline judge's model: overlap, bundled, a folder, path/to/file.py:Class or a "
        "cross-encoder of a model hub (organisation/model)",
        "NAME",
    ),
    Flag(
        "confidence",
        "from which probability of its outcome the cascade keeps an offline judgement (default "
        "0.9; 1: none)",
        "P",
        low=0,
        high=1,
        whole=False,
    ),
    Flag(
        "formulation",
        "function: all facts in one call (default); stepwise; rationale; prompt",
        "HOW",
        FORMULATIONS,
    ),
    Flag("options", "tfn: true, false, not clear (default); tf cannot abstain", "WHICH", OPTIONS),
    Flag("explain", "short: answer and rationale (default); none", "HOW", EXPLAIN),
    Flag("citation", "ask for an exact quote with each verdict"),
    Flag("format", "of the function's reply: json (default) or xml", "FORMAT", FORMATS),
    Flag("repairs", "ask once more for what a reply lacks: 1 (default) or 0", "N", low=0, high=1),
    Flag("passages_per_call", "passages in one call", "N", low=1),
    Flag("facts_per_call", "facts in one call", "N", low=1),
    Flag("extract_tokens", "a longer text is extracted in parts (default 2000)", "N", low=50),
    Flag("prompts", "a folder with prompts in place of the shipped ones of that name", "DIR"),
)
MODELS = (
    Flag("model", "the judge's model, and the others' where they have none", "NAME"),
    Flag("base_url", "its endpoint (default: OPENAI_BASE_URL, else OpenAI's)", "URL"),
    Flag("extractor_model", "the model that extracts claims", "NAME"),
    Flag("extractor_base_url", "its endpoint", "URL"),
    Flag("knowledge_model", "the model of the llm source", "NAME"),
    Flag("knowledge_base_url", "its endpoint", "URL"),
    Flag(
        "context",
        "tokens that the models' contexts hold, prompt and reply; calls are packed under it "
        "(default: learned from what the server refuses or cuts)",
        "N",
        low=128,
    ),
    Flag("concurrency", "requests under way at an endpoint (default 64)", "N", low=1, high=4096),
    Flag("requests_per_minute", "requests that an endpoint is sent in any minute", "N", low=1),
    Flag("tokens_per_minute", "tokens, of prompt and reply, in any minute", "N", low=1),
    *(
        Flag(f"{role}_{limit}", f"the same, where the {role} model has its own", "N", low=1)
        for role in ("extractor", "knowledge")
        for limit in LIMITS
    ),
    Flag("timeout", "seconds for each request (default 300)", "S", low=0.1, whole=False),
    Flag(
        "retry_seconds",
        "seconds that a request may be tried again (default 900); an endpoint that asks for a "
        "longer pause ends the run",
        "S",
        low=0,
        whole=False,
    ),
    Flag(
        "cache",
        "where answers are kept: a .sqlite file (default: in the user's cache folder), a folder or "
        "bucket prefix ending in /, or off",
        "URI",
    ),
    Flag("repeat", "ask anew as the K-th repeat, to measure a model's variance", "K", low=0),
    Flag("no_share", "judge equal claims of different responses each by itself"),
    Flag(
        "max_cost",
        "US dollars that the run may spend, earlier attempts included; it stops before (exit 4)",
        "USD",
        low=0,
        whole=False,
    ),
    Flag("prices", "YAML with prices of models, before the shipped ones", "FILE"),
)
GROUPS = {"run": RUN, "sources": SOURCES, "web": WEB, "judging": JUDGING, "models": MODELS}

# Others are taken by the judges whose constructors name them.
_NOT_OF_THE_LLM_JUDGE = ("judge", "verifier", "confidence", "prompts")
OF_THE_LLM_JUDGE = (
    *(flag.name for flag in JUDGING if flag.name not in _NOT_OF_THE_LLM_JUDGE),
    "formulations",
)
OF_THE_EXTRACTOR = (
    "extractor_model",
    "extractor_base_url",
    *(f"extractor_{limit}" for limit in LIMITS),
)


OF_ONE_RUN = ("max_cost", "repeat")
# What a service can be started with: what a text is judged by and checked against.
OF_SERVICE = (
    *(flag for flag in SOURCES if flag.name not in ("sources", "mode", "tie", "units")),
    *WEB,
    *JUDGING,
    *(flag for flag in MODELS if flag.name not in OF_ONE_RUN),
)


def add_evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Declare all flags, in their groups."""
    for title, flags in GROUPS.items():
        group = parser.add_argument_group(title)
        for flag in flags:
            flag.add(group)
