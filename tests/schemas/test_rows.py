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
from ufo.schemas.rows import UTF_16, WINDOWS, as_json_lines, format_of, layers_of

REFUSED = cases(Path(__file__).with_name("other_formats.txt"))


def rows(data: bytes) -> list[Any]:
    lines = b"".join(as_json_lines(format_of(data), io.BytesIO(data))).split(b"\n")
    return [object_of(line) for line in lines if line.strip()]


@pytest.mark.parametrize(
    ("digits", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_another_format_is_named_with_what_to_do(digits: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
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
    lines: list[bytes] = []
    with pytest.raises(InputDamaged):
        lines += as_json_lines(format_of(data), io.BytesIO(data[:-2_000]))
    assert len(lines) > 40_000
    assert json.loads(lines[0])["n"] == 0


def test_parquet_may_be_compressed_as_a_file() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": ["x"]}), sink)
    assert rows(gzip.compress(sink.getvalue())) == [{"a": "x"}]


@pytest.mark.parametrize(
    ("data", "forms"),
    [
        ("a,b\n1,2\n".encode("utf-16"), [UTF_16, "CSV"]),
        (gzip.compress(b"a,b\n1,2\n"), ["gzip", "CSV"]),
        (gzip.compress("a,b\né,2\n".encode("cp1252")), ["gzip", WINDOWS, "CSV"]),
        (b'[{"a": 1, "b": 2}]', ["a JSON array"]),
    ],
    ids=["UTF-16", "gzip", "gzip of Windows-1252", "an array"],
)
def test_a_format_is_named_with_those_around_it(data: bytes, forms: list[str]) -> None:
    assert layers_of(data)[0] == forms


@pytest.mark.parametrize("separator", ",;\t|")
def test_cells_are_separated_by_the_most_usual_character(separator: str) -> None:
    data = "a,b\nOslo,x\n".replace(",", separator)
    assert rows(data.encode()) == [{"a": "Oslo", "b": "x", "from cells": True}]


def test_names_of_columns_have_no_space_around_them() -> None:
    assert list(rows(b"a, b\n1,2\n")[0]) == ["a", "b", "from cells"]


ENCODED = {
    "Windows-1252": ("Größe", "cp1252", WINDOWS),
    "a quote of Windows-1252": ("“Oslo”", "cp1252", WINDOWS),
    "UTF-8": ("Größe", "utf-8", "CSV"),
    "Cyrillic": ("Москва", "cp1251", "CSV"),
    "Chinese": ("奥斯陆很大", "gbk", "CSV"),
    "nothing but ASCII": ("Oslo", "ascii", "CSV"),
}


@pytest.mark.parametrize(("text", "encoding", "form"), ENCODED.values(), ids=ENCODED)
def test_a_table_that_is_not_utf_8_may_be_windows_1252(text: str, encoding: str, form: str) -> None:
    assert format_of(f"a,b\n{text},x\n".encode(encoding)) == form


def test_a_byte_that_is_wrong_in_utf_8_changes_no_other_character() -> None:
    assert format_of("a,b\né,x\n".encode() + b"\xff,y\n") == "CSV"


def test_a_character_that_is_cut_is_no_other_encoding() -> None:
    assert format_of("a,b\né".encode()[:-1]) == "CSV"


def test_utf_16_is_a_format() -> None:
    assert format_of("x".encode("utf-16")) == UTF_16
