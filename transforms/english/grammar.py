"""Classify English words: prepositions, adverbs, names, finite verbs.

A sentence is handled as its whitespace-separated words, punctuation still attached, so that what
is put together from them reads as it did.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from ufo.transforms.english.verbs import AUXILIARIES, LISTS, THIRD, is_past
from ufo.transforms.english.word_set import word_set

T = TypeVar("T")

_MAX_REMEMBERED: Final = 1 << 16
_MAX_WORD: Final = 40
_OUTER: Final = " \t\r\n.,;:!?\"'“”‘’«»()[]{}*_`…"

SUBJECT_PRONOUNS: Final = word_set("he she it they we i you this these that those")
POSSESSIVES: Final = word_set("his her its their")
_ARTICLES: Final = POSSESSIVES | {"the", "a", "an"}
_NUMBERS: Final = word_set("two three four five six seven eight nine ten")
DETERMINERS: Final = _ARTICLES | _NUMBERS | LISTS.words("determiners")
PREPOSITIONS: Final = LISTS.words("prepositions")
# What opens a clause of its own: a later verb may then not belong to the first subject.
CLAUSE_OPENERS: Final = LISTS.words("clause_openers")
ADVERBS: Final = LISTS.words("adverbs")
STOP_WORDS: Final = (
    (DETERMINERS - _NUMBERS - {"many", "several", "numerous", "various"})
    | (PREPOSITIONS - {"without", "against", "behind", "inside", "outside"})
    | CLAUSE_OPENERS | AUXILIARIES | SUBJECT_PRONOUNS
    | LISTS.words("stop_words")
)  # fmt: skip
_OCCUPATIONS: Final = LISTS.words("occupations")
_OCCUPATION_ENDINGS: Final = ("ist", "ian", "er", "or", "man", "woman", "person", "ress")


class Memo(dict[str, T]):
    """A function of a word, computed once a word: a text has few distinct ones. Bounded."""

    def __init__(self, function: Callable[[str], T]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> T:
        value = self._function(word)
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        if len(word) <= _MAX_WORD:
            self[word] = value
        return value


def _is_finite(word: str) -> bool:
    low = core(word)
    return word[:1].islower() and (low in AUXILIARIES or low in THIRD or is_past(low))


# Bound look-ups rather than functions around them: they are called for every word.
core: Final = Memo(lambda word: word.strip(_OUTER).lower()).__getitem__
"""The word without the punctuation around it, lower case."""
is_capital: Final = Memo(lambda word: word.lstrip(_OUTER)[:1].isupper()).__getitem__
"""Whether the word opens with a capital, punctuation aside."""
is_finite: Final = Memo(_is_finite).__getitem__
"""Whether the word can be the verb of a clause: its form is known, and it is not a name."""


def is_person(low: str) -> bool:
    """Return whether a lower-case noun looks like an occupation: "physicist", "poet", "writer"."""
    return low in _OCCUPATIONS or low.endswith(_OCCUPATION_ENDINGS)


def is_noun(word: str) -> bool:
    """Return whether the word may be a noun: in lower case and not known as anything else."""
    low = core(word)
    known = low in STOP_WORDS or low in PREPOSITIONS or low in ADVERBS or is_finite(word)
    return word[0].islower() and not known


def without_adverbs(lows: Sequence[str], start: int, end: int) -> int:
    """Return the end of the subject from `start` before the verb at `end`, without adverbs between
    them ("Ada later moved"); "the first moved" has none."""
    while end > start and lows[end - 1] in ADVERBS and lows[max(start, end - 2)] not in _ARTICLES:
        end -= 1
    return end


def lower(words: Sequence[str]) -> list[str]:
    """Return the words, each as `core` has it."""
    return list(map(core, words))
