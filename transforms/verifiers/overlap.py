"""Verify by word overlap, with a logistic regression: the verifier `overlap`.

The rules here also apply to every other verifier of the offline judge.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from math import exp, log
from operator import mul
from typing import Final, NamedTuple

from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.english.grammar import word_set
from ufo.transforms.english.numerals import DAY, YEAR
from ufo.transforms.english.quantities import agree, differ
from ufo.transforms.english.words import said
from ufo.transforms.verifiers.texts import (
    CACHED,
    POSSESSIVE,
    POSSESSIVES,
    PRONOUNS,
    REFERRING,
    Match,
    ReadClaim,
    ReadClause,
    mask,
    match,
)
from ufo.transforms.verifiers.verifier import SUPPORTED_FROM, Pair, Probabilities, Verifier

_HALF: Final = 0.5  # A sentence with less of the rest of the claim is about something else.
_MOST: Final = 0.75  # The same for a negation, which denies the whole sentence.
_REACH: Final = 12  # The most words between a word and the date or name that belongs to it.
_NAME: Final = 4  # Words of a name at most; more are a heading or a list.
_PLACED: Final = frozenset(("in", "from", "at", "of", "by", "near"))
"""After one of these words a name does not own what follows: "X of Leeds, formed in"."""
_DEFINITE: Final = frozenset(("the", "this", "that"))
_THING: Final = 2  # The most content words of a phrase for the subject: "the French company".
UNSURE: Final = 0.49  # The highest probability of supported where a rule denies it.


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
def grounds(found: Match) -> Sequence[Ground]:
    """Return the grounds on which a passage contradicts a claim, the sure ones first.

    All are in sentences about the claim's subject.
    """
    if elsewhere(found):
        return ()
    all_found = (*_quantities(found), *_names(found), *_negations(found))
    about = [one for one in all_found if is_about(found, one.sentence)]
    return sorted(about, key=lambda one: (not one.sure, -one.share))


def lacks_number(found: Match) -> bool:
    """Return whether the claim has a number or date that neither passage nor title says."""
    return bool(found.claim.numbered & ~found.said)


def other_name(found: Match) -> bool:
    """Return whether the passage has another name in place of a name of the claim."""
    return any(one.sure for one in _names(found))


def other_subject(found: Match) -> bool:
    """Return whether the passage is about another subject than the claim."""
    return elsewhere(found) != ""


def of_relative(found: Match) -> bool:
    """Return whether the sentences with most of the claim's predicate are about a relative ("his
    brother") that the claim does not mention."""
    claim, passage = found.claim, found.passage
    if not claim.named_subject or POSSESSIVES.isdisjoint(passage.keys):
        return False
    weights = [claim.weight(one & claim.predicate) for one in found.masks]
    most = max(weights, default=0.0)
    saying = (passage.clauses[n] for n, weight in enumerate(weights) if weight == most)
    return most > 0 and all(_opens_with_relative(claim, clause) for clause in saying)


def _opens_with_relative(claim: ReadClaim, clause: ReadClause) -> bool:
    if POSSESSIVES.isdisjoint(clause.keys[:1]):
        return False
    return next((one.key not in claim.has for one in clause.words if one.weight), False)


def contradicted(found: Match) -> bool:
    """Return whether there is a sure ground against the claim."""
    against = grounds(found)
    return bool(against) and against[0].sure


DENIALS: Final = (lacks_number, other_name, other_subject, of_relative, contradicted)
"""The rules that keep a passage from supporting a claim."""


def ruled(found: Match, three: Probabilities) -> Probabilities:
    """Return a verifier's probabilities of a pair, limited by the rules above."""
    if three.supported >= SUPPORTED_FROM and any(rule(found) for rule in DENIALS):
        refuted = three.refuted * (1 - UNSURE) / max(1 - three.supported, 1e-9)
        three = Probabilities(UNSURE, refuted, 1 - UNSURE - refuted)
    if three.outcome == REFUTED and not grounds(found):
        half = (1 - three.supported) / 2
        return Probabilities(three.supported, half, half)  # A tie is no contradiction.
    return three


