"""Snapshots of the web: what was recorded is what is read, whoever wrote it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.llm.memory import key_of
from ufo.transforms.sources.web.snapshot import Snapshot

A, B = key_of("s", "a"), key_of("p", "b")
FOUND = {"reply": {"organic": [{"snippet": "ä \ud800"}]}, "at": "t"}


def test_who_is_first_has_recorded_for_all_and_a_finished_one_is_only_read(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "snapshot"
    one, two = Snapshot(str(folder)), Snapshot(str(folder))
    assert one.get_many([A, B]) == {}
    assert one.keep_many({A: FOUND}) == {A: FOUND}
    assert two.keep_many({A: "later", B: 1}) == {A: FOUND, B: 1}
    assert one.get_many([B, A]) == {A: FOUND, B: 1}
    two.finish()
    for snapshot in (one, two):
        asyncio.run(snapshot.aclose())
    (file,) = folder.iterdir()
    before = file.read_bytes()
    Snapshot(str(folder)).finish()
    finished = Snapshot(str(folder))
    assert finished.finished
    assert finished.get_many([A, key_of("p", "c")]) == {A: FOUND}
    assert "record another with --web_snapshot" in finished.remedy
    with pytest.raises(RunError, match=r"cannot be written: .*; make room, or name another"):
        finished.keep_many({B: 2})
    asyncio.run(finished.aclose())
    assert [path.read_bytes() for path in folder.iterdir()] == [before]


def test_what_was_recorded_before_a_kill_is_kept(tmp_path: Path) -> None:
    program = (
        "import sys; from ufo.transforms.sources.web.snapshot import Snapshot\n"
        f"Snapshot(sys.argv[1]).keep_many({{{A!r}: 1}}); print('kept', flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"kept\n"
        os.kill(process.pid, signal.SIGKILL)
    again = Snapshot(str(tmp_path))
    assert not again.finished
    assert again.keep_many({A: 2, B: 2}) == {A: 1, B: 2}
    again.finish()
    finished = Snapshot(str(tmp_path))
    assert finished.get_many([A, B]) == {A: 1, B: 2}
    asyncio.run(finished.aclose())


def test_a_damaged_snapshot_and_somebody_else_s_folder_or_file_are_refused(tmp_path: Path) -> None:
    snapshot = Snapshot(str(tmp_path / "mine"))
    snapshot.keep_many({A: "text " * 9000})
    snapshot.finish()
    (file,) = (tmp_path / "mine").iterdir()
    whole = file.read_bytes()
    for damaged in (b"text", whole[:5000], whole[:100] + b"\xff" * (len(whole) - 100)):
        file.write_bytes(damaged)
        with pytest.raises(RunError, match=r"is damaged: .*; take a whole copy of it, or record"):
            Snapshot(str(tmp_path / "mine")).get_many([A])
    assert list((tmp_path / "mine").iterdir()) == [file]
    (tmp_path / "thesis.tex").write_text("…")
    for place in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(UsageError, match="neither a snapshot nor empty"):
            Snapshot(str(place))
