"""Detect which parameters of the chat API an endpoint supports.

Two small requests probe it. One is a function call at temperature 0, as the judge sends. The other
asks for a text with several choices at temperature 1, as the knowledge source does. Most errors
name the refused parameter. Where a probe's error does not, parameters are left out one by one until
the request is accepted. A parameter that is ignored without an error is recognised by the reply.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ufo.transforms.llm.errors import CAP, STREAM, SendError
from ufo.transforms.llm.json_schema import closed_object, list_of, one_of
from ufo.transforms.llm.request import BROKEN_OFF, Choice, Function, Message, Request

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


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The parameters that an endpoint supports; the default is all of them.

    `forms` has the values of FORMS that may still be tried, best first; the last is always WORDS.
    `references` says whether a schema may have `$ref`, `$defs`, `maxItems` and
    `additionalProperties`. `temperature_zero` and `temperature_one` say whether these values may be
    sent: some models have a fixed temperature. `limit_fields` are the fields for a token limit that
    may still be tried, best first; OpenAI's newest models refuse `max_tokens`. `most_tokens` is the
    highest limit allowed. `thinks` says whether a reply begins with reasoning tokens, which count
    as well. `streams` says whether replies have to be asked for as streams. `system` says whether a
    message may have that role. `context` is the size of the model's context that the server states.
    """

    forms: tuple[str, ...] = FORMS
    strict: bool = True
    references: bool = True
    n: bool = True
    logprobs: bool = True
    temperature_zero: bool = True
    temperature_one: bool = True
    limit_fields: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    most_tokens: int | None = None
    thinks: bool = False
    streams: bool = False
    system: bool = True
    context: int | None = None

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
        """The form in use, one of FORMS."""
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


Change = Mapping[str, Any]
"""The fields of `Capabilities` that an endpoint has shown to differ."""


def change_for(
    known: Capabilities, request: Request, n: int, error: SendError, limit: int = 0
) -> Change | None:
    """Return the change of capabilities that an error calls for, None without one.

    It is about the first parameter in use that the error names. `limit` is the token limit that
    was sent.
    """
    if not error.refusal:
        return None
    if error.kind == CAP and limit > 1:
        named = error.cap or limit + 1
        # Some name the first number that is too high.
        cap = named if named < limit else limit - 1 if named == limit else limit // 2
        return {"most_tokens": min(cap, known.most_tokens or cap)}
    if error.kind == STREAM and not known.streams:
        return {"streams": True}
    features = features_of(known, request, n)
    return next((features[kind] for kind in error.kinds if kind in features), None)


def features_of(known: Capabilities, request: Request, n: int) -> dict[str, Change]:
    """Return the features of a request, each with the change of capabilities that gives it up.

    Their names are kinds of error. The feature most likely to be refused comes first. A schema is
    written out without references before a form is given up for it.
    """
    form = known.form if request.function is not None else WORDS
    lower = {"forms": known.forms[1:]}
    features: dict[str, Change] = {}
    if known.strict and form in (*TOOL_FORMS, JSON_SCHEMA):
        features["strict"] = {"strict": False}
    if form not in (WORDS, JSON_OBJECT):
        features["schema"] = {"references": False} if known.references else lower
    if form in TOOL_FORMS:
        others = tuple(other for other in known.forms if other not in TOOL_FORMS)
        features |= {"tool_choice": lower, "tools": {"forms": others}}
    elif form != WORDS:
        features["format"] = lower
    if request.logprobs and known.logprobs:
        features["logprobs"] = {"logprobs": False}
    if n > 1 and known.n:
        features["n"] = {"n": False}
    if request.max_tokens is not None and known.limit_field is not None:
        features["limit"] = {"limit_fields": known.limit_fields[1:]}
    if known.takes_temperature(request.temperature):
        field = "temperature_one" if request.temperature == 1 else "temperature_zero"
        features["temperature"] = {field: False}
    if known.system and request.messages[0].role == "system":
        features["system"] = {"system": False}
    return features


CALL = "call"
SAMPLE = "sample"

