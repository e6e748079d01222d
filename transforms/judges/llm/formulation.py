"""Define what all formulations of verification share: case, finding, protocol, repairs."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from schemas.functions import FALSE, NOANS, NOT_CLEAR, TFN, TRUE
from schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    REFUTED,
    SUPPORTED,
    TRANSPORT,
    TRUNCATED,
    UNPARSABLE,
    FactUnit,
    OpenUnits,
    Passage,
)
from schemas.records import NOANS as NOANS_OUTCOME
from transforms.judges.llm.asking import SHORT_REPLY, Asker, Reply, together
from transforms.judges.llm.parsing import reason_of, wrong_word
from transforms.llm.base import Choice
from transforms.prompts import Prompts
from transforms.prompts.data import block

T = TypeVar("T")

VERDICT_WORDS = 8  # tokens of a reply of one verdict
_OUTCOMES = {TRUE: SUPPORTED, FALSE: REFUTED, NOT_CLEAR: NOANS_OUTCOME}

Pair = tuple[int, int]
"""(index of the unit, index of the passage) in a case."""


@dataclass(frozen=True, slots=True)
class Case:
    """The open units of one response against one source.

    `passages` are distinct by what a model sees of them; `wanted` says which of them each unit is
    to be checked against, both by index.
    """

    open_units: OpenUnits
    passages: Sequence[Passage]
    wanted: Mapping[int, Sequence[int]]

    @property
    def units(self) -> Sequence[FactUnit]:
        """The open units."""
        return self.open_units.units

    def sentence(self, unit: int) -> str:
        """Return the sentence of the response that a unit is from, empty where there is none."""
        offsets, at = self.open_units.sentence_spans, self.units[unit].sentence_index
        if at is None or 2 * at + 1 >= len(offsets):
            return ""
        return self.open_units.text[offsets[2 * at] : offsets[2 * at + 1]]

    @property
    def pairs(self) -> list[Pair]:
        """Every (unit, passage) to be judged, in order."""
        return [(unit, passage) for unit, found in self.wanted.items() for passage in found]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one passage says to one unit, or why nobody knows: the columns of `evidence`.

    `first_reason` is why the first reply had no usable judgement, whatever a repair then brought.
    """

    outcome: str
    reason: str | None = None
    answer: str | None = None
    rationale: str | None = None
    citation: str | None = None
    raw_verdict: str | None = None
    request_id: str | None = None
    first_reason: str | None = None


class Formulation(Protocol):
    """A way of putting the question; one file each."""

    @property
    def names(self) -> Sequence[str]:
        """The prompts that its judgements depend on."""
        ...

    async def judge(self, case: Case, asker: Asker) -> Mapping[Pair, Finding]:
        """Return a finding for every pair of the case; what cannot be judged is an error."""
        ...


def outcome_of(verdict: str) -> str:
    """Return the outcome that a verdict (T, F, N) stands for."""
    return _OUTCOMES[verdict]


def no_answer(reply: Reply) -> Finding:
    """Return the finding where the model answered NOANS."""
    return Finding(
        NOANS_OUTCOME,
        raw_verdict=NOANS,
        request_id=reply.request_id,
        first_reason=reply.first_reason,
    )


def unknown(reply: Reply) -> Finding:
    """Return the finding where the reply had no usable judgement."""
    first = reply.first_reason or reply.reason
    return Finding(ERROR, reply.reason, request_id=reply.request_id, first_reason=first)


def worth_keeping(settled: int, of: int, again: bool, repairs: int) -> bool:
    """Tell whether a reply that settles so many of the things asked for is kept: one that leaves
    some out only where another request asks for them, or they would be left out for ever."""
    return settled == of or (settled > 0 and repairs > 0 and not again)


def worth_repairing(reply: Reply) -> bool:
    """Tell whether asking once more can help; a request that did not get through was retried, and
    one that is too long is no shorter the second time."""
    return reply.reason != TRANSPORT and not (reply.too_long and reply.error)


def trouble(reply: Reply, otherwise: str) -> str:
    """Return what was wrong with a reply, in words for the model that is asked once more."""
    if reply.reason == TRUNCATED:
        return "it was cut off before its end; be brief"
    if reply.reason in (REFUSED, FILTERED):
        return "it was a refusal or was stopped by a filter"
    return otherwise


def repeats(query: str, claim: str) -> bool:
    """Tell whether a query says no more than the claim that it is to settle."""
    return query.strip(" .?").casefold() == claim.strip(" .?").casefold()


def passage_block(passage: Passage) -> str:
    """Return a passage that is asked about alone."""
    return block("passage", passage.text, title=passage.title)


async def ask_until(
    asker: Asker,
    system: str,
    user: str,
    read: Callable[[str], T | None],
    lacks: str,
    repairs: int,
    expects: int = SHORT_REPLY,
    why: Callable[[str], str] = lambda _: "it was empty",
) -> tuple[Reply, T | None]:
    """Ask for a text, once more where `read` finds nothing in it; record that it stayed so.

    `why` says of a text what is wrong with it.

    A reply that was withheld or cut off is not read: what it would have ended in is unknown.
    """

    def keep(choice: Choice) -> bool:
        return reason_of(choice) == UNPARSABLE and read(choice.text) is not None

    reply = await asker.ask(system, user, keep=keep, expects=expects)
    for attempt in range(repairs + 1):
        found = read(reply.choice.text) if reply.reason == UNPARSABLE and not reply.error else None
        if found is not None:
            return reply, found
        if attempt == repairs or not worth_repairing(reply):
            break
        first = reply.reason
        wrong = trouble(reply, why(reply.choice.text))
        again = await asker.ask(system, user, wrong=wrong, keep=keep, expects=expects)
        reply = replace(again, first_reason=first)
    asker.failed(reply, lacks)
    return reply, None


async def one_by_one(
    case: Case, judge: Callable[[Pair], Coroutine[Any, Any, Finding]]
) -> dict[Pair, Finding]:
    """Return the findings of calls that each judge one pair."""
    pairs = case.pairs
    return dict(zip(pairs, await together(judge(pair) for pair in pairs), strict=True))


class OneCallAPair:
    """A formulation that asks about each pair in a call of its own, by the prompts of its name."""

    name = ""
    reply_tokens = VERDICT_WORDS
    wrong: Callable[[str, str], str] = staticmethod(wrong_word)

    def __init__(self, prompts: Prompts, options: str = TFN, repairs: int = 1) -> None:
        self._prompts = prompts
        self._options = options
        self._system = f"{self.name}_{options}_system"
        self._repairs = repairs

    @property
    def names(self) -> Sequence[str]:
        """The prompts that its judgements depend on."""
        return (self._system, f"{self.name}_user", "repair")

    async def judge(self, case: Case, asker: Asker) -> dict[Pair, Finding]:
        """Return a finding for every pair."""
        return await one_by_one(case, lambda pair: self.finding(case, pair, asker))

    async def finding(self, case: Case, pair: Pair, asker: Asker) -> Finding:
        """Return the finding of one pair."""
        raise NotImplementedError

    async def ask(
        self, asker: Asker, read: Callable[[str], T | None], **parts: str
    ) -> tuple[Reply, T | None]:
        """Ask with these parts of the user's message, and return the reply as it is read."""
        system = self._prompts[self._system]
        user = self._prompts.render(f"{self.name}_user", **parts)
        return await ask_until(
            asker,
            system,
            user,
            read,
            "a verdict",
            self._repairs,
            self.reply_tokens,
            lambda text: self.wrong(text, self._options),
        )
