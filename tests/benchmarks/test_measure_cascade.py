"""`benchmarks/measure_cascade.py` on records whose passages state their probabilities."""

import json
import subprocess
import sys
from pathlib import Path

from tests.transforms.judges.stated import STATED

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "measure_cascade.py"


def test_what_is_asked_and_what_that_buys(tmp_path: Path) -> None:
    said = [
        ("0.95 0.02 0.03", "supported"),  # kept at .9, and right
        ("0.92 0.02 0.06", "not_supported"),  # kept at .9, and wrong
        ("0.1 0.8 0.1", "not_supported"),  # asked at .9, kept at .8, and right
        ("0.0 0.01 0.99", "supported"),  # not answered: always asked
    ]
    (tmp_path / "wice").mkdir()
    rows = [
        json.dumps({"claim": f"Oslo has {n} parks.", "evidence": [text], "label": label})
        for n, (text, label) in enumerate(said)
    ]
    (tmp_path / "wice" / "dev.jsonl").write_text("\n".join(rows))
    words = [sys.executable, str(SCRIPT), "--data", str(tmp_path), "--verifier", STATED]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert list(found["sets"]) == ["wice_whole"]
    rows_at = found["sets"]["wice_whole"]["at"]
    assert found["sets"]["wice_whole"]["offline"] == 0.5
    assert rows_at["0.9"] == {"asked": 0.5, "kept": 2, "right": 0.5, "at_best": 0.75}
    assert rows_at["0.8"] == {"asked": 0.25, "kept": 3, "right": 0.6667, "at_best": 0.75}
    assert rows_at["0.99"]["right"] is None
