"""Ask a model for items: the requests, repeats and splits of all steps.

Items are the sentences of a text, the facts of a call, or the claims that lack a query. A `Form`
converts items to a question, and a reply to values of the items. `ask_for_items` sends the
questions, repeats them for items that the replies lack, halves calls that do not fit the model, and
records failures.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from math import inf
from typing import Final, Generic, TypeVar

from ufo.schemas import records
from ufo.schemas.text import quantity, storable
from ufo.transforms.concurrently import together
from ufo.transforms.judges.llm.parsing import reason_of
from ufo.transforms.llm.request import (
    BROKEN_OFF,
    WHOLE,
    Choice,
    Client,
    Function,
    LlmError,
    Message,
    Request,
)
from ufo.transforms.llm.tokens import count
from ufo.transforms.prompts import Prompts

T = TypeVar("T")
Item = TypeVar("Item", bound=Hashable)
Value = TypeVar("Value")

SHORT_REPLY: Final = 40  # tokens of a few words
_SLACK: Final = 256  # tokens of the limit beyond twice the expected length
_SHOWN: Final = 4096  # characters of a reply in the tables
_OF_CAP: Final = 0.8  # share of the longest allowed reply that is planned to be used
_LARGE: Final = 1000  # tokens of a prompt: an unknown refusal may be about its size
_WITHHELD: Final = (records.REFUSED, records.FILTERED)
_TROUBLE: Final = {
    records.TRUNCATED: "it was cut off before its end; be brief",
    **dict.fromkeys(_WITHHELD, "it was a refusal or was stopped by a filter"),
}
_THOUGHT: Final = (
    "the reply is only in its field for reasoning, so there is no answer: set the server's "
    "reasoning parser to the one of this model, or turn it off (vLLM and SGLang: "
    "--reasoning-parser; llama.cpp: --reasoning-format; LM Studio: the model's reasoning "
    "settings), or take a model without thoughts"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model; `expects` estimates the tokens of the reply.

    An empty `system` sends no system message. `logprobs` asks for the reply's log-probability.
    `turns` are sent in place of the user's message.
    """

    system: str
    user: str
    function: Function | None = None
    expects: int = SHORT_REPLY
    logprobs: bool = False
    turns: Sequence[Message] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the model, or the error in its place.

    `reason` (one of records.REASONS) says why items may be missing from it. `error` is the message
    where no reply was received. `too_long` says that request and reply did not fit into the model's
    context. `unexplained` says that the endpoint refused with an unknown message.
    """

    choice: Choice
    reason: str
    request_id: str | None = None
    error: str = ""
    too_long: bool = False
    unexplained: bool = False

    @property
    def text(self) -> str:
        """The text for a table: the refusal, the arguments, the text or the thoughts."""
        choice = self.choice
        text = choice.refusal or choice.arguments or choice.text or choice.thought
        return storable(text)[:_SHOWN]

    @property
    def raw(self) -> str | None:
        """The text or the error, after the reason why it broke off if so: "(max_tokens) It sa"."""
        shown = self.text or self.error
        if self.choice.ending == BROKEN_OFF and not self.error:
            shown = f"({storable(self.choice.finish_reason) or 'no finish reason'}) {shown}".strip()
        return shown[:_SHOWN] or None

    @property
    def final(self) -> bool:
        """Whether the request should not be repeated.

        Transport errors and thoughts without an answer were repeated already, and a request that is
        too long stays too long.
        """
        lost = self.reason == records.TRANSPORT or (self.too_long and self.error)
        return bool(lost or self.choice.thought)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Item, Value]):
    """The values in a reply, by item.

    Values of `poor` items are usable but incomplete: they are requested once more, and kept if the
    next reply is no better. `rejected` has texts found in place of a value, for the table
    `failures`. `wrong` tells the model what was wrong with the reply.
    """

    values: Mapping[Item, Value]
    wrong: str = ""
    poor: Collection[Item] = ()
    rejected: Mapping[Item, Sequence[str]] = field(default_factory=dict)

    def lacking(self, items: Iterable[Item]) -> list[Item]:
        """Return the items that have no value, or a poor one."""
        return [item for item in items if item not in self.values or item in self.poor]


@dataclass(frozen=True, slots=True)
class AskedValue(Generic[Value]):
    """The value of an item, or None where no reply had one, and the reply that it is from.

    `first_reason` says why the first reply had no value, even if a later reply had one.
    """

    value: Value | None
    reply: Reply
    first_reason: str | None = None


def split_calls(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Divide items into calls of at most `size` items."""
    return [[*items[at : at + size]] for at in range(0, len(items), size)]


