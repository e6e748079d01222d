"""Read the input of a window: the recorded bytes of each file, even if it has changed since.

Each file is copied, since it may be moved, added to or written again while the window is evaluated.
A file that cannot be read or used is left out; the window has the rest.
"""

import errno
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from tempfile import gettempdir
from typing import Any, Final

from ufo.pipelines.runs.inputs import (
    InputFile,
    PlainFile,
    convert,
    display_names,
)
from ufo.pipelines.runs.window_files import LOST, UNUSABLE, ArrivedFile, Content, open_regular
from ufo.schemas import storage
from ufo.schemas.compression import ByteStream
from ufo.schemas.errors import RunError, lacks_memory, reason_of
from ufo.schemas.records import Failure
from ufo.schemas.row import PROBLEM
from ufo.schemas.rows import (
    HEAD_BYTES,
    LINES,
    WINDOWS,
    Used,
    as_json_lines,
    format_of,
    lines_of,
)
from ufo.schemas.text import quantity, storable
from ufo.transforms.columns import NAMES
from ufo.transforms.splits import Split, lines

UNREADABLE: Final = "unreadable_file"
NOTHING_USABLE: Final = "nothing_usable"
"""The types of the failures of a file."""

_CUT: Final = (
    "the row was cut when an earlier window closed, and was evaluated as it was; this is all of it"
)
_BLOCK: Final = 1 << 20
_EXAMPLE: Final = 200
_OF_THIS_MACHINE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EROFS)
"""Errors that are not a file's own."""

Parse = Callable[[str, bytes], Any]
"""Converts a key and its line to a record or a failure."""


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that its window leaves out, with its outcome and its row of `failures`."""

    file: ArrivedFile
    outcome: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Window:
    """The input of a window of a stream.

    `found_at` returns the present path of a renamed file, or None. `note` is called with the files
    that are left out, before the window is evaluated, and `say` with messages about what is read.
    """

    files: tuple[ArrivedFile, ...]
    found_at: Callable[[ArrivedFile], str | None]
    note: Callable[[Sequence[BadFile]], object]
    say: Callable[[str], object]


class _Bad(Exception):
    """The error for a file that cannot be used: its outcome, type of failure and reason."""

    def __init__(self, outcome: str, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.kind, self.reason = outcome, kind, reason


def read_window(
    window: Window, folder: str, used: Used, parse: Parse
) -> tuple[tuple[InputFile, ...], tuple[BadFile, ...]]:
    """Read the files of a window; return those that can be used, and the others.

    Copies go into `folder`. `used` says whether to read a column of Parquet that is not plain, and
    `parse` converts a line to a record or a failure.

    Raises:
        RunError: this machine cannot hold the copies.
    """
    files, bad = [], []
    names = display_names([file.path for file in window.files])
    for number, (file, name) in enumerate(zip(window.files, names, strict=True)):
        try:
            file_read = _read(window, file, name, f"{folder}/{number}", used, parse)
            _check_usable(file_read, parse)
        except _Bad as error:
            reason = storable(error.reason)
            bad.append(
                BadFile(file, error.outcome, Failure("read", storable(name), error.kind, reason))
            )
        else:
            files.append(file_read)
    window.note(bad)
    return tuple(files), tuple(bad)


def _read(
    window: Window, file: ArrivedFile, name: str, copy: str, used: Used, parse: Parse
) -> InputFile:
    """Copy a window's part of a file, as JSON Lines if it is in another format.

    Lines that were added to JSON Lines are read alone. A file in any other format is read from its
    beginning, which says how, and the rows of an earlier window are left out.
    """
    content = _content(window, file, name)
    try:
        form = format_of(content.head[:HEAD_BYTES], NAMES)
    except ValueError as error:
        raise _Bad(UNUSABLE, UNREADABLE, str(error)) from error
    added_lines = file.start > 0 and form == LINES and content.has_lines(file.start)
    start = file.start if added_lines else 0
    here = f"{copy}.copy"
    digest = _copy(content.path, here, start, file)
    if not Content(content.path if start else here, file.size).begins_with(file):
        raise _Bad(LOST, UNREADABLE, "it was written to while it was read")
    first = 1 + (_line_ends(content.path, start) if start else 0)
    guess = form == WINDOWS
    plain = PlainFile(name, here, file.size - start, first_line=first, is_guessed=guess)
    try:
        if form == LINES and start == file.start:
            n_lines = _line_ends(here, plain.size) + (not _ends_line(here, plain.size))
        else:
            target = replace(plain, path=f"{copy}.jsonl")
            if file.start:
                added = _Added(here, form, file.start, parse)
                plain, n_lines = convert(form, here, target, used, added.lines)
                plain = replace(plain, first_line=1 + added.skipped)
            else:
                plain, n_lines = convert(form, here, target, used)
            os.unlink(here)
    except Exception as error:  # the readers of formats have errors of their own
        if lacks_memory(error) or isinstance(error, (_Bad, RunError)):
            raise
        _check_machine(error)
        raise _Bad(UNUSABLE, UNREADABLE, reason_of(error) or type(error).__name__) from error
    return InputFile(file.path, name, file.size - file.start, digest, n_lines, plain)


def _content(window: Window, file: ArrivedFile, name: str) -> Content:
    """Return the content of a file, even if it was renamed, and tell which part of it is read."""
    if file.problem is not None:
        raise _Bad(UNUSABLE, UNREADABLE, file.problem)
    content = Content(file.path, file.size)
    if not _is_there(content, file):
        other = window.found_at(file)
        if other is None:
            replaced = "another file is in its place, or a part of it is gone"
            gone = f"it cannot be read any more: {content.problem or replaced}"
            raise _Bad(LOST, UNREADABLE, gone)
        window.say(f"{name} is read as {other}, its name now")
        content = Content(other, file.size)
    if file.start:
        added = quantity(file.size - file.start, "byte")
        window.say(f"it reads the {added} that were added to {name} after byte {file.start:,}")
    elif (size := _size_now(content.path)) > file.size:
        window.say(
            f"it reads {quantity(file.size, 'byte')} of {name}; the {size - file.size:,} that were "
            "added since are for a later window"
        )
    return content


def _is_there(content: Content, file: ArrivedFile) -> bool:
    try:
        return content.begins_with(file)
    except OSError as error:
        content.problem = reason_of(error)
        return False


def _size_now(path: str) -> int:
    try:
        return storage.size(path)
    except OSError:
        return 0


def _copy(path: str, here: str, start: int, file: ArrivedFile) -> str:
    """Copy a file from `start` to the end of a window's range; return the SHA-256 of the range."""
    digest, at = sha256(), start
    try:
        source = open_regular(path)
    except OSError as error:
        _check_machine(error)
        raise _Bad(LOST, UNREADABLE, reason_of(error)) from error
    with source, open(here, "wb") as sink:
        try:
            source.seek(start)
            while at < file.size and (block := source.read(min(_BLOCK, file.size - at))):
                digest.update(block[max(0, file.start - at) :])
                at += len(block)
                sink.write(block)
        except OSError as error:
            _check_machine(error)
            raise _Bad(LOST, UNREADABLE, reason_of(error)) from error
    return digest.hexdigest()


