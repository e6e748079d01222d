"""Segment a text into sentences.

The `sentencex` package finds sentence ends in running text. It does not support Markdown, which
language models write, so the text is first cut into blocks (list items, headings, table rows,
fenced code, paragraphs), and each block is segmented separately. It ends English sentences after
some abbreviations and after the marks of titles ("Jeopardy! is"): these are joined again.
"""

import re
from collections.abc import Sequence
from io import StringIO
from itertools import accumulate, chain, groupby, pairwise
from typing import Final, NamedTuple

from ufo.indexes import running_text
from ufo.transforms.english.grammar import BE, HAVE, Lists
from ufo.transforms.thoughts import thought_ranges


class Span(NamedTuple):
    """Half-open code-point offsets: `text[start:end]` is one sentence without outer whitespace."""

    start: int
    end: int


ITEM_MARK: Final = (
    r"(?:[-*+•‣◦–—①-⑳]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\d{1,2}(?:\.\d{1,2}){1,2}\."
    r"|(?:[a-z]|[ivx]{2,4})[.)](?=\s+[\"“*_]*[A-Z]))"  # a small letter is no initial of a name
)
"""The bullet or number of an item, as a regular expression."""

MARKER: Final = re.compile(
    rf"[^\S\r\n]*(?:(?:{ITEM_MARK}|#{{1,6}}|>+)(?=[^\S\r\n]|[\r\n]|$)[^\S\r\n]*)+"
)
_FENCE = re.compile(r"[^\S\r\n]*(`{3,}(?=[^`]*$)|~{3,}|(?:\$\$|\\\[)\s*$)")
_FENCES = frozenset("`~$\\")
# Of formulas; a fence of code ends by a line of its marks.
_CLOSING = {"$$": "$$", "\\[": "\\]"}
_LINE = re.compile(r"[^\r\n]*")
_RULE = re.compile(r"[-=*_\s|:+]+$")
# A mark that divides no cells: a bar with a backslash, a comma in a cell with quotes.
_NO_MARK = re.compile(r'\\\||(?<![^,])"[^"]*"(?![^,])')
_NO_VALUES = re.compile(r",\s|\"|\d,\d{3}\b|[;:]$")  # commas that divide no cells
# "Hi Anna,": the letter goes on in a new sentence.
GREETING = re.compile(
    r"(?:dear|h(?:i|ey|ello)|good (?:morning|afternoon|evening)|best|(?:kind|warm) regards|regards"
    r"|sincerely|yours|thanks|thank you|cheers)\b(?:[^.!?]|(?:[MD]rs?|Ms|Prof)\.)*,$",
    re.IGNORECASE,
)
_FIRST_NUMBER = re.compile(r"\s*\(?[1aiAI]\)\s*$")
_NEXT_NUMBER = re.compile(r"(?<=[;,])(?=\s+(?:and\s+)?\(?(?:\d{1,2}|[A-Za-z])\)\s)")
_NUMBER_ONLY = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z])[.)\]]+$")
# This pattern and _CLOSERS are seldom searched: `re` compiles them at their first use.
_NUMBER_AT_END = (
    r"(?::\s+(\(?\d{1,2}[.)])|[.!?][\"”’]?\s*(\d{1,2}[.)]\s+[“\"*(]+))$"  # "… steps: 1." "….” 2. “"
)
_MAX_NUMBER = 12
_OPENING_MARKS = ("“", '"', "*", "(")
_CLOSERS = (  # marks of emphasis, quotation and notes, and tags, which belong to what they close
    r"(?:\*{1,3}|_{1,3}|[\"'”’»)\]]|\^?\[\^?\d+\]\^?|【[^】\n]{1,40}】|[⁰¹²³⁴-⁹]+"
    r"|<(sup|ref)>[^<>\n]{1,20}</\1>|</[A-Za-z][\w-]{0,20}>)+(?=\s|$|<)"
)
_CLOSER = frozenset("*_\"'”’»)[]^【<⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORD = re.compile(r"\w")

_ABBREVIATIONS: Final = Lists("ufo.transforms.english", "abbreviations.toml")


def _any_of(name: str) -> str:
    """Return the regular expression of the whole words of a list."""
    return rf"(?:{'|'.join(map(re.escape, sorted(_ABBREVIATIONS.words(name))))})(?![^\W_])"


def _after(name: str) -> str:
    return rf"(?i:{_any_of(name)})\.{_CLOSED}\0{_OPENED}"


_MAX_WORD: Final = 40
_CLOSED: Final = r"[\s*_\"'”’)\]]*"
_OPENED: Final = r"[\s*_\"'“‘(\[]*"
_LOW: Final = r"[^\W\d_A-Z]+(?![^\W_])"
_SHORT: Final = frozenset({"a.m", "p.m"}).union(
    *(_ABBREVIATIONS.words(name) for name in ("titles", "names", "numbers"))
)
_NUMBER_ENDS: Final = re.compile(r"\d+\.\s+(?=[A-Z])")
_STATES: Final = rf"(?:{'|'.join(sorted(BE | HAVE))})(?![^\W_])"
# The borders "\0" after a word at which a sentence of English goes on. Seldom searched: `re`
# compiles them at their first use.
_ALTERNATIVES: Final = [
    rf"\S*\s*\0{_OPENED}(?:[,;]|{_STATES})",  # "Who Is It? was sung"
    rf"\S*\]{_CLOSED}\0{_OPENED}{_LOW}",  # "et al. [2004] found"
    rf"[A-Z]\S*[!?]{_CLOSED}\0{_OPENED}(?!{_any_of('after_marks')}){_LOW}",
    rf"[A-Z]\S*[!?]{_CLOSED}\0{_OPENED}\((?:1\d|20)\d\d\b",
    r"[A-Z]*\.\0[A-Z]{2,}(?![^\W_])",  # "ASP.NET"
    rf"{_after('words')}{_LOW}",
    rf"{_after('numbers')}(?:[~<>≈±+−-]?[$€£¥]?\d|(?:[IVXLC]{{2,}}|[VXL])\b)",
    rf"(?i:[ap]\.m)\.{_CLOSED}\0{_OPENED}{_any_of('time_zones')}",
    rf"(?=[A-Z][^A-Z]){_after('titles')}",
    rf"(?=[A-Z][^A-Z]){_after('names')}(?!(?i:{_any_of('openers')}))[^\W_]",
]
_CONTINUING: Final = re.compile(r"[\w,;]")  # each alternative needs one after the border
_GOES_ON: Final = rf"{_OPENED}(?:{'|'.join(_ALTERNATIVES)})"

# A line shorter than this was not wrapped: a sentence ends with it.
_WRAPPED_LINE = 50
_MAX_FORMULA = 5_000
_ENDS_LINE = (".", "!", "?", ":", "…", "。", "！", "？", "।")


def segment(text: str, language: str = "en") -> list[Span]:
    """Return the sentences of `text` in order; every non-blank character is in exactly one.

    `language` is an ISO 639 code, with or without a region ("de", "pt-BR"); sentencex uses general
    rules for unknown ones. List markers and numbering belong to the sentence after them. A model's
    thoughts and its answer have no sentence in common. Takes time linear in the length of the text.
    """
    code = language.replace("_", "-").partition("-")[0].lower() or "en"
    thoughts = thought_ranges(text)
    if not thoughts:
        return _segmented(code, text)
    edges = sorted({0, len(text), *chain(*thoughts)})
    return [
        Span(start + span.start, start + span.end)
        for start, end in pairwise(edges)
        for span in _segmented(code, text[start:end])
    ]


def _segmented(code: str, text: str) -> list[Span]:
    spans: list[Span] = []
    if "\n" not in text and "\r" not in text and not MARKER.match(text):
        _sentences(code, text, 0, 0, len(text), spans)
        return spans
    opened = -1  # the position of a marker whose text follows
    for start, end, kind in blocks(text):
        if opened >= 0:
            start, opened = opened, -1
        if kind == "rule" and spans:
            # A table's ruling or an underline belongs to the line above it.
            start = spans.pop().start
        if kind != "prose":
            _add(text, start, end, spans)
            continue
        marker = MARKER.match(text, start, end)
        body = marker.end() if marker else start
        if marker and not text[body:end].strip():
            opened = start
        else:
            _sentences(code, text, start, body, end, spans)
    if opened >= 0:
        _add(text, opened, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += piece.index(stripped[0])
        spans.append(Span(start, start + len(stripped)))


def _sentences(code: str, text: str, start: int, body: int, end: int, spans: list[Span]) -> None:
    """Append the sentences of one block; its marker, `start` to `body`, belongs to the first."""
    if not _WORD.search(text, body, end):  # nothing but marks
        _add(text, start, end, spans)
        return
    at, opening = body, start
    first = len(spans)
    cut = pieces(text[body:end], code)
    if start < body and _FIRST_NUMBER.match(text[start:body]):  # "(1) Ada was ill; (2) she left"
        cut = [part for piece in cut for part in _NEXT_NUMBER.split(piece)]
    for piece in cut:
        stop = at + len(piece)
        content = piece.strip()
        # Most pieces are a sentence: they begin with a word, and no number ends them.
        is_long = len(content) > _MAX_NUMBER and opening == at
        if is_long and piece[0].isalpha() and content[-1] in ".!?" and not content[-2].isdigit():
            spans.append(Span(at, at + len(content)))
            at = opening = stop
            continue
        if len(spans) > first and opening == at and piece[0] in _CLOSER:
            closers = re.match(_CLOSERS, piece)
            if closers:
                at = opening = at + closers.end()
                spans[-1] = Span(spans[-1].start, at)
                content = text[at:stop].strip()
        numbered = content[-2:-1].isdigit() and not content[-4:-1].isdigit()  # no year
        if stop < end and (numbered or content[-1:] in _OPENING_MARKS):
            number = re.search(_NUMBER_AT_END, content[-_MAX_NUMBER:])
            if number:  # "in three steps: 1. Buy": the number opens what follows
                _add(text, opening, text.rindex(number[1] or number[2], at, stop), spans)
                opening, at = spans[-1].end, stop
                continue
        at = stop
        if not content:
            continue
        if len(content) <= _MAX_NUMBER and _NUMBER_ONLY.match(content) and stop < end:
            continue  # `opening` stays: a bare numbering opens the sentence after it
        if not content[0].isalnum() and len(spans) > first and not _WORD.search(content):
            spans[-1] = Span(spans[-1].start, opening + len(text[opening:stop].rstrip()))
        else:
            _add(text, opening, stop, spans)
        opening = stop
    if opening < end:
        _add(text, opening, end, spans)


def pieces(text: str, language: str = "en") -> list[str]:
    """Return the sentences of running text, without gaps: their concatenation is the text."""
    sentences = list(running_text.pieces(text, language))
    return _joined(sentences) if language == "en" and len(sentences) > 1 else sentences


def _joined(cut: list[str]) -> list[str]:
    """Return the pieces, with those joined that are one sentence of English."""
    joins = [_goes_on(before, after) for before, after in pairwise(cut)]
    if not any(joins):
        return cut
    groups: list[list[str]] = [[cut[0]]]
    for joined, piece in zip(joins, cut[1:], strict=True):
        number = _NUMBER_ENDS.match(piece) if joined else None
        if number:  # "see eq. 3. He left"
            groups[-1].append(number[0])
            groups.append([piece[number.end() :]])
        elif joined:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return ["".join(parts) for parts in groups]


def _goes_on(before: str, after: str) -> bool:
    """Return whether a sentence of English goes on from one piece to the next."""
    if before[-2:] == ". " and after[:1].isupper():  # most borders
        word = before[before.rfind(" ", -_MAX_WORD, -2) + 1 : -2]
        if word[:1].isalnum() and word.lower() not in _SHORT:
            return False
    if not _CONTINUING.search(after, 0, _MAX_WORD):
        return False
    tail = before[-_MAX_WORD:]
    words = tail.split()
    last = tail[tail.rindex(words[-1]) :] if words else tail
    return re.match(_GOES_ON, f"{last}\0{after[:_MAX_WORD]}") is not None


def blocks(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of the blocks of a text.

    A block is "prose", a "rule", or never split: "code" (a formula too), "whole" (a table's row).
    """
    lines = [*pairwise([0, *accumulate(map(len, StringIO(text, newline="")))])]
    rows = _rows(text, lines)
    parts: list[tuple[int, int, str]] = []
    code_end = -1
    closings: dict[str, int] = {}
    opening = -1  # start of the paragraph being collected
    previous = ""
    for number, (start, end) in enumerate(lines):
        if start < code_end:
            continue
        line = text[start:end].strip()
        fence = _FENCE.match(text[start:end]) if line[:1] in _FENCES else None
        code_end = _end_of_code(text, fence[1].strip(), end, closings) if fence else -1
        is_code = code_end > end or (fence is not None and fence[1].strip() not in _CLOSING)
        apart = is_code or not line or number in rows
        if opening >= 0 and (apart or not _continues(previous, line, text[start].isspace())):
            parts.append((opening, start, "prose"))
            opening = -1
        if is_code:
            parts.append((start, code_end, "code"))
        elif not line:
            continue
        elif line.startswith("|") or number in rows or (_RULE.match(line) and len(line) > 2):
            parts.append((start, end, "rule" if _RULE.match(line) else "whole"))
        elif line.startswith("#"):
            parts.append((start, end, "prose"))
        elif opening < 0:
            opening = start
        previous = line
    if opening >= 0:
        parts.append((opening, len(text), "prose"))
    return parts


def _end_of_code(text: str, fence: str, after: int, closings: dict[str, int]) -> int:
    """Return the end of the code or formula whose opening line ends at `after`.

    Without a closing mark, code goes to the end of the text, and there is no formula. `closings`
    keeps the places of the closing marks found last, so that none is looked for twice.
    """
    if fence in _CLOSING:
        mark, limit = _CLOSING[fence], min(after + _MAX_FORMULA, len(text))
        if closings.get(mark, 0) < after:
            place = text.find(mark, after)
            closings[mark] = place if place >= 0 else len(text)
        line = _LINE.match(text, closings[mark], limit)
        return line.end() if line and closings[mark] + len(mark) <= limit else after
    match = re.compile(rf"(?<=[\r\n])[^\S\r\n]*{fence}{fence[0]}*[^\S\r\n]*(?=[\r\n]|$)").search(
        text, after
    )
    return match.end() if match else len(text)


def cells(line: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the mark between the cells of a line and their ranges; "" and [] for a plain line.

    The cells of a table are divided by bars, tabs or commas.
    """
    if "|" in line:
        mark = "|"
    elif "\t" in line:
        mark = "\t"
    elif (
        "," in line
        and line.rstrip()[-1:] not in ".!?"
        and not _NO_VALUES.search(_NO_MARK.sub("", line.strip()))
    ):
        mark = ","
    else:
        return "", []
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    plain = line[:end]
    if '"' in line or "\\" in line:
        plain = _NO_MARK.sub(lambda found: "x" * len(found[0]), line)[:end]
    if mark == "|":
        start, end = start + plain.startswith("|", start), end - plain.endswith("|")
    marks = [at for at in range(start, end) if plain[at] == mark]
    return mark, [*zip([start, *(at + 1 for at in marks)], [*marks, end], strict=True)]


def _rows(text: str, lines: Sequence[tuple[int, int]]) -> set[int]:
    """Return the numbers of the lines that are rows of tables without outer marks.

    They are two or more with the same number of cells, or three where commas or tabs divide them.
    """
    rows: set[int] = set()
    if "|" not in text and "\t" not in text and text.count(",") == text.count(", "):
        return rows  # most texts
    kinds = [(mark, len(found)) for mark, found in (cells(text[a:b]) for a, b in lines)]
    for (mark, count), run in groupby(range(len(lines)), kinds.__getitem__):
        numbers = [*run]
        enough = count > 1 and len(numbers) > (1 if mark == "|" else 2)
        if enough and not any(MARKER.match(text, *lines[number]) for number in numbers):
            rows.update(numbers)
    return rows


def _continues(previous: str, line: str, is_indented: bool) -> bool:
    """Return whether `line` continues the sentence of the previous line (a soft wrap)."""
    if MARKER.match(line) or line[0] in "|#" or _RULE.match(line) or previous.endswith(_ENDS_LINE):
        return False
    if previous.endswith(","):
        if GREETING.match(previous):
            return False
        if is_indented:  # of an item
            return True
    return line[0].islower() or len(previous) >= _WRAPPED_LINE
