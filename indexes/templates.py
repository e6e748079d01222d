"""Render wikitext templates that produce words or numbers within a sentence."""

import re
from collections.abc import Callable

_NAMED = re.compile(r"\s*([\w -]{1,40}?)\s*=(?!=)")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def readable_value(content: str) -> str:
    """Return the text of `{{content}}`, "" for most templates; nested ones are rendered already."""
    name, _, rest = content.partition("|")
    name = " ".join(name.replace("_", " ").lower().split())
    if ":" in name:  # a parser function: {{formatnum:1234}}
        function, _, value = name.partition(":")
        return value if function == "formatnum" else ""
    if name.startswith(("lang-", "langx")):
        name = "lang" if name == "langx" else "nowrap"
    render = _RENDERERS.get(name)
    if render is None:
        return ""
    return render(_positional(rest))


def _positional(rest: str) -> list[str]:
    values: list[str] = []
    for part in rest.split("|"):
        named = _NAMED.match(part)
        if named is None:
            values.append(part.strip())
        elif named[1].isdecimal() and int(named[1]) == len(values) + 1:
            values.append(part[named.end() :].strip())
    return values or [""]


def _first(args: list[str]) -> str:
    return args[0]


def _last(args: list[str]) -> str:
    return next((arg for arg in reversed(args) if arg), "")


def _second(args: list[str]) -> str:
    return args[1] if len(args) > 1 else args[0]


def _joined(args: list[str]) -> str:
    return "".join(args)


def _comma_list(args: list[str]) -> str:
    return ", ".join(arg for arg in args if arg)


def _always(text: str) -> Callable[[list[str]], str]:
    return lambda args: text


def _before(prefix: str) -> Callable[[list[str]], str]:
    return lambda args: prefix + args[0]


def _date(args: list[str]) -> str:
    """Format the year, month and day that are given: "7 November 1867"."""
    numbers = [arg for arg in args[:3] if arg.isdecimal()]
    if len(numbers) < 2 or not 1 <= int(numbers[1]) <= 12:
        return args[0]
    day = f"{int(numbers[2])} " if len(numbers) == 3 else ""
    return f"{day}{_MONTHS[int(numbers[1]) - 1]} {numbers[0]}"


def _as_of(args: list[str]) -> str:
    return f"As of {_date(args)}"


def _fraction(args: list[str]) -> str:
    parts = [arg for arg in args if arg]
    if len(parts) == 3:
        return f"{parts[0]} {parts[1]}/{parts[2]}"
    return "/".join(parts) if len(parts) == 2 else f"1/{_last(args)}"


def _japanese(args: list[str]) -> str:
    english, romaji = args[0], args[2] if len(args) > 2 else ""
    return f"{english} ({romaji})" if english and romaji else english or romaji


def _ship(args: list[str]) -> str:
    return " ".join(arg for arg in args[:2] if arg)


_VALUE = re.compile(r"[-−+±~]?\.?\d[\d.,/+⁄e-]*")
_BETWEEN = {
    "-": "–", "–": "–", "to": " to ", "and": " and ", "or": " or ", "by": " by ", "x": " × ",
    "×": " × ", "*": " × ", "+/-": " ± ", "±": " ± ", "to(-)": " to ", "&": " and ",
}  # fmt: skip
_UNITS = {
    "km2": "km²", "m2": "m²", "cm2": "cm²", "mm2": "mm²", "km3": "km³", "m3": "m³", "cm3": "cm³",
    "sqmi": "square miles", "sqkm": "km²", "sqft": "square feet", "sqm": "m²", "sqyd": "sq yd",
    "cuft": "cubic feet", "cumi": "cubic miles", "cuyd": "cubic yards", "mi": "miles",
    "mph": "mph", "km/h": "km/h", "kph": "km/h", "C": "°C", "F": "°F", "K": "K", "foot": "feet",
    "mile": "miles", "meter": "metres", "metre": "metres", "kilometer": "kilometres",
    "acre": "acres", "inch": "inches", "lb": "lb", "pound": "pounds", "m3/s": "m³/s",
    "cuft/s": "cubic feet per second", "PD/sqkm": "per km²", "PD/sqmi": "per square mile",
}  # fmt: skip


