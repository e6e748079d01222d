import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.llm_server import LlmServer
from ufo.pipelines.cli import main
from ufo.pipelines.commands.serve import setup
from ufo.transforms.judges.judge import JudgeSpec
from ufo.webapp.server import served


def test_the_command_serves_until_interrupted(index: Path, tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--index", str(index), "--results", str(tmp_path / "none"))
    command = [sys.executable, "-m", "ufo.pipelines.cli", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = line.split("serving at ")[1].split()[0]
        assert httpx.get(f"{address}runs", trust_env=False).json() == []
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert (process.wait(30), rest) == (0, "")


def test_a_port_that_is_taken_is_reported(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--index", str(index)]) == 2
    error = capsys.readouterr().err
    assert str(port) in error
    assert "another port" in error


def test_an_index_that_is_none_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", "--index", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_a_wrong_flag_of_evaluate_is_reported(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("serve", "--port", "0", "--index", str(index), "--base_url", "http://127.0.0.1:9/v1")
    assert main([*words, "--formulation", "prompt", "--citation"]) == 2
    assert "--citation is for --formulation function" in capsys.readouterr().err


def test_flags_of_evaluate_hold_where_a_request_does_not_say_otherwise(
    index: Path, tmp_path: Path
) -> None:
    flags = {
        "model": "small",
        "base_url": "http://127.0.0.1:9/v1",
        "citation": True,
        "facts_per_call": 4,
        "concurrency": 3,
    }
    ready = setup(str(tmp_path), str(index), flags=flags)
    assert (ready.judge, ready.model) == ("llm", "small")

    def asked(**request: object) -> JudgeSpec:
        sources = ["reference"]
        return ready.job_of(ready.flags_of(request, sources), sources).judge

    usual = asked()
    assert usual.llm is not None
    assert usual.client is not None
    assert (usual.llm.citation, usual.llm.facts_per_call, usual.client.concurrency) == (True, 4, 3)
    assert usual.client.endpoints["verifier"].base_url == "http://127.0.0.1:9/v1"
    other = asked(model="large", formulation="prompt")
    assert other.llm is not None
    assert (other.llm.model, other.llm.formulation) == ("large", "prompt")
    assert asked(judge="offline").name == "offline"


def test_the_page_checks_by_the_model_of_the_command_line(index: Path, tmp_path: Path) -> None:
    with LlmServer(keys=None) as server:
        flags = {"model": "offline-judge", "base_url": server.base_url, "cache": "off"}
        with served(setup(str(tmp_path), str(index), flags=flags)) as address:
            asked = {"text": "Oslo is in Norway.", "references": ["Oslo is in Norway."]}
            asked |= {"sources": ["reference"]}
            reply = httpx.post(f"{address}/check", json=asked, timeout=60, trust_env=False)
        assert reply.status_code == 200
        assert {entry.body["model"] for entry in server.chats} == {"offline-judge"}
        assert {entry.step for entry in server.chats} >= {"extract_facts", "verify_facts"}
