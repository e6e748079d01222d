"""Read the quantities of a text and compare them as what they are.

A quantity is a number with all that belongs to it: scale, unit, sign, era, bound; or a date, a time
of day, a score, a code, or a number that names one of a series ("gate 5", "Louis XIV").
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

from ufo.transforms.english import numerals as n
from ufo.transforms.english.grammar import is_finite, word_set
from ufo.transforms.english.numerals import DAY, LISTS, NUMBER, READINGS, SERIES, UNITS, YEAR
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
_AROUND: Final = 8  # the most words that are looked at before or after a word
_LARGEST_SCORE: Final = 250
_JOINED: Final = 60  # "5 feet, 2 inches" is one length, "5 km, 300 m" are two
_SHARE: Final = "part"
_AGE: Final = frozenset(("age",))
"""What years count that may be left out: "died at 78"."""
_NO_WORD: Final = Word("oh")  # without weight

_CONTEXT: Final = {name: word_set(text) for name, text in LISTS["context"].items()}
_ERAS: Final = _CONTEXT["eras"]
_CENTURIES: Final = frozenset(("century", "centuries"))
_AFTER_DAYS: Final = frozenset((*n.MONTHS, "of"))
"""What follows a day: "5 May", "the 5th of May"."""
_LEFT_OUT: Final = frozenset(word.key for word in read(LISTS["context"]["left_out"]))
_SHORT: Final = dict(pair.split("=") for pair in LISTS["series"]["abbreviations"].split())
_NUMBER_WORDS: Final = word_set(LISTS["series"]["number"])
_NOUNS: Final = word_set(LISTS["series"]["nouns"]) | {*_SHORT}
_BOUNDS: Final = {
    where: {
        tuple(one.split()): sign for sign, row in LISTS[where].items() for one in row.split(", ")
    }
    for where in ("bounds", "bounds_after")
}
_BOUND_ENDS: Final = frozenset(phrase[-1] for phrase in _BOUNDS["bounds"])
_TURNED: Final = {n.OVER: n.AT_MOST, n.AT_LEAST: n.UNDER, n.UNDER: n.AT_LEAST, n.AT_MOST: n.OVER}
_UNIT_STARTS: Final = frozenset(name.split()[0] for name in UNITS)
Years = tuple[int, int, list[tuple[float, float]]]
"""Where years begin and end among the words, and the range of each."""


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
    beside: tuple[str, ...] = ()


class _Amount(NamedTuple):
    """A number and its unit in words[start:end], before its bound is read."""

    low: float
    high: float
    slack: float
    unit: str
    start: int
    end: int


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """Return every quantity of the words, in their order.

    A date is up to two quantities, its year and its day or month: the year may be in another place.
    """
    numeric = [at for at, word in enumerate(words) if word.numeric]
    return _Reader(words).quantities(numeric) if numeric else []


def _is_plural(word: Word) -> bool:
    low = word.lower
    if low in _CONTEXT["plurals"]:
        return True
    ending = low[-1:] == "s" and low[-2:] not in ("ss", "us", "is")
    return ending and low not in _CONTEXT["no_plurals"]


class _Reader:
    """Reads the quantities of words from left to right."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.size, self.after = len(words), 0
        # Words without meaning after the last, so that before the first (-1, -2, …) and after the
        # last are words, too.
        self.words = [*words, *[_NO_WORD] * _AROUND]

    def quantities(self, numeric: list[int]) -> list[Quantity]:
        """Return the quantities that begin at the places in `numeric`."""
        found: list[Quantity] = []
        for at in numeric:
            if at >= self.after:
                some = self.quantity(at)
                found += some
                self.after = some[-1].end if some else self.after
        return found

    def quantity(self, at: int) -> list[Quantity]:
        """Return the quantity here, the year and day of a date, or nothing."""
        one = self.words[at].numeral
        if one.kind in (n.CODE, SERIES) and not self.is_age(at, at + 1):
            return [self.made(one.kind, one.low, one.high, at, at + 1, one.unit)]
        if found := self.date(at):
            return found
        quantity = self.named(at) or self.time(at) or self.counted(at)
        return [quantity] if quantity else []

    def word(self, at: int) -> Word:
        """Return a word; one that means nothing before the first and after the last."""
        return self.words[at]

    def low(self, at: int) -> str:
        """Return a word in lower case."""
        return self.words[at].lower

    def number(self, at: int) -> n.Numeral:
        """Return what number a word is; one without a kind if it is none."""
        return self.words[at].numeral

    def closed(self, at: int) -> bool:
        """Return whether nothing follows a word in its phrase."""
        return not 0 <= at < self.size - 1 or self.words[at].closes

    def scale(self, at: int) -> float:
        """Return the scale that a word is, 0 if it is none."""
        one = self.number(at)
        return one.low if one.kind == n.SCALE else 0.0

    def made(
        self, kind: str, low: float, high: float, start: int, end: int, unit: str = ""
    ) -> Quantity:
        """Return a quantity that is said in words[start:end]."""
        return Quantity(kind, low, high, start, end, said(self.words[start:end]), unit)

    def beside(self, start: int, end: int) -> tuple[str, ...]:
        """Return the keys of the words near a number."""
        near = self.words[max(0, start - _BESIDE) : end + _BESIDE]
        return tuple([one.key for one in near if one.weight])

    # Dates

    def date(self, at: int) -> list[Quantity]:
        """Return the date here: "7 May 1867", "May 7, 1867", "May 1867", "1867", "1860s", "753 BC",
        "1867-05-07", "the 19th century"."""
        one = self.number(at)
        if one.kind == n.DATE:
            return self.dated(at, at + 1, [(one.low, one.low)], *divmod(int(one.high), 100))
        if years := self.years(at):
            return self.dated(*years)
        month, end = n.MONTHS.get(self.low(at), 0), at + 1
        if not month and self.low(end) not in _AFTER_DAYS:
            return []
        days = self.days(end) if month else self.days(at)
        if month:
            end += bool(days)
        elif days:
            end += self.low(end) == "of"
            month, end = n.MONTHS.get(self.low(end), 0), end + 1
        if not month:
            return []
        year = self.year(end)
        alone = self.word(at).surface[0].isupper() and self.low(at - 1) in _CONTEXT["before_months"]
        if not (days or year or alone):
            return []
        return self.dated(at, end + bool(year), year[2] if year else [], month, *days)

    def years(self, at: int) -> Years | None:
        """Return the year, decade or century here. What cannot be one is told at a glance."""
        one, after = self.number(at), self.number(at + 1)
        near = (self.low(at - 1), self.low(at + 1), self.low(at + 2), self.low(at + 3))
        years = None if _CENTURIES.isdisjoint(near) else self.century(at)
        if n.DECADE in (one.kind, after.kind):
            years = years or self.decade(at)
        if one.kind in (YEAR, n.SEASON) or not _ERAS.isdisjoint(near):
            years = years or self.era(at)
        return years or (self.year(at) if 1000 <= one.low <= 2100 else None)

    def dated(
        self, at: int, end: int, years: list[tuple[float, float]], month: int = 0, *days: int
    ) -> list[Quantity]:
        """Return the days and years of a date."""
        found = []
        for day in (days or (0,)) if month else ():
            first = 100 * month + day
            found.append(self.made(DAY, first, first + (0 if day else 99), at, end))
        before = "" if month else self.low(at - 1)
        for low, high in years:
            year = self.made(YEAR, low, high, at, end)
            if before in ("after", "before"):
                low, high = (high + 1, inf) if before == "after" else (-inf, low - 1)
                year = year._replace(low=low, high=high, said=said(self.words[at - 1 : end]))
            found.append(year)
        return found

    def ordinal(self, at: int) -> tuple[float, int]:
        """Return the value and end of an ordinal: "44th", "forty-fourth"; 0 if it is none."""
        one, second = self.number(at), self.number(at + 1)
        if one.kind == n.ORDINAL:
            return one.low, at + 1
        tens = self.word(at).surface.isalpha() and not self.closed(at) and 20 <= one.low < 100
        if tens and one.low % 10 == 0 and second.kind == n.ORDINAL and second.low < 10:
            return one.low + second.low, at + 2
        return 0.0, at

    def century(self, at: int) -> Years | None:
        value, end = self.ordinal(at)
        if not value:
            value, end = n.ROMAN.get(self.word(at).surface, 0), at + 1
        if not value or self.low(end) not in _CENTURIES:
            return None
        last, era = 100.0 * value, self.low(end + 1)
        if era in ("bc", "bce"):
            return at, end + 2, [(-last, 99 - last)]
        return at, end + 1 + (era in ("ad", "ce")), [(last - 99, last)]

    def decade(self, at: int) -> Years | None:
        """Return "1990s", "the 90s", "nineteen-nineties"; "in his mid-thirties" is an age."""
        one, after = self.number(at), self.number(at + 1)
        if one.kind == n.DECADE and not self.is_age(at, at + 1):
            return at, at + 1, [(one.low, one.low + 9)]
        spelled = after.kind == n.DECADE and self.word(at + 1).surface.isalpha()
        if spelled and one.kind == NUMBER and 11 <= one.low <= 20:
            low = 100 * one.low + after.low % 100
            return at, at + 2, [(low, low + 9)]
        return None

    def era(self, at: int) -> Years | None:
        """Return a year with its era, which may stand before it or after the second of two."""
        one = self.number(at)
        if one.kind in (YEAR, n.SEASON):
            return at, at + 1, [(year, year) for year in sorted({one.low, one.high})]
        if one.kind not in (NUMBER, n.SCORE) or one.unit:
            return None
        second = self.low(at + 1) in ("and", "to", "or") and self.number(at + 2).kind == NUMBER
        places = [at + 1, at - 1, *([at + 3] if second else [])]
        for place in places:
            era = self.low(place) in _ERAS and self.word(place).surface.isupper()
            if era and place >= self.after:
                sign = -1 if self.low(place) in ("bc", "bce") else 1
                years = dict.fromkeys((sign * one.low, sign * one.high))
                end = at + 2 if place == at + 1 else at + 1
                return min(at, place), end, [(year, year) for year in years]
        return None

    def year(self, at: int) -> Years | None:
        """Return a number from 1000 to 2100 that is a year: not "2000 metres", "of 2000 people"."""
        one, word = self.number(at), self.word(at)
        if not (one.kind == NUMBER and 1000 <= one.low <= 2100 and len(word.surface) == 4):
            return None
        after, before = self.word(at + 1), self.low(at - 1)
        counts = after.lower in _CONTEXT["plurals"]  # "2000 people", but "1990 elections"
        if at and after.plain:
            follows = self.word(at - 1).finite or before in ("of", "about", "some", "than")
            counts = follows and _is_plural(after)
        measured = self.unit(at + 1)[0] or self.scale(at + 1) or counts
        if not word.surface.isdigit() or (measured and not word.closes):
            return None
        return at, at + 1, [(one.low, one.low)]

    def days(self, at: int) -> list[int]:
        """Return the day of a month, or the two of "12–15 May"."""
        one = self.number(at)
        if one.kind not in (NUMBER, n.ORDINAL) or one.unit or one.bound or one.slack:
            return []
        first_of = one.kind == n.ORDINAL and self.low(at + 1) == "of"  # "the first of May"
        digits = self.word(at).surface[0].isdigit() or first_of
        both = (one.low, one.high) if one.low != one.high else (one.low,)
        return [int(day) for day in both if digits and day == int(day) and 1 <= day <= 31]

    # Names of one of a series, times of day

    def named(self, at: int) -> Quantity | None:
        """Return a number that names one of a series: "gate 5", "Louis XIV", "GPT-4"."""
        word, before, one = self.word(at), self.word(at - 1), self.number(at)
        if one.kind == n.ORDINAL and (self.low(at + 1), self.low(at + 2)) == ("world", "war"):
            whole = said(self.words[at : at + 3])
            return self.made(SERIES, one.low, one.low, at, at + 1, "war")._replace(said=whole)
        name = self.series(at)
        if one.bound == n.NUMBERED:
            return self.of_series(at, name or "number", one.low)
        known = before.lower in _NOUNS or before.lower in _NUMBER_WORDS
        written = word.surface.upper() if known and word.surface.islower() else word.surface
        if name and written in n.ROMAN and self.is_roman(at, known):
            return self.of_series(at, name, n.ROMAN[written])
        if not name or one.kind != NUMBER or one.low != one.high or one.low < 0:
            return None
        if one.unit not in ("", "s") or one.bound or one.scaled or "," in word.surface:
            return None  # "s" of "747s"
        spelled = word.surface.isalpha()
        title = spelled and word.surface[0].isupper() and before.named  # "Square Two"
        plural = not self.closed(at) and _is_plural(self.word(at + 1)) and not title
        counts = self.unit(at + 1)[0] or self.scale(at + 1) or (plural and (spelled or not known))
        return (
            None
            if counts or (spelled and not (known or title))
            else self.of_series(at, name, one.low)
        )

    def series(self, at: int) -> str:
        """Return the key of the noun or name that the number here names one of, "" if none."""
        before = self.word(at - 1)
        low, surface = before.lower, before.surface
        if low in _NUMBER_WORDS:
            further = self.word(at - 2)
            if low == "no" and surface != "No" and not before.closes:
                return ""
            owner = (further.plain or further.named) and not (further.finite or further.closes)
            return _SHORT.get(further.lower, further.key) if owner else "number"
        if low in _NOUNS:
            return "" if before.closes and low not in _SHORT else _SHORT.get(low, before.key)
        if before.joint == "-" and surface.isupper():
            return before.key  # "F-16"
        if (
            before.closes
            or before.numeral.kind
            or not before.weight
            or low in n.MONTHS
            or surface in UNITS
        ):
            return ""
        hyphen = before.joint == "-" and before.plain and low not in _CONTEXT["no_series"]
        opening = at == 1 and is_finite(low)  # "Killed 5"
        return before.key if not opening and (surface != surface.lower() or hyphen) else ""

    def is_roman(self, at: int, known: bool) -> bool:
        """Return whether letters are a Roman numeral here: not "I", and no initial or vitamin."""
        written = self.word(at).surface
        if self.word(at).joint != " " or not (known or self.word(at - 1).surface[0].isupper()):
            return False
        if len(written) > 1 or known or written != "I":
            return len(written) > 1 or written in "IVXivx"
        place = self.low(at - 2) in ("in", "at", "from", "to", "on", "near", "and")
        return not place and not self.is_spoken

    @cached_property
    def is_spoken(self) -> bool:
        """Whether someone speaks of themselves: an "I" that follows no name, "my", "I'm"."""
        places = [at for at, word in enumerate(self.words) if word.surface == "I"]
        speaking = _CONTEXT["speaking"]
        alone = any(not self.word(at - 1).named for at in places)
        return alone or any(word.lower in speaking for word in self.words)

    def of_series(self, at: int, name: str, value: float) -> Quantity:
        """Return one of a series; its whole name is said."""
        first = max(0, at - 1)
        while (
            first > max(0, at - _PHRASE)
            and self.word(first - 1).named
            and not self.closed(first - 1)
        ):
            first -= 1
        whole, beside = said(self.words[first : at + 1]), self.beside(at, at + 1)
        made = self.made(SERIES, value, value, at, at + 1, name)
        return made._replace(said=whole, beside=beside)

    def time(self, at: int) -> Quantity | None:
        """Return a time of day: "5:30 am", "5 p.m.", "17:30", "noon", "5 o'clock"."""
        one, half = self.number(at), self.low(at + 1)
        clock = half in ("o'clock", "oclock")
        value, end, unit = one.low, at + 1 + clock, "12" if clock else one.unit
        if one.kind == NUMBER and (clock or half in ("am", "pm")):
            hour, minute = divmod(round(100 * value), 100)  # also "5.30 pm"
            if not 1 <= hour <= 12 or minute > 59 or self.word(at + 1).surface in ("Am", "Pm"):
                return None
            value = 60.0 * hour + minute
        elif one.kind != n.TIME:
            return None
        if self.low(end) in ("am", "pm"):
            value, unit = value % 720 + 720 * (self.low(end) == "pm"), ""
            end += 1
        return self.made(n.TIME, value, value, at, end, unit)

    # Numbers

    def counted(self, at: int) -> Quantity | None:
        """Return the number here, with its unit, bound and range; or an ordinal or score."""
        one, (value, end) = self.number(at), self.ordinal(at)
        if one.kind in (n.DECADE, n.CODE):  # "in her 20s"
            low = one.low % 100 if one.kind == n.DECADE else float(one.unit[:2])
            return self.made(NUMBER, low, low + 9, at, end + 1, "year")._replace(nouns=_AGE)
        if one.kind == n.SCORE:
            return self.made(n.SCORE, one.low, one.high, at, at + 1)
        if value and not self.is_part(at):
            unit = next((noun.key for noun in self.phrase(end)), "")
            return self.made(n.ORDINAL, value, value, at, end, unit)
        amount = self.amount(at)
        if not amount:
            return None
        amount = self.whole(amount)
        if second := self.second(amount):
            link = self.low(amount.end)
            if second.high < amount.low <= _LARGEST_SCORE and link == "to" and not second.unit:
                return self.made(n.SCORE, amount.low, second.low, at, second.end)
            amount = self.range(amount, second)
        elif not amount.unit and self.low(amount.end) in ("to", "or", "and"):
            unit = (self.amount(amount.end + 1) or amount).unit  # "from 10 to 20 km"
            amount = amount._replace(unit=unit if unit in READINGS else "")
        elif one.low != one.high and self.is_score(at, amount):
            return self.made(n.SCORE, one.low, one.high, at, at + 1)
        return self.bounded(amount)

    def amount(self, at: int) -> _Amount | None:
        """Return the number here with its scale and unit; a range if it is one word."""
        one = self.number(at)
        if one.kind not in (NUMBER, n.ORDINAL, n.SCALE, n.FRACTION) or not self.counts(at):
            return None
        if one.kind == n.FRACTION or self.is_part(at):
            return self.part(at, at + 1, one.low if one.kind == n.FRACTION else 1 / one.low)
        if not one.unit and (share := self.fraction(at + 1)):
            return self.part(at, at + 2, one.low * share)
        low, high, slack, end = self.cardinal(at)
        if one.kind == n.SCALE and self.low(at - 1) in ("few", "several"):
            low, high, slack = 2 * low, 9.99 * low, 0.0
        start, unit = at, one.unit
        if (
            at > self.after
            and self.low(at - 1) in ("minus", "negative")
            and self.word(at).surface[0] not in "-−"
        ):
            start, low, high = at - 1, -high, -low
        if not unit:
            unit, end = self.unit(end)
        money = self.word(start - 1).surface
        if (
            not unit
            and (money.isupper() or not money.isalpha())
            and start > self.after
            and money in UNITS
        ):
            unit, start = UNITS[money], start - 1
        if unit == "°" and f"°{self.word(end).surface}" in UNITS:  # "20° C", "40° N"
            unit, end = UNITS[f"°{self.word(end).surface}"], end + 1
        scale = n.MONEY_MARKS.get(self.word(end).surface) if unit[-1:] in n.CURRENCIES else None
        if unit == "m" and self.is_million(at, end):
            scale, (unit, end) = 1e6, self.unit(end)  # "5m dollars"
        elif scale:  # "$5 m"
            end += 1
        if scale and not one.scaled:
            low, high, slack = low * scale, high * scale, (slack or 0.5) * scale
        if not unit and self.is_age(at, end):
            unit = "year"
        if (self.low(end), self.low(end + 1)) == ("below", "zero"):
            low, high, end = -high, -low, end + 2
        return _Amount(low, high, slack, unit, start, end)

    def counts(self, at: int) -> bool:
        """Return whether a word is a number here: not "one of the", "a half-brother"."""
        low, before, after = self.low(at), self.low(at - 1), self.word(at + 1)
        if low == "one":
            if self.closed(at) or not _CONTEXT["no_one"].isdisjoint((after.lower, before)):
                return False
            verb = after.finite or after.lower.endswith(("ing", "ed", "ly"))
            part = self.scale(at + 1) or self.fraction(at + 1) or self.half(at + 1)
            return bool(part) or (after.plain and not verb)
        if self.number(at).kind != n.FRACTION:
            return True
        if self.number(at - 1).kind == n.ORDINAL or after.lower in _CONTEXT["no_half"]:
            return False
        return low == "half" or before in _CONTEXT["before_parts"] or after.lower == "of"

    def is_part(self, at: int) -> bool:
        """Return whether an ordinal is a fraction: "a third of", "one third"."""
        one, before = self.number(at), self.low(at - 1)
        of = before == "a" and self.low(at + 1) == "of"
        return one.kind == n.ORDINAL and one.low > 2 and (of or before == "one")

    def fraction(self, at: int) -> float:
        """Return the value of "thirds" in "two thirds", "quarter" in "one quarter"; else 0."""
        one = self.number(at)
        if self.closed(at - 1) or self.low(at) == "half":
            return 0.0
        if one.kind == n.FRACTION:
            return one.low
        return 1 / one.low if self.low(at - 1) == "one" and self.is_part(at) else 0.0

    def part(self, at: int, end: int, share: float) -> _Amount:
        """Return a part of a scale or unit ("half a million", "a quarter of an hour"), or share."""
        slack = _OF_THIRDS if abs(40 * share - round(40 * share)) > _CLOSE else 0.0
        one = self.low(at - 4) in ("a", "an") and at - 4 >= self.after
        more = one and (self.low(at - 2), self.low(at - 1)) == ("and", "a")
        if more and (unit := self.unit(at - 3)[0]):
            return _Amount(1 + share, 1 + share, 0.0, unit, at - 4, end)  # "an hour and a half"
        of = self.low(end) == "of"
        after = end + of + (self.low(end + of) in ("a", "an"))
        if scale := self.scale(after):
            unit, last = self.unit(after + 1)
            return _Amount(share * scale, share * scale, 0.0, unit, at, last)
        unit, last = self.unit(after)
        if unit and self.low(after - 1) != "of":
            return _Amount(share, share, slack, unit, at, last)
        return _Amount(share, share, slack, _SHARE, at, end)

    def cardinal(self, at: int) -> tuple[float, float, float, int]:
        """Return low, high, slack and end of a number of several words: "two hundred and five",
        "1.5 million", "twenty-five", "5 1/2", "two and a half", "tens of thousands"."""
        one = self.number(at)
        spread, end = one.high - one.low, at + 1
        many = n.SCALES.get(self.low(at + 2)[:-1], 1.0) if self.low(at + 1) == "of" else 1.0
        if spread or one.unit or one.scaled:
            end += 2 * bool(spread and many > 1)
            many = many if spread and many > 1 else self.scale(end) or 1.0
            end += many == self.scale(end)  # "10-20 million"
            return one.low * many, one.high * many, one.slack * many, end
        total, part, slack, last = 0.0, one.low, one.slack, 0.0
        spelled = self.word(at).surface.isalpha()
        if one.kind == n.SCALE:
            part, end = 1.0, at
        while end < self.size and (end == at or not self.closed(end - 1)):
            place = end + (last > 0 and self.low(end) == "and")
            scale, following = self.scale(end), self.number(place)
            words = following.kind == NUMBER and self.word(place).surface.isalpha()
            ones = following.low if words and not following.unit else 0.0
            if scale and scale <= 100:
                part *= scale
            elif scale:
                total, part, slack = total + part * scale, 0.0, (slack or 0.5) * scale
            elif last and 0 < ones < last and part % 100 == 0:
                part, slack = part + ones, 0.0
            elif spelled and 0 < ones < 10 and part % 10 == 0 and part % 100:
                part += ones
            else:
                break
            last, spelled, end = scale or last, spelled or scale > 0, place + 1
        value = total + part
        half = self.half(end) if value == int(value) else 0.0
        if half:
            end += 3 if self.low(end) == "and" else 1
            scale = self.scale(end) or 1.0  # "two and a half million", "a million and a half"
            value, slack = (value + half * max(1.0, last if last > 100 else 1.0)) * scale, 0.0
            end += scale > 1
        return value, value, slack, end

    def half(self, at: int) -> float:
        """Return the fraction after a number: "and a half", "1/2"; else 0."""
        if (self.low(at), self.low(at + 1)) == ("and", "a"):
            one = self.number(at + 2)
            return one.low if one.kind == n.FRACTION else 0.0
        one, written = self.number(at), self.word(at).surface
        small = one.kind == NUMBER and 0 < one.low < 1 and not one.unit and "." not in written
        return one.low if small and written[0].isnumeric() else 0.0

    def unit(self, at: int) -> tuple[str, int]:
        """Return the unit here and the end of its words; "" and `at` if there is none."""
        word = self.word(at)
        if word.surface not in _UNIT_STARTS and word.lower not in _UNIT_STARTS:
            return "", at
        inch = word.closes or at + 1 == self.size or self.low(at - 2) in ("ft", "feet", "foot")
        if (at and self.word(at - 1).closes) or (word.lower == "in" and not inch):
            return "", at  # "5 in Paris", but "5 in." and "5 ft 3 in tall"
        surfaces = [one.surface for one in self.words[at : at + _UNIT_WORDS]]
        for size in range(len(surfaces), 0, -1):
            if unit := n.unit_of(" ".join(surfaces[:size])):
                return unit, at + size
        return "", at

    def is_million(self, at: int, end: int) -> bool:
        """Return whether "m" is a million: "1.2m people", "a population of 1.2m"."""
        if not self.closed(end - 1) and _is_plural(self.word(end)):
            unit = self.unit(end)[0]
            return not unit or unit[-1:] in n.CURRENCIES
        return any(one.lower in _CONTEXT["counts"] for one in self.words[max(0, at - 4) : at])

    def is_age(self, at: int, end: int) -> bool:
        """Return whether a number is an age: "aged 66", "66 years old", "in her 20s"."""
        before = self.low(at - 1 - (self.low(at - 1) in ("of", "mid", "late", "early")))
        decade = self.number(at).kind == n.DECADE or self.number(at).unit in ("10s", "20s")
        return before in _CONTEXT["owners" if decade else "ages"] or self.low(end) == "old"

    def whole(self, first: _Amount) -> _Amount:
        """Return an amount with its smaller unit: "5 ft 3 in", "1 h 30 min", "2 h and a half"."""
        if first.unit not in READINGS or first.low != first.high:
            return first
        if (half := self.half(first.end)) and self.low(first.end) == "and":
            return first._replace(low=first.low + half, high=first.high + half, end=first.end + 3)
        at = first.end + (self.low(first.end) == "and")
        second = self.amount(at) if self.number(at).kind == NUMBER else None
        if not second or second.low != second.high or second.unit not in READINGS:
            return first
        large, small = READINGS[first.unit][0], READINGS[second.unit][0]
        ratio = large.size / small.size
        direct = at == first.end and not self.closed(at - 1)
        if large.dimension != small.dimension or large.zero or not second.low < ratio:
            return first
        if ratio <= 1 or not (ratio <= _JOINED or direct):
            return first
        value = first.low * ratio + second.low
        return second._replace(low=value, high=value, start=first.start)

    def second(self, first: _Amount) -> _Amount | None:
        """Return the other end of "between 10 and 20 km", "10 to 20 km"; not of "from 10 to 20"."""
        at, lead = first.end + 1, self.low(first.start - 1)
        between = (lead, self.low(first.end)) == ("between", "and")
        to = self.low(first.end) == "to" and lead != "from"
        if not (between or to) or self.word(at - 1).closes or self.word(at - 2).closes:
            return None
        second = self.amount(at) if self.number(at).kind == NUMBER else None
        alike = second and (not first.unit or first.unit == second.unit)
        return second if alike and first.low == first.high else None

    def range(self, first: _Amount, second: _Amount) -> _Amount:
        """Return the range from one number to another, which may share a scale."""
        scales = [self.scale(at) for at in range(first.end + 1, second.end)]
        shared = (
            max(scales) if second.low >= 1e3 * first.low and not first.slack and scales else 1.0
        )
        low, high = sorted((first.low * (shared or 1.0), second.high))
        return second._replace(low=low, high=high, start=first.start)

    def is_score(self, at: int, amount: _Amount) -> bool:
        """Return whether "1-3" is a score, not a range."""
        one, written = self.number(at), self.word(at).surface
        if amount.unit or one.scaled or one.high > _LARGEST_SCORE or not written[0].isdigit():
            return False
        near = [*self.words[max(0, at - _PHRASE) : at], self.word(at + 1)]
        plain = not self.phrase(at + 1) or any(word.lower in _CONTEXT["scores"] for word in near)
        return plain and "±" not in written and "." not in written

    def bounded(self, amount: _Amount) -> Quantity:
        """Return the quantity of an amount, with the bound that the words around it say."""
        low, high, slack, unit, start, end = amount
        first, last = start, end
        sign = self.number(start).bound or self.number(end - 1).bound
        for size in (1, 2, 3, 4) if self.low(start - 1) in _BOUND_ENDS else ():
            before = tuple(one.lower for one in self.words[max(0, start - size) : start])
            if start - size >= self.after and before in _BOUNDS["bounds"]:
                first, sign = start - size, _BOUNDS["bounds"][before]
        if first > self.after and first < start and self.low(first - 1) in NEGATORS:
            first, sign = first - (sign in _TURNED), _TURNED.get(sign, sign)
        following = (self.low(end), self.low(end + 1))
        if following in _BOUNDS["bounds_after"] and not self.closed(end - 1) and not sign:
            sign, last = _BOUNDS["bounds_after"][following], end + 2
        step = _STRICT * max(1.0, abs(low)) * (sign in (n.OVER, n.UNDER))
        if sign == n.ABOUT:
            slack = max(slack, _ABOUT * abs(high))
        elif sign in (n.OVER, n.AT_LEAST):
            low, high = low + step, inf
        elif sign in (n.UNDER, n.AT_MOST):
            low, high = -inf, high - step
        phrase = [] if unit and unit != _SHARE else self.phrase(last)
        nouns = frozenset([one.key for one in phrase])
        if unit == "year" and self.is_age(start, end):
            nouns = _AGE
        unit = unit or next((one.key for one in phrase if _is_plural(one)), "")
        written, beside = said(self.words[first:last]), self.beside(start, end)
        return Quantity(NUMBER, low, high, start, end, written, unit, slack, nouns, beside)

    def phrase(self, at: int) -> list[Word]:
        """Return the words of the phrase that is counted: "nuclear reactors" in "94 nuclear
        reactors", "voters" in "half of the voters"."""
        if self.closed(at - 1):
            return []
        if self.low(at) == "of":
            at += 1 + (self.low(at + 1) in _CONTEXT["of_the"])
        found: list[Word] = []
        for word in self.words[at : at + _PHRASE]:
            verb = word.finite and (found or not word.lower.endswith("s"))
            if not word.weight or word.kind or verb:
                break
            found.append(word)
            if word.closes or _is_plural(word):
                break
        return found


