"""Split input files into slices that are processed in parallel.

A multistream dump is a sequence of bzip2 streams of a hundred pages each, which are found by their
first bytes. Any other file is read completely
by each of several readers, and each processes a share of its blocks: reading takes a fraction of
the time of processing. The numbers of blocks do not depend on the number of readers.
"""

import bz2
import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ufo.indexes.compressed import InputDamaged, read_chunks

SLICE_BYTES = 4 << 20  # of the compressed file
SHARED_BYTES = 4 << 20  # a smaller file has one reader

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_INDEX_NAME = re.compile(r"-multistream-index\d*\.txt")


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an input file, at position `file` among the inputs.

    It consists of the bytes `start` to `end` (None: the end of the file), and of its blocks those
    whose number modulo `shares` is `share`.
    """

    file: int
    path: str
    number: int = 0
    start: int = 0
    end: int | None = None
    share: int = 0
    shares: int = 1


def is_stream_index(path: Path) -> bool:
    """Return whether a file is the index of a multistream dump, by its name."""
    return bool(_INDEX_NAME.search(path.name))


def slices_of(path: Path, file: int, workers: int, slice_bytes: int = SLICE_BYTES) -> list[Slice]:
    """Return the slices of a file; each block is in exactly one of them."""
    starts = [0]
    for offset in _stream_offsets(path):
        if offset - starts[-1] >= slice_bytes:
            starts.append(offset)
    if len(starts) > 1:
        ends = [*starts[1:], None]
        return [
            Slice(file, str(path), number, start, end)
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
    shares = workers if path.stat().st_size > SHARED_BYTES else 1
    return [Slice(file, str(path), share=share, shares=shares) for share in range(shares)]


def slice_chunks(part: Slice) -> Iterator[bytes]:
    """Yield the decompressed bytes of a slice, completed to a whole XML document.

    Raises:
        InputDamaged: after the last readable byte.
    """
    path = Path(part.path)
    if part.start:
        yield _header(path)
    yield from read_chunks(path, part.start, part.end)
    if part.end is not None:
        yield b"</mediawiki>"


def _header(path: Path) -> bytes:
    """Return the first stream of a dump, which describes the wiki."""
    decompressor = bz2.BZ2Decompressor()
    with path.open("rb") as stream:
        try:
            return decompressor.decompress(stream.read(1 << 20), max_length=1 << 20)
        except OSError as error:
            raise InputDamaged(f"damaged bzip2 data: {error}") from None


def _stream_offsets(path: Path) -> list[int]:
    """Return the offsets of the bzip2 streams of a file, ascending; none for other files."""
    with path.open("rb") as stream:
        if not _STREAM.match(stream.read(10)):
            return []
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        # The probability of these 10 bytes elsewhere in compressed data is 10^-15 for each GB.
        return [match.start() for match in _STREAM.finditer(data)]