@lru_cache(4 * CACHED)
def elsewhere(found: Match) -> str:
    """Return the other subject that a passage is about, by its title or its best sentence.

    It is "" where passage or title name the claim's subject, in full or shortened ("Curie"), or
    where the subject has no name. Under the title of a namesake ("Pierre Curie") only the full name
    counts. For a claim about "he" or "it", any page with a title is about another subject.
    """
    claim, passage = found.claim, found.passage
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
    if passage.named or found.best < 0:
        return passage.named
    best = passage.clauses[found.best].subject_names()
    tells = claim.share(found.masks[found.best], claim.predicate) >= _HALF
    return said(best) if tells and len(best) <= _NAME else ""


def is_about(found: Match, number: int) -> bool:
    """Return whether a sentence of the passage speaks of the claim's subject.

    It does if its subject is the claim's, or if it begins with a pronoun after such a sentence, or
    with "the film" under the film's title. "His father" and "Pierre Curie" are not "Marie Curie".
    """
    claim, clause = found.claim, found.passage.clauses[number]
    first = clause.keys[0] if clause.keys else ""
    if not claim.about:
        return True
    if first in PRONOUNS:
        return is_about(found, number - 1) if number else _titled(found)
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
        names = [clause.keys[start:end] for start, end in clause.names if start < clause.verb]
        return not any(_is_namesake(frozenset(name), claim.about) for name in names)
    known = first in _DEFINITE and len(subject) <= _THING
    return _titled(found) and not clause.subject_names() and known


def _is_namesake(name: frozenset[str], about: frozenset[str]) -> bool:
    """Return whether two names share a part while each also has another part, initials aside."""
    own, others = (any(len(key) > 1 for key in rest) for rest in (name - about, about - name))
    return own and others and not name.isdisjoint(about)


def _titled(found: Match) -> bool:
    title, about = found.passage.title, found.claim.about
    return bool(title & about) and (title <= about or about <= title)


def _quantities(found: Match) -> Iterator[Ground]:
    """Yield other numbers of the same things, and other dates, where none in the passage agrees."""
    claim, passage = found.claim, found.passage
    for k, claimed in enumerate(claim.numbers, len(claim.items)):
        if found.said >> k & 1:
            continue
        numbered = enumerate(claim.numbers, len(claim.items))
        same = mask(j for j, q in numbered if q.start == claimed.start)
        for number, other in passage.numbers:
            if not differ(claimed, other) or any(agree(q, other) for q in claim.numbers):
                continue
            clause, dated = passage.clauses[number], claimed.kind in (YEAR, DAY)
            if not dated or _follows(found, clause, claimed.start, other.start):
                kind = "date" if dated else "number"
                yield _ground(found, kind, number, other.said, claimed.said, same)


def _names(found: Match) -> Iterator[Ground]:
    """Yield other names in place of a name of the claim that the passage lacks.

    Such a name shares no word with the claim, or one word with the claim's name but not all:
    "Pacific Ocean" for "Indian Ocean". Both follow the same words ("born in"). Abbreviations do not
    count: they may stand for any name.
    """
    claim, passage = found.claim, found.passage
    for start, end in claim.names if claim.named & ~found.said else ():
        name = frozenset(one.key for one in claim.words[start:end] if one.weight)
        unsaid = frozenset(key for key in name if key not in passage.keys) - passage.title
        if start < claim.verb or not unsaid or claim.words[start].surface.isupper():
            continue
        lead, claimed = claim.words[start - 1], said(claim.words[start:end])
        parts = mask(k for k, place in enumerate(claim.places) if start <= place < end)
        for number, clause in enumerate(passage.clauses):
            for first, last in clause.names:
                other = clause.words[first:last]
                keys = frozenset(one.key for one in other if one.weight)
                shared = bool(keys & name) and not (keys - name <= claim.has)
                instead = shared if unsaid < name else claim.others(other)
                if not first or not instead or other[0].surface.isupper():
                    continue
                after_same = not lead.weight and clause.words[first - 1].lower == lead.lower
                kind = claim.keys[end : end + 1]  # "a Danish botanist", "a Norwegian botanist"
                alike = bool(kind) and kind == clause.keys[last : last + 1]
                if after_same and (alike or _follows(found, clause, start, first)):
                    yield _ground(found, "name", number, said(other), claimed, parts)


