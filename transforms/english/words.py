"""Parse a text into words that can be compared with another text: their weight and form.

The numbers and dates of a text are found and compared here, too. Function words show whether a text
is English.

Every distinct surface form is analysed once and kept in a bounded table, so that a text costs about
one dict look-up a word.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from math import inf
from typing import Final, NamedTuple

import Stemmer

from ufo.transforms.english.grammar import Lists, Memo, is_finite, word_set

# A language is recognised from the start of the text; more would only cost time.
_SAMPLE: Final = 1000
# Compiled only for a text that may have many such letters, since that takes long.
_NOT_LATIN: Final = r"[\u0370-\u1dff\u2c00-\ua7ff\ua840-\uabff\uac00-\ufaff\U00020000-\U0003ffff]"
_ENGLISH_CODES: Final = frozenset({"en", "eng", "english"})

# Words that two languages share count for both. So "is", "in" and "a", which are also Dutch or
# Portuguese, decide nothing by themselves.
_LISTS: Final = Lists("ufo.transforms.english", "languages.toml")
_NAME_PARTICLES: Final = word_set("da de del della der di do dos du la le van von")
_WORDS: Final = {letter: word_set(text) for letter, text in _LISTS.texts.items()}
_ENGLISH: Final = _WORDS["e"]
_FOREIGN: Final = frozenset[str]().union(*_WORDS.values()) - _ENGLISH
# Function word -> the letters of its languages.
_LANGUAGES: Final = {
    word: "".join(letter for letter, words in _WORDS.items() if word in words)
    for word in _ENGLISH | _FOREIGN
}


def is_english(text: str, language: str | None = None) -> bool:
    """Return whether the offline judge may read `text`.

    `language` decides if it is given: an ISO 639 code with or without a region ("en", "en-GB",
    "eng", "de"). Constant time: only the first 1,000 characters are read.
    """
    if language and language.strip():
        return re.split("[-_]", language.strip().lower())[0] in _ENGLISH_CODES
    sample = text[:_SAMPLE]
    words = sample.split()
    if not words:
        return True
    plain = sample.isascii()
    if not plain:
        # More than a fifth is more than a Greek letter in a formula or a foreign name in brackets.
        # Such letters take more than one byte, so a few quotation marks need no search.
        most = (len(sample) - len(words)) / 5
        beyond = len(sample.encode("utf-8", "surrogatepass")) - len(sample)
        if beyond > most and len(re.findall(_NOT_LATIN, sample)) > most:
            return False
    # Most texts have no word that is only in other languages; then English has the most.
    none_foreign = _FOREIGN.isdisjoint((words[0].lower(), *words))
    if none_foreign and (plain or not _ENGLISH.isdisjoint(words)):
        return True
    # A capital inside a sentence makes a name ("Rio de Janeiro", "La Scala"), which may be from any
    # language. The first word always has a capital.
    found = "".join([_LANGUAGES[word] for word in words if word in _LANGUAGES])
    running = [word for word in words if word[0].islower()]
    if running and len(words[0]) > 1 and not words[0][0].islower():
        found += _LANGUAGES.get(words[0].lower(), "")
    english = found.count("e")
    other = max(map(found.count, set(found)), default=0)
    if english == 0:
        other += any(not word.isascii() and word.isalpha() for word in running)
    if english < other <= 2:
        other -= sum(
            particle in _NAME_PARTICLES and first[0].isupper() and last[0].isupper()
            for first, particle, last in zip(words, words[1:], words[2:], strict=False)
        )
    return english >= other


LISTS: Final[dict[str, str]] = tomllib.loads(
    (files("ufo.transforms.english") / "lexicon.toml").read_text(encoding="utf-8")
)
"""The text of each list, by its name."""

STOP_WORDS: Final = frozenset(LISTS["stop_words"].split())
NEGATORS: Final = frozenset(LISTS["negators"].split())
VERY_COMMON: Final = frozenset(LISTS["very_common"].split())
COUNTRIES: Final = {
    word: words[0] for words in map(str.split, LISTS["demonyms"].split("|")) for word in words
}
"""A country's name or adjective -> its name."""

# "one" is left out: it is nearly always a pronoun ("one of the …").
NUMBER_WORDS: Final = (
    {word: float(value) for value, word in enumerate(LISTS["ones"].split()) if word != "one"}
    | {word: 10.0 * tens for tens, word in enumerate(LISTS["tens"].split(), 2)}
    | {"dozen": 12.0}
)
ORDINALS: Final = {word: float(value) for value, word in enumerate(LISTS["ordinals"].split(), 1)}
SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
MONTHS: Final = {
    name: number
    for number, month in enumerate(LISTS["months"].split(), 1)
    for name in (month, month[:3])
} | {"sept": 9}

