"""Parse Markdown: the layout of a text, and its claims that are not sentences.

A labelled item, a table row and a heading make claims together:
`- **Born**: 7 November 1867 in Warsaw` under the heading `# Marie Curie` says that Marie Curie was
born on 7 November 1867 in Warsaw, and so does the row of a table.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ufo.transforms.english.grammar import (
    BE,
    DETERMINERS,
    HAVE,
    INTRANSITIVE,
    PLURAL,
    PREPOSITIONS,
    STOP_WORDS,
    SUBJECT_PRONOUNS,
    THIRD,
    core,
    is_participle,
    is_past,
    word_set,
)
from ufo.transforms.extraction.clause import (
    LISTS,
    Wording,
    bare_name,
    first_verb,
    is_claim,
    is_name,
    is_talk,
    only_opens,
    opening_name,
    topic_of,
    wording,
)
from ufo.transforms.extraction.marks import BOLD, HEADING, Line
from ufo.transforms.sentences import MARKER, blocks, cells

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
# "1. Marie Curie - physicist"
_PAIR: Final = re.compile(
    r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)])\s+(?P<label>[^\W\d_][^:|\n–—]{1,60}?)\s+[-–—]\s+(?P<value>\S.*)$",
    re.DOTALL,
)
_PLAIN_LABEL: Final = re.compile(
    r"(?P<label>[^\W\d_][^:*_|\n]{1,30}):\s+(?P<value>\S.*)$", re.DOTALL
)
_LIST_END: Final = re.compile(r"[.;,]*(?: and| or)?[.;,]*$")
_UNDERLINED: Final = re.compile(r"(.+)\n\s*(=|-)+\s*$")
# The levels of headings that have no marks: a line above items, and an item above deeper ones.
_BOLD_LEVEL: Final = 7
_LEAD_LEVEL: Final = 8
_ITEM_LEVEL: Final = 10
_ABOUT: Final = re.compile(r"\babout |(?<=\bfacts) on |(?<=\bFacts) on ")
_NAMES: Final = word_set("name title person biography bio") | {"full name"}
# "The founders are", "Her awards include", "It was founded by": an item goes on.
_LEADS: Final = BE | word_set(
    "include includes included by in at from discovered invented wrote won"
)
_RULING: Final = re.compile(r"\n[\s|:-]+$")
_YEAR: Final = re.compile(r"(?:c\. ?|circa )?\d{3,4}\b(?! ?[%\w])")
# "- 1903: Won the Nobel Prize"
_DATED: Final = re.compile(
    r"\s*[-*+•]\s+[*_]*(?P<date>(?:[A-Z][a-z]+ )?(?:1\d|20)\d\d)[*_]*\s?[:–—-][*_]*\s+"
    r"(?P<value>\S.*)$"
)
_DATE: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d|[A-Z][a-z]+ \d{1,2},? \d{4}")
# Single events: "Born: 1867" means that somebody was born in 1867.
_EVENTS: Final = dict(line.split("=") for line in LISTS.texts["events"].strip().split("\n"))
# Participles at the start of an item in passive sense: "Raised in Warsaw", "Awarded the prize".
_UNDERGONE: Final = word_set("located situated based buried raised educated married")
_HONOURED: Final = word_set("born awarded elected named appointed nominated knighted known")
# "Feature" above a column means that rows are properties of the things named by other columns.
_PROPERTIES: Final = word_set("feature aspect attribute property characteristic category criteria")
# Labels that name the topic of an item, not a property.
_ASIDES: Final = LISTS.words("asides")
# "Occupation: a chemist" is about the topic; "Polonium: a metal" is about Polonium.
_KINDS: Final = word_set("genre job occupation position profession role status type")
_VALUE_HEADS: Final = word_set("value detail details information description fact facts")
_NUMBERING: Final = word_set("no no. nr rank position index id #") | {""}
# A section with a heading of only these words has the topic of the text.
_SECTIONS: Final = _VALUE_HEADS | _ASIDES | LISTS.words("sections")  # fmt: skip


_UNKNOWN: Final = "?"  # the topic of a section whose heading is not a name


class LineReader:
    """Reads the lines of a text in order: the meaning of a line may depend on earlier lines."""

    def __init__(self, topic: str = "") -> None:
        self._topics = [topic]  # of the text as a whole, and of the headings above a line
        self._levels = [0]
        self._columns: list[str] = []
        self._mark = ""  # between the cells of the table's rows
        self._lead = Wording([], [])  # what the items below it go on with
        self._alone = False  # whether it is only one item
        self.moved = False
        """Whether the line before began or ended a section."""
        self._card = False  # whether the text names its topic as "Name: …"

    @property
    def topic(self) -> str:
        """The topic of the section, "" if it is unknown."""
        return self._topics[-1].replace(_UNKNOWN, "")

    @property
    def is_own(self) -> bool:
        """Whether the topic of the section is from a heading, and not from the text as a whole."""
        return self.topic != self._topics[0]

    def name(self, topic: str) -> None:
        """Set the subject of the running text, unless it is known."""
        if not self._topics[0]:
            self._topics = [topic if known == "" else known for known in self._topics]

    def heading(self, line: Line, following: Line | None = None) -> bool:
        """Return whether the line is a heading; what follows belongs to it."""
        self.moved = self._leave_list(line)
        marked = _marked_heading(line.text)
        level, text = marked or self._implied_heading(line, following)
        if not level:
            return False
        self.moved = True
        self._open(level, text)
        says = _PAIR.match(line.text) or is_claim(line.text, wording(line.text))
        return marked is not None or not says

    def opens(self, line: Line, following: Sequence[Line]) -> bool:
        """Return whether the line only opens the items that follow: "Marie Curie was"."""
        if not following or not following[0].is_item or line.is_item:
            return False
        said = wording(line.text.rstrip().removesuffix(":"))
        if len(said.lows) < 2 or said.lows[-1] not in _LEADS or said.words[-1][-1] in ".!?":
            return False
        self._lead, self._alone = said, not following[-1].is_item or len(following) == 1
        return True

    def _leave_list(self, line: Line) -> bool:
        """End the sections of items, and what they go on with; return whether a section ended."""
        if line.indent < 0:
            return False
        if line.is_item:
            least = _ITEM_LEVEL + line.indent
        else:
            least = _LEAD_LEVEL
            self._lead = Wording([], [])
        ended = self._levels[-1] >= least
        while self._levels[-1] >= least:
            self._levels.pop(), self._topics.pop()
        return ended

    def _implied_heading(self, line: Line, following: Line | None) -> tuple[int, str]:
        """Return the level and the name of a line that heads what follows without marks; 0 and ""
        if it is none."""
        label = _PLAIN_LABEL.match(line.text) if ":" in line.text else None
        if label and label["label"].lower() in _NAMES and _names(label["value"]):
            self._card = True
            return 1, label["value"]
        if line.indent < 0 or following is None or not following.is_item:
            return 0, ""
        text = " ".join(wording(line.text).words)
        if line.is_item:
            pair = _PAIR.match(line.text)
            name = text if _heads(text) else pair["label"] if pair else opening_name(text.split())
            deeper = following.indent > line.indent and name
            return (_ITEM_LEVEL + line.indent, name) if deeper else (0, "")
        about = text.endswith(":") and _ABOUT.search(text)
        if about and not is_claim(line.text, wording(text)):
            return _LEAD_LEVEL, topic_of(text[about.start() :])
        return (_LEAD_LEVEL, text) if _heads(text) else (0, "")

    def _open(self, level: int, text: str) -> None:
        while self._levels[-1] >= level:
            self._levels.pop(), self._topics.pop()
        words, said = _bare(text), _content(text)
        named = is_name(words) and not only_opens(core(words[0]))
        if level > _BOLD_LEVEL and not said.isdisjoint(_SECTIONS):
            named = False  # "Health Benefits:"
        own = bare_name(words) if named else _UNKNOWN
        topic = self._topics[-1] if said <= _SECTIONS else own
        if named and topic == own and not self._topics[0] and level == 1:
            self._topics[0] = topic  # the title
        self._levels.append(level)
        self._topics.append(topic)

    def read(self, line: Line, following: Sequence[Line]) -> list[str] | None:
        """Return the statements of a line that is not a sentence; None for running text."""
        row = self._cells(line.text, following)
        if row:
            return self._row(line.text, row)
        self._columns = []
        if line.text[:1].isalpha() and ":" not in line.text:
            return None  # most lines
        dated = _DATED.match(line.text)
        if dated and self.topic and (event := _of_topic(self.topic, wording(dated["value"]))):
            return [f"In {dated['date']}, {event.rstrip('.')}."]
        pair = _PAIR.match(line.text)
        found = _LABELLED.match(line.text) or pair or _PLAIN_LABEL.match(line.text)
        if found is None:
            return None
        label = " ".join(wording(found["label"]).words).rstrip(":")
        value = " ".join(wording(found["value"]).words).rstrip(".,;")
        low = label.lower()
        if not value or low in _ASIDES or _is_sentence(value):
            return None
        if found.re is _PLAIN_LABEL and not (
            self.topic and (self._card or low in _EVENTS or low in _KINDS)
        ):
            return None
        if is_talk(wording(value)):
            return []
        if found is pair and not _names(label):
            return None
        if found is pair and (whole := _of_topic(label, wording(value))):
            return [whole]
        if self._lead.words and self._lead.lows[0] not in SUBJECT_PRONOUNS:
            return [f"{' '.join(self._lead.words[:-1])}, {label}: {value}."]
        if low not in _KINDS and re.match(r"(?:an?|the) ", value):
            return [f"{label} is {value}."]
        return [_said("" if found is pair else self.topic, label, value)]

    def completed(self, line: Line) -> str:
        """Return a line with its subject. A list item without one gets the heading's subject;
        another line gets the name that it begins with (`introduced`)."""
        text = line.text
        if not line.is_item:
            return introduced(text)
        said = wording(text)
        if not said.words:
            return text
        if self._lead.words and (whole := _continued(self._lead, said, self._alone)):
            return whole
        if not self.topic or len(self._topics) == 1:
            lost = is_past(said.lows[0]) and first_verb(*said, 0) < 0  # "Won a prize": who?
            return "" if lost and not self.topic else introduced(text)
        return _of_topic(self.topic, said, is_claim(text, said)) or introduced(text)

    def _cells(self, line: str, following: Sequence[Line]) -> list[str]:
        """Return the cells of a table's row, [] for another line."""
        row = _RULING.sub("", line).strip() if "\n" in line else line
        mark, ranges = cells(row)
        if not mark or "\n" in row:
            return []
        if row[0] != "|" and (self._mark, len(self._columns)) != (mark, len(ranges)):
            rest = [cells(one.text) for one in following[: 1 if mark == "|" else 2]]
            alike = [len(found) for sign, found in rest if sign == mark]
            if self._columns or len(ranges) < 2 or alike != [len(ranges)] * (1 + (mark != "|")):
                return []
        self._mark = mark
        said = [row[start:end].strip(' "').replace("\\|", "|") for start, end in ranges]
        return [" ".join(wording(cell).words).rstrip(".") for cell in said]

    def _row(self, line: str, cells: list[str]) -> list[str]:
        if not self._columns or _RULING.search(line):
            self._columns = cells
            return []
        heads = self._columns
        if len(heads) > 2 and heads[0].lower() in _NUMBERING and cells[0].rstrip(".").isdigit():
            heads, cells = heads[1:], cells[1:]
        if len(heads) == 2 and heads[1].lower() in _VALUE_HEADS:
            label, value = (*cells, "")[:2]
            return [_said(self.topic, label, value)] if label and value else []
        row, dated = cells[0], _YEAR.fullmatch(cells[0]) is not None
        said = zip(heads[1:], cells[1:], strict=False)
        found = [(head, cell) for head, cell in said if head and row and cell.strip("-–— ?")]
        if heads[0].lower() in _PROPERTIES:
            return [_said(head, row, cell) for head, cell in found]
        if not heads[0] or (dated and not self.topic):  # it is unknown which of them is a property
            return [f"{row}, {head}: {cell}." for head, cell in found]
        if not dated:
            return [_said(row, head, cell) for head, cell in found]
        told = [(_of_topic(self.topic, wording(cell)), head, cell) for head, cell in found]
        return [
            f"In {row}, {one}." if one else _said(f"{self.topic} in {row}", head, cell)
            for one, head, cell in told
        ]


