"""The context of a run, which fact sources get beside their options."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from transforms.llm.settings import CallSettings

if TYPE_CHECKING:
    from transforms.llm.base import Client
    from transforms.llm.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What a fact source gets whose constructor takes `context`.

    `calls` are the limits, the retries and the cache for whatever is asked. `models` is how
    language models are reached: None where the run asks none, or outside of one. `judge_asks` tells
    that the judge is among those who ask them. `client`, where it is given, makes who is asked in
    place of the models' endpoints.
    """

    calls: CallSettings = field(default_factory=CallSettings)
    models: "ClientSettings | None" = None
    judge_asks: bool = False
    client: "Callable[[], Client] | None" = None

    @property
    def judge_models(self) -> "ClientSettings | None":
        """How the judge's models are reached; None where it asks none."""
        return self.models if self.judge_asks else None

    def among(self, workers: int) -> "SourceContext":
        """Return the context of each of so many processes, which divide what is allowed."""
        models = self.models and replace(self.models, workers=workers)
        return replace(self, calls=replace(self.calls, workers=workers), models=models)

    def elsewhere(self) -> "SourceContext":
        """Return the context for processes with environments of their own: addresses are named."""
        return replace(self, models=self.models and self.models.elsewhere())
