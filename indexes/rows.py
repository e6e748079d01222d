"""Rows of an Arrow IPC file, read at random.

The file is mapped to learn where its values lie, and they are then read there. To touch them in the
map would be a page fault or more a column, each of which maps fifteen pages beside the one wanted:
that took twice as long, and all of it counts as memory of the process until it is given back.
"""

import mmap
import os
import weakref
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import pyarrow as pa

_KEPT_BATCHES = 8192  # whose layout is kept, of about 1 KB each
_ENDS = Struct("<ii")  # of a text: where it begins and ends among those of its batch
_NUMBERS = {pa.int32(): Struct("<i"), pa.int64(): Struct("<q")}


class _Column(NamedTuple):
    """Where a column of one batch lies in the file.

    `present` has a bit for each value that is there, or is None where all are. `values` are the
    numbers, or the ends of the texts in `letters`, and None where no value is there.
    """

    number: Struct | None
    present: int | None
    values: int | None
    letters: int


class Rows:
    """Random access to the rows of a file of texts and numbers, uncompressed; safe for threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        content = mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)
        buffer = pa.py_buffer(content)
        table = pa.ipc.open_file(buffer).read_all()
        # Opening has touched the beginning of each batch.
        if hasattr(mmap, "MADV_DONTNEED"):  # not on every system
            content.madvise(mmap.MADV_DONTNEED)
        self._start = buffer.address
        self._columns = table.columns
        self._ends = list(accumulate(len(chunk) for chunk in table.column(0).chunks))
        self._layout = lru_cache(_KEPT_BATCHES)(self._layout_of)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def read(self, row: int) -> list[Any]:
        """Return the values of a row, by column; IndexError for a row that is not there."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} is not in 0..{len(self) - 1}")
        batch = bisect_right(self._ends, row)
        at = row - (self._ends[batch - 1] if batch else 0)
        return [self._value(column, at) for column in self._layout(batch)]

    def _value(self, column: _Column, at: int) -> Any:
        number, present, values, letters = column
        if values is None:
            return None
        if present is not None and not os.pread(self._file, 1, present + at // 8)[0] >> at % 8 & 1:
            return None
        if number is not None:
            return number.unpack(os.pread(self._file, number.size, values + at * number.size))[0]
        first, last = _ENDS.unpack(os.pread(self._file, _ENDS.size, values + at * 4))
        return os.pread(self._file, last - first, letters + first).decode() if last > first else ""

    def _layout_of(self, batch: int) -> list[_Column]:
        return [self._place(column.chunk(batch)) for column in self._columns]

    def _place(self, values: pa.Array) -> _Column:
        number = _NUMBERS.get(values.type)
        if values.null_count == len(values):
            return _Column(number, None, None, 0)
        present, first, letters = (*map(self._position, values.buffers()), None)[:3]
        return _Column(number, present, first, letters or 0)

    def _position(self, buffer: pa.Buffer | None) -> int | None:
        return None if buffer is None else int(buffer.address - self._start)
