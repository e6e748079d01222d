"""Compare the roles of the names in a claim and a sentence: who defeated whom.

"Chile defeated Norway" and "Norway lost to Chile" give both names the same role; "Norway defeated
Chile" exchanges them. A role is "subject", "object" or the preposition before the name.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import BE, PREPOSITIONS, Lists, is_participle, word_set
from ufo.transforms.english.words import read
from ufo.transforms.verifiers.texts import CACHED, POSSESSIVE, ReadClaim, ReadClause

SUBJECT: Final = "subject"
OBJECT: Final = "object"
_LISTS: Final = Lists("ufo.transforms.verifiers", "roles.toml")
_REACH: Final = 14  # words between an event and a name that takes part in it
_VOICE: Final = 3  # words between "was" and its participle
_OBJECTS: Final = frozenset(("him", "her", "it", "them"))
_PASSIVE: Final = BE | {"been", "being"}


def _keys(words: str) -> frozenset[str]:
    return frozenset(word.key for word in read(words))


class _Event(NamedTuple):
    """The name of an event, and the roles that have another name in it than in the sentence."""

    name: str
    roles: dict[str, str]


def _converses() -> dict[str, _Event]:
    events: dict[str, _Event] = {}
    for line in _LISTS.texts["converse"].strip().split("\n"):
        words, _, event_text = line.partition(" = ")
        name, *changes = event_text.split()
        roles = dict(change.split(">", 1) for change in changes)
        events |= dict.fromkeys(_keys(words), _Event(name, roles))
    return events


_SYMMETRIC: Final = _keys(_LISTS.texts["symmetric"])
_NEUTRAL: Final = word_set(_LISTS.texts["neutral"])
_EVENTS: Final = _converses()

Name = frozenset[str]


@lru_cache(CACHED)
def _participants(claim: ReadClaim) -> list[Name]:
    """Return the names of a claim that may exchange their roles."""
    names: list[Name] = []
    last = 0
    for start, end in _name_places(claim):
        between = [word.lower for word in claim.words[last:start]]
        # "in Oslo" and "with Ann" have no role that they could exchange.
        attached = next((low for low in between if low in PREPOSITIONS), "")
        name = frozenset(_own(claim, start, end))
        if name and attached not in _NEUTRAL:
            names.append(name)
        last = end
    return names


@lru_cache(CACHED)
def _event_of(claim: ReadClaim) -> tuple[str, dict[Name, str]] | None:
    """Return the event of a claim and the roles of its names in it; None without two roles."""
    return next(_events(claim, _participants(claim)), None)


def same_roles(claim: ReadClaim, clauses: Sequence[ReadClause]) -> bool | None:
    """Return whether a sentence has two names of the claim in their roles around the same event.

    False: a sentence exchanges their roles, and no other has them as the claim does. None: no
    sentence tells.
    """
    names = _participants(claim)
    of_two = [c for c in clauses if sum([not name.isdisjoint(c.has) for name in names]) > 1]
    own_event = _event_of(claim) if of_two else None
    if own_event is None:
        return None
    event, mine = own_event
    exchanged = False
    for clause in of_two:
        for _, theirs in _events(clause, names, event):
            known = [name for name in mine if name in theirs]
            for a, b in combinations(known, 2):
                if mine[a] == mine[b] or theirs[a] == theirs[b]:
                    continue
                if mine[a] == theirs[a] and mine[b] == theirs[b]:
                    return True
                exchanged |= _are_exchanged(mine[a], mine[b], theirs[a], theirs[b])
    return False if exchanged else None


def _are_exchanged(a: str, b: str, other_a: str, other_b: str) -> bool:
    """Return whether the second roles are the first ones exchanged, or the other is the subject."""
    if (a, b) == (other_b, other_a):
        return True
    subjects = [a == SUBJECT, b == SUBJECT]
    return any(subjects) and subjects == [other_b == SUBJECT, other_a == SUBJECT]


def _own(clause: ReadClause, start: int, end: int) -> Iterator[str]:
    return (word.key for word in clause.words[start:end] if word.weight)


def _events(
    clause: ReadClause, names: Sequence[Name], only: str = ""
) -> Iterator[tuple[str, dict[Name, str]]]:
    """Yield the events of a clause in which two of the names have a role, with their roles.

    Any content word but a name can be an event. `only`: the name of the event looked for.
    """
    places: list[tuple[int, int, Name]] | None = None
    # What is told of the subject comes first: "the bell of Ulm is heavier", not "bell".
    order = [*range(clause.verb, len(clause.words)), *range(clause.verb)]
    order.sort(key=lambda at: clause.words[at].key not in _EVENTS)  # "lies south of"
    for at in order:
        word = clause.words[at]
        if not word.weight or word.named or word.kind or word.key in _SYMMETRIC:
            continue
        event = _EVENTS.get(word.key) or _Event(word.key, {})
        if only and event.name != only:
            continue
        places = _places(clause, names) if places is None else places
        roles = _roles(clause, at, places)
        if len(roles) > 1:
            yield event.name, {name: event.roles.get(role, role) for name, role in roles.items()}


def _name_places(clause: ReadClause) -> list[tuple[int, int]]:
    """Return the places of the names; a capital may open the sentence before any word."""
    opens = clause.words[:1] and clause.words[0].named
    if opens and not (clause.names and clause.names[0][0] == 0):
        return [(0, 1), *clause.names]
    return clause.names


def _places(clause: ReadClause, names: Sequence[Name]) -> list[tuple[int, int, Name]]:
    """Return where the names stand, as (start, end, name); a part of a name stands for it."""
    places = []
    for start, end in _name_places(clause):
        own = frozenset(_own(clause, start, end))
        fitting = [name for name in names if own and (own <= name or name <= own)]
        if len(fitting) == 1:
            places.append((start, end, fitting[0]))
    return places


def _roles(clause: ReadClause, at: int, places: Sequence[tuple[int, int, Name]]) -> dict[Name, str]:
    """Return the roles of the last name before an event and of the names from it to the next verb.

    A name on both sides has none.
    """
    words = clause.words
    verbs = (k for k in range(at + 2, len(words)) if words[k].finite and words[k].weight)
    stop = min(next(verbs, len(words)), at + _REACH)
    verb = _is_verb(clause, at)
    roles: dict[Name, str] = {}
    last = at + 1
    for start, end, name in [place for place in places if at < place[0] < stop]:
        role = _role([word.lower for word in words[last:start]], verb)
        if role:
            roles.setdefault(name, role)
        last = end
    before = [place for place in places if place[1] <= at]
    if not roles and len(before) > 1 and words[at + 1 : at + 2] and words[at + 1].lower in _OBJECTS:
        roles[before[-2][2]] = OBJECT  # "when Ann fell ill, Bob nursed her"
    for start, end, name in before[-1:]:
        if name in roles:
            del roles[name]
            continue
        owns = words[end - 1].surface.endswith(POSSESSIVE)
        after_by = start > 0 and words[start - 1].lower == "by"
        roles[name] = "of" if owns else "by" if after_by else SUBJECT
    voice = [word.lower for word in words[max(0, at - _VOICE) : at]]
    reduced = "by" in [word.lower for word in words[at + 1 : at + 2]]  # "the ship, led by Ann"
    if verb and (reduced or not _PASSIVE.isdisjoint(voice)):
        exchange = {SUBJECT: OBJECT, "by": SUBJECT}
        roles = {name: exchange.get(role, role) for name, role in roles.items()}
    return {name: role for name, role in roles.items() if role not in _NEUTRAL}


def _is_verb(clause: ReadClause, at: int) -> bool:
    """Return whether the word at a place is a verb, by its form or since it follows a name."""
    word = clause.words[at]
    after_name = any(end == at for _, end in clause.names) or at == 1
    owned = at > 0 and clause.words[at - 1].surface.endswith(POSSESSIVE)
    known = word.finite or is_participle(word.lower) or word.lower.endswith(("ed", "en"))
    return known or (after_name and not owned)


def _role(between: Sequence[str], verb: bool) -> str:
    """Return the role of a name by the words since the event or the last name; "" for none.

    `verb` says whether the event is a verb, which has an object."""
    if not BE.isdisjoint(between):
        return "" if verb else SUBJECT  # "the capital of Italy is Rome"
    for low in ("by", "than"):
        if low in between:
            return low  # "by the gang of Ann Lee"
    prepositions = [low for low in between if low in PREPOSITIONS]
    if not prepositions:
        return OBJECT if verb else ""
    # "at the university of Oslo" is a place.
    return prepositions[0 if prepositions[0] in _NEUTRAL else -1]