def _marked_heading(line: str) -> tuple[int, str] | None:
    if line[:1].isalnum() and "\n" not in line:
        return None  # most lines
    found = HEADING.match(line) or BOLD.match(line) or _UNDERLINED.match(line)
    if found is None:
        return None
    if found.re is HEADING:
        return len(found[1]), found[2]
    underlined = found.re is _UNDERLINED
    text = found[1] if underlined else line
    if is_claim(text, wording(text)) and not _content(text) <= _SECTIONS:
        return None  # a sentence in bold
    return (1 if found[2] == "=" else 2, text) if underlined else (_BOLD_LEVEL, found[2])


def _bare(text: str) -> list[str]:
    """Return the words of a heading without marks and without what it adds in brackets."""
    return " ".join(wording(text).words).rstrip(".:").partition(" (")[0].split()


def _content(text: str) -> set[str]:
    return {low for low in map(core, _bare(text)) if low not in STOP_WORDS and low.isalpha()}


def _names(text: str) -> bool:
    """Return whether a text is one name, such as "**Marie Curie**:"."""
    words = _bare(text)
    return is_name(words) and not only_opens(core(words[0]))


def _heads(text: str) -> bool:
    """Return whether a line above items is a name, or of the words of a section ("Early life:")."""
    said = _content(text)
    return _names(text) or (bool(said) and said <= _SECTIONS)


