"""What is read of compressed files: all of a whole one, and what precedes the damage in another."""

import bz2
import gzip
import io
import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.compression import (
    BZIP2,
    GZIP,
    ZSTD,
    ByteStream,
    InputDamaged,
    compression_of,
    decompress,
)


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACKED: dict[str, Callable[[bytes], bytes]] = {
    GZIP: gzip.compress,
    BZIP2: bz2.compress,
    ZSTD: zstd,
}
by_kind = pytest.mark.parametrize("kind", PACKED)
_chance = random.Random(7)
LINES = [b"%d is line %d\n" % (_chance.getrandbits(64), number) for number in range(100_000)]
TEXT = b"".join(LINES)
WHOLE = {kind: pack(TEXT) for kind, pack in PACKED.items()}
BLOCK = 900_000  # bytes of text that are decompressed at once, at most


def read(kind: str, data: bytes, size: int = 1 << 20) -> tuple[bytes, str]:
    """Return what is read of a file in pieces of this size, and its damage."""
    content = b""
    try:
        for piece in decompress(kind, (data[at : at + size] for at in range(0, len(data), size))):
            content += piece
    except InputDamaged as error:
        return content, str(error)
    return content, ""


@by_kind
@pytest.mark.parametrize("size", [1, 1_000, 1 << 20])
def test_a_whole_file_is_read_in_any_pieces(kind: str, size: int) -> None:
    data = PACKED[kind](TEXT[:20_000])
    assert compression_of(data) == kind
    assert read(kind, data, size) == (TEXT[:20_000], "")


@by_kind
def test_streams_behind_each_other_are_one_file(kind: str) -> None:
    assert read(kind, PACKED[kind](b"one, ") + PACKED[kind](b"two")) == (b"one, two", "")


@by_kind
def test_what_precedes_the_place_where_a_file_is_cut_off_is_read(kind: str) -> None:
    content, damage = read(kind, WHOLE[kind][: len(WHOLE[kind]) // 2])
    assert TEXT.startswith(content)
    assert len(content) > len(TEXT) / 2 - BLOCK
    assert "runcated" in damage


@pytest.mark.parametrize("kind", [BZIP2, ZSTD])
def test_what_precedes_damage_in_the_first_mebibyte_is_read(kind: str) -> None:
    data = WHOLE[kind]
    middle = len(data) // 2
    assert middle < 1 << 20
    content, damage = read(kind, data[:middle] + data[middle + 100 :])
    assert TEXT.startswith(content)
    assert len(content) > len(TEXT) / 2 - BLOCK
    assert f"damaged {kind} data" in damage


def test_any_damage_to_bzip2_costs_only_what_follows() -> None:
    data = bytearray(WHOLE[BZIP2])
    for at in range(100, len(data), len(data) // 5):
        harmed = bytes([*data[:at], data[at] ^ 0x10, *data[at + 1 :]])
        content, damage = read(BZIP2, harmed)
        assert TEXT.startswith(content)
        assert damage


def test_a_checksum_of_gzip_is_of_all_of_it() -> None:
    data = bytearray(gzip.compress(b"born in 1890 " + bytes(9_000), compresslevel=0))
    data[data.index(b"1890") + 3] = ord("1")
    content, damage = read(GZIP, bytes(data))
    assert b"1891" in content
    assert "anything in it may be wrong" in damage


@pytest.mark.parametrize("kind", [GZIP, BZIP2])
def test_zeros_after_the_end_are_padding(kind: str) -> None:
    assert read(kind, PACKED[kind](b"x") + bytes(5_000)) == (b"x", "")


@by_kind
def test_garbage_after_the_end_is_damage(kind: str) -> None:
    content, damage = read(kind, PACKED[kind](TEXT) + b"garbage")
    assert TEXT.startswith(content)
    assert len(content) > len(TEXT) - BLOCK
    assert damage


def test_a_file_of_zstd_may_begin_with_a_frame_to_skip() -> None:
    data = b"\x50\x2a\x4d\x18" + b"\4\0\0\0size" + zstd(b"text")
    assert compression_of(data) == ZSTD
    assert b"".join(decompress(ZSTD, [data])) == b"text"


@pytest.mark.parametrize("head", [b"", b"{", b"PAR1", b"BZ", b"\x1f"])
def test_other_files_are_not_compressed(head: bytes) -> None:
    assert compression_of(head) is None


@given(st.lists(st.binary()), st.integers(1, 20))
def test_a_stream_has_the_bytes_of_its_pieces(pieces: list[bytes], size: int) -> None:
    stream = io.BufferedReader(ByteStream(pieces), size)
    assert stream.read() == b"".join(pieces)