def _convert(args: list[str]) -> str:
    """Return the original value with its unit, without the converted one."""
    text = ""
    for at, arg in enumerate(args):
        if _VALUE.fullmatch(arg):
            text += arg.replace("+", " ") if "/" in arg else arg
        elif arg in _BETWEEN and at + 1 < len(args) and _VALUE.fullmatch(args[at + 1]):
            text += _BETWEEN[arg]
        else:
            text += f" {_UNITS.get(arg, arg)}"
            # "5 ft 11 in": another value right after the unit is its smaller part.
            if not (at + 2 < len(args) and _VALUE.fullmatch(args[at + 1]) and at == 1):
                break
            if not args[at + 2].isalpha():
                break
            text += " "
    return text


def _named(names: str, render: Callable[[list[str]], str]) -> dict[str, Callable[[list[str]], str]]:
    return dict.fromkeys((name.strip() for name in names.split(",")), render)


_RENDERERS: dict[str, Callable[[list[str]], str]] = {
    **_named(
        "nowrap, nobr, nowr, small, smaller, big, larger, large, sc, smallcaps, strong, em, bold, "
        "b, i, italic, italics, mvar, math, var, abbr, abbrlink, tooltip, vanchor, visible anchor, "
        "quote, blockquote, cquote, quotation, bq, code, mono, keypress, key press, flag, flagu, "
        "flagcountry, country, nts, number, val, ill, interlanguage link, lit, sic, sub, sup, num, "
        "literal translation, not a typo, proper name, linktext, no italic, noitalic, unicode, "
        "script, angbr, dts, formatnum, q, bibleverse, plainlist, flatlist, longitem, ruby, "
        "polytonic, asiantitle",
        _first,
    ),
    **_named("lang, langr, nativename, native name, native phrase, wikt-lang, rtl-lang", _second),
    **_named("transl, transliteration, color, colour, font color, fontcolor, sm", _last),
    **_named("convert, cvt, conv", _convert),
    **_named("chem, chem2, simplenuclide", _joined),
    **_named("hlist, unbulleted list, ubl, ublist, cslist", _comma_list),
    **_named("frac, sfrac, fraction", _fraction),
    **_named("nihongo, nihongo2, nihongo krt", _japanese),
    **_named(
        "birth date, birth date and age, death date, death date and age, start date, end date, "
        "film date, bda, birth-date, death-date, release date, start date and age, date",
        _date,
    ),
    **_named("as of", _as_of),
    **_named("circa, c., ca, ca.", _before("c. ")),
    **_named("us$, usd", _before("US$")),
    **_named("€, euro, eur", _before("€")),
    **_named("£, gbp, gbp£", _before("£")),
    **_named("₹, inr, indian rupee", _before("₹")),
    **_named("¥, jpy", _before("¥")),
    **_named("e, e-sp", _before("×10^")),
    **_named("ship, sclass, sclass2", _ship),
    **_named("uss", lambda args: f"USS {args[0]}"),
    **_named("hms", lambda args: f"HMS {args[0]}"),
    **_named("reign, r.", lambda args: "r. " + "–".join(arg for arg in args[:2] if arg)),
    **_named("–, ndash, spnd, snd, spaced ndash, spaced en dash, en dash", _always(" – ")),
    **_named("—, mdash, em dash, spaced mdash", _always(" — ")),
    **_named("nbsp, space, spaces, thinsp, sp, zwsp, hair space", _always(" ")),
    **_named("carbon", _always("C")),
    **_named("hydrogen", _always("H")),
    **_named("oxygen", _always("O")),
    **_named("nitrogen", _always("N")),
    **_named("'", _always("'")),
    **_named("'s", _always("'s")),
    **_named("!, pipe", _always("|")),
    **_named("sbr, clear, break, -", _always("\n")),
    **_named("·, dot, middot, bull, •", _always(" · ")),
}
