"""Find the input files, measure them, and copy other formats as JSON Lines: one line a record."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final
from uuid import uuid4

import pyarrow.parquet as pq

from ufo.schemas import storage
from ufo.schemas.errors import NothingToEvaluate, UsageError
from ufo.schemas.rows import (
    HEAD_BYTES,
    LINES,
    PARQUET,
    Used,
    as_json_lines,
    format_of,
    left_out_columns,
)
from ufo.transforms.read import NAMES

_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input file: its path, the name used in keys such as `file:line`, bytes, SHA-256, lines.

    `format` is detected from the content (see `format_of`). `lines` is the number of JSON lines,
    records or rows.
    """

    path: str
    name: str
    size: int
    sha256: str
    lines: int
    format: str = LINES

    def is_plain(self, local: bool = True) -> bool:
        """Return whether workers can read ranges of the file directly.

        That needs JSON Lines, and for `local` workers a local file: they would download a remote
        one once for each range.
        """
        return self.format == LINES and not (local and storage.is_remote(self.path))


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A JSON Lines file that workers can read: the name used in keys, its path and its bytes.

    `left_out` are the columns of the input that the file lacks.
    """

    name: str
    path: str
    size: int
    left_out: tuple[str, ...] = ()


def find_inputs(patterns: Sequence[str]) -> list[str]:
    """Return the files that match the patterns, in order and without duplicates.

    Raises:
        UsageError: a pattern that matches nothing, a missing file, or a folder.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        try:
            paths = storage.matches(pattern)
        except (OSError, ValueError) as error:
            raise UsageError(f"--input {pattern!r} cannot be read: {error}") from error
        if not paths:
            is_glob = any(char in pattern for char in "*?[")
            what = "pattern matches no file" if is_glob else "file does not exist"
            raise UsageError(f"--input {pattern!r}: the {what}; check the path")
        for path in paths:
            if os.path.isdir(path):
                files = f"{path.rstrip('/')}/*.jsonl"
                raise UsageError(f"--input {path!r} is a folder; name its files, as in {files!r}")
            found[path] = None
    return list(found)


def input_files(paths: Sequence[str], action: str) -> tuple[InputFile, ...]:
    """Measure the input files; `action` is the verb for the error message if all are empty.

    Raises:
        UsageError: a file cannot be read.
        NothingToEvaluate: all files are empty.
    """
    files = [measure(path, name) for path, name in zip(paths, display_names(paths), strict=True)]
    if not any(file.size for file in files):
        raise empty_input(files, action)
    return tuple(files)


def empty_input(files: Sequence[InputFile], action: str) -> NothingToEvaluate:
    """Return the error for files that have no record."""
    paths = ", ".join(file.path for file in files)
    return NothingToEvaluate(f"--input {paths}: empty; there is nothing to {action}")


def display_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files for keys such as `file:line`: without folders if that is unique."""
    short = [re.split(r"[/\\]", path)[-1] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def measure(path: str, name: str) -> InputFile:
    """Return the file's size, hash, format and number of lines.

    Raises:
        UsageError: the file cannot be read.
    """
    digest, size, lines, last, form = sha256(), 0, 0, b"\n", LINES
    try:
        with storage.open_read(path) as stream:
            while block := stream.read(_BLOCK):
                form = form if size else format_of(block[:HEAD_BYTES], NAMES)
                digest.update(block)
                size += len(block)
                lines += block.count(b"\n")
                last = block[-1:]
        if form != LINES:
            with storage.open_read(path) as stream:
                lines, last = _count_records(form, stream)
    except (OSError, ValueError) as error:
        raise UsageError(f"--input {path!r} cannot be read: {error}") from error
    return InputFile(path, name, size, digest.hexdigest(), lines + (last != b"\n"), form)


def _count_records(form: str, stream: BinaryIO) -> tuple[int, bytes]:
    """Return the number of line ends of a file as JSON Lines, and its last byte."""
    if form == PARQUET:
        return int(pq.ParquetFile(stream).metadata.num_rows), b"\n"
    lines, last = 0, b"\n"
    for block in as_json_lines(form, stream, names=NAMES):
        lines += block.count(b"\n")
        last = block[-1:]
    return lines, last


def spool(file: InputFile, folder: str, used: Used | None = None) -> str:
    """Copy a file that is not plain into `folder` as JSON Lines and return the copy's path.

    The copy has one line for each record or row, in order, so `file:line` names the same record;
    `used` as in `left_out_columns`.

    Raises:
        UsageError: the file is damaged.
    """
    name = f"{file.sha256[:16]}.jsonl"
    target = storage.join(folder, name)
    if storage.exists(target):
        return target
    if storage.is_remote(folder):
        with TemporaryDirectory(prefix="ufo-") as here:
            storage.send(spool(file, here, used), target)
        return target
    temporary = f"{target}.{uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "wb") as sink, storage.open_read(file.path) as stream:
            for block in as_json_lines(file.format, stream, used, NAMES):
                sink.write(block)
    except (OSError, ValueError) as error:
        storage.delete(temporary)
        raise UsageError(f"--input {file.path!r} cannot be read: {error}") from error
    storage.move(temporary, target)
    return target


def plain_file(
    file: InputFile, folder: str, used: Used | None = None, local: bool = True
) -> PlainFile:
    """Return a JSON Lines file that workers can read; `local` workers run on this machine.

    A file that is not plain is copied into `folder`; `used` as in `left_out_columns`.

    Raises:
        UsageError: the file is damaged.
    """
    path = file.path if file.is_plain(local) else spool(file, folder, used)
    left_out: list[str] = []
    if used and file.format == PARQUET:
        with storage.open_read(file.path) as stream:
            left_out = left_out_columns(stream, used)
    return PlainFile(file.name, path, storage.size(path), tuple(left_out))
