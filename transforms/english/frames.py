"""Read how a sentence puts its statement: asserted, denied, doubted or only reported.

"It is a myth that bats are blind" denies that bats are blind; "Some say that bats are blind" does
not say whether they are. The frames are data (`frames.toml`).
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import Lists

ASSERTED: Final = "asserted"
DENIED: Final = "denied"
DOUBTED: Final = "doubted"
REPORTED: Final = "reported"
_STANCES: Final = (ASSERTED, DENIED, DOUBTED, REPORTED)

_CACHED: Final = 256
_DEEPEST: Final = 3  # "Nobody disputes that it is a myth that bats are blind."
_LONGEST: Final = 600  # characters; a longer text is a list rather than a sentence
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
        return self._compiled(rf"{_OPENING}(?:{self._either('before')})[\s:,]+")

    @cached_property
    def _after(self) -> re.Pattern[str]:
        return self._compiled(rf"(?:{self._either('after')}){_ENDING}")

    @cached_property
    def _inside(self) -> re.Pattern[str]:
        return self._compiled(self._either("inside"))

    @cached_property
    def _around(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        pairs = (line.split(" … ") for line in self._lines("around"))
        return [
            (self._compiled(rf"{_OPENING}(?:{first})\s+"), self._compiled(rf"\s{last}{_ENDING}"))
            for first, last in pairs
        ]

    def statement(self, text: str) -> str | None:
        """Return the statement of a text that has a frame of this stance, else None."""
        if opening := self._before.match(text):
            return text[opening.end() :] or None
        for first, last in self._around:
            opening = first.match(text)
            closing = last.search(text, opening.end()) if opening else None
            if opening and closing:
                return text[opening.end() : closing.start()]
        closing = self._after.search(text)
        if closing and closing.start():
            return text[: closing.start()]
        return text if self._inside.search(text) else None

    def _lines(self, kind: str) -> list[str]:
        return [line for line in self._frames.get(kind, "").strip().split("\n") if line]

    def _either(self, kind: str) -> str:
        return "|".join(self._lines(kind)) or r"(?!)"  # no frame of this kind: matches nothing

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        while _PART.search(pattern):  # a part may have parts
            pattern = _PART.sub(lambda part: self._parts[part[1]], pattern)
        return re.compile(pattern, re.IGNORECASE)


def _read() -> tuple[frozenset[str], list[_Frames]]:
    lists = Lists("ufo.transforms.english", "frames.toml")
    frames = [_Frames(stance, lists.tables[stance], lists.tables["parts"]) for stance in _STANCES]
    return lists.words("words") | {"?"}, frames


_WORDS, _FRAMES = _read()


@lru_cache(_CACHED)
def framed(sentence: str) -> Framed:
    """Return the stance of a sentence and its statement, without the frame where it has ends.

    Frames within frames are read from the outside: what is doubted or reported stays so, and a
    denied denial is asserted. Linear in the length of the sentence, of which more than 600
    characters are not searched.
    """
    stance, text = ASSERTED, sentence.strip()
    if len(text) > _LONGEST:
        return Framed(stance, text)
    for _ in range(_DEEPEST):
        if _WORDS.isdisjoint(_WORD.findall(text.lower())):
            break
        found = next(_framings(text), None)
        if found is None:
            break
        stance = _combined(stance, found.stance)
        if found.statement == text:
            break
        text = found.statement
    return Framed(stance, text)


def _framings(text: str) -> Iterator[Framed]:
    for frames in _FRAMES:
        statement = frames.statement(text)
        if statement is not None:
            yield Framed(frames.stance, statement)


def _combined(outer: str, inner: str) -> str:
    if outer == ASSERTED:
        return inner
    if outer == DENIED:
        return ASSERTED if inner == DENIED else DENIED
    return outer
