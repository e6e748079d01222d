"""Find the input files and read each once, for its size, hash and number of lines.

Workers read ranges of JSON Lines. A file in another format is converted. A file that can be read
only once (a pipe, standard input) or is remote is copied, into a folder that lasts as long as the
run.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import BinaryIO, Final, cast

from ufo.schemas import storage
from ufo.schemas.errors import NothingToEvaluate, UsageError, reason_of
from ufo.schemas.file_systems import command_error, is_remote
from ufo.schemas.rows import (
    HEAD_BYTES,
    LINES,
    WINDOWS,
    Used,
    as_json_lines,
    layers_of,
)
from ufo.schemas.temporary import check_temporary_folder, own_folder, temporary_folder
from ufo.schemas.text import escaped
from ufo.transforms.columns import NAMES

STDIN: Final = "-"
_STDIN_PATHS: Final = (STDIN, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_OF_A_PROCESS: Final = ("/dev/", "/proc/")  # another process finds another file there
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A JSON Lines file that workers can read: the name used in keys, its path and its size.

    `left_out` are the columns of the input that the file lacks. `first_line` is the number of its
    first line in the input. `is_guessed` says whether its encoding is a guess.
    """

    name: str
    path: str
    size: int
    left_out: tuple[str, ...] = ()
    first_line: int = 1
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input file: its path, the name used in keys such as `file:line`, size, SHA-256, lines.

    `lines` is the number of JSON lines, records or rows. They are in `plain`: the file itself, or a
    copy with one line for each record or row. A `piped` input can be read only once.
    """

    path: str
    name: str
    size: int
    sha256: str
    lines: int
    plain: PlainFile
    piped: bool = False


def find_inputs(patterns: Sequence[str]) -> list[str]:
    """Return the files that match the patterns, in order and without duplicates; `-` is standard
    input.

    Raises:
        UsageError: a pattern that matches nothing, a missing file, or a folder.
    """
    matched: dict[str, None] = {}
    for pattern in patterns:
        if pattern in _STDIN_PATHS:
            if matched.keys().isdisjoint(_STDIN_PATHS):  # one file under several names
                matched[pattern] = None
            continue
        try:
            paths = storage.matches(pattern)
        except (OSError, ValueError) as error:
            raise command_error(
                f"--input {pattern!r} cannot be read: {reason_of(error)}", error
            ) from error
        if not paths:
            is_glob = any(char in pattern for char in "*?[")
            what = "pattern matches no file" if is_glob else "file does not exist"
            raise UsageError(f"--input {pattern!r}: the {what}; check the path")
        for path in paths:
            if os.path.isdir(path):
                raise folder_refused(path)
            matched[path] = None
    return list(matched)


def folder_refused(path: str) -> UsageError:
    """Return the error for a folder given as input."""
    files = f"{path.rstrip('/')}/*.jsonl"
    return UsageError(f"--input {path!r} is a folder; name its files, as in {files!r}")


@contextmanager
def copies_folder() -> Iterator[str]:
    """Make a folder for copies of inputs, which is deleted at the end.

    If this process is killed, the next command deletes it.

    Raises:
        UsageError: the folder for temporary files cannot be used.
    """
    check_temporary_folder()
    with own_folder() as own, temporary_folder(own) as folder:
        yield folder


def read_inputs(
    paths: Sequence[str], folder: str, used: Used, action: str, local: bool = True
) -> tuple[InputFile, ...]:
    """Read the input files; copies go into `folder`.

    Args:
        used: whether to read a column of Parquet that is not plain.
        action: the verb for the error message if all are empty.
        local: whether workers of this machine read them: they would download a remote file once for
            each range.

    Raises:
        UsageError: a file cannot be read.
        NothingToEvaluate: all files are empty.
    """
    names = display_names(paths)
    files = [
        _read(path, name, f"{folder}/{number}", used, local)
        for number, (path, name) in enumerate(zip(paths, names, strict=True))
    ]
    if not any(file.size for file in files):
        raise empty_input(files, action)
    return tuple(files)


def empty_input(files: Sequence[InputFile], action: str) -> NothingToEvaluate:
    """Return the error for files that have no record."""
    paths = ", ".join(file.path for file in files)
    return NothingToEvaluate(f"--input {paths}: empty; there is nothing to {action}")


def display_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files for keys such as `file:line`, without folders if that is unique.

    Bytes that are not UTF-8 are escaped.
    """
    named = ["stdin" if path in _STDIN_PATHS else path for path in paths]
    short = [re.split(r"[/\\]", path.replace("/dev/fd/", "fd"))[-1] for path in named]
    return [escaped(name) for name in (short if len(set(short)) == len(short) else named)]


def is_piped(path: str) -> bool:
    """Return whether a path can be read only once: standard input, a pipe or the like."""
    if path == STDIN or path.startswith(_OF_A_PROCESS):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _read(path: str, name: str, copy: str, used: Used, local: bool) -> InputFile:
    """Read one file; `copy` is the path of its copy, to which endings are added."""
    try:
        piped = is_piped(path)
        digest, size, lines, last = sha256(), 0, 0, b"\n"
        with _open(path) as stream:
            block = stream.read(_BLOCK)
            forms = layers_of(block[:HEAD_BYTES], NAMES)[0]
            form, is_guessed = forms[0], WINDOWS in forms
            copied = piped or (is_remote(path) and (local or form != LINES))
            here = f"{copy}.copy" if copied else path
            with open(here, "wb") if copied else nullcontext() as sink:
                while block:
                    digest.update(block)
                    size += len(block)
                    lines += block.count(b"\n")
                    last = block[-1:]
                    if sink is not None:
                        sink.write(block)
                    block = stream.read(_BLOCK)
        plain = PlainFile(name, here, size)
        lines += last != b"\n"
        if form != LINES:
            target = PlainFile(name, f"{copy}.jsonl", 0, is_guessed=is_guessed)
            plain, lines = convert(form, here, target, used)
            if copied:
                os.unlink(here)
    except (OSError, ValueError) as error:
        raise command_error(
            f"--input {path!r} cannot be read: {reason_of(error)}", error
        ) from error
    return InputFile(path, name, size, digest.hexdigest(), lines, plain, piped)


def _open(path: str) -> BinaryIO:
    if path in _STDIN_PATHS:
        return cast(BinaryIO, open(0, "rb", closefd=False))
    return storage.open_read(path)


def convert(
    form: str,
    path: str,
    target: PlainFile,
    used: Used,
    blocks: Callable[[Used], Iterator[bytes]] | None = None,
) -> tuple[PlainFile, int]:
    """Convert a file to JSON Lines; return the new file and the number of its lines.

    `blocks` yields the bytes to write, where they are only a part of the file.
    """
    lines, last = 0, b"\n"
    left_out: list[str] = []

    def is_read(column: str) -> bool:
        read = used(column)
        if not read:
            left_out.append(column)
        return read

    with open(path, "rb") as stream, open(target.path, "wb") as sink:
        for block in blocks(is_read) if blocks else as_json_lines(form, stream, is_read, NAMES):
            lines += block.count(b"\n")
            last = block[-1:]
            sink.write(block)
    written = replace(target, size=os.path.getsize(target.path), left_out=tuple(left_out))
    return written, lines + (last != b"\n")
