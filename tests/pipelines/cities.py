"""Six responses in three chunks, and a run over them that waits at one for a test to go on."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.pipelines.conftest import command, tables, write_lines

CITIES = ["Rome", "Bonn", "Oslo", "Lima", "Perth", "Quito"]


class Scene:
    """The source waits at the city `waits` for the file `gate`; at Oslo it fails while the file
    `down` is there."""

    def __init__(self, folder: Path, plug_in: str, waits: str = "Lima") -> None:
        self.folder, self.output, self.run = folder, folder / "out", folder / "out/run=r"
        self.log, self.gate, self.down = folder / "log", folder / "gate", folder / "down"
        self.input, self.config = folder / "in.jsonl", folder / "ufo.yaml"
        self.processes: list[subprocess.Popen[str]] = []
        self.waits = waits
        paths = {"log": str(self.log), "fails": str(self.down), "gate": str(self.gate)}
        source = {"name": "mine", "type": plug_in, "waits": waits, **paths}
        options = {"input": str(self.input), "run": "r", "sources": [source]}
        self.config.write_text(json.dumps({**options, "chunk_size": 2, "workers": 1}))
        self.write(CITIES)

    def write(self, cities: Iterable[str], **changes: Mapping[str, Any]) -> None:
        """Write a response for each city; `changes` are of the one of that name."""
        texts = {city: {"id": city, "response": f"{city} is a large city."} for city in cities}
        write_lines(self.input, [texts[city] | dict(changes.get(city, {})) for city in texts])

    def arguments(self, *flags: object) -> list[object]:
        return ["evaluate", "--config", self.config, "--output", self.output, *flags]

    def tables(self, run: str | None = None) -> Any:
        """What the run found; its sources are told with the paths of this scene."""
        rows_by_table = tables(self.output, run)
        return {name: rows for name, rows in rows_by_table.items() if name != "sources"}

    def asked(self) -> set[str]:
        """The cities that the source was asked about since this was last called."""
        places = {line.split()[1] for line in self.log_lines()}
        self.log.unlink(missing_ok=True)
        return places

    def log_lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def process_of(self, city: str) -> int:
        (line,) = [line for line in self.log_lines() if f" {city} " in line]
        return int(line.split()[0])

    def start(self, *flags: object) -> subprocess.Popen[str]:
        """Start the command in a group of its own; returns when it waits, the first chunk done."""
        process = subprocess.Popen(
            command(*self.arguments(*flags)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        deadline = time.monotonic() + 60
        while not (any(self.waits in line for line in self.log_lines()) and self.done(0)):
            if process.poll() is not None:
                raise AssertionError(f"the command ended early: {process.communicate()}")
            assert time.monotonic() < deadline, "the command did not get there"
            time.sleep(0.02)
        return process

    def done(self, chunk: int) -> bool:
        return any(self.output.glob(f"run=*/.attempt-*/chunks/{chunk:05d}/done.json"))


def end(
    process: subprocess.Popen[str], how: int, whom: Callable[[int, int], None] = os.killpg
) -> tuple[int, str]:
    """Send a signal, to the whole group as a terminal does; returns exit code and stderr."""
    whom(process.pid, how)
    _, err = process.communicate(timeout=60)
    return process.returncode, err
