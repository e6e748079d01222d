"""Pack facts and passages into few calls, deterministically.

A call contains each passage once, so a fact is added to the call that already has most of its
passages. This greedy algorithm is not always optimal (bin packing is NP-hard), but it is where
facts share no passages or all of them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ufo.schemas.functions import CITATION, RATIONALE

_CHARACTERS_PER_TOKEN = 4
_REPLY_TOKENS = 40  # of one judgement with its answer and rationale
_CITATION_TOKENS = 30
_VERDICT_TOKENS = 12
_FACT_TOKENS = 20  # of a fact's tags and of its argument


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call: passages, facts, and estimated tokens of facts, passages and reply.

    `reply` is the estimate of one judgement in the reply.
    """

    passages: int
    facts: int
    tokens: int
    reply: int = _REPLY_TOKENS

    def within(self, room: int | None) -> "Limits":
        """Return the limits with at most `room` tokens; None changes nothing."""
        return self if room is None else replace(self, tokens=max(1, min(self.tokens, room)))

    def below(self, call: "Packed") -> "Limits":
        """Return the limits for repeating a call that was too large: half of its facts, or half of
        its passages where it had one fact."""
        facts, passages = len(call.facts), len(call.passages)
        if facts > 1:
            return replace(self, facts=(facts + 1) // 2)
        return replace(self, passages=max(1, (passages + 1) // 2))


@dataclass(slots=True)
class Packed:
    """One call: the passages of each fact, both as the caller's indexes, in order."""

    facts: dict[int, list[int]] = field(default_factory=dict)
    passages: dict[int, None] = field(default_factory=dict)
    tokens: int = 0

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The (fact, passage) pairs of the call, in order."""
        return [(fact, passage) for fact, found in self.facts.items() for passage in found]

    def without(self, pairs: Collection[tuple[int, int]]) -> "Packed":
        """Return the call without these (fact, passage) pairs."""
        return Packed(by_fact(pair for pair in self.pairs if pair not in pairs), self.passages)


def by_fact(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the passages of each fact, both sorted."""
    passages: dict[int, list[int]] = {}
    for fact, passage in sorted(pairs):
        passages.setdefault(fact, []).append(passage)
    return passages


def reply_tokens(fields: Collection[str]) -> int:
    """Estimate the tokens of a judgement with these fields."""
    grounds = _REPLY_TOKENS if RATIONALE in fields else _VERDICT_TOKENS
    return grounds + (_CITATION_TOKENS if CITATION in fields else 0)


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text by four bytes of UTF-8 each, too many for non-Latin scripts."""
    return len(text.encode("utf-8", "surrogatepass")) // _CHARACTERS_PER_TOKEN + 1


def pack(
    wanted: Mapping[int, Sequence[int]],
    fact_tokens: Mapping[int, int],
    passage_tokens: Mapping[int, int],
    limits: Limits,
) -> list[Packed]:
    """Return calls that contain every (fact, passage) pair of `wanted` exactly once.

    A fact with more passages than a call may contain is split over several calls; a passage that
    exceeds the limit alone gets its own call.
    """
    calls: list[Packed] = []

    def new_in(call: Packed, piece: Sequence[int]) -> list[int]:
        return [passage for passage in piece if passage not in call.passages]

    def added_tokens(call: Packed, fact: int, piece: Sequence[int]) -> int:
        statement = 0 if fact in call.facts else fact_tokens[fact] + _FACT_TOKENS
        passages = sum(passage_tokens[passage] for passage in new_in(call, piece))
        return statement + passages + limits.reply * len(piece)

    def fits(call: Packed, fact: int, piece: Sequence[int]) -> bool:
        return (
            len(call.passages) + len(new_in(call, piece)) <= limits.passages
            and len(call.facts) + (fact not in call.facts) <= limits.facts
            and call.tokens + added_tokens(call, fact, piece) <= limits.tokens
        )

    for fact, passages in wanted.items():
        for piece in _pieces(fact_tokens[fact], passages, passage_tokens, limits):
            fitting = [call for call in calls if fits(call, fact, piece)]
            if fitting:
                best = min(fitting, key=lambda call: len(new_in(call, piece)))
            else:
                best = Packed()
                calls.append(best)
            best.tokens += added_tokens(best, fact, piece)
            best.passages.update(dict.fromkeys(new_in(best, piece)))
            best.facts.setdefault(fact, []).extend(piece)
    return calls


def _pieces(
    fact_tokens: int, passages: Sequence[int], passage_tokens: Mapping[int, int], limits: Limits
) -> list[list[int]]:
    """Split the passages of one fact where they do not fit into one call."""
    pieces: list[list[int]] = []
    tokens = 0
    for passage in dict.fromkeys(passages):
        cost = passage_tokens[passage] + limits.reply
        if pieces and len(pieces[-1]) < limits.passages and tokens + cost <= limits.tokens:
            pieces[-1].append(passage)
            tokens += cost
        else:
            pieces.append([passage])
            tokens = _FACT_TOKENS + fact_tokens + cost
    return pieces
