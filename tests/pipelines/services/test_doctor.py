"""`ufo doctor`: what it prints of endpoints of all kinds, and its exit codes."""

import argparse
import json

import pytest

from pipelines.commands.doctor import register
from pipelines.options.arguments import Parser
from schemas.errors import UsageError
from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches


def doctor(*words: str) -> int:
    parser = Parser(prog="ufo")
    register(parser.add_subparsers(parser_class=Parser))
    arguments: argparse.Namespace = parser.parse_args(["doctor", *words])
    return int(arguments.handler(arguments))


def test_an_endpoint_that_can_do_everything(
    llm_server: LlmServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor("--base_url", llm_server.base_url, "--model", "offline-judge") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        f"offline-judge at {llm_server.base_url} (verifier, extractor, knowledge)\n"
    )
    assert " no" not in printed
    assert "max_tokens" in printed
    assert len(llm_server.requests) == 2


def test_what_is_done_where_an_endpoint_cannot(
    llm_server: LlmServer, capsys: pytest.CaptureFixture[str]
) -> None:
    llm_server.switches = Switches(
        tools=IGNORED, n=REJECTED, logprobs=IGNORED, temperature_fixed=True, max_tokens=REJECTED
    )
    assert doctor("--base_url", llm_server.base_url, "--model", "offline-judge") == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    said = {words[0]: words[1] for words in lines}
    assert "JSON is asked for (response_format json_schema)" in said["tools"]
    assert "one request for each sample" in said["n"]
    assert "logprob_mean stays empty" in said["logprobs"]


def test_an_endpoint_for_each_role_as_json(
    llm_server: LlmServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with LlmServer(keys=None, switches=Switches(n=IGNORED)) as other:
        code = doctor(
            *("--base_url", llm_server.base_url, "--model", "offline-judge"),
            *("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge"),
            "--json",
        )
    first, second = json.loads(capsys.readouterr().out)
    assert code == 0
    assert first["roles"] == ["verifier", "extractor"]
    assert first["instead"] == {}
    assert second["roles"] == ["knowledge"]
    assert (second["model"], second["n"]) == ("offline-knowledge", False)
    assert second["instead"] == {"n": "one request for each sample"}


@pytest.mark.parametrize(
    ("flags", "facts", "remedy"),
    [
        (["--model", "offline-jury"], (True, True, False), "Did you mean 'offline-judge'?"),
        (["--base_url", "http://127.0.0.1:9"], (False, None, None), "check --base_url"),
        (["--base_url", "localhost"], (None, None, None), "http://localhost:8000/v1"),
    ],
)
def test_an_endpoint_that_cannot_be_used(
    llm_server: LlmServer,
    flags: list[str],
    facts: tuple[bool | None, ...],
    remedy: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert doctor("--base_url", llm_server.base_url, *flags, "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["reachable"], row["key_accepted"], row["model_known"]) == facts
    assert remedy in row["problem"]
    assert not row["usable"]


def test_a_wrong_key(
    llm_server: LlmServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    assert doctor("--base_url", llm_server.base_url, "--model", "offline-judge") == 1
    printed = capsys.readouterr().out
    assert "cannot be used" in printed
    assert "OPENAI_API_KEY" in printed
    assert "4711" not in printed


def test_one_unusable_endpoint_among_two(llm_server: LlmServer) -> None:
    flags = ["--base_url", llm_server.base_url, "--model", "offline-judge"]
    assert doctor(*flags, "--knowledge_model", "nobody") == 1


def test_nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"set OPENAI_API_KEY, or .* --base_url"):
        doctor()


def test_a_knowledge_model_alone(llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    llm_server.keys = None
    words = ("--knowledge_base_url", llm_server.base_url, "--knowledge_model", "offline-knowledge")
    assert doctor(*words) == 0
    assert {entry.body["model"] for entry in llm_server.chats} == {"offline-knowledge"}


def test_a_timeout_out_of_bounds() -> None:
    with pytest.raises(UsageError, match="--timeout"):
        doctor("--timeout", "0")
