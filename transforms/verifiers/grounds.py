"""Find the grounds of a passage against a claim, which limit the verdicts of every verifier.

A ground is a difference that can be shown, in a sentence about the claim's subject: another number,
date or name, an opposite, a negation.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from ufo.schemas.records import REFUTED
from ufo.transforms.english.frames import DOUBTED
from ufo.transforms.english.grammar import Lists
from ufo.transforms.english.numerals import DAY, YEAR
from ufo.transforms.english.quantities import agree, differ
from ufo.transforms.english.words import Word, as_written, read
from ufo.transforms.verifiers.roles import same_roles
from ufo.transforms.verifiers.texts import (
    CACHED,
    POSSESSIVE,
    POSSESSIVES,
    PRONOUNS,
    REFERRING,
    SETTLED,
    Match,
    Part,
    ReadClaim,
    ReadClause,
    mask,
)
from ufo.transforms.verifiers.verifier import SUPPORTED_FROM, Probabilities

_HALF: Final = 0.5  # A sentence with less of the rest of the claim is about something else.
_MOST: Final = 0.75  # The same for a negation, which denies the whole sentence.
_REACH: Final = 12  # The most words between a word and the date or name that belongs to it.
_NAME: Final = 4  # Words of a name at most; more are a heading or a list.
_PLACED: Final = frozenset(("in", "from", "at", "of", "by", "near"))
"""After one of these words a name does not own what follows: "X of Leeds, formed in"."""
_DEFINITE: Final = frozenset(("the", "this", "that"))
_THING: Final = 2  # The most content words of a phrase for the subject: "the French company".
UNSURE: Final = 0.49  # The highest probability of supported where a rule denies it.
SURE: Final = 0.9  # The lowest where the passage says the claim word for word.
_REST: Final = (1 - SURE) / 2
_CONDITIONS: Final = frozenset(("if", "unless", "only", "would"))
_ARTICLES: Final = frozenset(("the", "a", "an"))


_LISTS: Final = Lists("ufo.transforms.verifiers", "opposites.toml")


def _opposites(name: str) -> dict[str, frozenset[str]]:
    """Return the keys of the opposites of each word, by its key."""
    opposites: dict[str, set[str]] = {}
    for line in _LISTS.texts[name].strip().split("\n"):
        sides = [_keys(side) for side in line.split("=")]
        for left, right in (sides, sides[::-1]):
            for key in left:
                opposites.setdefault(key, set()).update(right)
    return {key: frozenset(keys) for key, keys in opposites.items()}


def _keys(text: str) -> list[str]:
    return [word.key for word in read(text)]


_OPPOSITES: Final = _opposites("pairs")
_PREPOSITIONS: Final = _opposites("prepositions")


class Ground(NamedTuple):
    """A difference: sentence number `sentence` has `said` where the claim has `claimed`.

    For a negation one of the two is empty. `share` is the share of the rest of the claim that the
    sentence has. A `sure` ground is enough for a contradiction; any other needs a model that
    agrees.
    """

    kind: str
    sentence: int
    said: str
    claimed: str
    share: float
    sure: bool


@lru_cache(4 * CACHED)
def grounds(match: Match) -> Sequence[Ground]:
    """Return the grounds on which a passage contradicts a claim, the sure ones first.

    All are in sentences about the claim's subject.
    """
    if other_subject(match):
        return ()
    all_found = (
        *_quantities(match),
        *_names(match),
        *_negations(match),
        *_exclusions(match),
        *_opposite_words(match),
        *_opposite_prepositions(match),
    )
    if not all_found:
        return ()
    about = [one for one in all_found if is_about(match, one.sentence)]
    if match.passage.leaves_open:
        clauses = match.passage.clauses
        about = [one for one in about if clauses[one.sentence].open.isdisjoint(_keys(one.said))]
    return sorted(about, key=lambda one: (not one.sure, -one.share))


def lacks_number(match: Match) -> bool:
    """Return whether the claim has a number or date that neither passage nor title says."""
    return bool(match.claim.numbered & ~match.said)


def has_other_name(match: Match) -> bool:
    """Return whether the passage has another name in place of a name of the claim."""
    return any(one.sure for one in _names(match))


def has_other_subject(match: Match) -> bool:
    """Return whether the passage is about another subject than the claim."""
    return other_subject(match) != ""


def is_of_another_member(match: Match) -> bool:
    """Return whether the passage says a word of the claim only of another member of its series."""
    claim = match.claim
    unsaid = (item.key for k, item in enumerate(claim.items) if not match.said >> k & 1)
    return bool(claim.series) and not match.passage.keys.isdisjoint(unsaid)


def is_of_relative(match: Match) -> bool:
    """Return whether the passage says the claim's predicate only of a relative ("his brother")."""
    claim, passage = match.claim, match.passage
    if not claim.named_subject or POSSESSIVES.isdisjoint(passage.keys):
        return False
    weights = [claim.weight(one & claim.predicate) for one in match.masks]
    most = max(weights, default=0.0)
    saying = (passage.clauses[n] for n, weight in enumerate(weights) if weight == most)
    return most > 0 and all(_opens_with_relative(claim, clause) for clause in saying)


