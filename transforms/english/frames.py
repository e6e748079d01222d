"""Read the stance of a sentence to its statement: asserted, denied, doubted or only reported.

"It is a myth that bats are blind" denies that bats are blind; "Some say that bats are blind" does
not say whether they are. The frames are data (`frames.toml`).
"""

import re
from collections.abc import Iterator, Set
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import Lists, word_set

ASSERTED: Final = "asserted"
DENIED: Final = "denied"
DOUBTED: Final = "doubted"
REPORTED: Final = "reported"
"""Reported or supposed, which is compatible with the statement but says less."""
_STANCES: Final = (ASSERTED, DENIED, DOUBTED, REPORTED)

_CACHED: Final = 256
_DEEPEST: Final = 3  # "Nobody disputes that it is a myth that bats are blind."
_LONGEST: Final = 600  # characters; a longer text is a list rather than a sentence
_LONGEST_END: Final = 80  # characters of a frame behind the statement
_WORD: Final = re.compile(r"\w+|\?")
_PART: Final = re.compile(r"\{([a-z_]+)\}")
_OPENING: Final = r"[\"“'‘(]*"
_ENDING: Final = r"[.!?\"”’)]*\s*$"


class Framed(NamedTuple):
    """A statement without its frame, and its stance: one of the constants of this module."""

    stance: str
    statement: str


class _Frames:
    """The frames of one stance; they are compiled when a sentence may have one."""

    def __init__(self, stance: str, frames: dict[str, str], parts: dict[str, str]) -> None:
        self.stance = stance
        self._frames = frames
        self._parts = parts

    @cached_property
    def _before(self) -> re.Pattern[str]:
        return self._compile(rf"{_OPENING}(?:{self._alternatives('before')})[\s:,]+")

    @cached_property
    def _after(self) -> re.Pattern[str]:
        return self._compile(rf"(?:{self._alternatives('after')}){_ENDING}")

    @cached_property
    def _inside(self) -> re.Pattern[str]:
        return self._compile(self._alternatives("inside"))

    @cached_property
    def _around(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        pairs = (line.split(" … ") for line in self._lines("around"))
        return [
            (self._compile(rf"{_OPENING}(?:{first})\s+"), self._compile(rf"\s{last}{_ENDING}"))
            for first, last in pairs
        ]

    def statement(self, text: str, kinds: Set[str]) -> str | None:
        """Return the statement of a text that has a frame of this stance, else None.

        Only the `kinds` of frames are looked for of which the text has a word.
        """
        if "before" in kinds and (opening := self._before.match(text)):
            return text[opening.end() :] or None
        for first, last in self._around if "around" in kinds else ():
            opening = first.match(text)
            closing = last.search(text, opening.end()) if opening else None
            if opening and closing:
                return text[opening.end() : closing.start()]
        end = max(0, len(text) - _LONGEST_END)
        closing = self._after.search(text, end) if "after" in kinds else None
        if closing and closing.start():
            return text[: closing.start()]
        return text if "inside" in kinds and self._inside.search(text) else None

    def _lines(self, kind: str) -> list[str]:
        return [line for line in self._frames.get(kind, "").strip().split("\n") if line]

    def _alternatives(self, kind: str) -> str:
        return "|".join(self._lines(kind)) or r"(?!)"  # no frame of this kind: matches nothing

    def _compile(self, pattern: str) -> re.Pattern[str]:
        while _PART.search(pattern):  # a part may have parts
            pattern = _PART.sub(lambda part: self._parts[part[1]], pattern)
        return re.compile(pattern, re.IGNORECASE)


_LISTS: Final = Lists("ufo.transforms.english", "frames.toml")
_TABLES: Final = _LISTS.tables
FRAME_OPENERS: Final = _LISTS.words("openers")
"""Words that begin a frame, and mean nothing within a sentence."""
_FRAMES: Final = [_Frames(stance, _TABLES[stance], _TABLES["parts"]) for stance in _STANCES]
_WORDS: Final = {kind: word_set(words) for kind, words in _TABLES["words"].items()}
FRAME_WORDS: Final = frozenset[str]().union(*_WORDS.values())
"""A sentence without one of these, without an opener and without "n't" has no frame."""


@lru_cache(_CACHED)
def read_frame(sentence: str) -> Framed:
    """Return the stance of a sentence, and its statement without the frame around it.

    Frames within frames are read from the outside: what is doubted or reported stays so, and a
    denied denial is asserted. Linear in the length of the sentence, of which more than 600
    characters are not searched.
    """
    stance, text = ASSERTED, sentence.strip()
    if len(text) > _LONGEST:
        return Framed(stance, text)
    for _ in range(_DEEPEST):
        kinds = _kinds(text.lower())
        framing = next(_framings(text, kinds), None) if kinds else None
        if framing is None:
            break
        stance = _combine(stance, framing.stance)
        if framing.statement == text:
            break
        text = framing.statement
    return Framed(stance, text)


def _kinds(low: str) -> set[str]:
    """Return the kinds of frames that a text in lower case may have."""
    words = _WORD.findall(low)
    kinds = {kind for kind, known in _WORDS.items() if not known.isdisjoint(words)}
    if "n't" in low or "n’t" in low:
        kinds |= {"before", "after"}
    if words and words[0] in FRAME_OPENERS:
        kinds.add("around")
    return kinds


def _framings(text: str, kinds: Set[str]) -> Iterator[Framed]:
    for frames in _FRAMES:
        statement = frames.statement(text, kinds)
        if statement is not None:
            yield Framed(frames.stance, statement)


def _combine(outer: str, inner: str) -> str:
    if outer == ASSERTED:
        return inner
    if outer == DENIED:
        return ASSERTED if inner == DENIED else DENIED
    return outer
