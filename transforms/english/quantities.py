"""Find numbers, quantities with units and dates in words, and compare them."""

from dataclasses import dataclass
from math import inf
from typing import Final

from ufo.transforms.english.units import MONTHS, NUMBER_WORDS, SCALES, UNITS
from ufo.transforms.english.words import CARDINAL, SPAN, STOP, Word

_TENS: Final = frozenset(("20", "30", "40", "50", "60", "70", "80", "90"))
_CURRENCIES: Final = frozenset(("$", "€", "£", "¥"))
_HEDGES: Final = frozenset(
    ("about", "around", "approximately", "roughly", "nearly", "almost", "circa")
)
_TEMPERATURES: Final = frozenset(("celsius", "fahrenheit"))
# What leaves a claimed number open to one side: after how many, and after which year.
_FROM: Final = frozenset(("over", "above", "exceeding", "more than", "greater than", "at least"))
_UP_TO: Final = frozenset(("under", "below", "less than", "fewer than", "at most", "up to"))
_CONVERSION_TOLERANCE: Final = 0.02
_HEDGE_TOLERANCE: Final = 0.05


# No tuple, and not frozen: two of them are compared more often than anything else.
@dataclass(slots=True, eq=False)
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
    value = word.value
    if value is None or not 1 <= value <= 31 or value != int(value):
        return 0
    return int(value) if word.kind != SPAN and not word.lower.isalpha() else 0


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
    else:
        follower = _counted(words[end : end + 3])
    value *= factor
    slack = ulp * factor / 2 if ulp != 1.0 else 0.0
    if before in _HEDGES:
        slack = max(slack, value * _HEDGE_TOLERANCE)
    said = _text(words[at : at + used])
    return Quantity(value, value, dimension, follower, slack, at, end, said)


def _counted(following: list[Word]) -> str:
    """Return what a number counts: the next word with content, at most two words on."""
    for word in following:
        if word.kind != STOP:
            return word.stem
    return ""


def _text(words: list[Word]) -> str:
    return " ".join([w.lower for w in words])


def quantities(words: list[Word]) -> list[Quantity]:
    """Return every number, quantity and date said in `words`, in order. Linear in their number."""
    found: list[Quantity] = []
    end = 0  # Where the quantity before ends.
    for at, word in enumerate(words):
        if not word.numeric or at < end:
            continue
        value, kind, said = word.value, word.kind, word.lower
        end = at + 1
        # Most numbers are too large for a day.
        date = _date(words, at) if value is None or value <= 31 else None
        if date:
            end = at + date[3]
            found += _dated(date, at, _text(words[at:end]))
        elif value is None:
            continue
        elif kind == CARDINAL:
            found.append(_cardinal(words, at))
            end = found[-1].end
        elif kind == SPAN:
            if 1000 <= value <= 2100:
                found.append(_span(value, 9, at, 1, said))
        else:
            follower = words[end].lower if end < len(words) else ""
            if follower in ("century", "centuries"):
                found.append(_span(value * 100 - 100, 100, at, 2, f"{said} century"))
                end += 1
            else:
                unit = words[end].stem if follower else ""
                found.append(Quantity(value, value, "ordinal", unit, 0.0, at, end, said))
    return found


def opened(words: list[Word], q: Quantity) -> Quantity:
    """A quantity of a claim as all values that make the claim true: from 300 on where it says "over
    300", up to 1900 where it says "before 1900"."""
    at = q.start
    if q.low != q.high or q.dimension in ("ordinal", "month", "day") or not at:
        return q
    at -= words[at - 1].lower in _CURRENCIES
    if q.dimension == "year":
        # A year of a whole date stands for a day that is compared, too.
        word = words[at - 1].lower if at and q.end - q.start == 1 else ""
        after, until = word == "after", word == "before"
    else:
        before = [w.lower for w in words[max(0, at - 3) : at]]
        said = {*before[-1:], " ".join(before[-2:])}
        if before[:1] and before[0] in ("no", "not"):
            return q  # "no more than 5"
        after, until = not said.isdisjoint(_FROM), not said.isdisjoint(_UP_TO)
    if not after and not until:
        return q
    low, high = (q.low, inf) if after else (-inf, q.high)
    return Quantity(low, high, q.dimension, q.unit, q.slack, q.start, q.end, q.said)


def _celsius(q: Quantity) -> Quantity:
    def convert(x: float) -> float:
        return (x - 32) / 1.8

    return Quantity(convert(q.low), convert(q.high), "celsius", q.unit, 0.6, q.start, q.end, q.said)


def comparable(claimed: Quantity, said: Quantity) -> bool:
    """Return whether the two could fill the same slot: one dimension, and counts count the same."""
    one, other = claimed.dimension, said.dimension
    if one != other:
        return one in _TEMPERATURES and other in _TEMPERATURES
    return one not in ("", "ordinal") or claimed.unit == said.unit


def agree(claimed: Quantity, said: Quantity) -> bool:
    """Return whether a stated quantity makes a claimed one true, within the precision of either."""
    one, other = claimed.dimension, said.dimension
    if one != other:
        if one == "fahrenheit":
            claimed, one = _celsius(claimed), "celsius"
        elif other == "fahrenheit":
            said, other = _celsius(said), "celsius"
        if one != other and one != "" and other != "":
            return False
    low, high = claimed.low, claimed.high
    if high > low:
        if high - low < inf or comparable(claimed, said):
            return low <= said.low and said.high <= high  # A decade holds any year in it.
        low = low if high == inf else high  # "over 20" is not any number of anything
    if said.low != said.high:
        return False
    slack = max(claimed.slack, said.slack)
    if one and one == other and claimed.unit != said.unit:
        slack = max(slack, abs(low) * _CONVERSION_TOLERANCE)
    return abs(low - said.low) <= slack + 1e-9
