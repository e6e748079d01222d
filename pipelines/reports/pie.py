"""UFO's pie chart of the sources that decided, as a picture for notebooks and files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ufo.pipelines.reports.tabular import text_output


class Pie:
    """The share of claims that each source decided, and the undecided rest, as an SVG picture.

    A notebook shows it. `str(pie)` is the SVG and `save` writes it to a file. It is light or dark
    as its reader's screen is, and has a description in words.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], of: str = "") -> None:
        self._rows = [dict(row) for row in rows]
        self._of = of

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, for example `who.svg`.

        Raises:
            UsageError: the file cannot be written.
        """
        with text_output(str(path), "pie") as out:
            out.write(f"{self}\n")

    def __str__(self) -> str:
        from ufo.pipelines.reports.html_report import draw_pie  # Jinja is slow to import

        return str(draw_pie(self._rows, "Who decided", self._of))

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        shares = (f"{row['source']} {row['share']:.0%}" for row in self._rows if row["share"])
        of = f" of {self._of}" if self._of else ""
        return f"<ufo pie{of}: {', '.join(shares) or 'no claim'}>"