TOKEN: Final = re.compile(
    r"[a-z]++(?![^\W_]|['’])"  # most words, first because it is fast
    r"|\d{4}-\d\d-\d\d(?!\d)"  # an ISO date stays one token
    r"|\d++(?:[.,]\d++)*(?:st|nd|rd|th|s)?(?![^\W_])"
    r"|(?:[A-Z]\.){2,}"  # U.S.
    r"|[^\W_]+(?:['’][^\W_]+)*"
    r"|[%$€£¥°]"
)
"""A word, a number, or a sign that says what a number counts."""
_NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)*)(st|nd|rd|th|s)?")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LONGEST: Final = 64
_CLOSING: Final = frozenset(",;:.!?)]—–")
_CLOSED: Final = ","  # what marks the last word before such a character
COMMON: Final = 0.5
"""The weight of a word that is frequent in all prose; any other word weighs 1."""

_stemmer: Final = Stemmer.Stemmer("english", 0)
_stem: Final = _stemmer.stemWord
_VERY_COMMON: Final = frozenset(_stemmer.stemWords(list(VERY_COMMON)))


class Word:
    """One surface form as written, folded (`lower`), and the `key` by which it is compared.

    A function word has no `weight`. `value` is the value of a number, None for other words. `kind`
    is "" for words, else "number", "ordinal", "decade" or "date" (in ISO 8601).

    - `numeric`: a number or date can begin here.
    - `named`: it has a capital and is not a function word.
    - `plain`: it has weight, and is neither of the two.
    - `finite`: it can be the verb of a clause.
    - `closes`: a comma, a bracket or the like comes after it.
    """

    # Not a tuple or a dataclass: these attributes are read hundreds of times for every claim.
    __slots__ = ("closes", "finite", "key", "kind", "lower", "named", "numeric", "plain", "surface",
                 "value", "weight")  # fmt: skip

    def __init__(self, token: str) -> None:
        self.closes = token[-1] == _CLOSED
        surface = self.surface = token.removesuffix(_CLOSED)
        self.lower = self.key = fold(surface)
        self.value, self.kind = _number(surface, self.lower)
        stop = not self.kind and self.lower in STOP_WORDS and surface != "US"
        if self.kind:
            self.key = f"{self.value:g} {self.kind}" if self.value is not None else surface
        elif not stop:
            self.key = _stem(COUNTRIES.get(self.lower, self.lower))
        common = self.key in _VERY_COMMON
        self.weight = 0.0 if stop else COMMON if common else 1.0
        capital = surface[0].isupper()
        month = self.lower in MONTHS
        self.numeric = month or self.kind != ""
        self.named = capital and not stop and not self.numeric
        self.plain = self.weight > 0 and not self.kind and not self.named
        self.finite = is_finite(surface)


def fold(surface: str) -> str:
    """Return a word in lower case, without accents, possessive ending and the dots of "U.S."."""
    lower = surface.lower()
    if not lower.isascii():
        plain = unicodedata.normalize("NFKD", lower).replace("’", "'")
        lower = "".join([c for c in plain if not unicodedata.combining(c)]) or lower
    return lower.removesuffix("'s").replace(".", "") if lower[0].isalpha() else lower


def _number(surface: str, lower: str) -> tuple[float | None, str]:
    if lower in NUMBER_WORDS:
        return NUMBER_WORDS[lower], "number"
    if lower in ORDINALS:
        return ORDINALS[lower], "ordinal"
    found = _NUMBER.fullmatch(surface) if surface.isascii() and surface[0].isdigit() else None
    if not found:
        return None, "date" if "-" in surface else ""
    digits, suffix = found.groups()
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    if digits.count(".") > 1 or len(digits) > 30:
        return None, ""
    return float(digits), {None: "number", "s": "decade"}.get(suffix, "ordinal")


_KEPT_WORDS: Final = Memo(Word).__getitem__


def _words_of(text: str) -> list[Word]:
    tokens = [token[:_LONGEST] for token in TOKEN.findall(text)]
    if tokens and text[-1] in _CLOSING and tokens[-1][-1] != text[-1]:
        tokens[-1] += _CLOSED
    return list(map(_KEPT_WORDS, tokens))


_between_spaces: Final = Memo(_words_of).__getitem__


def read(text: str) -> list[Word]:
    """Return the words of a text, in order, punctuation left out."""
    return list(chain.from_iterable(map(_between_spaces, text.split())))


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

    Its value is from `low` to `high`, which differ if it is rounded or open ("over 300", "1860s").
    A day has `low` = 100 × month + day; a month alone has the range of its days. `unit` is the key
    of the word that a number counts, "" if unknown.
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

    A date is up to two quantities, its year and its day or month: the year may be in another place.
    """
    found: list[Quantity] = []
    end = 0  # the end of the quantity before
    for at in [at for at, word in enumerate(words) if word.numeric]:
        if at >= end:
            some = _date(words, at) or _quantity(words, at)
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


def _quantity(words: Sequence[Word], at: int) -> list[Quantity]:
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
        return False  # an open number such as "over 20" needs the same unit
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