def _opens_with_relative(claim: ReadClaim, clause: ReadClause) -> bool:
    if POSSESSIVES.isdisjoint(clause.keys[:1]):
        return False
    return next((one.key not in claim.has for one in clause.words if one.weight), False)


def is_contradicted(match: Match) -> bool:
    """Return whether there is a sure ground against the claim."""
    against = grounds(match)
    return bool(against) and against[0].sure


def has_other_roles(match: Match) -> bool:
    """Return whether the passage has two names of the claim in exchanged roles."""
    return same_roles(match.claim, match.passage.clauses) is False


def is_left_open(match: Match) -> bool:
    """Return whether claim or passage doubts, or only reports, the claim's statement."""
    claim = match.claim
    if claim.stance == DOUBTED:
        return match.best < 0 or match.passage.clauses[match.best].stance != DOUBTED
    if not match.passage.leaves_open:
        return False
    return claim.stance in SETTLED and (
        claim.share(match.open & claim.predicate, claim.predicate) >= _HALF
    )


DENIALS: Final = (
    is_left_open,
    lacks_number,
    has_other_name,
    has_other_subject,
    is_of_another_member,
    is_of_relative,
    is_contradicted,
    has_other_roles,
)
"""The rules that keep a passage from supporting a claim."""


def apply_rules(match: Match, three: Probabilities) -> Probabilities:
    """Return a verifier's probabilities of a pair, limited by the rules above.

    A claim that the passage says word for word is supported. What a claim denies is judged by what
    the passage says against it, and what it only reports or doubts is never contradicted.
    """
    if word_for_word(match):
        return three if three.supported >= SURE else Probabilities(SURE, _REST, _REST)
    claim = match.claim
    if claim.stance in SETTLED and claim.denies:
        three = _of_denial(match, three)
    elif three.supported >= SUPPORTED_FROM and any(rule(match) for rule in DENIALS):
        three = _unsupported(three)
    if three.outcome == REFUTED and not (claim.stance in SETTLED and grounds(match)):
        half = (1 - three.supported) / 2
        return Probabilities(three.supported, half, half)  # A tie is no contradiction.
    return three


def _unsupported(three: Probabilities) -> Probabilities:
    refuted = three.refuted * (1 - UNSURE) / max(1 - three.supported, 1e-9)
    return Probabilities(UNSURE, refuted, 1 - UNSURE - refuted)


def _of_denial(match: Match, three: Probabilities) -> Probabilities:
    """Return the probabilities of a claim that denies.

    It is supported by a ground against what it denies, or by a passage that denies the same, and
    contradicted by a passage that says it.
    """
    against = grounds(match)
    if disproof(match):
        return Probabilities(SURE, _REST, _REST)
    if any(ground.kind == "negation" and ground.sure for ground in against):
        return Probabilities(_REST, SURE, _REST)
    denies_too = match.best >= 0 and bool(_clause(match, True)[1].denied)
    if denies_too and not lacks_number(match):
        return three
    supported = min(three.supported, UNSURE)
    return Probabilities(supported, 0.0, 1 - supported)


def disproof(match: Match) -> Ground | None:
    """Return the ground against what a claim denies: "born in Warsaw" for "not born in Paris"."""
    if not match.claim.denies or match.claim.stance not in SETTLED:
        return None
    shown = (one for one in grounds(match) if one.kind != "negation" and one.share >= _MOST)
    return next((one for one in shown if one.sure), None)


