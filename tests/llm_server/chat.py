"""`POST /v1/chat/completions`: what is asked is checked, answered, counted and put in its shape."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from . import tokens
from .errors import ApiError, bad, fixed_temperature, too_long, too_many, unsupported
from .strict import complaint

# What a switch of an endpoint can be: a feature works, is taken and passed over, or is refused.
WORKS, IGNORED, REJECTED = "works", "ignored", "rejected"

# A block of thoughts, thoughts without a beginning, a field beside the reply, and either of them
# in a reply that ends before the answer unless it has much room.
FULL, UNOPENED, APART, LONG, LONG_APART = "full", "unopened", "apart", "long", "long apart"
THOUGHTS = (FULL, UNOPENED, APART, LONG, LONG_APART)
MISPLACED = "misplaced"  # the answer is in the field for thoughts
_MUCH = 1500


@dataclass(frozen=True, slots=True)
class Switches:
    """What the endpoint can do. `n` may also be a number: the most choices a request gets.

    `tool_choice` is about one that names a function, `response_format` about all kinds of it;
    `json_schema`, `json_object` and `json_object_schema` are about one kind each. `refusals` are
    the endpoint's own errors by the name of the switch, where they are not OpenAI's.
    """

    tools: str = WORKS
    tool_choice: str = WORKS
    strict: str = WORKS
    n: str | int = WORKS
    logprobs: str = WORKS
    response_format: str = WORKS
    json_schema: str = WORKS
    json_object: str = WORKS
    json_object_schema: str = REJECTED
    temperature_fixed: bool = False
    max_tokens: str = WORKS
    max_completion_tokens: str = WORKS
    system: str = WORKS  # a message with that role
    context: int = 128_000
    states: str = ""  # the server in whose way the context is stated, one of STATEMENTS
    uncached: bool = False  # only the end of a prompt is counted, as if the rest was read before
    counts_limit: bool = False  # the tokens allowed for a reply have to fit into the context, too
    cuts: bool = False  # a prompt that does not fit is cut, and nothing says so
    named_errors: bool = True  # an error names the parameter it is about
    grammar: str = ""  # a schema whose JSON has this is refused, with the refusal `grammar`
    cap: int | None = None  # the most tokens that a reply may be limited to
    thinks: str = ""  # one of THOUGHTS: how the model's thoughts come with its reply
    streams: bool = False  # only requests for a stream are answered
    any_role: bool = False  # a message may have a role of the model's own template
    azure: str = ""  # the name of a deployment, at Azure's paths and with its header for the key
    # Replies are half of what they should be, with this finish reason ("" for null); None: whole.
    breaks_off: str | None = None
    fails: ApiError | None = field(default=None, repr=False)  # what every request is answered
    # Of the context, the prompt's tokens, and those allowed for the reply. Not shown: tests are
    # named by what is.
    too_long: Callable[[int, int, int], ApiError] = field(default=too_long, repr=False)
    # Of the tokens allowed for the reply, and the cap.
    capped: Callable[[int, int], ApiError] = field(default=too_many, repr=False)
    refusals: Mapping[str, ApiError] = field(default_factory=dict, repr=False)

    def refusal(self, name: str, usual: ApiError) -> ApiError:
        return copy(self.refusals.get(name, usual))


@dataclass(frozen=True, slots=True)
class Chat:
    """A checked request as an answerer sees it.

    `function` is the name of the function to be called, also where an endpoint without tools was
    given its schema or an example in words (`in_words`); None where text is asked for. `sample`
    tells repeated answers to the same messages apart.
    """

    model: str
    system: str
    user: str
    function: str | None
    schema: Mapping[str, Any]
    example: Mapping[str, Any]
    in_words: bool
    temperature: float
    sample: int
    enforced: bool = False  # the reply can be nothing but what the schema allows

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answerer says: arguments of the function, or text; and which step asked."""

    text: str = ""
    arguments: Mapping[str, Any] | None = None
    step: str = ""


Answer = Callable[[Chat], Reply]

_IN_WORDS = re.compile(
    r"arguments of the function `(\w+)`[^\n]*?(Schema|example of other data):\n(\{.*\})"
)


