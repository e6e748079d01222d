"""Read the claims that Markdown makes without sentences.

A labelled item, a table row and a heading make claims together:
`- **Born**: 7 November 1867 in Warsaw` under the heading `# Marie Curie` says that Marie Curie was
born on 7 November 1867 in Warsaw, and so does the row of a table.
"""

import re
from collections.abc import Sequence
from typing import Final

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import BE, PREPOSITIONS, core, is_participle, is_past, word_set
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
from ufo.transforms.sentences import ITEM_MARK, cells

_LABELLED: Final = re.compile(
    rf"\s*(?:{ITEM_MARK}\s+(?P<open>[*_]{{1,3}})?|(?P<bold>\*\*|__))"
    r"(?P<label>[^\W\d_][^:*_|\n]{1,50}?)(?:[*_]{1,3}\s*:|:\s*[*_]{1,3}|(?(bold)(?!)|:))\s+(?P<value>\S.*)$",
    re.DOTALL,
)
# "1. **Jan Holm** - He was a painter", '2. "The Sea" (1990): This is a film'
_INTRODUCED: Final = re.compile(
    rf"\s*(?:{ITEM_MARK}\s)?\s*[*_]*"
    r"(?P<name>[\"“]?[^\W\d_a-z][^:.!?\n*]{1,60}?)[*_]*\s*"
    r"(?::|\s[-–—])[*_]*\s+(?P<pronoun>He|She|It|This)\s+(?=[a-z])"
)
_INTRODUCES: Final = re.compile(r"[:–—-][*_]*\s+(?:He|She|It|This)\s")  # most lines have none
# "1. Marie Curie - physicist"
_PAIR: Final = re.compile(
    rf"\s*{ITEM_MARK}\s+"
    r"(?P<label>[^\W\d_][^:|\n–—]{1,60}?)\s+[-–—]\s+(?P<value>\S.*)$",
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
    "include includes included by in at from discovered invented wrote won that if"
)
_CLAUSE_OPENERS: Final = word_set("that if when unless whether because")
# Words before a colon that have the same effect.
_OPEN_ENDS: Final = PREPOSITIONS | en.THIRD | en.HAVE | _CLAUSE_OPENERS | {"not", "never", "no"}
# "Common myths about Oslo:", "If it rains:": the items below are not asserted.
_DENIES: Final = re.compile(LISTS.phrases("denying_leads"), re.IGNORECASE)
_MAX_LEAD: Final = 300
_OPTION: Final = re.compile(r"\s*\(?[A-Fa-f][).]\s")  # of a question
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
_FINITE: Final = en.HAVE | BE | en.THIRD
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
    """A reader of a text's lines in order, since a line may depend on earlier lines."""

    def __init__(self, topic: str = "") -> None:
        self._topics = [topic]  # of the text as a whole, and of the headings above a line
        self._levels = [0]
        self._columns: list[str] = []
        self._mark = ""  # between the cells of the table's rows
        self._lead = Wording([], [])  # the line that the items below it complete
        self._alone = False  # whether only one item completes it
        self._denied = False  # whether the line above the items denies or supposes them
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
        """Return whether the line is a heading, after which its section has begun."""
        self.moved = self._leave_list(line)
        if not line.is_item and line.indent >= 0:
            self._denied = following is not None and _denies(line.text, following)
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
        text = line.text.rstrip()
        statement = wording(text.removesuffix(":"))
        if len(statement.lows) < 2 or statement.words[-1][-1] in ".!?":
            return False
        last, ends = statement.lows[-1], text.endswith(":")
        if last in _LEADS or (
            ends and (last in _OPEN_ENDS or statement.lows[-2] in en.AUXILIARIES)
        ):
            self._lead, self._alone = statement, len(following) == 1 or not following[1].is_item
            return True
        return ends and "following" in statement.lows

    def _leave_list(self, line: Line) -> bool:
        """End the sections of the items before a line; return whether a section ended."""
        if line.indent < 0:
            return False
        if line.is_item:
            least = _ITEM_LEVEL + line.indent
        else:
            least = _LEAD_LEVEL
            self._lead = Wording([], [])
        ended = self._levels[-1] >= least
        while self._levels[-1] >= least:
            self._levels.pop()
            self._topics.pop()
        return ended

    def _implied_heading(self, line: Line, following: Line | None) -> tuple[int, str]:
        """Return the level and the name of a heading without marks; 0 and "" for other lines."""
        label = ":" in line.text and (_LABELLED.match(line.text) or _PLAIN_LABEL.match(line.text))
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
            self._levels.pop()
            self._topics.pop()
        words, content_words = _bare(text), _content(text)
        named = is_name(words) and not only_opens(core(words[0]))
        if level > _BOLD_LEVEL and not content_words.isdisjoint(_SECTIONS):
            named = False  # "Health Benefits:"
        own = bare_name(words) if named else _UNKNOWN
        topic = self._topics[-1] if content_words <= _SECTIONS else own
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
        if line.text[:1].isalpha() and ":" not in line.text and not line.is_item:
            return None  # most lines
        if line.is_item and self._denied:
            return []
        if line.is_item and self._lead.words and self._lead.lows[-1] in _CLAUSE_OPENERS:
            return None
        dated = _DATED.match(line.text)
        if dated and self.topic and (event := _of_topic(self.topic, wording(dated["value"]))):
            return [f"In {dated['date']}, {event.rstrip('.')}."]
        pair = _PAIR.match(line.text)
        match = _LABELLED.match(line.text) or pair or _PLAIN_LABEL.match(line.text)
        if match is None:
            return None
        label = " ".join(wording(match["label"]).words).rstrip(":")
        value = " ".join(wording(match["value"]).words).rstrip(".,;")
        low = label.lower()
        if not label or not value or low in _ASIDES or _is_sentence(value):
            return None
        if match.re is _PLAIN_LABEL and not (
            self.topic and (self._card or low in _EVENTS or low in _KINDS)
        ):
            return None
        if is_talk(wording(value)):
            return []
        if match is pair and not _names(label):
            return None
        if match is pair and (whole := _of_topic(label, wording(value))):
            return [whole]
        if self._lead.words and self._lead.lows[0] not in en.SUBJECT_PRONOUNS:
            return [f"{' '.join(self._lead.words[:-1])}, {label}: {value}."]
        if low not in _KINDS and re.match(r"(?:an?|the) ", value):
            return [f"{label} is {value}."]
        return [_row_as_sentence("" if match is pair else self.topic, label, value)]

    def complete(self, line: Line) -> str:
        """Return a line with its subject. A list item without one gets the heading's subject;
        another line gets the name that it begins with (`expand_introduction`)."""
        text = line.text
        if not line.is_item:
            return expand_introduction(text)
        statement = wording(text)
        if not statement.words:
            return text
        if self._lead.words and (whole := _continue_lead(self._lead, statement, self._alone)):
            return whole
        if not self.topic or len(self._topics) == 1:
            lost = (
                is_past(statement.lows[0]) and first_verb(*statement, 0) < 0
            )  # "Won a prize": who?
            return "" if lost and not self.topic else expand_introduction(text)
        return _of_topic(self.topic, statement, is_claim(text, statement)) or expand_introduction(
            text
        )

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
        texts = [row[start:end].strip(' "').replace("\\|", "|") for start, end in ranges]
        return [" ".join(wording(cell).words).rstrip(".") for cell in texts]

    def _row(self, line: str, cells: list[str]) -> list[str]:
        if not self._columns or _RULING.search(line):
            self._columns = cells
            return []
        heads = self._columns
        if len(heads) > 2 and heads[0].lower() in _NUMBERING and cells[0].rstrip(".").isdigit():
            heads, cells = heads[1:], cells[1:]
        if len(heads) == 2 and heads[1].lower() in _VALUE_HEADS:
            label, value = (*cells, "")[:2]
            return [_row_as_sentence(self.topic, label, value)] if label and value else []
        row, dated = cells[0], _YEAR.fullmatch(cells[0]) is not None
        pairs = zip(heads[1:], cells[1:], strict=False)
        filled = [(head, cell) for head, cell in pairs if head and row and cell.strip("-–— ?")]
        if heads[0].lower() in _PROPERTIES:
            return [_row_as_sentence(head, row, cell) for head, cell in filled]
        if not heads[0] or (dated and not self.topic):  # it is unknown which of them is a property
            return [f"{row}, {head}: {cell}." for head, cell in filled]
        if not dated:
            return [_row_as_sentence(row, head, cell) for head, cell in filled]
        completed = [(_of_topic(self.topic, wording(cell)), head, cell) for head, cell in filled]
        return [
            f"In {row}, {whole}."
            if whole
            else _row_as_sentence(f"{self.topic} in {row}", head, cell)
            for whole, head, cell in completed
        ]


