"""The LLM endpoints of a run, asked what they can do before anything is read or paid for."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.options import LLM, Settings
from schemas.errors import RunError
from schemas.records import Usage
from transforms.llm.base import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError
from transforms.llm.capabilities import CALL, SAMPLE
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.loop import wait_for
from transforms.sources.registry import SourceSpec

_KNOWLEDGE_TYPE = "llm"


def probed(
    settings: Settings, sources: Sequence[SourceSpec]
) -> tuple[ClientSettings | None, list[Usage]]:
    """Return how the models are reached and what they can do, and the requests that told it.

    None where the run asks no model. The workers need not find it out again.

    Raises:
        RunError: an endpoint cannot be used (key, address, model, quota), with the remedy.
    """
    roles = []
    if settings.judge == LLM:
        shape = CALL if settings.formulation in (None, "function") else SAMPLE
        roles += [(VERIFIER, shape), (EXTRACTOR, CALL)]
    if any(spec.type == _KNOWLEDGE_TYPE for spec in sources):
        roles.append((KNOWLEDGE, SAMPLE))
    if not roles:
        return None, []
    client = settings.client()
    return wait_for(_probe(client, roles))


async def _probe(
    settings: ClientSettings, roles: Sequence[tuple[str, str]]
) -> tuple[ClientSettings, list[Usage]]:
    client = OpenAiClient(settings)
    usage: list[Usage] = []
    known = {}
    try:
        for role, shape in roles:
            known[settings.endpoints[role]], sent = await client.probe(role, shape)
            usage += sent
    except LlmError as error:
        raise RunError(error.message) from error
    finally:
        await client.aclose()
    return replace(settings, capabilities=known), usage
