"""Snapshots of the web: what was recorded is what is read, whoever wrote it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ufo.schemas.errors import RunError
from ufo.transforms.llm.cache import key_of
from ufo.transforms.sources.web.snapshot import Snapshot

A, B = key_of("s", "a"), key_of("p", "b")
FOUND = {"reply": {"organic": [{"snippet": "ä \ud800"}]}, "at": "t"}
PROGRAM = f"""import sys; from ufo.transforms.sources.web.snapshot import Snapshot
Snapshot(sys.argv[1]).keep_many({{{A!r}: {FOUND!r}}}); print('kept', flush=True); input()"""


def test_what_was_recorded_before_a_kill_is_kept_a_finished_one_only_read(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "snapshot"
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"kept\n"
        os.kill(process.pid, signal.SIGKILL)
    again = Snapshot(str(folder))
    assert not again.finished
    assert again.get_many([B]) == {}
    # Who is first has recorded for all.
    assert again.keep_many({A: 2, B: 2}) == {A: FOUND, B: 2}
    Snapshot(str(folder)).finish()
    asyncio.run(again.aclose())
    (file,) = folder.iterdir()
    before = file.read_bytes()
    Snapshot(str(folder)).finish()
    finished = Snapshot(str(folder))
    assert finished.finished
    assert finished.get_many([A, B, key_of("p", "c")]) == {A: FOUND, B: 2}
    with pytest.raises(RunError, match=r"cannot be written: .*; make room, or name another"):
        finished.keep_many({B: 3})
    asyncio.run(finished.aclose())
    assert [path.read_bytes() for path in folder.iterdir()] == [before]
    for damaged in (b"text", before[:5000], before[:100] + b"\xff" * (len(before) - 100)):
        file.write_bytes(damaged)
        with pytest.raises(RunError, match=r"is damaged: .*; take a whole copy of it, or record"):
            Snapshot(str(folder)).get_many([A])
    assert list(folder.iterdir()) == [file]
