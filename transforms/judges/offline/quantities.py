"""Numbers, quantities with units and dates in a run of words, and when two of them agree."""

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from transforms.judges.offline.units import MONTHS, NUMBER_WORDS, SCALES, UNITS
from transforms.judges.offline.words import CARDINAL, ORDINAL, SPAN, STOP, Word

_TENS: Final = frozenset(("20", "30", "40", "50", "60", "70", "80", "90"))
_CURRENCIES: Final = ("$", "€", "£", "¥")
# What leaves a claimed number open to one side: after how many, and after which year.
_FROM: Final = frozenset(("over", "above", "exceeding", "more than", "greater than", "at least"))
_UP_TO: Final = frozenset(("under", "below", "less than", "fewer than", "at most", "up to"))
_CONVERSION_TOLERANCE: Final = 0.02
_HEDGE_TOLERANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Quantity:
    """`low`..`high` in the base unit of `dimension` ("" is a bare count; "year", "month", "day",
    "ordinal" and the dimensions of `units.UNITS` else). `unit` is the word that it counts or the
    unit as written, `slack` how far another value may be off, `start`..`end` its words."""

    low: float
    high: float
    dimension: str
    unit: str
    slack: float
    start: int
    end: int
    said: str


def _is_year(word: Word) -> bool:
    value = word.value
    return value is not None and 1000 <= value <= 2100 and word.ulp == 1.0 and word.lower.isdigit()


def _day(word: Word) -> int:
    if word.value is None or word.kind not in (CARDINAL, ORDINAL) or word.lower.isalpha():
        return 0
    return int(word.value) if 1 <= word.value <= 31 and word.value == int(word.value) else 0


def _date(words: list[Word], at: int) -> tuple[int, int, int, int] | None:
    """(year, month, day, words used) of a date that starts here, 0 for what is not said."""
    size = len(words)
    word = words[at]
    if word.kind == CARDINAL and word.value is None:  # ISO 8601 calendar date
        year, month, day = (int(part) for part in word.lower.split("-"))
        return (year, month, day, 1) if 1 <= month <= 12 and 1 <= day <= 31 else None
    month, used = MONTHS.get(word.lower, 0), 1
    day = 0
    if month:
        if at + 1 < size and (day := _day(words[at + 1])):
            used = 2
    elif day := _day(word):
        skip = 2 if at + 1 < size and words[at + 1].lower == "of" else 1
        month = MONTHS.get(words[at + skip].lower, 0) if at + skip < size else 0
        used = skip + 1
    if not month:
        return None
    year = 0
    if at + used < size and _is_year(words[at + used]):
        year = int(words[at + used].value or 0)
        used += 1
    return (year, month, day, used) if day or year else None


def _dated(date: tuple[int, int, int, int], at: int, said: str) -> list[Quantity]:
    year, month, day, used = date
    parts = [("month", month)]
    if day:
        parts.append(("day", month * 100 + day))
    if year:
        parts.append(("year", year))
    end = at + used
    return [Quantity(v, v, name, name, 0.0, at, end, said) for name, v in parts]


def _span(low: float, width: int, at: int, used: int, said: str) -> Quantity:
    return Quantity(low, low + width, "year", "year", 0.0, at, at + used, said)


def _magnitude(words: list[Word], at: int) -> tuple[float, float, int]:
    """(value, size of its last digit, words used) of a cardinal that starts here."""
    word = words[at]
    value, ulp, used = word.value or 0.0, word.ulp, 1
    if word.stem in _TENS and word.lower.isalpha() and at + 1 < len(words):
        ones = 1.0 if words[at + 1].lower == "one" else NUMBER_WORDS.get(words[at + 1].lower, 99.0)
        if ones < 10:
            value, used = value + ones, 2
    while at + used < len(words) and words[at + used].lower in SCALES:
        scale = SCALES[words[at + used].lower]
        value, ulp, used = value * scale, ulp * scale, used + 1
    return value, ulp, used


def _cardinal(words: list[Word], at: int) -> Quantity:
    size = len(words)
    value, ulp, used = _magnitude(words, at)
    end = at + used
    follower = words[end].lower if end < size else ""
    square = follower in ("square", "sq")
    if follower in ("degree", "degrees") and end + 1 < size and words[end + 1].lower in UNITS:
        end += 1
        follower = words[end].lower
    if square:
        follower = words[end + 1].lower if end + 1 < size else ""
    known = UNITS.get(follower.replace("° ", "°"))
    before = words[at - 1].lower if at else ""
    dimension, factor = "", 1.0
    if known:
        dimension, factor = ("area", known[1] ** 2) if square else known
        end += 2 if square else 1
    elif before in _CURRENCIES:
        dimension, factor = UNITS[before]
        follower = before
    elif used == 1 and _is_year(words[at]):
        return _span(value, 0, at, 1, words[at].lower)
    else:  # What it counts: the next word with content, at most two words on.
        follower = next((w.stem for w in words[end : end + 3] if w.kind != STOP), "")
    hedged = before in ("about", "around", "approximately", "roughly", "nearly", "almost", "circa")
    slack = ulp * factor / 2 if ulp != 1.0 else 0.0
    slack = max(slack, value * factor * _HEDGE_TOLERANCE if hedged else 0.0)
    said = " ".join(w.lower for w in words[at : at + used])
    return Quantity(
        value * factor, value * factor, dimension, follower, slack, at, max(end, at + used), said
    )


