"""Read documents to index: rows with a title and a text, and files of text in a folder.

A row is read as `ufo.schemas.rows` reads the input of an evaluation. Its title, text, address and
id are in the columns that `--map` names, else in those that are usual: `title`, `text`, `url` and
`id` (DPR, wikiextractor), those of KILT, or Pyserini's `contents`, whose first line is the title.
How a file of text is read is given by the caller, since PDF and HTML need other packages.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from ufo.schemas.compression import InputDamaged
from ufo.schemas.row import OF_CELLS, UnusableValue, kind_of, object_of, value_at
from ufo.schemas.rows import HEAD_BYTES, PARQUET, as_json_lines, format_of, lines_of
from ufo.schemas.text import storable

Columns = Mapping[str, str]
"""The column, or the path of a field, for each of `KEYS` that has no usual column."""
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title", "wikipedia_title"),
    "text": ("text", "contents"),
    "url": ("url", "history.url"),
    "id": ("id", "_id", "wikipedia_id"),
}
KEYS: Final = tuple(_USUAL)
_LONGEST_ID: Final = 19  # digits, so that it fits the table
_TITLED: Final = "contents"  # a column whose first line is the title

EXTENSIONS: Final = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".xhtml", ".pdf")
"""The extensions of text files."""


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A row as JSON, or the path of a file of text with its `name` in the input; `problem` says why
    it cannot be read, else ""."""

    json: bytes = b""
    problem: str = ""
    path: Path | None = None
    name: str = ""


class Section(NamedTuple):
    """A section of a document; `heading` is "" for what precedes the first heading, and has those
    of the sections around it, joined by " > "."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its title and sections; `page_id` is its id if that is a number."""

    title: str
    sections: tuple[Section, ...]
    url: str | None = None
    page_id: int | None = None


ReadFile = Callable[[Path, str], Document]
"""Reads a file of text, given its path and its name in the input.

It raises UnusableValue if it cannot.
"""


# --- files ----------------------------------------------------------------------------------------


