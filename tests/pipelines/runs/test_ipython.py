"""Under IPython everything works without pandas, with the oldest that is allowed, and the newest.

Beam's own data frames, which IPython has it import, know neither pandas 3 nor its absence.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import missing

OLDEST = Path(__file__).parents[3] / ".ci/oldest-pandas"
SCRIPT = """
import ufo
from IPython import get_ipython

try:
    import pandas
    version = pandas.__version__
    table = pandas.DataFrame
except ModuleNotFoundError:
    version, table = "none", lambda rows: rows

class Knows(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(unit.claim)] if "Etna" in unit.claim else []

assert get_ipython() is not None
text = "Mount Etna is in Sicily."
flags = {"judge": "offline", "quiet": True}
found = ufo.evaluate(table([{"response": text, "reference_answers": [text]}]), "reference", **flags)
own = ufo.evaluate([text, "Oslo is green."], [Knows()], workers=1, chunk_size=1, **flags)
checked = ufo.check_sync(text, references=[text], sources="reference", judge="offline")
facts = [{"question": "Where?", "ground_truth": text, "answers": {"rag": text}}]
recalled = ufo.recall(table(facts), **flags)
decided = sorted(own.verdicts["source"].to_pylist())
print(version, *found.scores["factuality_score"].to_pylist(), checked.score, *decided)
print(*recalled.scores["recall"].to_pylist())
"""


def in_ipython(code: str, folder: Path, before: Path) -> "subprocess.CompletedProcess[str]":
    script = folder / "cell.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--quick", script],
        env={**os.environ, "PYTHONPATH": str(before), "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize(
    "version",
    ["none", pytest.param("2.2.", marks=pytest.mark.slow), "3."],  # 2.2: a part of CI
)
def test_evaluate_recall_and_check(version: str, tmp_path: Path) -> None:
    before = tmp_path  # what is in this folder comes before what is installed, in workers too
    if version == "2.2.":
        before = OLDEST
        if not before.is_dir():
            missing("no pandas 2.2: grep oldest-pandas .ci/run says how to install it")
    elif version == "none":
        code = "raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')\n"
        (tmp_path / "pandas.py").write_text(code)
    done = in_ipython(SCRIPT, tmp_path, before)
    assert done.stdout.startswith(version), done.stdout + done.stderr
    assert done.stdout.split()[1:] == ["1.0", "1.0", "Knows", "none", "1.0"]


def test_a_job_for_an_engine_is_refused_where_beam_cannot_build_it(tmp_path: Path) -> None:
    code = """
import ufo
try:
    ufo.evaluate(["Hm."], "reference", quiet=True, judge="offline", runner="FlinkRunner")
except ufo.UsageError as error:
    print(error)
"""
    said = in_ipython(code, tmp_path, tmp_path).stdout
    assert said.startswith("from a notebook Beam submits a job only with pandas 2.2 or 2.3")
