"""Parse claims and passages into the parts and sentences that verifiers compare.

Both are cached: a passage is read for several claims, and a claim for several passages. So is the
match of the two, which features, rules and explanation need.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from ufo.transforms.english.clauses import clauses, remove_contrast
from ufo.transforms.english.frames import ASSERTED, DENIED, FRAME_OPENERS, FRAME_WORDS, read_frame
from ufo.transforms.english.numerals import SERIES
from ufo.transforms.english.quantities import Quantity, agree, differ, quantities
from ufo.transforms.english.words import COMMON, NEGATORS, Word, read
from ufo.transforms.sentences import pieces
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
SETTLED: Final = (ASSERTED, DENIED)
"""The stances of a sentence that says whether its statement is true."""
NEGATIONS: Final = frozenset(word.key for word in read(" ".join(NEGATORS)))
# Without one of these words a sentence has no frame, and no contrast.
_MARKS: Final = NEGATIONS | {
    word.key for word in read(" ".join([*FRAME_WORDS, "rather instead opposed"]))
}
_OF_SUBJECTS: Final = frozenset(("no", "none", "neither", "nor", "nobody", "nothing"))
_OF_OBJECTS: Final = frozenset(("without", "lack", "lacks", "lacked", "lacking"))
_QUANTIFIERS: Final = frozenset(("all", "every", "each", "both", "always"))
_NONE: Final = frozenset[str]()
# A line is a sentence, unless the next line goes on in lower case: a heading, an item.
_LINE_END: Final = re.compile(r"\n(?!\s*[a-z])")


class Part(NamedTuple):
    """A clause of a sentence: the `keys` of its words and of the sentence's subject.

    `denied` has the negation of each denied word by its key."""

    keys: frozenset[str]
    denied: dict[str, str]


class ReadClause:
    """A claim or a sentence of a passage, without its frame and the alternatives that it denies.

    `words` are its words with their `keys` and its `numbers`; `has` is the set of the keys. `names`
    has the places of names as (start, end). `verb` is the place of the first word that can be the
    verb, or of the word after the first name. `excluded` has the keys of what the sentence names
    only to deny it ("not in Paris"), `stance` how it puts its statement
    (`ufo.transforms.english.frames`), and `open` the keys of what it does not settle.
    `denies_something` says whether it has a negation, or a frame that denies it.
    """

    def __init__(self, text: str) -> None:
        words = self._read(text)
        keys = [word.key for word in words]
        has = frozenset(keys)
        self.stance, self.frame, self._text = ASSERTED, "", text
        self.open = self.excluded = _NONE
        opens = keys[:1] and keys[0] in FRAME_OPENERS
        if not _MARKS.isdisjoint(has) or opens or "?" in text:
            words = self._without_marks(text)
            keys = [word.key for word in words]
            has = frozenset(keys)
        self.words, self.keys, self.has = words, keys, has
        self.denies_something = self.stance == DENIED or not NEGATIONS.isdisjoint(has)
        self.numbers = quantities(words)
        self.names = _names(words)
        verbs = [at for at, word in enumerate(words) if word.finite and at]
        self.verb = verbs[0] if verbs else self.names[0][1] if self.names else len(words)

    def _read(self, text: str) -> list[Word]:
        return read(text)

    def _without_marks(self, text: str) -> list[Word]:
        """Read a sentence that may have a frame, or alternatives that it denies."""
        self.stance, statement = read_frame(text)
        if len(statement) < len(text):
            self.frame = " … ".join(filter(None, map(_bare, text.split(statement, 1))))
        self._text = remove_contrast(statement)
        words = self._read(self._text)
        has = frozenset(word.key for word in words)
        if len(self._text) < len(statement):
            self.excluded = frozenset(word.key for word in read(statement) if word.weight) - has
        if self.stance not in SETTLED:
            self.open = self._left_open(statement, has)
        return words

    def _left_open(self, statement: str, has: frozenset[str]) -> frozenset[str]:
        """Return the keys of words that stand only in clauses that doubt or report them.

        "Ann won, and Bob may have lost" does not say that Bob lost."""
        pieces = [piece for piece, _ in clauses(statement)]
        certain = [piece for piece in pieces if read_frame(piece).stance == ASSERTED]
        if self.stance != read_frame(statement).stance or len(certain) == len(pieces):
            return has  # the frame stands around the whole statement
        return has - {word.key for piece in certain for word in read(piece)}

    @cached_property
    def parts(self) -> list[Part]:
        """The clauses of the sentence. One in a frame that denies it is whole."""
        pieces = clauses(self._text)
        count = 1 + max(number for _, number in pieces)
        words: list[list[Word]] = [[] for _ in range(count)]
        for piece, number in pieces:
            words[number] += self._read(piece)
        subject = frozenset(word.key for word in self.subject())
        parts = [
            Part(frozenset(word.key for word in part) | subject, _denied(part)) for part in words
        ]
        if self.stance != DENIED:
            return parts
        inner = {key: negation for part in parts for key, negation in part.denied.items()}
        denied = {} if inner else dict.fromkeys(self._predicate_keys()[:1], self.frame)
        return [Part(self.has, denied)]

    @cached_property
    def lows(self) -> list[str]:
        """The words in lower case, as they are written."""
        return [word.surface.lower() for word in self.words]

    def denied(self) -> dict[str, str]:
        """Return the negation of each denied word in any clause, by the word's key."""
        if not self.denies_something:
            return {}
        return {key: negation for part in self.parts for key, negation in part.denied.items()}

    def _predicate_keys(self) -> list[str]:
        keys = [word.key for word in self.words[self.verb :] if word.weight and not word.kind]
        return keys or [word.key for word in self.words if word.weight]

    def subject(self) -> list[Word]:
        """Return the content words before the verb, numbers left out."""
        before = self.words[: min(self.verb, _SUBJECT_WORDS)]
        return [one for one in before if one.weight and not one.kind]

    def subject_names(self) -> list[Word]:
        """Return the words of the names before the verb."""
        until = min(self.verb, _SUBJECT_WORDS)
        before = [name for name in self.names if name[0] < until]
        return [one for start, end in before for one in self.words[start:end] if one.weight]

    def lacks(self, words: Sequence[Word]) -> bool:
        """Return whether the sentence has none of these words."""
        return not any(one.key in self.has for one in words)


