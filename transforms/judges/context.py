"""What a run tells a judge that asks a language model, beside its options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transforms.judges.base import Judge
    from transforms.judges.llm.judgement_cache import JudgementCache
    from transforms.judges.llm.settings import LlmSettings
    from transforms.llm.base import Client


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """What a judge gets that needs an endpoint and whose constructor takes `context`.

    `settings` are the flags of `--judge llm`. `client` makes the run's client, which retries,
    limits, caches and counts, on the loop that it is used in. `judgement_cache` gives the LLM judge
    the judgements that were made before, and those of others under way. `instead`, where it is
    given, stands in for the LLM judge.
    """

    settings: "LlmSettings"
    client: "Callable[[], Client]"
    judgement_cache: "Callable[[], JudgementCache] | None" = None
    instead: "Judge | None" = None

    def llm_judge(self) -> "Judge":
        """Return the judge that the flags of `--judge llm` describe, for one that settles some
        claims itself."""
        from transforms.judges.llm.judge import LlmJudge

        return self.instead or LlmJudge(self)
