"""`ufo doctor`: what it says of endpoints of all kinds is true of them, and comes in time."""

import argparse
import json
import time

import pytest

from tests.llm_server import IGNORED, PROFILES, LlmServer, Switches, faults
from tests.llm_server.chat import Chat, Reply
from ufo.pipelines.commands.doctor import register
from ufo.pipelines.options.option import Parser

Printed = pytest.CaptureFixture[str]


def doctor(*words: str) -> int:
    parser = Parser(prog="ufo")
    register(parser.add_subparsers(parser_class=Parser))
    arguments: argparse.Namespace = parser.parse_args(["doctor", *words])
    return int(arguments.handler(arguments))


def asked(server: LlmServer, *words: str) -> int:
    flags = ("--base_url", server.base_url, "--model", "offline-judge", "--timeout", "600")
    return doctor(*flags, *words)


def said(printed: str) -> dict[str, str]:
    """What was said of each thing that was tested."""
    lines = [line for line in printed.splitlines() if line.startswith("  ")]
    return {line[2:11].strip(): line[12:].strip() for line in lines}


FORMS = {"openai": "tool", "lmstudio": "tool_choice required", "vllm": "tool"}


@pytest.mark.parametrize("profile", ["openai", "ollama", "lmstudio", "llamacpp", "vllm"])
def test_what_is_said_of_a_server_is_true_of_it(
    llm_server: LlmServer, capsys: Printed, profile: str
) -> None:
    llm_server.switches = PROFILES[profile]
    assert asked(llm_server) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        f"offline-judge at {llm_server.base_url} (verifier, extractor, knowledge)\n"
    )
    found = said(printed)
    assert found["form"] == FORMS.get(profile, "json_schema")
    assert "not known" in found["context"]
    assert found["judging"] == "2 of 2 right, 2 usable"


class Mumbler:
    """A model that fills in no form of a judgement; with `a_word`, one that is asked for a word
    judges well."""

    def __init__(self, words: str, a_word: bool = False) -> None:
        self.words, self.a_word = words, a_word

    def matches(self, chat: Chat) -> bool:
        form = chat.function == "verify_facts" or "verify_facts" in chat.system
        return form or ("Task: " in chat.system and not self.a_word)

    def answer(self, chat: Chat) -> Reply:
        return Reply(self.words, step="verify_facts")


def test_a_model_is_judged_by_the_formulation_that_is_asked_for(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer([Mumbler("I would say that most of this is true.", a_word=True)]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        assert asked(server, "--json") == 1
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["usable_judgements"], row["usable"]) == (0, False)
        assert "no judgement was usable" in row["problem"]
        assert "take --formulation prompt, another --model" in row["problem"]
        assert asked(server, "--json", "--formulation", "prompt") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["usable_judgements"], row["right_judgements"]) == (2, 2)
    with LlmServer([Mumbler("It is true.")]) as server:
        assert asked(server, "--formulation", "prompt") == 0
    assert "1 of 2 right, 2 usable: no better than guessing" in capsys.readouterr().out


def test_an_endpoint_for_each_role_as_json(llm_server: LlmServer, capsys: Printed) -> None:
    with LlmServer(keys=None, switches=Switches(n=IGNORED)) as other:
        code = asked(
            llm_server,
            *("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge"),
            "--json",
        )
        assert "verify_facts" not in {entry.step for entry in other.chats}
    first, second = json.loads(capsys.readouterr().out)
    assert code == 0
    assert first["roles"] == ["verifier", "extractor"]
    assert first["right_judgements"] == 2
    assert second["roles"] == ["knowledge"]
    assert (second["model"], "right_judgements" in second) == ("offline-knowledge", False)


class _Always:
    """Does the same wrong to every request for a completion."""

    def __init__(self, fault: faults.Fault) -> None:
        self.fault = fault

    def next(self, body: bytes) -> faults.Fault | None:
        return self.fault


def test_it_ends_in_time_with_a_verdict_whatever_the_server_does(
    llm_server: LlmServer, capsys: Printed
) -> None:
    asked(llm_server)  # what is imported at the first request takes its time
    capsys.readouterr()
    llm_server.mix = _Always(faults.hang())  # type: ignore[assignment]
    begun = time.monotonic()
    assert asked(llm_server, "--timeout", "2") == 1
    assert time.monotonic() - begun < 4
    expected = "cannot be used: too slow, or busy: no judgement within"
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "flags", "remedy"),
    [
        (None, ["--model", "offline-jury"], "Did you mean 'offline-judge'?"),
        (None, ["--base_url", "http://127.0.0.1:9"], "check --base_url"),
        (None, ["--knowledge_model", "nobody"], "nobody"),
        ("sk-secret-4711", [], "OPENAI_API_KEY"),
    ],
)
def test_an_endpoint_that_cannot_be_used(
    llm_server: LlmServer,
    key: str | None,
    flags: list[str],
    remedy: str,
    capsys: Printed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key or llm_server.key)
    assert asked(llm_server, *flags, "--json") == 1
    printed = capsys.readouterr().out
    row = json.loads(printed)[-1]
    assert remedy in row["problem"]
    assert not row["usable"]
    assert "4711" not in printed
