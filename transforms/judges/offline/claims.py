"""A sentence split into the claims it makes, where that is safe; otherwise the sentence itself.

Rules over words, no parser: each knows one construction and applies only where nothing else could
be meant. No name and no number is lost: what a rule takes apart goes into one of its claims. What
counts as one claim follows the atomic facts that people wrote for FActScore (Min et al., 2023),
less the splits that only a reader who understands the sentence could make.
"""

import re
from typing import Final

from transforms.judges.offline.asides import (
    EVENTS,
    bracket,
    date_and_place,
    inserted,
    occupations,
    opening_participle,
    predicate_noun,
    trailing_relative,
)
from transforms.judges.offline.clause import OPENING_PARTICIPLES, REDUCED, Words, first_verb, parse
from transforms.judges.offline.coordination import predicates, second_clause
from transforms.judges.offline.grammar import CLAUSE_OPENERS, core, lower
from transforms.judges.offline.wording import wording

# Stands for a comma or a bracket, which the bare words do not have.
_DIVIDED: Final = ","
_ANDS: Final = frozenset({"and", "but"})
_RELATIVES: Final = frozenset({"who", "which"})
# Each rule with the words of which it needs one, in the order in which they are tried.
_RULES: Final = (
    (bracket, frozenset({_DIVIDED})),
    (opening_participle, OPENING_PARTICIPLES),
    (inserted, frozenset({_DIVIDED})),
    (second_clause, _ANDS | {"while", "whereas"}),
    (predicates, _ANDS),
    (trailing_relative, _RELATIVES),
    (predicate_noun, _RELATIVES | REDUCED | {"that", "best", "widely", "well"}),
    (occupations, _ANDS),
    (date_and_place, EVENTS),
)
_SIGNS: Final = frozenset().union(*(signs for _, signs in _RULES))

# Longer than this is no sentence that these rules were made for.
_MAX_WORDS: Final = 90
_MAX_DEPTH: Final = 8
_MIN_WORDS: Final = 5
_PAIRED: Final = re.compile(r"[\"(\[“«]")
_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))


def claims_of(sentence: str) -> list[str]:
    """The claims of one (resolved) sentence, in its order; empty only where it says nothing at all.

    List markers, Markdown emphasis, citations and discourse words are taken off.
    """
    words = wording(sentence).words
    text = " ".join(words)
    if len(words) > _MAX_WORDS:
        return [text]
    divided = "," in text or "(" in text
    pieces = [claim for clause in _clauses(text, words) for claim in _split(clause, divided, 0)]
    if len(pieces) < 2 or (_PAIRED.search(text) and not all(_is_whole(piece) for piece in pieces)):
        return [text] if any(char.isalnum() for char in text) else []
    return list(dict.fromkeys(_written(piece) for piece in pieces))


def _clauses(text: str, words: Words) -> list[Words]:
    """Cut at semicolons where each side has a verb of its own."""
    if ";" not in text:
        return [words]
    cuts = [at for at, word in enumerate(words) if word[-1] == ";"]
    edges = [0, *(at + 1 for at in cuts), len(words)]
    clauses = [words[a:b] for a, b in zip(edges, edges[1:], strict=False) if b > a]
    for index, clause in enumerate(clauses):
        if first_verb(clause, lower(clause), 0) < 1 or (
            index and core(clause[0]) in CLAUSE_OPENERS
        ):
            return [words]
    return [wording(" ".join(clause)).words for clause in clauses]


def _split(words: Words, divided: bool, depth: int) -> list[Words]:
    """The claims of one clause: the first rule that applies, then the same for what it gives.

    `divided` says that the sentence has a comma or a bracket.
    """
    if depth == _MAX_DEPTH or len(words) < _MIN_WORDS:
        return [words]
    lows = lower(words)
    signs = _SIGNS.intersection(lows)
    if divided:
        signs |= {_DIVIDED}
    if not signs:
        return [words]
    clause = parse(words, lows)
    if clause is not None:
        for rule, needed in _RULES:
            if not needed.isdisjoint(signs):
                parts = rule(clause)
                if parts:
                    # What stands between commas or brackets was cut out first, but for two in a row.
                    again = rule is bracket or rule is opening_participle
                    return [claim for part in parts for claim in _split(part, again, depth + 1)]
    return [words]


def _is_whole(words: Words) -> bool:
    """Quotation marks and brackets are closed in the piece that opened them."""
    text = " ".join(words)
    return text.count('"') % 2 == 0 and all(
        text.count(left) == text.count(right) for left, right in _PAIRS
    )


def _written(words: Words) -> str:
    text = " ".join(words).strip(" ,;:—–-")
    if text[-1] not in ".!?…" and text[-2:] not in ('."', ".”", ".'", ".)"):
        text += "."
    return text[0].upper() + text[1:] if text[:2].islower() else text