def _check_machine(error: Exception) -> None:
    """Raise a RunError if this machine is at fault, as with a full disk, and not the file."""
    if isinstance(error, OSError) and error.errno in _OF_THIS_MACHINE:
        raise RunError(
            "the input cannot be copied into the folder for temporary files (TMPDIR), "
            f"{gettempdir()!r}: {error.strerror}. What was finished is kept, and the same command "
            "continues."
        ) from error


def _line_ends(path: str, size: int) -> int:
    """Return the number of line ends in the first `size` bytes of a file."""
    count = 0
    try:
        with open_regular(path) as stream:
            while size > 0 and (block := stream.read(min(_BLOCK, size))):
                count += block.count(b"\n")
                size -= len(block)
    except OSError as error:
        _check_machine(error)
        raise _Bad(LOST, UNREADABLE, reason_of(error)) from error
    return count


def _ends_line(path: str, size: int) -> bool:
    return size == 0 or Content(path, size).bytes(size - 1, size) == b"\n"


class _Added:
    """The lines that were added to a file since an earlier window took its first `start` bytes.

    These are all lines from the first that differs. `skipped` is the number of lines before it.
    """

    def __init__(self, path: str, form: str, start: int, parse: Parse) -> None:
        self.skipped = 0
        self._path, self._form, self._start, self._parse = path, form, start, parse

    def lines(self, used: Used) -> Iterator[bytes]:
        """Yield the added lines; the first is unusable if a part of it was evaluated before."""
        with open(self._path, "rb") as stream, open(self._path, "rb") as again:
            earlier = _lines_before(again, self._start, used)
            same = True
            for line in lines_of(as_json_lines(self._form, stream, used, NAMES)):
                before = next(earlier, None) if same else None
                if same and line == before:
                    self.skipped += 1
                    continue
                same = False
                cut = before is not None and not isinstance(self._parse("", before), Failure)
                yield (_with_problem(line) if cut else line) + b"\n"


def _with_problem(line: bytes) -> bytes:
    """Return a row as JSON, marked as unusable since a part of it was evaluated before."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    return json.dumps({PROBLEM: _CUT, **(row if isinstance(row, dict) else {})}).encode()


def _lines_before(stream: io.BufferedReader, size: int, used: Used) -> Iterator[bytes]:
    """Yield the readable lines in the first `size` bytes of a file."""
    head = stream.read(min(size, HEAD_BYTES))
    stream.seek(0)
    blocks = iter(partial(stream.read, 1 << 16), b"")

    def cut() -> Iterator[bytes]:
        left = size
        for block in blocks:
            if left <= 0:
                return
            yield block[:left]
            left -= len(block)

    try:
        form = format_of(head, NAMES)
        before = io.BufferedReader(ByteStream(cut()))
        yield from lines_of(as_json_lines(form, before, used, NAMES))
    except (OSError, ValueError):
        return  # where it was cut


def _check_usable(file: InputFile, parse: Parse) -> None:
    """Check that a record of a file can be used.

    Raises:
        _Bad: none can; the message has the first reason.
    """
    plain, n_lines = file.plain, 0
    first: Failure | None = None
    with storage.open_read(plain.path) as stream:
        whole = Split(plain.name, plain.path, 0, plain.size, first_line=plain.first_line)
        for line in lines(stream, whole, _BLOCK << 6):
            record = parse(line.key, line.data)
            if not isinstance(record, Failure):
                return
            first = first or record
            n_lines += 1
    if first is None:
        raise _Bad(UNUSABLE, NOTHING_USABLE, "there is no record in it")
    why = f"no record of it can be used, of {n_lines:,}. {first.key}: {first.message}"
    begins = f". It begins: {(first.input or '')[:_EXAMPLE]}"
    raise _Bad(UNUSABLE, NOTHING_USABLE, why + begins)