def half(items: Sequence[Item]) -> int:
    """Return the size of a half of the items, rounded up."""
    return (len(items) + 1) // 2


@dataclass(frozen=True, slots=True)
class Form(Generic[Item, Value]):
    """A way to ask for items, and to read their values from a reply.

    `question` takes the items and what was wrong with an earlier reply, "" for none. `parse` takes
    a reply and the items; it never raises. `pack` returns the items of each call. `lacks` takes the
    items without a value, none where some are poor, and returns a text for `failures`, "" for no
    failure. After a reply without any usable value, at most `few` items are requested at once, None
    for as many as before: a weak model does better with fewer.
    """

    question: Callable[[Sequence[Item], str], Question]
    parse: Callable[[Choice, Sequence[Item]], Parsed[Item, Value]]
    pack: Callable[[Sequence[Item]], list[list[Item]]] = lambda items: [[*items]]
    lacks: Callable[[Sequence[Item]], str] = lambda lost: (
        quantity(len(lost), "judgement") if lost else ""
    )
    few: int | None = None


@dataclass(slots=True)
class Asker:
    """Sends the requests of one step of one response, and collects usage rows and failures.

    `of` is a request without messages, with the role, model, step and response. `repairs` is how
    many times missing items are requested again.
    """

    client: Client
    prompts: Prompts
    of: Request
    repairs: int = 1
    usage: list[records.Usage] = field(default_factory=list)
    failures: list[records.Failure] = field(default_factory=list)

    def request(
        self, question: Question, wrong: str = "", keep: Callable[[Choice], bool] | None = None
    ) -> Request:
        """Return the request for a question.

        `wrong` says what was wrong with an earlier reply and makes the request a repair. `keep`
        returns whether a choice may be cached.
        """
        user = question.user
        if wrong:
            user = f"{user}\n{self.prompts.render('repair', wrong=wrong)}"
        messages = [Message("system", question.system)] if question.system else []
        return replace(
            self.of,
            messages=[*messages, *(question.turns or [Message("user", storable(user))])],
            function=question.function,
            expects=question.expects,
            max_tokens=2 * question.expects + _SLACK,
            logprobs=question.logprobs,
            keep=keep,
        )

    async def ask(self, question: Question, keep: Callable[[Choice], bool] | None = None) -> Reply:
        """Ask one question and return the reply; raises what `send` raises."""
        return await self.send(self.request(question, keep=keep))

    async def send(self, request: Request) -> Reply:
        """Send one request and return the reply.

        Raises:
            LlmError: a final one; other errors are returned as a reply with `error` and `reason`.
        """
        try:
            completion = await self.client.complete(request)
        except LlmError as error:
            self.usage += error.usage
            if error.final:
                raise replace(error, usage=self.usage) from error
            sent = error.usage[-1].request_id if error.usage else None
            message, too_long = storable(error.message), error.reason == records.TRUNCATED
            return Reply(Choice(), error.reason, sent, message, too_long, error.unexplained)
        self.usage += completion.usage
        sent = completion.request_id
        if not completion.choices:
            return Reply(Choice(), records.UNPARSABLE, sent, "the reply has no choice")
        choice = completion.choices[0]
        reason = reason_of(choice, request.function is not None)
        cut_off = reason == records.TRUNCATED and not choice.thought
        too_long = cut_off and self._allowed(request) < (request.max_tokens or 0)
        return Reply(choice, reason, sent, too_long=too_long)

    def room(self, question: Question) -> int | None:
        """Estimate the tokens of the context that the prompt leaves free, None if unknown."""
        return self.client.room(self.request(question))

    def holds(self, request: Request) -> bool:
        """Return whether the expected reply fits, as far as the endpoint's limits are known."""
        return request.expects <= self._allowed(request, _OF_CAP)

    def _allowed(self, request: Request, of_cap: float = 1) -> float:
        """Return the most tokens of a reply to this request, infinite where that is unknown."""
        room, cap = self.client.room(request), self.client.cap(request)
        return min(inf if room is None else room, inf if cap is None else of_cap * cap)

    def record_failure(self, reply: Reply, lacks: str) -> None:
        """Record that a reply lacks requested items, which the text `lacks` names."""
        finish = reply.choice.finish_reason or "none"
        message = reply.error or f"the reply lacks {lacks} (finish_reason {storable(finish)})"
        if reply.choice.thought:
            message = _THOUGHT
        key, text = self.of.response_id or "", reply.text or None
        self.failures.append(records.Failure(self.of.step, key, reply.reason, message, text))


