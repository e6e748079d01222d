"""Judges: who extracts fact units and verifies them against passages.

Judges are entry points in the group `ufo.judges`, or a file's class.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from transforms.judges.base import Judge
from transforms.registry import Registry, Spec

if TYPE_CHECKING:
    from transforms.judges.llm.settings import LlmSettings
    from transforms.llm.base import Client
    from transforms.llm.client import ClientSettings

JUDGES: Final = Registry("ufo.judges", Judge, "judge")
_OF_THE_LLM_JUDGE: Final = {"llm_settings", "llm_judge"}
OFFERED: Final = _OF_THE_LLM_JUDGE | {"client", "client_settings", "judgement_cache"}
"""What a judge's constructor may take that is no option of a user's."""


@dataclass(frozen=True, slots=True)
class JudgeSpec(Spec):
    """A judge as it travels to the workers.

    `llm` has the options of a model that judges, and `client` how it is reached; None where the
    judge needs no endpoint.
    """

    name: str = "offline"
    type: str = "offline"
    llm: "LlmSettings | None" = None
    client: "ClientSettings | None" = None


def asks_llm_judge(spec: Spec) -> bool:
    """Tell whether a judge is the LLM judge, or asks it: the flags of `--judge llm` are its own."""
    return not _OF_THE_LLM_JUDGE.isdisjoint(JUDGES.parameters(spec))


def make_judge(
    spec: JudgeSpec, client: "Client | None" = None, llm_judge: Judge | None = None
) -> Judge:
    """Return the judge; what it needs is imported only here. `client` takes the place of the
    endpoints that `spec` names, and `llm_judge` that of the LLM judge.

    Raises:
        UsageError: an option that the judge's constructor does not take, or a wrong value.
    """
    offered: dict[str, Any] = {}
    if spec.llm is not None and spec.client is not None:
        offered = _of_models(spec.llm, spec.client, client)
        if "llm_judge" in JUDGES.parameters(spec):
            offered["llm_judge"] = llm_judge or make_judge(
                JudgeSpec("llm", "llm", llm=spec.llm, client=spec.client), client
            )
    judge = JUDGES.make(spec, offered)
    judge.name = spec.name
    return judge


def _of_models(
    settings: "LlmSettings", endpoint: "ClientSettings", client: "Client | None"
) -> dict[str, Any]:
    """Return what the constructor of a judge that asks a model may take."""
    from transforms.judges.llm.judgement_cache import shared_judgement_cache
    from transforms.llm.shared import shared_client

    offered = {"llm_settings": settings, "client_settings": endpoint}
    if client is not None:
        return {**offered, "client": lambda: client}
    return {
        **offered,
        "client": partial(shared_client, endpoint),
        "judgement_cache": partial(shared_judgement_cache, settings, endpoint),
    }
