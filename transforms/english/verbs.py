"""Know the verb forms of English prose: which words can be the verb of a clause.

Irregular forms are listed; a regular past is known by its "-ed", and its base form is made from it
by the spelling rules. The list of words in "-s" tells verbs from plural nouns.
"""

import re
from typing import Final

from ufo.transforms.english.word_set import Lists, word_set

LISTS: Final = Lists("ufo.transforms.english", "grammar.toml")

BE: Final = word_set("is are was were isn't aren't wasn't weren't")
HAVE: Final = word_set("has have had hasn't haven't hadn't")
_MODALS: Final = LISTS.words("modals")
AUXILIARIES: Final = BE | HAVE | _MODALS | word_set("do does did don't doesn't didn't")
PLURAL: Final = word_set("are were have do aren't weren't haven't don't")

# Third persons that are seldom plural nouns.
THIRD: Final = LISTS.words("third")
# They look like past forms.
_NO_PAST: Final = word_set("hundred breed speed united need indeed talented renowned sacred naked")
_FORMS: Final = [tuple(forms.split()) for forms in LISTS.texts["irregular"].split("|")]
_BASES: Final = {past: base for base, past, _ in _FORMS}
_PASTS: Final = {base: past for base, past, _ in _FORMS}
PAST: Final = frozenset(_BASES)
PARTICIPLES: Final = frozenset(participle for _, _, participle in _FORMS)
PARTICIPLE_ONLY: Final = PARTICIPLES - PAST
PRESENT: Final = frozenset(_PASTS) | word_set("live need use want work include cause help form")
# Verbs without an object: after "was born in Ulm and" they cannot be passive.
INTRANSITIVE: Final = LISTS.words("intransitive")
# What a stem ends with that lost an "e" before "-ed" ("moved", "created", not "visited").
_LOST_E: Final = re.compile(
    r"(?:[cgvz]|[^e]u|(?<!oc)(?<!s)s|creat|(?:^|[^aeo])(?:a[bdkmprt]|i[bdklmnprv])|(?:inv|c|un)it"
    r"|(?<![aeo])(?<!eb)u[dlmrt]|(?:^|[^o])o[bdkmst]|[cplt]et|(?<!el)(?<!o)op|(?:pl|c|st|ig)or"
    r"|[bcdfgkpt]l)$"
)


def is_past(low: str) -> bool:
    """Return whether the lower-case word is the past form of a verb, or looks it by its "-ed"."""
    return low in PAST or _looks_past(low)


def is_participle(low: str) -> bool:
    """Return whether the lower-case word is a past participle, or looks it by its "-ed"."""
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
    return re.sub(r"(?<=..)ie?$", "y", stem)


def past_of_gerund(low: str) -> str:
    """Return the past form for a form in "-ing": "moving" gives "moved", "winning" gives "won"."""
    stem = low[:-3]
    for base in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem):
        if base in _PASTS:
            return _PASTS[base]
    return (stem[:-1] + "i" if stem[-1] == "y" and stem[-2] not in "aeiou" else stem) + "ed"
