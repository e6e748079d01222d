"""A claim and a passage, analysed once and shared by all the pairs they are part of."""

import re
from dataclasses import dataclass
from typing import Final

import sentencex

from transforms.judges.offline.lexicon import NEGATIVE_VERBS, NEGATORS
from transforms.judges.offline.opposites import OPPOSITES
from transforms.judges.offline.quantities import Quantity, quantities
from transforms.judges.offline.words import CARDINAL, CONTENT, STOP, Word, read

BORN: Final = "birth"
DIED: Final = "die"

_MAX_CLAIM_WORDS: Final = 400
_EVENT_REACH: Final = 12
_NEGATIVE: Final = NEGATORS | NEGATIVE_VERBS
# "(1809 – 1865)" or "(February 12, 1809 – April 15, 1865)" after a name: a life.
_LIFE: Final = re.compile(r"\([^()]{0,60}?\b(\d{4})\s*[–—-][^()]{0,40}?\b(\d{4})\)")
_LINE_END: Final = re.compile(r"\n(?!\s*[a-z])")


@dataclass(frozen=True, slots=True)
class Item:
    """A content word of a claim that a passage has to say, and its place among the words."""

    word: Word
    place: int
    name: bool


@dataclass(frozen=True, slots=True)
class PreparedClaim:
    """`items` are looked for by stem, `quantities` by value; `weights` belong to the items, then
    to the quantities. `pairs` are the neighbouring stems, stop words included, whose survival
    shows how literally a passage says the claim. `opposites` are the places of words that have
    antonyms, `negated` those of negations, `event` is BORN, DIED or ""."""

    text: str
    words: tuple[Word, ...]
    items: tuple[Item, ...]
    quantities: tuple[Quantity, ...]
    weights: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    opposites: tuple[tuple[int, frozenset[str]], ...]
    negated: tuple[int, ...]
    event: str
    asked: frozenset[str]


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    """`index` maps a stem to the numbers of the sentences that have it, ascending; quantities
    carry the number of their sentence, `events` the years of a birth or death too."""

    text: str
    sentences: tuple[str, ...]
    words: tuple[list[Word], ...]
    index: dict[str, list[int]]
    pairs: frozenset[tuple[str, str]]
    quantities: tuple[tuple[int, Quantity], ...]
    events: tuple[tuple[int, Quantity, str], ...]
    title: frozenset[str]
    size: int


def segment(text: str) -> list[str]:
    """The sentences of a text, each an exact substring of it without outer white space. A line
    that does not go on in lower case on the next one (a heading, an item) is a sentence too."""
    found = sentencex.segment("en", text)
    if "\n" in text:
        found = [line for sentence in found for line in _LINE_END.split(sentence)]
    return [s for s in map(str.strip, found) if s]


def _events(
    sentence: str, number: int, words: list[Word], found: list[Quantity]
) -> list[tuple[int, Quantity, str]]:
    """The years of a sentence that are said to be those of a birth or a death."""
    years = [q for q in found if q.dimension == "year"]
    if not years:
        return []
    life = _LIFE.search(sentence) if "(" in sentence else None
    if life:
        born, died = (float(year) for year in life.groups())
        return [
            (number, q, BORN if q.low == born else DIED)
            for q in years
            if q.low == q.high and q.low in (born, died)
        ]
    events = []
    for q in years:
        for word in reversed(words[max(0, q.start - _EVENT_REACH) : q.start]):
            if word.stem in (BORN, DIED):
                events.append((number, q, word.stem))
                break
            if word.kind >= CARDINAL and word.value is not None and word.value > 31:
                break
    return events


def prepare(text: str, title: str = "") -> PreparedPassage:
    """Analyse a passage. Linear in its length; any text is accepted, the empty one too."""
    sentences = segment(text)
    index: dict[str, list[int]] = {}
    all_words: list[list[Word]] = []
    pairs: set[tuple[str, str]] = set()
    found: list[tuple[int, Quantity]] = []
    events: list[tuple[int, Quantity, str]] = []
    size = 0
    for number, sentence in enumerate(sentences):
        words = read(sentence)
        size += len(words)
        all_words.append(words)
        stems = [w.stem for w in words]
        pairs.update(zip(stems, stems[1:], strict=False))
        numeric = False
        for w in words:
            kind = w.kind
            if kind:
                places = index.get(w.stem)
                if places is None:
                    index[w.stem] = [number]
                elif places[-1] != number:
                    places.append(number)
                if kind >= CARDINAL:
                    numeric = True
        if numeric:
            here = quantities(words)
            found += [(number, q) for q in here]
            events += _events(sentence, number, words, here)
    named = frozenset([w.stem for w in read(title) if w.kind]) if title else frozenset()
    return PreparedPassage(
        text,
        tuple(sentences),
        tuple(all_words),
        index,
        frozenset(pairs),
        tuple(found),
        tuple(events),
        named,
        size,
    )


def negations(words: list[Word] | tuple[Word, ...]) -> tuple[int, ...]:
    """The places of the words that turn the statement around."""
    return tuple([place for place, w in enumerate(words) if w.lower in _NEGATIVE])


def prepare_claim(claim: str, query: str = "") -> PreparedClaim:
    """Analyse a claim and the query it answers: what the query already gives is not news."""
    words = read(claim)[:_MAX_CLAIM_WORDS]
    numbers: list[Quantity] = []
    for w in words:
        if w.kind >= CARDINAL:
            numbers = quantities(words)
            break
    taken = {p for q in numbers for p in range(q.start, q.end)} if numbers else ()
    items: list[Item] = []
    seen: set[str] = set()
    opposites = []
    event = ""
    second_capital = len(words) > 1 and words[1].capital
    for place, w in enumerate(words):
        if w.lower in OPPOSITES:
            opposites.append((place, OPPOSITES[w.lower]))
        stem = w.stem
        if w.kind == STOP or place in taken or stem in seen:
            continue
        seen.add(stem)
        if w.kind == CONTENT and stem in (BORN, DIED):
            event = "" if event else stem
        items.append(Item(w, place, w.capital and (place > 0 or second_capital)))
    stems = [w.stem for w in words]
    return PreparedClaim(
        claim,
        tuple(words),
        tuple(items),
        tuple(numbers),
        tuple([item.word.weight for item in items]) + (1.0,) * len(numbers),
        tuple(zip(stems, stems[1:], strict=False)),
        tuple(opposites),
        negations(words),
        event,
        frozenset(w.stem for w in read(query) if w.kind) if query else frozenset(),
    )
