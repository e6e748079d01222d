"""The formulations of verification that FaaF (Katranidis & Barany, 2024) compares, by name.

prompt                 One fact a call, true or false matched by word: the baseline.
tf, tfn                All facts in one call of the paper's function object. The verdicts are true,
                       false and (tfn) not clear.
…+citation             With an exact quote before each verdict.
…+xml                  The function is described in tags, and the reply is in tags.
"""

from collections.abc import Iterable
from typing import Final

from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.judges.llm.llm_settings import JSON, LABELS, PROMPT, XML

HUMAN: Final = "human"
CITATION: Final = "citation"
_MODIFIERS: Final = (CITATION, XML)
DEFAULT: Final = (PROMPT, "tf", "tf+citation", "tfn", "tfn+citation")
"""The five formulations of the paper."""
KNOWN: Final = (*DEFAULT, "tf+xml", "tf+citation+xml", "tfn+xml", "tfn+citation+xml")


def canonical(names: Iterable[str], form: str = JSON) -> tuple[str, ...]:
    """Return the canonical names, each once; with `form` xml every name but `prompt` gets `+xml`.

    Raises:
        UsageError: a name is not a formulation.
    """
    result: dict[str, None] = {}
    for name in names:
        base, *modifiers = [part.strip() for part in name.lower().replace("/", "").split("+")]
        if form == XML and base in LABELS:
            modifiers.append(XML)
        full = "+".join([base, *(modifier for modifier in _MODIFIERS if modifier in modifiers)])
        if full not in KNOWN or not set(modifiers) <= set(_MODIFIERS):
            raise UsageError(unknown_value("formulation", name, KNOWN))
        result[full] = None
    return tuple(result)
