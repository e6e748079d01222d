"""Random access to the rows of an Arrow IPC file.

The file is memory-mapped only to find the offsets of values, which are then read by `os.pread`.
Reading them through the map causes a page fault for each column, which maps fifteen more pages:
that took twice as long, and the pages count as memory of the process.
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

_KEPT_BATCHES = 8192  # cached layouts, of about 1 KB each
_ENDS = Struct("<ii")  # the start and end offsets of a string in its batch
_NUMBERS = {pa.int32(): Struct("<i"), pa.int64(): Struct("<q")}


class _Column(NamedTuple):
    """File offsets of the buffers of one column of a batch.

    `present` is the validity bitmap, None where there are no nulls. `values` are the numbers, or
    the offsets of strings in `letters`; None where all values are null.
    """

    number: Struct | None
    present: int | None
    values: int | None
    letters: int


class Rows:
    """The rows of an uncompressed file of strings and integers; safe for several threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        content = mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)
        buffer = pa.py_buffer(content)
        table = pa.ipc.open_file(buffer).read_all()
        # Release the pages that were mapped by opening.
        if hasattr(mmap, "MADV_DONTNEED"):  # not on every system
            content.madvise(mmap.MADV_DONTNEED)
        self._start = buffer.address
        self._columns = table.columns
        self._ends = list(accumulate(len(chunk) for chunk in table.column(0).chunks))
        self._layout = lru_cache(_KEPT_BATCHES)(self._layout_of)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def read(self, row: int) -> list[Any]:
        """Return the values of a row, by column; IndexError if there is no such row."""
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
