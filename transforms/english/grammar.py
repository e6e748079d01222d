"""Recognise the kinds of English words in prose: verbs, prepositions, names, determiners.

Irregular verb forms are listed. A regular past is recognised by its "-ed", and its base form
follows from the spelling rules. The list of words in "-s" distinguishes verbs from plural nouns.
The lists are data (`grammar.toml`).

A sentence is a list of its whitespace-separated words with punctuation attached, so that joined
words read as in the original.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Final, TypeVar

T = TypeVar("T")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, separated by white space."""
    return frozenset(words.split())


class Lists:
    """The lists of a TOML file of a package by name: its `texts`, and the texts in its `tables`."""

    def __init__(self, package: str, name: str) -> None:
        text = (files(package) / name).read_text(encoding="utf-8")
        data: dict[str, Any] = tomllib.loads(text)
        self.texts: dict[str, str] = {k: v for k, v in data.items() if isinstance(v, str)}
        self.tables: dict[str, dict[str, str]] = {
            k: v for k, v in data.items() if not isinstance(v, str)
        }

    def words(self, name: str) -> frozenset[str]:
        """Return a list of words."""
        return word_set(self.texts[name])

    def phrases(self, name: str) -> str:
        """Return the regular expression of a list of alternatives; {name} includes another list."""
        alternatives = "|".join(self.texts[name].strip().split("\n"))
        return re.sub(r"{([a-z_]+)}", lambda part: f"(?:{self.phrases(part[1])})", alternatives)


LISTS: Final = Lists("ufo.transforms.english", "grammar.toml")

BE: Final = word_set("is are was were isn't aren't wasn't weren't")
HAVE: Final = word_set("has have had hasn't haven't hadn't")
_MODALS: Final = LISTS.words("modals")
AUXILIARIES: Final = BE | HAVE | _MODALS | word_set("do does did don't doesn't didn't")
PLURAL: Final = word_set("are were have do aren't weren't haven't don't")

# Third persons that are seldom plural nouns.
THIRD: Final = LISTS.words("third")
# Words that only look like past forms.
_NO_PAST: Final = word_set("hundred breed speed united need indeed talented renowned sacred naked")
_FORMS: Final = [tuple(forms.split()) for forms in LISTS.texts["irregular"].split("|")]
_BASES: Final = {past: base for base, past, _ in _FORMS}
_PASTS: Final = {base: past for base, past, _ in _FORMS}
BASES: Final = {
    form: base
    for base, *forms in _FORMS
    for form in forms
    if form not in LISTS.words("other_words")
}
"""The base form of each irregular past or participle that is seldom another word."""
PAST: Final = frozenset(_BASES)
PARTICIPLES: Final = frozenset(participle for _, _, participle in _FORMS)
PARTICIPLE_ONLY: Final = PARTICIPLES - PAST
PRESENT: Final = frozenset(_PASTS) | word_set("live need use want work include cause help form")
# Verbs without an object: after "was born in Ulm and" they cannot be passive.
INTRANSITIVE: Final = LISTS.words("intransitive")
# The endings of stems that lost an "e" before "-ed" ("moved", "created", not "visited").
_LOST_E: Final = re.compile(
    r"(?:[cgvz]|[^e]u|(?<!oc)(?<!s)s|creat|(?:^|[^aeo])(?:a[bdkmprt]|i[bdklmnprv])|(?:inv|c|un)it"
    r"|(?<![aeo])(?<!eb)u[dlmrt]|(?:^|[^o])o[bdkmst]|[cplt]et|(?<!el)(?<!o)op|(?:pl|c|st|ig)or"
    r"|[bcdfgkpt]l)$"
)
_I_AT_END: Final = re.compile(r"(?<=..)ie?$")


def is_past(low: str) -> bool:
    """Return whether the lower-case word is, or by its "-ed" looks like, a past form."""
    return low in PAST or _looks_past(low)


def is_participle(low: str) -> bool:
    """Return whether the lower-case word is, or by its "-ed" looks like, a past participle."""
    return low in PARTICIPLES or _looks_past(low)


def _looks_past(low: str) -> bool:
    return len(low) > 4 and low.endswith("ed") and low.isalpha() and low not in _NO_PAST


