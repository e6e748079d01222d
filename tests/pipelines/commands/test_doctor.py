"""`ufo doctor`: what it says of endpoints of all kinds is true of them, and comes in time."""

import time
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, LlmServer, Switches, faults
from tests.llm_server.chat import Chat, Reply
from tests.pipelines.conftest import Outcome, ufo


def asked(server: LlmServer, *words: object) -> Outcome:
    flags = ("--base_url", server.base_url, "--model", "offline-judge", "--timeout", 600)
    return ufo("doctor", *flags, *words)


def fields_of(printed: str) -> dict[str, str]:
    """What was said of each thing that was tested."""
    lines = [line for line in printed.splitlines() if line.startswith("  ")]
    return {line[2:11].strip(): line[12:].strip() for line in lines}


FORMS = {"openai": "tool", "lmstudio": "tool_choice required", "vllm": "tool"}


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_said_of_a_server_is_true_of_it(llm_server: LlmServer, profile: str) -> None:
    llm_server.switches = PROFILES[profile]
    done = asked(llm_server)
    head = f"offline-judge at {llm_server.base_url} (verifier, extractor, knowledge)\n"
    assert done.code == 0, done
    assert done.out.startswith(head), done
    printed = fields_of(done.out)
    assert printed["form"] == FORMS.get(profile, "json_schema")
    stated = PROFILES[profile].states
    assert printed["context"] == ("4,096 tokens" if stated else "not known (--context N sets it)")
    assert printed["judging"] == "2 of 2 right, 2 usable"


def test_a_model_of_knowledge_alone_is_asked(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KNOWLEDGE_API_KEY", llm_server.key)
    where = ("--knowledge_base_url", llm_server.base_url, "--knowledge_model", "offline-judge")
    done = ufo("doctor", *where, "--formulation", "prompt")
    assert done.code == 0, done
    assert done.out.startswith(f"offline-judge at {llm_server.base_url} (knowledge)\n")


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LlmServer([Mumbler("I would say that most of this is true.", a_word=True)]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        done = asked(server, "--json")
        (row,) = done.json
        assert done.code == 1
        assert row["usable_judgements"] == 0
        assert row["usable"] is False
        assert "no judgement was usable" in row["problem"]
        assert "take --formulation prompt, another --model" in row["problem"]
        (row,) = asked(server, "--json", "--formulation", "prompt").json
    assert row["usable_judgements"] == 2
    assert row["right_judgements"] == 2
    assert row["usable"] is True
    with LlmServer([Mumbler("It is true.")]) as server:
        done = asked(server, "--formulation", "prompt")
    assert done.code == 0
    assert "1 of 2 right, 2 usable: no better than guessing" in done.out


def test_of_a_model_that_cannot_refute_no_refuted_claim_is_expected(llm_server: LlmServer) -> None:
    done = asked(llm_server, "--formulation", "minicheck")
    assert done.code == 0
    assert "2 of 2 right, 2 usable; it never calls a claim contradicted" in done.out


def test_an_endpoint_for_each_role_as_json(llm_server: LlmServer) -> None:
    with LlmServer(keys=None, switches=Switches(n=IGNORED)) as other:
        at = ("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge")
        done = asked(llm_server, *at, "--json")
        assert "verify_facts" not in {entry.step for entry in other.chats}
    first, second = done.json
    assert done.code == 0
    assert first["roles"] == ["verifier", "extractor"]
    assert first["right_judgements"] == 2
    assert second["roles"] == ["knowledge"]
    assert second["model"] == "offline-knowledge"
    assert "right_judgements" not in second


def test_an_endpoint_that_is_not_configured_is_left_out() -> None:
    with LlmServer(keys=None) as server:
        at = ("--knowledge_base_url", server.base_url, "--knowledge_model", "offline-knowledge")
        (row,) = ufo("doctor", *at, "--json").json
        assert "verify_facts" not in {entry.step for entry in server.chats}
    assert row["roles"] == ["knowledge"]


@pytest.mark.parametrize(
    ("flags", "models"),
    [
        pytest.param([], {"offline-judge"}, id="one of all roles"),
        pytest.param(
            ["--extractor_model", "offline-extractor"],
            {"offline-judge", "offline-extractor"},
            id="the extractor's",
        ),
        pytest.param(
            ["--knowledge_model", "offline-knowledge"],
            {"offline-judge", "offline-knowledge"},
            id="the knowledge's",
        ),
    ],
)
def test_each_model_is_asked(llm_server: LlmServer, flags: list[str], models: set[str]) -> None:
    rows = asked(llm_server, *flags, "--json").json
    assert {row["model"] for row in rows} == models
    assert {row["api_key_env"] for row in rows} == {"OPENAI_API_KEY"}
    assert {entry.body["model"] for entry in llm_server.chats} == models


def test_the_extractor_has_an_address_of_its_own(llm_server: LlmServer) -> None:
    with LlmServer(keys=None) as other:
        rows = asked(llm_server, "--extractor_base_url", other.base_url, "--json").json
        assert other.chats
    assert [row["roles"] for row in rows] == [["verifier", "knowledge"], ["extractor"]]


def test_requests_are_those_of_a_run(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", "facts")
    flags = ("--header", "X-Team=TEAM", "--body_json", '{"top_k": 7}', "--reasoning_effort", "low")
    assert asked(llm_server, *flags).code == 0
    assert llm_server.chats
    for entry in llm_server.chats:
        assert entry.headers["x-team"] == "facts"
        assert entry.body["top_k"] == 7
        assert entry.body["reasoning_effort"] == "low"


def test_the_context_is_told(llm_server: LlmServer) -> None:
    (row,) = asked(llm_server, "--context", 12345, "--json").json
    assert row["context"] == 12_345
    context = fields_of(asked(llm_server, "--context", 12345).out)["context"]
    assert context == "12,345 tokens"


class _Always:
    """Does the same wrong to every request for a completion."""

    def __init__(self, fault: faults.Fault) -> None:
        self.fault = fault

    def next(self, body: bytes) -> faults.Fault | None:
        return self.fault


def test_it_ends_in_time_which_the_endpoints_share_whatever_the_server_does(
    llm_server: LlmServer,
) -> None:
    asked(llm_server)  # what is imported at the first request takes its time
    llm_server.mix = _Always(faults.hang())  # type: ignore[assignment]
    begun = time.monotonic()
    done = asked(llm_server, "--knowledge_model", "offline-knowledge", "--timeout", 2)
    assert time.monotonic() - begun < 4
    assert done.code == 1
    assert done.out.count("cannot be used: too slow, or busy: no judgement within 1 s;") == 2


@pytest.mark.parametrize(
    ("key", "flags", "remedy"),
    [
        (None, ["--model", "offline-jury"], "Did you mean 'offline-judge'?"),
        (None, ["--base_url", "http://127.0.0.1:9"], "check --base_url"),
        (None, ["--knowledge_model", "nobody"], "nobody"),
        ("sk-secret-4711", [], "OPENAI_API_KEY"),
    ],
    ids=["a misspelt model", "nobody listens", "an unknown knowledge model", "a wrong key"],
)
def test_an_endpoint_that_cannot_be_used(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, key: Any, flags: list[str], remedy: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key or llm_server.key)
    done = asked(llm_server, *flags, "--json")
    row = done.json[-1]
    assert done.code == 1
    assert row["usable"] is False
    assert remedy in row["problem"]
    assert "4711" not in done.out