def is_text_file(path: Path) -> bool:
    """Return whether a file is one document, by its extension and because it has no JSON rows."""
    if path.suffix.lower() not in EXTENSIONS:
        return False
    with path.open("rb") as stream:
        return not stream.read(HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[{"))


def text_files(folder: Path) -> tuple[list[Path], Counter[str]]:
    """Return the text files below a folder, sorted, and the numbers of other files by extension.

    Hidden files and folders, and folders that cannot be read, are counted apart."""
    paths: list[Path] = []
    others: Counter[str] = Counter()
    unreadable: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=unreadable.append):
        hidden = {name for name in (*folders, *names) if name.startswith(".")}
        others["hidden"] += len(hidden)
        folders[:] = [name for name in folders if name not in hidden]
        for path in (Path(place, name) for name in names if name not in hidden):
            if path.suffix.lower() in EXTENSIONS:
                paths.append(path)
            else:
                others[path.suffix.lower() or "without extension"] += 1
    others["folders that cannot be read"] = len(unreadable)
    return sorted(paths), +others


def documents_in(path: Path) -> Iterator[RawDocument]:
    """Yield a document for each text file of a folder, or for a single file."""
    if not path.is_dir():
        yield RawDocument(path=path, name=storable(path.name))
        return
    for file in text_files(path)[0]:
        yield RawDocument(path=file, name=storable(file.relative_to(path).as_posix()))


# --- rows -----------------------------------------------------------------------------------------


def read_rows(path: Path, columns: Columns) -> Iterator[RawDocument]:
    """Yield a document for each row, also for blank lines, so that positions are line numbers."""
    named = {name for key in KEYS for name in _columns_of(key, columns)}
    read = {*named, *(name.partition(".")[0] for name in named)}

    def used(column: str) -> bool:
        return column in read or column.strip().lower() in read

    form = ""
    try:
        with path.open("rb") as stream:
            form = format_of(stream.read(HEAD_BYTES))
            stream.seek(0)
            with closing(as_json_lines(form, stream, used)) as blocks:
                first = next(blocks, b"")
                _refuse_text(first)
                yield from map(RawDocument, lines_of(chain([first], blocks)))
    except InputDamaged as error:
        yield RawDocument(problem=f"{error}; reading stopped at this line")
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"not readable as {PARQUET}: {error}" if form == PARQUET else str(error)
        yield RawDocument(problem=what)


def _refuse_text(chunk: bytes) -> None:
    lines = chunk.removeprefix(b"\xef\xbb\xbf").splitlines()
    if chunk.strip() and not any(line.lstrip().startswith(b"{") for line in lines):
        shown = chunk[:40].decode("utf-8", "replace").strip()
        raise ValueError(
            f"it is neither a MediaWiki XML export nor rows of a known format; it begins {shown!r}"
        )


def document_of(line: bytes, columns: Columns) -> Document:
    """Return the document of a row.

    Raises:
        UnusableValue: it has no title or no text; the message says which fields it has.
    """
    row = object_of(line)
    of_cells = row.pop(OF_CELLS, False)
    names = list(row)
    if of_cells:
        row = {name: value for name, value in row.items() if value != ""}
    title, text, url, number = _values(row, columns)
    if title is None or text is None:  # the names may have capital letters or spaces
        row = {name.strip().lower(): value for name, value in row.items()} | row
        title, text, url, number = _values(row, columns)
    if title is None and isinstance(text, str) and text == row.get(_TITLED) and "\n" in text:
        title, _, text = text.partition("\n")
        title = title.removeprefix('"').removesuffix('"')
    for key, value in (("title", title), ("text", text)):
        if value is None:
            raise UnusableValue(_missing(key, names, columns))
    if isinstance(title, (int, float)) and not isinstance(title, bool):
        title = str(title)
    if not isinstance(title, str) or not title.strip():
        raise UnusableValue(f"no title: {title!r}; a text that is not empty is needed")
    if url is not None and not isinstance(url, str):
        raise UnusableValue(f"the url is {kind_of(url)}; a text or nothing is needed")
    title = " ".join(storable(title).split())
    name = str(number) if isinstance(number, (str, int)) else ""
    page_id = int(name) if name.isdecimal() and len(name) < _LONGEST_ID else None
    if page_id is None:
        url = url or name
    return Document(title, _sections(text, title), storable(url) if url else None, page_id)


def _columns_of(key: str, columns: Columns) -> tuple[str, ...]:
    return (columns[key],) if key in columns else _USUAL[key]


def _values(row: Mapping[str, Any], columns: Columns) -> list[Any]:
    """Return the value of each of `KEYS`, from its first column that has one."""
    values = []
    for key in KEYS:
        value = None
        for name in _columns_of(key, columns):
            value = value_at(row, name)
            if value is not None:
                break
        values.append(value)
    return values


def _missing(key: str, names: list[str], columns: Columns) -> str:
    named = f"; --map says {columns[key]!r}" if key in columns else ""
    return (
        f"no {key}{named}; the fields are {', '.join(names) or 'none'}; say which has it, as in "
        "--map title=FIELD,text=FIELD"
    )[:1_000]


_HEADING: Final = "Section::::"  # as KILT marks the headings and the items of lists
_ITEM: Final = "BULLET::::- "


def _sections(text: Any, title: str) -> tuple[Section, ...]:
    """Return the sections of a text, or of a list of paragraphs, which may have KILT's marks."""
    if isinstance(text, str):
        lines = _stripped(text)
        return (Section("", lines),) if lines else ()
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in (line for paragraph in _texts(text) for line in _stripped(paragraph)):
        if line.startswith(_HEADING):
            names = line.removeprefix(_HEADING).rstrip(".").split(".:")
            sections.append((" > ".join(names), []))
        elif line != title:
            sections[-1][1].append(line.removeprefix(_ITEM))
    return tuple(Section(heading, tuple(lines)) for heading, lines in sections if lines)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        raise UnusableValue(f"no text: {kind_of(value)}; a text or a list of texts is needed")


def _stripped(text: str) -> tuple[str, ...]:
    return tuple(line for line in map(str.strip, storable(text).splitlines()) if line)
