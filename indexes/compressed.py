"""Read plain, gzip or bzip2 files as a stream of bytes; the format is detected by content.

Decompression is incremental, so that everything before the damage in a truncated or damaged file is
read; the standard library's file objects lose their buffer when they raise.
"""

import bz2
import zlib
from collections.abc import Iterator
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