def _bare(text: str) -> str:
    return text.strip(" ,;:.!?")


def _denied(words: Sequence[Word]) -> dict[str, str]:
    """Return each negation by the key of the word that it denies, the first content word after it.

    A negation in front of the verb ("Neither Ann nor Bob", "No member") denies what is told, and
    "not all" denies "all".
    """
    denied = dict[str, str]()
    verb = next((at for at, word in enumerate(words) if word.finite), len(words))
    first_key = next((word.key for word in words[verb:] if word.weight and not word.kind), "")
    for place in [place for place, word in enumerate(words) if word.lower in NEGATORS]:
        negation = words[place].lower
        if negation in _OF_SUBJECTS and place < verb and first_key:
            denied.setdefault(first_key, negation)
            continue
        for other in words[place + 1 : place + 1 + _REACH]:
            if other.lower in ("only", "but", "just"):
                break  # "not only" and "not sure, but" deny nothing.
            if other.kind and negation == "no":
                break  # "No. 2"
            if other.weight or other.lower in _QUANTIFIERS:
                denied.setdefault(other.key, negation)
                break
    return denied


def _names(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the places of names: capitalised words, also joined by "of" ("University of Paris").

    The first word always has a capital: it is a name before another name, before a verb or as an
    owner.
    """
    spans: list[tuple[int, int]] = []
    start = end = -9  # of the last name
    for at in [at for at, word in enumerate(words) if word.named]:
        if at == 0 and not _opens_with_name(words):
            continue
        joined = end == at or (end == at - 1 and words[end].lower == "of")
        if joined and not (words[end - 1].closes or words[at - 1].closes):
            spans.pop()
        else:
            start = at
        end = at + 1
        spans.append((start, end))
    return spans


def _opens_with_name(words: Sequence[Word]) -> bool:
    """Return whether the first word, which has a capital, may be a name."""
    if words[0].surface.endswith(POSSESSIVE):
        return True
    return len(words) > 1 and (words[1].named or words[1].finite)


class ReadClaim(ReadClause):
    """A claim: its parts are the content words `items`, then its `numbers`; part k is bit k.

    `places` has the place of each part among `words`, `order` the parts in the order of the text.
    `everything`, `named`, `numbered`, `predicate`, `end` (second half) and `last` are masks.
    `series` has the numbers by which its subject is one of a series ("flight 207").
    `told_first` is the key of the first content word of its predicate.
    `denies` says whether it denies its predicate ("was not born", "it is a myth that").
    `about` has the keys of the claim's subject: its names (`named_subject`) if it has any, else its
    other words.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        words = self.words
        taken = {place for q in self.numbers for place in range(q.start, q.end)}
        # What only denies ("failed to") is no part.
        denying = frozenset(self.denied().values()) if self.denies_something else ()
        first: dict[str, int] = {}
        for place, word in enumerate(words):
            if word.weight and word.lower not in denying:
                first.setdefault(word.key, place)
        at_items = [place for place in first.values() if place not in taken]
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
        after_verb = [k for k, at in enumerate(self.places) if at >= self.verb]
        self.predicate = mask(after_verb) or self.end
        self.told_first = next(iter(self._predicate_keys()), "")
        self.denies = self._denies()
        self.series = [q for q in self.numbers if q.kind == SERIES and q.start < self.verb]
        self.named_subject = self.subject_names()
        self.about = _owned(self.named_subject) or _owned(self.subject())

    def _read(self, text: str) -> list[Word]:
        return read(text)[:_MAX_CLAIM_WORDS]

    def is_another(self, clause: ReadClause) -> bool:
        """Return whether a sentence is about another of a series than the claim: "flight 207"."""
        for own in self.series:
            others = [q for q in clause.numbers if q.kind == SERIES and q.unit == own.unit]
            if others and not any(agree(own, other) for other in others):
                return True
        return False

    def _denies(self) -> bool:
        if not self.denies_something:
            return False
        predicate = self._predicate_keys()[:2]
        return any(
            negation not in _OF_OBJECTS and key in predicate
            for key, negation in self.denied().items()
        )

    def weight(self, parts: int) -> float:
        """Return the weight of the parts in a mask."""
        return COMMON * parts.bit_count() + (1 - COMMON) * (parts & self._rare).bit_count()

    def share(self, parts: int, of: int) -> float:
        """Return the weighted share of the parts `of` that are in `parts`; 1 if `of` is empty."""
        return self.weight(parts & of) / self.weight(of) if of else 1.0

    def largest_share(self, masks: Iterable[int], of: int) -> float:
        """Return the largest `share` of the masks."""
        if not of:
            return 1.0
        return max(map(self.weight, {parts & of for parts in masks})) / self.weight(of)

    def text(self, part: int) -> str:
        """Return a part as written in the claim, without punctuation."""
        if part < len(self.items):
            return self.items[part].surface
        return self.numbers[part - len(self.items)].written


def _owned(subject: list[Word]) -> frozenset[str]:
    """Return the keys after the last possessive: for "Curie's daughter", "daughter"."""
    owners = [at for at, one in enumerate(subject) if one.surface.endswith(POSSESSIVE)]
    return frozenset(one.key for one in subject[owners[-1] + 1 if owners else 0 :])


class ReadPassage:
    """A passage: its `sentences` as written and as `clauses`. `title` has the keys of its title,
    `named` its words as written.

    `where` has the numbers of the sentences that have a key, `keys` the keys of all words, and
    `numbers` the quantities, each with its sentence number. `referring` has the numbers of the
    sentences after another that begin with "He", "Its" or the like.
    `denies_something`, `excludes` and `leaves_open` say whether any sentence does.
    """

    def __init__(self, text: str, title: str = "") -> None:
        self.sentences = segment(text)
        self.clauses = [ReadClause(sentence) for sentence in self.sentences]
        self.named = title
        titled = _read_title(title)
        self.title = frozenset(word.key for word in titled.words if word.weight)
        self.title_numbers = titled.numbers
        self.where: dict[str, list[int]] = defaultdict(list)
        for number, clause in enumerate(self.clauses):
            for key in clause.has:
                self.where[key].append(number)
        self.keys = self.where.keys()
        later = enumerate(self.clauses[1:], 1)
        self.referring = [n for n, clause in later if not REFERRING.isdisjoint(clause.keys[:1])]
        self.numbers = [(n, q) for n, clause in enumerate(self.clauses) for q in clause.numbers]
        self.denies_something = any(clause.denies_something for clause in self.clauses)
        self.excludes = any(clause.excluded for clause in self.clauses)
        self.leaves_open = any(clause.open for clause in self.clauses)


@dataclass(slots=True, eq=False)
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

    @property
    def open(self) -> int:
        """The parts of the claim that the passage says only where it doubts or reports them."""
        if not self.passage.leaves_open:
            return 0
        claim, settled = self.claim, 0
        for mask_, clause in zip(self.masks, self.passage.clauses, strict=True):
            keys = (claim.words[place].key for place in claim.places)
            settled |= mask_ & ~mask(k for k, key in enumerate(keys) if key in clause.open)
        return self.said & ~settled

    @property
    def together(self) -> set[int]:
        """The parts that two neighbouring sentences have, for all such pairs."""
        return {one | other for one, other in pairwise(self.masks)} or {*self.masks, 0}

    @property
    def largest_share(self) -> float:
        """The largest share of the claim that two neighbouring sentences have."""
        return self.claim.largest_share(self.together, self.claim.everything)


def segment(text: str) -> list[str]:
    """Return the sentences of a text, each an exact substring of it without outer white space."""
    sentences: list[str] = list(pieces(text))
    if "\n" in text:
        sentences = [line for sentence in sentences for line in _LINE_END.split(sentence)]
    return [sentence for sentence in map(str.strip, sentences) if sentence]


def mask(parts: Iterable[int]) -> int:
    """Return the mask of some parts."""
    bits = 0
    for k in parts:
        bits |= 1 << k
    return bits


_read_title: Final = lru_cache(CACHED)(ReadClause)
read_claim: Final = lru_cache(CACHED)(ReadClaim)
read_passage: Final = lru_cache(CACHED)(ReadPassage)


def _is_of_other(
    claim: ReadClaim, passage: ReadPassage, quantity: Quantity, agreeing: Sequence[int]
) -> bool:
    """Return whether the passage says a quantity of somebody else, and another of the subject.

    "Ann was born in 1867. Bob was born in 1859."
    """
    first_key = claim.told_first
    saying = [clause for clause in passage.clauses if first_key in clause.has]
    if len(saying) < 2 or not claim.named_subject:
        return False
    if any(claim.about <= passage.clauses[number].has for number in agreeing):
        return False
    if not all(_opens_with_other(claim, passage.clauses[number]) for number in agreeing):
        return False
    own = (clause for clause in saying if claim.about <= clause.has)
    return any(differ(quantity, other) for clause in own for other in clause.numbers)


def _opens_with_other(claim: ReadClaim, clause: ReadClause) -> bool:
    """Return whether a sentence begins with another name than the claim's, and its verb."""
    if not clause.names or clause.names[0][0]:
        return False
    end = clause.names[0][1]
    name = frozenset(word.key for word in clause.words[:end] if word.weight)
    return clause.verb <= end + 1 and not name <= claim.about


@lru_cache(4 * CACHED)
def match(pair: Pair) -> Match:
    """Look every part of the claim up in the passage. Linear in the parts and their mentions."""
    claim, passage = read_claim(pair.claim), read_passage(pair.passage, pair.title)
    masks = [0] * len(passage.sentences)
    titled = 0
    if passage.title:
        titled = mask([k for k, item in enumerate(claim.items) if item.key in passage.title])
    for k, item in enumerate(claim.items):
        for number in passage.where.get(item.key, ()):
            masks[number] |= 1 << k
    for k, quantity in enumerate(claim.numbers, len(claim.items)):
        agreeing = [number for number, other in passage.numbers if agree(quantity, other)]
        if agreeing and _is_of_other(claim, passage, quantity, agreeing):
            agreeing = []
        for number in agreeing:
            masks[number] |= 1 << k
        if passage.title_numbers and any(agree(quantity, q) for q in passage.title_numbers):
            titled |= 1 << k
    for number, clause in enumerate(passage.clauses if claim.series else ()):
        if claim.is_another(clause):
            masks[number] = 0
    if passage.referring:
        subject = mask([k for k, item in enumerate(claim.items) if item.key in claim.about])
        for number in passage.referring:
            masks[number] |= masks[number - 1] & subject
    if titled:
        masks = [one | titled for one in masks]
    everything = titled
    for sentence_mask in masks:
        everything |= sentence_mask
    weights = list(map(claim.weight, masks))
    most = max(weights, default=0.0)
    return Match(claim, passage, everything, masks, weights.index(most) if most else -1)
