"""A local Flink for the tests, by the command that a user has for it: one for all of them."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.llm_server import KEY
from tests.parts import missing
from ufo.schemas.cache_folder import cache_folder

ROOT = Path(__file__).parents[2]
ENDED = ("FINISHED", "CANCELED", "FAILED")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running local Flink: where it answers, the folder with its logs, the flags for a job."""

    url: str
    folder: Path
    flags: tuple[str, ...]
    environment: dict[str, str]

    def script(self, *words: str) -> str:
        done = subprocess.run(
            [ROOT / "scripts/flink", *words],
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, path: str) -> Any:
        with urlopen(f"{self.url}/{path}", timeout=30) as reply:
            return json.load(reply)

    def restarts(self) -> int:
        """How often Flink restarted the newest job."""
        newest = max(self.get("jobs/overview")["jobs"], key=lambda job: job["start-time"])
        log = (self.folder / "jobmanager.log").read_text().splitlines()
        return sum(newest["jid"] in line and "RUNNING to RESTARTING" in line for line in log)

    def workers(self, number: int) -> set[int]:
        """The process ids of the workers that the pool beside a task manager has started."""
        lines = (self.folder / f"pool-{number}.log").read_text().splitlines()
        return {int(line.split()[1]) for line in lines if line.startswith("worker ")}

    def running(self) -> list[str]:
        """The ids of the jobs that have not ended."""
        jobs = self.get("jobs/overview")["jobs"]
        return [job["jid"] for job in jobs if job["state"] not in ENDED]

    def until_none_runs(self) -> None:
        while self.running():
            time.sleep(0.1)

    def cancel_all(self) -> None:
        """Cancel every job that is there, and wait until none is."""
        for job in self.running():
            with suppress(HTTPError):  # it ends by itself
                urlopen(Request(f"{self.url}/jobs/{job}", method="PATCH"), timeout=30).close()
        self.until_none_runs()

    def kill(self, number: int) -> None:
        """Kill a task manager and the pool beside it, with its workers, as a lost machine would."""
        for name in (f"taskmanager-{number}", f"pool-{number}"):
            os.killpg(int((self.folder / f"{name}.pid").read_text()), 9)


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for listener in held:
        listener.bind(("localhost", 0))
    ports = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return ports


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Flink with two task managers and a pool of workers beside each."""
    if not (shutil.which("java") and shutil.which("mvn")):
        missing("needs Java 11 or newer and Maven: apt-get install default-jre-headless maven")
    rest, rpc, workers = free_ports(3)
    environment = {
        **os.environ,
        "UFO_VENV": sys.prefix,
        "UFO_FLINK_RUN": str(tmp_path_factory.mktemp("flink")),
        "UFO_FLINK_PORT": str(rest),
        "UFO_FLINK_RPC_PORT": str(rpc),
        "UFO_FLINK_POOL_PORT": str(workers),
        # Workers take what they inherit: keys are in no option and in no job.
        "OPENAI_API_KEY": KEY,
        # What workers bring to this machine goes with the tests; Flink itself stays.
        "UFO_FLINK_HOME": os.environ.get("UFO_FLINK_HOME") or str(cache_folder() / "flink"),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }
    folder = Path(environment["UFO_FLINK_RUN"])
    started = Cluster(f"http://localhost:{rest}", folder, (), environment)
    try:
        flags = started.script("start").split()
        yield Cluster(started.url, folder, tuple(flags), environment)
    finally:
        started.script("stop")
