"""Judges extract fact units from responses and verify them against passages.

A judge is an entry point in the group `ufo.judges`, or a class in a file.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ufo.transforms.judges.judge import Judge, JudgeContext
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.request import Client
from ufo.transforms.plugins import Registry, Spec

if TYPE_CHECKING:  # imports the client's code, which only a process that asks a model needs
    from ufo.transforms.llm.client_settings import ClientSettings

JUDGES: Final = Registry("ufo.judges", Judge, "judge")


@dataclass(frozen=True, slots=True)
class JudgeSpec(Spec):
    """The specification of a judge, which is sent to workers.

    `llm` are the options of the LLM judge and `client` the settings of its client; None where the
    judge needs no endpoint.
    """

    name: str = "offline"
    type: str = "offline"
    llm: LlmSettings | None = None
    client: "ClientSettings | None" = None


def asks_llm_judge(spec: Spec) -> bool:
    """Return whether a judge is the LLM judge or asks it, and uses the flags of `--judge llm`."""
    return spec.instance is None and JUDGES.kind(spec).asks_llm_judge


def make_judge(
    spec: JudgeSpec, client: Client | None = None, llm_judge: Judge | None = None
) -> Judge:
    """Return the judge that `spec` describes.

    `client` replaces the clients of the endpoints in `spec`, and `llm_judge` the LLM judge.

    Raises:
        UsageError: the judge's constructor does not take an option, or its value is invalid.
    """
    context = None
    if spec.llm is not None and spec.client is not None:
        context = _context(spec.llm, spec.client, client)
        context = replace(context, llm_judge=partial(_llm_judge, context, llm_judge))
    judge = JUDGES.make(spec, context=context)
    judge.name = spec.name
    return judge


def _context(llm: LlmSettings, endpoints: "ClientSettings", client: Client | None) -> JudgeContext:
    from ufo.transforms.judges.llm.judgement_cache import JudgementCache
    from ufo.transforms.llm.shared import shared_client, shared_memory

    if client is not None:
        return JudgeContext(llm, lambda: client)
    return JudgeContext(
        llm,
        lambda: shared_client(endpoints),
        lambda: JudgementCache(llm, endpoints, shared_memory(endpoints)),
    )


def _llm_judge(context: JudgeContext, judge: Judge | None) -> Judge:
    from ufo.transforms.judges.llm.llm_judge import LlmJudge

    return judge or LlmJudge(context)
