"""A file that is one text: packed, with a byte order mark, or refused with the reason."""

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from ufo.schemas.text_file import read_text, text_of

TEXT = "Størst av alt: «kjærleik»\r\n{x}\n"


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstd])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_each_form_of_a_text(tmp_path: Path, pack: Callable[[bytes], bytes], encoding: str) -> None:
    (path := tmp_path / "any name").write_bytes(pack(TEXT.encode(encoding)))
    assert read_text(str(path)) == TEXT
    assert read_text(f"file://{path}") == TEXT  # as of a bucket


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"caf\xe9", "not UTF-8: byte 4", id="another encoding"),
        pytest.param(gzip.compress(b"caf\xe9"), "not UTF-8: byte 4", id="another encoding, packed"),
        pytest.param(gzip.compress(b"Oslo")[:-4], "gzip file is truncated", id="a cut file"),
        pytest.param(gzip.compress(bz2.compress(b"a")), "compressed twice", id="packed twice"),
        pytest.param(b"%PDF-1.4\n\xff", "it is a PDF; give the text of it", id="a PDF"),
        pytest.param(b"PAR1\xff", "it is Parquet; give text", id="a table"),
    ],
)
def test_why_it_is_no_text(body: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        text_of(body)


@pytest.mark.parametrize(
    ("name", "message"),
    [("none", "^No such file or directory$"), ("", "^Is a directory$"), ("none/x", "^No such")],
)
def test_what_the_system_says_is_told_without_the_path(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_text(str(tmp_path / name))
