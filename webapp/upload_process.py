"""Write the file of an upload, and read the output of its process and end it."""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from ufo.webapp.limits import Refused

_ENDING_SECONDS = 20.0


async def write(path: Path, chunks: AsyncIterator[bytes], most: int) -> None:
    """Write a file of up to `most` bytes.

    Raises:
        Refused: it is larger.
    """
    size = 0
    with path.open("wb") as out:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise Refused(
                    413,
                    f"the file is larger than {most:,} bytes",
                    "split it, or evaluate it with `ufo evaluate`",
                    0.0,
                )
            out.write(chunk)


async def lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield the lines of a stream; a line may have any length and any bytes."""
    rest = b""
    while chunk := await stream.read(65_536):
        *whole, rest = re.split(rb"[\r\n]+", rest + chunk)
        for line in whole:
            yield line.decode("utf-8", "replace")
        rest = rest[-65_536:]
    if rest:
        yield rest.decode("utf-8", "replace")


async def end(process: asyncio.subprocess.Process) -> None:
    """End a process and those that it started: by SIGTERM, and after some seconds by SIGKILL."""
    # Not by SIGINT: a service that a shell started with `&` ignores it, and so does what it starts.
    for number, seconds in ((signal.SIGTERM, _ENDING_SECONDS), (signal.SIGKILL, None)):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
