"""Read claims in Markdown that are not sentences: labelled items, table rows, headings.

`- **Born**: 7 November 1867 in Warsaw` under the heading `# Marie Curie` says that Marie Curie was
born on 7 November 1867 in Warsaw, and so does the row of a table.
"""

import re
from typing import Final

from ufo.transforms.english.grammar import PREPOSITIONS, STOP_WORDS, core, word_set
from ufo.transforms.extraction.clause import (
    LISTS,
    bare_name,
    is_claim,
    is_name,
    is_talk,
    only_opens,
    wording,
)

_HEADING: Final = re.compile(r"\s*(#{1,6})\s+(.+?)\s*#*\s*$")
_BOLD: Final = re.compile(r"\s*(\*\*|__)(?=\S)([^*_:.!?]{2,60})(?:\*\*|__):?\s*$")
_LABELLED: Final = re.compile(
    r"\s*(?:(?:[-*+•‣◦–]|\(?\d{1,3}[.)])\s+(?P<open>[*_]{1,3})?|(?P<bold>\*\*|__))"
    r"(?P<label>[^\W\d_][^:*_|\n]{1,50}?)(?:[*_]{1,3}\s*:|:\s*[*_]{1,3}|(?(bold)(?!)|:))\s+(?P<value>\S.*)$",
    re.DOTALL,
)
# "1. **Jan Holm** - He was a painter", '2. "The Sea" (1990): This is a film'
_INTRODUCED: Final = re.compile(
    r"\s*(?:[-*+•]\s|\(?\d{1,3}[.)]\s)?\s*[*_]*(?P<name>[\"“]?[^\W\d_a-z][^:.!?\n*]{1,60}?)[*_]*\s*"
    r"(?::|\s[-–—])[*_]*\s+(?P<pronoun>He|She|It|This)\s+(?=[a-z])"
)
_RULING: Final = re.compile(r"\n[\s|:-]+$")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_YEAR: Final = re.compile(r"(?:c\. ?|circa )?\d{3,4}\b(?! ?[%\w])")
_DATE: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d|[A-Z][a-z]+ \d{1,2},? \d{4}")
# What happened once: "Born: 1867" is that somebody was born in 1867.
_EVENTS: Final = dict(line.split("=") for line in LISTS.texts["events"].strip().split("\n"))
# Labels that name what the item is about, and none of its properties.
_ASIDES: Final = LISTS.words("asides")
# "Occupation: a chemist" says it of the topic, "Polonium: a metal" of what it names.
_KINDS: Final = word_set("genre job occupation position profession role status type")
_VALUE_HEADS: Final = word_set("value detail details information description fact facts")
_NUMBERING: Final = word_set("no no. nr rank position index id") | {""}  # "#" is a marker
# A heading of these words alone is about what the text is about.
_SECTIONS: Final = _VALUE_HEADS | _ASIDES | LISTS.words("sections")  # fmt: skip


_UNKNOWN: Final = "?"  # what a section is about whose heading is no name


class LineReader:
    """Reads the lines of a text in their order: what a line says may need those before it."""

    def __init__(self, topic: str = "") -> None:
        self._topics = [topic]  # of the text as a whole, and of the headings above a line
        self._levels = [0]
        self._columns: list[str] = []

    @property
    def topic(self) -> str:
        """What the section is about, "" if that is unknown."""
        return self._topics[-1].replace(_UNKNOWN, "")

    @property
    def is_own(self) -> bool:
        """Whether a heading, and not the text as a whole, says what the section is about."""
        return self.topic != self._topics[0]

    def name(self, topic: str) -> None:
        """Set the subject of the running text, unless it is known."""
        if not self._topics[0]:
            self._topics = [topic if known == "" else known for known in self._topics]

    def heading(self, line: str) -> bool:
        """Return whether the line is a heading; what follows belongs to it."""
        found = _HEADING.match(line) or _BOLD.match(line)
        if found is None or (found[1][0] != "#" and is_claim(line, wording(line))):
            return False
        level = len(found[1]) if found[1][0] == "#" else 7
        while self._levels[-1] >= level:
            self._levels.pop(), self._topics.pop()
        words = " ".join(wording(found[2]).words).rstrip(":").split()
        said = {low for low in map(core, words) if low not in STOP_WORDS and low.isalpha()}
        named = bool(words) and is_name(words) and not only_opens(core(words[0]))
        own = bare_name(words) if named else _UNKNOWN
        topic = self._topics[-1] if said <= _SECTIONS else own
        if named and topic == own and not self._topics[0] and level == 1:
            self._topics[0] = topic  # the title
        self._levels.append(level)
        self._topics.append(topic)
        return True

    def read(self, line: str) -> list[str] | None:
        """Return, as sentences, what a line says without being one; None for running text."""
        if line.lstrip().startswith("|"):
            return self._row(line)
        self._columns = []
        if line[:1].isalpha():
            return None
        found = _LABELLED.match(line)
        if found is None or "\n" in line.strip():
            return None
        label = " ".join(wording(found["label"]).words).rstrip(":")
        value = " ".join(wording(found["value"]).words).rstrip(".")
        if not value or label.lower() in _ASIDES or _is_sentence(value):
            return None
        if is_talk(wording(value)):
            return []
        if label.lower() not in _KINDS and re.match(r"(?:an?|the) ", value):
            return [f"{label} is {value}."]
        return [_said(self.topic, label, value)]

    def _row(self, line: str) -> list[str]:
        cells = [
            " ".join(wording(cell).words).rstrip(".")
            for cell in _CELLS.split(_RULING.sub("", line).strip().strip("|"))
        ]
        if not self._columns or _RULING.search(line):
            self._columns = cells
            return []
        heads = self._columns
        if len(heads) > 2 and heads[0].lower() in _NUMBERING and cells[0].rstrip(".").isdigit():
            heads, cells = heads[1:], cells[1:]
        if len(heads) == 2 and heads[1].lower() in _VALUE_HEADS:
            label, value = (*cells, "")[:2]
            return [_said(self.topic, label, value)] if label and value else []
        row = cells[0]
        if _YEAR.fullmatch(row) and self.topic:
            row = f"{self.topic} in {row}"
        return [
            _said(row, head, cell)
            for head, cell in zip(heads[1:], cells[1:], strict=False)
            if head and row and cell.strip("-–— ?")
        ]


def introduced(line: str) -> str:
    """Return a line that begins with a name and "This is" with the name as the subject."""
    found = _INTRODUCED.match(line)
    if found is None:
        return line
    words = found["name"].split()
    person = len(words) > 1 and is_name(words)
    titled = words[0][0] in '"“' or is_name(words)
    fits = person if found["pronoun"] in ("He", "She") else titled
    return f"{found['name']} {line[found.end() :]}" if fits else line


def _said(topic: str, label: str, value: str) -> str:
    low = label.lower()
    if _is_sentence(value):
        return f"{topic}, {low}: {value}." if topic else f"{label}: {value}."
    event = _EVENTS.get(low)
    if not topic:
        return f"{label}: {value}."
    if event:
        return f"{topic} {event} {_when(value)}."
    if low.split()[-1] in PREPOSITIONS:  # "Known for"
        return f"{topic} is {low} {value}."
    known = label if any(map(str.isupper, label[1:])) else low
    return f"The {known} of {topic} is {value}."


def _is_sentence(value: str) -> bool:
    return value[0].isupper() and is_claim(value, wording(value))


def _when(value: str) -> str:
    if _DATE.match(value):
        return f"on {value}"
    return f"in {value}" if _YEAR.match(value) or value[0].isupper() else value