def check(body: Any, switches: Switches) -> None:
    """Raise the error that the endpoint answers to a request that it does not take."""
    if not isinstance(body, dict):
        raise bad("We could not parse the JSON body of your request.", None)
    if switches.fails is not None:
        raise copy(switches.fails)
    if switches.streams and not body.get("stream"):
        raise switches.refusal("stream", bad("stream must be true", "stream"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise bad("Missing required parameter: 'messages'.", "messages")
    for number, message in enumerate(messages):
        if message.get("role") == "system" and switches.system == REJECTED:
            raise switches.refusal("system", bad("System role not supported", None))
        known = message.get("role") in ("system", "developer", "user", "assistant", "tool")
        if not known and not switches.any_role:
            raise bad(f"Invalid value: 'messages[{number}].role'.", f"messages[{number}].role")
    n = body.get("n", 1)
    if not isinstance(n, int) or not 1 <= n <= 128:
        raise bad(f"Invalid value for 'n': {n!r}.", "n")
    temperature = body.get("temperature", 1)
    if not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
        raise bad("Invalid 'temperature': expected a number from 0 to 2.", "temperature")
    if switches.temperature_fixed and temperature != 1:
        raise fixed_temperature(temperature)
    if n > 1 and switches.n == REJECTED:
        usual = bad("Invalid value: 'n' must be 1 with this model.", "n", "unsupported_value")
        raise switches.refusal("n", usual)
    for name, other in (
        ("max_tokens", "max_completion_tokens"),
        ("max_completion_tokens", "max_tokens"),
    ):
        if name in body and getattr(switches, name) == REJECTED:
            raise switches.refusal(name, unsupported(name, other))
    for name in ("logprobs", "response_format"):
        if body.get(name) and getattr(switches, name) == REJECTED:
            raise switches.refusal(name, unsupported(name))
    if body.get("response_format"):
        _check_format(body["response_format"], switches)
    if body.get("tools") is not None:
        _check_tools(body, switches)
    limit = _limit(body, switches) or 0
    if switches.cap is not None and limit > switches.cap:
        raise switches.capped(limit, switches.cap)
    prompt = tokens.prompt_tokens(body)
    allowed = limit if switches.counts_limit else 0
    if prompt + allowed > switches.context and not switches.cuts:
        raise switches.too_long(switches.context, prompt, allowed)


def read_tokens(body: Mapping[str, Any], switches: Switches) -> int:
    """Return how many tokens of the prompt the model reads: where it is cut, Ollama keeps half of
    the context and a few at the beginning (github.com/ollama/ollama/issues/17427)."""
    ignored = ("tools",) if switches.tools == IGNORED else ()
    prompt = tokens.prompt_tokens({k: v for k, v in body.items() if k not in ignored})
    return switches.context // 2 + 2 if prompt > switches.context else prompt


def _kind(asked: Mapping[str, Any]) -> str:
    """The switch that a `response_format` is about."""
    return "json_object_schema" if "schema" in asked else str(asked["type"])


def _check_format(asked: Mapping[str, Any], switches: Switches) -> None:
    kind = _kind(asked)
    if getattr(switches, kind) == REJECTED:
        message = f"Invalid parameter: 'response_format' of type '{kind}' is not supported."
        raise switches.refusal(kind, bad(message, "response_format"))
    _check_grammar(asked, switches)
    if asked.get("json_schema", {}).get("strict"):
        _check_strict(asked["json_schema"]["schema"], "response_format", switches)


def _check_grammar(asked: Any, switches: Switches) -> None:
    if switches.grammar and switches.grammar in json.dumps(asked):
        raise switches.refusal("grammar", bad("Invalid schema: it is not supported.", None))


def _check_strict(schema: Mapping[str, Any], where: str, switches: Switches) -> None:
    if switches.strict == REJECTED:
        raise switches.refusal("strict", unsupported(f"{where}.strict"))
    why = complaint(schema)
    if why:
        message = f"Invalid schema for {where}: {why}."
        raise bad(message, f"{where}.parameters", "invalid_function_parameters")


def _check_tools(body: Mapping[str, Any], switches: Switches) -> None:
    if switches.tools == REJECTED:
        raise switches.refusal("tools", unsupported("tools"))
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        raise bad("Invalid 'tools': empty array.", "tools", "empty_array")
    names = set()
    for number, tool in enumerate(tools):
        function = tool["function"]
        param = f"tools[{number}].function"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]):
            raise bad(f"Invalid '{param}.name': string does not match pattern.", f"{param}.name")
        names.add(function["name"])
        _check_grammar(function, switches)
        if function.get("strict"):
            _check_strict(function["parameters"], param, switches)
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, dict) and switches.tool_choice == REJECTED:
        raise switches.refusal("tool_choice", unsupported("tool_choice"))
    if isinstance(choice, dict) and choice["function"]["name"] not in names:
        raise bad("Tool choice not found in 'tools' parameter.", "tool_choice")