def _negations(found: Match) -> Iterator[Ground]:
    """Yield each word that both have and only one negates."""
    claim, passage, best = found.claim, found.passage, found.best
    there = passage.clauses[best].denied() if best >= 0 else {}
    if best < 0 or bool(there) == bool(claim.denied()):
        return
    for key, negation in (there or claim.denied()).items():
        if key in claim.has and key in passage.clauses[best].has:
            texts = (negation, "") if there else ("", negation)
            sure = _share(found, best, 0) >= _MOST
            yield Ground("negation", best, *texts, _share(found, best, 0), sure)


def _ground(
    found: Match, kind: str, number: int, other: str, claimed: str, left_out: int
) -> Ground:
    share = _share(found, number, left_out)
    denied = bool(found.passage.clauses[number].denied()) != bool(found.claim.denied())
    return Ground(kind, number, other, claimed, share, share >= _HALF and not denied)


def _share(found: Match, number: int, left_out: int) -> float:
    """Return the share of the rest of the claim that a sentence has, 0 where it lacks a number."""
    claim, there = found.claim, found.masks[number]
    if claim.numbered & ~left_out & ~there:
        return 0.0
    return claim.share(there, claim.everything & ~left_out)


def _follows(found: Match, clause: ReadClause, claimed: int, place: int) -> bool:
    """Return whether a place in a sentence follows the same word as the place in the claim.

    It is the last content word before `claimed`, without names and numbers. No other verb may be
    between them, and the last name before must be one of the claim.
    """
    claim = found.claim
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
    return not any(claim.others(clause.words[start:end]) for start, end in owner)


_NAMED: Final = 4  # Parts of a claim that a rationale lists; the rest are counted.


class Explanation(NamedTuple):
    """An explanation: `citation` is an exact substring of the passage, `rationale` one line."""

    citation: str | None
    rationale: str


def explain(found: Match, outcome: str) -> Explanation:
    """Explain the outcome "supported", "refuted" or "noans" of a pair; "noans" has no citation.

    The citation is the sentence with most of the claim's words. For "refuted" it is the sentence
    whose number, date, name or negation differs from the claim.
    """
    sentences = found.passage.sentences
    against = grounds(found)
    if outcome == REFUTED and against:
        return Explanation(sentences[against[0].sentence], _differs(against[0]))
    if outcome not in (SUPPORTED, REFUTED):
        return Explanation(None, _unsettled(found, against))
    if not sentences:
        return Explanation(None, "the passage is empty")
    said, missing = _parts(found, said=True), _parts(found, said=False)
    if not said:
        missing = f"does not say {missing}" if missing else "the claim has no content words"
        return Explanation(sentences[max(found.best, 0)], missing)
    rationale = f"says {said}, not {missing}" if missing else f"says {said}"
    return Explanation(sentences[max(found.best, 0)], rationale)


def _differs(one: Ground) -> str:
    if one.said and one.claimed:
        return f'says "{one.said}", the claim says "{one.claimed}"'
    if one.said:
        return f'says "{one.said}", the claim does not'
    return f'does not say "{one.claimed}", the claim does'


def _unsettled(found: Match, against: Sequence[Ground]) -> str:
    other = elsewhere(found)
    if other:
        own = " ".join([word.surface for word in found.claim.named_subject])
        named = f'not "{own}"' if own else "the claim does not say whom it is about"
        return f'is about "{" ".join(other.split())}", {named}'
    if against and against[0].sure:
        return f"{_differs(against[0])}, but does not settle it"
    missing = _parts(found, said=False)
    if missing:
        return f"does not say {missing}"
    if not found.claim.everything:
        return "the claim has no content words"
    return "says the words of the claim, but does not settle it"


