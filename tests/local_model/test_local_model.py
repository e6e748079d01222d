"""Two short examples judged by a real small model: most of what it says is wrong, and all of it is
accounted for."""

import json
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
    """Two of the bundled examples, a sentence of each; the second one's claims are given."""
    lines = (ROOT / "examples/responses.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    extracted, with_claims = (
        {
            "id": name,
            "response": rows[name]["response"].partition(". ")[0] + ".",
            "reference_answers": rows[name]["reference_answers"][:1],
        }
        for name in ("alder-geo-01", "alder-geo-03")
    )
    return [extracted, {**with_claims, "claims": CLAIMS}]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_unit_and_every_error_is_accounted_for(
    local_model: str, responses: list[dict[str, Any]], formulation: str, tmp_path_factory: Any
) -> None:
    options: Any = dict(zip(("formulation", "format"), formulation.split(), strict=False))
    # Extraction is the same for all, and takes the longest: the others judge one given claim.
    alone = [{**responses[1], "claims": CLAIMS[:1]}]
    asked = responses if formulation == FORMULATIONS[0] else alone
    result = ufo.evaluate(
        asked,
        sources=["reference"],
        judge="llm",
        model="smollm2-135m",
        base_url=local_model,
        concurrency=2,
        workers=1,
        # With the answers it keeps what the server can do, which each would ask it anew.
        cache=tmp_path_factory.getbasetemp() / "answers.sqlite",
        quiet=True,
        **options,
    )
    units = result.sql("SELECT response_id, unit_id FROM fact_units").to_pylist()
    evidence = result.sql("SELECT * FROM evidence").to_pylist()
    failures = result.sql("SELECT * FROM failures").to_pylist()
    usage = result.sql("SELECT * FROM usage WHERE step != 'probe'").to_pylist()
    result.close()
    # A response without a unit says why; a unit has one row for its only passage.
    lost = {row["key"] for row in failures if row["step"] == "extract"}
    assert {row["response_id"] for row in units} | lost >= {row["id"] for row in asked}
    assert sorted(row["unit_id"] for row in evidence) == sorted(row["unit_id"] for row in units)
    assert len(units) >= len(asked)
    errors = [row for row in evidence if row["outcome"] == "error"]
    assert {row["outcome"] for row in evidence} <= set(OUTCOMES)
    assert {row["reason"] for row in errors} <= set(REASONS)
    failed = {row["key"] for row in failures if row["step"] == "verify"}
    assert {row["response_id"] for row in errors} <= failed
    counted = [row for row in usage if row["completion_tokens"] is not None]
    assert all(row["prompt_tokens"] + row["completion_tokens"] <= CONTEXT for row in counted)
    assert all(row["completion_tokens"] <= REPLY for row in counted)