def _continued(lead: Wording, item: Wording, alone: bool) -> str:
    """Return what an item makes of the line above it, "" if that is uncertain.

    `alone` says that no other item follows the line.
    """
    (words, lows), (opening, verb) = item, (" ".join(lead.words), lead.lows[-1])
    first = first_verb(words, lows, 0)
    if lows[0] in SUBJECT_PRONOUNS or (first > 0 and is_name(words[:first])) or is_talk(item):
        return ""
    predicate = lows[0] in ("a", "an") or is_participle(lows[0]) or lows[0] in PREPOSITIONS
    if predicate or lows[0] in DETERMINERS:
        words = [words[0].lower(), *words[1:]]
    rest = _LIST_END.sub("", " ".join(words))
    if verb not in BE or predicate or alone or lead.lows[0] not in DETERMINERS:
        return f"{opening} {rest}."
    if verb in PLURAL:
        includes = "include" if verb == "are" else "included"
        return f"{' '.join(lead.words[:-1])} {includes} {rest}."
    return ""  # "The cast is: Ada Berg, Jan Holm"


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


def _of_topic(topic: str, said: Wording, claims: bool = False) -> str:
    """Return a fragment such as "Won two prizes" as a sentence about the topic, "" if it is none.

    `claims` says that it makes a claim by itself. Where no verb form is safe, as for "Founded in
    1040", the topic is put before it with a colon.
    """
    words, lows = said
    if not lows[1:]:
        return ""
    verb = first_verb(words, lows, 0)
    if verb > 0 and is_name(words[:verb]):
        return ""  # "Alfred Nobel founded it"
    rest = " ".join([words[0].lower(), *words[1:]])
    follows = lows[1] in PREPOSITIONS
    if lows[0] in _HONOURED or (lows[0] in _UNDERGONE and follows):
        return f"{topic} was {rest}"
    active = not (follows and is_participle(lows[0])) or lows[0] in INTRANSITIVE
    if lows[0] in HAVE | BE | THIRD or (is_past(lows[0]) and active):
        return f"{topic} {rest}"
    headless = claims and (verb < 0 or lows[verb - 1] == "to")
    return f"{topic}: {rest}" if is_past(lows[0]) or headless else ""


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


