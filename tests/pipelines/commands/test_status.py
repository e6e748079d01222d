"""`ufo status` on runs that are finished, running, killed, and of before it was there."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Ufo = Callable[..., Any]


@pytest.fixture
def arguments(tmp_path: Path, recording: str, write_lines: Any) -> list[object]:
    """Six responses in three chunks; the source waits in the second one for a file."""
    cities = ["Rome", "Bonn", "Oslo", "Lima", "Perth", "Quito"]
    lines = [{"id": city, "response": f"{city} is a large city."} for city in cities]
    waits = {"waits": "Lima", "gate": str(tmp_path / "gate")}
    source = {"name": "mine", "type": recording, "log": str(tmp_path / "log"), **waits}
    config = tmp_path / "ufo.yaml"
    config.write_text(json.dumps({"sources": [source], "chunk_size": 2, "run": "r"}))
    given = write_lines(tmp_path / "in.jsonl", lines)
    out = tmp_path / "out"
    return ["evaluate", "--config", config, "--input", given, "--output", out, "--workers", 1]


def of(ufo: Ufo, folder: Path) -> list[dict[str, Any]]:
    done = ufo("status", folder, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = done.json
    return found


@pytest.fixture
def waiting(
    arguments: list[object], command: Callable[..., list[str]], tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The command under way, its first chunk done."""
    process = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    log = tmp_path / "log"
    while not (log.exists() and "Lima" in log.read_text()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)


def test_a_run_that_is_under_way_and_then_killed(
    waiting: subprocess.Popen[bytes],
    arguments: list[object],
    ufo: Ufo,
    tmp_path: Path,
) -> None:
    (running,) = of(ufo, tmp_path / "out")
    assert (running["run"], running["state"], running["pid"]) == ("r", "running", waiting.pid)
    assert (running["chunks"], running["of_chunks"]) == (1, 3)
    assert (running["lines"], running["of_lines"]) == (2, 6)
    assert running["started_at"] <= running["changed_at"]
    text = ufo("status", tmp_path / "out").out
    assert "running" in text
    assert "1 of 3 chunks" in text

    # An attempt of another machine, and one that tells nothing.
    (note,) = (tmp_path / "out").glob("run=r/.attempt-*/process.json")
    told = note.read_text()
    note.write_text(json.dumps({**json.loads(told), "host": "other.example"}))
    (found,) = of(ufo, tmp_path / "out")
    assert (found["state"], "other.example" in found["next"]) == ("elsewhere", True)
    note.unlink()
    (found,) = of(ufo, tmp_path / "out")
    assert (found["state"], "the same command" in found["next"]) == ("stopped", True)
    note.write_text(told)

    os.killpg(waiting.pid, signal.SIGKILL)
    waiting.communicate(timeout=60)
    (stopped,) = of(ufo, tmp_path / "out")
    assert stopped["state"] == "stopped"
    assert stopped["chunks"] == 1

    (tmp_path / "gate").touch()
    # What it says that completes the run does.
    words = stopped["next"].split()
    assert words[:2] == ["ufo", "evaluate"]
    assert ufo(*words[1:]).code == 0
    (finished,) = of(ufo, tmp_path)  # in a folder below
    assert finished["state"] == "finished"
    assert finished["rows"] == {"responses": 6, "units": 6, "failures": 0}
    assert "finished" in ufo("status", f"{tmp_path}/./out/").out


def test_a_password_in_an_address_is_not_kept(ufo_process: Ufo, tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text('{"response": "Oslo is large.", "claims": [{"claim": "Oslo is large."}]}\n')
    address = "http://me:geheim@127.0.0.1:1/v1?key=geheim"
    words = ("--input", given, "--output", tmp_path / "out", "--judge", "llm")
    llm = ("--base_url", address, "--model", "m", "--retry_seconds", 0, "--run", "r")
    ufo_process("evaluate", *words, *llm, "--sources", "llm")
    notes = list((tmp_path / "out").rglob("process.json"))
    assert all("geheim" not in note.read_text() for note in notes)


@pytest.mark.parametrize("manifest", ["{", "{}", "5"])
def test_a_damaged_manifest_is_reported_by_whoever_reads_it(
    ufo: Ufo, tmp_path: Path, write_lines: Any, manifest: str
) -> None:
    folder = tmp_path / "run=r"
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest)
    (found,) = ufo("status", tmp_path, "--json").json
    assert found["state"] == "damaged"
    assert "remove" in found["next"]
    shown = ufo("status", tmp_path)
    assert shown.code == 1
    assert "r  damaged" in shown.out
    assert found["next"] in shown.err
    given = write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is a city."}])
    for flags in (["--run", "r"], ["--run", "s", "--since", "r"]):
        done = ufo("evaluate", "--input", given, "--output", tmp_path, "--workers", 1, *flags)
        assert done.code == 1
        assert f"remove {str(folder)!r}" in done.err
