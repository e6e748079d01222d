"""Detect which parameters of the chat API an endpoint supports.

Two small requests probe it: a function call at temperature 0, as the judge sends, and a text with
several choices at temperature 1, as the knowledge source sends. Most errors name the unsupported
parameter; otherwise parameters are left out one by one until the request is accepted. A parameter
that is ignored without an error is recognised by the reply.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from ufo.schemas.parameters import closed
from ufo.schemas.records import TRANSPORT, TRUNCATED
from ufo.transforms.llm.base import Choice, Function, Message, Request
from ufo.transforms.llm.failures import SendError

PROBE = "probe"
"""The value of `usage.step` for the requests of a probe."""

TOOL: Final = "tool"
REQUIRED: Final = "tool_choice required"
JSON_SCHEMA: Final = "json_schema"
JSON_OBJECT_SCHEMA: Final = "json_object with schema"
JSON_OBJECT: Final = "json_object"
WORDS: Final = "words"
TOOL_FORMS = (TOOL, REQUIRED)
FORMS = (*TOOL_FORMS, JSON_SCHEMA, JSON_OBJECT_SCHEMA, JSON_OBJECT, WORDS)
"""The ways to ask for a function's arguments, best first: a tool chosen by name,
`tool_choice: "required"`, three kinds of `response_format`, and instructions in the prompt."""

# github.com/ChatGPTNextWeb/NextChat/issues/3195
_MOST: Final = re.compile(r"\bat most (\d+) completion tokens")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The parameters that an endpoint supports; the default is all of them.

    `forms` are those of FORMS that may still be tried, best first; the last is always WORDS.
    `temperature_zero` and `temperature_one` say whether these values may be sent: some models have
    a fixed temperature. `limit_fields` are the fields for a token limit that may still be tried,
    best first; OpenAI's newest models refuse `max_tokens`. `most_tokens` is the highest limit
    allowed. `thinks` says whether a reply begins with reasoning tokens, which count as well.
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
    def from_json(cls, fields: Mapping[str, Any]) -> "Capabilities":
        """Return the object whose `dataclasses.asdict` was stored as JSON.

        Raises:
            TypeError: there are unknown fields.
        """
        lists = {name: tuple(fields[name]) for name in ("forms", "limit_fields") if name in fields}
        return cls(**{**fields, **lists})

    @property
    def form(self) -> str:
        """The one of FORMS in use."""
        return self.forms[0]

    @property
    def tools(self) -> bool:
        """Whether arguments are asked for as a function call."""
        return self.form in TOOL_FORMS

    @property
    def limit_field(self) -> str | None:
        """The field for a token limit; None where the endpoint has none."""
        return self.limit_fields[0] if self.limit_fields else None

    def takes_temperature(self, temperature: float) -> bool:
        """Return whether the temperature may be sent."""
        return self.temperature_one if temperature == 1 else self.temperature_zero


def is_refusal(error: SendError) -> bool:
    """Return whether an error may be about a parameter, not about time, key or text."""
    return not (error.transient or error.final) and error.reason == TRANSPORT


def learned(
    known: Capabilities, request: Request, n: int, error: SendError, probing: bool = False
) -> Capabilities | None:
    """Return `known` without the parameter that an error names, None where it names none.

    Outside of probes an error about tools is ignored if tools are known to work: it is then about
    the text of the request.
    """
    if not is_refusal(error):
        return None
    most = _MOST.search(error.message)
    if most is not None and int(most[1]) < (known.most_tokens or inf):
        return replace(known, most_tokens=int(most[1]))
    text = f"'{error.param}'" if error.param else error.message
    for feature in used(known, request, n):
        in_doubt = probing or not (feature.field == "forms" and known.tools)
        if in_doubt and re.search(feature.name, text):
            return feature.left_out(known)
    return None


@dataclass(frozen=True, slots=True)
class Feature:
    """A parameter that a request uses: `name` is a pattern of its name in errors, `field` the field
    of `Capabilities`, and `without` that field's value when the parameter is left out. An error
    that names no parameter is blamed on the feature with the lowest `rank`."""

    rank: int
    name: str
    field: str
    without: Any

    def left_out(self, known: Capabilities) -> Capabilities:
        """Return `known` without this feature."""
        return replace(known, **{self.field: self.without})


def used(known: Capabilities, request: Request, n: int) -> list[Feature]:
    """Return the features that a request for `n` choices uses, the most specific name first."""
    features: list[Feature] = []
    form = known.form if request.function is not None else WORDS
    if known.strict and form in (*TOOL_FORMS, JSON_SCHEMA):
        specific = r"\bstrict\b|additionalProperties|function\.parameters"
        features.append(Feature(1, specific, "strict", False))
    if request.logprobs and known.logprobs:
        features.append(Feature(4, r"\blogprobs\b", "logprobs", False))
    if n > 1 and known.n:
        features.append(Feature(5, r"[`'\"]n[`'\"]|completion choice", "n", False))
    if request.max_tokens is not None and known.limit_field is not None:
        name = rf"\b{known.limit_field}\b"
        features.append(Feature(3, name, "limit_fields", known.limit_fields[1:]))
    if known.takes_temperature(request.temperature):
        field = "temperature_one" if request.temperature == 1 else "temperature_zero"
        features.append(Feature(6, r"\btemperature\b", field, False))
    if form in TOOL_FORMS:
        others = tuple(other for other in known.forms if other not in TOOL_FORMS)
        features.append(Feature(0, "tool[_ ]choice", "forms", known.forms[1:]))
        features.append(Feature(0, r"\b(?:tools?|functions?)\b", "forms", others))
    elif form != WORDS:
        name = "response_format|json_schema|json_object"
        features.append(Feature(2, name, "forms", known.forms[1:]))
    return features


CALL = "call"
SAMPLE = "sample"

Ask = Callable[[Request, Capabilities, int], Awaitable[tuple[Sequence[Choice], Capabilities]]]
"""Sends a request for n choices by some capabilities; returns the choices and what was learned."""

_LIMIT = 16
_SHORT = 128
_N = 2
_SAMPLE = Request(
    role="",
    model="",
    messages=(Message("user", "Count from 1 to 60, in digits, separated by commas."),),
    temperature=1.0,
    n=_N,
    max_tokens=_LIMIT,
    logprobs=True,
    step=PROBE,
)
_CALL = Request(
    role="",
    model="",
    messages=(
        Message("system", "You call the function that you are given."),
        Message("user", "Report the word: ready"),
    ),
    function=Function("report", "Reports a word.", closed({"word": {"type": "string"}})),
    max_tokens=1024,  # enough for a model that thinks first
    step=PROBE,
)


async def probe_call(ask: Ask, known: Capabilities) -> Capabilities:
    """Detect `forms`, `strict`, `temperature_zero` and `limit_fields`.

    A form is kept only where the reply has the function's arguments: some endpoints accept a form
    and ignore it.

    Raises:
        SendError: a request without any optional parameter failed as well.
    """
    request = _CALL
    while True:
        try:
            choices, known = await _accepted(ask, request, known, 1)
        except SendError as error:
            if error.reason != TRUNCATED or request is not _CALL:
                raise
            # Some servers add the token limit to the prompt, which is too much for a small context.
            request = replace(_CALL, max_tokens=_SHORT)
            continue
        if known.form == WORDS or choices[0].finish_reason == "length" or _has_word(choices[0]):
            return known
        known = replace(known, forms=known.forms[1:])
        if known.form == WORDS:  # needs no parameter that could be refused
            return known


def _has_word(choice: Choice) -> bool:
    try:
        arguments = json.loads(choice.arguments or choice.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(arguments, dict) and isinstance(arguments.get("word"), str)


async def probe_sample(ask: Ask, known: Capabilities) -> Capabilities:
    """Detect `n`, `logprobs`, `temperature_one` and whether the token limit is applied.

    Raises:
        SendError: a request without any optional parameter failed as well.
    """
    while True:
        choices, known = await _accepted(ask, _SAMPLE, known, _N)
        if len(choices) < _N:
            known = replace(known, n=False)
        if any(choice.text for choice in choices) and not any(
            choice.logprob_mean is not None for choice in choices
        ):
            known = replace(known, logprobs=False)
        # More words than tokens were allowed: the field is ignored.
        if known.limit_field is None or len(choices[0].text.split()) <= _LIMIT:
            return known
        known = replace(known, limit_fields=known.limit_fields[1:])


PROBES = {CALL: probe_call, SAMPLE: probe_sample}


async def _accepted(
    ask: Ask, request: Request, known: Capabilities, n: int
) -> tuple[Sequence[Choice], Capabilities]:
    """Ask; where the endpoint refuses without naming a parameter, find out which one it is.

    Features are left out one after another, the likeliest first, until the request is accepted;
    then each of those left out before the last is tried again.

    Raises:
        SendError: a request without any of them is refused too.
    """
    try:
        return await ask(request, known, n)
    except SendError as error:
        if not is_refusal(error):
            raise
        refusal = error
    less = known
    dropped: list[str] = []
    choices: Sequence[Choice] = ()
    while not choices:
        blamed = min(used(less, request, n), key=lambda feature: feature.rank, default=None)
        if blamed is None:
            raise refusal
        dropped.append(blamed.field)
        choices, less = await _tried(ask, request, blamed.left_out(less), n)
    # The last feature left out was refused; the others may be supported.
    for field in [name for name in dict.fromkeys(dropped) if name != dropped[-1]]:
        for whole in _longer(getattr(known, field), getattr(less, field)):
            again, more = await _tried(ask, request, replace(less, **{field: whole}), n)
            if again:
                choices, less = again, more
                break
    return choices, less


async def _tried(
    ask: Ask, request: Request, known: Capabilities, n: int
) -> tuple[Sequence[Choice], Capabilities]:
    """Ask; return no choices where the endpoint refuses."""
    try:
        return await ask(request, known, n)
    except SendError as error:
        if not is_refusal(error):
            raise
        return (), known


def _longer(whole: Any, left: Any) -> list[Any]:
    """Return the values of a field between `whole` and the shortened `left`, the longest first."""
    if not isinstance(whole, tuple):
        return [whole]
    return [whole[at:] for at in range(len(whole) - len(left))]
