"""Declare the options of the LLM judge, with default, allowed values, bounds and help.

The command line, the configuration file and the web service are derived from this declaration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

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


def declared(
    default: Any,
    help: str,
    metavar: str | None = None,
    *,
    of_function: bool = False,
    **more: Any,
) -> Any:
    """Return the dataclass field of an option that users can set.

    `of_function` marks an option that only the formulation `function` uses. `more` has its choices,
    or its bounds `low` and `high`.
    """
    described = {"help": help, "metavar": metavar, **more}
    return field(default=default, metadata={"option": described, "of_function": of_function})


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The options of the LLM judge.

    An empty `extractor_model` means `model`. `call_tokens` limits the estimated tokens of prompt
    and reply of a call by `function`. `prompts_dir` is a folder with files that override the
    prompts of the same name.
    """

    model: str
    extractor_model: str = ""
    formulation: str = declared(
        FUNCTION,
        "how the model is asked: function, all facts in one call (default); stepwise; rationale; "
        "prompt; minicheck, granite_guardian, lynx: in the form of these models, the default "
        "where --model names one",
        "HOW",
        choices=(FUNCTION, STEPWISE, RATIONALE, PROMPT, *GROUNDING),
    )
    verdict_labels: str = declared(
        TFN,
        "labels that the model may give: tfn: true, false, not clear (default); tf: true, false",
        "WHICH",
        choices=LABELS,
    )
    explain: str = declared(
        SHORT,
        "ask for an answer and a rationale with each verdict: short (default) or none",
        "HOW",
        choices=EXPLAIN,
        of_function=True,
    )
    citation: bool = declared(False, "ask for an exact quote with each verdict", of_function=True)
    format: str = declared(
        JSON,
        "format of the reply to the formulation function: json (default) or xml",
        "FORMAT",
        choices=(JSON, XML),
        of_function=True,
    )
    repairs: int = declared(
        1, "times to ask again for missing parts of a reply: 1 (default) or 0", "N", low=0, high=1
    )
    passages_per_call: int = declared(
        100, "maximum number of passages in one call", "N", low=1, of_function=True
    )
    facts_per_call: int = declared(
        40, "maximum number of facts in one call", "N", low=1, of_function=True
    )
    as_published: bool = declared(
        False,
        "use the prompts of the papers: FaaF's for function and prompt, Facts&Evidence's for "
        "rationale and its claims; prompt and rationale need --verdict_labels tf",
    )
    call_tokens: int = 16_000
    extract_tokens: int = declared(
        2_000, "split a text longer than N tokens for extraction (default 2000)", "N", low=50
    )
    prompts_dir: str | None = None


def formulation_of(model: str) -> str:
    """Return the formulation of a model by its name: its own, or `function`."""
    name = model.casefold()
    if "minicheck" in name:
        return MINICHECK
    if "granite" in name and "guardian" in name:
        return GRANITE_GUARDIAN
    return LYNX if "patronus" in name or "lynx" in name else FUNCTION


LLM_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    one.name: one.metadata for one in fields(LlmSettings) if one.metadata
}
"""The metadata by `declared` of each option that users can set, by its name."""