def _denies(lead: str, item: Line) -> bool:
    """Return whether a line denies, supposes or asks about the items below it."""
    if not item.is_item or len(lead) > _MAX_LEAD:
        return False
    asks = lead.rstrip()[-1] == "?" and _OPTION.match(item.text) is not None
    return asks or _DENIES.search(lead) is not None


def _marked_heading(line: str) -> tuple[int, str] | None:
    if line[:1].isalnum() and "\n" not in line:
        return None  # most lines
    match = HEADING.match(line) or BOLD.match(line) or _UNDERLINED.match(line)
    if match is None:
        return None
    if match.re is HEADING:
        return len(match[1]), match[2]
    underlined = match.re is _UNDERLINED
    text = match[1] if underlined else line
    if is_claim(text, wording(text)) and not _content(text) <= _SECTIONS:
        return None  # a sentence in bold
    return (1 if match[2] == "=" else 2, text) if underlined else (_BOLD_LEVEL, match[2])


def _bare(text: str) -> list[str]:
    """Return the words of a heading without marks and without what it adds in brackets."""
    return " ".join(wording(text).words).rstrip(".:").partition(" (")[0].split()


def _content(text: str) -> set[str]:
    return {low for low in map(core, _bare(text)) if low not in en.STOP_WORDS and low.isalpha()}