def _parts(found: Match, *, said: bool) -> str:
    """Return the parts of the claim that the passage has, or lacks (`said` False), in their order.

    A date with a missing part counts as missing.
    """
    claim = found.claim
    unsaid = {claim.places[k] for k in claim.order if not found.said >> k & 1}
    texts = [claim.text(k) for k in claim.order if (claim.places[k] in unsaid) != said]
    listed = list(dict.fromkeys(texts))
    quoted = ", ".join([f'"{one}"' for one in listed[:_NAMED]])
    more = len(listed) - _NAMED
    return f"{quoted} and {more} more" if more > 0 else quoted


WEIGHTS: Final = {
    "said_together": 2.3204,  # share of the claim's words in two neighbouring sentences
    "names_said": 0.5691,  # ... of its names
    "predicate_said": 0.8348,  # ... of the words from its verb on
    "last_missing": -0.3512,  # 1 where the passage lacks the claim's last word or number
    "end_missing": 0.2153,  # logarithm of 1 + missing words of the claim's second half
    "names_missing": -0.4002,  # ... words of names
    "numbers_missing": -0.8223,  # ... numbers and dates
    "function_words": 0.9669,  # share of the claim's function words that the passage has
    "personal": -1.3870,  # 1 where the claim has "I" or "you": talk rather than a statement
    "differs": -1.7301,  # 1 where the passage has a ground against the claim
}
"""The features and their weights, which `benchmarks/training/overlap.py` prints."""
INTERCEPT: Final = -2.6454
REFUTED_WITH_GROUND: Final = 0.8
"""The probability that a pair that is not supported is refuted, with a sure ground ..."""
REFUTED_WITHOUT: Final = 0.1
"""... and without one."""
_PREDICATE_SAID: Final = [*WEIGHTS].index("predicate_said")
_A_QUARTER: Final = 0.25
_PERSONAL: Final = word_set("i me my mine i'm i've i'd i'll you your")


class OverlapVerifier(Verifier):
    """Compares words, names, numbers and dates; the fastest."""

    name = "overlap"

    def fingerprint(self) -> str:
        return sha256(repr((INTERCEPT, WEIGHTS)).encode()).hexdigest()[:16]

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        return [probabilities(features(pair)) for pair in pairs]


def probabilities(
    vector: Sequence[float],
    weights: Iterable[float] = WEIGHTS.values(),
    intercept: float = INTERCEPT,
) -> Probabilities:
    """Return the probabilities of a pair with these features."""
    score = sum(map(mul, weights, vector), intercept)
    supported = 1 / (1 + exp(-score))
    if vector[_PREDICATE_SAID] < _A_QUARTER:  # the passage only names the claim's subject
        supported = min(supported, UNSURE)
    share = REFUTED_WITH_GROUND if vector[-1] else REFUTED_WITHOUT
    refuted = (1 - supported) * share
    return Probabilities(supported, refuted, 1 - supported - refuted)


def features(pair: Pair) -> list[float]:
    """Return the numbers named in WEIGHTS. Accepts any texts; depends on nothing but the pair."""
    found = match(pair)
    claim, passage, said = found.claim, found.passage, found.said
    everything, missing = claim.everything, claim.everything & ~said
    together = {one | other for one, other in pairwise(found.masks)} or {*found.masks, 0}
    unsaid = enumerate(claim.numbers, len(claim.items))
    numbers = {one.start for k, one in unsaid if missing >> k & 1}
    small = [word.key for word in claim.words if not word.weight]
    against = grounds(found)
    return [
        max([claim.share(one, everything) for one in together]),
        max([claim.share(one, claim.named) for one in together]),
        max([claim.share(one, claim.predicate) for one in together]),
        float(bool(claim.last & missing)),
        log(1 + (claim.end & missing).bit_count()),
        log(1 + (claim.named & missing).bit_count()),
        log(1 + len(numbers)),
        sum([key in passage.keys for key in small]) / max(1, len(small)),
        float(not _PERSONAL.isdisjoint(claim.lower)),
        float(bool(against) and against[0].sure),
    ]
