"""Read the quantities of a text, to compare them by their meaning.

A quantity is a number with all that belongs to it: scale, unit, sign, era, bound; or a date, a time
of day, a score, a code, or a number that names one of a series ("gate 5", "Louis XIV").
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Final, NamedTuple

from ufo.transforms.english import numerals as n
from ufo.transforms.english.grammar import PREPOSITIONS, Memo, is_finite, word_set
from ufo.transforms.english.numerals import DAY, LISTS, NUMBER, READINGS, SERIES, UNITS, YEAR
from ufo.transforms.english.words import NEGATORS, Word, as_written, read

_CLOSE: Final = 1e-9
_STRICT: Final = 1e-7
"""The least share of a bound by which a number differs from it: "over 100"."""
_ABOUT: Final = 0.05  # how far off "about 300" may be
_CONVERTED: Final = 0.02  # how far off "100 miles" may be from 160 km
_OF_THIRDS: Final = 0.007  # how far off 33 % may be from a third
_BESIDE: Final = 8  # words on either side of a number that may say what it counts
_PHRASE: Final = 4  # words of a phrase such as "94 nuclear power reactors"
_AROUND: Final = 8  # the most words that are looked at before or after a word
_LARGEST_SCORE: Final = 250
_JOINED: Final = 60  # "5 feet, 2 inches" is one length, "5 km, 300 m" are two
_SHARE: Final = "part"
_AGE: Final = ("age",)
"""The noun of years of age, which may be left out: "died at 78"."""
_NO_WORDS: Final = [Word("oh")] * _AROUND  # without weight

_CONTEXT_TEXTS: Final[dict[str, str]] = LISTS["context"]
_CONTEXT: Final = {name: word_set(text) for name, text in _CONTEXT_TEXTS.items()}
_ERAS: Final = _CONTEXT["eras"]
_CENTURIES: Final = frozenset(("century", "centuries"))
_DATING: Final = _ERAS | _CENTURIES
_AFTER_DAYS: Final = frozenset((*n.MONTHS, "of"))
"""Words that may follow a day: "5 May", "the 5th of May"."""
_AFTER_NAMES: Final = PREPOSITIONS | {"and", "or"}
_PEOPLE: Final = frozenset(("population", "inhabitants", "audience"))
_ARTICLES: Final = frozenset(("a", "an"))
_CLOCKS: Final = frozenset(("am", "pm", "o'clock"))
_LEFT_OUT: Final = frozenset(word.key for word in read(_CONTEXT_TEXTS["left_out"]))
_SHORT: Final = dict(pair.split("=") for pair in LISTS["series"]["abbreviations"].split())
_NUMBER_WORDS: Final = word_set(LISTS["series"]["number"])
_NOUNS: Final = word_set(LISTS["series"]["nouns"]) | {*_SHORT}
_BOUNDS, _BOUNDS_AFTER = (
    {tuple(one.split()): sign for sign, row in LISTS[where].items() for one in row.split(", ")}
    for where in ("bounds", "bounds_after")
)
_BOUND_ENDS: Final = frozenset(phrase[-2:] for phrase in _BOUNDS)
_TURNED: Final = {n.OVER: n.AT_MOST, n.AT_LEAST: n.UNDER, n.UNDER: n.AT_LEAST, n.AT_MOST: n.OVER}
# The first word of a unit's name -> the most words of such a name.
_UNIT_STARTS: Final = {
    name.split()[0]: len(name.split()) for name in sorted(UNITS, key=lambda name: len(name.split()))
}
_RANGES: Final = (NUMBER, n.SCORE)  # "1-3" may be read as either
_TENS: Final = range(20, 100, 10)
_AMBIGUOUS: Final = ("m", "°")  # units that may be a scale, or go on
_LINKS: Final = frozenset(("and", "or", "to", "of"))
# Words beside a number that may belong to it. After one of the links the next word tells.
_TELLING_BEFORE: Final = _CONTEXT["telling_before"].union(_ERAS, n.MONTHS, _NOUNS, _NUMBER_WORDS)
_TELLING_AFTER: Final = _CONTEXT["telling_after"].union(
    map(str.lower, n.MONEY_MARKS), _DATING, n.MONTHS, _CLOCKS
)
_AFTER_STARTS: Final = frozenset(phrase[0] for phrase in _BOUNDS_AFTER)
_NO_UNIT: Final = n.Reading("", 1.0, 0.0)
_Span = tuple[float, float]
Years = tuple[int, int, list[_Span]]
"""Where years begin and end among the words, and the range of each."""


class Quantity:
    """A quantity in `words[start:end]`; `written` is how it is written, bound and series included.

    - `kind`: number, ordinal, year, day, time, score, code or series.
    - `low`, `high`: its value is from one to the other, which differ for a range, a decade and an
      open number ("over 300"). A score has its two numbers. A day has 100 × month + day; a month
      alone has the range of its days. A time of day has minutes.
    - `slack`: how far off each may be, by the precision with which it is written.
    - `unit`: what it is measured in, or the key of the plural noun that it counts, the key of the
      series or the text of a code; "" if unknown. "12" for a time without "am" or "pm".
    - `nouns`: the keys of the phrase that it counts; `beside`: of all words near it.
    """

    # What few comparisons need is read from the words when it is asked for.
    __slots__ = ("_span", "_words", "end", "high", "kind", "low", "nouns", "slack", "start", "unit")

    def __init__(
        self, kind: str, low: float, high: float, words: Sequence[Word], start: int, end: int,
        unit: str = "", slack: float = 0.0, nouns: Sequence[str] = (),
        span: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.low, self.high, self.start, self.end = kind, low, high, start, end
        self.unit, self.slack, self.nouns = unit, slack, nouns
        self._words, self._span = words, span or (start, end)

    @property
    def written(self) -> str:
        """How it is written, with the words of its bound or series."""
        return as_written(self._words[slice(*self._span)])

    @property
    def beside(self) -> list[str]:
        """The keys of the words near it."""
        near = self._words[max(0, self.start - _BESIDE) : self.end + _BESIDE]
        return [word.key for word in near if word.weight]


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
    results: list[Quantity] = []
    if not numeric:
        return results
    reader = _Reader(words)
    for at in numeric:
        if at >= reader.after:
            some = reader.quantity(at)
            results += some
            reader.after = some[-1].end if some else reader.after
    return results


def _looks_plural(low: str) -> bool:
    if low in _CONTEXT["plurals"]:
        return True
    ending = low[-1:] == "s" and low[-2:] not in ("ss", "us", "is")
    return ending and low not in _CONTEXT["no_plurals"]


_is_plural: Final = Memo(_looks_plural).__getitem__


class _Reader:
    """A reader of the quantities of words from left to right."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.size, self.after = len(words), 0
        # Words without meaning after the last, so that before the first (-1, -2, …) and after the
        # last are words, too.
        self.words = [*words, *_NO_WORDS]

    def quantity(self, at: int) -> list[Quantity]:
        """Return the quantity here, the year and day of a date, or nothing."""
        numeral = self.words[at].numeral
        if numeral.kind == n.ORDINAL and self.is_alone(at, at + 1):
            return [self.ranked(at, at + 1, numeral.low)]
        if numeral.kind == NUMBER:
            unit, end = (numeral.unit, at + 1) if numeral.unit else self.unit(at + 1)
            if unit not in _AMBIGUOUS and self.is_alone(at, end):
                if not unit and self.is_year(at):
                    return self.dated(at, at + 1, [(numeral.low, numeral.low)])
                return [
                    self.bounded(_Amount(numeral.low, numeral.high, numeral.slack, unit, at, end))
                ]
        if numeral.kind in (n.CODE, SERIES) and not self.is_age(at, at + 1):
            return [
                Quantity(
                    numeral.kind, numeral.low, numeral.high, self.words, at, at + 1, numeral.unit
                )
            ]
        if numeral.kind != n.SCALE and (dates := self.date(at)):  # "hundred" is no date
            return dates
        quantity = self.named(at) or self.time(at) or self.counted(at)
        return [quantity] if quantity else []

    def is_alone(self, at: int, end: int) -> bool:
        """Return whether no word around words[at:end], a number with its unit, can belong to it.

        Then it is a year, a count or an ordinal, as most numbers are."""
        before, word, after = self.words[at - 1], self.words[at], self.words[end]
        if after.lower in _LINKS:
            after = self.words[end + 1]
        return (
            before.lower not in _TELLING_BEFORE
            and after.lower not in _TELLING_AFTER
            and not (before.numeral.kind or after.numeral.kind)
            and (before.surface.islower() or not before.weight)
            and before.joint == " "
            and word.surface == word.lower != "one"
            and word.numeral.low == word.numeral.high
            and word.numeral.bound != n.NUMBERED
        )

    def ranked(self, at: int, end: int, value: float) -> Quantity:
        """Return the ordinal here, with the noun after it."""
        unit = next((noun.key for noun in self.phrase(end)), "")
        return Quantity(n.ORDINAL, value, value, self.words, at, end, unit)

    def lows(self, at: int, size: int = 2) -> tuple[str, ...]:
        """Return `size` words in lower case."""
        return tuple([word.lower for word in self.words[at : at + size]])

    def closed(self, at: int) -> bool:
        """Return whether nothing follows a word in its phrase."""
        return not 0 <= at < self.size - 1 or self.words[at].closes

    def scale(self, at: int) -> float:
        """Return the value of a word such as "million", 0 for other words."""
        numeral = self.words[at].numeral
        return numeral.low if numeral.kind == n.SCALE else 0.0

    # Dates

    def date(self, at: int) -> list[Quantity]:
        """Return the date here: "7 May 1867", "May 7, 1867", "May 1867", "1867", "1860s", "753 BC",
        "1867-05-07", "the 19th century"."""
        word, following = self.words[at], self.words[at + 1].lower
        numeral = word.numeral
        if numeral.kind == n.DATE:
            return self.dated(
                at, at + 1, [(numeral.low, numeral.low)], *divmod(int(numeral.high), 100)
            )
        if dated_years := self.years(at):
            return self.dated(*dated_years)
        month, end = n.MONTHS.get(word.lower, 0), at + 1
        days = self.days(end) if month else self.days(at) if following in _AFTER_DAYS else []
        if month:
            end += bool(days)
        elif days:
            end += following == "of"
            month, end = n.MONTHS.get(self.words[end].lower, 0), end + 1
        if not month:
            return []
        year, before = self.words[end].numeral.low, self.words[at - 1].lower
        years = [(year, year)] if self.is_year(end) else []
        alone = word.surface[0].isupper() and before in _CONTEXT["before_months"]
        if not (days or years or alone):
            return []
        return self.dated(at, end + len(years), years, month, *days)

    def years(self, at: int) -> Years | None:
        """Return the year, decade or century here."""
        words, numeral = self.words, self.words[at].numeral
        if numeral.kind in (YEAR, n.SEASON):
            return at, at + 1, [(year, year) for year in sorted({numeral.low, numeral.high})]
        is_dated = not _DATING.isdisjoint((words[at - 1].lower, *self.lows(at + 1, 3)))
        if is_dated and (years := self.century(at) or self.era(at)):
            return years
        if numeral.kind == n.DECADE and not self.is_age(at, at + 1):
            return at, at + 1, [(numeral.low, numeral.low + 9)]
        return (at, at + 1, [(numeral.low, numeral.low)]) if self.is_year(at) else None

    def dated(
        self, at: int, end: int, years: list[_Span], month: int = 0, *days: int
    ) -> list[Quantity]:
        """Return the days and years of a date."""
        results = []
        for day in (days or (0,)) if month else ():
            first = 100 * month + day
            results.append(Quantity(DAY, first, first + (0 if day else 99), self.words, at, end))
        before = "" if month else self.words[at - 1].lower
        span = (at - (before in ("after", "before")), end)
        for low, high in years:
            if before == "after":
                low, high = high + 1, inf
            elif before == "before":
                low, high = -inf, low - 1
            results.append(Quantity(YEAR, low, high, self.words, at, end, span=span))
        return results

    def ordinal(self, at: int) -> tuple[float, int]:
        """Return the value and end of an ordinal: "44th", "forty-fourth"; 0 if it is none."""
        word, second = self.words[at], self.words[at + 1].numeral
        numeral = word.numeral
        if numeral.kind == n.ORDINAL:
            return numeral.low, at + 1
        tens = second.kind == n.ORDINAL and word.surface.isalpha() and not self.closed(at)
        if tens and second.low < 10 and numeral.low in _TENS:
            return numeral.low + second.low, at + 2
        return 0.0, at

    def century(self, at: int) -> Years | None:
        value, end = self.ordinal(at)
        if not value:
            value, end = n.ROMAN.get(self.words[at].surface, 0), at + 1
        if not value or self.words[end].lower not in _CENTURIES:
            return None
        last, era = 100.0 * value, self.words[end + 1].lower
        if era in ("bc", "bce"):
            return at, end + 2, [(-last, 99 - last)]
        return at, end + 1 + (era in _ERAS), [(last - 99, last)]

    def era(self, at: int) -> Years | None:
        """Return a year with its era, which may stand before it or after the second of two."""
        words = self.words
        numeral = words[at].numeral
        if numeral.kind not in (NUMBER, n.SCORE) or numeral.unit:
            return None
        linked = words[at + 1].lower in ("and", "to", "or") and words[at + 2].numeral.kind == NUMBER
        for place in (at + 1, at - 1, at + 3 if linked else at + 1):
            era = words[place].lower
            if era in _ERAS and words[place].surface.isupper() and place >= self.after:
                sign = -1 if era in ("bc", "bce") else 1
                years = dict.fromkeys((sign * numeral.low, sign * numeral.high))
                end = at + 2 if place == at + 1 else at + 1
                return min(at, place), end, [(year, year) for year in years]
        return None

    def is_year(self, at: int) -> bool:
        """Return whether a number is a year, from 1000 to 2100: not "2000 km", "2000 people"."""
        word, after, before = self.words[at], self.words[at + 1], self.words[at - 1]
        in_range = 1000 <= word.numeral.low <= 2100
        if not in_range or len(word.surface) != 4 or not word.surface.isdigit():
            return False
        counts = after.lower in _CONTEXT["plurals"]  # "2000 people", but "1990 elections"
        if at and after.plain:
            follows = before.finite or before.lower in _CONTEXT["before_counts"]
            counts = follows and _is_plural(after.lower)
        return word.closes or not (counts or self.unit(at + 1)[0] or self.scale(at + 1))

    def days(self, at: int) -> list[int]:
        """Return the day of a month, or the two of "12–15 May"."""
        word = self.words[at]
        numeral = word.numeral
        if (
            numeral.kind not in (NUMBER, n.ORDINAL)
            or numeral.unit
            or numeral.bound
            or numeral.slack
        ):
            return []
        first_of = (
            numeral.kind == n.ORDINAL and self.words[at + 1].lower == "of"
        )  # "the first of May"
        both = (
            dict.fromkeys((numeral.low, numeral.high))
            if word.surface[0].isdigit() or first_of
            else ()
        )
        return [int(day) for day in both if day == int(day) and 1 <= day <= 31]

    # Names of one of a series, times of day

    def named(self, at: int) -> Quantity | None:
        """Return a number that names one of a series: "gate 5", "Louis XIV", "GPT-4"."""
        words = self.words
        word, before, numeral = words[at], words[at - 1], words[at].numeral
        if numeral.kind == n.ORDINAL:
            return self.ordinal_name(at)
        name = self.series(at)
        if numeral.bound == n.NUMBERED:
            return self.of_series(at, name or "number", numeral.low)
        if not name:
            return None
        known = before.lower in _NOUNS or before.lower in _NUMBER_WORDS
        written = word.surface.upper() if known and word.surface.islower() else word.surface
        if written in n.ROMAN and self.is_roman(at, known):
            return self.of_series(at, name, n.ROMAN[written])
        if (
            numeral.kind != NUMBER
            or numeral.low != numeral.high
            or numeral.low < 0
            or "," in word.surface
        ):
            return None
        if numeral.unit not in ("", "s") or numeral.bound or numeral.scaled:
            return None  # "s" of "747s"
        spelled = word.surface.isalpha()
        title = spelled and word.surface[0].isupper() and before.named  # "Square Two"
        plural = not self.closed(at) and _is_plural(words[at + 1].lower) and not title
        if self.unit(at + 1)[0] or self.scale(at + 1) or (plural and (spelled or not known)):
            return None
        return None if spelled and not (known or title) else self.of_series(at, name, numeral.low)

    def ordinal_name(self, at: int) -> Quantity | None:
        """Return "the Second World War" and "Henry the Eighth" as "War II" and "Henry VIII"."""
        words, value = self.words, self.words[at].numeral.low
        name, is_war = words[at - 2], self.lows(at + 1) == ("world", "war")
        is_name = words[at].surface.istitle() and name.named and not (name.closes or is_war)
        last = words[at].closes or not words[at + 1].named  # not "the First Bank"
        if not is_war and not (is_name and last and words[at - 1].lower == "the"):
            return None
        key, span = ("war", (at, at + 3)) if is_war else (name.key, (at - 2, at + 1))
        return Quantity(SERIES, value, value, words, at, at + 1, key, span=span)

    def series(self, at: int) -> str:
        """Return the key of the series that the number here belongs to, "" if none."""
        before = self.words[at - 1]
        low, surface = before.lower, before.surface
        if low in _NUMBER_WORDS:
            further = self.words[at - 2]
            spelled = self.words[at].surface.isalpha()  # "No one", "no two"
            if low == "no" and (spelled or (surface != "No" and not before.closes)):
                return ""
            owner = (further.plain or further.named) and not (further.finite or further.closes)
            return _SHORT.get(further.lower, further.key) if owner else "number"
        if low in _NOUNS:
            return "" if before.closes and low not in _SHORT else _SHORT.get(low, before.key)
        if before.joint == "-" and surface.isupper():
            return before.key  # "F-16"
        if before.closes or before.numeral.kind or not before.weight:
            return ""
        if low in n.MONTHS or surface in UNITS:
            return ""
        hyphen = before.joint == "-" and before.plain and low not in _CONTEXT["no_series"]
        opening = at == 1 and is_finite(low)  # "Killed 5"
        return before.key if hyphen or (surface != low and not opening) else ""

    def is_roman(self, at: int, known: bool) -> bool:
        """Return whether letters are a Roman numeral here: not "I", and no initial or vitamin."""
        word, name, after = self.words[at], self.words[at - 1], self.words[at + 1]
        if word.joint != " " or not (known or name.surface[0].isupper()):
            return False
        if known or word.surface != "I":
            return len(word.surface) > 1 or word.surface in "IVXivx"
        # "from Elizabeth I to", "Elizabeth I opened it", but "As Tom I went", "In Paris I met"
        opens = self.words[at - 2].lower in _CONTEXT["before_speakers"]
        return not opens or self.closed(at) or after.lower in _AFTER_NAMES

    def of_series(self, at: int, name: str, value: float) -> Quantity:
        """Return one of a series; its whole name is said."""
        first, words = max(0, at - 1), self.words
        while (
            first > max(0, at - _PHRASE) and words[first - 1].named and not words[first - 1].closes
        ):
            first -= 1
        return Quantity(SERIES, value, value, words, at, at + 1, name, span=(first, at + 1))

    def time(self, at: int) -> Quantity | None:
        """Return a time of day: "5:30 am", "5 p.m.", "17:30", "noon", "half past 5"."""
        numeral, mark, end = self.words[at].numeral, self.words[at + 1].lower, at + 1
        value, unit = numeral.low, numeral.unit
        if numeral.kind == NUMBER and mark in _CLOCKS:
            hour, minute = divmod(round(100 * value), 100)  # also "5.30 pm"
            if not 1 <= hour <= 12 or minute > 59:
                return None
            value, unit, end = 60.0 * hour + minute, "12", end + (mark == "o'clock")
        elif numeral.kind == n.FRACTION and mark == "past":
            value, unit, end = 60.0 * (self.words[at + 2].numeral.low + numeral.low), "12", at + 3
        elif numeral.kind != n.TIME:
            return None
        if self.words[end].lower in ("am", "pm"):
            value, unit, end = value % 720 + 720 * (self.words[end].lower == "pm"), "", end + 1
        return Quantity(n.TIME, value, value, self.words, at, end, unit)

    # Numbers

    def counted(self, at: int) -> Quantity | None:
        """Return the number here, with its unit, bound and range; or an ordinal or score."""
        words = self.words
        numeral = words[at].numeral
        is_code = numeral.kind == n.CODE and numeral.unit[:2].isdecimal()
        if numeral.kind == n.DECADE or is_code:  # "in her 20s"
            low = numeral.low % 100 if numeral.kind == n.DECADE else float(numeral.unit[:2])
            return Quantity(NUMBER, low, low + 9, words, at, at + 1, "year", nouns=_AGE)
        if numeral.kind == n.SCORE:
            return Quantity(n.SCORE, numeral.low, numeral.high, words, at, at + 1)
        value, end = self.ordinal(at)
        if value and not self.share(at)[0]:
            return self.ranked(at, end, value)
        amount = self.amount(at)
        if not amount:
            return None
        amount = self.whole(amount)
        link = words[amount.end].lower
        if second := self.second(amount):
            if second.high < amount.low <= _LARGEST_SCORE and link == "to" and not second.unit:
                return Quantity(n.SCORE, amount.low, second.low, words, at, second.end)
            shared = self.scale(second.end - 1) if amount.high < 1000 <= second.low else 1.0
            low, high = sorted((amount.low * (shared or 1.0), second.high))
            amount = second._replace(low=low, high=high, start=amount.start)
        elif not amount.unit and link in ("to", "or", "and"):
            unit = (self.amount(amount.end + 1) or amount).unit  # "from 10 to 20 km"
            amount = amount._replace(unit=unit if unit in READINGS else "")
        elif numeral.low != numeral.high and self.is_score(at, amount):
            return Quantity(n.SCORE, numeral.low, numeral.high, words, at, at + 1)
        return self.bounded(amount)

    def amount(self, at: int) -> _Amount | None:
        """Return the number here with its scale and unit; a range if it is one word."""
        words, numeral = self.words, self.words[at].numeral
        share, end = self.share(at)
        if share:
            return self.part(at, end, share)
        if numeral.kind not in (NUMBER, n.SCALE) or (
            words[at].lower == "one" and not self.is_one(at)
        ):
            return None
        low, high, slack, end = self.cardinal(at)
        before = words[at - 1]
        if numeral.kind == n.SCALE and before.lower in ("few", "several"):
            low, high, slack = 2 * low, 9.99 * low, 0.0
        start, unit = at, numeral.unit
        if start > self.after and before.lower in ("minus", "negative"):
            start, low, high = at - 1, -high, -low
        if not unit:
            unit, end = self.unit(end)
        money = words[start - 1].surface
        is_code = money.isupper() or not money.isalpha()
        if not unit and start > self.after and is_code and money in UNITS:
            unit, start = UNITS[money], start - 1
        degrees = f"°{words[end].surface}"
        if unit == "°" and degrees in UNITS:  # "20° C", "40° N"
            unit, end = UNITS[degrees], end + 1
        scale = n.MONEY_MARKS.get(words[end].surface) if unit[-1:] in n.CURRENCIES else None
        people = _is_plural(words[end].lower) and not self.closed(end - 1)
        if unit == "m" and (people or not _PEOPLE.isdisjoint(self.lows(at - min(at, 3), 3))):
            scale, (unit, end) = 1e6, self.unit(end)  # "1.2m people", "5m dollars"
        elif scale:  # "$5 m"
            end += 1
        if scale and not numeral.scaled:
            low, high, slack = low * scale, high * scale, (slack or 0.5) * scale
        if self.lows(end) == ("below", "zero"):
            low, high, end = -high, -low, end + 2
        return _Amount(low, high, slack, unit, start, end)

    def is_one(self, at: int) -> bool:
        """Return whether "one" is a number: not in "one of the", "one day", "no one"."""
        before, after = self.words[at - 1], self.words[at + 1]
        if self.closed(at) or not _CONTEXT["no_one"].isdisjoint((after.lower, before.lower)):
            return False
        verb = after.finite or after.lower.endswith(("ing", "ed", "ly"))
        return bool(self.scale(at + 1) or self.half(at + 1)) or (after.plain and not verb)

    def share(self, at: int) -> tuple[float, int]:
        """Return the part here and its end: "half", "two thirds", "a third of"; 0 if it is none."""
        word, before, after = self.words[at], self.words[at - 1], self.words[at + 1]
        numeral, second, of = word.numeral, after.numeral, after.lower == "of"
        if numeral.kind == n.FRACTION and before.numeral.kind != n.ORDINAL:
            is_part = word.lower == "half" or of or before.lower in _CONTEXT["before_parts"]
            return (
                numeral.low if is_part and after.lower not in _CONTEXT["no_half"] else 0.0
            ), at + 1
        if numeral.kind == n.ORDINAL and numeral.low > 2 and before.lower == "a" and of:
            return 1 / numeral.low, at + 1
        if numeral.kind == NUMBER and not numeral.unit and not self.closed(at):
            if second.kind == n.FRACTION and (after.lower != "half" or word.lower == "one"):
                return numeral.low * second.low, at + 2
            if second.kind == n.ORDINAL and second.low > 2 and word.lower == "one":
                return 1 / second.low, at + 2
        return 0.0, at

    def part(self, at: int, end: int, share: float) -> _Amount:
        """Return a part of a scale or unit ("half a million", "a quarter of an hour"), or share."""
        slack = _OF_THIRDS if abs(40 * share - round(40 * share)) > _CLOSE else 0.0
        first = at - 4 if self.lows(at - 2) == ("and", "a") and at - 4 >= self.after else at
        if self.words[first].lower in _ARTICLES and (unit := self.unit(at - 3)[0]):
            return _Amount(1 + share, 1 + share, 0.0, unit, first, end)  # "an hour and a half"
        after = end + (self.words[end].lower == "of")
        after += self.words[after].lower in _ARTICLES
        scale = self.scale(after) or 1.0
        unit, last = self.unit(after + (scale > 1))
        if scale > 1 or (unit and self.words[after - 1].lower != "of"):
            return _Amount(share * scale, share * scale, slack * scale, unit, at, last)
        return _Amount(share, share, slack, _SHARE, at, end)

    def cardinal(self, at: int) -> tuple[float, float, float, int]:
        """Return low, high, slack and end of a number of several words: "two hundred and five",
        "1.5 million", "twenty-five", "5 1/2", "two and a half", "tens of thousands"."""
        words, end = self.words, at + 1
        numeral, spelled = words[at].numeral, words[at].surface.isalpha()
        if numeral.high > numeral.low or numeral.unit or numeral.scaled:
            many = self.scale(end) or 1.0  # "10-20 million"
            end += many > 1
            thousands = words[at + 2].lower[:-1] if spelled and words[end].lower == "of" else ""
            if thousands in n.SCALES:
                many, end = n.SCALES[thousands], end + 2
            return numeral.low * many, numeral.high * many, numeral.slack * many, end
        total, part, slack, room = 0.0, numeral.low, numeral.slack, 0.0
        if numeral.kind == n.SCALE:
            part, end = 1.0, at
        elif spelled and part in _TENS:
            room = 10.0
        # A number word below `room` goes on: after "twenty" up to 9, after "thousand" up to 999.
        while end < self.size and (end == at or not self.closed(end - 1)):
            place = end + (room > 10 and words[end].lower == "and")
            scale, following = self.scale(end), words[place].numeral
            if scale and (part < scale or end <= at + 1):
                part, room = part * scale, scale
                if scale > 100:
                    total, part, slack = total + part, 0.0, (slack or 0.5) * scale
            elif following.kind == NUMBER and words[place].surface.isalpha() and not following.unit:
                if not 0 < following.low < room:
                    break
                part, slack, room = part + following.low, 0.0, 10.0 * (following.low in _TENS)
            else:
                break
            end = place + 1
        value = total + part
        if value == int(value) and (half := self.half(end)):
            end += 3 if words[end].lower == "and" else 1
            scale = self.scale(end) or 1.0  # "two and a half million", "a million and a half"
            value, slack = (value + half * (room if room > 100 else 1.0)) * scale, 0.0
            end += scale > 1
        return value, value, slack, end

    def half(self, at: int) -> float:
        """Return the fraction after a number: "and a half", "1/2"; else 0."""
        word = self.words[at + 2] if self.lows(at) == ("and", "a") else self.words[at]
        numeral, written = word.numeral, word.surface
        small = (
            numeral.kind == NUMBER
            and 0 < numeral.low < 1
            and not numeral.unit
            and "." not in written
        )
        is_half = numeral.kind == n.FRACTION and word is not self.words[at]
        return numeral.low if is_half or (small and written[0].isnumeric()) else 0.0

    def unit(self, at: int) -> tuple[str, int]:
        """Return the unit here and the end of its words; "" and `at` if there is none."""
        word = self.words[at]
        most = _UNIT_STARTS.get(word.surface) or _UNIT_STARTS.get(word.lower, 0)
        if not most:
            return "", at
        inch = word.closes or at + 1 == self.size or self.words[at - 2].lower in ("ft", "feet")
        if (at and self.words[at - 1].closes) or (word.lower == "in" and not inch):
            return "", at  # "5 in Paris", but "5 in." and "5 ft 3 in tall"
        surfaces = [one.surface for one in self.words[at : at + most]]
        for size in range(most, 0, -1):
            if unit := n.unit_of(" ".join(surfaces[:size])):
                return unit, at + size
        return "", at

    def is_age(self, at: int, end: int) -> bool:
        """Return whether a number is an age: "aged 66", "66 years old", "in her 20s"."""
        words, numeral = self.words, self.words[at].numeral
        before = words[at - 1].lower
        if before in _CONTEXT["between_ages"]:
            before = words[at - 2].lower
        decade = numeral.kind == n.DECADE or numeral.unit in ("10s", "20s")
        return before in _CONTEXT["owners" if decade else "ages"] or words[end].lower == "old"

    def whole(self, first: _Amount) -> _Amount:
        """Return an amount with its smaller unit: "5 ft 3 in", "1 h 30 min"."""
        at = first.end + (self.words[first.end].lower == "and")
        if first.unit not in READINGS or first.low != first.high:
            return first
        second = self.amount(at) if self.words[at].numeral.kind == NUMBER else None
        if not second or second.low != second.high or second.unit not in READINGS:
            return first
        large, small = READINGS[first.unit][0], READINGS[second.unit][0]
        ratio = large.size / small.size
        direct = at == first.end and not self.closed(at - 1)
        fits = large.dimension == small.dimension and not large.zero and second.low < ratio
        if not fits or ratio <= 1 or not (ratio <= _JOINED or direct):
            return first
        value = first.low * ratio + second.low
        return second._replace(low=value, high=value, start=first.start)

    def second(self, first: _Amount) -> _Amount | None:
        """Return the other end of "between 10 and 20 km", "10 to 20 km"; not of "from 10 to 20"."""
        at, lead, link = first.end + 1, self.words[first.start - 1].lower, self.words[first.end]
        linked = lead == "between" if link.lower == "and" else link.lower == "to" and lead != "from"
        if not linked or link.closes or self.words[at - 2].closes or first.low != first.high:
            return None
        second = self.amount(at) if self.words[at].numeral.kind == NUMBER else None
        return second if second and first.unit in ("", second.unit) else None

    def is_score(self, at: int, amount: _Amount) -> bool:
        """Return whether "1-3" is a score, not a range."""
        numeral, written = self.words[at].numeral, self.words[at].surface
        if (
            amount.unit
            or numeral.scaled
            or numeral.high > _LARGEST_SCORE
            or not written[0].isdigit()
        ):
            return False
        counts = self.is_age(at, at + 1) or any(
            _is_plural(word.lower) for word in self.phrase(at + 1)
        )
        return not counts and "±" not in written and "." not in written

    def bounded(self, amount: _Amount) -> Quantity:
        """Return the quantity of an amount, with the bound that the words around it say."""
        low, high, slack, unit, start, end = amount
        words = self.words
        lead = start - (words[start - 1].lower in _ARTICLES)  # "more than a million"
        first, last = start, end
        sign = words[start].numeral.bound or words[end - 1].numeral.bound
        last_before, second_before = words[lead - 1].lower, words[lead - 2].lower
        bound_ends = (last_before,) in _BOUND_ENDS or (second_before, last_before) in _BOUND_ENDS
        for size in (1, 2, 3, 4) if bound_ends else ():
            place = lead - size
            bound = _BOUNDS.get(self.lows(place, size)) if place >= self.after else ""
            first, sign = (place, bound) if bound else (first, sign)
        if self.after < first < start and words[first - 1].lower in NEGATORS:
            first, sign = first - (sign in _TURNED), _TURNED.get(sign, sign)
        phrase = self.phrase(end) if unit in ("", _SHARE) else []
        for place in (end, end + len(phrase)):  # "50 or more guests", "50 guests or more"
            if words[place].lower in _AFTER_STARTS and not sign and not self.closed(place - 1):
                sign = _BOUNDS_AFTER.get(self.lows(place), "")
                last = place + 2 if sign else last
        if last == end + 2:
            phrase = self.phrase(last)
        if sign == n.ABOUT:
            slack = max(slack, _ABOUT * abs(high))
        elif sign:
            step = _STRICT * max(1.0, abs(low)) * (sign in (n.OVER, n.UNDER))
            above = sign in (n.OVER, n.AT_LEAST)
            low, high, slack = (low + step, inf, 0.0) if above else (-inf, high - step, 0.0)
        if not unit and 0 < low == high < 1 and words[end].lower == "of":
            unit = _SHARE  # "1/3 of the voters"
        nouns: Sequence[str] = [one.key for one in phrase]
        if unit in ("", "year") and self.is_age(start, end):
            unit, nouns = "year", _AGE
        if phrase and not unit and _is_plural(phrase[-1].lower):
            unit = nouns[-1]
        return Quantity(NUMBER, low, high, words, start, end, unit, slack, nouns, (first, last))

    def phrase(self, at: int) -> list[Word]:
        """Return the words of the counted phrase: "voters" in "half of the voters"."""
        if self.closed(at - 1):
            return []
        if self.words[at].lower == "of":
            at += 1 + (self.words[at + 1].lower in _CONTEXT["of_the"])
        phrase_words: list[Word] = []
        for word in self.words[at : at + _PHRASE]:
            verb = word.finite and (phrase_words or not word.lower.endswith("s"))
            if not word.weight or word.kind or verb:
                break
            phrase_words.append(word)
            if word.closes or _is_plural(word.lower):
                break
        return phrase_words


