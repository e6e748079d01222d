"""Read claims in Markdown that are not sentences: labelled items, table rows, headings.

`- **Born**: 7 November 1867 in Warsaw` under the heading `# Marie Curie` says that Marie Curie was
born on 7 November 1867 in Warsaw, and so does the row of a table.
"""

import re
from typing import Final

from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction.clause import bare_name, name_length, only_opens
from ufo.transforms.extraction.wording import wording
from ufo.transforms.extraction.worthiness import is_claim

_HEADING: Final = re.compile(r"\s*(#{1,6})\s+(.+?)\s*#*\s*$")
_LABELLED: Final = re.compile(
    r"\s*(?:(?:[-*+•‣◦–]|\(?\d{1,3}[.)])\s+(?P<open>[*_]{1,3})?|(?P<bold>\*\*|__))"
    r"(?P<label>[^\W\d_][^:*_|\n]{1,50}?)(?:[*_]{1,3}\s*:|:\s*[*_]{1,3}|(?(bold)(?!)|:))\s+(?P<value>\S.*)$",
    re.DOTALL,
)
_RULING: Final = re.compile(r"\n[\s|:-]+$")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_YEAR: Final = re.compile(r"(?:c\. ?|circa )?\d{3,4}\b(?! ?[%\w])")
_DATE: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d|[A-Z][a-z]+ \d{1,2},? \d{4}")
_PLACE: Final = re.compile(r"[A-Z]")
# What happened once: "Born: 1867" is that somebody was born in 1867.
_EVENTS: Final = {
    name: f"was {name}"
    for name in word_set(
        "born buried built completed created designed discovered elected established founded"
        " incorporated introduced invented launched opened published released written"
    )
} | {"died": "died", "deceased": "died"}
_OF_EVENTS: Final = {
    "date of birth": "born", "birth date": "born", "birthdate": "born", "birthplace": "born",
    "place of birth": "born", "birth": "born", "date of death": "died", "place of death": "died",
    "death": "died", "release date": "released", "opening date": "opened",
}  # fmt: skip
# Labels that name what the item is about, and none of its properties.
_ASIDES: Final = word_set(
    "note example tip warning answer question step summary conclusion source sources reference"
    " references edit update disclaimer important remember"
)
# "Occupation: a chemist" says it of the topic, "Polonium: a metal" of what it names.
_KINDS: Final = word_set("genre job occupation position profession role status type")
_VALUE_HEADS: Final = word_set("value detail details information description fact facts")


class Reader:
    """Reads the lines of a text in their order: what a line says may need those before it."""

    def __init__(self, topic: str = "") -> None:
        self._asked = topic
        self._heading = self._opening = ""
        self._level = 6
        self._columns: list[str] = []

    @property
    def topic(self) -> str:
        """What the text is about: what its question names, else its heading or first sentence."""
        return self._asked or self._heading or self._opening

    def name(self, topic: str) -> None:
        """Set the subject of the running text."""
        self._opening = topic

    def read(self, line: str) -> list[str] | None:
        """Return what a sentence of the text says, as sentences; None where it is running text."""
        if line.lstrip().startswith("|"):
            return self._row(line)
        self._columns = []
        if line[:1].isalpha():
            return None
        if heading := _HEADING.match(line):
            self._head(len(heading[1]), " ".join(wording(heading[2]).words))
            return []
        found = _LABELLED.match(line)
        if found is None or "\n" in line.strip():
            return None
        label = " ".join(wording(found["label"]).words).rstrip(":")
        value = " ".join(wording(found["value"]).words).rstrip(".")
        if not value or label.lower() in _ASIDES or _is_sentence(value):
            return None
        return [self._said(self.topic, label, value)]

    def _head(self, level: int, text: str) -> None:
        words = text.rstrip(":").split()
        named = words and name_length(words) == len(words) and not only_opens(words[0].lower())
        # "Early Life" below "Marie Curie" is the same topic.
        if named and level <= self._level:
            self._heading, self._level = bare_name(words), level

    def _row(self, line: str) -> list[str]:
        cells = [
            " ".join(wording(cell).words)
            for cell in _CELLS.split(_RULING.sub("", line).strip().strip("|"))
        ]
        if not self._columns:
            self._columns = cells
            return []
        heads = self._columns
        if len(heads) == 2 and heads[1].lower() in _VALUE_HEADS:
            label, value = (*cells, "")[:2]
            return [self._said(self.topic, label, value)] if label and value else []
        return [
            self._said(cells[0], head, cell)
            for head, cell in zip(heads[1:], cells[1:], strict=False)
            if head and cells[0] and cell.strip("-–— ?")
        ]

    def _said(self, topic: str, label: str, value: str) -> str:
        low = label.lower()
        if low not in _KINDS and re.match(r"(?:an?|the) ", value):
            return f"{label} is {value}."
        event = _EVENTS.get(_OF_EVENTS.get(low, low))
        if not topic:
            return f"{label}: {value}."
        if event:
            return f"{topic} {event} {_when(value)}."
        known = label if any(map(str.isupper, label[1:])) else low
        return f"The {known} of {topic} is {value}."


def _is_sentence(value: str) -> bool:
    return value[0].isupper() and is_claim(value, wording(value))


def _when(value: str) -> str:
    if _DATE.match(value):
        return f"on {value}"
    return f"in {value}" if _YEAR.match(value) or _PLACE.match(value) else value
