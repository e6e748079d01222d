"""The context of a run for fact sources."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ufo.transforms.llm.client_settings import CallSettings

if TYPE_CHECKING:
    from ufo.transforms.llm.client_settings import ClientSettings
    from ufo.transforms.llm.request import Client


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The argument `context` of a fact source's constructor.

    `calls` are the limits, retries and cache of all requests. `models` are the settings of language
    models, None where the run asks none. `judge_asks` says whether the judge asks them. `client`
    returns a client to use instead of the models' endpoints.
    """

    calls: CallSettings = field(default_factory=CallSettings)
    models: "ClientSettings | None" = None
    judge_asks: bool = False
    client: "Callable[[], Client] | None" = None

    @property
    def judge_models(self) -> "ClientSettings | None":
        """The settings of the judge's models; None where it asks none."""
        return self.models if self.judge_asks else None

    def among(self, workers: int) -> "SourceContext":
        """Return the context for each of `workers` processes, which divide the rate limits."""
        models = self.models and replace(self.models, workers=workers)
        return replace(self, calls=replace(self.calls, workers=workers), models=models)

    def elsewhere(self) -> "SourceContext":
        """Return the context with explicit base URLs, for processes with another environment."""
        return replace(self, models=self.models and self.models.elsewhere())
