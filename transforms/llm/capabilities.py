"""Describe what an endpoint can do, and what is left of that after it refused a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from schemas.records import TRANSPORT
from transforms.llm.base import Request
from transforms.llm.failures import SendError

PROBE = "probe"
"""The step under which the requests of a probe are accounted."""

TOOL: Final = "tool"
REQUIRED: Final = "tool_choice required"
JSON_SCHEMA: Final = "json_schema"
JSON_OBJECT_SCHEMA: Final = "json_object with schema"
JSON_OBJECT: Final = "json_object"
WORDS: Final = "words"
TOOL_FORMS = (TOOL, REQUIRED)
FORMS = (*TOOL_FORMS, JSON_SCHEMA, JSON_OBJECT_SCHEMA, JSON_OBJECT, WORDS)
"""How the arguments of a function can be asked for, best first: a tool that is chosen by its name,
`tool_choice: "required"`, a `response_format` of four kinds, and words in the prompt alone."""

# github.com/ChatGPTNextWeb/NextChat/issues/3195
_MOST: Final = re.compile(r"\bat most (\d+) completion tokens")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint takes; the default is all of it.

    `forms` are those of FORMS that may still be tried, best first; the last is always WORDS.
    `temperature_zero` and `temperature_one` tell whether these may be sent: some models have a
    fixed one. `limit_fields` are the fields for a token limit that may still be tried, best first;
    all servers but OpenAI's newest models know `max_tokens`, which these refuse by name.
    `most_tokens` is the highest limit. `thinks` tells whether the model thinks before it replies,
    which counts against the limit.
    """

    forms: tuple[str, ...] = FORMS
    strict: bool = True
    n: bool = True
    logprobs: bool = True
    temperature_zero: bool = True
    temperature_one: bool = True
    limit_fields: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    most_tokens: int | None = None
    thinks: bool = False

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Capabilities":
        """Return what `dataclasses.asdict` made JSON of.

        Raises:
            TypeError: it has other fields.
        """
        lists = {name: tuple(found[name]) for name in ("forms", "limit_fields") if name in found}
        return cls(**{**found, **lists})

    @property
    def form(self) -> str:
        """How the arguments of a function are asked for."""
        return self.forms[0]

    @property
    def tools(self) -> bool:
        """Whether they are asked for as a function call."""
        return self.form in TOOL_FORMS

    @property
    def limit_field(self) -> str | None:
        """The field for a token limit; None where the endpoint has none."""
        return self.limit_fields[0] if self.limit_fields else None

    def takes_temperature(self, temperature: float) -> bool:
        """Tell whether the temperature is sent; one that cannot be chosen is left out."""
        return self.temperature_one if temperature == 1 else self.temperature_zero


def is_refusal(error: SendError) -> bool:
    """Tell whether the endpoint may mind a parameter, and not the moment, the key or the text."""
    return not (error.transient or error.final) and error.reason == TRANSPORT


def learned(
    known: Capabilities, request: Request, n: int, error: SendError, probing: bool = False
) -> Capabilities | None:
    """Return what is left of `known` after the endpoint refused the request, None where it named
    nothing of it.

    In a run the tools are known to work; what is said of them is about the request's own text.
    """
    if not is_refusal(error):
        return None
    most = _MOST.search(error.message)
    if most is not None and int(most[1]) < (known.most_tokens or inf):
        return replace(known, most_tokens=int(most[1]))
    said = f"'{error.param}'" if error.param else error.message
    for feature in used(known, request, n):
        in_doubt = probing or not (feature.field == "forms" and known.tools)
        if in_doubt and re.search(feature.name, said):
            return feature.left_out(known)
    return None


@dataclass(frozen=True, slots=True)
class Feature:
    """Something a request uses: its name in errors (a pattern), the field of `Capabilities`, and
    what that is without it. A refusal that names nothing is about the one of the lowest `rank`."""

    rank: int
    name: str
    field: str
    without: Any

    def left_out(self, known: Capabilities) -> Capabilities:
        """Return what is known, without this."""
        return replace(known, **{self.field: self.without})


def used(known: Capabilities, request: Request, n: int) -> list[Feature]:
    """Return what a request for `n` choices uses, that with the narrowest name first."""
    found: list[Feature] = []
    form = known.form if request.function is not None else WORDS
    if known.strict and form in (*TOOL_FORMS, JSON_SCHEMA):
        narrow = r"\bstrict\b|additionalProperties|function\.parameters"
        found.append(Feature(1, narrow, "strict", False))
    if request.logprobs and known.logprobs:
        found.append(Feature(4, r"\blogprobs\b", "logprobs", False))
    if n > 1 and known.n:
        found.append(Feature(5, r"[`'\"]n[`'\"]|completion choice", "n", False))
    if request.max_tokens is not None and known.limit_field is not None:
        name = rf"\b{known.limit_field}\b"
        found.append(Feature(3, name, "limit_fields", known.limit_fields[1:]))
    if known.takes_temperature(request.temperature):
        field = "temperature_one" if request.temperature == 1 else "temperature_zero"
        found.append(Feature(6, r"\btemperature\b", field, False))
    if form in TOOL_FORMS:
        others = tuple(other for other in known.forms if other not in TOOL_FORMS)
        found.append(Feature(0, "tool[_ ]choice", "forms", known.forms[1:]))
        found.append(Feature(0, r"\b(?:tools?|functions?)\b", "forms", others))
    elif form != WORDS:
        name = "response_format|json_schema|json_object"
        found.append(Feature(2, name, "forms", known.forms[1:]))
    return found
