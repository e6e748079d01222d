"""Read the text of a PDF's pages, with superscripts as `superscripts` reads them.

A PDF has no superscripts, only smaller characters above the line. pypdf tells position and size of
each piece of text between two changes of the font; so that a piece never has text of two heights,
the font is set again before each move.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Any

from pypdf.generic import ContentStream, NameObject

from ufo.transforms.sources.web.superscripts import CONTEXT, Superscripts, read_lowered

_SMALLER = 0.85  # of the size of the text before
_OFF_LINE = 0.1  # of the same: how far above or below its line
_LONGEST = 20  # characters; longer small text is a line of its own
_NEAR = 20  # pieces looked at for the rest of a line
_SLASH = re.compile("(?<=[0-9])[⁄∕](?=[0-9])")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of text, with the height of its line and its size in units of the page."""

    text: str
    height: float
    size: float
    rises: bool


@dataclass(slots=True)
class _Pieces:
    """Collects the pieces of a page while pypdf reads it."""

    pieces: list[_Piece] = field(default_factory=list)
    rise: float = 0.0
    saved: list[float] = field(default_factory=list)

    def operator(self, operator: bytes, operands: Any, _matrix: Any, _text_matrix: Any) -> None:
        """Note the text rise, which pypdf ignores."""
        if operator == b"Ts" and operands and isinstance(operands[0], int | float):
            self.rise = float(operands[0])
        elif operator == b"q":
            self.saved.append(self.rise)
        elif operator == b"Q" and self.saved:
            self.rise = self.saved.pop()

    def text(self, text: str, matrix: Any, text_matrix: Any, _font: Any, size: float) -> None:
        """Note a piece of text."""
        if text:
            _, _, c, d, e, f = text_matrix
            scale = hypot(c * matrix[0] + d * matrix[2], c * matrix[1] + d * matrix[3])
            height = e * matrix[1] + f * matrix[3] + matrix[5] + self.rise * scale
            self.pieces.append(_Piece(text, height, size * scale, bool(self.rise)))


def page_text(page: Any, reader: Superscripts) -> str:
    """Return the text of a page, by the `reader` of its document."""
    if page.get("/Contents") is None:
        return ""
    # "bytes" as in extract_text: a font, and not the file, says which letters they are.
    contents = ContentStream(page["/Contents"].get_object(), page.pdf, "bytes")
    contents.operations = list(_with_fonts(contents.operations))
    page[NameObject("/Contents")] = contents
    pieces = _Pieces()
    page.extract_text(visitor_operand_before=pieces.operator, visitor_text=pieces.text)
    return _SLASH.sub("/", _read(pieces.pieces, reader))


def _with_fonts(operations: Sequence[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    """Set the font again before text moves, so that pypdf ends a piece there."""
    font: Any = None
    saved: list[Any] = []
    for operands, operator in operations:
        if operator == b"Tf":
            font = operands
        elif operator == b"q":
            saved.append(font)
        elif operator == b"Q" and saved:
            font = saved.pop()
        elif operator in (b"Td", b"TD", b"Tm", b"Ts") and font is not None:
            yield font, b"Tf"
        yield operands, operator


def _read(pieces: Sequence[_Piece], reader: Superscripts) -> str:
    """Return the text of the pieces, with text above or below a line read as raised or lowered."""
    written = ""
    texts: list[str] = []
    for line in _lines(pieces):
        base: _Piece | None = None
        at = 0
        while at < len(line):
            start, at = at, at + 1
            nearest = base or next((p for p in line[at : at + _NEAR] if p.text.strip()), None)
            direction = _direction(line[start], nearest)
            while direction and at < len(line) and _direction(line[at], nearest) == direction:
                at += 1
            text = "".join(piece.text for piece in line[start:at])
            if direction:
                after = "".join(piece.text for piece in line[at : at + _NEAR])
                text = _off_line(written, text, after.partition("\n")[0], direction, reader)
            elif text.strip():
                base = line[start]
            texts.append(text)
            written = (written + text).rpartition("\n")[2][-CONTEXT:]
    return "".join(texts)


def _lines(pieces: Sequence[_Piece]) -> Iterator[Sequence[_Piece]]:
    start = 0
    for end, piece in enumerate(pieces, 1):
        if "\n" in piece.text or end == len(pieces):
            yield pieces[start:end]
            start = end


def _direction(piece: _Piece, line: _Piece | None) -> int:
    """Return 1 for text above a line, -1 for text below it, else 0."""
    text = piece.text.strip()
    if line is None or not text or len(text) > _LONGEST:
        return 0
    off = piece.height - line.height
    smaller = piece.size <= line.size * _SMALLER or (piece.rises and piece.size <= line.size)
    if not smaller or not line.size * _OFF_LINE < abs(off) < line.size:
        return 0
    return 1 if off > 0 else -1


def _off_line(before: str, text: str, after: str, direction: int, reader: Superscripts) -> str:
    stripped = text.strip()
    read = reader.read if direction > 0 else read_lowered
    end = text[len(text.rstrip()) :]
    return read(before.rstrip(), stripped, end + after) + end
