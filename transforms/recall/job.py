"""Define what every worker of a recall run needs to know."""

from dataclasses import dataclass
from functools import partial

from transforms.job import Job
from transforms.judges import JudgeSpec, asks_llm_judge, make_judge
from transforms.llm.shared import shared_client
from transforms.recall.base import Recaller
from transforms.recall.llm import LlmRecaller
from transforms.recall.offline import JudgeRecaller


@dataclass(frozen=True, slots=True)
class RecallJob(Job):
    """The part of the options that the steps of `ufo recall` use; `formulations` is empty where
    only facts are wanted."""

    formulations: tuple[str, ...] = ()


def make_recaller(spec: JudgeSpec, formulations: tuple[str, ...]) -> Recaller:
    """Return who generates and verifies."""
    if spec.llm is None or spec.client is None or not asks_llm_judge(spec):
        return JudgeRecaller(make_judge(spec))
    return LlmRecaller(spec.llm, formulations, partial(shared_client, spec.client))
