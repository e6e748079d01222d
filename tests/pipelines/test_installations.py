"""Without any extra, and under IPython with and without pandas."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from tests.parts import missing
from tests.pipelines.conftest import ufo_process
from ufo.schemas.dependencies import CORE, MODULES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
OF_EXTRAS = [name for extra, names in MODULES.items() if extra != CORE for name in names]
OPTIONAL = {"httpx2", "starlette", "pydantic", "pandas", "lxml", "scipy", *OF_EXTRAS}
# Python imports this file of PYTHONPATH at its start, in workers too.
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def without(names: Collection[str], folder: Path) -> Callable[..., Any]:
    """Run `ufo` where modules are not installed; their blocker is written into the folder."""
    (folder / "sitecustomize.py").write_text(BLOCKER.format(names=set(names)))
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return lambda *words: ufo_process(*words, env={**plain, "PYTHONPATH": paths})


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Run `ufo` where only the core is installed."""
    return without(OPTIONAL, tmp_path_factory.mktemp("blocked"))


def test_the_core_evaluates_and_reports(core: Callable[..., Any], tmp_path: Path) -> None:
    index, results = tmp_path / "index", tmp_path / "results"
    places = ("--input", EXAMPLES / "responses.jsonl", "--output", results)
    sources = ("--sources", "reference,wikipedia", "--index", index, "--verifier", "overlap")
    for words in (
        ("index", "build", "--input", EXAMPLES / "encyclopaedia.xml", "--output", index),
        ("evaluate", *places, *sources, "--judge", "offline"),
        ("report", results),
        ("sql", results, "FROM verdicts"),
        ("status", results),
    ):
        done = core(*words)
        assert done.code == 0, done.err


def test_without_beam_only_what_needs_it_says_so(tmp_path: Path) -> None:
    done_before = tmp_path / "results"
    options = ("--input", EXAMPLES / "responses.jsonl", "--judge", "offline")
    assert ufo_process("evaluate", *options, "--output", done_before).code == 0
    ufo = without({"apache_beam"}, tmp_path)
    index = tmp_path / "index"
    for words in (
        ("check", "Etna is in Sicily.", "--references", "Etna is a volcano in Sicily."),
        ("index", "build", "--input", EXAMPLES / "encyclopaedia.xml", "--output", index),
        ("index", "search", index, "Etna"),
        ("report", done_before),
        ("sql", done_before, "FROM verdicts"),
    ):
        done = ufo(*words)
        assert done.code == 0, done.err
    recall = ("recall", "--input", EXAMPLES / "recall.jsonl", "--judge", "offline")
    for needing in (("evaluate", *options), recall):
        done = ufo(*needing, "--output", tmp_path / "out")
        assert done.code == 2
        message = "needs apache_beam, which is not installed: pip install ufo-factuality"
        assert done.err.splitlines()[-1] == f"ufo: `ufo {needing[0]}` {message}"
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("llm", ("evaluate", "--judge", "llm", "--base_url", "http://127.0.0.1:9", "--model", "m")),
        ("serve", ("serve",)),
        ("mcp", ("mcp",)),
        ("onnx", ("evaluate", "--judge", "offline", "--verifier", "bundled")),
        ("hub", ("evaluate", "--judge", "offline", "--verifier", "MODEL")),
    ],
    ids=[
        "a model as judge",
        "the service",
        "the tools of agents",
        "the bundled verifier",
        "a verifier of a folder",
    ],
)
def test_what_needs_an_extra_names_it(
    core: Callable[..., Any], tmp_path: Path, extra: str, words: tuple[str, ...]
) -> None:
    labels = {"0": "entailment", "1": "neutral", "2": "contradiction"}
    config = {"model_type": "bert", "id2label": labels}
    (tmp_path / "config.json").write_text(json.dumps(config))
    words = tuple(word.replace("MODEL", str(tmp_path)) for word in words)
    if words[0] == "evaluate":
        words += ("--input", str(EXAMPLES / "responses.jsonl"), "--output", str(tmp_path / "out"))
    done = core(*words)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1
    assert f"pip install 'ufo-factuality[{extra}]'" in done.err


# --- Under IPython everything works without pandas, with the oldest allowed and the newest.


OLDEST = ROOT / ".ci/oldest-pandas"
SCRIPT = """
import ufo
from IPython import get_ipython

try:
    import pandas
    version, table = pandas.__version__, pandas.DataFrame
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
for result in (found, checked, recalled):
    try:
        print(len(result.to_pandas()))
    except ufo.UsageError as error:
        print(str(error).rpartition(" ")[2])
"""


JOB = """
import ufo
try:
    ufo.evaluate(["Hm."], "reference", quiet=True, judge="offline", runner="FlinkRunner")
except ufo.UsageError as error:
    print(error)
"""


def in_ipython(code: str, folder: Path, before: Path) -> str:
    """What a script prints; what is in the folder `before` comes before what is installed."""
    script = folder / "cell.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(before), "IPYTHONDIR": str(folder / "ipython")}
    # IPython puts the packages of an active environment before all others.
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--quick", script],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("version", ["none", "2.2.", "3."])  # 2.2: a part of CI
def test_evaluate_recall_and_check(version: str, tmp_path: Path) -> None:
    before = {"none": ROOT / "tests/no_pandas", "2.2.": OLDEST}.get(version, tmp_path)
    if not before.is_dir():
        missing("no pandas 2.2: grep oldest-pandas .ci/run says how to install it")
    printed_version, *scores = in_ipython(SCRIPT, tmp_path, before).split()
    assert printed_version.startswith(version)
    tables = ["'ufo-factuality[pandas]'"] * 3 if version == "none" else ["1"] * 3
    assert scores == ["1.0", "1.0", "Knows", "none", "1.0", *tables]


def test_a_job_for_an_engine_is_refused_where_beam_cannot_build_it(tmp_path: Path) -> None:
    message = in_ipython(JOB, tmp_path, tmp_path)
    assert message.startswith(
        "ufo.evaluate: from a notebook Beam submits a job only with pandas 2.2 or 2.3"
    )
