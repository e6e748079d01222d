"""The job of a recall run, which is sent to every worker."""

from dataclasses import dataclass
from functools import partial

from ufo.transforms.job import Job
from ufo.transforms.judges import JudgeSpec, asks_llm_judge, make_judge
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.recall.base import Recaller
from ufo.transforms.recall.llm import LlmRecaller
from ufo.transforms.recall.offline import JudgeRecaller


@dataclass(frozen=True, slots=True)
class RecallJob(Job):
    """The options of the steps of `ufo recall`; no `formulations` means to generate facts only."""

    formulations: tuple[str, ...] = ()


def make_recaller(spec: JudgeSpec, formulations: tuple[str, ...]) -> Recaller:
    """Return the recaller for a judge: by a language model where `spec` is the LLM judge."""
    if spec.llm is None or spec.client is None or not asks_llm_judge(spec):
        return JudgeRecaller(make_judge(spec))
    return LlmRecaller(spec.llm, formulations, partial(shared_client, spec.client))
