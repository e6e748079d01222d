"""Read the quantities of a text and compare them as what they are.

A quantity is a number with all that belongs to it: scale, unit, sign, era, bound; or a date, a time
of day, a score, a code, or a number that names one of a series ("gate 5", "Louis XIV").
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import is_finite, word_set
from ufo.transforms.english.numerals import (
    ABOUT,
    AT_LEAST,
    AT_MOST,
    CODE,
    CURRENCIES,
    DATE,
    DAY,
    DECADE,
    FRACTION,
    LISTS,
    MONEY_MARKS,
    MONTHS,
    NUMBER,
    NUMBERED,
    ORDINAL,
    OVER,
    READINGS,
    ROMAN,
    SCALE,
    SCALES,
    SCORE,
    SEASON,
    SERIES,
    TIME,
    UNDER,
    UNITS,
    YEAR,
    Numeral,
    Reading,
)
from ufo.transforms.english.words import NEGATORS, Word, read, said

_CLOSE: Final = 1e-9
_STRICT: Final = 1e-7
"""By how much of itself, at least, a number is over 100."""
_ABOUT: Final = 0.05  # how far off "about 300" may be
_CONVERTED: Final = 0.02  # how far off "100 miles" may be from 160 km
_OF_THIRDS: Final = 0.007  # how far off 33 % may be from a third
_BESIDE: Final = 8  # words on either side of a number that may say what it counts
_PHRASE: Final = 4  # words of a phrase such as "94 nuclear power reactors"
_UNIT_WORDS: Final = 4
_SHARE: Final = "part"
_AGE: Final = frozenset(("age",))
"""What years count that may be left out: "died at 78"."""
_LARGEST_SCORE: Final = 250

_CONTEXT: Final[dict[str, str]] = LISTS["context"]
_SERIES: Final[dict[str, str]] = LISTS["series"]
_AGES: Final = word_set(_CONTEXT["ages"])
_COUNTS: Final = word_set(_CONTEXT["counts"])
_SCORES: Final = word_set(_CONTEXT["scores"])
_LEFT_OUT: Final = frozenset(word.key for word in read(_CONTEXT["left_out"]))
_NO_ONE: Final = word_set(_CONTEXT["no_one"])
_NO_HALF: Final = word_set(_CONTEXT["no_half"])
_NO_SERIES: Final = word_set(_CONTEXT["no_series"])
_PLURALS: Final = word_set(_CONTEXT["plurals"])
_NO_PLURALS: Final = word_set(_CONTEXT["no_plurals"])
_ERAS: Final = word_set(_CONTEXT["eras"])
_NUMBER_WORDS: Final = word_set(_SERIES["number"])
_SHORT: Final = dict(pair.split("=") for pair in _SERIES["abbreviations"].split())
_NOUNS: Final = word_set(_SERIES["nouns"]) | {*_SHORT}
_BEFORE_MONTHS: Final = word_set(LISTS["before_months"])
_OWNERS: Final = word_set("his her their my your")


def _phrases(name: str) -> dict[tuple[str, ...], str]:
    lists: dict[str, str] = LISTS[name]
    return {tuple(one.split()): sign for sign, text in lists.items() for one in text.split(", ")}


_BOUNDS: Final = _phrases("bounds")
_BOUNDS_AFTER: Final = _phrases("bounds_after")
_TURNED: Final = {OVER: AT_MOST, AT_LEAST: UNDER, UNDER: AT_LEAST, AT_MOST: OVER}
_UNIT_STARTS: Final = frozenset(name.split()[0] for name in UNITS)


class Quantity(NamedTuple):
    """A quantity in `words[start:end]`; `said` is how it is written, bound and series included.

    - `kind`: number, ordinal, year, day, time, score, code or series.
    - `low`, `high`: its value is from one to the other, which differ for a range, a decade and an
      open number ("over 300"). A score has its two numbers. A day has 100 × month + day; a month
      alone has the range of its days. A time of day has minutes.
    - `slack`: how far off each may be, by the precision with which it is written.
    - `unit`: what it is measured in, or the key of the plural noun that it counts, the key of the
      series or the text of a code; "" if unknown. "12" for a time without "am" or "pm".
    - `nouns`: the keys of the phrase that it counts; `beside`: of all words near it.
    """

    kind: str
    low: float
    high: float
    start: int
    end: int
    said: str
    unit: str = ""
    slack: float = 0.0
    nouns: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """Return every quantity of the words, in their order.

    A date is up to two quantities, its year and its day or month: the year may be in another place.
    """
    found: list[Quantity] = []
    end = 0  # the end of the quantity before
    for at in [at for at, word in enumerate(words) if word.numeric]:
        if at < end:
            continue
        some = _date(words, at)
        if not some and (at or words[at].numeral):
            some = _named(words, at) or _time(words, at) or _counted(words, at, end)
        if some:
            found += some
            end = some[-1].end
    return found


def _lower(words: Sequence[Word], at: int) -> str:
    return words[at].lower if 0 <= at < len(words) else ""


# Dates


def _date(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return the date that starts here: "7 May 1867", "May 7, 1867", "May 1867", "1867", "1860s",
    "1867-05-07", "the 19th century", "753 BC", "AD 14"."""
    word, size = words[at], len(words)
    one = word.numeral
    if one and one.kind == DATE:
        return _dated(words, at, at + 1, (one.low, one.low), *divmod(int(one.high), 100))
    if one and one.kind == YEAR:
        return _dated(words, at, at + 1, (one.low, one.low))
    if one and one.kind == SEASON:
        years = ((year, year) for year in (one.low, one.high))
        return [q for year in years for q in _dated(words, at, at + 1, year)]
    if century := _century(words, at):
        return century
    if (
        one
        and one.kind in (NUMBER, SCORE)
        and any(other.lower in _ERAS for other in words[max(0, at - 1) : at + 4])
    ):
        if era := _era(words, at):
            return era
    if _is_year(words, at):
        low = one.low if one else 0.0
        return _dated(words, at, at + 1, (low, low))
    if decade := _decade(words, at):
        return decade
    month, days, end = MONTHS.get(word.lower, 0), list[int](), at + 1
    if month and end < size and (days := _days(words[end])):
        end += 1
    elif not month and (days := _days(word)):
        end += _lower(words, end) == "of"
        month = MONTHS.get(_lower(words, end), 0)
        end += 1
    if month and _is_year(words, end) and words[end].kind == NUMBER:
        said_year = words[end].value or 0.0
        return _dated(words, at, end + 1, (said_year, said_year), month, *days)
    if month and (days or (word.surface[0].isupper() and _lower(words, at - 1) in _BEFORE_MONTHS)):
        return _dated(words, at, end, None, month, *days)
    return []


