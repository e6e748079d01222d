"""The cases that a formulation judges, with its findings on them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ufo.schemas import records
from ufo.schemas.records import ERROR, NOANS, REFUTED
from ufo.transforms.judges.llm.asking import AskedValue, Asker
from ufo.transforms.judges.llm.excerpts import Text
from ufo.transforms.judges.llm.llm_settings import FUNCTION, SHORT, LlmSettings
from ufo.transforms.llm.usage import Paid

Pair = tuple[int, int]
"""(index of the unit, index of the passage)."""


@dataclass(frozen=True)
class Case:
    """The open units of one response, and the passages of one source to verify them against.

    `passages` have distinct titles and texts. `pairs` are to be judged, in order.
    """

    open_units: records.OpenUnits
    passages: Sequence[records.Passage]
    pairs: Sequence[Pair]

    @property
    def units(self) -> Sequence[records.FactUnit]:
        """The open units."""
        return self.open_units.units

    @cached_property
    def text(self) -> Text:
        """The response with its sentences."""
        return Text.of(self.open_units)


def by_fact(pairs: Iterable[Pair]) -> dict[int, list[int]]:
    """Return the passages of each fact, in the order of the pairs."""
    passages: dict[int, list[int]] = {}
    for fact, passage in pairs:
        passages.setdefault(fact, []).append(passage)
    return passages


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement on a unit by a passage, as columns of the table `evidence`.

    `reason` is set where `outcome` is an error. `first_reason` is the reason why the first reply
    had no usable judgement, even if a repair then had one. `paid` are the requests
    by which it was paid.
    """

    outcome: str
    reason: str | None = None
    answer: str | None = None
    rationale: str | None = None
    citation: str | None = None
    raw_verdict: str | None = None
    request_id: str | None = None
    first_reason: str | None = None
    probability: float | None = None
    paid: Sequence[Paid] = ()

    @classmethod
    def of(cls, answer: "AskedValue[Finding]") -> "Finding":
        """Return the finding of an answer with the columns of its request, else the error."""
        reply = answer.reply
        finding = answer.value or cls(ERROR, reply.reason, raw_verdict=reply.raw)
        return replace(finding, request_id=reply.request_id, first_reason=answer.first_reason)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table `evidence` by their names."""
        kept = [name for name in self.__slots__ if name not in ("first_reason", "paid")]
        return {name: getattr(self, name) for name in kept}

    def is_complete(self, settings: LlmSettings) -> bool:
        """Return whether the finding is usable, with a rationale where the settings ask for one.

        No rationale is needed where the passage does not answer: outcome `noans`, or, with labels
        `tf`, `refuted` without an answer.
        """
        asked = settings.formulation == FUNCTION and settings.explain == SHORT
        silent = self.outcome == NOANS or (self.outcome == REFUTED and self.answer is None)
        needed = asked and not settings.as_published and not silent
        return self.outcome != ERROR and (bool(self.rationale) or not needed)


@dataclass(frozen=True, slots=True)
class Formulation:
    """A way of asking a model for judgements.

    `names` are the prompts that its judgements depend on. `judge` returns a finding for every pair
    of a case, with outcome `error` where no reply had a usable judgement. `context` returns the
    part of the response that is sent with a unit of a case.
    """

    names: Sequence[str]
    judge: Callable[[Case, Asker], Awaitable[Mapping[Pair, Finding]]]
    context: Callable[[Case, int], str] = lambda case, unit: ""