def word_for_word(match: Match) -> bool:
    """Return whether a sentence asserts the claim in its own words.

    They stand at the beginning of the sentence or of a clause, so that nobody else says, denies or
    supposes them, and no condition follows.
    """
    claim, passage = match.claim, match.passage
    saying = [clause for clause in passage.clauses if claim.has <= clause.has]
    if not saying or not claim.words or lacks_number(match):
        return False
    if claim.keys[0] in REFERRING and passage.named:
        return False
    lows = claim.lows[claim.lows[0] in _ARTICLES and len(claim.lows) > 1 :]
    alike = [clause for clause in saying if clause.stance == claim.stance]
    return any(_begins_with(clause, lows) for clause in alike)


def _begins_with(clause: ReadClause, lows: Sequence[str]) -> bool:
    for at in [at for at, low in enumerate(clause.lows) if low == lows[0]]:
        end = at + len(lows)
        if clause.lows[at:end] != lows:
            continue
        before = at - (at > 0 and clause.lows[at - 1] in _ARTICLES)
        opens = before == 0 or clause.words[before - 1].closes
        if opens and _CONDITIONS.isdisjoint(clause.lows[end : end + _REACH]):
            return True
    return False


@lru_cache(4 * CACHED)
def other_subject(match: Match) -> str:
    """Return the other subject that a passage is about, by its title or its best sentence.

    It is "" where passage or title name the claim's subject, in full or shortened ("Curie"), or
    where the subject has no name. Under the title of a namesake ("Pierre Curie") only the full name
    counts. For a claim about "he" or "it", any page with a title is about another subject.
    """
    claim, passage = match.claim, match.passage
    name = frozenset(one.key for one in claim.named_subject)
    if not name:
        unknown = not REFERRING.isdisjoint(claim.keys[:1])
        return passage.named if unknown else ""
    title = passage.title
    if title and (title <= name or name <= title):
        return ""
    namesake = _is_namesake(title, name)
    for clause in passage.clauses if not name.isdisjoint(passage.keys) else ():
        for start, end in clause.names:
            other = frozenset(clause.keys[start:end])
            if name <= other or (other <= name and not namesake):
                return ""
    if passage.named or match.best < 0:
        return passage.named
    best = passage.clauses[match.best].subject_names()
    tells = claim.share(match.masks[match.best], claim.predicate) >= _HALF
    return as_written(best) if tells and len(best) <= _NAME else ""


def is_about(match: Match, number: int) -> bool:
    """Return whether a sentence of the passage speaks of the claim's subject.

    It does if its subject is the claim's, or if it begins with a pronoun after such a sentence, or
    with "the film" under the film's title. "His father" and "Pierre Curie" are not "Marie Curie".
    """
    claim, clause = match.claim, match.passage.clauses[number]
    first = clause.keys[0] if clause.keys else ""
    if claim.is_another(clause):
        return False
    if not claim.about:
        return True
    if first in PRONOUNS:
        return is_about(match, number - 1) if number else _titled(match)
    if first in POSSESSIVES:
        return not _opens_with_relative(claim, clause)
    subject = clause.subject()
    own = [one for one in subject if one.key in claim.about]
    if any(one.surface.endswith(POSSESSIVE) for one in own):
        return all(one.key in claim.has for one in subject)
    if own and not claim.named_subject:
        keys = frozenset(one.key for one in subject)
        return keys <= claim.about or claim.about <= keys
    if own:
        before = [(start, end) for start, end in clause.names if start < clause.verb]
        names = [frozenset(clause.keys[start:end]) for start, end in before]
        whole = any(claim.about <= name for name in names)  # "Marie Curie nor Pierre Curie"
        return whole or not any(_is_namesake(name, claim.about) for name in names)
    known = first in _DEFINITE and len(subject) <= _THING
    return _titled(match) and not clause.subject_names() and known


def _is_namesake(name: frozenset[str], about: frozenset[str]) -> bool:
    """Return whether two names share a part while each also has another part, initials aside."""
    if name.isdisjoint(about):
        return False
    return all(any(len(key) > 1 for key in rest) for rest in (name - about, about - name))


def _titled(match: Match) -> bool:
    title, about = match.passage.title, match.claim.about
    return bool(title & about) and (title <= about or about <= title)


