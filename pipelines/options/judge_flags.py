"""Declare the options of judges and of models; see `pipelines.options.flags`."""

from dataclasses import dataclass
from typing import Any

from pipelines.options.arguments import (
    Affects,
    of_judge,
    of_results,
    of_source,
    option,
)
from transforms.judges.llm.settings import LLM_OPTIONS
from transforms.llm.store import checked_uri
from transforms.registry import Spec

LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
_OWN = "the same, where the {} model has its own"
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
        "llm (default where a key or base URL is given); offline: by a small model, no endpoint "
        "and no network; cascade: offline, and llm for what that is not sure of; "
        "path/to/file.py:Class, or any that `ufo judges` lists",
        "JUDGE",
    )
    verifier: str | None = of_judge(
        "the offline judge's model: overlap, bundled, a folder, path/to/file.py:Class or a "
        "cross-encoder of a model hub (organisation/model)",
        "NAME",
    )
    confidence: float | None = of_judge(
        "from which probability of its outcome the cascade keeps an offline judgement (default "
        "0.9; 1: none)",
        "P",
        low=0,
        high=1,
    )


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How the LLM judge asks: the options that it declares; None is its default."""

    formulation: str | None = _of_llm_judge("formulation")
    options: str | None = _of_llm_judge("options")
    explain: str | None = _of_llm_judge("explain")
    citation: bool | None = _of_llm_judge("citation")
    format: str | None = _of_llm_judge("format")
    repairs: int | None = _of_llm_judge("repairs")
    passages_per_call: int | None = _of_llm_judge("passages_per_call")
    facts_per_call: int | None = _of_llm_judge("facts_per_call")
    extract_tokens: int | None = _of_llm_judge("extract_tokens")
    prompts: str | None = option(
        "a folder with prompts in place of the shipped ones of that name", "DIR", affects=_BOTH
    )


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which models are asked, and where."""

    model: str | None = option(
        "the judge's model, and the others' where they have none", "NAME", affects=_BOTH
    )
    base_url: str | None = of_source(
        "its endpoint (default: OPENAI_BASE_URL, else OpenAI's)", "URL"
    )
    extractor_model: str | None = of_judge("the model that extracts claims", "NAME")
    extractor_base_url: str | None = option("its endpoint", "URL")
    knowledge_model: str | None = of_source("the model of the llm source", "NAME")
    knowledge_base_url: str | None = of_source("its endpoint", "URL")
    context: int | None = option(
        "tokens that the models' contexts hold, prompt and reply; calls are packed under it "
        "(default: learned from what the server refuses or cuts)",
        "N",
        low=128,
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an endpoint is sent at most."""

    concurrency: int = option(
        "requests under way at an endpoint (default {default})", "N", default=64, low=1, high=4096
    )
    requests_per_minute: int | None = option(
        "requests that an endpoint is sent in any minute", "N", low=1
    )
    tokens_per_minute: int | None = option("tokens, of prompt and reply, in any minute", "N", low=1)
    extractor_concurrency: int | None = option(_OWN.format("extractor"), "N", low=1)
    extractor_requests_per_minute: int | None = option(_OWN.format("extractor"), "N", low=1)
    extractor_tokens_per_minute: int | None = option(_OWN.format("extractor"), "N", low=1)
    knowledge_concurrency: int | None = option(_OWN.format("knowledge"), "N", low=1)
    knowledge_requests_per_minute: int | None = option(_OWN.format("knowledge"), "N", low=1)
    knowledge_tokens_per_minute: int | None = option(_OWN.format("knowledge"), "N", low=1)
    timeout: float | None = option("seconds for each request (default 300)", "S", low=0.1)
    retry_seconds: float | None = option(
        "seconds that a request may be tried again (default 900); an endpoint that asks for a "
        "longer pause ends the run",
        "S",
        low=0,
    )


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What answers cost, and where they are kept."""

    cache: str | None = option(
        "where answers are kept: a .sqlite file (default: in the user's cache folder), a folder or "
        "bucket prefix ending in /, or off",
        "URI",
        read=checked_uri,
    )
    repeat: int = of_results(
        "ask anew as the K-th repeat, to measure a model's variance", "K", default=0, low=0
    )
    no_share: bool = of_results(
        "judge equal claims of different responses each by itself", default=False
    )
    max_cost: float | None = option(
        "US dollars that the run may spend, earlier attempts included; it stops before (exit 4)",
        "USD",
        low=0,
    )
    prices: str | None = option("YAML with prices of models, before the shipped ones", "FILE")