def agree(claimed: Quantity, other: Quantity) -> bool:
    """Return whether a stated quantity makes a claimed one true, within the precision of both.

    It does where all that it allows is allowed by the claim.
    """
    kind = claimed.kind
    if kind != other.kind:
        if SERIES in (kind, other.kind):
            return _is_name_of(claimed, other) or _is_name_of(other, claimed)
        return kind in _RANGES and other.kind in _RANGES and claimed.written == other.written
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
    for ours, theirs, slack in _comparable(claimed, other, claimed.slack):
        off = _size(ours, theirs) if is_open else slack
        if ours[0] - off <= theirs[0] and theirs[1] <= ours[1] + off:
            return True
    return False


def differ(claimed: Quantity, other: Quantity) -> bool:
    """Return whether two quantities cannot both be true of one thing.

    These are two dates, times or scores, or two numbers of the same unit or noun. A member of
    another series is another thing."""
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
    slack = max(claimed.slack, other.slack)
    pairs = [*_comparable(claimed, other, slack)] if _same_unit(claimed, other) else []
    gaps = [max(two[0] - one[1], one[0] - two[1]) - slack for one, two, slack in pairs]
    return bool(gaps) and min(gaps) > 0


def _comparable(
    claimed: Quantity, other: Quantity, slack: float
) -> Iterator[tuple[_Span, _Span, float]]:
    """Yield both quantities in the base unit of each common dimension, and their common slack.

    It is `slack` if the unit is the same."""
    ours, theirs = READINGS.get(claimed.unit), READINGS.get(other.unit)
    if not ours or not theirs or claimed.unit == other.unit:
        ours = theirs = (_NO_UNIT,)
    for reading in ours:
        for their in theirs:
            if reading.dimension == their.dimension:
                both = _slack(claimed, reading, their) + _slack(other, their, reading)
                our_span, their_span = _in_base(claimed, reading), _in_base(other, their)
                yield (
                    our_span,
                    their_span,
                    (slack if reading is _NO_UNIT else both) + _size(our_span, their_span),
                )


