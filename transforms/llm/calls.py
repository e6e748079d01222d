"""Define the settings that hold for every request, to a model or to a search engine."""

from dataclasses import dataclass, field

from transforms.llm.retry import Retry


@dataclass(frozen=True, slots=True)
class CallSettings:
    """Limits, retries and the cache, as plain values that travel to workers.

    The names mean what they mean in `transforms.llm.client.ClientSettings`. `run` tells runs of one
    process apart, at whose end their connections are closed.
    """

    concurrency: int = 64
    retry: Retry = field(default_factory=Retry)
    cache: str | None = None
    cache_writes: bool = True
    workers: int = 1
    run: str | None = None
    usage_log: str | None = None
