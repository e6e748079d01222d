"""Probe the LLM endpoints of a run before the input is read."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from ufo.pipelines.options.settings import KNOWLEDGE_TYPE, Settings
from ufo.schemas.errors import RunError
from ufo.transforms.llm.cache import key_of
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.forms import CALL, SAMPLE, Capabilities
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError
from ufo.transforms.llm.shared import shared_cache
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import SourceSpec

_VALID_SECONDS: Final = 7 * 86_400.0  # then an endpoint is probed again: servers are updated


def roles_asked(settings: Settings, sources: Sequence[SourceSpec]) -> list[tuple[str, str]]:
    """Return the roles of the models that a run asks, each with the shape of its requests."""
    roles = []
    if settings.judge_class.needs_endpoint:
        shape = CALL if settings.formulation in (None, "function") else SAMPLE
        roles.append((VERIFIER, shape))
        if settings.judge_class.extracts:
            roles.append((EXTRACTOR, CALL))
    if any(spec.type == KNOWLEDGE_TYPE for spec in sources):
        roles.append((KNOWLEDGE, SAMPLE))
    return roles


def probe_endpoints(
    settings: Settings, sources: Sequence[SourceSpec], usage_log: str | None = None
) -> ClientSettings | None:
    """Return the client settings with the capabilities of the endpoints; None without a model.

    Workers then need no probes. The requests of the probes are written into `usage_log`, as those
    of the workers are.

    Raises:
        RunError: an endpoint cannot be used (key, address, model, quota), with the remedy.
    """
    roles = roles_asked(settings, sources)
    if not roles:
        return None
    client = replace(settings.client, usage_log=usage_log)
    return wait_for(_probe(client, roles, settings.processes(["a model"]) > 1))


async def _probe(
    settings: ClientSettings, roles: Sequence[tuple[str, str]], several: bool
) -> ClientSettings:
    client = OpenAiClient(settings)
    known = {}
    reached = set()
    cache = shared_cache(settings)
    try:
        shapes: dict[Endpoint, tuple[str, list[str]]] = {}
        for role, shape in roles:
            shapes.setdefault(settings.endpoints[role], (role, []))[1].append(shape)
        for endpoint, (role, wanted) in shapes.items():
            key = _key(endpoint, wanted)
            capabilities = _cached_capabilities((await cache.get_many([key])).get(key))
            if capabilities is None:
                capabilities, _ = await client.probe(role, *dict.fromkeys(wanted))
                reached.add(endpoint.url)
                await cache.put_many({key: _entry(capabilities)})
            else:
                answered, context = await client.look(role)
                if several and answered:
                    # Every process waits for a server that answered when the run began.
                    reached.add(endpoint.url)
                # The server may have been started with another context since.
                capabilities = replace(capabilities, context=context)
            known[endpoint] = capabilities
    except LlmError as error:
        raise RunError(error.message) from error
    finally:
        await client.aclose()
    # A cache that cannot be written was reported here; the workers need not try it again.
    settings = replace(settings, cache_writes=cache.writes)
    if not cache.reads:
        settings = replace(settings, cache=None)
    return replace(settings, capabilities=known, reached=frozenset(reached))


def _key(endpoint: Endpoint, wanted: Sequence[str]) -> str:
    place = (endpoint.url, endpoint.model, endpoint.api_key_env, endpoint.body)
    return key_of("c", *place, sorted(set(wanted)))


def _entry(known: Capabilities) -> dict[str, Any]:
    return {"found": asdict(known), "at": time.time()}


def _cached_capabilities(value: Any) -> Capabilities | None:
    """Return the capabilities from a recent probe of an endpoint; None without one."""
    try:
        if not 0 <= time.time() - value["at"] < _VALID_SECONDS:
            return None
        return Capabilities.from_json(value["found"])
    except (TypeError, KeyError):
        return None