def _century(words: Sequence[Word], at: int) -> list[Quantity]:
    one = words[at].numeral
    century = one.low if one and one.kind == ORDINAL else ROMAN.get(words[at].surface, 0)
    end = at + 1
    if _is_tens(words, at):
        century, end = (words[at].value or 0) + (words[at + 1].value or 0), at + 2
    if not century or _lower(words, end) not in ("century", "centuries"):
        return []
    last, end = 100.0 * century, end + 1
    if _lower(words, end) in ("bc", "bce"):
        return _dated(words, at, end + 1, (-last, 99 - last))
    return _dated(words, at, end + (_lower(words, end) in ("ad", "ce")), (last - 99, last))


def _decade(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return "1990s", "the 90s", "nineteen-nineties"; "in his mid-thirties" is an age."""
    one, after = words[at].numeral, words[at + 1].numeral if at + 1 < len(words) else None
    first = words[at].value or 0.0
    if after and after.kind == DECADE and 11 <= first <= 20 and words[at + 1].surface.isalpha():
        low = 100 * first + after.low % 100
        return _dated(words, at, at + 2, (low, low + 9))
    if not one or not (one.kind == DECADE or one.unit in ("10s", "20s")):
        return []
    if not _OWNERS.isdisjoint([_lower(words, at - 1), _lower(words, at - 2)]):
        low = one.low % 100 if one.kind == DECADE else float(one.unit[:2])
        said_age = words[at].surface
        return [Quantity(NUMBER, low, low + 9, at, at + 1, said_age, "year", nouns=_AGE)]
    return _dated(words, at, at + 1, (one.low, one.low + 9)) if one.kind == DECADE else []


def _era(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return a year with its era, which may stand before it or after the second of two years."""
    value, one = words[at].value, words[at].numeral
    if value is None and one and _lower(words, at + 1) in ("bc", "bce"):  # "538–332 BC"
        return [
            q for year in (one.low, one.high) for q in _dated(words, at, at + 2, (-year, -year))
        ]
    for era_at, start, end in (
        (at + 1, at, at + 2),
        (at - 1, at - 1, at + 1),
        (at + 3, at, at + 1),
    ):
        era = _lower(words, era_at)
        if value is None or era not in _ERAS or not words[era_at].surface.isupper():
            continue
        if era_at == at + 3 and (
            _lower(words, at + 1) not in ("and", "to", "or") or not words[at + 2].value
        ):
            continue
        year = -value if era in ("bc", "bce") else value
        return _dated(words, start, end, (year, year))
    return []


def _is_year(words: Sequence[Word], at: int) -> bool:
    """Return whether a number from 1000 to 2100 is a year: not "2000 metres", "of 2000 people"."""
    one = words[at].numeral if at < len(words) else None
    if not one or one.low != one.high or not 1000 <= one.low <= 2100:
        return False
    written = words[at].surface
    if one.kind != NUMBER or one.unit or one.bound or not written.isdigit() or len(written) != 4:
        return False
    if words[at].closes or at + 1 == len(words):
        return True
    after, before = words[at + 1], words[at - 1] if at else None
    if _unit(words, at + 1)[0] or (after.numeral and after.numeral.kind == SCALE):
        return False
    if before is None:
        return after.lower not in _PLURALS  # "2000 people", but "1990 elections"
    counts = before.finite or before.lower in ("of", "about", "some", "than")
    return not (counts and after.plain and _is_plural(after))


def _days(word: Word) -> list[int]:
    """Return the day of a month, or the two of "12–15 May"."""
    one = word.numeral
    whole = one and one.kind in (NUMBER, ORDINAL) and not (one.unit or one.bound or one.slack)
    if not one or not whole or not word.surface[0].isdigit():
        return []
    both = [one.low] if one.low == one.high else [one.low, one.high]
    return [int(day) for day in both if day == int(day) and 1 <= day <= 31]


def _dated(
    words: Sequence[Word],
    at: int,
    end: int,
    years: tuple[float, float] | None,
    month: int = 0,
    *days: int,
) -> list[Quantity]:
    written, found = said(words[at:end]), []
    if month:
        first = 100 * month
        for day in days or (0,):
            found.append(Quantity(DAY, first + day, first + (day or 99), at, end, written))
    if years:
        low, high = years
        before = _lower(words, at - 1) if not month else ""
        if before in ("after", "before"):
            low, high = (high + 1, inf) if before == "after" else (-inf, low - 1)
            written = f"{words[at - 1].surface} {written}"
        found.append(Quantity(YEAR, low, high, at, end, written))
    return found


# Names of one of a series, codes, times of day


def _named(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return a number that names one of a series: "gate 5", "Louis XIV", "GPT-4", "BRCA1"."""
    word = words[at]
    one, before = word.numeral, words[at - 1] if at else None
    if one and one.kind in (CODE, SERIES):
        return [Quantity(one.kind, one.low, one.high, at, at + 1, word.surface, one.unit)]
    written = word.surface.upper() if word.surface.islower() else word.surface
    roman = 0 if word.kind else ROMAN.get(written, 0)
    if one and one.kind == ORDINAL and [_lower(words, at + k) for k in (1, 2)] == ["world", "war"]:
        return [Quantity(SERIES, one.low, one.low, at, at + 1, said(words[at : at + 3]), "war")]
    if one and one.bound == NUMBERED:
        return [
            _of_series(words, at, "number" if not before else _series_of(words, at) or "number")
        ]
    name = _series_of(words, at) if before else ""
    if not name or not (roman or (one and one.kind == NUMBER and one.low == one.high)):
        return []
    known = before is not None and before.lower in _NOUNS | _NUMBER_WORDS
    if roman:
        named = before is not None and before.surface[0].isupper()
        fits = known or (named and word.surface.isupper())
        return [_of_series(words, at, name)] if fits and _is_roman(words, at, known) else []
    assert one
    unit = one.unit if one.unit != "s" else ""  # "747s"
    plain = not unit and not one.bound and not one.scaled and one.low >= 0
    spelled = word.surface.isalpha()
    title = spelled and word.surface[0].isupper() and words[at - 1].named  # "Square Two"
    if not plain or "," in word.surface or (spelled and not known and not title):
        return []
    counting = _unit(words, at + 1)[0] or (
        _lower(words, at + 1) not in ("s", "") and _is_scale(words, at + 1)
    )
    plural = at + 1 < len(words) and not word.closes and _is_plural(words[at + 1])
    if counting or (plural and not title and (spelled or not known)):
        return []
    return [_of_series(words, at, name)]


def _is_scale(words: Sequence[Word], at: int) -> bool:
    one = words[at].numeral if at < len(words) else None
    return bool(one) and one is not None and one.kind == SCALE


def _series_of(words: Sequence[Word], at: int) -> str:
    """Return the key of the noun or name that the number here names one of, "" if none."""
    before = words[at - 1]
    low = before.lower
    if low in _NUMBER_WORDS:
        sign = low != "no" or before.surface == "No" or before.closes
        further = words[at - 2] if at > 1 and not words[at - 2].closes else None
        if not sign:
            return ""
        if further and (further.plain or further.named) and not further.finite:
            return _key(further)
        return "number"
    if low in _NOUNS:
        return _key(before) if not before.closes or low in _SHORT else ""
    if before.joint == "-" and before.surface.isupper():
        return before.key  # "F-16"
    if before.closes or before.numeral or not before.weight or low in MONTHS:
        return ""
    hyphen = before.joint == "-" and before.plain and low not in _NO_SERIES
    if (before.surface == before.surface.lower() and not hyphen) or UNITS.get(before.surface):
        return ""
    return "" if at == 1 and is_finite(low) else before.key


def _key(word: Word) -> str:
    return _SHORT.get(word.lower, word.key)


def _is_roman(words: Sequence[Word], at: int, known: bool) -> bool:
    """Return whether letters are a Roman numeral here: not "I", and no initial or vitamin."""
    written = words[at].surface
    if words[at].joint != " ":
        return False
    if known or len(written) > 1:
        return len(written) > 1 or written in "IVXivx"
    if written != "I":
        return written in "VX"
    place = _lower(words, at - 2) in ("in", "at", "from", "to", "on", "near", "and")
    return not place and sum(one.surface in ("I", "my", "me", "My") for one in words) == 1


def _of_series(words: Sequence[Word], at: int, name: str) -> Quantity:
    word = words[at]
    value = word.numeral.low if word.numeral else float(ROMAN[word.surface.upper()])
    first = max(0, at - 1)
    while first and at - first < _PHRASE and words[first - 1].named and not words[first - 1].closes:
        first -= 1
    written = said(words[first : at + 1])
    return Quantity(
        SERIES, value, value, at, at + 1, written, name, beside=_beside(words, at, at + 1)
    )


def _time(words: Sequence[Word], at: int) -> list[Quantity]:
    """Return a time of day: "5:30 am", "5 p.m.", "17:30", "noon", "5 o'clock"."""
    word = words[at]
    one, half = word.numeral, _lower(words, at + 1)
    value = one.low if one else 0.0
    clock = half in ("o'clock", "oclock")
    if one and one.kind == NUMBER and one.low == one.high and (half in ("am", "pm") or clock):
        hour, minute = divmod(round(100 * value), 100)  # also "5.30 pm"
        if not 1 <= hour <= 12 or minute > 59 or words[at + 1].surface in ("Am", "Pm"):
            return []
        value = 60.0 * hour + minute
        half = _lower(words, at + 2) if clock else half
    elif not one or one.kind != TIME:
        return []
    end, unit = at + 1 + clock, one.unit
    if half in ("am", "pm"):
        value, end, unit = value % 720 + 720 * (half == "pm"), end + 1, ""
    elif clock:
        unit = "12"
    return [Quantity(TIME, value, value, at, end, said(words[at:end]), unit)]


# Numbers


class _Amount(NamedTuple):
    """A number and its unit in words[start:end], before its bound is read."""

    low: float
    high: float
    slack: float
    unit: str
    start: int
    end: int


def _counted(words: Sequence[Word], at: int, after: int) -> list[Quantity]:
    """Return the number that starts here, with its unit, bound and range."""
    one = words[at].numeral
    if not one or one.kind not in (NUMBER, ORDINAL, SCALE, FRACTION, SCORE):
        return []
    if one.kind == SCORE:
        return [Quantity(SCORE, one.low, one.high, at, at + 1, words[at].surface)]
    if one.kind == ORDINAL and not _is_part(words, at):
        return [_ordinal(words, at, at)]
    if _is_tens(words, at):
        return [_ordinal(words, at, at + 1)]
    amount = _amount(words, at)
    if not amount:
        return []
    amount = _whole(words, amount)
    other = _second(words, amount)
    if other:
        falls = other.high < amount.low and _lower(words, amount.end) == "to"
        if falls and not other.unit and amount.low <= _LARGEST_SCORE:
            written = said(words[at : other.end])
            return [Quantity(SCORE, amount.low, other.low, at, other.end, written)]
        amount = _range(words, amount, other)
    elif not amount.unit and _lower(words, amount.end) in ("to", "or", "and"):
        amount = amount._replace(unit=_unit_of_next(words, amount.end + 1))
    elif _is_score(words, at, amount):
        return [Quantity(SCORE, one.low, one.high, at, at + 1, words[at].surface)]
    return [_bounded(words, amount, after)]


def _ordinal(words: Sequence[Word], start: int, last: int) -> Quantity:
    """Return "44th", "third", or "forty-fourth", of two words."""
    value = sum(word.value or 0.0 for word in words[start : last + 1])
    noun = next(iter(_phrase(words, last + 1)), None)
    unit = noun.key if noun else ""
    return Quantity(ORDINAL, value, value, start, last + 1, said(words[start : last + 1]), unit)


def _is_tens(words: Sequence[Word], at: int) -> bool:
    """Return whether the tens of an ordinal are here: "forty" in "forty-fourth"."""
    tens, ones = words[at], words[at + 1] if at + 1 < len(words) else None
    if not ones or ones.kind != ORDINAL or not tens.surface.isalpha() or tens.closes:
        return False
    return (tens.value or 0) in range(20, 100, 10) and 0 < (ones.value or 0) < 10


def _is_part(words: Sequence[Word], at: int) -> bool:
    """Return whether an ordinal is a fraction: "a third of", "one third"."""
    before, one = _lower(words, at - 1), words[at].numeral
    if not one or one.kind != ORDINAL or one.low < 3:
        return False
    return before == "one" or (before == "a" and _lower(words, at + 1) == "of")


def _amount(words: Sequence[Word], at: int) -> _Amount | None:
    """Return the number that starts here with its scale and unit; a range if attached."""
    one = words[at].numeral
    if not one or not _counts(words, at):
        return None
    if one.kind == SCALE and _lower(words, at - 1) in ("few", "several"):
        unit, end = _unit(words, at + 1)
        return _Amount(2 * one.low, 9.99 * one.low, 0.0, unit, at, end)
    value, slack, end = one.low, one.slack, at + 1
    unit, spread = one.unit, one.high - one.low
    if one.kind == FRACTION or _is_part(words, at):
        share = one.low if one.kind == FRACTION else 1 / one.low
        return _part(words, at, at + 1, share)
    if one.kind == NUMBER and end < len(words) and (part := _fraction(words, end)) and not unit:
        return _part(words, at, end + 1, value * part)
    scale = SCALES.get(_lower(words, end + 1)[:-1]) if _lower(words, end) == "of" else None
    if spread and scale:  # "tens of thousands"
        value, spread, end = value * scale, spread * scale, end + 2
    if not unit and not spread:
        value, slack, end = _cardinal(words, at)
    elif _is_scale(words, end):  # "10-20 million"
        scale = words[end].numeral.low if words[end].numeral else 1.0
        value, spread, end = value * scale, spread * scale, end + 1
    low_sign, start = _signed(words, at, value)
    value = low_sign
    if not unit:
        unit, end = _unit(words, end)
    if not unit and start and (money := UNITS.get(words[start - 1].surface)):
        if words[start - 1].surface.isupper() or not words[start - 1].surface.isalpha():
            unit, start = money, start - 1
    if unit == "°" and end < len(words) and f"°{words[end].surface}" in UNITS:  # "20° C", "40° N"
        unit, end = UNITS[f"°{words[end].surface}"], end + 1
    if unit[-1:] in CURRENCIES and end < len(words) and not one.scaled:
        scale = MONEY_MARKS.get(words[end].surface, 1.0)  # "$5 m"
        if scale > 1:
            value, spread, slack, end = (
                value * scale,
                spread * scale,
                (slack or 0.5) * scale,
                end + 1,
            )
    if unit == "m" and not spread and _is_million(words, at, end):
        value, slack = value * 1e6, (slack or 0.5) * 1e6
        unit, end = _unit(words, end)  # "5m dollars"
    if not unit and _is_age(words, at, end):
        unit = "year"
    if _lower(words, end) == "below" and _lower(words, end + 1) == "zero":
        value, end = -value, end + 2
    return _Amount(value, value + spread, slack, unit, start, end)


def _is_age(words: Sequence[Word], at: int, end: int) -> bool:
    before = _lower(words, at - (2 if _lower(words, at - 1) == "of" else 1))
    return before in _AGES or _lower(words, end) == "old"


def _counts(words: Sequence[Word], at: int) -> bool:
    """Return whether a word that may be a number is one here: not "one of the", "a half-brother"."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else None
    one = word.numeral
    if word.lower == "one":
        if not after or word.closes or not _NO_ONE.isdisjoint((after.lower, _lower(words, at - 1))):
            return False
        counted = after.plain and not after.finite and not after.lower.endswith(("ing", "ed", "ly"))
        part = _fraction(words, at + 1) or _half(words, at + 1, 1.0)
        return counted or _is_scale(words, at + 1) or bool(part)
    if one and one.kind == FRACTION:
        before = words[at - 1].numeral if at else None
        if (before and before.kind == ORDINAL) or (after and after.lower in _NO_HALF):
            return False
        small = _lower(words, at - 1) in ("a", "one", "nearly", "almost", "about", "over")
        return word.lower == "half" or small or (after is not None and after.lower == "of")
    return True


def _fraction(words: Sequence[Word], at: int) -> float:
    """Return the value of "thirds" in "two thirds", "quarter" in "one quarter"; else 0."""
    one = words[at].numeral if at < len(words) else None
    if not one or words[at - 1].closes:
        return 0.0
    if one.kind == FRACTION and words[at].lower != "half":
        return one.low
    if words[at - 1].lower != "one" or one.kind != ORDINAL:
        return 0.0
    return 1 / one.low if one.low > 2 else 0.0


def _part(words: Sequence[Word], at: int, end: int, share: float) -> _Amount:
    """Return a part of a scale or unit ("half a million", "a quarter of an hour"), or a share."""
    slack = _OF_THIRDS if abs(40 * share - round(40 * share)) > _CLOSE else 0.0
    before = [_lower(words, at - back) for back in (1, 2, 4)]
    if before in (["a", "and", "a"], ["a", "and", "an"]) and (unit := _unit(words, at - 3)[0]):
        return _Amount(1 + share, 1 + share, 0.0, unit, at - 4, end)  # "an hour and a half"
    after = end + (_lower(words, end) == "of")
    after += _lower(words, after) in ("a", "an")
    if after > end or _is_scale(words, after):
        if _is_scale(words, after):
            share, after = share * (words[after].value or words[after].numeral.low), after + 1  # type: ignore[union-attr]
            unit, end = _unit(words, after)
            return _Amount(share, share, 0.0, unit, at, end)
        if _lower(words, after) == "dozen":
            return _Amount(12 * share, 12 * share, 0.0, "", at, after + 1)
    unit, last = _unit(words, after)
    if unit and _lower(words, after - 1) != "of":
        return _Amount(share, share, slack, unit, at, last)
    return _Amount(share, share, slack, _SHARE, at, end)


def _cardinal(words: Sequence[Word], at: int) -> tuple[float, float, int]:
    """Return the value, slack and end of a number of several words: "two hundred and five",
    "1.5 million", "twenty-five", "5 1/2", "two and a half"."""
    one = words[at].numeral
    assert one
    spelled = words[at].surface.isalpha()
    total, part, slack, end = 0.0, one.low, one.slack, at + 1
    last = 0.0  # the scale before
    if one.kind == SCALE:
        part, end = 1.0, at
    if one.scaled:
        return part, slack, end
    while end < len(words) and (end == at or not words[end - 1].closes):
        joined = end + (last > 0 and words[end].lower == "and")
        nxt = words[joined].numeral if joined < len(words) else None
        ones = nxt.low if nxt and nxt.kind == NUMBER and words[joined].surface.isalpha() else 0.0
        if nxt and nxt.kind == SCALE and joined == end:
            if nxt.low <= 100:
                part *= nxt.low
            else:
                total, part = total + part * nxt.low, 0.0
                slack = (slack or 0.5) * nxt.low
            last, spelled = nxt.low, True
        elif ones and nxt and not nxt.unit and last and ones < last and part % 100 == 0:
            part, slack = part + ones, 0.0
        elif spelled and 0 < ones < 10 and part % 10 == 0 and part % 100:
            part += ones
        else:
            break
        end = joined + 1
    half = _half(words, end, total + part)
    if half:
        value, end = total + part + half, end + (3 if _lower(words, end) == "and" else 1)
        if _is_scale(words, end):
            return value * (words[end].numeral.low), 0.0, end + 1  # type: ignore[union-attr]
        if last > 100:  # "a million and a half"
            return value + (last - 1) * half, 0.0, end
        return value, 0.0, end
    return total + part, slack, end


def _half(words: Sequence[Word], at: int, value: float) -> float:
    """Return the fraction after a number: "and a half", "1/2"."""
    words = words[at : at + 3]
    if [one.lower for one in words[:2]] == ["and", "a"] and len(words) == 3:
        one = words[2].numeral
        return one.low if one and one.kind == FRACTION else 0.0
    one = words[0].numeral if words else None
    written = words[0].surface if words else ""
    small = one and one.kind == NUMBER and 0 < one.low < 1 and not one.unit and "." not in written
    return one.low if one and small and written[0].isnumeric() and value == int(value) else 0.0


def _signed(words: Sequence[Word], at: int, value: float) -> tuple[float, int]:
    minus = at and words[at - 1].lower in ("minus", "negative") and words[at].surface[0] not in "-−"
    return (-value, at - 1) if minus else (value, at)


def _unit(words: Sequence[Word], at: int) -> tuple[str, int]:
    """Return the unit that starts here and the end of its words; "" and `at` if there is none."""
    if at >= len(words) or (at and words[at - 1].closes):
        return "", at
    word = words[at]
    if word.surface not in _UNIT_STARTS and word.lower not in _UNIT_STARTS:
        return "", at
    if word.lower == "in" and not (word.closes or _lower(words, at - 2) in ("ft", "feet", "foot")):
        return "", at  # "5 in Paris", but "5 in." and "5 ft 3 in"
    surfaces = [one.surface for one in words[at : at + _UNIT_WORDS]]
    for size in range(len(surfaces), 0, -1):
        written = " ".join(surfaces[:size])
        unit = UNITS.get(written) or (UNITS.get(written.lower()) if len(written) > 1 else None)
        if unit:
            return unit, at + size
    return "", at


def _is_million(words: Sequence[Word], at: int, end: int) -> bool:
    """Return whether "m" is a million: "1.2m people", "a population of 1.2m"."""
    if end < len(words) and not words[end - 1].closes and _is_plural(words[end]):
        unit = _unit(words, end)[0]
        return not unit or unit[-1:] in CURRENCIES
    return any(one.lower in _COUNTS for one in words[max(0, at - 4) : at])


def _whole(words: Sequence[Word], first: _Amount) -> _Amount:
    """Return an amount with its smaller unit: "5 ft 3 in", "1 h 30 min", "2 hours and a half"."""
    if not first.unit or first.low != first.high or first.unit not in READINGS:
        return first
    at = first.end + (_lower(words, first.end) == "and")
    if (
        _lower(words, at - 1) == "and"
        and _lower(words, at) == "a"
        and _lower(words, at + 1) == "half"
    ):
        return first._replace(low=first.low + 0.5, high=first.high + 0.5, end=at + 2)
    if at >= len(words) or not words[at].numeral or words[at].numeral.kind != NUMBER:  # type: ignore[union-attr]
        return first
    second = _amount(words, at)
    if not second or second.low != second.high or second.unit not in READINGS:
        return first
    large, small = READINGS[first.unit][0], READINGS[second.unit][0]
    ratio = large.size / small.size
    direct = at == first.end and not words[at - 1].closes
    if large.dimension != small.dimension or large.zero or not second.low < ratio:
        return first
    if ratio <= 1 or not (ratio <= 60 or direct):
        return first
    value = first.low * ratio + second.low
    return _Amount(value, value, second.slack, second.unit, first.start, second.end)


def _second(words: Sequence[Word], first: _Amount) -> _Amount | None:
    """Return the other end of "between 10 and 20 km", "10 to 20 km"; not of "from 10 to 20"."""
    lead, link = _lower(words, first.start - 1), _lower(words, first.end)
    between = lead == "between" and link == "and"
    if not between and (link != "to" or lead == "from"):
        return None
    at = first.end + 1
    one = words[at].numeral if at < len(words) else None
    if not one or one.kind != NUMBER or words[at - 1].closes or words[at - 2].closes:
        return None
    second = _amount(words, at)
    alike = second and (not first.unit or first.unit == second.unit)
    return second if alike and first.low == first.high else None


def _unit_of_next(words: Sequence[Word], at: int) -> str:
    """Return the unit of a number, which the one before it shares: "from 10 to 20 km"."""
    one = words[at].numeral if at < len(words) and not words[at - 1].closes else None
    second = _amount(words, at) if one and one.kind == NUMBER else None
    return second.unit if second and second.unit in READINGS else ""


def _range(words: Sequence[Word], first: _Amount, second: _Amount) -> _Amount:
    low = first.low
    if second.low >= 1e3 * low and not first.slack:  # "10 to 20 million"
        low *= next((one.numeral.low for one in words[first.end + 1 : second.end]
                     if one.numeral and one.numeral.kind == SCALE), 1.0)  # fmt: skip
    low, high = sorted((low, second.high))
    return _Amount(low, high, second.slack, second.unit, first.start, second.end)


def _is_score(words: Sequence[Word], at: int, amount: _Amount) -> bool:
    """Return whether "1-3" is a score, not a range."""
    one, written = words[at].numeral, words[at].surface
    if not one or one.low == one.high or amount.unit or one.scaled or not written[0].isdigit():
        return False
    if one.high > _LARGEST_SCORE or "±" in written or "." in written:
        return False
    near = words[max(0, at - _PHRASE) : at] + words[at + 1 : at + 2]
    return not _phrase(words, at + 1) or any(word.lower in _SCORES for word in near)


def _bounded(words: Sequence[Word], amount: _Amount, after: int) -> Quantity:
    """Return the quantity of an amount, with the bound that the words around it say."""
    start, end = amount.start, amount.end
    first, sign = _bound(words, start, after)
    last = end
    for size in (2,):
        words_after = tuple(one.lower for one in words[end : end + size])
        if not sign and words_after in _BOUNDS_AFTER and not words[end - 1].closes:
            sign, last = _BOUNDS_AFTER[words_after], end + size
    one = words[amount.end - 1].numeral or words[start].numeral
    sign = sign or (one.bound if one else "")
    low, high, slack = amount.low, amount.high, amount.slack
    step = _STRICT * max(1.0, abs(low))
    if sign == ABOUT:
        slack, first = max(slack, _ABOUT * abs(high)), first
    elif sign in (OVER, AT_LEAST):
        low, high = high if low == high else low, inf
        low += step * (sign == OVER)
    elif sign in (UNDER, AT_MOST):
        low, high = -inf, high - step * (sign == UNDER)
    phrase = () if amount.unit and amount.unit != _SHARE else _phrase(words, last)
    nouns = frozenset(one.key for one in phrase)
    if amount.unit == "year" and _is_age(words, start, end):
        nouns = _AGE
    unit = amount.unit or next((one.key for one in phrase if _is_plural(one)), "")
    return Quantity(
        NUMBER, low, high, start, end, said(words[first:last]), unit, slack, nouns,
        _beside(words, start, end),
    )  # fmt: skip


def _bound(words: Sequence[Word], start: int, after: int) -> tuple[int, str]:
    """Return the bound that is said before a number and where its words begin."""
    for size in (4, 3, 2, 1):
        at = start - size
        sign = _BOUNDS.get(tuple(one.lower for one in words[at:start])) if at >= after else None
        if sign:
            turned = at > after and (words[at - 1].lower in NEGATORS)
            return (at - 1, _TURNED[sign]) if turned and sign in _TURNED else (at, sign)
    return start, ""


def _phrase(words: Sequence[Word], at: int) -> list[Word]:
    """Return the words of the phrase that is counted: "nuclear reactors" in "94 nuclear reactors",
    "voters" in "half of the voters"."""
    if at and words[at - 1].closes:
        return []
    if _lower(words, at) == "of":
        at += 1 + (_lower(words, at + 1) in ("the", "its", "their", "these", "all", "his", "her"))
    found: list[Word] = []
    for word in words[at : at + _PHRASE]:
        verb = word.finite and not (not found and word.lower.endswith("s"))
        if not word.weight or word.kind or verb:
            break
        found.append(word)
        if word.closes or _is_plural(word):
            break
    return found


def _is_plural(word: Word) -> bool:
    low = word.lower
    if low in _PLURALS:
        return True
    return low[-1:] == "s" and low[-2:] not in ("ss", "us", "is") and low not in _NO_PLURALS


def _beside(words: Sequence[Word], start: int, end: int) -> frozenset[str]:
    near = words[max(0, start - _BESIDE) : end + _BESIDE]
    return frozenset([one.key for one in near if one.weight])


# Comparison


def agree(claimed: Quantity, other: Quantity) -> bool:
    """Return whether a stated quantity makes a claimed one true, within the precision of both.

    It does where all that it allows is allowed by the claim.
    """
    if claimed.kind != other.kind:
        return _is_name_of(claimed, other) or _is_same_form(claimed, other)
    if claimed.kind in (CODE, SERIES, SCORE, ORDINAL):
        same = claimed.kind in (SCORE, ORDINAL) or claimed.unit == other.unit
        return same and (claimed.low, claimed.high) == (other.low, other.high)
    if claimed.kind == TIME:
        apart = claimed.low - other.low
        return apart % 720 == 0 if claimed.unit == "12" else apart == 0
    if claimed.kind in (YEAR, DAY):
        return claimed.low <= other.low and other.high <= claimed.high
    if not _says_unit(claimed, other):
        return False
    is_open = inf in (-claimed.low, claimed.high)  # "over 3 million" is not "3 million"
    for one, two, slack in _comparable(claimed, other):
        off = (0.0 if is_open else slack) + _CLOSE * _size(one, two)
        if one.low - off <= two.low and two.high <= one.high + off:
            return True
    return _is_same_form(claimed, other)


def differ(claimed: Quantity, other: Quantity) -> bool:
    """Return whether two quantities cannot both be true of one thing: another date, time or score,
    or another number of the same unit or noun. One of another series is another thing."""
    kind = claimed.kind
    if kind != other.kind or kind in (CODE, SERIES):
        return False
    if kind == TIME:
        apart = claimed.low - other.low
        return apart % 720 != 0 or (apart != 0 and "12" not in (claimed.unit, other.unit))
    if kind == SCORE:  # "3-1" for one side is "1-3" for the other
        return {claimed.low, claimed.high} != {other.low, other.high}
    if kind in (YEAR, DAY):
        return claimed.high < other.low or other.high < claimed.low
    if kind == ORDINAL:
        return claimed.unit == other.unit != "" and claimed.low != other.low
    if not _same_unit(claimed, other):
        return False
    pairs = [*_comparable(claimed, other)]
    return bool(pairs) and all(
        max(two.low - one.high, one.low - two.high) > slack + _CLOSE * _size(one, two)
        for one, two, slack in pairs
    )


class _Span(NamedTuple):
    low: float
    high: float


def _size(one: _Span, two: _Span) -> float:
    return max([abs(end) for end in (*one, *two) if abs(end) < inf], default=0.0)


def _comparable(claimed: Quantity, other: Quantity) -> Iterator[tuple[_Span, _Span, float]]:
    """Yield both quantities in the base unit of each dimension that they share, and the slack."""
    ours, theirs = READINGS.get(claimed.unit), READINGS.get(other.unit)
    if not ours or not theirs or claimed.unit == other.unit:
        yield _pair_of(claimed, other, None, None)
        return
    for one in ours:
        for two in theirs:
            if one.dimension == two.dimension:
                yield _pair_of(claimed, other, one, two)


def _pair_of(
    claimed: Quantity, other: Quantity, ours: Reading | None, theirs: Reading | None
) -> tuple[_Span, _Span, float]:
    slacks = claimed.slack, other.slack
    if ours and theirs:
        slacks = _converted(claimed, ours, theirs), _converted(other, theirs, ours)
    one, two = _in_base(claimed, ours), _in_base(other, theirs)
    sizes = (ours.size if ours else 1.0), (theirs.size if theirs else 1.0)
    slack = slacks[0] * sizes[0] + slacks[1] * sizes[1]
    return one, two, slack


def _in_base(one: Quantity, reading: Reading | None) -> _Span:
    if not reading:
        return _Span(one.low, one.high)
    return _Span(one.low * reading.size + reading.zero, one.high * reading.size + reading.zero)


def _converted(one: Quantity, reading: Reading, other: Reading) -> float:
    """Return the slack of a number that was converted: people round to a whole unit, but 90 minutes
    are an hour and a half."""
    ratio = max(reading.size, other.size) / min(reading.size, other.size)
    if reading.zero != other.zero:
        return max(one.slack, 0.5)
    if abs(ratio - round(ratio)) < _CLOSE * ratio:
        return one.slack
    value = min(abs(end) for end in (one.low, one.high))
    return max(one.slack, min(0.5, _CONVERTED * value) if value < inf else 0.0)


def _says_unit(claimed: Quantity, other: Quantity) -> bool:
    """Return whether the other number is measured in, or counts, what the claimed one does.

    A claim that names neither is met by any. Of two plural nouns only the same is met: a synonym is
    seldom, a wrong one would be worse. Otherwise a word near the number has to say it.
    """
    ours, theirs = READINGS.get(claimed.unit), READINGS.get(other.unit)
    if ours and claimed.unit != _SHARE:
        return theirs is not None or (claimed.nouns == _AGE and not other.unit and not other.nouns)
    if claimed.unit == other.unit and claimed.unit != _SHARE:
        return True
    if not claimed.nouns:
        return claimed.unit != _SHARE or theirs is not None
    if claimed.unit == _SHARE:
        return theirs is not None
    if theirs or (claimed.unit and other.unit):
        return False
    left_out = not other.nouns and not claimed.nouns.isdisjoint(_LEFT_OUT)
    return left_out or not claimed.nouns.isdisjoint(other.beside)


def _same_unit(claimed: Quantity, other: Quantity) -> bool:
    measured = [one.unit in READINGS for one in (claimed, other)]
    if any(measured):
        return all(measured)
    if claimed.unit and other.unit:
        return claimed.unit == other.unit
    return not claimed.nouns.isdisjoint(other.nouns)


def _is_name_of(claimed: Quantity, other: Quantity) -> bool:
    """Return whether one is a bare number and the other names it: "a pH of 7.4", "pH 7.4"."""
    for one, two in ((claimed, other), (other, claimed)):
        if one.kind == NUMBER and two.kind == SERIES and not one.nouns and not one.unit:
            return one.low == one.high == two.low and two.unit in one.beside
    return False


def _is_same_form(claimed: Quantity, other: Quantity) -> bool:
    """Return whether both are written alike, so that the same is meant whatever it is."""
    return claimed.said == other.said and not claimed.said.replace(",", "").isalnum()
