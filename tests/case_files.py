"""Tables of cases in text files: a case a line, cells between ` => `, ⏎ for the end of a line."""

from pathlib import Path


def cases(path: Path) -> list[list[str]]:
    """Return the cells of each line that is neither empty nor a remark."""
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [line.replace("⏎", "\n") for line in lines if line and not line.startswith("## ")]
    return [[cell.strip(" ") for cell in row.split("=>")] for row in rows]
