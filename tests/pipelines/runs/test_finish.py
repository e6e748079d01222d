"""A run is finished only with a verdict for every fact unit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.runs.finish import check_complete
from ufo.pipelines.runs.jobs import job_of_text
from ufo.schemas.errors import RunError
from ufo.schemas.records import Part


def test_parts_that_lack_a_verdict_are_no_run(ufo: Any, responses: Path, tmp_path: Path) -> None:
    flags = ("--judge", "offline", "--sources", "reference", "--run", "r")
    done = ufo("evaluate", "--input", responses, "--output", tmp_path, *flags, "--json")
    assert done.code == 0, done.err
    parts = [
        Part(table, "", done.json[counted])
        for table, counted in (("fact_units", "units"), ("verdicts", "units"))
    ]
    job = job_of_text({"judge": "offline"}, ["reference"])
    check_complete(parts, job)
    lost = [parts[0], replace(parts[1], rows=parts[1].rows - 1)]
    with pytest.raises(RunError, match="the runner lost some"):
        check_complete(lost, job)
