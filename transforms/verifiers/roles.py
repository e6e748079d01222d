"""Compare the roles of the names in a claim and a sentence: who defeated whom.

"Chile defeated Norway" and "Norway lost to Chile" give both names the same role; "Norway defeated
Chile" exchanges them. A role is "subject", "object" or the preposition before the name.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import BE, PREPOSITIONS, Lists, word_set
from ufo.transforms.english.words import read
from ufo.transforms.verifiers.texts import POSSESSIVE, ReadClaim, ReadClause

SUBJECT: Final = "subject"
OBJECT: Final = "object"
_LISTS: Final = Lists("ufo.transforms.verifiers", "roles.toml")
_REACH: Final = 14  # words between an event and a name that takes part in it
_VOICE: Final = 3  # words between "was" and its participle
_PASSIVE: Final = BE | {"been", "being"}


def _keys(words: str) -> frozenset[str]:
    return frozenset(word.key for word in read(words))


class _Event(NamedTuple):
    """An event's name, and which roles of a sentence have another name in it."""

    name: str
    roles: dict[str, str]


def _converses() -> dict[str, _Event]:
    events: dict[str, _Event] = {}
    for line in _LISTS.texts["converse"].strip().split("\n"):
        words, _, told = line.partition(" = ")
        name, *changes = told.split()
        roles = dict(change.split(">", 1) for change in changes)
        events |= dict.fromkeys(_keys(words), _Event(name, roles))
    return events


_SYMMETRIC: Final = _keys(_LISTS.texts["symmetric"])
_NEUTRAL: Final = word_set(_LISTS.texts["neutral"])
_EVENTS: Final = _converses()

Name = frozenset[str]


def exchanged(claim: ReadClaim, clauses: Sequence[ReadClause]) -> bool:
    """Return whether two names of the claim stand in exchanged roles around the same event.

    They do if a sentence exchanges them and no other sentence has them in the claim's roles.
    """
    names = [frozenset(_own(claim, *name)) for name in claim.names]
    names = [name for name in names if name]
    if len(names) < 2:
        return False
    told = next(_events(claim, names), None)
    if told is None:
        return False
    event, mine = told
    differs = False
    for clause in clauses:
        if sum(not name.isdisjoint(clause.has) for name in names) < 2:
            continue
        for other, theirs in _events(clause, names):
            if other != event:
                continue
            pairs = [
                (a, b)
                for a in mine
                for b in mine
                if mine[a] != mine[b] and a in theirs and b in theirs
            ]
            if any(theirs[a] == mine[a] and theirs[b] == mine[b] for a, b in pairs):
                return False
            differs |= any(theirs[a] == mine[b] and theirs[b] == mine[a] for a, b in pairs)
    return differs


def _own(clause: ReadClause, start: int, end: int) -> Iterator[str]:
    return (word.key for word in clause.words[start:end] if word.weight)


def _events(clause: ReadClause, names: Sequence[Name]) -> Iterator[tuple[str, dict[Name, str]]]:
    """Yield the events of a clause in which two of the names have a role, with their roles.

    A content word that is no name can be an event.
    """
    places = _places(clause, names)
    if len(places) < 2:
        return
    for at, word in enumerate(clause.words):
        if not word.weight or word.named or word.kind or word.key in _SYMMETRIC:
            continue
        event = _EVENTS.get(word.key) or _Event(word.key, {})
        roles = _roles(clause, at, places)
        if len(roles) > 1:
            yield event.name, {name: event.roles.get(role, role) for name, role in roles.items()}


def _places(clause: ReadClause, names: Sequence[Name]) -> list[tuple[int, int, Name]]:
    """Return where the names stand, as (start, end, name); a part of a name stands for it."""
    found = []
    for start, end in clause.names:
        own = frozenset(_own(clause, start, end))
        fitting = [name for name in names if own and (own <= name or name <= own)]
        if len(fitting) == 1:
            found.append((start, end, fitting[0]))
    return found


def _roles(
    clause: ReadClause, at: int, places: Sequence[tuple[int, int, Name]]
) -> dict[Name, str]:
    """Return the roles of the last name before the event at a place and of the names after it, up to
    the next verb. A name with two roles has none."""
    words = clause.words
    verbs = (k for k in range(at + 2, len(words)) if words[k].finite and words[k].weight)
    stop = min(next(verbs, len(words)), at + _REACH)
    found: list[tuple[Name, str]] = []
    for start, end, name in [place for place in places if place[1] <= at][-1:]:
        owns = words[end - 1].surface.endswith(POSSESSIVE)
        opens = words[start - 1].lower if start else ""
        found.append((name, "of" if owns else "by" if opens == "by" else SUBJECT))
    last = at + 1
    for start, end, name in [place for place in places if at < place[0] < stop]:
        between = [word.lower for word in words[last:start]]
        before = (low for low in reversed(between) if low in PREPOSITIONS or low == "than")
        role = next(before, OBJECT)
        if not BE.isdisjoint(between):
            role = SUBJECT  # "the capital of Italy is Rome"
        found.append((name, role))
        last = end
    roles = dict(found)
    if len(roles) < len(found):
        roles = {name: role for name, role in found if sum(n == name for n, _ in found) == 1}
    voice = [word.lower for word in words[max(0, at - _VOICE) : at]]
    if "by" in roles.values() and not _PASSIVE.isdisjoint(voice):
        exchange = {SUBJECT: OBJECT, "by": SUBJECT}
        roles = {name: exchange.get(role, role) for name, role in roles.items()}
    return {name: role for name, role in roles.items() if role not in _NEUTRAL}
