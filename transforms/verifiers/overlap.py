"""The verifier `overlap`: one logistic regression over what a passage says of a claim's words.

Claims and passages are read as verifiers compare them: parts, sentences, and what each says. Both
readings are cached, because a passage is read for several claims and a claim for several passages;
so is the match of the two, which features, rules and explanation need. Here are also the grounds on
which any verifier of the offline judge may call a claim supported or refuted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from math import exp, log
from operator import mul
from typing import Final, NamedTuple

import sentencex

from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.english.grammar import word_set
from ufo.transforms.english.words import (
    COMMON,
    DAY,
    NEGATORS,
    YEAR,
    Quantity,
    Word,
    agree,
    differ,
    quantities,
    read,
    said,
)
from ufo.transforms.verifiers.verifier import SUPPORTED_FROM, Pair, Probabilities, Verifier

_MAX_CLAIM_WORDS: Final = 400  # Longer claims are cut, to keep the time linear.
# As many as one response needs: objects that stay cached over several responses are visited by the
# garbage collector again and again, which takes longer than reading a claim again.
CACHED: Final = 16
_DENIED: Final = 3  # words after a negation that it can deny
_SUBJECT_WORDS: Final = 14
PRONOUNS: Final = frozenset(("he", "she", "it", "they"))
POSSESSIVE: Final = ("'s", "’s", "s'", "s’")
POSSESSIVES: Final = frozenset(("his", "her", "its", "their"))
REFERRING: Final = PRONOUNS | POSSESSIVES
# A line that does not go on in lower case on the next one (a heading, an item) is a sentence too.
_LINE_END: Final = re.compile(r"\n(?!\s*[a-z])")


class ReadClause:
    """The words of a claim or of a sentence of a passage, with their `keys` and its `numbers`.

    `has` is the set of the keys, `names` the places of names, each as (start, end), and `verb` that
    of the first word that can be the verb, or that after the first name.
    """

    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.keys = [word.key for word in words]
        self.has = frozenset(self.keys)
        self.numbers = quantities(words)
        self.names = _names_in(words)
        verbs = [at for at, word in enumerate(words) if word.finite and at]
        self.verb = verbs[0] if verbs else self.names[0][1] if self.names else len(words)

    def denied(self) -> dict[str, str]:
        """Return the key of the first content word after each negation -> the negation."""
        return _denials(self.words)

    def subject(self) -> list[Word]:
        """Return the content words before the verb, numbers left out."""
        before = self.words[: min(self.verb, _SUBJECT_WORDS)]
        return [one for one in before if one.weight and not one.kind]

    def subject_names(self) -> list[Word]:
        """Return the words of the names before the verb."""
        until = min(self.verb, _SUBJECT_WORDS)
        before = [name for name in self.names if name[0] < until]
        return [one for start, end in before for one in self.words[start:end] if one.weight]

    def others(self, words: Sequence[Word]) -> bool:
        """Return whether none of the words is among these."""
        return not any(one.key in self.has for one in words)


def _names_in(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the places of names: words with capitals, joined by "of" ("University of Paris").

    Any first word has a capital: it is a name before another one, before a verb or as an owner.
    """
    found: list[tuple[int, int]] = []
    for at in [at for at, word in enumerate(words) if word.named]:
        after = words[1:2]
        opens = words[0].surface.endswith(POSSESSIVE) or any(w.named or w.finite for w in after)
        if not at and not opens:
            continue
        start, end = found[-1] if found else (-9, -9)
        joined = end == at or (end == at - 1 and words[end].lower == "of")
        if joined and not any(one.closes for one in words[end - 1 : at]):
            found[-1] = (start, at + 1)
        else:
            found.append((at, at + 1))
    return found


def _denials(words: Sequence[Word]) -> dict[str, str]:
    denied: dict[str, str] = {}
    for place in [place for place, word in enumerate(words) if word.lower in NEGATORS]:
        word = words[place]
        for other in words[place + 1 : place + 1 + _DENIED]:
            if other.lower in ("only", "but", "just"):
                break  # "not only" and "not sure, but" deny nothing.
            if other.kind and word.lower == "no":
                break  # "No. 2"
            if other.weight:
                denied.setdefault(other.key, word.lower)
                break
    return denied


