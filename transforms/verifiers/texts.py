"""Parse claims and passages into the parts and sentences that verifiers compare.

Both are cached: a passage is read for several claims, and a claim for several passages. So is the
match of the two, which features, rules and explanation need.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import sentencex

from ufo.transforms.english.quantities import agree, quantities
from ufo.transforms.english.words import COMMON, NEGATORS, Word, read
from ufo.transforms.verifiers.verifier import Pair

_MAX_CLAIM_WORDS: Final = 400  # Longer claims are cut, to keep the time linear.
# As many as one response needs. The garbage collector would visit objects that stay cached over
# several responses again and again, which takes longer than reading a claim again.
CACHED: Final = 16
_REACH: Final = 3  # words after a negation that it can deny
_SUBJECT_WORDS: Final = 14
PRONOUNS: Final = frozenset(("he", "she", "it", "they"))
POSSESSIVE: Final = ("'s", "’s")
POSSESSIVES: Final = frozenset(("his", "her", "its", "their"))
REFERRING: Final = PRONOUNS | POSSESSIVES
# A line is a sentence, unless the next line goes on in lower case: a heading, an item.
_LINE_END: Final = re.compile(r"\n(?!\s*[a-z])")


class ReadClause:
    """The words of a claim or of a sentence of a passage, with their `keys` and its `numbers`.

    `has` is the set of the keys, and `names` has the places of names as (start, end). `verb` is the
    place of the first word that can be the verb, or of the word after the first name.
    """

    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.keys = [word.key for word in words]
        self.has = frozenset(self.keys)
        self.numbers = quantities(words)
        self.names = _names(words)
        verbs = [at for at, word in enumerate(words) if word.finite and at]
        self.verb = verbs[0] if verbs else self.names[0][1] if self.names else len(words)

    def denied(self) -> dict[str, str]:
        """Return the key of the first content word after each negation -> the negation."""
        words, denied = self.words, dict[str, str]()
        for place in [place for place, word in enumerate(words) if word.lower in NEGATORS]:
            word = words[place]
            for other in words[place + 1 : place + 1 + _REACH]:
                if other.lower in ("only", "but", "just"):
                    break  # "not only" and "not sure, but" deny nothing.
                if other.kind and word.lower == "no":
                    break  # "No. 2"
                if other.weight:
                    denied.setdefault(other.key, word.lower)
                    break
        return denied

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


def _names(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the places of names: capitalised words, also joined by "of" ("University of Paris").

    The first word always has a capital: it is a name before another name, before a verb or as an
    owner.
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


class ReadClaim(ReadClause):
    """A claim: its parts are the content words `items`, then its `numbers`; part k is bit k.

    `places` has the place of each part among `words`, `order` the parts in the order of the text.
    `everything`, `named`, `numbered`, `predicate`, `end` (second half) and `last` are masks.
    `about` has the keys of the claim's subject: its names (`named_subject`) if it has any, else its
    other words.
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
        """Return the weighted share of the parts `of` that are in `parts`; 1 if `of` is empty."""
        return self.weight(parts & of) / self.weight(of) if of else 1.0

    def text(self, part: int) -> str:
        """Return a part as written in the claim, without punctuation."""
        if part < len(self.items):
            return self.items[part].surface
        return self.numbers[part - len(self.items)].said


def _owned(subject: list[Word]) -> frozenset[str]:
    """Return the keys after the last possessive: for "Curie's daughter", "daughter"."""
    owners = [at for at, one in enumerate(subject) if one.surface.endswith(POSSESSIVE)]
    return frozenset(one.key for one in subject[owners[-1] + 1 if owners else 0 :])


class ReadPassage:
    """A passage: its `sentences` as written and as `clauses`. `title` has the keys of its title,
    `named` its words as written.

    `keys` has the keys of all its words, `numbers` its quantities with their sentence number.
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
    """The parts of a claim that a passage has: `said` by passage or title, `masks` by sentence.

    Every mask includes the parts in the title. A sentence that begins with "He" or "It" also has
    the parts of the claim's subject in the sentence before. `best` is the first sentence with the
    most parts, -1 where none has any.
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
            if agree(quantity, other):
                masks[number] |= 1 << k
        if any(agree(quantity, q) for q in passage.title_numbers):
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