async def ask_for_items(
    items: Sequence[Item], form: Form[Item, Value], asker: Asker
) -> dict[Item, AskedValue[Value]]:
    """Return the answer for each item; those without a value are recorded as failures.

    Items without a value are requested again up to `asker.repairs` times, in calls that the form
    packs anew. After a reply that was cut off or withheld, the call is halved instead: an item that
    a filter stops must not cost the others.
    """
    answers: dict[Item, AskedValue[Value]] = {}
    calls, wrong = (form.pack(items) if items else []), ""
    for left in reversed(range(asker.repairs + 1)):
        wrongs: dict[str, None] = {}
        lacking: list[Item] = []
        smaller: list[list[Item]] = []
        replies = await together(_ask_call(call, form, asker, wrong, bool(left)) for call in calls)
        for asked, reply, parsed in chain.from_iterable(replies):
            again = parsed.lacking(asked)
            final = not left or reply.final
            for item in asked:
                answers[item] = _better(answers.get(item), item, parsed, reply)
                for text in parsed.rejected.get(item, ()) if final or item not in again else ():
                    asker.record_failure(reply, text)
            if again and final:
                lost = [item for item in again if item not in parsed.values]
                if lacks := form.lacks(lost):
                    asker.record_failure(reply, lacks)
            elif again:
                wrongs[_TROUBLE.get(reply.reason, parsed.wrong)] = None
                if form.few and not parsed.values and reply.reason not in _WITHHELD:
                    smaller += split_calls(again, form.few)
                elif reply.reason in _TROUBLE:
                    smaller += split_calls(again, half(asked))
                else:
                    lacking += again
        packed = form.pack(lacking) if lacking else []
        calls, wrong = [*packed, *smaller], "; ".join(wrongs)
    return answers


async def _ask_call(
    items: Sequence[Item],
    form: Form[Item, Value],
    asker: Asker,
    wrong: str,
    repaired: bool,
    whole: bool = True,
) -> list[tuple[Sequence[Item], Reply, Parsed[Item, Value]]]:
    """Send a call, split where it does not fit; return the items of each request and its reply.

    A large call that is refused with an unknown message is halved once (`whole`). `repaired` says
    that missing items will be requested again: an incomplete reply may then be cached.
    """
    question = form.question(items, wrong)

    @cache
    def parse(choice: Choice) -> "Parsed[Item, Value]":  # a text: not evaluated for each call
        return form.parse(choice, items)

    def keep(choice: Choice) -> bool:
        missing = len(parse(choice).lacking(items))
        some = choice.ending == WHOLE and missing < len(items)
        return not missing or (some and repaired)

    request = asker.request(question, wrong, keep)
    pieces, answered = split_calls(items, half(items)), []
    if len(items) == 1 or asker.holds(request):
        reply = await asker.send(request)
        parsed = parse(reply.choice)
        lost = [item for item in items if item not in parsed.values]
        prompt = count(question.system) + count(question.user)
        unknown = reply.unexplained and whole and prompt > _LARGE
        if len(items) == 1 or not lost or not (reply.too_long or unknown):
            return [(items, reply, parsed)]
        whole = whole and not unknown
        pieces = form.pack(lost)  # with the limits known by now
        pieces = pieces if len(pieces) > 1 else split_calls(lost, half(lost))
        settled = [item for item in items if item in parsed.values]
        answered = [(settled, reply, parsed)]
    calls = [_ask_call(piece, form, asker, wrong, repaired, whole) for piece in pieces]
    return [*answered, *chain.from_iterable(await together(calls))]


def _better(
    earlier: AskedValue[Value] | None, item: Item, parsed: Parsed[Item, Value], reply: Reply
) -> AskedValue[Value]:
    """Return the earlier answer, unless it had no value or the reply has a better one."""
    value = parsed.values.get(item)
    if earlier is None:
        return AskedValue(value, reply, reply.reason if item not in parsed.values else None)
    if earlier.value is not None and parsed.lacking([item]):
        return earlier
    return AskedValue(value, reply, earlier.first_reason)
