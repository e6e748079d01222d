"""The command `ufo serve`: what it starts with, what it refuses, how it ends."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.llm_server import LlmServer
from tests.webapp.conftest import command, opened
from ufo.pipelines.cli import main
from ufo.pipelines.commands.serve import example_index, setup
from ufo.pipelines.options.choose_sources import offered_sources
from ufo.pipelines.version import VERSION
from ufo.schemas.errors import UsageError
from ufo.webapp import about, request_models
from ufo.webapp.service import Service, Setup


def test_the_command_serves_until_interrupted(index: Path, tmp_path: Path) -> None:
    with command("--index", index, "--results", tmp_path / "none") as (process, client):
        assert client.get("/runs").json() == []
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_an_answer_on_an_open_connection_is_not_held_back(client: httpx.Client) -> None:
    """A client acknowledges after 40 ms what it has got; an answer in two parts must not wait."""
    seconds = []
    for _ in range(30):
        began = time.perf_counter()
        assert client.get("/health").status_code == 200
        seconds.append(time.perf_counter() - began)
    assert sorted(seconds)[8] < 0.035  # the first few are acknowledged at once


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--index", "EMPTY"], "EMPTY", id="a folder that is no index"),
        pytest.param(
            ["--base_url", "http://127.0.0.1:9/v1", "--formulation", "prompt", "--citation"],
            "--citation is for --formulation function",
            id="flags that do not go together",
        ),
        pytest.param(
            ["--results", "gs://b/out/"],
            "--results 'gs://b/out/': the page browses and writes runs on this machine; name a "
            "folder, and bring runs there: 'gcloud storage cp -r gs://b/out/* DIR'",
            id="runs in a bucket",
        ),
    ],
)
def test_what_cannot_be_served_is_reported(
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    arguments = [word.replace("EMPTY", str(tmp_path)) for word in words]
    assert main(["serve", "--port", "0", "--index", str(index), *arguments]) == 2
    assert message.replace("EMPTY", str(tmp_path)) in capsys.readouterr().err


# Who may use the service is decided before anybody listens; a port that is taken ends it then.
@pytest.mark.parametrize(
    ("host", "token", "message"),
    [
        ("127.0.0.1", "", "cannot be used: Address already in use; choose another port"),
        ("localhost", "", "cannot be used"),
        ("::1", "", "--host ::1 --port"),
        ("0.0.0.0", "", "--host '0.0.0.0' opens the service to other computers, which needs"),
        ("127.0.0.2", "", "UFO_TOKEN"),
        ("0.0.0.0", "secret", "--host 0.0.0.0 --port"),
    ],
    ids=["this computer", "its name", "IPv6", "all computers", "another name", "with a token"],
)
def test_a_service_for_others_needs_a_token(
    index: Path,
    taken: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    token: str,
    message: str,
) -> None:
    monkeypatch.setenv("UFO_TOKEN", token)
    with socket.socket(socket.AF_INET6) as other:
        if host == "::1":
            with suppress(OSError):  # a machine without IPv6 cannot listen there either
                other.bind((host, taken))
                other.listen()
        words = ["--host", host, "--port", str(taken), "--index", str(index)]
        assert main(["serve", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_set_up_has_what_is_given(index: Path) -> None:
    service_setup = setup("some/runs", str(index), "secret")
    assert service_setup.results == Path("some/runs").absolute()
    assert service_setup.index == str(index)
    assert service_setup.token == "secret"
    assert service_setup.version == VERSION
    assert list(service_setup.evaluate[1:]) == ["-m", "ufo.pipelines.cli", "evaluate"]


AT = {"base_url": "http://127.0.0.1:9/v1"}


def values_of(service_setup: Setup) -> dict[str, Any]:
    """What the service uses where a request does not say otherwise."""
    return {one.name: one.value for one in about.options(Service(service_setup)).settings}


@pytest.mark.parametrize(
    ("flags", "other"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"verifier": "bundled"}, {"verifier": "bundled"}, id="a verifier"),
        pytest.param({**AT, "model": "m"}, {"judge": "llm", "model": "m"}, id="an endpoint"),
        pytest.param(
            {**AT, "model": "m", "judge": "offline"},
            {"model": "m"},
            id="an endpoint that the judge does not ask",
        ),
        pytest.param(
            {**AT, "model": "minicheck-7b"},
            {"judge": "llm", "model": "minicheck-7b", "formulation": "minicheck"},
            id="a model that is asked in its own form",
        ),
    ],
)
def test_the_settings_follow_from_the_flags(
    index: Path, monkeypatch: pytest.MonkeyPatch, flags: dict[str, Any], other: dict[str, Any]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    values = values_of(setup("runs", str(index), flags=flags))
    usual = {"judge": "offline", "verifier": "overlap", "model": None, "formulation": "function"}
    assert {name: values[name] for name in usual} == {**usual, **other}


@pytest.mark.parametrize(
    ("usual", "asked", "sources", "flags"),
    [
        pytest.param(
            {"passages": 3, "context_sentences": 1},
            {"passages": 9},
            None,
            {"passages": 9, "context_sentences": 1},
            id="what is asked goes before what is usual",
        ),
        pytest.param(
            {**AT, "citation": True},
            {"formulation": "prompt"},
            None,
            {**AT, "formulation": "prompt"},
            id="what the formulation does not take",
        ),
        pytest.param(
            {**AT, "formulation": "prompt"},
            {"judge": "offline"},
            None,
            {**AT, "judge": "offline"},
            id="what the judge does not take",
        ),
        pytest.param(
            {"retriever": "bm25"}, {}, ["reference"], {}, id="what no source that is asked takes"
        ),
        pytest.param(
            {"retriever": "bm25"},
            {},
            ["wikipedia"],
            {"retriever": "bm25"},
            id="what a source that is asked takes",
        ),
        pytest.param(
            {},
            {"retriever": "bm25"},
            ["reference"],
            {"retriever": "bm25"},
            id="what is asked for, to be refused",
        ),
        pytest.param(
            {**AT, "temperature": 0.5}, {}, ["reference"], {**AT, "temperature": 0.5},
            id="what the usual judge's model takes",
        ),
    ],
)  # fmt: skip
def test_a_request_has_the_flags_of_the_service_that_fit_it(
    index: Path,
    monkeypatch: pytest.MonkeyPatch,
    usual: dict[str, Any],
    asked: dict[str, Any],
    sources: list[str] | None,
    flags: dict[str, Any],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    service = Service(setup("runs", str(index), flags=usual))
    assert (
        request_models.flags_of(
            service, request_models.CheckRequest(text="t", references=[], **asked), sources
        )
        == flags
    )


def test_paths_stay_those_of_the_folder_that_the_service_was_started_in(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asks").mkdir()
    (tmp_path / "asks" / "repair.txt").write_text("Again: {wrong}")
    (tmp_path / "prices.yaml").write_text("m: {input: 1, output: 2}\n")
    monkeypatch.chdir(tmp_path)
    paths = {"prompts": "asks", "prices": "prices.yaml"}
    service = setup(
        "runs", str(index), flags={**AT, "judge": "llm", "web_snapshot": "pages", **paths}
    )
    flags = request_models.flags_of(
        Service(service), request_models.CheckRequest(text="t", references=[]), None
    )
    assert flags["prompts"] == f"{tmp_path}/asks"
    assert flags["prices"] == f"{tmp_path}/prices.yaml"
    assert flags["web_snapshot"] == f"{tmp_path}/pages"


def test_a_job_searches_the_index_of_the_service(index: Path) -> None:
    service = Service(setup("runs", str(index)))
    job = request_models.job_of(
        service, request_models.CheckRequest(text="t", references=[]), ["wikipedia"]
    )
    assert job.flags["index"] == str(index)


def test_what_sources_are_is_said_with_the_flags_of_the_service(index: Path) -> None:
    service = Service(setup("runs", str(index), flags={"passages": 7}))
    sources = {one.source: one for one in offered_sources(service.settings)}
    assert sources["wikipedia"].status == "used"
    assert json.loads(sources["reference"].options)["passages"] == 7


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["nonsense"], "unknown fact source of a service 'nonsense'; allowed: llm"),
        (["web"], "the fact source 'web' cannot serve: it needs a search engine: set SERPER"),
    ],
)
def test_a_source_that_cannot_serve_is_refused_at_the_start(
    index: Path, monkeypatch: pytest.MonkeyPatch, sources: list[str], message: str
) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    with pytest.raises(UsageError, match=message):
        setup("runs", str(index), sources=sources)


def test_the_examples_are_indexed_at_the_first_start_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = example_index()
    assert Path(first).parent == tmp_path / "ufo"
    assert capsys.readouterr().err == "ufo: building the index of the examples\n"
    assert example_index() == first == setup("runs").index
    assert capsys.readouterr().err == ""


def test_flags_of_evaluate_hold_where_a_request_does_not_say_otherwise(
    index: Path, tmp_path: Path
) -> None:
    text = "Oslo is in Norway."
    asked = {"text": text, "references": [text], "sources": ["reference"]}
    with LlmServer(keys=None) as server:
        flags = {"model": "offline-judge", "base_url": server.base_url, "cache": "off"}
        service_setup = setup(str(tmp_path), str(index), flags=flags | {"citation": True})
        assert values_of(service_setup)["judge"] == "llm"
        assert values_of(service_setup)["model"] == "offline-judge"
        with opened(service_setup) as client:

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
