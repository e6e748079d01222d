"""Define the interface to a language model: request, completion, client, error.

Every step that asks a model (extraction, verification, knowledge) builds a `Request` and reads a
`Completion`. `Client.complete` hides retries, rate limits, cache and usage rows; tests use
`ufo.transforms.llm.fake.FakeClient` instead.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final, Protocol

from ufo.schemas.records import Usage

EXTRACTOR = "extractor"
VERIFIER = "verifier"
KNOWLEDGE = "knowledge"

Report = Callable[[str], None]
"""Shows the user a message about a problem that does not stop the run."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function the model must call; `parameters` is its JSON Schema.

    `example` is an example of the arguments, shown in the prompt where the endpoint has no tools;
    with None the prompt shows the schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    example: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one chat completion.

    `function` is the one function that must be called; None asks for text. `n` is the number of
    choices wanted, in as many HTTP requests as that takes. `step`, `source` and `response_id` are
    columns of the `usage` table and are not sent. `keep` returns whether a choice is worth caching;
    None caches every choice that is not empty, refused or cut off. `key` is the cache key of its
    first choice, by which a request in a batch is known.

    `max_tokens` limits the reply. It is lowered where the model's context is too small, but not
    below `expects`, the estimated tokens of the reply.
    """

    role: str
    model: str
    messages: Sequence[Message]
    function: Function | None = None
    temperature: float = 0.0
    n: int = 1
    max_tokens: int | None = None
    expects: int = 0
    logprobs: bool = False
    step: str = ""
    source: str | None = None
    response_id: str | None = None
    keep: "Callable[[Choice], bool] | None" = field(default=None, compare=False, repr=False)
    key: str = field(default="", compare=False)


WHOLE: Final = "whole"
WITHHELD: Final = "withheld"
BROKEN_OFF: Final = "broken off"
_REASONS: Final[Mapping[str, Sequence[str]]] = tomllib.loads(
    (resources.files(__package__) / "finish_reasons.toml").read_text(encoding="utf-8")
)
_WORDS: Final = {
    word.replace("_", ""): kind for kind in (WHOLE, WITHHELD) for word in _REASONS[kind]
}
_SPELLED = re.compile(r".*\.|[^a-z]|(?:finish|stop)_?reason_", re.DOTALL)
"""The parts around a finish reason's word: `FinishReason.STOP`, `STOP_REASON_END_TURN`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a completion.

    `arguments` is the JSON text of the function call's arguments, None where no function was
    called. `finish_reason` is the endpoint's own word, "" for none; `ending` says what it means.
    `refusal` is the text of a refusal. `thought` has the first words of a reply that is only in the
    field for reasoning, so that there is no answer. `logprob_mean` is the mean log-probability of
    the tokens, None where the endpoint returned none.
    """

    text: str = ""
    arguments: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    logprob_mean: float | None = None
    thought: str = ""

    @property
    def ending(self) -> str:
        """How the reply ended: WHOLE, WITHHELD by a filter, or BROKEN_OFF.

        An unknown finish reason, or none, means BROKEN_OFF.
        """
        return _WORDS.get(_SPELLED.sub("", self.finish_reason.casefold()), BROKEN_OFF)

    @property
    def whole(self) -> bool:
        """Whether the reply is whole, by its finish reason or as a complete JSON object or list."""
        if self.ending != BROKEN_OFF:
            return self.ending == WHOLE
        text = (self.arguments or self.text).strip()
        try:
            return text[:1] in ("{", "[") and bool(json.loads(text))
        except (ValueError, RecursionError):
            return False


@dataclass(frozen=True, slots=True)
class Completion:
    """The `n` choices of a request, and one usage row for each HTTP request that was sent.

    `request_id` is the id of the first HTTP request, for the column of that name.
    """

    choices: Sequence[Choice]
    request_id: str
    usage: Sequence[Usage] = field(default_factory=list)


class Client(Protocol):
    """Sends requests to the model of each role."""

    async def complete(self, request: Request) -> Completion:
        """Return the completion.

        Raises:
            LlmError: the request failed; its `usage` has a row for each HTTP request sent.
        """
        ...

    def room(self, request: Request) -> int | None:
        """Estimate how many tokens of the model's context a request's prompt leaves free.

        Returns None while the size of the context is unknown.
        """
        ...

    def cap(self, request: Request) -> int | None:
        """Return the most tokens that the model may reply with, None while no limit is known."""
        ...


@dataclass(eq=False)
class LlmError(Exception):
    """A request that got no usable reply.

    `reason` is one of records.REASONS (`transport`, `filtered`, `refused`, …). `final` marks an
    error that would occur for every further request (wrong key, wrong URL, unknown model, spent
    quota). The run then stops at once and shows `message`, which ends with the remedy. Where
    several choices were wanted, `choices` are the ones received before the error, and `request_id`
    is the id of the first request that returned them. `unexplained` marks a refusal with an unknown
    message: the request may have been too large.
    """

    message: str
    reason: str = "transport"
    final: bool = False
    usage: Sequence[Usage] = ()
    choices: Sequence[Choice] = ()
    request_id: str = ""
    unexplained: bool = False

    def __post_init__(self) -> None:
        super().__init__(self.message)
        self.usage, self.choices = tuple(self.usage), tuple(self.choices)
