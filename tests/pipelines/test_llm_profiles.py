"""`ufo.evaluate` against servers as people run them: whatever one refuses, every unit is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ufo
from tests.llm_server import PROFILES, LlmServer

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
SEEN = {
    "units": "SELECT response_id, unit_id, claim FROM fact_units ORDER BY ALL",
    "verdicts": "SELECT response_id, unit_id, source, label FROM verdicts ORDER BY ALL",
    "evidence": "SELECT response_id, unit_id, source, outcome, reason FROM evidence ORDER BY ALL",
    "refused": "SELECT step FROM usage WHERE status <> 'ok' ORDER BY ALL",
}


Seen = dict[str, list[dict[str, Any]]]


def evaluated(
    server: LlmServer,
    output: Path,
    records: Sequence[Mapping[str, Any]] = RECORDS,
    sources: Sequence[str] = ("reference", "llm"),
) -> Seen:
    found = ufo.evaluate(
        records,
        list(sources),
        output=output,
        judge="llm",
        base_url=server.base_url,
        model="offline-judge",
        cache="off",
        workers=1,
        quiet=True,
    )
    assert found.failures.num_rows == 0
    seen = {name: found.sql(query).to_pylist() for name, query in SEEN.items()}
    found.close()
    return seen


def _forced(body: Any) -> bool:
    return isinstance(body["tool_choice"], dict) and body["tools"][0]["function"]["strict"]


def _required(body: Any) -> bool:
    return bool(body["tool_choice"] == "required")


def _schema(body: Any) -> bool:
    return body["response_format"]["type"] == "json_schema" and "tools" not in body


FORM: dict[str, Callable[[Any], bool]] = {
    "openai": _forced,
    "ollama": _schema,
    "lmstudio": _required,
    "llamacpp": _schema,
    "vllm": _forced,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Seen, list[Any]]]:
    """What a run against each server found, and the bodies of its calls that verify."""

    @cache
    def run(profile: str) -> tuple[Seen, list[Any]]:
        with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
            patch.setenv("OPENAI_API_KEY", server.key)
            server.switches = PROFILES[profile]
            seen = evaluated(server, tmp_path_factory.mktemp(profile))
            return seen, [entry.body for entry in server.chats if entry.step == "verify_facts"]

    return run


@pytest.mark.parametrize("profile", PROFILES)
def test_every_unit_is_judged_as_by_an_endpoint_that_takes_everything(
    runs: Callable[[str], tuple[Seen, list[Any]]], profile: str
) -> None:
    expected, _ = runs("openai")
    found, calls = runs(profile)

    assert found["units"] == expected["units"] != []
    assert found["verdicts"] == expected["verdicts"]
    assert found["evidence"] == expected["evidence"]
    assert {row["reason"] for row in found["evidence"]} == {None}
    judged = {(row["response_id"], row["unit_id"]) for row in found["verdicts"]}
    assert judged == {(row["response_id"], row["unit_id"]) for row in found["units"]}
    # What the server minds is found out by the probes; nothing of the run's own is refused.
    assert {row["step"] for row in found["refused"]} <= {"probe"}
    assert calls
    assert all(FORM[profile](body) and body["temperature"] == 0 for body in calls)


def test_a_small_context_judges_as_a_large_one(llm_server: LlmServer, tmp_path: Path) -> None:
    names = ["Aden", "Bari", "Cork", "Dover", "Essen", "Fano", "Gent", "Hove", "Izmir", "Jena"]
    town = "{0} is a port. {0} has {1},000 inhabitants. The harbour of {0} was opened in 18{1}."
    text = " ".join(town.format(name, at) for at, name in enumerate(names, 10))
    records = [{"id": "towns", "response": text, "reference_answers": [text] * 2}]

    def run(context: int) -> Seen:
        llm_server.switches = replace(PROFILES["llamacpp"], context=context)
        return evaluated(llm_server, tmp_path / str(context), records, ["reference"])

    large = run(128_000)
    calls = len(llm_server.chats)
    small = run(2_048)
    assert len(llm_server.chats) > 2 * calls
    assert small["units"] == large["units"]
    assert small["verdicts"] == large["verdicts"]
    assert {row["reason"] for row in small["evidence"]} == {None}
