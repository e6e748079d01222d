"""Fill the templates of reports. Every value is escaped: what comes from data is hostile."""

from functools import cache
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ufo.pipelines.reports.tabular import cell
from ufo.schemas.text import quantity
from ufo.transforms.scores import SYMBOLS

_KEPT = "\n\t"
_LONGEST_CELL = 300
# Columns whose values are names that ufo defines.
_NAMED = {"measure", "metric", "reason", "tag"}
_WORDS = {
    "refuted": "contradicted",
    "noans": "no answer",
    "unit": "claim",
    "units": "claims",
    "credibility": "evidence support",
}


@cache
def environment() -> Environment:
    """Return where the templates are taken from."""
    made = Environment(
        loader=PackageLoader("ufo.pipelines.reports"),
        autoescape=True,
        finalize=_finished,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "SYMBOLS": SYMBOLS,
        "in_words": in_words,
        "many": quantity,
        "shown": _shown,
        "web_address": _web_address,
    }
    return made


def rendered(template: str, **values: object) -> str:
    """Return a template with these values."""
    return environment().get_template(template).render(**values)


def filled(template: str, macro: str, *values: object) -> Markup:
    """Return what a macro of a template makes of the values."""
    return Markup(getattr(environment().get_template(template).module, macro)(*values))  # noqa: S704


def in_words(name: str) -> str:
    """Return the name of a column or of a measure as people say it."""
    return " ".join(_WORDS.get(word, word) for word in name.removeprefix("n_").split("_"))


def _shown(name: str, value: object) -> str:
    """Return a cell of a table as it is shown."""
    shown = f"{value:,}" if type(value) is int else cell(value)
    if name in _NAMED:
        shown = in_words(shown)
    return shown if len(shown) <= _LONGEST_CELL else shown[: _LONGEST_CELL - 1].rstrip() + "…"


def _web_address(address: str | None) -> str | None:
    """Return an address of the web, None for any other: one may run code."""
    try:
        known = address is not None and urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return None
    return address if known else None


def _finished(value: object) -> object:
    """Return what a template writes: nothing for None, and a text without control characters,
    which HTML forbids."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "".join(
        c if (c >= " " and not "\x7f" <= c <= "\x9f") or c in _KEPT else "\N{REPLACEMENT CHARACTER}"
        for c in value
    )
