"""Look up the names that differ between the Wikipedias: of namespaces, months and sections.

The names are in `wikis.toml`. A wiki in another language is read as well; `missing_tables` says
what is then not recognised.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

_DATA: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("wikis.toml").read_text("utf-8")
)
_SAME: dict[str, str] = _DATA["same_tables"]


def _names(text: str) -> frozenset[str]:
    return frozenset(name for part in text.lower().split(";") if (name := " ".join(part.split())))


def language_of(code: str) -> str:
    """Return the key of a language's tables: "zh" for "zh-Hans-CN", "no" for "nb"."""
    base = code.lower().partition("-")[0]
    return _SAME.get(base, base)


class DateStyle(NamedTuple):
    """A style of dates: the number of each month by its name in lower case, and the patterns."""

    months: dict[str, int]
    patterns: dict[str, Any]


@cache
def date_style(language: str) -> DateStyle | None:
    """Return the style of dates in a language, None if there is no table for it."""
    patterns = _DATA["dates"].get(language_of(language))
    if patterns is None:
        return None
    lists = [patterns["months"], patterns.get("read_months", [])]
    # Templates of many wikis take English names too.
    lists += [_DATA["dates"]["en"]["months"], _DATA["dates"]["en"]["read_months"]]
    months = {
        name.lower(): number
        for names in reversed(lists)
        for number, name in enumerate(names, start=1)
        if not name.isdecimal()
    }
    return DateStyle(months, patterns)


def names_without_text(language: str) -> frozenset[str]:
    """Return further names of the namespaces of files, which a dump does not list."""
    return _names(_DATA["file_names"].get(language_of(language), ""))


_REDIRECT_WORDS = "|".join(map(re.escape, sorted(_names(_DATA["redirect"]))))
_REDIRECT = re.compile(
    rf"\s*#\s*(?:{_REDIRECT_WORDS})\s*:?\s*\[\[:?([^\[\]|\n]{{1,1000}})".replace(r"\ ", "[ _]"),
    re.IGNORECASE,
)


def redirect_target(wikitext: str) -> str | None:
    """Return the title to which a page redirects by its text, or None."""
    match = _REDIRECT.match(wikitext)
    return match[1].strip() if match else None


_TEMPLATE_NAME = re.compile(r"\{\{\s*+([^{}|\n<]{1,60}+)")


def is_disambiguation(wikitext: str, language: str = "en") -> bool:
    """Return whether a page is marked as a disambiguation page by template or magic word."""
    if any(word in wikitext for word in _MAGIC_WORDS):
        return True
    key = language_of(language)
    return any(_is_mark(match[1], key) for match in _TEMPLATE_NAME.finditer(wikitext))


@lru_cache(maxsize=10_000)
def _is_mark(written: str, language: str) -> bool:
    """Return whether the template of this name marks a disambiguation page."""
    name = " ".join(written.replace("_", " ").lower().split()).rpartition(":")[2].strip()
    if name.removesuffix(" cleanup").endswith(_DISAMBIGUATION_ENDS):
        return True
    return name in _disambiguations(language)


_MAGIC_WORDS = tuple(_DATA["disambiguation_words"])
_DISAMBIGUATION_ENDS = ("disambiguation", " disambig")


@cache
def _disambiguations(language: str) -> frozenset[str]:
    table = _DATA["disambiguation"]
    return _names(table["any"]) | _names(table.get(language, ""))


NOT_RANKED = _names(";".join(_DATA["not_ranked"].values()))
"""Sections in the store that are never hits: lists of titles and links, which match queries about
the page's subject better than its prose but contain no facts."""


ABBREVIATIONS = sorted(_names(_DATA["abbreviations"]))
"""Words that often end in a full stop before a number, which ends no sentence."""


def has_variants(language: str) -> bool:
    """Return whether a wiki converts between variants of its language: `-{zh-hans:…}-`."""
    return language_of(language) in _DATA["variants"]


def written_number(number: str, language: str) -> str:
    """Return a number of a template with the decimal sign of a language: "1,5" in German."""
    if language_of(language) in _DATA["decimal_comma"] and _DECIMAL.fullmatch(number):
        return number.replace(".", ",")
    return number


_DECIMAL = re.compile(r"[-−+]?\d*\.\d+")


def missing_tables(language: str) -> list[str]:
    """Return in words the tables that are missing for the wikis of a language."""
    key = language_of(language)
    known = {
        "which templates mark a disambiguation page": _DATA["disambiguation"],
        "which sections are lists of links": _DATA["not_ranked"],
        "the word for a redirect without its element": _DATA["redirect_languages"],
        "the names of months in templates": _DATA["dates"],
    }
    return [what for what, table in known.items() if key not in table]
