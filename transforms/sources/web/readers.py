"""Read documents in processes with limits of time and memory.

A process is reused, and replaced when it dies. A parser has no limit for a page that was made to be
slow, so the kernel limits it. Beyond its time the process is killed; beyond its memory an
allocation fails. Such a process runs `reading`. A request is a line of JSON and the bytes of the
page. The answer is a line of JSON and not a pickle: a hostile page may have taken over the process.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Final

from ufo.schemas.errors import RunError
from ufo.transforms.sentences import Span
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web.documents import Document, FetchedPage

_PROGRAM: Final = "ufo.transforms.sources.web.reading"
SECONDS: Final = 5.0
MOST_BYTES: Final = 512 * 1024 * 1024
_MOST_PAGES: Final = 500  # pages that one process reads: the caches of libraries grow
# Without keys: a page that takes over its reader must not find any.
_ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")
_TIMED_OUT: Final = (-signal.SIGPROF, -signal.SIGALRM)


class Readers:
    """Reads pages, `at_once` at a time on `threads`; each thread has its own process.

    A process starts with its thread's first page. Each page may take `seconds` of computing, and
    each process `most_bytes` of memory.
    """

    def __init__(
        self, at_once: int = 2, seconds: float = SECONDS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.threads = ThreadPoolExecutor(at_once, "ufo-reader")
        self._budget = str(seconds), str(most_bytes)
        self._own = threading.local()
        self._started: list[_Reader] = []
        self._closed = False

    def read(self, page: FetchedPage) -> Document:
        """Return the content of a page, or the reason if it exceeds its budget.

        Raises:
            RunError: no process can be started.
        """
        if page.reason is not None:
            return Document(None, "", reason=page.reason, detail=page.detail)
        for _ in range(2):
            reader = self._reader()
            document = reader.read(page)
            if self._closed or not reader.killed:
                break  # otherwise it was killed from outside: read the page again
        return document

    def close(self) -> None:
        """End all processes, also while they are reading."""
        self._closed = True
        for reader in list(self._started):  # a thread may just replace its own
            reader.kill()
        self.threads.shutdown(cancel_futures=True)
        for reader in self._started:
            reader.close()

    def _reader(self) -> "_Reader":
        """Return the process of this thread; a new one if the old one cannot read another page."""
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is not None and not reader.usable:
            reader.close()
            self._started.remove(reader)
            reader = self._own.reader = None
        if reader is None:
            reader = self._own.reader = _Reader(*self._budget)
            self._started.append(reader)
            if self._closed:  # while it started
                reader.kill()
        return reader


class _Reader:
    """A process that reads pages."""

    def __init__(self, seconds: str, most_bytes: str) -> None:
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        command = [sys.executable, "-P", "-m", _PROGRAM, seconds, most_bytes]
        try:
            self._process = subprocess.Popen(  # noqa: S603 – ourselves
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**environment, "PYTHONPATH": path},
            )
        except OSError as error:
            message = f"web pages cannot be read: no process can be started: {error}"
            raise RunError(message) from None
        self._left = _MOST_PAGES
        if not self._line():
            self.close()
            raise RunError(
                "web pages cannot be read: the process that reads them does not start; "
                f"`{' '.join(command)}` says why"
            )

    @property
    def usable(self) -> bool:
        """Whether the process can read another page."""
        return self._left > 0 and self._process.poll() is None

    @property
    def killed(self) -> bool:
        """Whether the process was ended from outside, and not by a limit."""
        return self._process.returncode == -signal.SIGKILL

    def read(self, page: FetchedPage) -> Document:
        """Return the content of a page."""
        self._left -= 1
        header = {**asdict(replace(page, body=b"")), "size": len(page.body)}
        del header["body"]
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(header).encode() + b"\n" + page.body)
            self._process.stdin.flush()
            line = self._line()
        except OSError:
            line = b""
        if not line:
            return self._lost()
        answer = json.loads(line)
        if not answer.pop("whole"):
            self._left = 0
        spans = [Span(*span) for span in answer.pop("spans")]
        return Document(**answer, spans=spans)

    def kill(self) -> None:
        """End the process, even while it is reading."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and wait for its end."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):  # flushing unwritten data fails
                pipe.close()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _lost(self) -> Document:
        code = self._process.wait()
        if code in _TIMED_OUT:
            return Document(None, "", reason=reasons.TOO_SLOW, detail="reading it takes too long")
        detail = f"the process that read it ended ({code})"
        return Document(None, "", reason=reasons.UNREADABLE, detail=detail)
