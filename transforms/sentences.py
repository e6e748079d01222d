"""Segment a text into sentences.

The `sentencex` package finds sentence ends in running text. It does not support Markdown, which
language models write, so the text is first cut into blocks (list items, headings, table rows,
fenced code, paragraphs), and each block is segmented separately.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import sentencex


class Span(NamedTuple):
    """Half-open code-point offsets: `text[start:end]` is one sentence without outer whitespace."""

    start: int
    end: int


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MARKER = re.compile(
    r"[^\S\r\n]*(?:(?:[-*+•‣◦–—]|\(?\d{1,3}[.)]|\(?[A-Za-z][)]|#{1,6}|>+)(?=[^\S\r\n]|[\r\n]|$)"
    r"[^\S\r\n]*)+"
)
FENCE = re.compile(r"[^\S\r\n]*(?:```|~~~)")
_RULE = re.compile(r"[-=*_\s|:+]+$")
_NUMBER_ONLY = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z])[.)\]]+$")
# These two are seldom looked for: `re` compiles them then.
_NUMBER_AT_END = (
    r"(?::\s+(\(?\d{1,2}[.)])|[.!?][\"”’]?\s*(\d{1,2}[.)]\s+[“\"*(]+))$"  # "… steps: 1." "….” 2. “"
)
_MAX_NUMBER = 12
_OPENERS = ("“", '"', "*", "(")
_CLOSERS = r"(?:\*{1,3}|_{1,3}|[\"'”’»)\]]|\[\d+\])+(?=\s|$)"
_CLOSER = frozenset("*_\"'”’»)[]")
_WORD = re.compile(r"\w")

# A line shorter than this was not wrapped: a sentence ends with it.
_WRAPPED_LINE = 50
_WINDOW = 10_000
_ENDS_LINE = (".", "!", "?", ":", "…", "。", "！", "？", "।")


def segment(text: str, language: str = "en") -> list[Span]:
    """Return the sentences of `text` in order; every non-blank character is in exactly one.

    `language` is an ISO 639 code, with or without a region ("de", "pt-BR"); sentencex uses general
    rules for unknown ones. List markers and numbering belong to the sentence after them. Takes time
    linear in the length of the text.
    """
    code = re.split("[-_]", language)[0].lower() or "en"
    if "\n" not in text and "\r" not in text and not MARKER.match(text):
        return _sentences(code, text, 0, 0, len(text), [])
    spans: list[Span] = []
    opened = -1  # the position of a marker whose text follows
    for start, end, kind in blocks(text):
        if opened >= 0:
            start, opened = opened, -1
        if kind == "whole":
            _add(text, start, end, spans)
            continue
        if kind == "rule" and spans:
            # A table's ruling or an underline belongs to the line above it.
            start = spans.pop().start
            _add(text, start, end, spans)
            continue
        marker = MARKER.match(text, start, end)
        body = marker.end() if marker else start
        if marker and not text[body:end].strip():
            opened = start
            continue
        _sentences(code, text, start, body, end, spans)
    if opened >= 0:
        _add(text, opened, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        spans.append(Span(start, start + len(stripped)))


def _sentences(
    code: str, text: str, start: int, body: int, end: int, spans: list[Span]
) -> list[Span]:
    """Append the sentences of one block; its marker, `start` to `body`, belongs to the first."""
    at, opening = body, start
    first = len(spans)
    for piece in _pieces(code, text, body, end):
        stop = at + len(piece)
        follows = len(spans) > first and opening == at
        closers = re.match(_CLOSERS, piece) if follows and piece[:1] in _CLOSER else None
        if closers:
            at = opening = at + closers.end()
            spans[-1] = Span(spans[-1].start, at)
        content = text[at:stop].strip()
        number = None
        numbered = content[-2:-1].isdigit() and not content[-4:-1].isdigit()  # no year
        if stop < end and (numbered or content[-1:] in _OPENERS):
            number = re.search(_NUMBER_AT_END, content[-_MAX_NUMBER:])
        if number:
            # "in three steps: 1. Buy": the number opens what follows.
            _add(text, opening, text.rindex(number[1] or number[2], at, stop), spans)
            opening, at = spans[-1].end, stop
            continue
        at = stop
        if not content:
            continue
        if _NUMBER_ONLY.match(content) and stop < end:
            continue  # `opening` stays: a bare numbering opens the sentence after it
        if len(spans) > first and not _WORD.search(content):
            spans[-1] = Span(spans[-1].start, opening + len(text[opening:stop].rstrip()))
        else:
            _add(text, opening, stop, spans)
        opening = stop
    if opening < end:
        _add(text, opening, end, spans)
    return spans


def _pieces(code: str, text: str, start: int, end: int) -> Iterator[str]:
    """Yield the pieces that sentencex splits `text[start:end]` into, without gaps, in windows.

    Its search for pairs of quotes takes quadratic time. The last piece of a window may be cut off,
    so it is repeated in the next window, unless it fills the window alone.
    """
    while end - start > _WINDOW:
        pieces = sentencex.segment(code, text[start : start + _WINDOW])
        for piece in pieces[:-1] or pieces:
            yield piece
            start += len(piece)
    yield from sentencex.segment(code, text[start:end])


def blocks(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of the blocks; kind is "prose", "rule" or "whole" (never split)."""
    found: list[tuple[int, int, str]] = []
    code_end = -1
    opening = -1  # start of the paragraph being collected
    previous = ""
    for match in _LINE.finditer(text):
        start, end = match.span()
        if start < code_end:
            continue
        line = match.group().strip()
        after = _LINE.finditer(text, end) if FENCE.match(match.group()) else ()
        closing = next((one for one in after if FENCE.match(one.group())), None)
        if opening >= 0 and (closing or not line or not _continues(previous, line)):
            found.append((opening, start, "prose"))
            opening = -1
        if closing:
            code_end = closing.end()
            found.append((start, code_end, "whole"))
            continue
        if not line:
            continue
        if line.startswith("|") or (_RULE.match(line) and len(line) > 2):
            found.append((start, end, "rule" if _RULE.match(line) else "whole"))
        elif line.startswith("#"):
            found.append((start, end, "prose"))
        elif opening < 0:
            opening = start
        previous = line
    if opening >= 0:
        found.append((opening, len(text), "prose"))
    return found


def _continues(previous: str, line: str) -> bool:
    """Return whether `line` continues the sentence of the previous line (a soft wrap)."""
    if MARKER.match(line) or line[0] in "|#" or _RULE.match(line) or previous.endswith(_ENDS_LINE):
        return False
    return line[0].islower() or len(previous) >= _WRAPPED_LINE
