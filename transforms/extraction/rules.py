"""The rules that cut a clause into the claims it makes, each for one construction.

Each gives the clauses that replace the one it is given, or nothing where it does not apply.
"""

import re
from itertools import pairwise
from typing import Final

from ufo.transforms.english.grammar import (
    ADVERBS,
    CLAUSE_OPENERS,
    DETERMINERS,
    PREPOSITIONS,
    core,
    is_capital,
    is_finite,
    is_person,
)
from ufo.transforms.english.verbs import (
    AUXILIARIES,
    BE,
    HAVE,
    INTRANSITIVE,
    PARTICIPLE_ONLY,
    PLURAL,
    is_participle,
    is_past,
)
from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction.clause import REDUCED, Clause, Words, is_a, is_name, without_comma
from ufo.transforms.extraction.names import may_be_person, name_length, names_in

_DATE: Final = r"(?:\d{1,2} [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{4})"
_BORN: Final = re.compile(rf"\((?:born|b\.) ({_DATE})\)")
_LIVED: Final = re.compile(rf"\((?:born )?({_DATE}) ?[–—-] ?(?:died )?({_DATE})\)")
_EVENTS: Final = frozenset({"born", "died", "founded", "established"})
_CONJUNCTIONS: Final = frozenset({"and", "but"})
_CLAUSE_CONJUNCTIONS: Final = frozenset({"and", "but", "while", "whereas"})
# After these the predicates may be those of another subject, or a choice.
_ENDS: Final = CLAUSE_OPENERS | {"either", "neither", "both", "between", "or"}
_BEFORE_ITEMS: Final = (PREPOSITIONS | _ENDS) - {"of"}
_BEFORE_VERB: Final = ADVERBS | AUXILIARIES | {"been"}
_SUBJECT_OPENERS: Final = DETERMINERS | {"he", "she", "it", "they"}
# "films and animated series": a participle that mostly stands before a noun is not a predicate.
_ADJECTIVES: Final = word_set(
    "acclaimed advanced animated applied associated limited mixed related"
)
# What is said of several together is not said of each.
_TOGETHER: Final = word_set(
    "between both either neither among consist consists consisted comprised composed divided"
    " combined together two three four five six seven eight nine ten or nor not of"
)
_MAX_ITEM: Final = 6


def bracket(clause: Clause) -> list[Words]:
    """Cut "X (born 3 May 1946) is a politician" and "X (1879–1955) was a physicist"."""
    words, lows, start, verb, _ = clause
    opening = next((at for at in range(1, verb) if words[at][0] == "("), 0)
    if start or not opening:
        return []
    name, inner = words[:opening], " ".join(words[opening:verb])
    main = [*name, *words[verb:]]
    if born := _BORN.fullmatch(inner):
        return [[*name, "was", "born", *_dated(born[1])], main]
    lived = _LIVED.fullmatch(inner)
    if lived and may_be_person(lows[:opening]):  # not the years of a war or a company
        return [[*name, "was", "born", *_dated(lived[1])], [*name, "died", *_dated(lived[2])], main]
    return []


def _dated(date: str) -> Words:
    return ["in" if len(date) == 4 else "on", *date.split()]


def relative(clause: Clause) -> list[Words]:
    """Cut "…, which is a city in Germany.", said of the name right before the comma."""
    words, lows, _, verb, _ = clause
    commas = (at for at in range(verb + 1, len(words) - 3) if words[at][-1] == ",")
    at = next((at for at in commas if lows[at + 1] in ("who", "which")), 0)
    if not at or not is_finite(words[at + 2]) or lows[at + 2] in PLURAL:
        return []
    # A verb after a later comma may be that of the first subject.
    if any(a[-1] == "," and is_finite(b) for a, b in pairwise(words[at + 2 :])):
        return []
    first = at + 1
    while first > verb + 1 and (is_capital(words[first - 1]) or words[first - 1] in ("of", "the")):
        first -= 1
    name = without_comma(words[first : at + 1])
    # "The mayor of Paris, who": not of Paris. "Rome and Paris, which": not of Paris alone.
    before = lows[first - 1]
    person = lows[at + 1] == "who" and before in PREPOSITIONS
    if person or before in ("and", "or", "&", "for") or not is_name(name[name[:1] == ["the"] :]):
        return []
    return [words[: at + 1], [*name, *words[at + 2 :]]]


