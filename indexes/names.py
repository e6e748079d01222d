"""Titles and aliases: which pages a name stands for, and which such names a text holds.

`aliases.arrow` has one row for each (name, page): the title of each page and the titles of the
redirects to it, as MediaWiki normalises them, sorted by their UTF-8 bytes so that a look-up is a
binary search in a memory-mapped file, whatever the number of names.
"""

import re
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from indexes.store import read_mapped
from indexes.tokens import STOP_WORDS

ALIASES = "aliases.arrow"
ALIAS_SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("page", pa.int64(), nullable=False),
        pa.field("is_title", pa.bool_(), nullable=False),
    ]
)

_KEPT_NAMES = 65_536
_LONGEST_NAME = 6  # words; fewer than 1 in 100 titles that are named in prose are longer
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")


def normal_name(name: str) -> str:
    """Return the title MediaWiki makes of `name`: single spaces, its first letter a capital.

    https://www.mediawiki.org/wiki/Manual:Page_title: underscores and spaces are the same, runs of
    them count once, and the first letter's case does not matter.
    """
    words = " ".join(name.replace("_", " ").split())
    # Not str.capitalize(), and not where upper() gives two letters ("ß"): MediaWiki leaves those.
    first = words[:1].upper()
    return first + words[1:] if len(first) == 1 else words


class NameTable:
    """The pages of a name; safe for readers in several threads."""

    def __init__(self, folder: Path) -> None:
        table = read_mapped(folder / ALIASES)
        self._names = table.column("name")
        self._pages = table.column("page")
        self.pages = lru_cache(_KEPT_NAMES)(self._pages_of)

    def __len__(self) -> int:
        return len(self._names)

    def _pages_of(self, name: str) -> tuple[int, ...]:
        """Return the pages (rows of `pages.arrow`) of a normalised name: none, one or several."""
        wanted = name.encode("utf-8", "replace")
        at = bisect_left(range(len(self._names)), wanted, key=self._bytes_at)
        pages: list[int] = []
        while at < len(self._names) and self._bytes_at(at) == wanted:
            pages.append(self._pages[at].as_py())
            at += 1
        return tuple(pages)

    def _bytes_at(self, at: int) -> bytes:
        name: str = self._names[at].as_py()
        return name.encode("utf-8")

    def names_in(self, text: str) -> list[str]:
        """Return the normalised names of pages that `text` mentions, in order, longest first.

        A name starts with a capital or a digit in the text and does not overlap another; a single
        word that is grammar ("The", "It") is none, although Wikipedia has a page for it.
        """
        spans = [match.span() for match in _WORD.finditer(text)]
        found: dict[str, None] = {}
        at = 0
        while at < len(spans):
            length, name = self._longest_at(text, spans, at)
            if name:
                found[name] = None
            at += length
        return list(found)

    def _longest_at(self, text: str, spans: list[tuple[int, int]], at: int) -> tuple[int, str]:
        start = spans[at][0]
        if not (text[start].isupper() or text[start].isdigit()):
            return 1, ""
        for length in range(min(_LONGEST_NAME, len(spans) - at), 0, -1):
            written = text[start : spans[at + length - 1][1]]
            for name in (written, *_without_ending(written)):
                if length == 1 and (len(name) < 2 or name.lower() in STOP_WORDS):
                    continue
                normal = normal_name(name)
                if self.pages(normal):
                    return length, normal
        return 1, ""


def _without_ending(written: str) -> tuple[str, ...]:
    """Return `written` without its full stop and without its possessive, where it has these."""
    plain = written.rstrip(".…'’")
    owner = plain[:-2] if plain.endswith(("'s", "’s")) else plain
    return tuple(dict.fromkeys(form for form in (plain, owner) if form and form != written))
