"""The views of what a run cost, on a table small enough to add up by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from ufo.schemas.records import Usage


def usage(step: str, response_id: str | None, model: str = "m", **changes: Any) -> Usage:
    fields: dict[str, Any] = {
        "request_id": f"{step}-{response_id}-{len(str(changes))}",
        "step": step,
        "source": "ref" if step == "verify" else None,
        "model": model,
        "response_id": response_id,
        "worker_id": "w",
        "status": "ok",
        "cached": False,
        "coalesced": False,
        "retries": 0,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "seconds": 0.5,
        "cost_usd": 0.25,
    }
    return Usage(**{**fields, **changes})


NOTHING: dict[str, Any] = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}


@pytest.fixture(name="found")
def _found(ask: Callable[..., Any], rows_of: Callable[..., Any]) -> Callable[..., Any]:
    rows = rows_of({"a": {"u": {"ref": "s"}}, "b": {"v": {"ref": "s"}}})
    rows["usage"] = [
        usage("probe", None),
        usage("extract", "a"),
        usage("extract", "a", status="429", retries=1, seconds=0.1, **NOTHING),
        usage("extract", "b", cached=True, cost_usd=0.0),
        usage("verify", "a", cost_usd=1.0),
        usage("verify", "b", coalesced=True, cost_usd=0.0),
        usage("verify", "b", model="unknown", cost_usd=None),
    ]
    return ask(rows)


COUNTS = "n_requests, n_failed, n_cached, n_coalesced"
SUMS = "prompt_tokens, completion_tokens, saved_tokens, seconds, cost_usd, n_unpriced"


def test_cost_by_step_source_and_model(found: Callable[..., Any]) -> None:
    assert found(f"SELECT step, source, model, {COUNTS}, {SUMS} FROM cost ORDER BY ALL") == [
        ("extract", None, "m", 2, 1, 1, 0, 100, 10, 110, 0.6, 0.25, 0),
        ("probe", None, "m", 1, 0, 0, 0, 100, 10, None, 0.5, 0.25, 0),
        ("verify", "ref", "m", 1, 0, 0, 1, 100, 10, 110, 0.5, 1.0, 0),
        ("verify", "ref", "unknown", 1, 0, 0, 0, 100, 10, None, 0.5, None, 1),
    ]
