"""Embed a figure as SVG: in the page's own colours and type, without ids that could clash.

The figures are drawn in stand-in colours, which become the variables of the style sheet here, so
that one drawing reads well on light and on dark.
"""

import re
import warnings
from io import StringIO

import matplotlib
from matplotlib.figure import Figure

from pipelines.reports.html.markup import Html, text

INK, MUTED, GRID, SURFACE = "#010101", "#020202", "#030303", "#040404"
ACCENT, PEOPLE = "#050505", "#060606"
_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    SURFACE: "surface",
    ACCENT: "accent",
    PEOPLE: "people",
}
_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_SIZE = re.compile(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>')
_UNUSED = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r"(?:url\(|href=\")#([^)\"]+)")
_FONT = re.compile(r"(font: [^;\"]*?\d+px) [^;\"]+")


def as_svg(figure: Figure, name: str, label: str) -> Html:
    """Return a figure as an `<svg>` with a label for those who cannot see it; `name` is its own
    on the page. Equal figures give equal text."""
    out = StringIO()
    options = {"svg.hashsalt": name, "svg.fonttype": "none"}
    with matplotlib.rc_context(options), warnings.catch_warnings():
        # The reader's browser has the letters that the font here lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(out, format="svg", metadata=_METADATA, transparent=True)
    drawn = _UNUSED.sub("", out.getvalue())
    drawn = drawn[drawn.index("<svg") :].strip()
    # Those that nothing refers to are the same in every figure.
    used = set(_REFERENCE.findall(drawn))
    drawn = _ID.sub(lambda found: found[0] if found[1] in used else "", drawn)
    drawn = _FONT.sub(r"\1 var(--sans)", drawn)
    for color, variable in _VARIABLES.items():
        drawn = drawn.replace(color, f"var(--{variable})")
    size = _SIZE.search(drawn)
    assert size is not None
    start = f'<svg class="plot" viewBox="{size[1]}" role="img" aria-label="{text(label)}">'
    return Html(start + drawn[size.end() :])
