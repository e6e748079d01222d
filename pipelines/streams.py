"""Make stdout and stderr usable where they are closed, full, or a pipe that nobody reads.

An error of stderr is ignored, since no result is written there. An error of stdout ends a command
whose result is printed, once. After that, further output is dropped, so that Python has nothing to
report when it flushes the streams at the end.
"""

import io
import os
import sys
from typing import Any, TextIO

from ufo.schemas.errors import RunError


class ReaderGone(BrokenPipeError):
    """The error that the reader of a pipe, for example `head`, has ended."""


class Output(io.FileIO):
    """A file descriptor that drops its output after the first error, which it `raises` or not."""

    def __init__(self, descriptor: int, raises: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._raises = raises
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write some of the data and return its number of bytes; after an error drop all of it."""
        if self.error is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.error = error
                if self._raises:
                    raise _output_error(error) from error
        return memoryview(data).nbytes


def _output_error(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return ReaderGone(*error.args)
    return RunError(f"the output cannot be written: {error.strerror}")


def open_outputs(results_on_disk: bool = False) -> None:
    """Replace the stdout and stderr of this process.

    An error of stdout ends the command, unless it has its `results_on_disk`.
    """
    for descriptor in (0, 1, 2):
        _open_if_closed(descriptor)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for the whole process
    sys.stdout = _text(Output(1, not results_on_disk), sys.stdout, os.isatty(1))
    sys.stderr = _text(Output(2, False), sys.stderr, True)


def ignored_error() -> OSError | None:
    """Return the error of stdout that did not end the command, if any."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, Output) else None


def drop_errors() -> None:
    """Drop everything that this process writes to stderr from now on."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole process


def _open_if_closed(descriptor: int) -> None:
    # Otherwise the next file that is opened would get this number, and the output.
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, descriptor)
        if null != descriptor:
            os.close(null)
        os.set_inheritable(descriptor, True)


def _text(raw: Output, before: TextIO | None, line_buffering: bool) -> TextIO:
    encoding = "utf-8" if before is None else before.encoding
    # A file's name may have bytes, and a result characters, that the encoding does not have.
    errors = "backslashreplace"
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=line_buffering)