def _quantities(match: Match) -> Iterator[Ground]:
    """Yield other numbers of the same things, and other dates, where none in the passage agrees."""
    claim, passage = match.claim, match.passage
    for k, claimed in enumerate(claim.numbers, len(claim.items)):
        if match.said >> k & 1:
            continue
        numbered = enumerate(claim.numbers, len(claim.items))
        same = mask(j for j, q in numbered if q.start == claimed.start)
        for number, other in passage.numbers:
            if not differ(claimed, other) or any(agree(q, other) for q in claim.numbers):
                continue
            clause, dated = passage.clauses[number], claimed.kind in (YEAR, DAY)
            if dated and not _follows(match, clause, claimed.start, other.start):
                continue
            kind = "date" if dated else "number"
            ground = _ground(match, kind, number, other.written, claimed.written, same)
            if claimed.unit != other.unit:  # "3 days" may be about another thing than "2 hours"
                ground = ground._replace(sure=ground.sure and ground.share >= _MOST)
            yield ground


def _names(match: Match) -> Iterator[Ground]:
    """Yield other names in place of a name of the claim that the passage lacks.

    Such a name shares no word with the claim, or one word with the claim's name but not all:
    "Pacific Ocean" for "Indian Ocean". Both follow the same words ("born in"). Abbreviations do not
    count: they may stand for any name.
    """
    claim, passage = match.claim, match.passage
    for start, end in claim.names if claim.named & ~match.said else ():
        name = frozenset(one.key for one in claim.words[start:end] if one.weight)
        unsaid = frozenset(key for key in name if key not in passage.keys) - passage.title
        lead = claim.words[start - 1]
        if start < claim.verb or not unsaid or lead.weight or claim.words[start].surface.isupper():
            continue
        claimed = as_written(claim.words[start:end])
        parts = mask(k for k, place in enumerate(claim.places) if start <= place < end)
        for number, clause in enumerate(passage.clauses):
            for first, last in clause.names:
                other = clause.words[first:last]
                after_same = first > 0 and clause.words[first - 1].lower == lead.lower
                if not after_same or other[0].surface.isupper():
                    continue
                keys = frozenset(one.key for one in other if one.weight)
                shared = bool(keys & name) and not (keys - name <= claim.has)
                instead = shared if unsaid < name else claim.lacks(other)
                kind = claim.keys[end : end + 1]  # "a Danish botanist", "a Norwegian botanist"
                alike = bool(kind) and kind == clause.keys[last : last + 1]
                if instead and (alike or _follows(match, clause, start, first)):
                    yield _ground(match, "name", number, as_written(other), claimed, parts)


def _negations(match: Match) -> Iterator[Ground]:
    """Yield each word that both have and only one negates.

    Only the clause that says most of the claim is compared."""
    claim, passage, best = match.claim, match.passage, match.best
    if best < 0 or not (claim.denies_something or passage.denies_something):
        return
    mine = claim.denied()
    number, part, share = _clause(match, bool(mine))
    if bool(part.denied) == bool(mine):
        return
    for key, negation in (part.denied or mine).items():
        if key in claim.has and key in part.keys:
            texts = (negation, "") if part.denied else ("", negation)
            yield Ground("negation", number, *texts, share, share >= _MOST)


def _clause(match: Match, denies: bool) -> tuple[int, Part, float]:
    """Return the clause that says most of the claim; on a tie the first that `denies` alike.

    Returns the number of its sentence, the clause, and the share of the claim in it."""
    claim, masks = match.claim, match.masks
    most = claim.weight(masks[match.best])
    choices = []
    for number, clause in enumerate(match.passage.clauses):
        if claim.weight(masks[number]) < most:
            continue
        for part in clause.parts:
            outside = mask(
                k
                for k, item in enumerate(claim.items)
                if item.key in clause.has and item.key not in part.keys
            )
            there = masks[number] & ~outside
            share = 0.0 if claim.numbered & ~there else claim.share(there, claim.everything)
            choices.append((-share, bool(part.denied) != denies, number, part))
    share, _, number, part = min(choices, key=lambda choice: choice[:3])
    return number, part, -share


def _exclusions(match: Match) -> Iterator[Ground]:
    """Yield the words of the claim that a sentence has only to deny them: "not in Paris"."""
    claim = match.claim
    for number, clause in enumerate(match.passage.clauses if match.passage.excludes else ()):
        parts = [k for k, item in enumerate(claim.items) if item.key in clause.excluded]
        parts = [k for k in parts if not match.said >> k & 1]
        if parts:
            claimed = " ".join(claim.items[k].surface for k in parts)
            yield _ground(match, "exclusion", number, f"not {claimed}", claimed, mask(parts))


