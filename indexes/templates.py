"""Render templates by the rules of `templates.toml`, whose head explains how a rule is written.

A template has a text only where a rule says what its arguments mean. Another one, or one with
arguments that its rule does not provide for, is `Unrendered`: nothing of it is guessed.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Any

from ufo.indexes.wikis import date_style, language_of, written_number

GAP = "\x01"  # a space between digits, else nothing: 5{{frac|1|2}}

_DATA: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("templates.toml").read_text("utf-8")
)
Field = Callable[["Arguments"], str | None]  # None: the arguments are not understood
_NAMED = re.compile(r"\s*+([\w-][\w -]{0,39}?)\s*+=(?!=)")
_NUMBER = r"[-−–+±]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)"
_IS_NUMBER = re.compile(_NUMBER)


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A template without a known text; an `aside` in brackets can be left out with its words."""

    name: str
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a template by name; those without a name are "1", "2" and so on."""

    texts: dict[str, str]
    language: str = "en"

    def get(self, key: str) -> str:
        """Return an argument, or "" if it is missing."""
        return self.texts.get(key, "").strip(_BLANK)

    def nonempty_keys(self) -> list[str]:
        """Return the keys of arguments that are not empty."""
        return [key for key in self.texts if self.get(key)]

    def numbered(self) -> list[str]:
        """Return the numbered arguments in order, "" for an empty one before the last."""
        last = max((int(key) for key in self.nonempty_keys() if key.isdecimal()), default=0)
        return [self.get(str(number)) for number in range(1, min(last, _MOST_ARGUMENTS) + 1)]


_BLANK = f" \t\n{GAP}"
_MOST_ARGUMENTS = 1_000  # a template may say 999999999=x


def render(content: str, language: str = "en") -> str | Unrendered:
    """Return the text of `{{content}}`, in which nested templates are rendered already."""
    written, _, rest = content.partition("|")
    name = _plain_name(written)
    if ":" in name:
        return _function(name, written, language)
    tables = _tables(language)
    rule = tables.rules.get(name, ())
    if name.startswith("lang-") and not rule:
        rule = tables.rules["lang-"]
    if not rule and (
        name in tables.silent or name.startswith(_SILENT_STARTS) or name.endswith(_SILENT_ENDS)
    ):
        return ""
    arguments = _arguments(rest, language)
    if not arguments.texts and _FRACTION_NAME.fullmatch(name):
        return GAP + name
    for alternative in rule:
        text = _fill(alternative, arguments)
        if text is not None:
            return text
    is_aside = name in tables.asides or name.startswith(("ipa", "lang-"))
    return Unrendered(name[:_LONGEST_NAME], is_aside)


_LONGEST_NAME = 80
_FRACTION_NAME = re.compile(r"\d{1,2}/\d{1,3}")


def _plain_name(written: str) -> str:
    name = " ".join(written.replace("_", " ").replace(GAP, "").lower().split())
    prefix, colon, rest = name.partition(":")
    return rest.strip() if colon and prefix in _TEMPLATE_SPACES else name


def _function(name: str, written: str, language: str) -> str | Unrendered:
    """Return the value of a parser function: {{formatnum:1234}}."""
    function = name.partition(":")[0]
    if function in _SILENT_FUNCTIONS or name.startswith("#tag:ref"):
        return ""
    if function == "formatnum":
        return written_number(written.partition(":")[2].strip(), language)
    return Unrendered(name if function == "#tag" else f"{function}:")


def _arguments(rest: str, language: str) -> Arguments:
    texts: dict[str, str] = {}
    number = 0
    for part in rest.split("|") if rest else ():
        named = _NAMED.match(part)
        if named is None:
            number += 1
            texts[str(number)] = part
        else:
            texts[named[1].lower()] = part[named.end() :].strip()
    return Arguments(texts, language_of(language))


# --- rules ---------------------------------------------------------------------------------------

_FIELD = re.compile(r"\{([^{}]+)\}")
_ARGUMENT = re.compile(r"(\w+)(?:([~!:])(.+))?")
_SOLE_ARGUMENT = re.compile(r"\{[^@{}]*\}…?")


def _fill(alternative: str, arguments: Arguments) -> str | None:
    """Return the text of one alternative, or None where the arguments do not fit it."""
    if alternative == "{1}…":
        return arguments.texts["1"] if arguments.get("1") else None  # "5{{nowrap| km}}"
    keys = _keys(alternative)
    if keys is not None and not _NOT_SHOWN.union(keys).issuperset(arguments.nonempty_keys()):
        return None
    pattern = alternative.removesuffix("…")
    text = ""
    for number, piece in enumerate(_FIELD.split(pattern)):
        shown = _field_text(piece, arguments) if number % 2 else piece
        if shown is None:
            return None
        text += shown
    return text if _SOLE_ARGUMENT.fullmatch(pattern) else text + GAP  # {{e|8}}5 is not 85


@cache
def _keys(alternative: str) -> frozenset[str] | None:
    """Return the arguments that an alternative uses, or None if it allows any others."""
    if alternative.endswith("…") or "{@" in alternative:
        return None
    return frozenset(re.findall(r"[{|](\w+)", alternative))


def _field_text(field: str, arguments: Arguments) -> str | None:
    if field.startswith("@"):
        return _COMPUTED[field[1:]](arguments)
    texts = (_argument(option, arguments) for option in field.split("|"))
    return next((text for text in texts if text is not None), None)


def _argument(option: str, arguments: Arguments) -> str | None:
    match = _ARGUMENT.fullmatch(option)
    if match is None:
        raise ValueError(f"templates.toml has a field that is none: {option}")
    key, sign, value = match.groups()
    text = arguments.get(key)
    if not text or (sign in ("~", "!") and not re.fullmatch(value, text)):
        return None
    if sign == "!":
        return ""
    if value == "number":
        return written_number(text, arguments.language)
    return _unit_symbol(text) if value == "unit" else text


# --- fields that are computed --------------------------------------------------------------------


def _joined(arguments: Arguments) -> str | None:
    return ", ".join(filter(None, arguments.numbered())) or None


def _lines(arguments: Arguments) -> str | None:
    return "".join(f"\n{text}\n" for text in arguments.numbered() if text) or None


_YEAR = re.compile(r"\d{3,4}")
_DAY = re.compile(r"0?[1-9]|1er|[12]\d|3[01]")
_MONTH = re.compile(r"0?[1-9]|1[0-2]")


def _date(order: str, limit: int, arguments: Arguments) -> str | None:
    """Return a date from its parts, which stand in this order if all are numbers.

    There may be `limit` arguments: a second date or a subject follows the first in some templates.
    A month by name may stand anywhere, since it tells the others apart: the year has more digits
    than the day.
    """
    texts = arguments.numbered()
    style = date_style(arguments.language)
    if len(texts) == 1 and not texts[0].isdecimal():
        return texts[0]  # a date as it is written: {{dts|9 May 1932}}
    if style is None or not texts or len(texts) > limit:
        return None
    parts = dict(zip(order, texts, strict=False))
    if named := [text for text in texts[:3] if text.lower() in style.months]:
        others = [text for text in texts[:3] if text and text not in named]
        parts = {"y" if _YEAR.fullmatch(text) else "d": text for text in others}
        parts["m"] = str(style.months[named[0].lower()])
        if len(parts) != len(others) + len(named):
            return None
    year, month, day = (parts.get(part, "") for part in "ymd")
    if not (_YEAR.fullmatch(year) or (named and day and not year)) or (day and not month):
        return None
    if (month and not _MONTH.fullmatch(month)) or (day and not _DAY.fullmatch(day)):
        return None
    return _written_date(year, month, day.removesuffix("er").lstrip("0"), style.patterns)


def _written_date(year: str, month: str, day: str, patterns: dict[str, Any]) -> str | None:
    """Return a date as the wiki's language writes it, with the parts that are given, or None."""
    pattern = patterns.get("d" * bool(day) + "m" * bool(month) + "y" * bool(year))
    name = patterns["months"][int(month) - 1] if month else ""
    return None if pattern is None else str(pattern).format(d=day, m=name, y=year)


