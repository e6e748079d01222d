"""Convert requests to the JSON of OpenAI's `POST /chat/completions`, and replies to choices.

Replies are parsed leniently, since compatible servers omit different fields. The caller validates
the content of a choice.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.schemas.text import storable
from ufo.transforms.llm.base import Choice, Function, Message, Request
from ufo.transforms.llm.capabilities import (
    JSON_OBJECT,
    JSON_OBJECT_SCHEMA,
    JSON_SCHEMA,
    PROBE,
    TOOL,
    Capabilities,
)
from ufo.transforms.llm.failures import Tokens
from ufo.transforms.llm.marks import all_without_marks, without_marks

_THOUGHTS = 8192  # tokens added to the limit for a model's reasoning


class Garbled(ValueError):
    """A reply does not have the shape of the API."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed reply: its choices, the tokens used and the id (None where missing), and whether
    the model wrote reasoning before it."""

    choices: Sequence[Choice]
    tokens: Tokens
    id: str | None
    thinks: bool = False


def body(request: Request, model: str, known: Capabilities, n: int) -> dict[str, Any]:
    """Return the JSON of a request for `n` choices, with the parameters that are supported."""
    messages = list(request.messages)
    result: dict[str, Any] = {"model": model}
    function = request.function
    if function is not None and known.tools:
        result["tools"] = [_tool(function, known.strict)]
        chosen = {"type": "function", "function": {"name": function.name}}
        result["tool_choice"] = chosen if known.form == TOOL else "required"
    elif function is not None:
        if known.form in _FORMATS:
            result["response_format"] = _FORMATS[known.form](function, known.strict)
        # A probe leaves the schema out of the prompt: only then does the reply show whether the
        # endpoint enforces it. In a run the prompt has the schema, since not every endpoint shows
        # it to the model.
        if request.step != PROBE or known.form not in (JSON_SCHEMA, JSON_OBJECT_SCHEMA):
            last = messages[-1]
            messages[-1] = Message(last.role, last.content + in_words(function))
    result["messages"] = [
        {"role": message.role, "content": without_marks(storable(message.content))}
        for message in messages
    ]
    if known.takes_temperature(request.temperature):
        result["temperature"] = request.temperature
    if n > 1 and known.n:
        result["n"] = n
    if request.max_tokens is not None and known.limit_field is not None:
        thoughts = _THOUGHTS if known.thinks and request.step != PROBE else 0
        most = request.max_tokens + thoughts
        result[known.limit_field] = min(most, known.most_tokens or most)
    if request.logprobs and known.logprobs:
        result["logprobs"] = True
    return result


def in_words(function: Function) -> str:
    """Return the instructions, appended to the prompt, to reply with a function's arguments."""
    head = (
        "\n\nReply with one JSON object and nothing else. It holds the arguments of the function "
        f"`{function.name}` ({function.description}), "
    )
    if function.example is None:
        return f"{head}by this JSON Schema:\n{json.dumps(function.parameters, ensure_ascii=False)}"
    described = "".join(f"\n{name}: {text}" for name, text in _described(function.parameters))
    example = json.dumps(function.example, ensure_ascii=False)
    return f"{head}as in this example of other data:\n{example}{described}"


