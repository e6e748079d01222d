"""Which score a gate of a finished run looks at."""

from pathlib import Path

import pytest

from tests.conftest import blank, rows_of, write_run
from tests.pipelines.conftest import settings_of
from ufo.pipelines.runs.gates import failed_gates
from ufo.schemas.records import Failure
from ufo.schemas.results import open_results


@pytest.mark.parametrize(
    ("no_claim", "text"),
    [
        pytest.param("left_out", "no score: there is no claim", id="left out"),
        pytest.param("pass", "", id="pass"),
        pytest.param("fail", "0.000 by --no_claim fail, with 1 response without a claim; no score: "
                     "there is no claim", id="fail"),
    ],
)  # fmt: skip
def test_a_response_whose_extraction_failed_is_left_out(
    tmp_path: Path, no_claim: str, text: str
) -> None:
    """One response has no claim; of another nobody knows it."""
    rows = rows_of({"silent": {}, "failed": {}})
    why = {"error_type": "unparsable", "message": "the reply is no JSON"}
    rows["failures"].append(blank(Failure, step="extract", key="failed", **why))
    write_run(tmp_path, rows)
    places = ("--input", "x", "--output", str(tmp_path))
    chosen = settings_of("--fail_under", "1", "--no_claim", no_claim, *places)
    with open_results(tmp_path) as results:
        failed, _ = failed_gates(chosen, results)
    assert failed == ([f"Below --fail_under 1.0: {text}"] if text else [])