_SIMPLE = re.compile(r"[\w.,]+")


def _fraction(arguments: Arguments) -> str | None:
    texts = arguments.numbered()
    if not 1 <= len(texts) <= 3 or not all(texts):
        return None
    whole = texts[0] if len(texts) == 3 else ""
    above = "1" if len(texts) == 1 else texts[-2]
    if whole and not _IS_NUMBER.fullmatch(whole):
        return None
    parts = (part if _SIMPLE.fullmatch(part) else f"({part})" for part in (above, texts[-1]))
    return f"{GAP}{whole}{' ' * bool(whole)}{'/'.join(parts)}"


_CHARGE = re.compile(r"\d*[+−–-]")


def _chemical(arguments: Arguments) -> str | None:
    """Return a formula with raised charges and lowered numbers."""
    shown = ""
    for text in arguments.numbered():
        part = text.replace("''", "")
        if _CHARGE.fullmatch(part):
            shown += f"<sup>{part}</sup>"
        else:
            shown += f"<sub>{part}</sub>" if part[:1].isdecimal() else part
    return shown or None


SUPERSCRIPTS = {"2": "²", "3": "³"}
# Not any letters: CO2 is no power.
_UNIT_POWER = re.compile(
    r"\b([kcdmnμµ]?m|k?g|m?s|h|K|mol|in|ft|yd|mi|[AVWJNL])(?:([23])|([-−]\d))(?![\d\w])"
)