def agree(claimed: Quantity, other: Quantity) -> bool:
    """Return whether a stated quantity makes a claimed one true, within the precision of both.

    It does where all that it allows is allowed by the claim.
    """
    kind = claimed.kind
    if kind != other.kind:
        if SERIES in (kind, other.kind) and _is_name_of(claimed, other):
            return True
        return claimed.said == other.said and _has_form(claimed)
    if kind in (YEAR, DAY):
        return claimed.low <= other.low and other.high <= claimed.high
    if kind == n.TIME:
        apart = claimed.low - other.low
        return apart % 720 == 0 if claimed.unit == "12" else apart == 0
    if kind != NUMBER:
        same = kind in (n.SCORE, n.ORDINAL) or claimed.unit == other.unit
        return same and (claimed.low, claimed.high) == (other.low, other.high)
    if not _says_unit(claimed, other):
        return False
    is_open = inf in (-claimed.low, claimed.high)  # "over 3 million" is not "3 million"
    for one, two, slack in _comparable(claimed, other):
        off = _size(one, two) if is_open else slack
        if one.low - off <= two.low and two.high <= one.high + off:
            return True
    return claimed.said == other.said and _has_form(claimed)


def differ(claimed: Quantity, other: Quantity) -> bool:
    """Return whether two quantities cannot both be true of one thing: another date, time or score,
    or another number of the same unit or noun. One of another series is another thing."""
    kind = claimed.kind
    if kind != other.kind or kind in (n.CODE, SERIES):
        return False
    if kind == n.TIME:
        apart = claimed.low - other.low
        return apart % 720 != 0 or (apart != 0 and "12" not in (claimed.unit, other.unit))
    if kind == n.SCORE:  # "3-1" for one side is "1-3" for the other
        return {claimed.low, claimed.high} != {other.low, other.high}
    if kind in (YEAR, DAY):
        return claimed.high < other.low or other.high < claimed.low
    if kind == n.ORDINAL:
        return claimed.unit == other.unit != "" and claimed.low != other.low
    pairs = [*_comparable(claimed, other)] if _same_unit(claimed, other) else []
    gaps = [max(two.low - one.high, one.low - two.high) - slack for one, two, slack in pairs]
    return bool(gaps) and min(gaps) > 0


