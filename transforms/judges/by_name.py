"""Make judges by name: entry points in the group `ufo.judges`, or a class in a file."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ufo.transforms.judges.judge import Judge
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.request import Client
from ufo.transforms.plugins import Registry, Spec

JUDGES: Final = Registry("ufo.judges", Judge, "judge")


@dataclass(frozen=True, slots=True)
class JudgeSpec(Spec):
    """The specification of a judge, which is sent to workers.

    `llm` has the options of the LLM judge and `client` the settings of its client; both are None if
    the judge needs no endpoint.
    """

    name: str = "offline"
    type: str = "offline"
    llm: LlmSettings | None = None
    client: ClientSettings | None = None


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
        context = _context(spec.llm, spec.client, client, llm_judge)
    judge = JUDGES.make(spec, context=context)
    judge.name = spec.name
    return judge


def _context(
    llm: LlmSettings, endpoints: ClientSettings, client: Client | None, judge: Judge | None
) -> JudgeContext:
    # Slow to import, and of no use to a run that asks no model.
    from ufo.transforms.judges.llm.judgement_cache import shared_judgements
    from ufo.transforms.judges.llm.llm_judge import LlmJudge
    from ufo.transforms.llm.shared import shared_client

    context = JudgeContext(
        llm, partial(shared_client, endpoints), partial(shared_judgements, llm, endpoints)
    )
    if client is not None:
        context = JudgeContext(llm, lambda: client)
    return replace(context, llm_judge=lambda: judge or LlmJudge(context))
