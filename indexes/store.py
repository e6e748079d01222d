"""Read passages by row from the passage store: uncompressed, memory-mapped Arrow IPC files.

`passages.arrow` has a row for each passage, with the passages of a page in sequence. `pages.arrow`
has a row for each page, with the rows of its passages. Reading ten random passages takes 0.1 ms,
against 9 to 42 ms from Parquet.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ufo.schemas.records import Passage, passage_id
from ufo.schemas.text import host_of

PASSAGES = "passages.arrow"
PAGES = "pages.arrow"

PASSAGE_SCHEMA = pa.schema(
    [
        pa.field("title", pa.string(), nullable=False),
        pa.field("section", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("page_id", pa.int64()),
        pa.field("revision_id", pa.int64()),
        pa.field("published_at", pa.string()),
        pa.field("text", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
    ]
)
PAGE_SCHEMA = pa.schema(
    [
        pa.field("title", pa.string(), nullable=False),
        pa.field("first_row", pa.int64(), nullable=False),
        pa.field("n_passages", pa.int32(), nullable=False),
    ]
)

_KEPT_PASSAGES = 8192


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage in the index.

    `section` is "" for the lead section, else its headings joined by " > ". `ordinal` counts the
    passages of the page from 0. `published_at` is an ISO 8601 date.
    """

    title: str
    section: str
    url: str | None
    page_id: int | None
    revision_id: int | None
    published_at: str | None
    text: str
    ordinal: int

    def as_passage(self, source: str, category: str = "wiki") -> Passage:
        """Return the row of the table `passages` for the fact source named `source`."""
        return _as_passage(self, source, category)


@lru_cache(_KEPT_PASSAGES)  # the same passages are retrieved for many claims
def _as_passage(stored: StoredPassage, source: str, category: str) -> Passage:
    return Passage(
        text=stored.text,
        title=stored.title,
        section=stored.section or None,
        url=stored.url,
        hostname=host_of(stored.url) or None,
        source_category=category,
        published_at=stored.published_at,
        source=source,
        passage_id=passage_id(source, stored.url, stored.text, stored.ordinal),
    )


def read_mapped(path: Path) -> pa.Table:
    """Return the memory-mapped table of an Arrow IPC file."""
    # The table's buffers own the map.
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def column_view(table: pa.Table, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers, written as one batch, as an array without copying."""
    column = table.column(name)
    values = column.chunk(0) if column.num_chunks else column.combine_chunks()
    # Arrow's `to_numpy` imports pandas, which takes longer than all the rest of opening an index.
    view: npt.NDArray[Any] = np.from_dlpack(values)
    return view


class PassageStore:
    """Random access to the passages of an index folder; safe for readers in several threads."""

    def __init__(self, folder: Path) -> None:
        self._passages = read_mapped(folder / PASSAGES)
        pages = read_mapped(folder / PAGES)
        self._first_row: npt.NDArray[np.int64] = column_view(pages, "first_row")
        self._n_passages: npt.NDArray[np.int32] = column_view(pages, "n_passages")
        self._get_one = lru_cache(_KEPT_PASSAGES)(self._read)

    def __len__(self) -> int:
        return int(self._passages.num_rows)

    def get(self, rows: Sequence[int]) -> list[StoredPassage]:
        """Return the passages of `rows`, in that order; IndexError if there is no such row."""
        return [self._get_one(row) for row in rows]

    def rows_of_pages(self, pages: Iterable[int], most: int | None = None) -> list[int]:
        """Return the rows of the passages of pages (rows of `pages.arrow`), at most `most` each."""
        rows: list[int] = []
        for page in pages:
            first, count = int(self._first_row[page]), int(self._n_passages[page])
            rows.extend(range(first, first + (count if most is None else min(count, most))))
        return rows

    def page_of_row(self, row: int) -> int:
        """Return the page (row of `pages.arrow`) of a passage."""
        # A page without passages has the same first row as the next page, and precedes it.
        return int(np.searchsorted(self._first_row, row, "right")) - 1

    def _read(self, row: int) -> StoredPassage:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is not in 0..{len(self) - 1}")
        return StoredPassage(*(column[row].as_py() for column in self._passages.columns))
