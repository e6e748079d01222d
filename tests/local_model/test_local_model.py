"""Two short examples judged by a real small model: most of what it says is wrong, and all of it is
accounted for."""

import json
from pathlib import Path
from typing import Any

import pytest

import ufo
from tests.local_model.conftest import CONTEXT, REPLY, ROOT
from ufo.schemas.records import OUTCOMES, REASONS

FORMULATIONS = ("function", "function xml", "stepwise", "rationale", "prompt")
CLAIMS = [
    {"claim": "Iceland is an island.", "query": "What is Iceland?"},
    {"claim": "Iceland has no volcanoes.", "query": "Does Iceland have volcanoes?"},
]


@pytest.fixture(scope="module")
def responses() -> list[dict[str, Any]]:
    """Two of the bundled examples, a sentence of each: five formulations together take minutes.

    The second one's claims are given: of the first the model may extract none that can be used.
    """
    lines = (ROOT / "examples/responses.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    extracted, given = (
        {
            "id": name,
            "response": rows[name]["response"].partition(". ")[0] + ".",
            "reference_answers": rows[name]["reference_answers"][:1],
        }
        for name in ("alder-geo-01", "alder-geo-03")
    )
    return [extracted, {**given, "claims": CLAIMS}]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is extracted once is judged by all formulations."""
    return tmp_path_factory.mktemp("cache") / "replies.sqlite"


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_unit_and_every_error_is_accounted_for(
    local_model: str, responses: list[dict[str, Any]], cache: Path, formulation: str
) -> None:
    options = dict(zip(("formulation", "format"), formulation.split(), strict=False))
    found = ufo.evaluate(
        responses,
        sources=["reference"],
        judge="llm",
        model="smollm2-135m",
        base_url=local_model,
        concurrency=2,
        workers=1,
        cache=str(cache),
        quiet=True,
        **options,
    )
    units = found.sql("SELECT response_id, unit_id FROM fact_units").to_pylist()
    evidence = found.sql("SELECT * FROM evidence").to_pylist()
    failures = found.sql("SELECT * FROM failures").to_pylist()
    usage = found.sql("SELECT * FROM usage WHERE step != 'probe'").to_pylist()
    found.close()
    # A response without a unit says why; a unit has one row for its only passage.
    lost = {row["key"] for row in failures if row["step"] == "extract"}
    assert {row["response_id"] for row in units} | lost >= {row["id"] for row in responses}
    assert sorted(row["unit_id"] for row in evidence) == sorted(row["unit_id"] for row in units)
    assert len(units) >= len(CLAIMS)
    errors = [row for row in evidence if row["outcome"] == "error"]
    assert {row["outcome"] for row in evidence} <= set(OUTCOMES)
    assert {row["reason"] for row in errors} <= set(REASONS)
    told = {row["key"] for row in failures if row["step"] == "verify"}
    assert {row["response_id"] for row in errors} <= told
    counted = [row for row in usage if row["completion_tokens"] is not None]
    assert all(row["prompt_tokens"] + row["completion_tokens"] <= CONTEXT for row in counted)
    assert all(row["completion_tokens"] <= REPLY for row in counted)