def base_of(low: str) -> str:
    """Return the base form of a past or third person: "moved" and "moves" give "move"; else ""."""
    if low in _BASES or low in PRESENT:
        return _BASES.get(low, low)
    if low in THIRD:
        long = low.endswith(("ches", "shes", "sses", "xes", "oes")) or low[:-2] in _PASTS
        stem = low[: -2 if long else -1]
    elif _looks_past(low):
        stem = low[:-2]
        if stem[-1] == stem[-2] and stem[-1] not in "lsfz":
            stem = stem[:-1]
        elif _LOST_E.search(stem):
            stem += "e"
    else:
        return ""
    return _I_AT_END.sub("y", stem)


def past_of_gerund(low: str) -> str:
    """Return the past form for a form in "-ing": "moving" gives "moved", "winning" gives "won"."""
    stem = low[:-3]
    for base in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem):
        if base in _PASTS:
            return _PASTS[base]
    return (stem[:-1] + "i" if stem[-1] == "y" and stem[-2] not in "aeiou" else stem) + "ed"


_MAX_REMEMBERED: Final = 1 << 16
_MAX_WORD: Final = 40
_OUTER: Final = " \t\r\n.,;:!?\"'“”‘’«»()[]{}*_`…"

SUBJECT_PRONOUNS: Final = word_set("he she it they we i you this these that those")
POSSESSIVES: Final = word_set("his her its their")
_ARTICLES: Final = POSSESSIVES | {"the", "a", "an"}
_NUMBERS: Final = word_set("two three four five six seven eight nine ten")
DETERMINERS: Final = _ARTICLES | _NUMBERS | LISTS.words("determiners")
PREPOSITIONS: Final = LISTS.words("prepositions")
# Words that open a new clause: a later verb may then not belong to the first subject.
CLAUSE_OPENERS: Final = LISTS.words("clause_openers")
ADVERBS: Final = LISTS.words("adverbs")
STOP_WORDS: Final = (
    (DETERMINERS - _NUMBERS - {"many", "several", "numerous", "various"})
    | (PREPOSITIONS - {"without", "against", "behind", "inside", "outside"})
    | CLAUSE_OPENERS | AUXILIARIES | SUBJECT_PRONOUNS
    | LISTS.words("stop_words")
)  # fmt: skip
_OCCUPATIONS: Final = LISTS.words("occupations")
_OCCUPATION_ENDINGS: Final = ("ist", "ian", "er", "or", "man", "person", "ress")


class Memo(dict[str, T]):
    """A bounded cache of a function of a word: a text has few distinct words."""

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


def _is_noun(word: str) -> bool:
    low = core(word)
    known = low in STOP_WORDS or low in PREPOSITIONS or low in ADVERBS or is_finite(word)
    return word[:1].islower() and not known


# Bound look-ups instead of functions around them, since they are called for every word.
core: Final = Memo(lambda word: word.strip(_OUTER).lower()).__getitem__
"""The word without the punctuation around it, lower case."""
is_capital: Final = Memo(lambda word: word.lstrip(_OUTER)[:1].isupper()).__getitem__
"""Whether the word opens with a capital, punctuation aside."""
is_finite: Final = Memo(_is_finite).__getitem__
"""Whether the word can be the verb of a clause: its form is known, and it is not a name."""


is_noun: Final = Memo(_is_noun).__getitem__
"""Whether the word may be a noun: it is in lower case and not known as anything else."""


def is_person(low: str) -> bool:
    """Return whether a lower-case noun looks like an occupation: "physicist", "poet", "writer"."""
    return low in _OCCUPATIONS or low.endswith(_OCCUPATION_ENDINGS)


def subject_end(lows: Sequence[str], start: int, end: int) -> int:
    """Return the end of the subject from `start`, before the adverbs and the verb at `end`.

    "Ada later moved" has an adverb, "the first moved" has none."""
    while end > start and lows[end - 1] in ADVERBS and lows[max(start, end - 2)] not in _ARTICLES:
        end -= 1
    return end


def lower(words: Sequence[str]) -> list[str]:
    """Return each word in lower case, without the punctuation around it."""
    return list(map(core, words))
