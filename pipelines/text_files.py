"""Read a file of Markdown, plain text, HTML or PDF as a document of an index.

HTML and PDF are read as the web source reads pages: the main text, in a process with limits. Text
and Markdown are UTF-8, or UTF-16 with a byte order mark; another encoding is refused, since it
could only be guessed.
"""

import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ufo.schemas.dependencies import need
from ufo.schemas.documents import Document, Section
from ufo.schemas.row import UnusableValue
from ufo.schemas.text import decode, storable

if TYPE_CHECKING:
    from ufo.transforms.sources.web.readers import Readers

_MAX_BYTES: Final = 64 << 20
_MARKDOWN: Final = (".md", ".markdown")
_TEXT: Final = (".txt", ".text")
_NO_TITLES: Final = ("", "anonymous", "unspecified", "untitled", "untitled document")  # of PDFs
_TYPES: Final = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
}


class TextFiles:
    """A reader of text files; close it, since pages are read in a process of their own."""

    def __init__(self) -> None:
        self._readers: Readers | None = None

    def read(self, path: Path, name: str) -> Document:
        """Return the document of a file, whose address is its `name` in the input.

        Raises:
            UnusableValue: the file cannot be read; the message says why.
        """
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise UnusableValue(f"the file is over {_MAX_BYTES:,} bytes; split it")
        suffix = path.suffix.lower()
        body = path.read_bytes()
        if suffix in _TYPES:
            return self._page(body, _TYPES[suffix], path, name)
        try:
            text = storable(decode(body))
        except ValueError as error:
            raise UnusableValue(str(error)) from None
        if suffix in _MARKDOWN:
            title, sections = parse_markdown(text)
        else:
            title, sections = None, (Section("", _lines(text)),)
        return Document(title or storable(path.stem), sections, name)

    def close(self) -> None:
        """End the process that reads pages."""
        if self._readers is not None:
            self._readers.close()

    def _page(self, body: bytes, kind: str, path: Path, name: str) -> Document:
        # These need the extra `web`; text and Markdown do not.
        from ufo.transforms.sources.web.documents import FetchedPage
        from ufo.transforms.sources.web.readers import Readers

        if self._readers is None:
            self._readers = Readers(at_once=1)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        page = self._readers.read(FetchedPage(name, name, 200, kind, body, None, now))
        if page.reason:
            raise UnusableValue(f"no text: {page.reason.replace('_', ' ')} {page.detail}".strip())
        stated = page.title or ""
        title = storable(path.stem) if stated.strip("() ").lower() in _NO_TITLES else stated
        return Document(title, (Section("", _lines(page.text)),), name)


def check_installed(paths: list[Path]) -> None:
    """Check that the packages for reading these files are installed.

    Raises:
        UsageError: HTML or PDF is among them, and the extra is not installed.
    """
    page = next((path for path in paths if path.suffix.lower() in _TYPES), None)
    if page is not None:
        need("web", f"reading {page}")


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in map(str.strip, text.splitlines()) if line)


# --- Markdown -------------------------------------------------------------------------------------

_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE: Final = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^\S{1,50}?\]:?")
_LINKED_NOTE: Final = re.compile(r"\^\S{1,50}")  # of a note that is nothing but an address
_TAG: Final = re.compile(r"<(/?)([a-z]\w{0,20})\b[^>]*>", re.IGNORECASE)
_HIDDEN_BLOCK: Final = re.compile(r"\s*<(?:script|style|template)\b", re.IGNORECASE)
_LEFT_OUT: Final = "\0"  # in place of removed text, so that the numbers around it stay two
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)\0+(?=\d)")
_STRUCK: Final = ("s", "del", "strike")
_INLINE: Final = """
    a abbr b bdi bdo big cite code data dfn em font i ins kbd mark q samp small span strong time tt
    u var
"""
_WITHIN_WORDS: Final = _INLINE.split()
"""Elements of HTML before and after which a word goes on."""
_PARSER: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def parse_markdown(text: str) -> tuple[str | None, tuple[Section, ...]]:
    """Return the title of a Markdown text, from its front matter or first heading, and sections.

    Sections have the text that a reader sees: no marks, no comments and no struck-out text.
    """
    text = text.replace("\r\n", "\n")
    title = None
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        if stated := _TITLE.search(front[1]):
            title = stated[1].strip("\"'")
    headings: list[tuple[int, str]] = []
    sections: list[tuple[str, list[str]]] = [("", [])]
    tokens = _PARSER.parse(text)
    row: list[str] | None = None  # the cells of a row of a table
    for before, token in pairwise([Token("", "", 0), *tokens]):
        lines = sections[-1][1]
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            lines.append(" | ".join(filter(None, row or [])))
            row = None
        elif token.type == "inline" and before.type == "heading_open":
            heading, level = " ".join(_visible_text(token).split()), int(before.tag[1:])
            if title is None and not headings:
                title = heading
                continue
            headings = [(depth, name) for depth, name in headings if depth < level]
            headings.append((level, heading))
            sections.append((" > ".join(name for _, name in headings), []))
        elif token.type == "inline" and row is not None:
            row.append(_visible_text(token))
        elif token.type == "inline":
            lines.extend(_lines(_visible_text(token)))
        elif token.type in ("fence", "code_block"):
            lines.extend(_lines(token.content))
        elif token.type == "html_block" and not _HIDDEN_BLOCK.match(token.content):
            lines.extend(_lines(_visible_text(_PARSER.parseInline(token.content)[0])))
    return title, tuple(Section(heading, tuple(lines)) for heading, lines in sections if lines)


def _visible_text(inline: Token) -> str:
    """Return the visible text of a paragraph, a heading or a cell."""
    shown = ""
    struck = linked = 0
    for token in inline.children or ():
        if token.type in ("s_open", "s_close"):
            struck += token.nesting
            shown += _LEFT_OUT
        elif token.type in ("link_open", "link_close"):
            linked += token.nesting
        elif token.type == "html_inline":
            tag = _TAG.fullmatch(token.content)
            name, opens = (tag[2].lower(), not tag[1]) if tag else ("", False)
            if name in _STRUCK:
                struck += 1 if opens else -1
                shown += _LEFT_OUT
            elif struck <= 0:
                shown += _tag_separator(name, opens, shown)
        elif struck > 0 or token.type == "image":
            shown += _LEFT_OUT
        elif token.type in ("softbreak", "hardbreak"):
            shown += " " if token.type == "softbreak" else "\n"
        elif not (linked and _LINKED_NOTE.fullmatch(token.content)):
            shown += token.content
    shown = _FOOTNOTE.sub(_LEFT_OUT, shown)
    return _BETWEEN_DIGITS.sub(" ", shown).replace(_LEFT_OUT, "").strip()


def _tag_separator(name: str, opens: bool, before: str) -> str:
    """Return the text in place of an HTML tag, so that words around it stay separate."""
    if name in ("sup", "sub"):
        if not opens:
            return _LEFT_OUT
        # A chemical formula and an index are written without a sign: H2O.
        return "^" if name == "sup" else "_" if before[-1:].isdigit() else ""
    if not name or name in _WITHIN_WORDS:  # a comment has no name
        return ""
    return "\n" if name in ("br", "p", "div", "li", "tr", "h1", "h2", "h3") else " "