def predicate_noun(clause: Clause) -> list[Words]:
    """Cut "X is an actor known for Y" and "X was a physicist who did Y": both are said of X."""
    words, lows, _, verb, subject = clause
    if not subject or not is_a(clause):
        return []
    for at in range(verb + 3, len(words) - 1):
        low = lows[at]
        whole = without_comma(words[:at])
        if low in ("who", "that", "which") and is_finite(words[at + 1]):
            return [whole, [*subject, *words[at + 1 :]]]
        known = low in ("best", "widely", "well") and lows[at + 1] == "known"
        if (low in REDUCED or known) and lows[at - 1] not in ("and", "or", "also", "formerly"):
            return [whole, [*subject, "was" if low == "born" else words[verb], *words[at:]]]
        placed = low in ("from", "in") and is_capital(words[at + 1])
        if low in CLAUSE_OPENERS or (low in PREPOSITIONS and not placed):
            return []
    return []


def date_and_place(clause: Clause) -> list[Words]:
    """Cut "X was born on 14 March 1879 in Ulm.": the date and the place are two claims."""
    words, lows, start, verb, _ = clause
    event = verb + 1 if lows[verb] in BE else verb
    if lows[event : event + 1] and lows[event] not in _EVENTS:
        return []
    heads = [at for at in range(event + 1, len(words)) if lows[at] in ("on", "in", "at")]
    if len(heads) < 2 or heads[0] != event + 1:
        return []
    first, second = heads[:2]
    dates = _is_date(lows[first + 1 : second]), _is_date(lows[second + 1 :])
    if dates[0] == dates[1] or any(map(is_finite, words[second:])):
        return []
    return [without_comma(words[:second]), [*words[start : event + 1], *words[second:]]]


def _is_date(lows: Words) -> bool:
    return len(lows) <= 4 and any(len(low) == 4 and low.isdigit() for low in lows)


