"""Pack facts and passages into few calls, deterministically.

Passages are numbered once a call and shared by the facts that retrieved them, so a fact goes where
most of its passages are already. Placing each fact in turn is not always the least number of calls
(that is bin packing, which is NP-hard), but it is where facts share nothing or everything.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schemas.functions import CITATION, RATIONALE

_CHARACTERS_PER_TOKEN = 4
_REPLY_TOKENS = 40  # of one judgement with its answer and rationale
_CITATION_TOKENS = 30
_VERDICT_TOKENS = 12
_FACT_TOKENS = 20  # of a fact's tags and of its argument


@dataclass(frozen=True, slots=True)
class Limits:
    """What a call may hold; `tokens` is an estimate of its facts, its passages and its reply, each
    judgement of which has `reply` tokens."""

    passages: int
    facts: int
    tokens: int
    reply: int = _REPLY_TOKENS

    def within(self, room: int | None) -> "Limits":
        """Return the limits where there is room for so many tokens, None for no limit."""
        return self if room is None else replace(self, tokens=max(1, min(self.tokens, room)))

    def below(self, call: "Packed") -> "Limits":
        """Return the limits of a second try of a call that was too much, or had too much in it:
        half of its facts, or half of its passages where it had one fact."""
        facts, passages = len(call.facts), len(call.passages)
        if facts > 1:
            return replace(self, facts=(facts + 1) // 2)
        return replace(self, passages=max(1, (passages + 1) // 2))


@dataclass(slots=True)
class Packed:
    """One call: the passages of each fact, both as indexes of the caller's, in order."""

    facts: dict[int, list[int]] = field(default_factory=dict)
    passages: dict[int, None] = field(default_factory=dict)
    tokens: int = 0

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every (fact, passage) of the call, in order."""
        return [(fact, passage) for fact, found in self.facts.items() for passage in found]

    def without(self, pairs: Collection[tuple[int, int]]) -> "Packed":
        """Return the call without these (fact, passage)."""
        return Packed(by_fact(pair for pair in self.pairs if pair not in pairs), self.passages)


def by_fact(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the passages of each fact, both sorted."""
    found: dict[int, list[int]] = {}
    for fact, passage in sorted(pairs):
        found.setdefault(fact, []).append(passage)
    return found


def reply_tokens(fields: Collection[str]) -> int:
    """Return about how many tokens a judgement of these fields is."""
    grounds = _REPLY_TOKENS if RATIONALE in fields else _VERDICT_TOKENS
    return grounds + (_CITATION_TOKENS if CITATION in fields else 0)


def tokens_of(text: str) -> int:
    """Return about how many tokens a text is: four bytes of UTF-8 each, which errs on the upper
    side for scripts other than Latin."""
    return len(text.encode("utf-8", "surrogatepass")) // _CHARACTERS_PER_TOKEN + 1


def pack(
    wanted: Mapping[int, Sequence[int]],
    fact_tokens: Mapping[int, int],
    passage_tokens: Mapping[int, int],
    limits: Limits,
) -> list[Packed]:
    """Return calls that hold every (fact, passage) of `wanted` exactly once.

    A fact with more passages than a call may hold is spread over several; a passage that is over
    the limit alone is a call of its own.
    """
    calls: list[Packed] = []
    for fact, passages in wanted.items():
        for piece in _pieces(fact, passages, fact_tokens, passage_tokens, limits):
            best: Packed | None = None
            fewest = 0
            for call in calls:
                new = [passage for passage in piece if passage not in call.passages]
                added = _added(call, fact, piece, new, fact_tokens, passage_tokens, limits)
                if not _fits(call, fact, new, added, limits):
                    continue
                if best is None or len(new) < fewest:
                    best, fewest = call, len(new)
            if best is None:
                best = Packed()
                calls.append(best)
            new = [passage for passage in piece if passage not in best.passages]
            best.tokens += _added(best, fact, piece, new, fact_tokens, passage_tokens, limits)
            best.passages.update(dict.fromkeys(new))
            best.facts.setdefault(fact, []).extend(piece)
    return calls


def _pieces(
    fact: int,
    passages: Sequence[int],
    fact_tokens: Mapping[int, int],
    passage_tokens: Mapping[int, int],
    limits: Limits,
) -> list[list[int]]:
    """Cut the passages of one fact where they do not fit into one call."""
    pieces: list[list[int]] = []
    tokens = 0
    for passage in dict.fromkeys(passages):
        cost = passage_tokens[passage] + limits.reply
        if pieces and len(pieces[-1]) < limits.passages and tokens + cost <= limits.tokens:
            pieces[-1].append(passage)
            tokens += cost
        else:
            pieces.append([passage])
            tokens = _FACT_TOKENS + fact_tokens[fact] + cost
    return pieces


def _added(
    call: Packed,
    fact: int,
    piece: Sequence[int],
    new: Sequence[int],
    fact_tokens: Mapping[int, int],
    passage_tokens: Mapping[int, int],
    limits: Limits,
) -> int:
    statement = 0 if fact in call.facts else fact_tokens[fact] + _FACT_TOKENS
    return statement + sum(passage_tokens[passage] for passage in new) + limits.reply * len(piece)


def _fits(call: Packed, fact: int, new: Sequence[int], added: int, limits: Limits) -> bool:
    return (
        len(call.passages) + len(new) <= limits.passages
        and len(call.facts) + (fact not in call.facts) <= limits.facts
        and call.tokens + added <= limits.tokens
    )