def _described(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and descriptions of the properties of a schema, at any depth."""
    if not isinstance(schema, Mapping):
        return
    named = {**schema.get("properties", {}), **schema.get("$defs", {})}
    for name, below in named.items():
        if "description" in below:
            yield name, below["description"]
        yield from _described(below)
    yield from _described(schema.get("items"))


def _tool(function: Function, strict: bool) -> dict[str, Any]:
    described = {
        "name": function.name,
        "description": function.description,
        "parameters": all_without_marks(function.parameters),
    }
    return {"type": "function", "function": described | _strict(function, strict)}


def _json_schema(function: Function, strict: bool) -> dict[str, Any]:
    described = {"name": function.name, "schema": all_without_marks(function.parameters)}
    return {"type": "json_schema", "json_schema": described | _strict(function, strict)}


def _strict(function: Function, strict: bool) -> dict[str, Any]:
    return {"strict": True} if strict and can_be_strict(function.parameters) else {}


_FORMATS: Mapping[str, Callable[[Function, bool], dict[str, Any]]] = {
    JSON_SCHEMA: _json_schema,
    # An extension of llama.cpp: its server's README, "response_format".
    JSON_OBJECT_SCHEMA: lambda function, _: {
        "type": "json_object",
        "schema": all_without_marks(function.parameters),
    },
    JSON_OBJECT: lambda *_: {"type": "json_object"},
}


def can_be_strict(schema: Any) -> bool:
    """Return whether every object of a schema requires all of its properties and allows no others,
    as endpoints demand for `strict`."""
    if isinstance(schema, list | tuple):
        return all(can_be_strict(below) for below in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties", {})
    if properties or schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    nested = [*properties.values(), *schema.get("$defs", {}).values()]
    return all(map(can_be_strict, [*nested, schema.get("items"), schema.get("anyOf", ())]))


def answer(payload: Any, function: str | None) -> Answer:
    """Parse a reply to a request that asked for the named function, or for text.

    Raises:
        Garbled: it has no choices, or another shape altogether.
    """
    if not isinstance(payload, Mapping):
        raise Garbled("the reply is not a JSON object")
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Garbled("the reply has no choices")
    request_id = payload.get("id")
    return Answer(
        [_choice(item, function) for item in choices],
        tokens(payload),
        request_id if isinstance(request_id, str) and request_id else None,
        any(_thought(item["message"]) for item in choices) or _reasoning(payload.get("usage")) > 0,
    )


def _thought(message: Mapping[str, Any]) -> bool:
    """Return whether a message contains reasoning: DeepSeek's `reasoning_content`, Ollama's and
    OpenRouter's `reasoning`, or a `<think>` tag. OpenAI reports it as tokens alone."""
    shown = message.get("reasoning_content") or message.get("reasoning")
    return bool(shown) or _text(message.get("content")).lstrip().startswith("<think>")


def _reasoning(usage: Any) -> int:
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    return (_count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else 0) or 0


def tokens(payload: Any) -> Tokens:
    """Return the prompt and completion tokens that a reply reports, None where it does not."""
    usage = payload.get("usage") if isinstance(payload, Mapping) else None
    if not isinstance(usage, Mapping):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _choice(item: Any, function: str | None) -> Choice:
    if not isinstance(item, Mapping) or not isinstance(item.get("message"), Mapping):
        raise Garbled("a choice of the reply has no message")
    message = item["message"]
    finish = item.get("finish_reason")
    refusal = message.get("refusal")
    return Choice(
        _text(message.get("content")),
        None if function is None else _arguments(message, function),
        finish if isinstance(finish, str) else "stop",
        refusal if isinstance(refusal, str) and refusal else None,
        _logprob_mean(item.get("logprobs")),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts, as some servers give them
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _arguments(message: Mapping[str, Any], name: str) -> str | None:
    """Return the arguments of the call of the named function, else of the first call, else None."""
    calls = message.get("tool_calls")
    called = [
        call["function"]
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, Mapping) and isinstance(call.get("function"), Mapping)
    ]
    if isinstance(message.get("function_call"), Mapping):  # the API before tools
        called.append(message["function_call"])
    if not called:
        return None
    chosen = next((call for call in called if call.get("name") == name), called[0])
    arguments = chosen.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)  # some servers return an object


def _logprob_mean(logprobs: Any) -> float | None:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    values = [
        float(token["logprob"])
        for token in (content if isinstance(content, list) else ())
        if isinstance(token, Mapping) and isinstance(token.get("logprob"), int | float)
    ]
    values = [value for value in values if math.isfinite(value)]
    return math.fsum(values) / len(values) if values else None


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None
