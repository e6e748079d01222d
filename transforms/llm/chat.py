"""Convert requests to the JSON of OpenAI's `POST /chat/completions`, and replies to choices.

A reply may be a stream of server-sent events, which `completion_of` puts together.

Replies are parsed leniently, since compatible servers omit different fields. The caller validates
the content of a choice. A model's thoughts are left out of it.

Special tokens of chat templates are neutralised in what is sent: a server that inserts a message
into its chat template may read `<|im_end|>` in a web page as the end of the message. No prompt
contains such a token, so each one found is part of the data.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ufo.schemas.text import storable
from ufo.transforms.llm.errors import Tokens, error_inside
from ufo.transforms.llm.forms import (
    JSON_OBJECT,
    JSON_OBJECT_SCHEMA,
    JSON_SCHEMA,
    PROBE,
    TOOL,
    Capabilities,
)
from ufo.transforms.llm.request import (
    BROKEN_OFF,
    WHOLE,
    WITHHELD,
    Choice,
    Function,
    Message,
    Request,
)
from ufo.transforms.thoughts import NAMES, without_thoughts

_THOUGHTS = 8192  # tokens added to the limit for a model's reasoning
_THOUGHT_SHOWN = 200  # characters of thoughts in a table
_MOST_TOKENS = 2**40
_REASONING = re.compile("reasoning|think|thought")  # names of fields
_ARGUMENTS = ("arguments", "parameters", "input")  # of a call, in the words of several APIs
_MOST_PARTS = 10_000  # choices and calls in one stream
_DATA = re.compile(r"(?:^|[\r\n])\ufeff?data:[ \t]*([^\r\n]*[^\s])")  # of an event

_TAGS = (
    "s|bos|eos|pad|unk|mask|cls|sep|bos_token|eos_token|sys|start_of_turn|end_of_turn|turn"
    "|im_start|im_end|tool_call|tool_response|tools|image_soft_token"
    "|start_of_image|end_of_image|end_of_utterance|fim_prefix|fim_suffix|fim_middle"
)
_BRACKETS = (
    "INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|THINK|IMG"
    "|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|g?MASK|sMASK|CLS|SEP|PAD|UNK|BOS|EOS"
)
# The first character of a special token: `<|eot_id|>`, `<｜User｜>`, `</s>`, `<<SYS>>`, `[/INST]`.
_MARK = re.compile(
    rf"<(?=[|\uff5c]|/?(?:{_TAGS}|{NAMES})\s*>)|\[(?=/?(?:{_BRACKETS})\])",
    re.IGNORECASE,
)


class Garbled(ValueError):
    """An error for a reply that does not have the shape of the API."""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A parsed reply: its choices, the tokens used and the id, None where missing.

    `thinks` says whether the model wrote reasoning before it, `only_thoughts` whether there is
    nothing else.
    """

    choices: Sequence[Choice]
    tokens: Tokens
    id: str | None
    thinks: bool = False
    only_thoughts: bool = False


def body(
    request: Request, model: str, known: Capabilities, n: int, thoughts: int = 1
) -> dict[str, Any]:
    """Return the JSON of a request for `n` choices, with the parameters that are supported.

    `thoughts` is a factor on the usual number of tokens for a model's thoughts.
    """
    messages = _turns(request.messages, known)
    result: dict[str, Any] = {"model": model}
    function = request.function
    if function is not None and known.tools:
        result["tools"] = [_tool(function, known)]
        chosen = {"type": "function", "function": {"name": function.name}}
        result["tool_choice"] = chosen if known.form == TOOL else "required"
    elif function is not None:
        if known.form in _FORMATS:
            result["response_format"] = _FORMATS[known.form](function, known)
        # A probe leaves the schema out of the prompt: only then does the reply show whether the
        # endpoint enforces it. In a run the prompt has the schema, since not every endpoint shows
        # it to the model.
        if request.step != PROBE or known.form not in (JSON_SCHEMA, JSON_OBJECT_SCHEMA):
            last = messages[-1]
            messages[-1] = Message(last.role, last.content + reply_instructions(function))
    result["messages"] = [
        {"role": message.role, "content": neutralise_tokens(storable(message.content))}
        for message in messages
    ]
    if known.takes_temperature(request.temperature):
        result["temperature"] = request.temperature
    if n > 1 and known.n:
        result["n"] = n
    if request.max_tokens is not None and known.limit_field is not None:
        room = _THOUGHTS * thoughts if known.thinks and request.step != PROBE else 0
        most = request.max_tokens + room
        result[known.limit_field] = min(most, known.most_tokens or most)
    if request.logprobs and known.logprobs:
        result["logprobs"] = True
    if known.streams:
        result |= {"stream": True, "stream_options": {"include_usage": True}}
    return result