def _unit_symbol(unit: str) -> str:
    """Return a unit with its powers: "m3" is "m³", "m s-1" is "m s^-1"."""
    return _UNIT_POWER.sub(
        lambda match: match[1] + (SUPERSCRIPTS.get(match[2]) or f"^{match[3]}"), unit
    )


_VALUE_NAMES = frozenset(("1", "2", "3", "e", "u", "ul", "up", "upl", "p", "pl", "s", "fmt", "end"))
_EXPONENT = re.compile(rf"({_NUMBER})(?:[eE]([-−+]?\d+))?(\(\d+\))?")
_UNCERTAINTY = re.compile(r"\((\d+)\)")


def _value(arguments: Arguments) -> str | None:
    """Return a number with its uncertainty, power of ten and unit."""
    texts, named = arguments.numbered(), arguments.texts
    if not 1 <= len(texts) <= 3 or not named.keys() <= _VALUE_NAMES:
        return None
    number = _EXPONENT.fullmatch(texts[0])
    if number is None or not all(
        _IS_NUMBER.fullmatch(text) or _UNCERTAINTY.fullmatch(text) for text in texts[1:]
    ):
        return None
    if named.get("e") and number[2]:
        return None
    shown = number[1] + (number[3] or "")
    power = named.get("e") or number[2]
    if len(texts) == 2:
        shown += texts[1] if texts[1].startswith("(") else f"±{texts[1]}"
    elif len(texts) == 3:
        shown += f" +{texts[1].lstrip('+')} −{texts[2].lstrip('-−')}"
    if power:
        shown = f"({shown})" if "±" in shown or " " in shown else shown
        shown += f"×10^{power}"
    return named.get("p", named.get("pl", "")) + shown + named.get("end", "") + _unit_of(named)


def _unit_of(named: dict[str, str]) -> str:
    unit = named.get("u") or named.get("ul", "")
    per = named.get("up") or named.get("upl", "")
    unit, per = _VALUE_UNITS.get(unit, unit), _VALUE_UNITS.get(per, per)
    if unit:
        unit = unit if unit[0] in "%‰°'″′" and unit not in ("°C", "°F") else f" {unit}"
    text = _unit_symbol(unit.replace(".", "·")) + (f"/{_unit_symbol(per)}" if per else "")
    return text + named.get("s", "")


def _gaps(arguments: Arguments) -> str | None:
    digits = "".join(arguments.numbered())
    if not re.fullmatch(r"[\d.,−-]+", digits):
        return None
    others = {key: text for key, text in arguments.texts.items() if not key.isdecimal()}
    return _value(Arguments({**others, "1": digits}))


_MEASURE = re.compile(
    rf"({_NUMBER})(?:[eE]([-−+]?\d+))?(?:([+-])(\d+)//?(\d+))?|([-−+]?\d+)//?(\d+)"
)
_SCALED = re.compile(r"e(3|6|9|12|15)(.+)")


def _measure(text: str) -> str | None:
    match = _MEASURE.fullmatch(text)
    if match is None:
        return None
    if match[6]:
        return f"{match[6]}/{match[7]}"
    power = f"×10^{match[2]}" if match[2] else ""
    return match[1] + power + (f" {match[4]}/{match[5]}" if match[4] else "")


def _unit_name(code: str, singular: bool, joined: bool) -> str | None:
    """Return the text of a unit after its value; `joined` by a hyphen as an adjective."""
    scaled = _SCALED.fullmatch(code)
    if scaled:
        unit = _unit_name(scaled[2], singular=False, joined=False)
        return None if unit is None else f" {_SCALES[scaled[1]]}{unit}"
    names = _UNITS.get(code)
    if names is None:
        return None
    single, _, several = names.partition("|")
    if not several:
        return single if single in ("°", "%") else f" {single}"
    return f"-{single}" if joined else f" {single if singular else several}"


