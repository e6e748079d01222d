"""Declare the options of judges and of models; see `ufo.pipelines.options.flags`."""

from dataclasses import dataclass
from typing import Any

from ufo.pipelines.options.arguments import (
    Affects,
    of_judge,
    of_results,
    of_source,
    option,
    url_of,
)
from ufo.transforms.judges.llm.settings import LLM_OPTIONS
from ufo.transforms.llm.store import checked_uri
from ufo.transforms.registry import Spec

_BOTH = Affects.SOURCE | Affects.JUDGE


def _of_llm_judge(name: str) -> Any:
    """Return the field of an option that the LLM judge declares."""
    declared = LLM_OPTIONS[name]
    affects = Affects.FUNCTION if declared["of_function"] else Affects.JUDGE
    return option(**declared["option"], affects=affects)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Who judges."""

    judge: Spec = of_judge(
        "llm (default if a key or base URL is given); offline: a small local model, no network; "
        "path/to/file.py:Class, or any that `ufo judges` lists",
        "JUDGE",
    )
    verifier: str | None = of_judge(
        "model of the offline judge: overlap (default), bundled, a folder, path/to/file.py:Class "
        "or a cross-encoder on a model hub (organisation/model)",
        "NAME",
    )


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How the LLM judge asks: the options that it declares; None is its default."""

    formulation: str | None = _of_llm_judge("formulation")
    verdict_labels: str | None = _of_llm_judge("verdict_labels")
    explain: str | None = _of_llm_judge("explain")
    citation: bool | None = _of_llm_judge("citation")
    format: str | None = _of_llm_judge("format")
    repairs: int | None = _of_llm_judge("repairs")
    as_published: bool | None = _of_llm_judge("as_published")
    passages_per_call: int | None = _of_llm_judge("passages_per_call")
    facts_per_call: int | None = _of_llm_judge("facts_per_call")
    extract_tokens: int | None = _of_llm_judge("extract_tokens")
    prompts: str | None = option(
        "folder with prompts that replace the shipped ones of the same name", "DIR", affects=_BOTH
    )


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which models are asked, and where."""

    model: str | None = option(
        "model of the judge, and of extraction and the source llm unless set", "NAME", affects=_BOTH
    )
    base_url: str | None = of_source(
        "endpoint of --model (default: OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT, else OpenAI's)",
        "URL",
        read=url_of("--base_url"),
    )
    extractor_model: str | None = of_judge("model that extracts claims", "NAME")
    extractor_base_url: str | None = option(
        "endpoint of --extractor_model", "URL", read=url_of("--extractor_base_url")
    )
    knowledge_model: str | None = of_source("model of the source llm", "NAME")
    knowledge_base_url: str | None = of_source(
        "endpoint of --knowledge_model", "URL", read=url_of("--knowledge_base_url")
    )
    header: tuple[str, ...] = option(
        "further headers of requests to --base_url, each with the environment variable that holds "
        "its value",
        "NAME=VARIABLE",
        default=(),
    )
    body_json: str | None = option(
        'JSON object of fields to add to requests to --base_url, such as {{"top_k": 1}}',
        "JSON",
        affects=Affects.RESULTS,
    )
    reasoning_effort: str | None = option(
        "how much a model at --base_url thinks, in its own words: none, minimal, low, medium, "
        "high, …",
        "EFFORT",
        affects=Affects.RESULTS,
    )
    context: int | None = option(
        "context size of the models in tokens, prompt and reply together; calls are packed to fit "
        "(default: learned from the endpoint's errors)",
        "N",
        low=128,
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an endpoint is sent at most."""

    concurrency: int = option(
        "requests in flight at an endpoint (default {default})", "N", default=64, low=1, high=4096
    )
    requests_per_minute: int | None = option(
        "rate limit: requests per minute to an endpoint", "N", low=1
    )
    tokens_per_minute: int | None = option(
        "rate limit: tokens of prompt and reply per minute", "N", low=1
    )
    timeout: float | None = option("time-out of a request in seconds (default 300)", "S", low=0.1)
    retry_seconds: float | None = option(
        "how long a failed request is retried, in seconds (default 900); an endpoint that asks for "
        "a longer pause ends the run",
        "S",
        low=0,
    )


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What answers cost, and where they are kept."""

    cache: str | None = option(
        "where replies are cached: a .sqlite file (default: in the user's cache folder), a folder "
        "or bucket prefix ending in /, or off",
        "URI",
        read=checked_uri,
    )
    no_share: bool = of_results(
        "judge equal claims of different responses separately", default=False
    )
    max_cost: float | None = option(
        "budget of the run in US dollars, earlier attempts included; it stops before spending more "
        "(exit 4)",
        "USD",
        low=0,
    )
    prices: str | None = option(
        "YAML file with model prices; takes precedence over the shipped ones", "FILE"
    )
