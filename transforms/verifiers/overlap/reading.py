"""Parse claims and passages into what overlap compares: parts, sentences, quantities, denials.

Both readings are cached, because a passage is read for several claims and a claim for several
passages; so is the match of the two, which the verdict and its explanation need.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import sentencex

from ufo.transforms.english.quantities import Quantity, agree, opened, quantities
from ufo.transforms.english.words import NUMBER, Word, read

_MAX_CLAIM_WORDS: Final = 400  # Longer claims are cut, to keep the time linear.
_MAX_QUANTITIES: Final = 32
# As many as one response needs: objects that stay cached over several responses are visited by the
# garbage collector again and again, which takes longer than reading a claim again.
_CACHED: Final = 16
_REACH: Final = 3  # Words after a negation that it can deny.
_PRONOUNS: Final = frozenset(("he", "she", "it", "they", "his", "her", "its", "their"))
# A line that does not go on in lower case on the next one (a heading, an item) is a sentence too.
_LINE_END: Final = re.compile(r"\n(?!\s*[a-z])")


class _Weights(dict[int, float]):
    """Mask of parts -> the sum of their weights, computed when first asked for."""

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__({0: 0.0})
        self._weights = weights

    def __missing__(self, mask: int) -> float:
        total = self[mask] = sum([w for k, w in enumerate(self._weights) if mask >> k & 1], 0.0)
        return total


class ReadClaim:
    """A claim: its parts are the content words `items`, then the `numbers`; part k is bit k.

    `places` is where each part stands among `words`, `order` the parts as they follow each other.
    `everything`, `names`, `all_numbers`, `predicate` (from the verb on), `subject` (names before
    it), `end` (second half) and `last` are masks of parts, and `weight` gives the weight of
    such a mask. `denied` maps negated stems to the negation; `phrases` are neighbouring words.
    """

    def __init__(self, text: str) -> None:
        words = self.words = read(text)[:_MAX_CLAIM_WORDS]
        self.numbers = [opened(words, q) for q in quantities(words)[:_MAX_QUANTITIES]]
        taken = {place for q in self.numbers for place in range(q.start, q.end)}
        self.items: list[Word] = []
        self.places: list[int] = []
        self.names = 0
        seen: set[str] = set()
        for place, word in enumerate(words):
            if word.kind and place not in taken and word.stem not in seen:
                seen.add(word.stem)
                # The first word has a capital anyway; before another one it is part of a name.
                if word.capital and (place or (len(words) > 1 and words[1].capital)):
                    self.names |= 1 << len(self.items)
                self.items.append(word)
                self.places.append(place)
        self.places += [q.start for q in self.numbers]
        weights = [item.weight for item in self.items] + [NUMBER] * len(self.numbers)
        self.weight = _Weights(weights).__getitem__
        self.everything = (1 << len(weights)) - 1
        self.all_numbers = self.everything >> len(self.items) << len(self.items)
        order = self.order = sorted(range(len(self.places)), key=self.places.__getitem__)
        self.end = _mask(order[len(order) // 2 :])
        self.last = _mask(order[-1:])
        verbs = [place for place, word in enumerate(words) if word.finite and place]
        after = [k for k, place in enumerate(self.places) if verbs and place >= verbs[0]]
        self.predicate = _mask(after) or self.end
        self.subject = self.names & ~self.predicate
        self.stems = frozenset([word.stem for word in words if word.kind])
        self.lower = [word.lower for word in words]
        self.phrases = set(zip(self.lower, self.lower[1:], strict=False))
        self.denied = _denials(words)

    def text(self, part: int) -> str:
        """Return a part as the claim has it, punctuation left out."""
        if part < len(self.items):
            return self.items[part].surface
        quantity = self.numbers[part - len(self.items)]
        return surface(self.words[quantity.start : quantity.end])


class ReadPassage:
    """A passage: `words`, their forms in `lower` case and what is `denied` are by sentence.

    `n_words` counts the words. `index` maps a stem to the numbers of the sentences that have it.
    `numbers` are quantities with the number of their sentence. `title` has the stems of the title,
    and `phrases` are neighbouring words. `pronouns` are the sentences after the first that begin
    with "It" or the like.
    """

    def __init__(self, text: str, title: str = "") -> None:
        self.sentences = segment(text)
        self.words = [read(sentence) for sentence in self.sentences]
        self.lower = [[word.lower for word in words] for words in self.words]
        self.denied = [_denials(words) for words in self.words]
        self.n_words = sum(map(len, self.words))
        self.title = frozenset([word.stem for word in read(title) if word.kind])
        self.index: dict[str, list[int]] = {}
        self.numbers: list[tuple[int, Quantity]] = []
        self.phrases: set[tuple[str, str]] = set()
        for number, words in enumerate(self.words):
            for stem in {word.stem for word in words if word.kind}:
                self.index.setdefault(stem, []).append(number)
            self.numbers += [(number, q) for q in quantities(words)]
            self.phrases.update(zip(self.lower[number], self.lower[number][1:], strict=False))
        starts = enumerate(self.lower)
        self.pronouns = [k for k, lower in starts if k and not _PRONOUNS.isdisjoint(lower[:1])]


read_claim: Final = lru_cache(_CACHED)(ReadClaim)
read_passage: Final = lru_cache(_CACHED)(ReadPassage)


class Match(NamedTuple):
    """Which parts of a claim a passage says: `said` by passage or title, `masks` by sentence.

    Every mask includes what the title says; a sentence that begins with "He" or "It" also has what
    the one before says of the claim's subject. `best` is the first sentence that says the most, -1
    where none says anything.
    """

    said: int
    masks: list[int]
    best: int


def segment(text: str) -> list[str]:
    """Return the sentences of a text, each an exact substring of it without outer white space."""
    found = sentencex.segment("en", text)
    if "\n" in text:
        found = [line for sentence in found for line in _LINE_END.split(sentence)]
    return [sentence for sentence in map(str.strip, found) if sentence]


def surface(words: Sequence[Word]) -> str:
    """Return words as they are written, punctuation left out."""
    return " ".join([word.surface for word in words])


def _mask(parts: Sequence[int]) -> int:
    return sum([1 << k for k in parts])


def _denials(words: Sequence[Word]) -> dict[str, str]:
    """Return stem -> negation for the first content word after each negation."""
    denied: dict[str, str] = {}
    for place in [place for place, word in enumerate(words) if word.negative]:
        for other in words[place + 1 : place + 1 + _REACH]:
            if other.lower in ("only", "but", "just"):
                break  # "not only" and "not sure, but" deny nothing.
            if other.kind:
                denied.setdefault(other.stem, words[place].lower)
                break
    return denied


@lru_cache(_CACHED)
def match(claim: ReadClaim, passage: ReadPassage) -> Match:
    """Look every part of the claim up in the passage. Linear in the parts and their mentions."""
    masks = [0] * len(passage.sentences)
    index, title, titled = passage.index, passage.title, 0
    for k, item in enumerate(claim.items):
        for number in index.get(item.stem, ()):
            masks[number] |= 1 << k
        if title and item.stem in title:
            titled |= 1 << k
    for k, quantity in enumerate(claim.numbers, len(claim.items)):
        for number, other in passage.numbers:
            if agree(quantity, other):
                masks[number] |= 1 << k
    subject = claim.everything & ~claim.predicate
    for number in passage.pronouns:
        masks[number] |= masks[number - 1] & subject
    if titled:
        masks = [mask | titled for mask in masks]
    said = titled
    for mask in masks:
        said |= mask
    weights = list(map(claim.weight, masks))
    most = max(weights, default=0.0)
    return Match(said, masks, weights.index(most) if most else -1)