class ReadClaim(ReadClause):
    """A claim: its parts are the content words `items`, then its `numbers`; part k is bit k.

    `places` is where each part stands among `words`, `order` the parts as they follow each other.
    `everything`, `named`, `numbered`, `predicate`, `end` (second half) and `last` are masks.
    `about` has the keys of the claim's subject: its names (`named_subject`) where it has some, else
    its other words.
    """

    def __init__(self, text: str) -> None:
        super().__init__(read(text)[:_MAX_CLAIM_WORDS])
        words = self.words
        taken = {place for q in self.numbers for place in range(q.start, q.end)}
        first = {one.key: at for at, one in reversed([*enumerate(words)]) if one.weight}
        at_items = sorted(place for place in first.values() if place not in taken)
        self.items = [words[place] for place in at_items]
        self.places = [*at_items, *[q.start for q in self.numbers]]
        within = {place for start, end in self.names for place in range(start, end)}
        self.named = mask([k for k, place in enumerate(at_items) if place in within])
        common = mask([k for k, item in enumerate(self.items) if item.weight < 1])
        self.lower = [word.lower for word in words]
        self.everything = (1 << len(self.places)) - 1
        self._rare = self.everything & ~common
        self.numbered = self.everything >> len(self.items) << len(self.items)
        order = self.order = sorted(range(len(self.places)), key=self.places.__getitem__)
        self.end = mask(order[len(order) // 2 :])
        self.last = mask(order[-1:])
        told = [k for k, at in enumerate(self.places) if at >= self.verb]
        self.predicate = mask(told) or self.end
        self.named_subject = self.subject_names()
        self.about = _owned(self.named_subject) or _owned(self.subject())

    def weight(self, parts: int) -> float:
        """Return the weight of the parts in a mask."""
        return COMMON * parts.bit_count() + (1 - COMMON) * (parts & self._rare).bit_count()

    def share(self, parts: int, of: int) -> float:
        """Return the weighted share of the parts `of` that are in `parts`; 1 where it has none."""
        return self.weight(parts & of) / self.weight(of) if of else 1.0

    def text(self, part: int) -> str:
        """Return a part as the claim has it, punctuation left out."""
        if part < len(self.items):
            return self.items[part].surface
        return self.numbers[part - len(self.items)].said


def _owned(subject: list[Word]) -> frozenset[str]:
    """Return the keys of what stands after the last owner: of "Curie's daughter", "daughter"."""
    owners = [at for at, one in enumerate(subject) if one.surface.endswith(POSSESSIVE)]
    return frozenset(one.key for one in subject[owners[-1] + 1 if owners else 0 :])


class ReadPassage:
    """A passage: its `sentences` as written and as `clauses`; `title` has the keys of its title,
    which is `named` as written.

    `keys` are those of all its words, `numbers` its quantities with the number of their sentence.
    """

    def __init__(self, text: str, title: str = "") -> None:
        self.sentences = segment(text)
        self.clauses = [ReadClause(read(sentence)) for sentence in self.sentences]
        self.named = title
        titled = ReadClause(read(title))
        self.title = frozenset(word.key for word in titled.words if word.weight)
        self.title_numbers = titled.numbers
        self.keys = set().union(*[clause.has for clause in self.clauses])
        self.numbers = [(n, q) for n, clause in enumerate(self.clauses) for q in clause.numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Which parts of a claim a passage says: `said` by passage or title, `masks` by sentence.

    Every mask includes what the title says; a sentence that begins with "He" or "It" also has what
    the one before says of the claim's subject. `best` is the first sentence that says the most, -1
    where none says anything.
    """

    claim: ReadClaim
    passage: ReadPassage
    said: int
    masks: list[int]
    best: int


def segment(text: str) -> list[str]:
    """Return the sentences of a text, each an exact substring of it without outer white space."""
    found = sentencex.segment("en", text)
    if "\n" in text:
        found = [line for sentence in found for line in _LINE_END.split(sentence)]
    return [sentence for sentence in map(str.strip, found) if sentence]


def mask(parts: Iterable[int]) -> int:
    """Return the mask of some parts."""
    return sum([1 << k for k in parts])


read_claim: Final = lru_cache(CACHED)(ReadClaim)
read_passage: Final = lru_cache(CACHED)(ReadPassage)


@lru_cache(4 * CACHED)
def match(pair: Pair) -> Match:
    """Look every part of the claim up in the passage. Linear in the parts and their mentions."""
    claim, passage = read_claim(pair.claim), read_passage(pair.passage, pair.title)
    masks = [0] * len(passage.sentences)
    titled = 0
    if passage.title:
        titled = mask([k for k, item in enumerate(claim.items) if item.key in passage.title])
    said = [(k, item.key) for k, item in enumerate(claim.items) if item.key in passage.keys]
    for number, clause in enumerate(passage.clauses):
        there = clause.has
        masks[number] = sum([1 << k for k, key in said if key in there])
    for k, quantity in enumerate(claim.numbers, len(claim.items)):
        for number, other in passage.numbers:
            if other.kind == quantity.kind and agree(quantity, other):
                masks[number] |= 1 << k
        if passage.title_numbers and any(agree(quantity, q) for q in passage.title_numbers):
            titled |= 1 << k
    subject = mask([k for k, item in enumerate(claim.items) if item.key in claim.about])
    for number, clause in enumerate(passage.clauses[1:], 1):
        if clause.keys and clause.keys[0] in REFERRING:
            masks[number] |= masks[number - 1] & subject
    if titled:
        masks = [one | titled for one in masks]
    everything = titled
    for one in masks:
        everything |= one
    weights = list(map(claim.weight, masks))
    most = max(weights, default=0.0)
    return Match(claim, passage, everything, masks, weights.index(most) if most else -1)


# --- the verifier --------------------------------------------------------------------------------

_HALF: Final = 0.5  # A sentence that says less of the rest of the claim speaks of something else.
_MOST: Final = 0.75  # The same for a negation, which is of the whole.
_REACH: Final = 12  # Words from what is said of a subject to the date or name that it is said with.
_NAME: Final = 4  # Words of a name at most; more are a heading or a list.
_PLACED: Final = frozenset(("in", "from", "at", "of", "by", "near"))
"""After one of these a name is no owner of what follows: "X of Leeds, formed in"."""
_DEFINITE: Final = frozenset(("the", "this", "that"))
_THING: Final = 2  # Content words of what such a word may stand for: "the French company".
UNSURE: Final = 0.49  # How likely supported may be where a rule denies it.


class Ground(NamedTuple):
    """A difference: `said` in the sentence number `sentence`, where the claim says `claimed`.

    For a negation one of the two is empty. `share` is how much of the rest of the claim the same
    sentence says. A `sure` one stands alone, any other where a model sees a contradiction.
    """

    kind: str
    sentence: int
    said: str
    claimed: str
    share: float
    sure: bool


@lru_cache(4 * CACHED)
def grounds(found: Match) -> Sequence[Ground]:
    """Return the grounds on which a passage contradicts a claim, those to be relied on first.

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
    """Return whether another name stands where the claim has one that the passage never says."""
    return any(one.sure for one in _names(found))


def other_subject(found: Match) -> bool:
    """Return whether the passage is about another subject than the claim."""
    return elsewhere(found) != ""


def of_relative(found: Match) -> bool:
    """Return whether all that says most of the claim's predicate is said of "his brother" or the
    like, whom the claim does not speak of."""
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
    """Return whether there is a ground against the claim that can be relied on alone."""
    against = grounds(found)
    return bool(against) and against[0].sure


DENIALS: Final = (lacks_number, other_name, other_subject, of_relative, contradicted)
"""The rules that keep a passage from supporting a claim."""


def ruled(
    found: Match,
    three: Probabilities,
    denials: Sequence[Callable[[Match], bool]] = DENIALS,
    needs_ground: bool = True,
) -> Probabilities:
    """Return a verifier's probabilities of a pair, held to the rules above.

    `benchmarks/measure_judge.py` prints what each rule is worth; for that, some can be left out.
    """
    if three.supported >= SUPPORTED_FROM and any(rule(found) for rule in denials):
        refuted = three.refuted * (1 - UNSURE) / max(1 - three.supported, 1e-9)
        three = Probabilities(UNSURE, refuted, 1 - UNSURE - refuted)
    if needs_ground and three.outcome == REFUTED and not grounds(found):
        half = (1 - three.supported) / 2
        return Probabilities(three.supported, half, half)  # A tie is no contradiction.
    return three


@lru_cache(4 * CACHED)
def elsewhere(found: Match) -> str:
    """Return the other subject that a passage is about, by its title or its best sentence.

    It is "" where passage or title name the claim's own subject, in full or shortened ("Curie"), or
    that has no name. Under the title of a namesake ("Pierre Curie") only the full name counts. A
    claim about "he" or "it" is of no page that has a title.
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

    It does where it has it for a subject, or begins with a pronoun after such a sentence, or with
    "the film" under its title. "His father" and "Pierre Curie" are not "Marie Curie".
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
    """Return whether two names share a part while each has one of its own, initials aside."""
    own, others = (any(len(key) > 1 for key in rest) for rest in (name - about, about - name))
    return own and others and not name.isdisjoint(about)


def _titled(found: Match) -> bool:
    title, about = found.passage.title, found.claim.about
    return bool(title & about) and (title <= about or about <= title)


def _quantities(found: Match) -> Iterator[Ground]:
    """Yield other numbers of the same things, and other dates, where the passage has none that
    agrees."""
    claim, passage = found.claim, found.passage
    for k, claimed in enumerate(claim.numbers, len(claim.items)):
        if found.said >> k & 1:
            continue
        same = mask(j for j, q in _numbered(found) if q.start == claimed.start)
        for number, other in passage.numbers:
            if not differ(claimed, other) or any(agree(q, other) for q in claim.numbers):
                continue
            clause, dated = passage.clauses[number], claimed.kind in (YEAR, DAY)
            if not dated or _follows(found, clause, claimed.start, other.start):
                kind = "date" if dated else "number"
                yield _ground(found, kind, number, other.said, claimed.said, same)


def _numbered(found: Match) -> Iterator[tuple[int, Quantity]]:
    return iter(enumerate(found.claim.numbers, len(found.claim.items)))


def _names(found: Match) -> Iterator[Ground]:
    """Yield other names where the claim has one that the passage does not say.

    Such a name has nothing of the claim, or shares a word with the claim's name and has another of
    its own: "Pacific Ocean" for "Indian Ocean". Both follow the same words ("born in"). An
    abbreviation may stand for any name.
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
    """Yield a negation that only one of the two has, of a word that both have."""
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
    """Return the share of the rest of the claim that a sentence says, 0 where it lacks a number."""
    claim, there = found.claim, found.masks[number]
    if claim.numbered & ~left_out & ~there:
        return 0.0
    return claim.share(there, claim.everything & ~left_out)


def _follows(found: Match, clause: ReadClause, claimed: int, place: int) -> bool:
    """Return whether a place of a sentence belongs to the word that it belongs to in the claim.

    That is the last one of content before `claimed`, names and numbers aside. No other verb stands
    between, and the last name before is one of the claim.
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

    The citation is the sentence with most of the claim's words; for "refuted" the one that the
    claim's number, date, name or negation differs from.
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
    """Return the parts of the claim that are said, or those that are not, in their order.

    A date of which a part is missing counts as missing.
    """
    claim = found.claim
    unsaid = {claim.places[k] for k in claim.order if not found.said >> k & 1}
    texts = [claim.text(k) for k in claim.order if (claim.places[k] in unsaid) != said]
    listed = list(dict.fromkeys(texts))
    quoted = ", ".join([f'"{one}"' for one in listed[:_NAMED]])
    more = len(listed) - _NAMED
    return f"{quoted} and {more} more" if more > 0 else quoted


WEIGHTS: Final = {
    "said_together": 2.3204,  # share of the claim's words that two neighbouring sentences say
    "names_said": 0.5691,  # ... of its names
    "predicate_said": 0.8348,  # ... of the words from its verb on
    "last_missing": -0.3512,  # 1 where the passage does not say the claim's last word or number
    "end_missing": 0.2153,  # logarithm of 1 + words of the claim's second half that it does not say
    "names_missing": -0.4002,  # ... words of names
    "numbers_missing": -0.8223,  # ... numbers and dates
    "function_words": 0.9669,  # share of the claim's function words that the passage has
    "personal": -1.3870,  # 1 where the claim speaks of I or you: talk rather than a statement
    "differs": -1.7301,  # 1 where the passage has a ground against the claim
}
"""The features, and what they weigh. `benchmarks/fit_overlap.py` prints the weights."""
INTERCEPT: Final = -2.6454
REFUTED_WITH_GROUND: Final = 0.8
"""How likely a pair that is not supported is refuted where there is a sure ground for it ..."""
REFUTED_WITHOUT: Final = 0.1
"""... and where there is none."""
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
