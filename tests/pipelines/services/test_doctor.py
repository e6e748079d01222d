"""`ufo doctor`: what it says of endpoints of all kinds is true of them, and comes in time."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, LlmServer, Switches, faults
from tests.llm_server.chat import Chat, Reply
from ufo.pipelines.commands.doctor import register
from ufo.pipelines.options.arguments import Parser
from ufo.schemas.errors import UsageError

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
    return {line[2:16].strip(): line[17:].strip() for line in lines}


COLUMNS = ("tools", "structured", "strict schema", "n", "logprobs")
TRUE_OF: Mapping[str, tuple[str, ...]] = {
    "openai": ("reach the model", "tool", "enforced", "2 choices came", "came"),
    "ollama": (
        *("registry.ollama.ai/library/llama3:8b does not support tools", "json_schema"),
        *("enforced", "no ", "no "),
    ),
    "lmstudio": ("reach the model", "tool_choice required", "accepted, not kept", "no ", "no "),
    "llamacpp": ("tools param requires --jinja flag", "json_schema", "enforced", "no ", "came"),
    "vllm": ("reach the model", "tool", "enforced", "2 choices came", "came"),
}


@pytest.mark.parametrize("profile", PROFILES)
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
    expected = {
        **dict(zip(COLUMNS, TRUE_OF[profile], strict=True)),
        "token limit": "max_tokens: 16 tokens came where 16 were allowed",
        "model listed": "yes",
        "answers": "yes",
        "temperature 0": "accepted",
        "judging": "6 of 6 right",
        "recommended": "--formulation function",
    }
    wrong = {name: found.get(name) for name, what in expected.items() if what not in found[name]}
    assert wrong == {}


@pytest.mark.parametrize(
    ("switches", "what", "expected"),
    [
        (Switches(tools=IGNORED), "tools", "do not reach it"),
        (Switches(strict=IGNORED), "strict schema", "accepted, not kept"),
        (Switches(strict=REJECTED), "schema", "sent without `strict`, which is refused"),
        (Switches(max_tokens=IGNORED, max_completion_tokens=IGNORED), "token limit", "no "),
        (Switches(temperature_fixed=True), "temperature 0", "refused"),
        (Switches(tools=REJECTED, response_format=REJECTED), "strict schema", "not sent"),
    ],
    ids=["tools", "strict passed over", "strict refused", "limits", "temperature", "words"],
)
def test_what_a_server_passes_over_is_seen(
    llm_server: LlmServer, capsys: Printed, switches: Switches, what: str, expected: str
) -> None:
    llm_server.switches = switches
    assert asked(llm_server) == 0
    assert expected in said(capsys.readouterr().out)[what]


def test_a_model_that_is_not_listed_may_answer_all_the_same(
    llm_server: LlmServer, capsys: Printed
) -> None:
    class Unlisted(LlmServer):
        def _payload(self, request: Any, *rest: Any) -> Any:
            if request.path == "/v1/models":
                return {"object": "list", "data": [{"id": "offline-judge:latest"}]}
            return super()._payload(request, *rest)

    with Unlisted(keys=None) as server:
        assert asked(server) == 0
    found = said(capsys.readouterr().out)
    assert found["model listed"].startswith("no ")
    assert "did you mean 'offline-judge:latest'?" in found["model listed"]
    assert "another may answer in its name" in found["answers"]


class Talker:
    """A model that fills in no form, and judges well where it is asked for a word."""

    def __init__(self, words: str = "I would say that most of this is true.") -> None:
        self.words = words

    def matches(self, chat: Chat) -> bool:
        return chat.function == "verify_facts" or "verify_facts" in chat.system

    def answer(self, chat: Chat) -> Reply:
        return Reply(self.words, step="verify_facts")


def test_the_formulation_that_suits_the_model_is_recommended(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer([Talker()]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        assert asked(server, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert [(one["usable"], one["right"]) for one in row["judging"]] == [(0, 0), (0, 0), (6, 6)]
    assert row["recommended"] == "--formulation prompt"


def test_a_model_that_cannot_judge_is_not_recommended(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mumbler(Talker):
        def matches(self, chat: Chat) -> bool:
            return "Task: " in chat.system

    for words, expected in (
        ("Hm.", "none"),
        ("It is true.", "--formulation prompt   hardly better than chance"),
    ):
        with LlmServer([Mumbler(words)]) as server:
            monkeypatch.setenv("OPENAI_API_KEY", server.key)
            assert asked(server) == 0
        found = said(capsys.readouterr().out)["recommended"]
        assert found.startswith(expected)
        assert "another --model, or --judge offline" in found


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
    assert (first["n"], first["recommended"]) == (True, "--formulation function")
    assert second["roles"] == ["knowledge"]
    assert (second["model"], second["n"]) == ("offline-knowledge", False)


class _Always:
    """Does the same wrong to every request for a completion, or to those after the first few."""

    def __init__(self, fault: faults.Fault, after: int = 0) -> None:
        self.fault = fault
        self.left = after

    def next(self, body: bytes) -> faults.Fault | None:
        self.left -= 1
        return self.fault if self.left < 0 else None


@pytest.mark.parametrize(
    ("answered", "code", "tells"),
    [
        (0, 1, "cannot be used: no answer within --timeout 3 s; check that the server runs"),
        (3, 0, "the rest was not tested: --timeout 3 s is over"),
    ],
)
def test_it_ends_in_time_whatever_the_server_does(
    llm_server: LlmServer, capsys: Printed, answered: int, code: int, tells: str
) -> None:
    asked(llm_server)  # what is imported at the first request takes its time
    llm_server.mix = _Always(faults.hang(), answered)  # type: ignore[assignment]
    assert asked(llm_server, "--timeout", "3") == code
    assert tells in capsys.readouterr().out


def test_each_line_is_printed_as_soon_as_it_is_known(llm_server: LlmServer) -> None:
    seen: list[tuple[str, int]] = []

    class Out:
        def write(self, text: str) -> int:
            if text.strip():
                seen.append((text[2:16].strip(), len(llm_server.chats)))
            return len(text)

        def flush(self) -> None:
            """Nothing is kept back."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", Out())
        assert asked(llm_server) == 0
    counts = dict(seen)
    assert counts["model listed"] == 0 < counts["answers"] < counts["tools"]
    assert counts["tools"] < counts["token limit"] < counts["judging"]


@pytest.mark.parametrize(
    ("flags", "facts", "remedy"),
    [
        (["--model", "offline-jury"], (True, True), "Did you mean 'offline-judge'?"),
        (["--base_url", "http://127.0.0.1:9"], (False, None), "check --base_url"),
    ],
)
def test_an_endpoint_that_cannot_be_used(
    llm_server: LlmServer,
    flags: list[str],
    facts: tuple[bool | None, ...],
    remedy: str,
    capsys: Printed,
) -> None:
    assert asked(llm_server, *flags, "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["reachable"], row["key_accepted"]) == facts
    assert remedy in row["problem"]
    assert not row["usable"]


def test_a_wrong_key(
    llm_server: LlmServer, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    assert asked(llm_server) == 1
    printed = capsys.readouterr().out
    assert "cannot be used" in printed
    assert "OPENAI_API_KEY" in printed
    assert "4711" not in printed


def test_one_unusable_endpoint_among_two(llm_server: LlmServer) -> None:
    assert asked(llm_server, "--knowledge_model", "nobody") == 1


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
