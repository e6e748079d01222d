"""The settings of clients for models and search engines, as plain values for workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.limiter import RateLimits
from ufo.transforms.llm.prices import Price
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.retry import Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """Settings of every request, to a model or to a search engine.

    `concurrency` limits the requests in flight to one endpoint. `cache` is the URI of the cache
    (`ufo.transforms.llm.store`), None for no cache; with `cache_writes` False it is only
    read. Each of `workers` processes keeps to its share of the limits. `usage_log` is the path of
    the run's usage log (`ufo.transforms.llm.usage_log`). `run` identifies a run within a process;
    its connections are closed at its end.
    """

    concurrency: int = 64
    retry: Retry = field(default_factory=Retry)
    cache: str | None = None
    cache_writes: bool = True
    workers: int = 1
    run: str | None = None
    usage_log: str | None = None


def store_path(cache: str) -> str:
    """Return the path of the batch store for a cache: a file beside a cache on this machine."""
    return f"{cache.rstrip('/')}.batches"


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Settings of the batches of a run, as plain values that are sent to workers.

    `path` is the file of the `BatchStore`, `run` the name of the run's rows in it. `urls` are the
    base URLs of the endpoints that are asked in batches, none for all. A file has at most
    `requests` requests and `bytes` bytes. A failed request is repeated in up to `repairs` more
    rounds. `wait` is the total number of seconds to wait for batches, None for no limit.
    """

    path: str
    run: str
    urls: tuple[str, ...] = ()
    requests: int = 50_000
    bytes: float = 200e6
    repairs: int = 1
    wait: float | None = None

    def asks(self, endpoint: Endpoint) -> bool:
        """Return whether an endpoint is asked in batches."""
        return not self.urls or endpoint.url in self.urls


@dataclass(frozen=True, slots=True)
class ClientSettings(CallSettings):
    """Settings of the clients for language models.

    `endpoints` are by role; a role without one uses the verifier's. Rate limits hold for an
    endpoint, whichever roles and models share it. `capabilities` are from earlier probes; other
    endpoints are probed at their first request.

    `reached` are the URLs that answered other processes of the run. `context` is the size of the
    models' contexts in tokens, None to learn it from the endpoints' errors.

    With `share` False, responses do not share cached answers. `prices` are by model name.
    `max_cost` is the cap in US dollars on all requests of the usage log; only a run with one
    process can enforce it. With `batch`, requests are noted for the provider's batches instead of
    sent.
    """

    endpoints: Mapping[str, Endpoint]
    capabilities: Mapping[Endpoint, Capabilities] = field(default_factory=dict)
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    reached: frozenset[str] = frozenset()
    context: int | None = None
    share: bool = True
    prices: Mapping[str, Price] = field(default_factory=dict)
    max_cost: float | None = None
    batch: BatchSettings | None = None

    def __hash__(self) -> int:
        # Of the fields that differ in practice; equality compares all.
        return hash((self.run, self.usage_log, self.cache, *self.endpoints.values()))

    def endpoint(self, role: str, model: str = "") -> Endpoint:
        """Return the endpoint of a role, with `model` in place of its own where given."""
        endpoint = self.endpoints.get(role) or self.endpoints[VERIFIER]
        return replace(endpoint, model=model) if model not in ("", endpoint.model) else endpoint

    def batched(self, role: str, model: str = "") -> bool:
        """Return whether the endpoint of a role is asked in batches."""
        return self.batch is not None and self.batch.asks(self.endpoint(role, model))

    def prices_of(self, role: str, model: str = "") -> Mapping[str, Price]:
        """Return the prices of a role's endpoint by model name, lower ones if asked in batches."""
        if not self.batched(role, model):
            return self.prices
        return {name: price.of_batch for name, price in self.prices.items()}

    def elsewhere(self) -> "ClientSettings":
        """Return the settings with explicit base URLs, for processes with another environment."""
        known = {*self.endpoints.values(), *self.capabilities}
        named = {endpoint: replace(endpoint, base_url=endpoint.url) for endpoint in known}
        return replace(
            self,
            endpoints={role: named[endpoint] for role, endpoint in self.endpoints.items()},
            capabilities={named[endpoint]: can for endpoint, can in self.capabilities.items()},
        )

    @property
    def limits(self) -> RateLimits:
        """The limits of each endpoint, for all processes together."""
        return RateLimits(self.concurrency, self.requests_per_minute, self.tokens_per_minute)