@dataclass(frozen=True, slots=True)
class StyledRange:
    """A visible half-open range of a text. `style` is "", "strong", "em", "strong em", "code" or
    "link"."""

    start: int
    end: int
    style: str


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """A block of a text, as a reader sees it.

    `kind` is paragraph, heading, item, row, quote, code or rule. `level` is the level of a heading
    (from 1) or the depth of a nested item (from 0). `marker` is an item's bullet or number. `head`
    says whether a row is the head of its table. All but rows have one cell. Text outside of all
    pieces is markup.
    """

    kind: str
    cells: list[list[StyledRange]]
    level: int = 0
    marker: str = ""
    head: bool = False


def layout(text: str) -> list[LayoutBlock]:
    """Return the layout of a Markdown text, block by block, in time linear in its length."""
    found: list[LayoutBlock] = []
    indents: list[int] = []  # of the items in which the next one may be nested
    last = 0
    for start, end, kind in _paragraphs(text):
        before = found[-1].kind if found and start == last else ""
        last = end
        body = start + len(text[start:end]) - len(text[start:end].lstrip())
        first = text[body:end].split(maxsplit=1)[0]
        if kind == "marked" and first[0] not in "#>":
            indent = len(text[start:body].expandtabs(4))
            while indents and indents[-1] >= indent:
                indents.pop()
            marker = "•" if first in "-*+•‣◦" else first
            pieces = list(_pieces(text, body + len(first), end))
            found.append(LayoutBlock("item", [pieces], len(indents), marker))
            indents.append(indent)
            continue
        if start == body:  # an indented paragraph belongs to the item before it
            indents = []
        if kind == "rule":
            if before == "row":
                found[-1] = replace(found[-1], head=True)
            elif before == "paragraph" and not first.strip("="):
                found[-1] = replace(found[-1], kind="heading", level=1)
            elif "|" not in first:
                found.append(LayoutBlock("rule", []))
        elif kind == "code":
            found.append(LayoutBlock("code", [_code(text, start, end)]))
        elif kind == "whole":
            ranges = cells(text[start:end])[1]
            row = [list(_pieces(text, start + left, start + right)) for left, right in ranges]
            found.append(LayoutBlock("row", row))
        elif kind == "marked" and first[0] == "#":
            closing = re.search(r"\s#+\s*$", text[body:end])
            end = body + closing.start() if closing else end
            found.append(
                LayoutBlock("heading", [list(_pieces(text, body + len(first), end))], len(first))
            )
        else:
            quoted = len(first) if kind == "marked" else 0
            kind = "quote" if quoted else "paragraph"
            found.append(LayoutBlock(kind, [list(_pieces(text, body + quoted, end))]))
    return found


