"""Who answers: a registry of answerers, asked in order, and one that answers anything.

An answerer knows some of the project's prompts: by the name of a function, or by a marker in the
text. Verdicts come from the offline judge (offline.py), so that those over HTTP can be compared
with those in process; everything else is a script.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .chat import Chat, Reply
from .prompts import numbered, read, task


class Answerer(Protocol):
    """Answers the requests that it matches."""

    def matches(self, chat: Chat) -> bool: ...

    def answer(self, chat: Chat) -> Reply: ...


class Probe:
    """The project's probe of what an endpoint can do."""

    def matches(self, chat: Chat) -> bool:
        return chat.function == "report" or chat.user.startswith("Count from 1 to 60")

    def answer(self, chat: Chat) -> Reply:
        if not chat.function:
            return Reply(", ".join(str(number) for number in range(1, 61)), step="probe")
        return Reply(arguments=chat.example or filled(chat.schema), step="probe")


class Knowledge:
    """A knowledge model. What it says to a query is in `texts`, one text a sample and then again
    from the first; to another query it says something that is a function of the query alone, so
    that no order of requests changes it."""

    def __init__(self) -> None:
        self.texts: dict[str, Sequence[str]] = {}

    def matches(self, chat: Chat) -> bool:
        return chat.function == "recall_answers" or (chat.function is None and not chat.system)

    def answer(self, chat: Chat) -> Reply:
        if chat.function is None:
            return Reply(self._text(chat.user, chat.sample), step="knowledge")
        queries = {f"q{n}": read(content) for n, _, content in numbered("q", chat.user)}
        answers = {name: self._text(query, chat.sample) for name, query in queries.items()}
        return Reply(arguments=answers, step="knowledge")

    def _text(self, query: str, sample: int) -> str:
        if self.texts.get(query):
            return self.texts[query][sample % len(self.texts[query])]
        kind = hashlib.sha256(query.encode()).digest()[0]
        if kind % 4 == 0:
            return "I do not know."
        words = _QUESTION_WORDS.sub("", query).rstrip(" ?")
        return f"As far as I know, {words}, in {1800 + kind + sample % 5 // 4}."


class Kinds:
    """Says of every host that no rule knows that it is of another kind."""

    def matches(self, chat: Chat) -> bool:
        return task(chat.system) == "hostname_category"

    def answer(self, chat: Chat) -> Reply:
        return Reply("other", step="hostname_category")


class Anything:
    """Fills in any function by its schema; says one sentence where words are asked for."""

    def matches(self, chat: Chat) -> bool:
        return True

    def answer(self, chat: Chat) -> Reply:
        if chat.function is not None:
            return Reply(arguments=chat.example or filled(chat.schema), step="other")
        return Reply("A plain answer in a few words.", step="other")


_QUESTION_WORDS = re.compile(
    r"^(?:who|what|when|where|which|why|how)?\s*(?:is|are|was|were|did|does|do|has|have)?\s*",
    re.IGNORECASE,
)


def filled(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """Return a value that the schema allows."""
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], definitions)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: filled(below, definitions) for name, below in properties.items()}
    if kind == "array":
        return [filled(schema.get("items", {"type": "string"}), definitions)]
    return {"string": "x", "integer": 1, "number": 1.0, "boolean": True}.get(kind)


def reply_to(chat: Chat, answerers: Sequence[Answerer]) -> Reply:
    """Return the answer of the first that matches."""
    for answerer in answerers:
        if answerer.matches(chat):
            return answerer.answer(chat)
    raise LookupError(f"no answerer for function {chat.function!r}: {chat.text[:200]!r}")
