"""Test what an endpoint does with tools, schemas and the token limit."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ufo.transforms.llm.base import VERIFIER, Completion, Function, LlmError, Message, Request
from ufo.transforms.llm.capabilities import (
    JSON_OBJECT,
    PROBE,
    REQUIRED,
    TOOL,
    WORDS,
    Capabilities,
)
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.retry import Retry
from ufo.transforms.llm.settings import ClientSettings

Line = tuple[str, str, str]
"""What was tested, what came of it, and a note."""

RETRY: Final = Retry(attempts=2, seconds=60.0)
CONCURRENCY: Final = 4
_LIMIT: Final = 16
_WORDS: Final = ("harbour", "meadow")
_WRONG: Final = "ready"
_REPLY_TOKENS: Final = 256


@dataclass(frozen=True, slots=True)
class Tested:
    """Lines for people, and the same as plain values."""

    lines: Sequence[Line]
    facts: Mapping[str, Any] = field(default_factory=dict)


Tell = Callable[[Tested], None]


@dataclass(slots=True)
class Patient:
    """An endpoint that answers, what is known of it, and how many requests it was sent."""

    endpoint: Endpoint
    known: Capabilities
    requests: int = 0

    def client(self, known: Capabilities | None = None) -> OpenAiClient:
        """Return a client with the capabilities `known`, which it does not probe."""
        can = {self.endpoint: known or self.known}
        places = {VERIFIER: self.endpoint}
        return OpenAiClient(ClientSettings(places, can, concurrency=CONCURRENCY, retry=RETRY))

    async def ask(self, request: Request, known: Capabilities | None = None) -> Completion:
        """Send one request.

        Raises:
            LlmError: no reply came.
        """
        client = self.client(known)
        try:
            found = await client.complete(request)
            self.requests += len(found.usage)
        except LlmError as error:
            self.requests += len(error.usage)
            raise
        finally:
            await client.aclose()
        return found


def _request(text: str, schema: Mapping[str, Any] | None = None, limit: int = 0) -> Request:
    described = "Reports one word."
    function = Function("report_word", described, schema) if schema is not None else None
    return Request(
        VERIFIER,
        "",
        [Message("system", "You do exactly what you are asked."), Message("user", text)],
        function,
        max_tokens=limit or _REPLY_TOKENS,
        step=PROBE,
    )


def _schema(word: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {"word": word},
        "required": ["word"],
        "additionalProperties": False,
    }


async def tools(patient: Patient) -> Tested:
    """Test whether tools reach the model: the prompt then has more tokens than without them."""
    known = patient.known
    forms = (known.form,) if known.tools else (REQUIRED, TOOL)
    text = "Report the word: ready"
    schema = _schema({"type": "string", "description": "The word, in lower case, without quotes."})
    refusal = ""
    try:
        bare = _prompt_tokens(await patient.ask(_request(text)))
    except LlmError as error:
        return _of_tools("not tested", error.message, None)
    for form in forms:
        try:
            given = await patient.ask(_request(text, schema), replace(known, forms=(form, WORDS)))
        except LlmError as error:
            refusal = error.message
            continue
        with_tools = _prompt_tokens(given)
        if bare is None or with_tools is None:
            return _of_tools("not known", "the endpoint counts no prompt tokens", None)
        note = f"{with_tools:,} prompt tokens with them, {bare:,} without"
        if with_tools > bare:
            return _of_tools("reach the model", note, True)
        return _of_tools("do not reach it", note, False)
    return _of_tools("refused", refusal, False)


def _of_tools(said: str, note: str, reach: bool | None) -> Tested:
    return Tested([("tools", said, note)], {"tools_reach_model": reach})


def _prompt_tokens(found: Completion) -> int | None:
    return found.usage[-1].prompt_tokens


async def schema(patient: Patient) -> Tested:
    """Test whether the schema is enforced, with a prompt that asks for a value outside it."""
    known = patient.known
    what = "strict schema" if known.strict else "schema"
    if known.form in (JSON_OBJECT, WORDS):
        line = ("strict schema", "not sent", f"{known.form} has none; replies are validated")
        return Tested([line], {"schema_enforced": None})
    text = f"Report the word {_WRONG!r}: exactly that word, and no other."
    enumerated = _schema({"type": "string", "enum": list(_WORDS)})
    try:
        found = await patient.ask(_request(text, enumerated))
    except LlmError as error:
        return Tested([(what, "not tested", error.message)], {"schema_enforced": None})
    enforced = _word(found) in _WORDS
    note = "" if known.strict else "sent without `strict`, which is refused; "
    if enforced:
        note += "a word outside its list was asked for, and one of the list came"
        return Tested([(what, "enforced", note)], {"schema_enforced": True})
    note += "the reply broke it; replies are validated in any case"
    return Tested([(what, "accepted, not kept", note)], {"schema_enforced": False})


def _word(found: Completion) -> str | None:
    try:
        word = json.loads(found.choices[0].arguments or found.choices[0].text)["word"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return word if isinstance(word, str) else None


def sampling(known: Capabilities) -> Tested:
    """Report support for temperatures 0 and 1, several choices and log probabilities."""
    lines: list[Line] = [
        (
            "temperature 0",
            "accepted" if known.temperature_zero else "refused",
            "" if known.temperature_zero else "the model's own; verdicts may vary (see --repeat)",
        ),
        (
            "temperature 1",
            "accepted" if known.temperature_one else "refused",
            "" if known.temperature_one else "the model's own temperature is used",
        ),
        (
            "n",
            "2 choices came" if known.n else "no",
            "" if known.n else "one request for each sample",
        ),
        (
            "logprobs",
            "came" if known.logprobs else "no",
            "" if known.logprobs else "logprob_mean stays empty; nothing depends on it",
        ),
    ]
    facts = {
        "n": known.n,
        "logprobs": known.logprobs,
        "temperature_0": known.temperature_zero,
        "temperature_1": known.temperature_one,
    }
    return Tested(lines, facts)


async def token_limit(patient: Patient) -> Tested:
    """Test whether the token limit is obeyed, by the endpoint's own count of the reply."""
    name = patient.known.limit_field
    facts: dict[str, Any] = {"token_limit_field": name, "token_limit_obeyed": None}
    if name is None:
        note = "no field for it is accepted and obeyed; replies end where the model ends them"
        return Tested([("token limit", "no", note)], facts)
    request = _request("Count from 1 to 60, in digits, separated by commas.", limit=_LIMIT)
    try:
        found = await patient.ask(request)
    except LlmError as error:
        return Tested([("token limit", "not tested", error.message)], facts)
    counted = found.usage[-1].completion_tokens
    if counted is None:
        note = f"{name}: the endpoint counts no completion tokens"
        return Tested([("token limit", "not known", note)], facts)
    facts["token_limit_obeyed"] = counted <= _LIMIT
    said = "obeyed" if counted <= _LIMIT else "passed over"
    note = f"{name}: {counted:,} tokens came where {_LIMIT} were allowed"
    return Tested([("token limit", said, note)], facts)