def _code(text: str, start: int, end: int) -> list[StyledRange]:
    """Return the lines between those of the marks; the last one may be missing."""
    inner = (text.find("\n", start, end) + 1) or end
    close = start + len(text[start:end].rstrip())
    last = max(inner, text.rfind("\n", inner, close))
    close = last if text[last:close].strip(" \t\n`~$\\]") == "" else close
    return [StyledRange(inner, close, "code")] if inner < close else []


def _paragraphs(text: str) -> list[tuple[int, int, str]]:
    """Return the blocks of a text, with lines that no blank line divides as one paragraph."""
    found: list[tuple[int, int, str]] = []
    for start, end, kind in blocks(text):
        kind = "marked" if kind == "prose" and MARKER.match(text, start, end) else kind
        if found and kind == "prose" and found[-1][1:] == (start, "prose"):
            start = found.pop()[0]
        found.append((start, end, kind))
    return found


_TARGET: Final = (
    r"\]\((?=[^()\s]{0,2000}[./#:])[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?"
    r"(?: \"[^\"\n]*\")?\)"
)
_INLINE: Final = re.compile(
    r"(?P<ticks>(?<!`)`{1,3}(?!`))(?P<code>[^`]+)(?P=ticks)(?!`)"
    rf"|(?P<label>!?\[)(?=[^\[\]\n]+{_TARGET})"
    rf"|(?P<target>{_TARGET})"
    r"|<(?P<address>https?:[^<>\s]+)>"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<marks>\*+|_+)"
)
_EM, _STRONG, _CODE, _LINK = 1, 2, 4, 8  # for emphasis the number of marks
_STYLES: Final = ("", "em", "strong", "strong em")


def _pieces(text: str, start: int, end: int) -> Iterator[StyledRange]:
    """Yield the visible pieces of a range, without marks of emphasis, code, links and escapes."""
    start = end - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    hidden: list[tuple[int, int]] = []
    edges: list[tuple[int, int]] = []  # (place, style that begins there, negative: that ends)
    waiting: dict[str, list[tuple[int, int]]] = {"*": [], "_": []}  # marks that are not closed yet
    linked = False
    for found in _INLINE.finditer(text, start, end):
        a, b = found.span()
        name = found.lastgroup or ""
        if name == "label" or (name == "target" and linked):
            linked = name == "label"
            hidden.append((a, b))
            edges.append((b, _LINK) if linked else (a, -_LINK))
        elif name in ("code", "address", "escaped"):
            style = {"code": _CODE, "address": _LINK, "escaped": 0}[name]
            hidden += [(a, found.start(name)), (found.end(name), b)]
            edges += [(found.start(name), style), (found.end(name), -style)]
        elif name == "marks" and b - a <= _EM + _STRONG:
            before, after = text[max(start, a - 1) : a] or " ", text[b : min(end, b + 1)] or " "
            inside = before.isalnum() and after.isalnum()
            if inside and (text[a] == "_" or b - a == 1 or before.isdigit()):
                continue  # snake_case, 2*3
            opened = waiting[text[a]]
            closes = not before.isspace() and (before.isalnum() or not after.isalnum())
            while closes and opened and a < b:
                first, last = opened.pop()
                n = min(last - first, b - a)
                hidden += [(last - n, last), (a, a + n)]
                for style in (_EM, _STRONG):
                    edges += [(last, style & n), (a, -(style & n))]
                a += n
                if last - n > first:
                    opened.append((first, last - n))
            if a < b and not after.isspace() and (after.isalnum() or not before.isalnum()):
                opened.append((a, b))
    at, styles = start, Counter[int]()
    stops = [(place, style, place) for place, style in edges] + [(a, 0, b) for a, b in hidden]
    for place, style, after_it in [*sorted(stops), (end, 0, end)]:
        if at < place:
            emphasis = _STYLES[_EM * bool(styles[_EM]) | _STRONG * bool(styles[_STRONG])]
            yield StyledRange(
                at, place, "code" if styles[_CODE] else "link" if styles[_LINK] else emphasis
            )
            at = place
        styles[abs(style)] += (style > 0) - (style < 0)
        at = max(at, after_it)
