"""Read one written number with the marks that are attached to it: "5kg", "$890M", "10^6", "5:30".

Tables of units and number words are data (`units.toml`, `numbers.toml`): a library such as pint
knows no prose ("a dozen", "$1.5bn", "6'2"), and its import takes longer than a whole run.
"""

import re
import tomllib
import unicodedata
from importlib.resources import files
from math import inf, isfinite
from typing import Any, Final, NamedTuple

YEAR: Final = "year"
DAY: Final = "day"
NUMBER: Final = "number"
ORDINAL: Final = "ordinal"
TIME: Final = "time"
SCORE: Final = "score"
"""Two numbers in their order: a score, a ratio."""
CODE: Final = "code"
"""Digits that are compared as a text: a version, a telephone number, "3D"."""
SERIES: Final = "series"
"""A number that names one of a series: "gate 5", "Louis XIV", "BRCA1"."""
# Kinds of a word only: quantities are made of them.
DECADE: Final = "decade"
DATE: Final = "date"
SEASON: Final = "season"
SCALE: Final = "scale"
FRACTION: Final = "fraction"

OVER, AT_LEAST, UNDER, AT_MOST, ABOUT = ">", ">=", "<", "<=", "~"
NUMBERED: Final = "#"


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((files("ufo.transforms.english") / name).read_text(encoding="utf-8"))


LISTS: Final = _table("numbers.toml")
"""The number words, and the words around numbers."""


class Reading(NamedTuple):
    """A meaning of a unit's name: a `size` in the base unit of a dimension, from its `zero`."""

    dimension: str
    size: float
    zero: float


def _readings() -> dict[str, tuple[str, tuple[Reading, ...]]]:
    meanings: dict[str, list[tuple[str, Reading]]] = {}
    for dimension, units in _table("units.toml").items():
        for written, size in units.items():
            reading = Reading(dimension, *(size if isinstance(size, list) else (size, 0.0)))
            names = written.split(", ")
            for name in names:
                meanings.setdefault(name, []).append((names[0], reading))
    named = {
        name: (
            some[0][0] if len({first for first, _ in some}) == 1 else name.removesuffix("s"),
            tuple(reading for _, reading in some),
        )
        for name, some in meanings.items()
    }
    lowered = {name.lower(): one for name, one in named.items() if len(name) > 1}
    return lowered | named


_NAMED_UNITS: Final = _readings()
UNITS: Final = {name: unit for name, (unit, _) in _NAMED_UNITS.items()}
"""The name by which a unit is compared, by each name as it is written."""


def unit_of(name: str) -> str:
    """Return the unit of a name, or ""; the case matters for a single letter: "K", "k"."""
    return UNITS.get(name) or (UNITS.get(name.lower(), "") if len(name) > 1 else "")


READINGS: Final = dict(_NAMED_UNITS.values())
"""The meanings of a unit, by the name by which it is compared."""
WHOLE: Final = frozenset(name for name in UNITS if re.fullmatch(r"[^\s.-]*[^\w\s.-][^\s.-]*", name))
"""Names that stay one word although they have punctuation."""
CURRENCIES: Final = frozenset("$€£¥₹₽₩₺₿")

_MARKS: Final[dict[str, float]] = LISTS["marks"]
MONEY_MARKS: Final[dict[str, float]] = _MARKS | LISTS["money_marks"]
"""A scale after a sum of money, written in letters: "£3m"."""
MONTHS: Final = {
    name: number
    for number, month in enumerate(LISTS["months"].split(), 1)
    for name in (month, month[:3])
} | {"sept": 9}
ROMAN: Final = {
    written: value for value, written in enumerate(LISTS["roman"].split(), 1) if written != "-"
}
"""The value of each Roman numeral up to 99."""


class Numeral(NamedTuple):
    """One word that is a number: it is from `low` to `high`, each give or take `slack`.

    `unit` is attached to it, or is the text of a code and the name of a series. `bound` is a mark
    before or after it: "<100", "100+", "#5". `scaled` if it has a scale.
    """

    kind: str
    low: float
    high: float
    slack: float = 0.0
    unit: str = ""
    bound: str = ""
    scaled: bool = False