def second_clause(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, and Y died in Princeton." before the subject of its own."""
    words, lows, start, verb, subject = clause
    for joint in range(verb + 2, len(words) - 2):
        at = joint + (lows[joint] in _CLAUSE_CONJUNCTIONS)
        divided = words[joint - 1][-1] in ",;" and (at > joint or words[joint - 1][-1] == ";")
        pronoun = at > joint and lows[at] in ("he", "she", "they")
        length = name_length(words, at)
        if not length and lows[at] in _SUBJECT_OPENERS:
            length = next((n for n in range(1, 6) if is_finite("".join(words[at + n :][:1]))), 0)
        own = at + length  # the verb of the second subject
        if (
            not (divided or pronoun)
            or not 0 < length < 6
            or own >= len(words)
            or words[own - 1][-1] in ",;:"
            or not (lows[own] in AUXILIARIES or is_past(lows[own]))
        ):
            continue
        second = words[at:]
        if lows[at] in ("he", "she", "it", "they") and lows[start] != lows[at]:
            # Whom a pronoun means is certain where the clause before names one person only.
            named = names_in(words[:joint], lows, verb)
            rivals = any(may_be_person(lows[one:end], lows[one - 1]) for one, end in named)
            if lows[at] in ("it", "they") or rivals or not is_name(subject):
                return []
            second = [*subject, *second[1:]]
        return [words[:joint], second] if _ENDS.isdisjoint(lows[start:joint]) else []
    return []


def predicates(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, studied in Zurich and died in Princeton.", repeating the subject."""
    words, lows, start, verb, subject = clause
    if not subject or not _ENDS.isdisjoint(lows[start:verb]):
        return []
    cuts: list[tuple[int, int]] = []  # (end of the predicate before, beginning of the next)
    listed: list[tuple[int, int]] = []  # commas that count only if an "and" ends the list
    for at in range(verb + 1, len(words) - 1):
        if lows[at] in _ENDS:
            break
        if lows[at] in _CONJUNCTIONS and _is_predicate(words, _past_adverbs(lows, at + 1)):
            cuts += [*listed, (at, at + 1)]
            listed = []
        elif words[at - 1][-1] == "," and _is_predicate(words, at):
            listed.append((at, at))
    ends = [*(end for end, _ in cuts), len(words)]
    begins = [verb, *(begin for _, begin in cuts)]
    if not cuts or not all(map(_says_something, [lows] * len(ends), begins, ends)):
        return []  # "was born and raised in Ulm": what follows belongs to both
    parts = zip(begins[1:], ends[1:], strict=True)
    rest = [[*subject, *_shared(clause, begin), *words[begin:end]] for begin, end in parts]
    return [words[: ends[0]], *rest]


def _past_adverbs(lows: Words, at: int) -> int:
    return next((k for k in range(at, len(lows) - 1) if lows[k] not in ADVERBS), len(lows) - 1)


def _is_predicate(words: Words, at: int) -> bool:
    """Return whether a predicate can begin here: a finite verb or participle before other words."""
    low = words[at]
    verb = is_finite(low) or is_participle(low)
    return at + 1 < len(words) and verb and low not in _ADJECTIVES


def _says_something(lows: Words, begin: int, end: int) -> bool:
    """Return whether anything follows the verb of the predicate."""
    at = next((k for k in range(begin, end) if lows[k] not in _BEFORE_VERB), end)
    return at + (is_participle(lows[min(at, end - 1)]) or is_past(lows[min(at, end - 1)])) < end


def _shared(clause: Clause, begin: int) -> Words:
    """Return the "was", "has" or "has been" that a participle at `begin` shares with the first."""
    words, lows, verb = clause.words, clause.lows, clause.verb
    at = _past_adverbs(lows, begin)
    shared = [words[verb], *(["been"] if "been" in lows[verb : verb + 3] else [])]
    first = next((k for k in range(verb + 1, begin) if lows[k] not in _BEFORE_VERB), begin)
    if lows[verb] not in BE | HAVE or not (is_participle(lows[first]) and is_participle(lows[at])):
        return []
    if lows[at] in PARTICIPLE_ONLY or shared in (["has"], ["have"], ["had"]):
        return shared
    # "was elected and received the prize" has an object of its own, "was elected and died" none.
    active = lows[at] in INTRANSITIVE or lows[at + 1] in DETERMINERS or is_capital(words[at + 1])
    return [] if active else shared


def items(clause: Clause) -> list[Words]:
    """Cut "X was an English actor, director and producer." and "X played in A, B, and C."."""
    words, lows, _, verb, subject = clause
    joints = [at for at in range(verb + 2, len(words) - 1) if lows[at] == "and"]
    joint = max(joints, default=0)
    if not subject or not joint:
        return []
    found = [words[joint + 1 :]]
    stop = joint
    for at in range(joint - 1, verb, -1):
        if words[at][-1] == ",":
            item = words[at + 1 : stop]
            if item and not _is_item(without_comma(item)):
                break
            found[:0] = [item] if item else []
            stop = at + 1
    first = stop - 1
    while first - 1 > verb and not _ends_head(words[first - 1]):
        first -= 1
    found.insert(0, words[first:stop])
    nouns = is_a(clause) and first == verb + 1
    several = sum(map(is_finite, words[verb + 1 : first])) > 1  # verbs: it would say them again
    together = not _TOGETHER.isdisjoint(lows[verb:first])
    bare = [[*item[:-1], item[-1].rstrip(",.;")] for item in found if item]
    if together or several or not (nouns or len(found) > 2) or not _are_alike(bare):
        return []
    return [[*words[:first], *(_with_article(item) if nouns else item)] for item in bare]


def _is_item(words: Words) -> bool:
    plain = 0 < len(words) <= _MAX_ITEM and all(words) and not words[0][0].isdigit()
    return plain and not any(map(_ends_head, words))


def _ends_head(word: str) -> bool:
    """Return whether an item of a list can begin only after this word."""
    low = core(word)
    verb = is_finite(word) or is_participle(word)
    return word[-1] in ",;:" or verb or low in _BEFORE_ITEMS


def _are_alike(found: list[Words]) -> bool:
    """Return whether all items are names or titles, all occupations, or all plural nouns."""
    lasts = [core(item[-1]) for item in found]
    return all(map(_is_item, found)) and (
        all(is_capital(item[0]) for item in found)
        or all(map(is_person, lasts))
        or all(last.endswith("s") for last in lasts)
    )


def _with_article(noun: Words) -> Words:
    if noun[0].lower() in ("a", "an"):
        return noun
    return ["an" if noun[0][:1].lower() in "aeiou" else "a", *noun]


# In the order in which they are tried.
RULES: Final = (
    bracket,
    relative,
    second_clause,
    predicates,
    predicate_noun,
    items,
    date_and_place,
)