def _opposite_words(match: Match) -> Iterator[Ground]:
    """Yield the opposite of a word of the claim, in a clause without it: "closed" for "open"."""
    claim, keys = match.claim, match.passage.keys
    if _OPPOSITES.keys().isdisjoint(claim.has):
        return
    for k, item in enumerate(claim.items):
        opposites = _OPPOSITES.get(item.key)
        if not opposites or opposites.isdisjoint(keys) or _in_best_clause(match, item.key):
            continue
        if same_roles(claim, match.passage.clauses):
            return  # "Ann lost to Bob", "Bob won against Ann"
        for number, clause in enumerate(match.passage.clauses):
            word = next((word for word in clause.words if word.key in opposites), None)
            if word is not None and not word.named:
                yield _ground(match, "opposite", number, word.surface, item.surface, 1 << k)


def _in_best_clause(match: Match, key: str) -> bool:
    """Return whether a word is in the clause that says most of the claim without it."""
    if key not in match.passage.keys:
        return False
    rest = {item.key for item in match.claim.items} - {key}
    parts = [part.keys for clause in match.passage.clauses for part in clause.parts]
    return key in max(parts, key=lambda keys: (len(keys & rest), key in keys))


def _opposite_prepositions(match: Match) -> Iterator[Ground]:
    """Yield the opposite of a preposition before the same word: "in Oslo", "outside Oslo"."""
    claim = match.claim
    exchanged = [_PREPOSITIONS[key] for key in claim.has if key in _PREPOSITIONS]
    if match.passage.keys.isdisjoint(chain.from_iterable(exchanged)):
        return
    for preposition, word in _after_prepositions(claim):
        for number, clause in enumerate(match.passage.clauses):
            others = [other for other, same in _after_prepositions(clause) if same == word]
            opposites = [one for one in others if one.key in _PREPOSITIONS[preposition.key]]
            if opposites and preposition.key not in [one.key for one in others]:
                stated, claimed = opposites[0].surface, preposition.surface
                parts = mask(k for k, item in enumerate(claim.items) if item is preposition)
                yield _ground(match, "opposite", number, stated, claimed, parts)


def _after_prepositions(clause: ReadClause) -> list[tuple[Word, str]]:
    """Return each preposition that has an opposite, with the key of the content word after it."""
    prepositions = []
    for at, preposition in enumerate(clause.words):
        if preposition.key in _PREPOSITIONS:
            after = (word for word in clause.words[at + 1 : at + 1 + _THING + 1] if word.weight)
            word = next(after, None)
            if word is not None and not word.kind:
                prepositions.append((preposition, word.key))
    return prepositions


def _ground(
    match: Match, kind: str, number: int, other: str, claimed: str, left_out: int
) -> Ground:
    share = _share(match, number, left_out)
    clause = match.passage.clauses[number]
    denied = clause.denies_something and any(
        part.denied for part in clause.parts if not part.keys.isdisjoint(_keys(other))
    )
    return Ground(kind, number, other, claimed, share, share >= _HALF and not denied)


def _share(match: Match, number: int, left_out: int) -> float:
    """Return the share of the rest of the claim that a sentence has, 0 where it lacks a number."""
    claim, there = match.claim, match.masks[number]
    if claim.numbered & ~left_out & ~there:
        return 0.0
    return claim.share(there, claim.everything & ~left_out)


def _follows(match: Match, clause: ReadClause, claimed: int, place: int) -> bool:
    """Return whether a place in a sentence follows the same word as the place in the claim.

    It is the last content word before `claimed`, without names and numbers. No other verb may be
    between them, and the last name before must be one of the claim.
    """
    claim = match.claim
    anchor = next((one.key for one in reversed(claim.words[:claimed]) if one.plain), "")
    life = sorted(
        {q.start for q in clause.numbers if q.start < clause.verb and q.kind in (YEAR, DAY)}
    )
    if anchor in ("born", "die") and len(life) == 2 and clause.names[:1] and not clause.names[0][0]:
        return place == life[anchor == "die"]  # "Ada Holm (1861 – 1930) was"
    before = range(place - 1, max(-1, place - _REACH - 1), -1)
    at = next((k for k in before if clause.keys[k] == anchor), -1)
    if at < 0:
        return False
    between = clause.words[at + 1 : place]
    if any(one.finite and one.weight and one.key not in claim.keys for one in between):
        return False
    names = [name for name in clause.names if name[1] <= at]
    owner = [name for name in names if clause.keys[name[0] - 1] not in _PLACED or not name[0]][-1:]
    return not any(claim.lacks(clause.words[start:end]) for start, end in owner)