def _spelled() -> dict[str, Numeral]:
    numerals = {
        word: Numeral(NUMBER, value, value, unit=unit)
        for word, (value, unit) in LISTS["measures"].items()
    }
    for kind, values in LISTS["spelled"].items():
        unit = "war" if kind == SERIES else ""
        for word, value in values.items():
            low, high = value if isinstance(value, list) else (float(value), float(value))
            numerals[word] = Numeral(kind, low, high, unit=unit)
    return numerals


_SPELLED: Final = _spelled()
SCALES: Final[dict[str, float]] = LISTS["spelled"][SCALE]
NO_NUMERAL: Final = Numeral("", 0.0, 0.0)
"""The numeral of a word without a number."""
_LONGEST: Final = 30  # digits of a number; more are a code
_MOST_ZEROS: Final = 300
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_GROUPED: Final = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:['’]\d{3})+(?:[.,]\d+)?"
    r"|\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d+|\d{1,2}(?:,\d\d)+,\d{3}"
)
_NUMBER: Final = re.compile(
    r"(?P<mark>[~≈<>≤≥±#№])?(?P<sign>[-−–+])?(?P<money>[A-Z]{0,3}[$€£¥₹₽₩₺₿])?(?P<minus>[-−])?"
    r"(?P<digits>\d++(?:[.,'’]\d++)*+|\.\d++|(?=[¼-¾⅐-⅞]))(?P<part>[¼-¾⅐-⅞]|[/⁄]\d++)?"
    r"(?P<power>[×x*·]10(?:\^[-−]?\d++|⁻?[⁰¹²³⁴-⁹]++)|\^[-−]?\d++|⁻?[⁰¹²³⁴-⁹]++|[eE][-+]?\d++)?"
    r"(?P<suffix>(?:[^\W\d_]|[°%‰/$€£¥₹²³µ])[^\d.,;:()]*)?(?P<plus>\+)?"
)
_BOUNDS: Final[dict[str, str]] = LISTS["bound_marks"]
_CLOCK: Final = re.compile(r"(\d\d?)(?:[:.](\d\d))?([aApP])\.?[mM]|(\d\d?):(\d\d)")
_HOURS: Final = re.compile(r"(\d{1,3})h(\d\d)(?:m|min)?")
_HEIGHT: Final = re.compile(r"(\d{1,2})['’′](\d{1,2})(?:[\"”″]|''|’’)?(?!\d)")
_SEASON: Final = re.compile(r"([12]\d{3})[-–/](\d\d)")
_YEAR: Final = re.compile(r"(\d{1,4})(BCE?|AD|CE)")
_ISO_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_LETTERED: Final = re.compile(r"([^\W\d_]{1,8})(\d{1,6})")
_DECADE: Final = re.compile(r"([3-9]|\d{3})0['’]?s")


def numeral(text: str) -> Numeral | None:
    """Return the number that a word is, without the punctuation around it; else None."""
    low = text.lower()
    if low.isalpha():
        return _SPELLED.get(low)
    if text in UNITS or not any(map(str.isnumeric, text)):
        return None  # "km²" is no number
    return _marked(text) or _pair(text) or _value(text) or _code(text)


def _point(kind: str, value: float, slack: float = 0.0, unit: str = "") -> Numeral:
    return Numeral(kind, value, value, slack, unit)


