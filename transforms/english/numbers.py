"""Find the numbers and dates of a text, and compare them."""

from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple

from ufo.transforms.english.words import MONTHS, SCALES, Word

YEAR: Final = "year"
DAY: Final = "day"
NUMBER: Final = "number"
ORDINAL: Final = "ordinal"
_HEDGES: Final = frozenset(("about", "around", "approximately", "roughly", "nearly", "almost"))
_ABOUT: Final = 0.05  # how far off "about 300" may be
_AND_MORE: Final = frozenset(("over", "above", "exceeding", "after", "more", "greater", "least"))
_AND_LESS: Final = frozenset(("under", "below", "before", "less", "fewer", "most"))
_CLOSE: Final = 1e-9
_COUNTED_WITHIN: Final = 3  # words between a number and what it counts


class Quantity(NamedTuple):
    """A number, or a part of a date, in `words[start:end]`; `said` is how it is written.

    It lies from `low` to `high`, which differ where it is rounded or open ("over 300", "1860s"). A
    day has `low` = 100 × month + day; a month alone has the range of its days. `unit` is the
    key of the word that a number counts, "" if unknown.
    """

    kind: str
    low: float
    high: float
    start: int
    end: int
    said: str
    unit: str = ""


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """Return every number and date of the words, in their order.

    A date is up to two quantities, its year and its day or month: the year may be said elsewhere.
    """
    found: list[Quantity] = []
    end = 0  # where the quantity before ends
    for at in [at for at, word in enumerate(words) if word.numeric]:
        if at >= end:
            some = _date(words, at) or _number(words, at)
            found += some
            end = some[-1].end if some else end
    return found


def _date(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return the date that starts here: "7 May 1867", "May 7, 1867", "May 1867", "1867", "1860s",
    "1867-05-07", "the 19th century"."""
    word, size = words[at], len(words)
    if word.kind == "date":
        year, month, day = map(int, word.surface.split("-"))
        return _dated(words, at, at + 1, (float(year), float(year)), month, day)
    if _is_year(word):
        low = word.value or 0
        return _dated(words, at, at + 1, (low, low + (9 if word.kind == "decade" else 0)))
    if word.kind == ORDINAL and at + 1 < size and words[at + 1].lower in ("century", "centuries"):
        last = 100 * (word.value or 0)
        return _dated(words, at, at + 2, (last - 99, last))
    month, day, end = MONTHS.get(word.lower, 0), 0, at + 1
    if month and end < size and (day := _day(words[end])):
        end += 1
    elif not month and (day := _day(word)):
        end += end < size and words[end].lower == "of"
        month = MONTHS.get(words[end].lower, 0) if end < size else 0
        end += 1
    if month and end < size and _is_year(words[end]) and words[end].kind == NUMBER:
        said_year = words[end].value or 0.0
        return _dated(words, at, end + 1, (said_year, said_year), month, day)
    return _dated(words, at, end, None, month, day) if month and day else []


def _is_year(word: Word) -> bool:
    known = word.value is not None and 1000 <= word.value <= 2100 and word.surface[:4].isdigit()
    return known and word.kind in (NUMBER, "decade")


def _day(word: Word) -> int:
    value = word.value or 0
    whole = word.kind in (NUMBER, ORDINAL) and word.surface[0].isdigit() and value == int(value)
    return int(value) if whole and 1 <= value <= 31 else 0


def _dated(
    words: Sequence[Word],
    at: int,
    end: int,
    years: tuple[float, float] | None,
    month: int = 0,
    day: int = 0,
) -> list[Quantity]:
    written, found = said(words[at:end]), []
    if month:
        first = 100 * month
        found.append(Quantity(DAY, first + day, first + (day or 99), at, end, written))
    if years:
        low, high = years
        before = words[at - 1].lower if at and not month else ""
        if before in ("after", "before"):
            low, high = (low, inf) if before == "after" else (-inf, high)
        found.append(Quantity(YEAR, low, high, at, end, written))
    return found


def _number(words: Sequence[Word], at: int) -> list[Quantity]:
    word = words[at]
    if word.value is None or word.kind not in (NUMBER, ORDINAL):
        return []
    value, end = word.value, at + 1
    digits = word.surface.partition(".")[2]
    slack = 0.5 * 10.0 ** -len(digits) if digits.isdigit() else 0.0
    if word.kind == NUMBER and value % 10 == 0 and word.surface.isalpha() and end < len(words):
        ones = 1.0 if words[end].lower == "one" else words[end].value or 0
        if words[end].surface.isalpha() and 0 < ones < 10:
            value, end = value + ones, end + 1  # "twenty one"
    while end < len(words) and words[end].lower in SCALES:
        scale = SCALES[words[end].lower]
        value, slack, end = value * scale, (slack or 0.5) * scale, end + 1
    before = [one.lower for one in words[max(0, at - 2) : at]][::-1]
    if before and before[0] in _HEDGES:
        slack = max(slack, _ABOUT * value)
    low, high = value - slack, value + slack
    near = before[-1:] if before[:1] == ["than"] else before[:1]
    if word.kind == NUMBER and not _AND_MORE.isdisjoint(near):
        high = inf
    elif word.kind == NUMBER and not _AND_LESS.isdisjoint(near):
        low = -inf
    following = [one.key for one in words[end : end + _COUNTED_WITHIN] if one.weight]
    unit = following[0] if following else ""
    if at and words[at - 1].lower in "$€£¥":
        unit = words[at - 1].lower
    return [Quantity(word.kind, low, high, at, end, said(words[at:end]), unit)]


def agree(claimed: Quantity, other: Quantity) -> bool:
    """Return whether a stated quantity makes a claimed one true, within the precision of both."""
    if claimed.kind != other.kind:
        return False
    if claimed.kind in (YEAR, DAY):
        return claimed.low <= other.low and other.high <= claimed.high
    if claimed.high - claimed.low == inf and claimed.unit != other.unit:
        return False  # "over 20" is not any number of anything
    return claimed.low <= other.high + _CLOSE and other.low <= claimed.high + _CLOSE


def differ(claimed: Quantity, other: Quantity) -> bool:
    """Return whether two quantities say different things of the same kind: another date, or
    another number of the same unit."""
    if claimed.kind != other.kind or claimed.unit != other.unit:
        return False
    if claimed.kind not in (YEAR, DAY) and not claimed.unit:
        return False
    return claimed.high + _CLOSE < other.low or other.high + _CLOSE < claimed.low


def said(words: Sequence[Word]) -> str:
    """Return words as they are written, punctuation left out."""
    return " ".join([word.surface for word in words])
