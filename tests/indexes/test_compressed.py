import bz2
import gzip
from pathlib import Path

import pytest

from ufo.indexes.compressed import InputDamaged, read_chunks

TEXT = bytes(range(256)) * 6_000


def _read(path: Path) -> tuple[bytes, str]:
    found = b""
    try:
        for chunk in read_chunks(path):
            found += chunk
    except InputDamaged as damage:
        return found, str(damage)
    return found, ""


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        bz2.compress(TEXT),
        gzip.compress(TEXT),
        bz2.compress(TEXT[:100]) + bz2.compress(TEXT[100:]),
        gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]) + b"\0" * 512,
    ],
    ids=["plain", "bzip2", "gzip", "multistream", "members"],
)
def test_told_by_content_whatever_the_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "dump.xyz"
    path.write_bytes(data)
    assert _read(path) == (TEXT, "")


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress], ids=["bzip2", "gzip"])
def test_what_precedes_a_cut_or_damage_is_read(tmp_path: Path, compress: object) -> None:
    first, second = compress(TEXT), compress(TEXT[::-1])  # type: ignore[operator]
    path = tmp_path / "dump"
    path.write_bytes(first + second[: len(second) // 2])
    found, problem = _read(path)
    assert found.startswith(TEXT)
    assert "truncated" in problem
    path.write_bytes(first + second[:20] + b"\xff" * 400)
    found, problem = _read(path)
    assert found.startswith(TEXT)
    assert problem
    path.write_bytes(first + b"no stream")
    assert _read(path)[0] == TEXT
    assert "damaged" in _read(path)[1]


def test_an_empty_file_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert _read(tmp_path / "empty") == (b"", "")