def _marked(text: str) -> Numeral | None:
    """Return a date, a time, a height, a season or a decade."""
    if match := _ISO_DAY.fullmatch(text):
        year, month, day = map(int, match.groups())
        is_day = 1 <= month <= 12 and day <= 31
        return Numeral(DATE, year, 100 * month + day) if is_day else None
    if match := _CLOCK.fullmatch(text):
        hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
        if hour > (12 if match[3] else 24) or minute > 59:
            return None
        if match[3]:
            return _point(TIME, 60 * (hour % 12 + 12 * (match[3] in "pP")) + minute)
        sure = text[0] == "0" or not 1 <= hour <= 12
        return _point(TIME, 60 * hour + minute, unit="" if sure else "12")
    if match := _HOURS.fullmatch(text):
        return _point(NUMBER, 60.0 * int(match[1]) + int(match[2]), unit="min")
    if (match := _HEIGHT.fullmatch(text)) and int(match[2]) < 12:
        return _point(NUMBER, 12.0 * int(match[1]) + int(match[2]), unit="in")
    if match := _SEASON.fullmatch(text):
        first, last = int(match[1]), int(match[1][:2] + match[2])
        return Numeral(SEASON, first, last) if first < last <= first + 50 else None
    if match := _YEAR.fullmatch(text):
        return _point(YEAR, float(match[1]) * (-1 if match[2][0] == "B" else 1))
    if match := _DECADE.fullmatch(text):
        value = 10.0 * int(match[1])
        return _point(DECADE, value if value >= 1000 else 1900 + value)
    return None


def _pair(text: str) -> Numeral | None:
    """Return a range, a score or a ratio: "10-20kg", "3-1", "3:1", "10±2"."""
    parts = re.split(r"(?<=[^\W_%$])([-−–:±])(?=[\d$€£])", text)
    if len(parts) != 3:
        return None
    first, last = _value(parts[0]), _value(parts[2])
    if not first or not last or {first.kind, last.kind} != {NUMBER}:
        return None
    if first.unit and last.unit and first.unit != last.unit:
        return None
    if parts[1] == "±":
        return last._replace(low=first.low - last.low, high=first.low + last.low)
    plain = parts[0].isdigit() and parts[2].isdigit()
    if plain and parts[1] == "-" and len(parts[0]) == 3 and len(parts[2]) == 4:
        return None  # a telephone number
    if parts[1] != ":" and len(parts[0]) == 4 and 1000 <= first.low <= 2100 and plain:
        return None  # two years, or a year and a day
    if parts[1] == ":" or (plain and first.low >= last.low):
        return Numeral(SCORE, first.low, last.low)
    scale = last.low / float(parts[2]) if last.scaled and parts[2].isdigit() else 1.0
    low = first.low * (1.0 if first.scaled else scale)
    if low > last.low:
        return None
    return last._replace(low=low, unit=last.unit or first.unit)


def _value(text: str) -> Numeral | None:
    """Return a number with its sign, currency, scale and unit."""
    match = _NUMBER.fullmatch(text)
    if not match or not match[0].strip("+-"):
        return None
    of_digits = _digits(match["digits"])
    if not of_digits:
        return None
    value, slack = of_digits
    if part := match["part"]:
        over = int(part[1:]) if len(part) > 1 else 0
        if len(part) > 1 and not (over and value == int(value)):
            return None
        value = value / over if over else value + unicodedata.numeric(part)
    if match["power"]:
        size = _power(value, match["power"])
        value, slack = size * value, size * slack
    if match["sign"] in ("-", "−", "–") or match["minus"]:
        value = -value
    money, suffix = match["money"] or "", match["suffix"] or ""
    if suffix.lower() in ("st", "nd", "rd", "th"):
        return _point(ORDINAL, value) if value == int(value) else None
    scale = (MONEY_MARKS if money else _MARKS).get(suffix) or SCALES.get(suffix.lower())
    if scale:
        value, slack, suffix = value * scale, (slack or 0.5) * scale, ""
    unit = UNITS.get(money, money)
    if suffix == "x":
        unit = "time"
    elif suffix:
        if suffix == "s" and match["digits"] in ("00", "10", "20"):
            return None  # a decade of any century
        known = unit_of(suffix)
        if money or not known:
            return None
        unit = known
    if not isfinite(value):
        return None
    bound = _BOUNDS.get(match["mark"] or "", AT_LEAST if match["plus"] else "")
    return Numeral(NUMBER, value, value, slack, unit, bound, scale is not None)


