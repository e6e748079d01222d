"""What a run hands to a judge that asks a language model, beside its options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.judges.base import Judge
from transforms.judges.llm.settings import LlmSettings
from transforms.llm.base import Client

if TYPE_CHECKING:  # it brings the client's code, which only a process that asks needs
    from transforms.judges.llm.judgement_cache import JudgementCache


def _none() -> Judge:
    raise LookupError("this context was made without an LLM judge")


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """What a judge gets that needs an endpoint and whose constructor takes `context`.

    `settings` are the flags of `--judge llm`. `client` returns the run's client, which retries,
    limits, caches and counts. `judgement_cache` returns the cache of judgements that the LLM judge
    uses; None for none. `llm_judge` returns the judge that the flags of `--judge llm` describe, for
    one that settles some claims itself.
    """

    settings: LlmSettings
    client: Callable[[], Client]
    judgement_cache: "Callable[[], JudgementCache] | None" = None
    llm_judge: Callable[[], Judge] = _none
