"""Who answers: a registry of answerers, asked in order, and one that answers anything.

An answerer knows one of the project's prompts: by the name of its function, or by a marker in the
text. What it says comes from the offline judge, so that verdicts over HTTP can be compared with
verdicts in process.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .chat import Chat, Reply


class Answerer(Protocol):
    """Answers the requests that it matches."""

    def matches(self, chat: Chat) -> bool: ...

    def answer(self, chat: Chat) -> Reply: ...


class Anything:
    """Fills in any function by its schema, and counts where words are asked for."""

    def matches(self, chat: Chat) -> bool:
        return True

    def answer(self, chat: Chat) -> Reply:
        if chat.function is not None:
            return Reply(arguments=filled(chat.schema), step="other")
        return Reply(", ".join(str(number) for number in range(1, 61)), step="other")


def filled(schema: Mapping[str, Any]) -> Any:
    """Return a value that the schema allows."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0])
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return {name: filled(below) for name, below in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {"type": "string"}))]
    return {"string": "x", "integer": 1, "number": 1.0, "boolean": True}.get(kind)


class Knowledge:
    """A knowledge model: five samples a query, some of them wrong, and of some queries none.

    `claims_of` returns the claims that were extracted for a query; what it knows is made of them,
    so that the verdicts differ from query to query and are the same in every run.
    """

    def __init__(self, claims_of: Callable[[str], Sequence[str]]) -> None:
        self._claims_of = claims_of

    def matches(self, chat: Chat) -> bool:
        return chat.function is None and "knowledge" in chat.model

    def answer(self, chat: Chat) -> Reply:
        query = chat.user.strip().splitlines()[-1]
        claims = self._claims_of(query)
        kind = hashlib.sha256(query.encode()).digest()[0] % 4
        text = "I do not know anything certain about that."
        if claims and kind < 3 and chat.sample % 5 <= kind + 2:
            text = " ".join(claims)
        return Reply(text, step="knowledge")


def reply_to(chat: Chat, answerers: Sequence[Answerer]) -> Reply:
    """Return the answer of the first that matches."""
    for answerer in answerers:
        if answerer.matches(chat):
            return answerer.answer(chat)
    raise LookupError(f"no answerer for function {chat.function!r}: {chat.text[:200]!r}")
