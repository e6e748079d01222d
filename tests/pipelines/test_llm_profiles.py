"""`ufo.evaluate` against servers as people run them: whatever one refuses, every unit is judged."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ufo
from tests.llm_server import PROFILES, REJECTED, LlmServer, Switches
from tests.llm_server.chat import FULL
from tests.llm_server.errors import ApiError
from tests.llm_server.profiles import of_example, refusals
from ufo.schemas.errors import RunError

RECORDS = [
    {
        "id": "etna",
        "response": "Mount Etna is a volcano in Sicily. It is 900 metres high.",
        "reference_answers": "Mount Etna is a volcano in Sicily. It is 3357 metres high.",
    },
    {
        "id": "oslo",
        "response": "Oslo is the capital of Norway. It was founded in 1040.",
        "reference_answers": "Oslo is the capital of Norway.",
    },
]
TOWNS = ["Aden", "Bari", "Cork", "Dover", "Essen", "Fano"]
TOWN = "{0} is a port. {0} has {1},000 inhabitants. The harbour of {0} was opened in 18{1}."
TEXT = " ".join(TOWN.format(name, at) for at, name in enumerate(TOWNS, 10))
BOOKS = [f"{TEXT} So says the book of {name}, who was there." for name in TOWNS]
LARGE: list[dict[str, Any]] = [{"id": "towns", "response": TEXT, "reference_answers": BOOKS}]
SEEN = {
    "units": "SELECT response_id, unit_id, claim FROM fact_units ORDER BY ALL",
    "verdicts": "SELECT response_id, unit_id, source, label FROM verdicts ORDER BY ALL",
    "evidence": "SELECT response_id, unit_id, source, outcome, reason FROM evidence ORDER BY ALL",
    "refused": "SELECT step FROM usage WHERE status <> 'ok' ORDER BY ALL",
}


OPTIONS: dict[str, Any] = {"judge": "llm", "model": "offline-judge", "cache": "off"}
OPTIONS |= {"workers": 1, "quiet": True}
Seen = dict[str, list[dict[str, Any]]]


def evaluated(
    server: LlmServer, output: Path, records: Any = LARGE, sources: Any = "reference", url: str = ""
) -> Seen:
    places: dict[str, Any] = {"output": output, "base_url": url or server.base_url}
    evaluation = ufo.evaluate(records, sources, **places, **OPTIONS)
    assert evaluation.failures.num_rows == 0
    seen = {name: evaluation.sql(query).to_pylist() for name, query in SEEN.items()}
    evaluation.close()
    return seen


def _forced(body: Any) -> bool:
    return isinstance(body["tool_choice"], dict) and body["tools"][0]["function"]["strict"]


def _required(body: Any) -> bool:
    return bool(body["tool_choice"] == "required")


def _schema(body: Any) -> bool:
    return body["response_format"]["type"] == "json_schema" and "tools" not in body


FORM = {"openai": _forced, "vllm": _forced, "lmstudio": _required}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Seen, list[Any]]]:
    """What a run against each server found, and the bodies of its calls that verify."""

    @cache
    def run(profile: str) -> tuple[Seen, list[Any]]:
        with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
            patch.setenv("OPENAI_API_KEY", server.key)
            server.switches = PROFILES[profile]
            output = tmp_path_factory.mktemp(profile)
            seen = evaluated(server, output, RECORDS, ["reference", "llm"])
            return seen, [entry.body for entry in server.chats if entry.step == "verify_facts"]

    return run


@pytest.mark.parametrize("profile", PROFILES)
def test_every_unit_is_judged_as_by_an_endpoint_that_takes_everything(
    runs: Callable[[str], tuple[Seen, list[Any]]], profile: str
) -> None:
    expected, _ = runs("openai")
    seen, calls = runs(profile)

    assert seen["units"] == expected["units"] != []
    assert seen["verdicts"] == expected["verdicts"]
    assert seen["evidence"] == expected["evidence"]
    assert {row["reason"] for row in seen["evidence"]} == {None}
    judged = {(row["response_id"], row["unit_id"]) for row in seen["verdicts"]}
    assert judged == {(row["response_id"], row["unit_id"]) for row in seen["units"]}
    # What the server minds is found out by the probes; nothing of the run's own is refused.
    assert {row["step"] for row in seen["refused"]} <= {"probe"}
    assert calls
    assert [body for body in calls if not FORM.get(profile, _schema)(body)] == []
    assert {body["temperature"] for body in calls} == {0}


# --- in the words of each provider --------------------------------------------------------------

ENDS = ("filtered", "day", "quota", "key", "region", "tls", "unloaded", "model")
ROWS = [row for row in refusals() if row["kind"] not in ("busy", "thoughts")]
FIRST = {row["kind"]: row for row in reversed(ROWS)}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What is found of the large record where nothing is refused."""
    with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
        patch.setenv("OPENAI_API_KEY", server.key)
        return evaluated(server, tmp_path_factory.mktemp("plain"))