class _Span(NamedTuple):
    low: float
    high: float


_Pair = tuple[_Span, _Span, float]


def _comparable(claimed: Quantity, other: Quantity) -> Iterator[_Pair]:
    """Yield both quantities in the base unit of each dimension that they share, and the slack."""
    ours, theirs = READINGS.get(claimed.unit), READINGS.get(other.unit)
    if not ours or not theirs or claimed.unit == other.unit:
        one, two = _Span(claimed.low, claimed.high), _Span(other.low, other.high)
        yield one, two, claimed.slack + other.slack + _size(one, two)
        return
    for reading in ours:
        for their in theirs:
            if reading.dimension == their.dimension:
                one, two = _in_base(claimed, reading), _in_base(other, their)
                slack = _slack(claimed, reading, their) + _slack(other, their, reading)
                yield one, two, slack + _size(one, two)


def _size(one: _Span, two: _Span) -> float:
    """Return how far off a float may be."""
    return _CLOSE * max([abs(end) for end in (*one, *two) if abs(end) < inf], default=0.0)


def _in_base(one: Quantity, reading: n.Reading) -> _Span:
    return _Span(one.low * reading.size + reading.zero, one.high * reading.size + reading.zero)


def _slack(one: Quantity, reading: n.Reading, other: n.Reading) -> float:
    """Return the slack of a number that was converted: people round to a whole unit, but 90 minutes
    are an hour and a half."""
    ratio = max(reading.size, other.size) / min(reading.size, other.size)
    slack, value = one.slack, min(abs(one.low), abs(one.high))
    if reading.zero != other.zero:
        slack = max(slack, 0.5)
    elif abs(ratio - round(ratio)) > _CLOSE * ratio and value < inf:
        slack = max(slack, min(0.5, _CONVERTED * value))
    return slack * reading.size


