"""Describe what an endpoint can do, and find it out by asking it.

Two small requests tell: one as the judge sends them (a function call at temperature 0), one as the
knowledge source does (several choices at temperature 1). What an endpoint refuses it mostly names;
where it does not, one thing after another is left out until the request is accepted. What it passes
over in silence shows in the reply.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from schemas.parameters import closed
from schemas.records import TRANSPORT, TRUNCATED
from transforms.llm.base import Choice, Function, Message, Request
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


CALL = "call"
SAMPLE = "sample"

Ask = Callable[[Request, Capabilities, int], Awaitable[tuple[Sequence[Choice], Capabilities]]]
"""Sends a request for n choices, with what is known; returns them and what was learned."""

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
    """Find out about forms, strict schemas, temperature 0 and the token limit's field.

    A form is kept where the reply has the function's arguments, whatever the endpoint accepts.

    Raises:
        SendError: the endpoint does not answer a plain request either.
    """
    request = _CALL
    while True:
        try:
            choices, known = await _accepted(ask, request, known, 1)
        except SendError as error:
            if error.reason != TRUNCATED or request is not _CALL:
                raise
            # Some servers count the tokens allowed for the reply, and the model's context is small.
            request = replace(_CALL, max_tokens=_SHORT)
            continue
        if known.form == WORDS or choices[0].finish_reason == "length" or _reported(choices[0]):
            return known
        known = replace(known, forms=known.forms[1:])
        if known.form == WORDS:  # nothing is sent for it that could be refused
            return known


def _reported(choice: Choice) -> bool:
    try:
        found = json.loads(choice.arguments or choice.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("word"), str)


async def probe_sample(ask: Ask, known: Capabilities) -> Capabilities:
    """Find out about `n`, log-probabilities, temperature 1 and whether the token limit holds.

    Raises:
        SendError: the endpoint does not answer a plain request either.
    """
    while True:
        choices, known = await _accepted(ask, _SAMPLE, known, _N)
        if len(choices) < _N:
            known = replace(known, n=False)
        if any(choice.text for choice in choices) and not any(
            choice.logprob_mean is not None for choice in choices
        ):
            known = replace(known, logprobs=False)
        # More words than tokens were allowed: the field was passed over.
        if known.limit_field is None or len(choices[0].text.split()) <= _LIMIT:
            return known
        known = replace(known, limit_fields=known.limit_fields[1:])


PROBES = {CALL: probe_call, SAMPLE: probe_sample}


async def _accepted(
    ask: Ask, request: Request, known: Capabilities, n: int
) -> tuple[Sequence[Choice], Capabilities]:
    """Ask, and where the endpoint refuses without naming what, leave out one thing after another,
    the likeliest first; then try again each of those that were left out.

    Raises:
        SendError: the plainest request is refused, too.
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
    # Without what was left out last the request is refused; the others may be innocent.
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
    """Ask; no choices where the endpoint refuses."""
    try:
        return await ask(request, known, n)
    except SendError as error:
        if not is_refusal(error):
            raise
        return (), known


def _longer(whole: Any, left: Any) -> list[Any]:
    """Return what may stand in place of what is left of a field, the whole first."""
    if not isinstance(whole, tuple):
        return [whole]
    return [whole[at:] for at in range(len(whole) - len(left))]
