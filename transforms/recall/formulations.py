"""The formulations of verification that FaaF compares, by name, and what each asks of the judge.

prompt                 one fact a call, true or false matched by word: the baseline
tf, tfn                all facts in one call of the paper's function object: true, false and (tfn)
                       not clear
…+citation             with an exact quote asked for before each verdict
…+xml                  our own function, with a reply in tags in place of a call
"""

from collections.abc import Iterable
from typing import Final

from schemas.errors import UsageError, unknown_value
from schemas.functions import OPTIONS
from transforms.judges.llm.settings import JSON, XML

PROMPT: Final = "prompt"
HUMAN: Final = "human"
CITATION: Final = "citation"
_MODIFIERS: Final = (CITATION, XML)
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
