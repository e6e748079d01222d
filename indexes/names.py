"""Titles and aliases: which pages a name stands for, and which such names a text holds.

`aliases.arrow` has one row for each (name, page): the title of each page, the titles of the
redirects to it, and titles without what tells them apart ("Big Stone Gap" for "Big Stone Gap
(film)"), all as MediaWiki normalises them. It is sorted by a 64-bit hash of the name, so that all
names a text may hold are looked up in one search of a memory-mapped column, whatever their number.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from indexes.store import column_view, read_mapped
from indexes.tokens import STOP_WORDS

ALIASES = "aliases.arrow"
ALIAS_SCHEMA = pa.schema(
    [
        pa.field("key", pa.uint64(), nullable=False),
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("page", pa.int64(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
    ]
)
TITLE, ALIAS, BASE = 0, 1, 2  # kinds of a name, the better first

_KEPT_NAMES = 65_536
_KEPT_TEXTS = 8_192
_MOST_PAGES = 20  # of one name; "John Smith (…)" has hundreds, and names nobody
_LONGEST_NAME = 6  # words; fewer than 1 in 100 titles that are named in prose are longer
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")
_ENDINGS = (".", "…", "'", "’", "'s", "’s")
_TOLD_APART = re.compile(r"(.*\S)\s*\([^()]*\)")

Keys = npt.NDArray[np.uint64]


def normal_name(name: str) -> str:
    """Return the title MediaWiki makes of `name`: single spaces, its first letter a capital.

    https://www.mediawiki.org/wiki/Manual:Page_title: underscores and spaces are the same, runs of
    them count once, and the first letter's case does not matter.
    """
    words = " ".join(name.replace("_", " ").split())
    # Not str.capitalize(), and not where upper() gives two letters ("ß"): MediaWiki leaves those.
    first = words[:1].upper()
    return first + words[1:] if len(first) == 1 else words


def base_name(title: str) -> str:
    """Return a title without the words in brackets that tell it from others of the same name."""
    match = _TOLD_APART.fullmatch(title)
    return match[1] if match else title


def name_table(titles: Sequence[str], names: Sequence[str], pages: Sequence[int]) -> pa.Table:
    """Return the rows of `aliases.arrow`: `titles` by page, and the aliases `names` of `pages`."""
    normal = list(map(normal_name, titles))
    bases = [(base, page) for page, name in enumerate(normal) if (base := base_name(name)) != name]
    every = [*normal, *names, *(base for base, _ in bases)]
    columns = [
        pa.array(name_keys(every)),
        pa.array([TITLE] * len(normal) + [ALIAS] * len(names) + [BASE] * len(bases), pa.int8()),
        pa.array([*range(len(normal)), *pages, *(page for _, page in bases)], pa.int64()),
        pa.array(every, pa.string()),
    ]
    order = [(name, "ascending") for name in ALIAS_SCHEMA.names]
    return pa.Table.from_arrays(columns, schema=ALIAS_SCHEMA).sort_by(order).combine_chunks()


def name_keys(names: Iterable[str]) -> Keys:
    """Return the hash of each name: the same in every process, unlike Python's own."""
    return np.fromiter(
        (
            int.from_bytes(
                blake2b(name.encode("utf-8", "replace"), digest_size=8).digest(), "little"
            )
            for name in names
        ),
        np.uint64,
    )


class NameTable:
    """The pages of a name; safe for readers in several threads."""

    def __init__(self, folder: Path) -> None:
        table = read_mapped(folder / ALIASES)
        self._keys: Keys = column_view(table, "key")
        self._pages: npt.NDArray[np.int64] = column_view(table, "page")
        self.pages = lru_cache(_KEPT_NAMES)(self._pages_of)
        self.names_in = lru_cache(_KEPT_TEXTS)(self._names_in)

    def __len__(self) -> int:
        return len(self._keys)

    def _pages_of(self, name: str) -> tuple[int, ...]:
        """Return the pages (rows of `pages.arrow`) of a normalised name: none, one or several.

        Those that have it as title come first, then those that have it as alias, then those whose
        title is told apart from it; of a name that many share, the first 20.
        """
        first, last = (int(at[0]) for at in self._found(name_keys([name])))
        return tuple(dict.fromkeys(self._pages[first : min(last, first + _MOST_PAGES)].tolist()))

    def _found(self, keys: Keys) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return for each key where its rows begin and end."""
        first: Any = np.searchsorted(self._keys, keys, "left")
        return first, np.searchsorted(self._keys, keys, "right")

    def _names_in(self, text: str) -> tuple[str, ...]:
        """Return the normalised names of pages that `text` mentions, in order, longest first.

        A name starts with a capital or a digit in the text and does not overlap another; a single
        word that is grammar ("The", "It") is none, although Wikipedia has a page for it.
        """
        written = list(_candidates(" ".join(text.replace("_", " ").split())))
        first, last = self._found(name_keys(name for _, _, name in written))
        found: dict[str, None] = {}
        free = 0  # the first word that no name has taken yet
        for (at, length, name), known in zip(written, (last > first).tolist(), strict=True):
            if known and at >= free:
                found[name] = None
                free = at + length
        return tuple(found)


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (first word, number of words, name) of what may be a name, longest first.

    `text` has single spaces, so that what is cut out of it is written as a normal name is.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    # Few names end with such a word in lower case, and many a phrase does: "Bank of the".
    ends = [text[start:end] not in STOP_WORDS for start, end in spans]
    for at, (start, _) in enumerate(spans):
        if not (text[start].isupper() or text[start].isdigit()):
            continue
        for length in range(min(_LONGEST_NAME, len(spans) - at), 0, -1):
            if not ends[at + length - 1]:
                continue
            written = text[start : spans[at + length - 1][1]]
            for name in _forms(written):
                if length > 1 or (len(name) > 1 and name.lower() not in STOP_WORDS):
                    yield at, length, name


def _forms(written: str) -> tuple[str, ...]:
    """Return `written`, and it without its full stop and its possessive where it has these."""
    if not written.endswith(_ENDINGS):
        return (written,)
    plain = written.rstrip(".…'’")
    owner = plain[:-2] if plain.endswith(("'s", "’s")) else plain
    return tuple(dict.fromkeys((written, plain, owner)))