def _turns(messages: Sequence[Message], known: Capabilities) -> list[Message]:
    """Return the messages; the system message is part of the first turn where it is refused."""
    if known.system or messages[0].role != "system" or len(messages) == 1:
        return [*messages]
    system, first, *others = messages
    return [Message(first.role, f"{system.content}\n\n{first.content}"), *others]


def reply_instructions(function: Function) -> str:
    """Return the end of a prompt that asks for a function's arguments as JSON in the reply."""
    head = (
        "\n\nReply with one JSON object and nothing else. It holds the arguments of the function "
        f"`{function.name}` ({function.description}), "
    )
    if function.example is None:
        return f"{head}by this JSON Schema:\n{json.dumps(function.parameters, ensure_ascii=False)}"
    described = "".join(f"\n{name}: {text}" for name, text in _descriptions(function.parameters))
    example = json.dumps(function.example, ensure_ascii=False)
    return f"{head}as in this example of other data:\n{example}{described}"


def _descriptions(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and descriptions of the properties of a schema, at any depth."""
    if not isinstance(schema, Mapping):
        return
    named = {**schema.get("properties", {}), **schema.get("$defs", {})}
    for name, below in named.items():
        if "description" in below:
            yield name, below["description"]
        yield from _descriptions(below)
    yield from _descriptions(schema.get("items"))


def _schema(function: Function, known: Capabilities) -> Any:
    schema = function.parameters
    if not known.references:
        schema = inline_references(schema, schema.get("$defs", {}))
    # A walk through the schema takes ten times as long as the search.
    marked = _MARK.search(json.dumps(schema, ensure_ascii=False))
    return neutralise_all_tokens(schema) if marked else schema


def _described(function: Function, known: Capabilities, field: str) -> dict[str, Any]:
    named = {"name": function.name, field: _schema(function, known)}
    # `strict` needs closed objects; only a schema that was written out has open ones.
    return {**named, "strict": True} if known.strict and known.references else named


def _tool(function: Function, known: Capabilities) -> dict[str, Any]:
    described = {"description": function.description, **_described(function, known, "parameters")}
    return {"type": "function", "function": described}


_FORMATS: Mapping[str, Callable[[Function, Capabilities], dict[str, Any]]] = {
    JSON_SCHEMA: lambda function, known: {
        "type": "json_schema",
        "json_schema": _described(function, known, "schema"),
    },
    # An extension of llama.cpp: its server's README, "response_format".
    JSON_OBJECT_SCHEMA: lambda function, known: {
        "type": "json_object",
        "schema": _schema(function, known),
    },
    JSON_OBJECT: lambda *_: {"type": "json_object"},
}


def inline_references(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with its references replaced by their definitions.

    `maxItems` and `additionalProperties` are left out, which not every endpoint takes.
    """
    if isinstance(schema, list | tuple):
        return [inline_references(below, definitions) for below in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        others = {other: definitions[other] for other in definitions if other != name}
        return inline_references(definitions.get(name, {}), others)
    left_out = ("$defs", "maxItems", "additionalProperties")
    return {
        name: inline_references(below, definitions)
        for name, below in schema.items()
        if name not in left_out
    }


def answer(payload: Any, function: str | None) -> ParsedReply:
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
    read = [_choice(item, function) for item in choices]
    thinks = any(thought for _, thought in read) or _reasoning(payload.get("usage")) > 0
    return ParsedReply(
        [choice for choice, _ in read],
        tokens(payload),
        request_id if isinstance(request_id, str) and request_id else None,
        thinks,
        thinks and all(_has_no_answer(choice) for choice, _ in read),
    )


def _has_no_answer(choice: Choice) -> bool:
    answered = choice.text.strip() or choice.arguments or choice.refusal
    return not answered and (bool(choice.thought) or choice.ending == BROKEN_OFF)


def _reasoning(usage: Any) -> int:
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    return (_count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else 0) or 0


def tokens(payload: Any) -> Tokens:
    """Return the prompt and completion tokens that a reply reports, None where it does not.

    Where the total is larger than their sum, the rest are thoughts, which count as completion
    tokens.
    """
    usage = payload.get("usage") if isinstance(payload, Mapping) else None
    if not isinstance(usage, Mapping):
        return None, None
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (_count(usage.get(name)) for name in names)
    if None not in (prompt, completion, total):
        completion = max(completion or 0, (total or 0) - (prompt or 0))
    return prompt, completion


def _choice(item: Any, function: str | None) -> tuple[Choice, bool]:
    """Return a choice without the model's thoughts, and whether there were any.

    They are in the text or in fields and parts of their own. OpenAI reports them only in `usage`.
    """
    if not isinstance(item, Mapping) or not isinstance(item.get("message"), Mapping):
        raise Garbled("a choice of the reply has no message")
    message = item["message"]
    finish = item.get("finish_reason")
    refusal = message.get("refusal")
    whole = _text(message.get("content"))
    text = without_thoughts(whole)
    arguments = None if function is None else _arguments(message, function)
    arguments = arguments and without_thoughts(arguments)
    refusal = refusal if isinstance(refusal, str) and refusal else None
    choice = Choice(
        text,
        arguments,
        finish if isinstance(finish, str) else "",
        refusal,
        _logprob_mean(item.get("logprobs")),
    )
    reasoning = _reasoning_in(message)
    if not (text.strip() or arguments or refusal or choice.ending == WITHHELD):
        within = whole if choice.ending == WHOLE else ""  # all of the text was thoughts
        thoughts = reasoning or within
        choice = replace(choice, thought=thoughts.strip()[:_THOUGHT_SHOWN])
    return choice, bool(reasoning) or text != whole


def _reasoning_in(message: Mapping[str, Any]) -> str:
    """Return the thoughts in the fields of a message, or in parts of its content.

    Such fields are `reasoning_content` (DeepSeek), `reasoning` (Ollama, OpenRouter) and `thinking`.
    """
    parts = message.get("content")
    places = [message[name] for name in message if _REASONING.match(str(name))]
    places += filter(_is_thought, parts if isinstance(parts, list) else ())
    return next(filter(None, map(_joined_text, places)), "")


def _is_thought(part: Any) -> bool:
    return isinstance(part, Mapping) and bool(_REASONING.match(str(part.get("type"))))


def _text(content: Any) -> str:
    """Return the text of a message's content: of a text, a part or parts, else its JSON."""
    if isinstance(content, Mapping) and "text" not in content:
        return json.dumps(content)
    parts = content if isinstance(content, list) else [content]
    return "".join(_joined_text(part) for part in parts if not _is_thought(part))


def _joined_text(value: Any, levels: int = 5) -> str:
    """Return the text of a field or part, or of its parts."""
    if isinstance(value, str) or not levels:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        return "".join(_joined_text(part, levels - 1) for part in value)
    if isinstance(value, Mapping):
        names = ("text", "thinking", "reasoning", "summary", "content")
        return next(filter(None, (_joined_text(value.get(name), levels - 1) for name in names)), "")
    return ""


def _arguments(message: Mapping[str, Any], name: str) -> str | None:
    """Return the arguments of the calls of the named function, else of all calls, else None.

    Several calls are several JSON objects, one after another.
    """
    places = message.get("tool_calls"), message.get("function_call"), message.get("content")
    called: list[Mapping[str, Any]] = []
    for place in places:
        for call in place if isinstance(place, list) else [place]:
            function = call.get("function", call) if isinstance(call, Mapping) else None
            if isinstance(function, Mapping) and any(map(function.get, _ARGUMENTS)):
                called.append(function)
    if not called:
        return None
    named = [call for call in called if call.get("name") == name]
    arguments = [next(filter(None, map(call.get, _ARGUMENTS))) for call in named or called]
    # Some servers return an object.
    return "\n".join(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in arguments
    )


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
    """Return a number of tokens, None for a value that cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < _MOST_TOKENS else None


# --- streams -----------------------------------------------------------------------------------


def completion_of(events: str) -> dict[str, Any]:
    """Join the chunks of a stream of server-sent events to the JSON of a whole reply.

    An error in a chunk replaces the choices. A choice without a finish reason broke off.

    Raises:
        ValueError: there is no chunk, or one is not of the API.
    """
    payload: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(events):
        if error_inside(chunk):
            return {**payload, **chunk}
        payload |= {name: chunk[name] for name in ("id", "usage") if chunk.get(name)}
        try:
            for part in chunk.get("choices") or ():
                choice = choices.setdefault(_place(part, 0), {"message": {}})
                _append(choice["message"], part.get("delta") or part.get("message") or {})
                if part.get("finish_reason"):
                    choice["finish_reason"] = part["finish_reason"]
                if part.get("logprobs"):
                    _append(choice.setdefault("logprobs", {}), part["logprobs"])
        except (AttributeError, TypeError) as error:
            raise ValueError(f"a chunk has another shape: {error}") from None
    return {**payload, "choices": [choices[index] for index in sorted(choices)]}


def _chunks(events: str) -> Iterator[dict[str, Any]]:
    data = _DATA.findall(events)
    if not data:
        raise ValueError("there are no events")
    for text in data:
        if text != "[DONE]":
            chunk = json.loads(text)
            if not isinstance(chunk, dict):
                raise ValueError("a chunk is not an object")
            yield chunk


def _place(part: Mapping[str, Any], otherwise: int) -> int:
    """Return the number of a choice or call in a stream, `otherwise` where it has none."""
    index = part.get("index")
    return index if isinstance(index, int) and 0 <= index < _MOST_PARTS else otherwise


def _append(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Append the texts and lists of a chunk to those before it."""
    for name, value in part.items():
        before = whole.get(name)
        if name == "tool_calls" and isinstance(value, list):
            calls = whole.setdefault(name, [])
            for call in value:
                # A call without a number that has a name is a new one.
                new = not calls or bool((call.get("function") or {}).get("name"))
                index = _place(call, len(calls) if new else len(calls) - 1)
                calls += [{} for _ in range(index + 1 - len(calls))]
                _append(calls[index], call)
        elif isinstance(value, Mapping):
            _append(whole.setdefault(name, {}), value)
        elif name in ("id", "type", "role", "name") or not isinstance(before, type(value)):
            whole[name] = before if value is None else value
        elif isinstance(value, str | list):
            whole[name] = before + value


# --- special tokens of chat templates ----------------------------------------------------------


def neutralise_tokens(text: str) -> str:
    """Return the text with a space after the first character of each special token."""
    if "<" not in text and "[" not in text:  # most texts
        return text
    return _MARK.sub(lambda match: f"{match[0]} ", text)


def neutralise_all_tokens(value: Any) -> Any:
    """Return a JSON value with `neutralise_tokens` applied to its strings, not to field names."""
    if isinstance(value, str):
        return neutralise_tokens(value)
    if isinstance(value, Mapping):
        return {name: neutralise_all_tokens(below) for name, below in value.items()}
    if isinstance(value, list | tuple):
        return [neutralise_all_tokens(below) for below in value]
    return value
