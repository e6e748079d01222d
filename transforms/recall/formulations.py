"""The formulations of verification that FaaF compares, by name, and what each asks of the judge.

prompt                 one fact a call, true or false matched by word: the baseline
tf, tfn                all facts in one function call: true, false and (tfn) not clear
…+citation             with an exact quote asked for before each verdict
…+xml                  a reply in tags in place of a function call
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from schemas.errors import UsageError, unknown_value
from schemas.functions import OPTIONS, TF
from transforms.judges.llm.settings import FUNCTION, JSON, XML, LlmSettings
from transforms.judges.llm.settings import PROMPT as PROMPT_FORMULATION

PROMPT: Final = "prompt"
HUMAN: Final = "human"
_CITATION: Final = "citation"
_MODIFIERS: Final = (_CITATION, XML)
DEFAULT: Final = ("prompt", "tf", "tf+citation", "tfn", "tfn+citation")
"""The five that the paper compares."""
KNOWN: Final = (*DEFAULT, "tf+xml", "tf+citation+xml", "tfn+xml", "tfn+citation+xml")


def canonical(names: Iterable[str], form: str = JSON) -> tuple[str, ...]:
    """Return the names as they stand in tables, each once; `form` xml is of all that can have it.

    Raises:
        UsageError: a name is none of the formulations.
    """
    found: dict[str, None] = {}
    for name in names:
        base, *given = [part.strip() for part in name.lower().replace("/", "").split("+")]
        if form == XML and base in OPTIONS:
            given.append(XML)
        written = "+".join([base, *(modifier for modifier in _MODIFIERS if modifier in given)])
        if written not in KNOWN or not set(given) <= set(_MODIFIERS):
            raise UsageError(unknown_value("formulation", name, KNOWN))
        found[written] = None
    return tuple(found)


def settings_of(name: str, base: LlmSettings) -> LlmSettings:
    """Return what the judge is told for a formulation of that (canonical) name."""
    if name == PROMPT:
        return replace(base, formulation=PROMPT_FORMULATION, options=TF)
    options, *modifiers = name.split("+")
    return replace(
        base,
        formulation=FUNCTION,
        options=options,
        citation=_CITATION in modifiers,
        format=XML if XML in modifiers else JSON,
    )
