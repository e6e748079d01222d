"""Define the interface to a language model: request, completion, client, error.

Everything that asks a model (extraction, verification, knowledge) builds a `Request` and reads a
`Completion`. How it is sent is behind `Client`; retry, limits, cache and usage wrap that one method
once, and a scripted fake stands in for it in a user's tests.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from schemas.records import Usage

EXTRACTOR = "extractor"
VERIFIER = "verifier"
KNOWLEDGE = "knowledge"

Report = Callable[[str], None]
"""Shows the user a message about something that the run goes on without or waits for."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function the model is to call; `parameters` is its JSON Schema.

    `example` is what a complete call may look like, for a model that has no tools; None shows it
    the schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    example: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion.

    `function` is the one function that must be called; None asks for text. `n` choices are wanted,
    however many requests that takes. `step`, `source` and `response_id` say what it is for, and go
    to the `usage` table; they are not sent. `keep` tells of a choice whether it has what was asked
    for, so that the same request need not be sent again; None leaves that to its look.

    `max_tokens` ends a reply that runs away, and is lowered where the model's context has no room
    for it; `expects` is about how many tokens the reply needs, below which it is not lowered.
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


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of the model.

    `arguments` is the text of the function call's arguments, None where no function was called.
    `finish_reason` is as the endpoint gave it (stop, length, tool_calls, content_filter, …);
    `refusal` is the text of a refusal. `logprob_mean` is None where the endpoint gave none.
    """

    text: str = ""
    arguments: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    logprob_mean: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: as many choices as were asked for, and one usage row for each request sent.

    `request_id` is the id of the (first) request, as the column of that name holds it.
    """

    choices: Sequence[Choice]
    request_id: str
    usage: Sequence[Usage] = field(default_factory=list)


class Client(Protocol):
    """Sends requests to the model of each role."""

    async def complete(self, request: Request) -> Completion:
        """Return the completion.

        Raises:
            LlmError: no usable answer could be had; `usage` on it has the rows of what was sent.
        """
        ...

    def room(self, request: Request) -> int | None:
        """Return about how many tokens the model's context holds beside the prompt of a request,
        None where that is not known (yet)."""
        ...


class LlmError(Exception):
    """A request that got no usable answer.

    `reason` is one of records.REASONS (`transport`, `filtered`, `refused`, …). `final` tells an
    error that every further request would meet as well (wrong key, wrong URL, unknown model, spent
    quota): the run stops at once, with `message`, which ends with the remedy. `choices` are those
    of several wanted that had come by then, `request_id` is the (first) request they came with.
    """

    def __init__(
        self,
        message: str,
        reason: str = "transport",
        final: bool = False,
        usage: Sequence[Usage] = (),
        choices: Sequence[Choice] = (),
        request_id: str = "",
    ) -> None:
        super().__init__(message, reason, final, tuple(usage), tuple(choices), request_id)
        self.message = message
        self.reason = reason
        self.final = final
        self.usage = tuple(usage)
        self.choices = tuple(choices)
        self.request_id = request_id

    def __str__(self) -> str:
        """Return the message alone."""
        return self.message
