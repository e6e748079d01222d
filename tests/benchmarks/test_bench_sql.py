"""The measuring of reports still fits the runs that the readers accept."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks/bench_sql.py"


def test_every_report_is_read_from_both_runs(tmp_path: Path) -> None:
    words = ["--rows", "600,300", "--repeat", "1", "--scratch", str(tmp_path)]
    done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout.splitlines()[-1])["runs"]
    assert [run["evidence_rows"] for run in runs] == [600, 300]
    assert [run["passages_rows"] > 0 for run in runs] == [True, False]
    for run in runs:
        assert (
            run["scores"]["rows"] == 6 * run["responses"]
        )  # four sources, their vote, and their order
        assert run["source_contributions"]["rows"] > 0
        assert run["source_benchmark"]["rows"] > 0
    assert not list(tmp_path.iterdir())
