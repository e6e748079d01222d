"""The command `ufo serve`: what it starts with, what it refuses, how it ends."""

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm_server import LlmServer
from tests.webapp.conftest import command, opened
from ufo.pipelines.cli import main
from ufo.pipelines.commands.serve import setup


def test_the_command_serves_until_interrupted(index: Path, tmp_path: Path) -> None:
    with command("--index", index, "--results", tmp_path / "none") as (process, client):
        assert client.get("/runs").json() == []
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait() == 0


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_what_cannot_be_served_is_reported(
    index: Path,
    taken: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("UFO_TOKEN", raising=False)
    wrong = ("--base_url", "http://127.0.0.1:9/v1", "--formulation", "prompt", "--citation")
    for words, *said in (
        (("--port", str(taken), "--index", str(index)), str(taken), "another port"),
        (("--port", "0", "--index", str(tmp_path)), str(tmp_path)),
        ((*wrong, "--index", str(index)), "--citation is for --formulation function"),
        (("--host", "0.0.0.0", "--index", str(index)), "UFO_TOKEN"),
    ):
        assert main(["serve", *words]) == 2
        error = capsys.readouterr().err
        assert all(one in error for one in said), error


def test_flags_of_evaluate_hold_where_a_request_does_not_say_otherwise(
    index: Path, tmp_path: Path
) -> None:
    text = "Oslo is in Norway."
    asked = {"text": text, "references": [text], "sources": ["reference"]}
    with LlmServer(keys=None) as server:
        flags = {"model": "offline-judge", "base_url": server.base_url, "cache": "off"}
        made = setup(str(tmp_path), str(index), flags=flags | {"citation": True})
        assert made.judge == "llm"
        assert made.model == "offline-judge"
        with opened(made) as client:

            def steps(**more: str) -> dict[str, str]:
                """What is asked for each step."""
                before = len(server.chats)
                assert client.post("/check", json=asked | more).status_code == 200
                return {entry.step: json.dumps(entry.body) for entry in server.chats[before:]}

            usual = steps()
            assert usual.keys() >= {"extract_facts", "verify_facts"}
            assert "citation" in usual["verify_facts"]
            assert all('"model": "offline-judge"' in body for body in usual.values())
            assert "verify_facts" not in steps(formulation="prompt")
            assert steps(judge="offline") == {}
