"""The settings of the LLM judge."""

from dataclasses import dataclass

TFN = "tfn"
TF = "tf"
LABELS = (TFN, TF)
SHORT = "short"
NONE = "none"
EXPLAIN = (SHORT, NONE)
FUNCTION = "function"
STEPWISE = "stepwise"
RATIONALE = "rationale"
PROMPT = "prompt"
MINICHECK = "minicheck"
GRANITE_GUARDIAN = "granite_guardian"
LYNX = "lynx"
GROUNDING = (MINICHECK, GRANITE_GUARDIAN, LYNX)
"""The formulations of models that are trained to judge, and do nothing else."""
JSON = "json"
XML = "xml"


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The options of the LLM judge.

    An empty `extractor_model` means `model`. `call_tokens` limits the estimated tokens of prompt
    and reply of a call by `function`. `prompts_dir` is a folder with files that override the
    prompts of the same name.
    """

    model: str
    extractor_model: str = ""
    formulation: str = FUNCTION
    verdict_labels: str = TFN
    explain: str = SHORT
    citation: bool = False
    format: str = JSON
    repairs: int = 1
    passages_per_call: int = 100
    facts_per_call: int = 40
    as_published: bool = False
    call_tokens: int = 16_000
    extract_tokens: int = 2_000
    prompts_dir: str | None = None


def formulation_of(model: str) -> str:
    """Return the formulation for a model: its own if it was trained to judge, else `function`."""
    name = model.casefold()
    if "minicheck" in name:
        return MINICHECK
    if "granite" in name and "guardian" in name:
        return GRANITE_GUARDIAN
    return LYNX if "patronus" in name or "lynx" in name else FUNCTION
