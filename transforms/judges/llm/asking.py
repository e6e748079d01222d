"""Send the requests of one step to the model, and collect their usage rows and failures."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ufo.schemas.records import TRUNCATED, UNPARSABLE, Failure, Usage
from ufo.transforms.judges.llm.parsing import reason_of
from ufo.transforms.judges.llm.settings import LlmSettings
from ufo.transforms.llm.base import EXTRACTOR, Choice, Client, Function, LlmError, Message, Request
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import storable

T = TypeVar("T")

SHORT_REPLY = 40  # tokens of a few words
_SLACK = 256  # tokens of the limit beyond twice the expected length
_SHOWN = 4096  # characters of a reply in the table `failures`


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the model, or the error in its place.

    `reason` (one of records.REASONS) says why items may be missing from it. `error` is the message
    where no reply was received. `first_reason` is the reason of an earlier reply to the same
    question. `too_long` says that request and reply did not fit into the model's context.
    """

    choice: Choice
    reason: str
    request_id: str | None = None
    error: str = ""
    first_reason: str | None = None
    too_long: bool = False

    @property
    def raw(self) -> str:
        """The text of the reply: the refusal, the arguments or the message."""
        return self.choice.refusal or self.choice.arguments or self.choice.text


@dataclass(slots=True)
class Asker:
    """Sends the requests of one step of one response, and collects usage rows and failures."""

    client: Client
    prompts: Prompts
    role: str
    model: str
    step: str
    response_id: str | None = None
    source: str | None = None
    usage: list[Usage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    async def ask(
        self,
        system: str,
        user: str,
        function: Function | None = None,
        wrong: str = "",
        keep: Callable[[Choice], bool] | None = None,
        expects: int = SHORT_REPLY,
    ) -> Reply:
        """Send one request and return the reply.

        An empty `system` sends no system message. `wrong` says what was wrong with an earlier reply
        and makes the request a repair. `keep` returns whether a choice may be cached. `expects`
        estimates the tokens of the reply, whose limit is a little over twice that.

        Raises:
            LlmError: a final one; other errors are returned as a reply with `error` and `reason`.
        """
        if wrong:
            user = f"{user}\n{self.prompts.render('repair', wrong=wrong)}"
        request = replace(
            self._request(system, user, function),
            keep=keep,
            max_tokens=2 * expects + _SLACK,
            expects=expects,
        )
        try:
            completion = await self.client.complete(request)
        except LlmError as error:
            self.usage += error.usage
            if error.final:
                raise LlmError(error.message, error.reason, True, self.usage) from error
            sent = error.usage[-1].request_id if error.usage else None
            too_long = error.reason == TRUNCATED
            return Reply(Choice(), error.reason, sent, error.message, too_long=too_long)
        self.usage += completion.usage
        if not completion.choices:
            return Reply(Choice(), UNPARSABLE, completion.request_id, "the reply has no choice")
        choice = completion.choices[0]
        reason = reason_of(choice, function is not None)
        room = self.client.room(request) if reason == TRUNCATED else None
        too_long = room is not None and room < (request.max_tokens or 0)
        return Reply(choice, reason, completion.request_id, too_long=too_long)

    def room(self, system: str, function: Function | None = None, user: str = "") -> int | None:
        """Estimate the tokens of the model's context left beside this prompt, None if unknown."""
        return self.client.room(self._request(system, user, function))

    def _request(self, system: str, user: str, function: Function | None) -> Request:
        messages = [Message("system", system)] if system else []
        return Request(
            role=self.role,
            model=self.model,
            messages=[*messages, Message("user", user)],
            function=function,
            step=self.step,
            source=self.source,
            response_id=self.response_id,
        )

    def failed(self, reply: Reply, lacks: str) -> None:
        """Record a failure: a reply without what was asked for (`lacks`)."""
        finish = reply.choice.finish_reason or "none"
        message = reply.error or f"the reply lacks {lacks} (finish_reason {finish})"
        key = self.response_id or ""
        self.failures.append(
            Failure(self.step, key, reply.reason, message, storable(reply.raw[:_SHOWN]) or None)
        )


class Askers:
    """Creates an `Asker` for each step of each response; gets the client at the first of them."""

    def __init__(
        self, settings: LlmSettings, prompts: Prompts, client_factory: Callable[[], Client]
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._client_factory = client_factory
        self._client: Client | None = None

    def asker(
        self, role: str, step: str, response_id: str | None = None, source: str | None = None
    ) -> Asker:
        """Return an `Asker` for the model of `role` and one step of one response."""
        if self._client is None:
            self._client = self._client_factory()
        model = self._settings.model
        if role == EXTRACTOR:
            model = self._settings.extractor_model or model
        return Asker(self._client, self._prompts, role, model, step, response_id, source)


async def together(coroutines: Iterable[Awaitable[T]]) -> list[T]:
    """Run coroutines concurrently; return their results in order.

    The first error cancels the others, waits for their end, and is raised.
    """
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
