"""Define how models and search engines are reached, as plain values that travel to workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from transforms.llm.base import VERIFIER
from transforms.llm.budget import Price
from transforms.llm.capabilities import Capabilities
from transforms.llm.endpoint import Endpoint
from transforms.llm.limiter import Limits, strictest
from transforms.llm.retry import Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """What holds for every request, to a model or to a search engine.

    `concurrency` is of requests under way at an endpoint. `cache` is where answers are kept
    (`transforms.llm.store`), None for nowhere; with `cache_writes` False what is there is used and
    nothing added. Each of several processes (`workers`) keeps to its share of the limits.
    `usage_log` is the file in which the run's requests are written down
    (`transforms.llm.usage_log`). `run` tells runs of one process apart, at whose end their
    connections are closed.
    """

    concurrency: int = 64
    retry: Retry = field(default_factory=Retry)
    cache: str | None = None
    cache_writes: bool = True
    workers: int = 1
    run: str | None = None
    usage_log: str | None = None


@dataclass(frozen=True, slots=True)
class ClientSettings(CallSettings):
    """How to reach the models.

    `endpoints` has one for each role; a role without one uses the verifier's. Limits a minute hold
    for an endpoint, whichever roles and models share it; `limits` has those of a role, where it has
    its own, and the strictest counts. `capabilities` are those already found out; an endpoint
    without is asked at its first request.

    `sent_before` is how many requests of this minute were sent before these processes started, and
    `reached` are the URLs that answered these. `minute` is in seconds, and another number is for
    tests. `context` is how many tokens the models' contexts hold, None to learn it from what the
    endpoints refuse.

    `repeat` tells runs apart that are to be answered anew. Without `share`, a response takes over
    no other one's answers. `prices` are by the model's name; the requests of the usage log together
    cost at most `max_cost` US dollars, which only one process can keep.
    """

    endpoints: Mapping[str, Endpoint]
    capabilities: Mapping[Endpoint, Capabilities] = field(default_factory=dict)
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    limits: Mapping[str, Limits] = field(default_factory=dict)
    sent_before: int = 0
    reached: frozenset[str] = frozenset()
    minute: float = 60.0
    context: int | None = None
    repeat: int = 0
    share: bool = True
    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float | None = None

    def endpoint(self, role: str, model: str = "") -> Endpoint:
        """Return the endpoint of a role, for another model where one is named."""
        found = self.endpoints.get(role) or self.endpoints[VERIFIER]
        return replace(found, model=model) if model else found

    def elsewhere(self) -> "ClientSettings":
        """Return the settings for processes whose environment does not say where a model is."""
        asked = {*self.endpoints.values(), *self.capabilities}
        named = {endpoint: replace(endpoint, base_url=endpoint.url) for endpoint in asked}
        return replace(
            self,
            endpoints={role: named[endpoint] for role, endpoint in self.endpoints.items()},
            capabilities={named[endpoint]: can for endpoint, can in self.capabilities.items()},
        )

    def limits_of(self, place: tuple[str | None, str] | None = None) -> Limits:
        """Return what holds at a place for all processes together; by default, at every place."""
        general = Limits(self.concurrency, self.requests_per_minute, self.tokens_per_minute)
        found = [
            self.limits.get(role, general).or_else(general)
            for role, endpoint in self.endpoints.items()
            if place in (None, endpoint.place)
        ]
        return strictest(found or [general])