def _says_unit(claimed: Quantity, other: Quantity) -> bool:
    """Return whether the other number is measured in, or counts, what the claimed one does.

    A claim that names neither is met by any. Of two plural nouns only the same is met: a synonym is
    seldom, a wrong one would be worse. Otherwise a word near the number has to say it.
    """
    if claimed.unit in READINGS:
        of_age = claimed.nouns == _AGE and not other.unit and not other.nouns
        return other.unit in READINGS or of_age
    if not claimed.nouns or claimed.unit == other.unit != "":
        return True
    if other.unit in READINGS or (claimed.unit and other.unit):
        return False
    left_out = not other.nouns and not claimed.nouns.isdisjoint(_LEFT_OUT)
    return left_out or not claimed.nouns.isdisjoint(other.beside)


def _same_unit(claimed: Quantity, other: Quantity) -> bool:
    if claimed.unit in READINGS or other.unit in READINGS:
        return claimed.unit in READINGS and other.unit in READINGS
    if claimed.unit and other.unit:
        return claimed.unit == other.unit
    return not claimed.nouns.isdisjoint(other.nouns)


def _is_name_of(claimed: Quantity, other: Quantity) -> bool:
    """Return whether one is a bare number and the other names it: "a pH of 7.4", "pH 7.4"."""
    for one, two in ((claimed, other), (other, claimed)):
        if one.kind == NUMBER and two.kind == SERIES and not one.nouns and not one.unit:
            return one.low == one.high == two.low and two.unit in one.beside
    return False


def _has_form(one: Quantity) -> bool:
    """Return whether a quantity is more than digits, so that whatever is written alike means the
    same."""
    return not one.said.replace(",", "").isalnum()