def quantities(words: list[Word]) -> list[Quantity]:
    """Every number, quantity and date said in `words`, in order. Linear in their number."""
    found: list[Quantity] = []
    at, size = 0, len(words)
    while at < size:
        word = words[at]
        kind = word.kind
        if not word.numeric:
            at += 1
            continue
        date = _date(words, at)
        if date:
            found += _dated(date, at, " ".join(w.lower for w in words[at : at + date[3]]))
            at += date[3]
        elif kind == SPAN and word.value is not None:
            if 1000 <= word.value <= 2100:
                found.append(_span(word.value, 9, at, 1, word.lower))
            at += 1
        elif kind == ORDINAL and word.value is not None:
            follower = words[at + 1].lower if at + 1 < size else ""
            if follower in ("century", "centuries"):
                said = f"{word.lower} century"
                found.append(_span(word.value * 100 - 100, 100, at, 2, said))
                at += 2
            else:
                unit = words[at + 1].stem if follower else ""
                value = word.value
                found.append(Quantity(value, value, "ordinal", unit, 0.0, at, at + 1, word.lower))
                at += 1
        elif kind == CARDINAL and word.value is not None:
            found.append(_cardinal(words, at))
            at = max(found[-1].end, at + 1)
        else:
            at += 1
    return found


def opened(words: list[Word], q: Quantity) -> Quantity:
    """A quantity of a claim as all values that make the claim true: from 300 on where it says "over
    300", up to 1900 where it says "before 1900"."""
    at = q.start
    if q.low != q.high or q.dimension in ("ordinal", "month", "day") or not at:
        return q
    at -= words[at - 1].lower in _CURRENCIES
    before = [w.lower for w in words[max(0, at - 3) : at]]
    if q.dimension == "year":
        # A year of a whole date stands for a day that is compared, too.
        word = before[-1] if before and q.end - q.start == 1 else ""
        after, until = word == "after", word == "before"
    else:
        said = {*before[-1:], " ".join(before[-2:])}
        if before[:1] and before[0] in ("no", "not"):
            return q  # "no more than 5"
        after, until = not said.isdisjoint(_FROM), not said.isdisjoint(_UP_TO)
    return replace(q, high=inf) if after else replace(q, low=-inf) if until else q


def _celsius(q: Quantity) -> Quantity:
    def convert(x: float) -> float:
        return (x - 32) / 1.8

    return Quantity(convert(q.low), convert(q.high), "celsius", q.unit, 0.6, q.start, q.end, q.said)


def comparable(claimed: Quantity, said: Quantity) -> bool:
    """Whether the two could fill the same slot: one dimension, and counts count the same."""
    temperatures = ("celsius", "fahrenheit")
    if claimed.dimension in temperatures and said.dimension in temperatures:
        return True
    if claimed.dimension != said.dimension:
        return False
    return claimed.dimension not in ("", "ordinal") or claimed.unit == said.unit


def agree(claimed: Quantity, said: Quantity) -> bool:
    """Whether what is said makes what is claimed true, within the precision of either."""
    if claimed.dimension == "fahrenheit" != said.dimension:
        claimed = _celsius(claimed)
    if said.dimension == "fahrenheit" != claimed.dimension:
        said = _celsius(said)
    one, other = claimed.dimension, said.dimension
    if one != other and not (one == "" or other == ""):
        return False
    if claimed.high - claimed.low == inf and not comparable(claimed, said):
        edge = claimed.low if claimed.high == inf else claimed.high
        claimed = replace(claimed, low=edge, high=edge)  # "over 20" is not any number of anything
    if claimed.high > claimed.low:  # A decade or century holds any year in it.
        return claimed.low <= said.low and said.high <= claimed.high
    slack = max(claimed.slack, said.slack)
    if one and one == other and claimed.unit != said.unit:
        slack = max(slack, abs(claimed.low) * _CONVERSION_TOLERANCE)
    return said.low == said.high and abs(claimed.low - said.low) <= slack + 1e-9
