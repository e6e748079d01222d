"""The lists and wordings of `texts.txt`, by section."""

from pathlib import Path


def _sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    text = Path(__file__).with_name("texts.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            lines = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


LINES = _sections()


def words_of(section: str) -> list[str]:
    """Return the words of a section."""
    return " ".join(LINES[section]).split()


def wordings(section: str) -> list[tuple[str, list[str]]]:
    """Return the lines `key => one / other` of a section."""
    parts = [line.split(" => ") for line in LINES[section]]
    return [(key, texts.split(" / ")) for key, texts in parts]


FIRST, FAMILIES, TOWNS, COUNTRIES = map(words_of, ("P", "families", "Y", "K"))
