"""Fill the templates of reports. Every value is escaped: what comes from data is hostile."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ufo.transforms.scores import SYMBOLS

_KEPT = "\n\t"


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
    made.globals["SYMBOLS"] = SYMBOLS
    return made


def filled(template: str, macro: str, *values: object) -> Markup:
    """Return what a macro of a template makes of the values."""
    return Markup(getattr(environment().get_template(template).module, macro)(*values))  # noqa: S704


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