def same(seen: Seen, plain: Seen) -> bool:
    return all(seen[name] == plain[name] for name in ("units", "verdicts", "evidence"))


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        pytest.param(
            row["kind"],
            row["examples"][0],
            id=f"{row['kind']} {row['examples'][0]['of']}",
            # The words of each further provider are read by the same code.
            marks=[] if FIRST[row["kind"]] is row else pytest.mark.slow,
        )
        for row in ROWS
    ],
)
def test_a_refusal_in_a_providers_words_is_mended_or_ends_the_run_with_them(
    llm_server: LlmServer, tmp_path: Path, plain: Seen, kind: str, example: Any
) -> None:
    llm_server.switches = of_example(kind, example)
    if kind in ENDS:
        with pytest.raises(RunError, match=re.escape(example["says"][:60])):
            evaluated(llm_server, tmp_path)
        return
    asks_for_text = kind in ("n", "logprobs")
    sources = ["reference", "llm"] if asks_for_text else "reference"
    seen = evaluated(llm_server, tmp_path, sources=sources)
    assert seen["units"] == plain["units"]
    assert asks_for_text or same(seen, plain)
    assert {row["reason"] for row in seen["evidence"]} == {None}
    # No step of this run asks for log-probabilities.
    assert any(entry.status != 200 for entry in llm_server.chats) or kind in ("format", "logprobs")


@pytest.mark.parametrize(
    "switches",
    [
        pytest.param(replace(PROFILES["llamacpp"], context=2_048), id="a small context"),
        pytest.param(Switches(thinks=FULL), id="thoughts beside a call"),
        pytest.param(Switches(thinks=FULL, tools=REJECTED), id="thoughts before JSON"),
    ],
)
def test_a_small_context_and_thoughts_that_say_the_opposite_change_nothing(
    llm_server: LlmServer, tmp_path: Path, plain: Seen, switches: Switches
) -> None:
    llm_server.switches = switches
    assert same(evaluated(llm_server, tmp_path), plain)


def test_an_error_in_a_reply_of_status_200_is_that_error(
    llm_server: LlmServer, tmp_path: Path, plain: Seen
) -> None:
    llm_server.switches = Switches(fails=ApiError(200, "the flux is inverted"))
    with pytest.raises(RunError, match="answered 200 with the error 400: the flux is inverted"):
        evaluated(llm_server, tmp_path / "fails")
    long = "Context size has been exceeded."  # as LM Studio says it
    llm_server.switches = Switches(context=2000, too_long=lambda *_: ApiError(200, long))
    assert same(evaluated(llm_server, tmp_path / "long"), plain)


def test_azure_is_asked_at_the_models_deployment(
    llm_server: LlmServer, tmp_path: Path, plain: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", llm_server.key)
    llm_server.switches = Switches(azure="offline-judge")
    url = f"{llm_server.base_url.removesuffix('/v1')}/?api-version=2024-10-21"
    assert same(evaluated(llm_server, tmp_path, url=url), plain)
