"""Split input files, plain or compressed, into slices that are processed in parallel.

A multistream dump is a sequence of bzip2 streams of a hundred pages each, which are found by their
first bytes. Any other file is read completely by each of several readers, and each processes a
share of its blocks: reading takes a fraction of the time of processing. The numbers of blocks do
not depend on the number of readers. Decompression is incremental, so that everything before the
damage in a file is read; the standard library's file objects lose their buffer when they raise.
"""

import bz2
import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

_CHUNK = 1 << 20
_BZIP2 = b"BZh"
_GZIP = b"\x1f\x8b"


class InputDamaged(Exception):
    """A file cannot be decompressed further; the bytes before the damage were yielded."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def read_chunks(path: Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in order, at most a few MB at a time.

    `start` and `end` are offsets in the compressed file; `start` must be the beginning of a stream.
    Concatenated streams (multistream dumps, concatenated gzip) are read as one.

    Raises:
        InputDamaged: after the last readable byte.
    """
    with path.open("rb") as stream:
        stream.seek(start)
        magic = stream.read(3)
        stream.seek(start)
        pieces = _pieces(stream, None if end is None else end - start)
        if magic == _BZIP2:
            yield from _decompressed(pieces, "bzip2")
        elif magic[:2] == _GZIP:
            yield from _decompressed(pieces, "gzip")
        else:
            yield from pieces


def _pieces(stream: BinaryIO, left: int | None) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK if left is None else min(left, _CHUNK)):
        left = None if left is None else left - len(piece)
        yield piece


def _new(kind: str) -> _Decompressor:
    return bz2.BZ2Decompressor() if kind == "bzip2" else zlib.decompressobj(wbits=31)


def _decompressed(pieces: Iterator[bytes], kind: str) -> Iterator[bytes]:
    decompressor = _new(kind)
    started = False
    for piece in pieces:
        data = piece
        while data:
            if decompressor.eof:
                # Zeros after the last stream are padding, as from a block device.
                if not data.strip(b"\0"):
                    break
                decompressor = _new(kind)
                started = False
            try:
                plain = decompressor.decompress(data)
            except (OSError, zlib.error) as error:
                raise InputDamaged(f"damaged {kind} data: {error}") from None
            started = True
            if plain:
                yield plain
            data = decompressor.unused_data if decompressor.eof else b""
    if started and not decompressor.eof:
        raise InputDamaged(f"the {kind} file is truncated")


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
