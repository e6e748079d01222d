"""What an endpoint can do, found out by asking it, and what is done where it cannot.

Two small requests tell: one as the judge sends them (a function call at temperature 0), one as the
knowledge source does (several choices at temperature 1). An endpoint that refuses a parameter says
so with status 400 and mostly by its name; one that passes it over gives itself away in the reply.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transforms.llm.base import Choice, Function, Message, Request
from transforms.llm.failures import SendError

PROBE = "probe"
"""The step under which the requests of a probe are accounted."""

CALL = "call"
SAMPLE = "sample"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint takes; the default is all of it.

    `temperature_zero` and `temperature_one` tell whether these may be sent: some models have a
    fixed one. `limit_fields` are the fields for a token limit that may still be tried, best first.
    """

    tools: bool = True
    strict: bool = True
    json_object: bool = True
    n: bool = True
    logprobs: bool = True
    temperature_zero: bool = True
    temperature_one: bool = True
    limit_fields: tuple[str, ...] = ("max_completion_tokens", "max_tokens")

    @property
    def limit_field(self) -> str | None:
        """The field for a token limit; None where the endpoint has none."""
        return self.limit_fields[0] if self.limit_fields else None

    def takes_temperature(self, temperature: float) -> bool:
        """Tell whether the temperature is sent; one that cannot be chosen is left out."""
        return self.temperature_one if temperature == 1 else self.temperature_zero


Ask = Callable[[Request, Capabilities, int], Awaitable[tuple[Sequence[Choice], Capabilities]]]
"""Sends a request for n choices, with what is known; returns them and what was learned."""

_LIMIT = 16
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
    function=Function(
        "report",
        "Reports a word.",
        {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
            "additionalProperties": False,
        },
    ),
    max_tokens=1024,  # enough for a model that thinks first
    step=PROBE,
)


async def probe_call(ask: Ask, known: Capabilities) -> Capabilities:
    """Find out about tools, strict schemas, temperature 0 and the token limit's field.

    Raises:
        SendError: the endpoint does not answer a plain request either.
    """
    choices, known = await ask(_CALL, known, 1)
    unused = all(choice.arguments is None for choice in choices)
    if known.tools and unused and choices[0].finish_reason != "length":
        known = replace(known, tools=False)
        _, known = await ask(_CALL, known, 1)  # in words: whether it takes `response_format`
    return known


async def probe_sample(ask: Ask, known: Capabilities) -> Capabilities:
    """Find out about `n`, log-probabilities, temperature 1 and whether the token limit holds.

    Raises:
        SendError: the endpoint does not answer a plain request either.
    """
    while True:
        choices, known = await ask(_SAMPLE, known, _N)
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


def learned(
    known: Capabilities, body: Mapping[str, Any], error: SendError, probing: bool = False
) -> Capabilities | None:
    """Return what is left of `known` after the endpoint refused `body`, None where nothing of it
    was to blame.

    A probe is harmless, so where the endpoint does not say what it minds, the most exotic feature
    is given up; in a run it may as well be the request's own text, and tools are known to work.
    """
    if error.status not in ("400", "422"):
        return None
    used = _used(known, body)
    for names, rest in used:
        if _named(names, error) and (probing or rest.tools == known.tools):
            return rest
    return used[0][1] if probing and used and not error.param else None


def _used(known: Capabilities, body: Mapping[str, Any]) -> list[tuple[Sequence[str], Capabilities]]:
    """The features in a request by the names an endpoint has for them, the most exotic first, and
    what is left without each."""
    used: list[tuple[Sequence[str], Capabilities]] = []
    tools = body.get("tools")
    if tools and tools[0]["function"].get("strict"):
        used.append((("strict", "tools", "additionalProperties"), replace(known, strict=False)))
    if "logprobs" in body:
        used.append((("logprobs",), replace(known, logprobs=False)))
    if "n" in body:
        used.append((("n",), replace(known, n=False)))
    for field in ("max_completion_tokens", "max_tokens"):
        if field in body:
            left = tuple(name for name in known.limit_fields if name != field)
            used.append(((field,), replace(known, limit_fields=left)))
    if "temperature" in body:
        fixed = (
            replace(known, temperature_one=False)
            if body["temperature"] == 1
            else replace(known, temperature_zero=False)
        )
        used.append((("temperature",), fixed))
    if "response_format" in body:
        used.append((("response_format",), replace(known, json_object=False)))
    if tools:
        used.append((("tools", "tool_choice", "functions"), replace(known, tools=False)))
    return used


def _named(names: Sequence[str], error: SendError) -> bool:
    if error.param:
        return re.split(r"[.\[]", error.param)[0] in names
    words = re.findall(r"[`'\"](\w+)[`'\".\[]|\b(\w{6,})\b", error.message)
    return any(quoted in names or word in names for quoted, word in words)