def _size(first: _Span, second: _Span) -> float:
    """Return how far off a float may be."""
    return _CLOSE * max([abs(end) for end in (*first, *second) if abs(end) < inf], default=0.0)


def _in_base(quantity: Quantity, reading: n.Reading) -> _Span:
    return quantity.low * reading.size + reading.zero, quantity.high * reading.size + reading.zero


def _slack(quantity: Quantity, reading: n.Reading, other: n.Reading) -> float:
    """Return the slack of a converted number.

    People round to a whole unit, but 90 minutes are an hour and a half."""
    ratio = max(reading.size, other.size) / min(reading.size, other.size)
    slack, value = quantity.slack, min(abs(quantity.low), abs(quantity.high))
    if reading.zero != other.zero:
        slack = max(slack, 0.5)
    elif abs(ratio - round(ratio)) > _CLOSE * ratio and value < inf:
        slack = max(slack, min(0.5, _CONVERTED * value))
    return slack * reading.size


def _says_unit(claimed: Quantity, other: Quantity) -> bool:
    """Return whether the other number has the unit, or counts the things, of the claimed one.

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
    left_out = not other.nouns and not _LEFT_OUT.isdisjoint(claimed.nouns)
    return left_out or not set(claimed.nouns).isdisjoint(other.beside)


def _same_unit(claimed: Quantity, other: Quantity) -> bool:
    if claimed.unit in READINGS or other.unit in READINGS:
        return claimed.unit in READINGS and other.unit in READINGS
    if claimed.unit and other.unit:
        return claimed.unit == other.unit
    return not set(claimed.nouns).isdisjoint(other.nouns)


def _is_name_of(number: Quantity, other: Quantity) -> bool:
    """Return whether a number is bare and the other names it: "a pH of 7.4", "pH 7.4"."""
    named = number.kind == NUMBER and not number.nouns and number.low == number.high == other.low
    return named and not number.unit and other.unit in number.beside
