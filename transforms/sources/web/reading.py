"""The process that reads documents: one after another, from its input to its output, under limits.

Nothing bounds what a parser does with a page that was made to be slow, so the kernel does: beyond
its time the process is killed, beyond its memory an allocation fails. `readers` starts such
processes and asks them, with a line of JSON and the bytes of the page; the answer is a line of
JSON, since what a hostile page could make of this process must not be trusted.
"""

import json
import os
import resource
import signal
import sys
from dataclasses import asdict
from typing import Any, BinaryIO

from ufo.transforms.sources.web.documents import (
    TOO_MUCH_MEMORY,
    UNREADABLE,
    Document,
    FetchedPage,
    document_of,
)
from ufo.transforms.sources.web.select import sentences_of

_BY_THE_CLOCK = 4  # times the seconds of computing, where others compute beside it


def main(seconds: float, most_bytes: int) -> None:
    """Answer requests until there are none.

    A document may take so many seconds of computing, and the process so much memory, libraries
    included.
    """
    # Whoever started this ends it, by the end of its input.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # What a library prints goes elsewhere than the answers.
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    _say(answers, {})
    for line in iter(asked.readline, b""):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * _BY_THE_CLOCK)
        answer = _answer(json.loads(line), asked)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(answers, answer)
        if not answer["whole"]:
            return


def _answer(header: dict[str, Any], asked: BinaryIO) -> dict[str, Any]:
    """Return what a page says; "whole" is whether this process can read another one."""
    size = header.pop("size")
    try:
        document = document_of(FetchedPage(**header, body=asked.read(size)))
        spans = sentences_of(document.text)
        return {**asdict(document), "spans": spans, "whole": True}
    except MemoryError:
        detail = "reading it takes too much memory"
        lost, whole = Document(None, "", reason=TOO_MUCH_MEMORY, detail=detail), False
    except Exception as error:
        lost, whole = Document(None, "", reason=UNREADABLE, detail=repr(error)[:500]), True
    return {**asdict(lost), "spans": [], "whole": whole}


def _say(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
