"""Make docs/tables.md of the records and the views.

python scripts/tables.py --write     writes it
python scripts/tables.py --check     exit 1 if the file is out of date
"""

import sys
from dataclasses import fields
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.flags import write_or_check
from ufo.schemas.tables import KEYS, RECORDS
from ufo.schemas.views import load_views

FILE = Path(__file__).parents[1] / "docs/tables.md"
_HEAD = """# Tables and views

`ufo sql DIR "SELECT …"` reads the tables and views below. The tables are Parquet files, one folder
a table, so plain DuckDB reads them too: `FROM 'DIR/run=NAME/verdicts/*.parquet'`. So do pandas,
Polars, fastparquet and Hugging Face's `datasets`. A table without rows is one file that has the
columns; `datasets` opens that with `streaming=True` only. The page on [semantics](semantics.md)
explains labels, modes and scores. `python scripts/tables.py --write` makes this page.
"""


def text() -> str:
    """Return the content of docs/tables.md."""
    lines = [
        _HEAD,
        "## Tables\n",
        "| table | a row is | unique by | columns |",
        "|---|---|---|---|",
    ]
    for name, record in RECORDS.items():
        meaning = " ".join((record.__doc__ or "").split("\n\n")[0].split()).replace("|", "\\|")
        columns = ", ".join(f"`{field.name}`" for field in fields(record))
        keys = ", ".join(KEYS[name])
        lines.append(f"| `{name}` | {meaning} | {keys} | {columns} |")
    lines += ["\n## Views\n", "| view | what it shows | how it is computed |", "|---|---|---|"]
    for view in sorted(load_views(), key=lambda one: one.name):
        if view.parameters is None and view.title:
            help_text = " ".join(view.help.split()).replace("|", "\\|").replace("<", "&lt;")
            lines.append(f"| `{view.name}` | {view.title} | {help_text} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write docs/tables.md, or check that it is current; return the exit code."""
    return write_or_check(FILE, text())


if __name__ == "__main__":
    sys.exit(main())