def read(body: Mapping[str, Any], switches: Switches, sample: int) -> Chat:
    """Return the request as an answerer sees it."""
    system: list[str] = []
    user: list[str] = []
    for message in body["messages"]:
        opening = message["role"] in ("system", "developer")
        (system if opening else user).append(tokens.content_of(message))
    if user and user[0].startswith("Task: "):  # instructions, which a model reads in any turn
        system.append(user[0])
    schema: dict[str, Any] = {}
    example: dict[str, Any] = {}
    name, in_words, strict = None, False, False
    if body.get("tools") and body.get("tool_choice") != "none" and switches.tools == WORKS:
        chosen = body.get("tool_choice")
        wanted = chosen["function"]["name"] if isinstance(chosen, dict) else None
        ignored = wanted and switches.tool_choice == IGNORED  # and the model prefers to talk
        for tool in () if ignored else body["tools"]:
            if wanted in (None, tool["function"]["name"]):
                name, schema = tool["function"]["name"], tool["function"].get("parameters", {})
                strict = switches.strict == WORKS and bool(tool["function"].get("strict"))
                break
    if name is None and (match := _IN_WORDS.search("\n".join([*system, *user]))):
        name, in_words = match[1], True
        shown = json.loads(match[3])
        schema, example = (shown, {}) if match[2] == "Schema" else ({}, shown)
    asked = body.get("response_format", {})
    enforced = asked.get("json_schema", asked)
    if "schema" in enforced and getattr(switches, _kind(asked)) == WORKS:
        name, schema, in_words = enforced.get("name", name or "object"), enforced["schema"], True
        strict = True
    return Chat(
        model=body["model"],
        system="\n".join(system),
        user="\n".join(user),
        function=name,
        schema=schema,
        example=example,
        in_words=in_words,
        temperature=body.get("temperature", 1),
        sample=sample,
        enforced=strict,
    )


def choices_wanted(body: Mapping[str, Any], switches: Switches) -> int:
    n: int = body.get("n", 1)
    if switches.n == IGNORED:
        return 1
    return min(n, switches.n) if isinstance(switches.n, int) else n


def choice(
    index: int, reply: Reply, chat: Chat, body: Mapping[str, Any], switches: Switches
) -> tuple[dict[str, Any], int]:
    """Return a choice in the API's shape and its tokens."""
    left = switches.context - read_tokens(body, switches)
    limit = min(_limit(body, switches) or left, left)
    text = reply.text
    if reply.arguments is not None:
        text = json.dumps(reply.arguments, ensure_ascii=False)
    thoughts = _thoughts(text, switches)
    _, broken = tokens.cut(thoughts, limit)
    limit -= tokens.count(thoughts)
    text, cut_off = ("", True) if broken else tokens.cut(text, limit)
    broken = broken or cut_off
    if switches.breaks_off is not None:
        text = text[: len(text) // 2]
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    forced = body.get("tool_choice")
    finish = "stop"
    if reply.arguments is not None and not chat.in_words:
        message["content"] = None
        name = chat.function or ""
        call_id = "call_" + hashlib.sha256(f"{index}/{text}".encode()).hexdigest()[:24]
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
        ]
        # The API says "stop" where a function was forced, "tool_calls" where it was chosen.
        finish = "stop" if isinstance(forced, dict) else "tool_calls"
    result = {
        "index": index,
        "message": message,
        "logprobs": _logprobs(message["content"], body, switches),
        "finish_reason": "length" if broken else finish,
    }
    if switches.breaks_off is not None:
        result["finish_reason"] = switches.breaks_off or None
    _think(message, thoughts, switches, broken and not text)
    return result, tokens.count(thoughts) + tokens.count(text)


def _thoughts(answer: str, switches: Switches) -> str:
    """A draft that says the opposite of the answer, as long as the model thinks."""
    if switches.thinks in ("", MISPLACED):
        return ""
    draft = answer.translate(str.maketrans("TF", "FT")).replace("False", "True")
    return f"{'Hmm. ' * _MUCH if switches.thinks in (LONG, LONG_APART) else 'Hmm. '}{draft}\n"


def _think(message: dict[str, Any], thoughts: str, switches: Switches, cut: bool) -> None:
    """Put the model's thoughts into a message; nothing else is in it where it was `cut`."""
    if not switches.thinks:
        return
    if switches.thinks == MISPLACED:  # a parser of thoughts that takes the answer for them
        calls = message.pop("tool_calls", ())
        answer = calls[0]["function"]["arguments"] if calls else message["content"]
        message |= {"content": None, "reasoning_content": answer}
        return
    if cut:
        message.pop("tool_calls", None)
        message["content"] = ""
    if switches.thinks in (APART, LONG_APART):
        message["reasoning_content"] = thoughts
        return
    opening = "" if switches.thinks == UNOPENED else "<think>"
    end = "" if cut else f"</think>\n\n{message['content'] or ''}"
    message["content"] = f"{opening}{thoughts}{end}"


def _limit(body: Mapping[str, Any], switches: Switches) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if body.get(name) is not None and getattr(switches, name) == WORKS:
            return int(body[name])
    return None


def _logprobs(
    content: str | None, body: Mapping[str, Any], switches: Switches
) -> dict[str, Any] | None:
    if not body.get("logprobs") or switches.logprobs != WORKS:
        return None
    if content is None:
        return {"content": None}
    return {
        "content": [
            {"token": token, "logprob": -(len(token) % 7) / 10 - 0.05}
            for token in tokens.tokens_of(content)
        ]
    }
