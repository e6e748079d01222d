"""Rows of files in any format, compression and encoding, and the formats that are refused."""

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.case_files import cases
from ufo.schemas.compression import InputDamaged
from ufo.schemas.row import object_of
from ufo.schemas.rows import UTF_16, as_json_lines, columns_of, format_of

REFUSED = cases(Path(__file__).with_name("other_formats.txt"))


def rows(data: bytes) -> list[Any]:
    lines = b"".join(as_json_lines(format_of(data), io.BytesIO(data))).split(b"\n")
    return [object_of(line) for line in lines if line.strip()]


@pytest.mark.parametrize(
    ("digits", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_another_format_is_named_with_what_to_do(digits: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        format_of(bytes.fromhex(digits))


def tar() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return sink.getvalue()


@pytest.mark.parametrize("data", [tar(), gzip.compress(tar())], ids=["plain", "compressed"])
def test_an_archive_of_files_is_named(data: bytes) -> None:
    with pytest.raises(ValueError, match="a tar archive; unpack it"):
        rows(data)


def test_what_is_compressed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="compressed twice"):
        rows(gzip.compress(gzip.compress(b"{}")))


TEXTS = {
    "JSON Lines": '{"a": "é𝄞"}\n{"a": "b"}\n',
    "an array": '[{"a": "é𝄞"}, {"a": "b"}]',
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_byte_order_mark_says_the_encoding(text: str, encoding: str) -> None:
    assert rows(text.encode(encoding)) == [{"a": "é𝄞"}, {"a": "b"}]


@pytest.mark.parametrize("end", ["le", "be"])
def test_utf_16_has_either_order_of_bytes(end: str) -> None:
    assert rows('\ufeff{"a": "é"}'.encode(f"utf-16-{end}")) == [{"a": "é"}]


def test_half_a_character_at_the_end_of_utf_16_is_damage() -> None:
    with pytest.raises(InputDamaged, match="damaged UTF-16 text: truncated data"):
        rows('{"a": "é"}'.encode("utf-16") + b"\0")


def test_the_items_before_damage_in_an_array_are_read() -> None:
    text = json.dumps([{"a": "x" * 90, "n": number} for number in range(50_000)])
    data = gzip.compress(text.encode())
    found: list[bytes] = []
    with pytest.raises(InputDamaged):
        found += as_json_lines(format_of(data), io.BytesIO(data[:-2_000]))
    assert len(found) > 40_000
    assert json.loads(found[0])["n"] == 0


def test_parquet_may_be_compressed_as_a_file() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": ["x"]}), sink)
    assert rows(gzip.compress(sink.getvalue())) == [{"a": "x"}]


@pytest.mark.parametrize(
    "data",
    ["a,b\n1,2\n".encode("utf-16"), gzip.compress(b"a,b\n1,2\n"), b'[{"a": 1, "b": 2}]'],
    ids=["UTF-16", "gzip", "an array"],
)
def test_columns_are_those_of_the_first_row(data: bytes) -> None:
    assert columns_of(data) == ["a", "b"]


def test_utf_16_is_a_format() -> None:
    assert format_of("x".encode("utf-16")) == UTF_16
