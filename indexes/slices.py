"""Input files to slices that are read in parallel.

A multistream dump is many bzip2 streams of a hundred pages one after another; its index file tells
where they begin, and where there is none their first bytes do. Any other file is read whole by each
of several readers, each of which works on its share of the blocks: reading costs a fraction of what
is done with what was read. The numbers of blocks depend on the file, not on how many read it.
"""

import bz2
import mmap
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from indexes.compressed import InputDamaged, read_chunks

SLICE_BYTES = 4 << 20  # of the compressed file
SHARED_BYTES = 4 << 20  # a smaller file is read by one

_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_DUMP_NAME = re.compile(r"-multistream(\d*)\.xml")
_INDEX_NAME = re.compile(r"-multistream-index\d*\.txt")
_OFFSET = re.compile(rb"^(\d{1,15}):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the input file at position `file`: bytes `start` to `end` (None: to its end).

    Of its blocks, those whose number modulo `shares` is `share`.
    """

    file: int
    path: str
    number: int = 0
    start: int = 0
    end: int | None = None
    share: int = 0
    shares: int = 1


def is_stream_index(path: Path) -> bool:
    """Say whether a file is the index of a multistream dump, by its name: it holds no pages."""
    return bool(_INDEX_NAME.search(path.name))


def slices_of(path: Path, file: int, workers: int, slice_bytes: int = SLICE_BYTES) -> list[Slice]:
    """Return the slices of a file; together they are all of it, each block in one of them."""
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
    """Yield the decompressed bytes of a slice; one of several as a whole document of its own.

    Raises InputDamaged after the last readable byte.
    """
    path = Path(part.path)
    if part.start:
        yield _header(path)
    yield from read_chunks(path, part.start, part.end)
    if part.end is not None:
        yield b"</mediawiki>"


def _header(path: Path) -> bytes:
    """Return the first stream of a dump, which says what wiki it is of."""
    decompressor = bz2.BZ2Decompressor()
    with path.open("rb") as stream:
        try:
            return decompressor.decompress(stream.read(1 << 20), max_length=1 << 20)
        except OSError as error:
            raise InputDamaged(f"damaged bzip2 data: {error}") from None


def _stream_offsets(path: Path) -> Iterable[int]:
    """Return where the bzip2 streams of a file begin, ascending; nothing for other files."""
    with path.open("rb") as stream:
        if not _STREAM.match(stream.read(10)):
            return ()
    named = path.with_name(_DUMP_NAME.sub(r"-multistream-index\1.txt", path.name))
    if named != path and named.is_file():
        offsets = _listed(named)
        if _begin_streams(path, offsets):
            return offsets
    return _found(path)


def _listed(index: Path) -> list[int]:
    """Return the offsets in an index file of lines `offset:page id:title`."""
    offsets: dict[int, None] = {}
    rest = b""
    try:
        for chunk in read_chunks(index):
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            offsets.update(dict.fromkeys(map(int, _OFFSET.findall(whole + newline))))
    except InputDamaged:
        return []  # the dump itself tells
    return sorted(offsets)


def _begin_streams(path: Path, offsets: list[int]) -> bool:
    """Say whether a stream begins at the first, the middle and the last of the offsets."""
    if not offsets:
        return False
    with path.open("rb") as stream:
        for offset in (offsets[0], offsets[len(offsets) // 2], offsets[-1]):
            stream.seek(offset)
            if not _STREAM.match(stream.read(10)):
                return False
    return True


def _found(path: Path) -> Iterator[int]:
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        # The chance that compressed data hold these 10 bytes elsewhere is 1 in 10^20 a GB.
        yield from [match.start() for match in _STREAM.finditer(data)]
