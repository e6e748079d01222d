"""Find out what an endpoint can do, by asking it.

Two small requests tell: one as the judge sends them (a function call at temperature 0), one as the
knowledge source does (several choices at temperature 1). What an endpoint refuses it mostly names;
where it does not, one thing after another is left out until the request is accepted. What it passes
over in silence shows in the reply.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from schemas.records import TRUNCATED
from transforms.llm.base import Choice, Function, Message, Request
from transforms.llm.capabilities import PROBE, WORDS, Capabilities, is_refusal, used
from transforms.llm.failures import SendError

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
