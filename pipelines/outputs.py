"""Open the output of a command: a file or folder on any file system, or stdout."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from ufo.schemas.errors import UsageError
from ufo.schemas.storage import is_remote, join, make_folder, send, writing


@contextmanager
def text_output(path: str | None, flag: str = "--output") -> Iterator[TextIO]:
    """Give stdout, or a file that takes its place only when all is written."""
    if path is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        return
    try:
        with writing(path) as file:
            out = io.TextIOWrapper(file, encoding="utf-8", newline="")
            yield out
            out.detach()  # written out; what is behind it closes the file
    except OSError as error:
        raise UsageError(f"{flag}: cannot write {path!r}: {error}.") from error


@contextmanager
def sent_to(folder: str) -> Iterator[str]:
    """Give a folder of this machine, made if need be, whose files end up in `folder`.

    Raises:
        OSError: it cannot be made, or they cannot be sent there.
    """
    if not is_remote(folder):
        make_folder(folder)
        yield folder
        return
    with TemporaryDirectory(prefix="ufo-") as here:
        yield here
        for path in sorted(Path(here).rglob("*")):
            if path.is_file():
                send(str(path), join(folder, *path.relative_to(here).parts))
