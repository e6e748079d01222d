"""Declare the options of the LLM judge once: default, allowed values, bounds and help.

The command line, the configuration file and the web service take them from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from schemas.functions import EXPLAIN, OPTIONS, SHORT, TFN

FUNCTION = "function"
STEPWISE = "stepwise"
RATIONALE = "rationale"
PROMPT = "prompt"
JSON = "json"
XML = "xml"


def declared(
    default: Any,
    help: str,
    metavar: str | None = None,
    *,
    choices: Sequence[str] = (),
    low: int | None = None,
    high: int | None = None,
    of_function: bool = False,
) -> Any:
    """Return the field of an option that users can set; `of_function` if it is the formulation
    `function`'s alone."""
    described = {"help": help, "metavar": metavar, "choices": choices, "low": low, "high": high}
    return field(default=default, metadata={"option": described, "of_function": of_function})


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """What is asked of which model, and how.

    `extractor_model` empty is `model`. `call_tokens` is an estimate of the prompt and the reply of
    a call of `function`. `prompts_dir` holds files that override the prompts of the same name.
    """

    model: str
    extractor_model: str = ""
    formulation: str = declared(
        FUNCTION,
        "function: all facts in one call (default); stepwise; rationale; prompt",
        "HOW",
        choices=(FUNCTION, STEPWISE, RATIONALE, PROMPT),
    )
    options: str = declared(
        TFN, "tfn: true, false, not clear (default); tf cannot abstain", "WHICH", choices=OPTIONS
    )
    explain: str = declared(
        SHORT,
        "short: answer and rationale (default); none",
        "HOW",
        choices=EXPLAIN,
        of_function=True,
    )
    citation: bool = declared(False, "ask for an exact quote with each verdict", of_function=True)
    format: str = declared(
        JSON,
        "of the function's reply: json (default) or xml",
        "FORMAT",
        choices=(JSON, XML),
        of_function=True,
    )
    repairs: int = declared(
        1, "ask once more for what a reply lacks: 1 (default) or 0", "N", low=0, high=1
    )
    passages_per_call: int = declared(100, "passages in one call", "N", low=1, of_function=True)
    facts_per_call: int = declared(40, "facts in one call", "N", low=1, of_function=True)
    call_tokens: int = 16_000
    extract_tokens: int = declared(
        2_000, "a longer text is extracted in parts (default 2000)", "N", low=50
    )
    prompts_dir: str | None = None


LLM_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    one.name: one.metadata for one in fields(LlmSettings) if one.metadata
}
"""What `declared` says of each option that users can set, by its name."""