def _digits(text: str) -> tuple[float, float] | None:
    """Return the value of digits and how far off their rounding may be."""
    if not text:
        return 0.0, 0.0  # "½"
    if len(text) > _LONGEST:
        return None
    if _GROUPED.fullmatch(text):
        whole, last = text, re.search(r"[.,](\d+)$", text)
        decimals = last[1] if last and (len(last[1]) != 3 or text.count(last[0][0]) == 1) else ""
        if decimals and len({c for c in text if not c.isdigit()}) == 1:
            decimals = ""
        whole = text.removesuffix(decimals)
        text = "".join([c for c in whole if c.isdigit()]) + (f".{decimals}" if decimals else "")
    text = text.replace(",", ".")
    if text.count(".") > 1 or "'" in text or "’" in text:
        return None
    decimals = text.partition(".")[2]
    return float(text), 0.5 * 10.0 ** -len(decimals) if decimals else 0.0


def _power(value: float, text: str) -> float:
    """Return the factor of a power for the number before it: "×10³", "e3", "^3"."""
    exponent = re.sub(r"^(?:[×x*·]10\^?|[eE^])", "", text).translate(_SUPERSCRIPTS)
    size = int(exponent) if len(exponent) < 5 else _MOST_ZEROS + 1
    base = value if text[0] in "^⁻⁰¹²³⁴⁵⁶⁷⁸⁹" else 10.0
    if abs(size) > _MOST_ZEROS or base == 0:
        return inf
    try:
        return base ** (size - 1) if base is value else base**size
    except OverflowError:
        return inf


def _code(text: str) -> Numeral | None:
    """Return a member of a series (letters with a number), or a code (other text with digits)."""
    if not any(c.isdecimal() or c.isalpha() for c in text):
        return None  # "²"
    text = unicodedata.normalize("NFKC", text)  # CO₂
    if text.lower() in _SPELLED:
        return _SPELLED[text.lower()]  # WW2
    if match := _LETTERED.fullmatch(text):
        return _point(SERIES, float(match[2]), unit=match[1].lower())
    if any(map(str.isdecimal, text)):
        return Numeral(CODE, 0.0, 0.0, unit=text.lower().strip("'’").replace("–", "-"))
    return None


# A version, a telephone number, a day whose month may be either number.
_ONE_CODE: Final = re.compile(
    r"\d+(?:\.\d+){2,}|\d+(?:-\d+){2,}|\d{3}-\d{4}|\d+(?:/\d+){2}|\d+(?::\d+)+(?:\.\d+)?"
)
JOINTS: Final = "-–/"
"""The signs that may join two words without spaces; kept at the end of the first word."""
_JOINT: Final = re.compile(r"([-–/])|—|−")
_OPENING: Final = "([{\"“‘«'’*_`…,;:!?)]}"
_CLOSING: Final = ".,;:!?)]}\"'”’»*_`…—([{"


def tokens_of(chunk: str, other: re.Pattern[str]) -> list[str]:
    """Split a text without spaces into words, with a number and its marks as one word.

    `other` finds the words in the text around numbers.
    """
    core = chunk.lstrip(_OPENING)
    if match := _HEIGHT.match(core):
        return [match[0], *other.findall(core[match.end() :])]
    core = core.rstrip(_CLOSING)
    if core in WHOLE or core.lower() in ("a.m", "p.m"):
        return [core + "." if core[-1] in "mM" and "." in core else core]
    parsed = numeral(core) if not core.isalnum() else None
    if parsed and (parsed.kind != CODE or _ONE_CODE.fullmatch(core)):
        return [core]
    parts: list[str] = _JOINT.split(chunk)
    if len(parts) == 1:
        return list(other.findall(chunk))
    tokens: list[str] = []
    for part, joint in zip(parts[::2], [*parts[1::2], ""], strict=True):
        tokens += tokens_of(part, other)
        if tokens and part and part[-1].isalnum():
            tokens[-1] += joint or ""
    if tokens and parts[-1] == "":
        tokens[-1] = tokens[-1].rstrip(JOINTS)
    return tokens