Ask = Callable[[Request, Capabilities], Awaitable[tuple[Sequence[Choice], Capabilities]]]
"""Sends a request by some capabilities; returns the choices and the capabilities learned."""

_LIMIT = 16
_SAMPLE = Request(
    role="",
    model="",
    messages=(
        Message("system", "You do as you are told."),
        Message("user", "Count from 1 to 60, in digits, separated by commas."),
    ),
    temperature=1.0,
    n=2,
    max_tokens=_LIMIT,
    step=PROBE,
)
# The schema has the most difficult features of the schemas of judge and extraction.
_WORD = closed_object(
    {
        "word": {"type": "string", "description": "The word."},
        "kind": {"type": "string", "enum": ["word", "number"]},
    }
)
_REPORT = closed_object(
    {"words": list_of(_WORD, 1), "lines": list_of({"$ref": "#/$defs/line"}, 1, "Its line.")}
)
_CALL = Request(
    role="",
    model="",
    messages=(
        Message("system", "You call the function that you are given."),
        Message("user", "Report the word on line 1: ready"),
    ),
    function=Function(
        "report",
        "Reports a word.",
        {
            **closed_object({"report": {"$ref": "#/$defs/report"}}),
            "$defs": {"report": _REPORT, "line": one_of([1])},
        },
        {"report": {"words": [{"word": "tree", "kind": "word"}], "lines": [1]}},
    ),
    max_tokens=384,  # enough for the call, and mostly for a model that thinks first
    step=PROBE,
)


def _without_ignored_form(choice: Choice, known: Capabilities) -> Capabilities:
    """Return the capabilities without their form, if a reply shows that the endpoint ignores it.

    A form is kept only where the reply has the function's arguments, or is cut off within them or
    within thoughts.
    """
    arguments = (choice.arguments or choice.text).strip()
    cut = choice.ending == BROKEN_OFF or bool(choice.thought)
    begun = cut and arguments[:1] in ("", "{", "`")
    if known.form == WORDS or begun or _reports(arguments):
        return known
    return replace(known, forms=known.forms[1:])


def _reports(text: str) -> bool:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(arguments, dict) and isinstance(arguments.get("report"), dict)


def _without_ignored_limit(choice: Choice, known: Capabilities) -> Capabilities:
    """Return the capabilities without their limit field, if a reply shows that it is ignored.

    The reply has more words then than tokens were allowed.
    """
    if known.limit_field is None or len(choice.text.split()) <= _LIMIT:
        return known
    return replace(known, limit_fields=known.limit_fields[1:])


PROBES = {CALL: (_CALL, _without_ignored_form), SAMPLE: (_SAMPLE, _without_ignored_limit)}
"""The requests that probe an endpoint, each with a function that drops an ignored parameter."""


async def probe_endpoint(shape: str, ask: Ask, known: Capabilities) -> Capabilities:
    """Return the capabilities of an endpoint, by its replies to requests of a shape.

    Raises:
        SendError: a request without any optional parameter failed as well.
    """
    request, without_ignored = PROBES[shape]
    while True:
        choices, known = await _ask_with_fewer(ask, request, known)
        less = without_ignored(choices[0], known)
        if less == known or less.form == WORDS:  # words need no parameter that could be ignored
            return less
        known = less


async def _ask_with_fewer(
    ask: Ask, request: Request, known: Capabilities
) -> tuple[Sequence[Choice], Capabilities]:
    """Send a request, with fewer features where the endpoint refuses it without naming one.

    Each feature is left out alone, then one after another.

    Raises:
        SendError: a request without any of them is refused too.
    """
    features = features_of(known, request, request.n)
    tries = [known, *(replace(known, **change) for change in features.values())]
    less = known
    while features := features_of(less, request, request.n):
        less = replace(less, **next(iter(features.values())))
        tries.append(less)
    *tries, least = dict.fromkeys(tries)
    for tried in tries:
        try:
            return await ask(request, tried)
        except SendError as error:
            if not error.refusal:
                raise
    return await ask(request, least)