_IN_WORDS = re.compile(r"[|]| [a-z]")  # English ones, of units and between values


def _convert(arguments: Arguments) -> str | None:
    """Return the original measure, without the converted one."""
    texts, named = arguments.numbered(), arguments.texts
    if named.get("disp", "") in _CONVERTED_ONLY or named.get("adj", "on") not in ("on", "off"):
        return None
    english = arguments.language == "en"
    shown = ""
    at = 0
    while at + 1 < len(texts) and (value := _measure(texts[at])) is not None:
        between = _BETWEEN.get(texts[at + 1])
        if not english and _IN_WORDS.search(between or _UNITS.get(texts[at + 1], "|")):
            return None
        if between is not None and at + 2 < len(texts) and _measure(texts[at + 2]) is not None:
            shown += value + between
            at += 2
            continue
        unit = _unit_name(texts[at + 1], value == "1", named.get("adj") == "on")
        if unit is None:
            return None
        shown += value + unit
        if _SMALLER.get(texts[at + 1]) != "".join(texts[at + 3 : at + 4]):
            # A number after the unit that is not its smaller part is the digits to round to.
            rest = texts[at + 2 :]
            return shown if len(rest) < 2 or _measure(rest[0]) is None else None
        shown += " "
        at += 2
    return None


_COMPUTED: dict[str, Field] = {
    "joined": _joined,
    "lines": _lines,
    "ymd": partial(_date, "ymd", 3),
    "dmy": partial(_date, "dmy", 3),
    "ymd, ymd": partial(_date, "ymd", 6),
    "dmy, dmy": partial(_date, "dmy", 6),
    "fraction": _fraction,
    "chemical": _chemical,
    "value": _value,
    "gaps": _gaps,
    "convert": _convert,
}

# --- formulas ------------------------------------------------------------------------------------

_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[,;:! ])")
_BRACED = re.compile(r"(?<=[\^_])\{([-−+]?\w+)\}(?!\w)")
_UNBRACED = re.compile(r"[\^_](?:\d\d|[-−+]\s*\w)")  # 10^12 is shown as 10 to the power of 1, and 2
_PLAIN = re.compile(r"[^\\{}&~$%<>|]*")


def formula(content: str) -> str | None:
    """Return the text of a `<math>` element, None where it has more than plain signs."""
    shown = _COMMAND.sub(lambda match: _COMMANDS.get(match[0], match[0]), content)
    shown = " ".join(_BRACED.sub(r"\1", shown).split())
    return None if _UNBRACED.search(content) or not _PLAIN.fullmatch(shown) else shown


# --- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tables:
    """The rules of templates in a language's wikis, with the names of silent ones and asides."""

    rules: dict[str, list[str]]
    silent: frozenset[str]
    asides: frozenset[str]


def _names(text: str) -> list[str]:
    return [" ".join(name.split()).replace("_", " ") for name in text.split(";") if name.strip()]


@cache
def _tables(language: str) -> _Tables:
    """Return the tables of all wikis with those of one language, which prevail."""
    rules: dict[str, list[str]] = {}
    for table in ("any", language_of(language)):
        for rule, names in _DATA["rules"].get(table, {}).items():
            for name in _names(names):
                filled = rule.replace("␣", GAP).replace("{@name}", name)
                rules[name.lower()] = filled.split(" || ")
    silent = [*_DATA["silent"].values(), _DATA["silent_in"].get(language_of(language), "")]
    asides = _DATA["asides"].values()
    return _Tables(rules, _lowered(";".join(silent)), _lowered(";".join(asides)))


def _lowered(text: str) -> frozenset[str]:
    return frozenset(name.lower() for name in _names(text))


_SILENT_STARTS = tuple(_names(_DATA["silent_starts"]))
_SILENT_ENDS = tuple(_names(_DATA["silent_ends"]))
_SILENT_FUNCTIONS = frozenset(_names(_DATA["silent_functions"]))
_TEMPLATE_SPACES = frozenset(_names(_DATA["template_spaces"]))
_COMMANDS: dict[str, str] = _DATA["formulas"]
_NOT_SHOWN = frozenset(_names(_DATA["not_shown"]))
_UNITS: dict[str, str] = _DATA["units"]
_VALUE_UNITS: dict[str, str] = _DATA["value_units"]
_SCALES: dict[str, str] = _DATA["scales"]
_BETWEEN: dict[str, str] = _DATA["between"]
_SMALLER: dict[str, str] = _DATA["smaller"]
_CONVERTED_ONLY = frozenset(_names(_DATA["converted_only"]))