def _names(text: str) -> bool:
    """Return whether a text is one name, such as "**Marie Curie**:"."""
    words = _bare(text)
    return is_name(words) and not only_opens(core(words[0]))


def _heads(text: str) -> bool:
    """Return whether a line above items is a name, or of the words of a section ("Early life:")."""
    content_words = _content(text)
    return _names(text) or (bool(content_words) and content_words <= _SECTIONS)


def _continue_lead(lead: Wording, item: Wording, alone: bool) -> str:
    """Return the sentence that an item makes of the line above it, "" if that is uncertain.

    `alone` says that no other item follows the line.
    """
    (words, lows), (opening, verb) = item, (" ".join(lead.words), lead.lows[-1])
    if verb in _CLAUSE_OPENERS:
        return f"{opening} {_LIST_END.sub('', ' '.join(words))}."
    first = first_verb(words, lows, 0)
    if (
        lows[0] in en.SUBJECT_PRONOUNS
        or (first > 0 and words[0][0].isalpha() and is_name(words[:first]))
        or is_talk(item)
    ):
        return ""
    predicate = lows[0] in ("a", "an") or is_participle(lows[0]) or lows[0] in PREPOSITIONS
    predicate = predicate or (verb == "for" and lows[0].endswith("ing"))
    if predicate or lows[0] in en.DETERMINERS:
        words = [words[0].lower(), *words[1:]]
    rest = _LIST_END.sub("", " ".join(words))
    if verb not in BE or predicate or alone or lead.lows[0] not in en.DETERMINERS:
        return f"{opening} {rest}."
    if verb in en.PLURAL:
        includes = "include" if verb == "are" else "included"
        return f"{' '.join(lead.words[:-1])} {includes} {rest}."
    return ""  # "The cast is: Ada Berg, Jan Holm"


def expand_introduction(line: str) -> str:
    """Return a line that begins with a name and "This is" with the name as the subject."""
    match = _INTRODUCES.search(line) and _INTRODUCED.match(line)
    if not match:
        return line
    words = match["name"].split()
    person = len(words) > 1 and is_name(words)
    titled = words[0][0] in '"“' or is_name(words)
    fits = person if match["pronoun"] in ("He", "She") else titled
    return f"{match['name']} {line[match.end() :]}" if fits else line


def _of_topic(topic: str, statement: Wording, claims: bool = False) -> str:
    """Return a fragment such as "Won two prizes" as a sentence about the topic, "" if it is none.

    `claims` says that it makes a claim by itself. Where no verb form is safe, as for "Founded in
    1040", the topic is put before it with a colon.
    """
    words, lows = statement
    if not lows[1:]:
        return ""
    verb = first_verb(words, lows, 0)
    if verb > 0 and is_name(words[:verb]):
        return ""  # "Alfred Nobel founded it"
    rest = " ".join([words[0].lower(), *words[1:]])
    follows = lows[1] in PREPOSITIONS
    if lows[0] in _HONOURED or (lows[0] in _UNDERGONE and follows):
        return f"{topic} was {rest}"
    active = not (follows and is_participle(lows[0])) or lows[0] in en.INTRANSITIVE
    if lows[0] in _FINITE or (is_past(lows[0]) and active):
        return f"{topic} {rest}"
    own = lows[0] in en.DETERMINERS  # "The gondoliers sing"
    headless = claims and not own and (verb < 0 or lows[verb - 1] == "to")
    return f"{topic}: {rest}" if is_past(lows[0]) or headless else ""


def _row_as_sentence(topic: str, label: str, value: str) -> str:
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
