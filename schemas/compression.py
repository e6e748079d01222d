"""Decompress files of any known compression piece by piece.

All content before a file's damage is yielded. The standard library's file objects and decompressors
lose the content so far when they raise, so a decompressor gets few bytes at a time. A block of
bzip2 has a checksum, and comes out of the decompressor once that agrees.
"""

import bz2
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

GZIP: Final = "gzip"
BZIP2: Final = "bzip2"
ZSTD: Final = "zstd"
_MAGIC: Final = {
    b"\x1f\x8b": GZIP,
    b"BZh": BZIP2,
    b"\x28\xb5\x2f\xfd": ZSTD,
    # Frames to skip, with which pzstd begins.
    **{bytes([low, 0x2A, 0x4D, 0x18]): ZSTD for low in range(0x50, 0x60)},
}

_GIVEN: Final = 1 << 10  # bytes that a decompressor gets at once
_YIELDED: Final = 1 << 18  # the fewest bytes of a yielded piece, since small pieces are slow


class InputDamaged(ValueError):
    """A file cannot be decompressed further; the bytes before the damage were yielded."""


def compression_of(head: bytes) -> str | None:
    """Return the compression of a file from its first bytes; None if it is not compressed."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def decompress(kind: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a compressed file; concatenated streams are read as one.

    Raises:
        InputDamaged: after the last readable byte.
    """
    chunks = (piece[at : at + _GIVEN] for piece in pieces for at in range(0, len(piece), _GIVEN))
    plain = _zstd(chunks) if kind == ZSTD else _streams(kind, chunks)
    waiting = bytearray()
    damage = None
    try:
        for piece in plain:
            waiting += piece
            if len(waiting) >= _YIELDED:
                yield bytes(waiting)
                waiting.clear()
    except InputDamaged as error:
        damage = error
    if waiting:
        yield bytes(waiting)
    if damage:
        raise damage


_NEW: Final[dict[str, Callable[[], Any]]] = {
    BZIP2: bz2.BZ2Decompressor,
    GZIP: lambda: zlib.decompressobj(wbits=31),
}


def _streams(kind: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    decompressor = _NEW[kind]()
    started = False
    for piece in pieces:
        data = piece
        while data:
            if decompressor.eof:
                # Zeros after the last stream are padding, as from a block device.
                if not data.strip(b"\0"):
                    break
                decompressor = _NEW[kind]()
                started = False
            try:
                yield decompressor.decompress(data)
            except (OSError, zlib.error) as error:
                raise InputDamaged(_damaged(kind, error)) from None
            started = True
            data = decompressor.unused_data if decompressor.eof else b""
    if started and not decompressor.eof:
        raise InputDamaged(f"the {kind} file is truncated")


def _damaged(kind: str, error: Exception) -> str:
    # A checksum of gzip or zstd is of the whole file, and does not say where the damage is.
    differs = any(said in str(error) for said in ("data check", "checksum"))
    return f"damaged {kind} data: {error}{'; anything in it may be wrong' * differs}"


def _zstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    file = pa.PythonFile(ByteStream(pieces), mode="r")
    with pa.CompressedInputStream(file, ZSTD) as stream:
        while True:
            try:
                plain = stream.read(_GIVEN << 6)
            except OSError as error:
                raise InputDamaged(_damaged(ZSTD, error)) from None
            if not plain:
                return
            yield plain


class ByteStream(io.RawIOBase):
    """A file whose content comes from an iterator; a read returns bytes of one piece."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes, 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
