"""The context by which a judge asks a language model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ufo.transforms.judges.judge import Judge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.request import Client

if TYPE_CHECKING:
    from ufo.transforms.judges.llm.judgement_cache import JudgementCache


def _none() -> Judge:
    raise LookupError("this context was made without an LLM judge")


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """The argument `context` of a judge that sets `needs_endpoint`.

    `settings` are the flags of `--judge llm`. `client` returns the run's client, with retries, rate
    limits, cache and usage rows. `judgement_cache` returns the LLM judge's cache of judgements,
    None for no cache. `llm_judge` returns the LLM judge with these flags, for a judge that decides
    only some claims itself.
    """

    settings: LlmSettings
    client: Callable[[], Client]
    judgement_cache: "Callable[[], JudgementCache] | None" = None
    llm_judge: Callable[[], Judge] = _none
