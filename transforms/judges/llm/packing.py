"""Pack facts and passages into few calls, deterministically.

A call contains each passage once, so a fact is added to the call that already has most of its
passages. This greedy algorithm is not always optimal (bin packing is NP-hard), but it is where
facts share no passages or all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

Pair = tuple[int, int]
"""(index of the fact, index of the passage)."""

_FACT_TOKENS: Final = 20  # of a fact's tags and of its argument


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call: passages, facts, and estimated tokens of facts, passages and reply.

    `reply` is the estimate of one judgement in the reply.
    """

    passages: int
    facts: int
    tokens: float
    reply: int = 40


@dataclass(slots=True)
class _PackedCall:
    facts: dict[int, list[int]] = field(default_factory=dict)
    passages: set[int] = field(default_factory=set)
    tokens: int = 0


def by_fact(pairs: Iterable[Pair]) -> dict[int, list[int]]:
    """Return the passages of each fact, in the order of the pairs."""
    passages: dict[int, list[int]] = {}
    for fact, passage in pairs:
        passages.setdefault(fact, []).append(passage)
    return passages


def pack(
    pairs: Sequence[Pair],
    limits: CallLimits,
    fact_tokens: Callable[[int], int],
    passage_tokens: Callable[[int], int],
) -> list[list[Pair]]:
    """Return the pairs of each call.

    A fact with more passages than a call may contain is split over several calls; a passage that
    exceeds the limit alone gets its own call.
    """
    calls: list[_PackedCall] = []
    of_fact, of_passage = cache(fact_tokens), cache(passage_tokens)

    def added(call: _PackedCall, fact: int, piece: Sequence[int]) -> int:
        """Return the tokens that a call would have with these passages of a fact."""
        statement = 0 if fact in call.facts else of_fact(fact) + _FACT_TOKENS
        passages = sum(of_passage(one) for one in piece if one not in call.passages)
        return call.tokens + statement + passages + limits.reply * len(piece)

    def fits(call: _PackedCall, fact: int, piece: Sequence[int]) -> bool:
        return (
            len(call.passages.union(piece)) <= limits.passages
            and len(call.facts) + (fact not in call.facts) <= limits.facts
            and added(call, fact, piece) <= limits.tokens
        )

    for fact, passages in by_fact(sorted({*pairs})).items():
        pieces: list[list[int]] = []
        for passage in passages:
            if pieces and fits(_PackedCall(), fact, [*pieces[-1], passage]):
                pieces[-1].append(passage)
            else:
                pieces.append([passage])
        for piece in pieces:
            fitting = [call for call in calls if fits(call, fact, piece)]
            if not fitting:
                calls.append(_PackedCall())
            best = max(fitting or calls[-1:], key=lambda call: len(call.passages & {*piece}))
            best.tokens = added(best, fact, piece)
            best.passages.update(piece)
            best.facts.setdefault(fact, []).extend(piece)
    return [[(fact, one) for fact in call.facts for one in call.facts[fact]] for call in calls]
