"""Parse a clause for the splitting rules: its words, its subject and its verb."""

from typing import Final, NamedTuple

from ufo.transforms.english.grammar import (
    CLAUSE_OPENERS,
    DETERMINERS,
    PREPOSITIONS,
    is_capital,
    is_finite,
    without_adverbs,
)
from ufo.transforms.english.verbs import AUXILIARIES, BE
from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction.names import name_length

Words = list[str]

# The participles that stand for a relative clause: "a city located in", "an actor known for".
REDUCED: Final = word_set(
    "born known located situated founded based released published directed written established"
    " built named called produced created developed composed designed launched recorded owned"
)
_OPENINGS: Final = PREPOSITIONS | REDUCED | {"raised", "educated", "later", "today"}
_MAX_SUBJECT: Final = 12
_MAX_OPENING: Final = 14
# Subjects that mean something else, or nothing, in front of another predicate.
_UNREPEATABLE: Final = word_set(
    "there it neither either both what not no nobody none one this that these those"
)


class Clause(NamedTuple):
    """`words[start:verb]` is the subject and `words[verb]` the finite verb; `lows` are the words
    bare and in lower case. `subject` is empty where it must not be repeated in another claim."""

    words: Words
    lows: Words
    start: int
    verb: int
    subject: Words


def parse(words: Words, lows: Words) -> Clause | None:
    """Find the subject and the verb of a clause; None where there are none."""
    start = subject_start(words, lows)
    verb = first_verb(words, lows, start)
    if verb < 0:
        return None
    return Clause(words, lows, start, verb, _subject(words, lows, start, verb))


def first_verb(words: Words, lows: Words, start: int) -> int:
    """Return the index of the first word after `start` that can be a clause's verb, else -1."""
    for at in range(start + 1, len(words)):
        if is_finite(words[at]) and (lows[at] in AUXILIARIES or lows[at - 1] not in DETERMINERS):
            return at
    return -1


def subject_start(words: Words, lows: Words) -> int:
    """Return the index after an opening such as "In 1905, at the age of 26, "."""
    if lows[0] not in _OPENINGS or lows[:2] == ["based", "on"]:
        return 0
    for at in range(min(len(words) - 1, _MAX_OPENING)):
        if at and is_finite(words[at]):
            return 0
        following = lows[at + 1]
        if words[at][-1] != "," or following in PREPOSITIONS or following[:1].isdigit():
            continue
        end = at + 1 + name_length(words, at + 1)
        apposition = lows[end : end + 1] in (["a"], ["an"], ["the"], ["who"], ["which"])
        if end > at + 1 and words[end - 1][-1] == "," and not apposition:
            continue  # "Germany," still belongs to "Born in Ulm, Germany, Einstein moved".
        return at + 1
    return 0


def _subject(words: Words, lows: Words, start: int, verb: int) -> Words:
    end = without_adverbs(lows, start, verb)
    repeatable = (
        0 < end - start <= _MAX_SUBJECT
        and words[end - 1][-1] not in ",;:"
        and lows[start] not in _UNREPEATABLE
        and not any(low in CLAUSE_OPENERS or low in BE for low in lows[start:end])
    )
    return words[start:end] if repeatable else []


def without_comma(words: Words) -> Words:
    """Return the words without a comma at their end."""
    last = words[-1].rstrip(",") if words else ""
    return [*words[:-1], last] if last else words[:-1]


def is_name(words: Words) -> bool:
    """Return whether the words are one capitalised name."""
    return bool(words) and is_capital(words[0]) and name_length(words) == len(words)


def is_a(clause: Clause) -> bool:
    """Return whether the clause says what its subject "is a" or "was an"."""
    lows, verb = clause.lows, clause.verb
    return lows[verb] in ("is", "was") and "".join(lows[verb + 1 : verb + 2]) in ("a", "an")
