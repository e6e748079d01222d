"""Without any extra, what `evaluate` needs with the offline judge is there, and else the message is
one line with the pip command."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import ufo_process
from ufo.schemas.errors import MODULES

EXAMPLES = Path(__file__).parents[2] / "examples"
OPTIONAL = {
    module
    for extra, modules in MODULES.items()
    for module in modules
    # `tokenizers`, of the core, brings this one.
    if module != "huggingface_hub"
} | {"starlette", "pydantic", "pandas", "lxml"}
# Python imports this file of PYTHONPATH at its start, in workers too.
BLOCKER = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in {OPTIONAL!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Run `ufo` where only the core is installed."""
    folder = tmp_path_factory.mktemp("blocked")
    (folder / "sitecustomize.py").write_text(BLOCKER)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return lambda *words: ufo_process(*words, env={**plain, "PYTHONPATH": paths})


def test_the_core_evaluates_and_reports(core: Callable[..., Any], tmp_path: Path) -> None:
    index, results = tmp_path / "index", tmp_path / "results"
    given = ("--input", EXAMPLES / "responses.jsonl", "--output", results)
    sources = ("--sources", "reference,wikipedia", "--index", index, "--verifier", "overlap")
    for words in (
        ("index", "build", "--input", EXAMPLES / "encyclopaedia.xml", "--output", index),
        ("evaluate", *given, *sources, "--judge", "offline"),
        ("report", results),
        ("sql", results, "FROM verdicts"),
        ("status", results),
    ):
        done = core(*words)
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("llm", ("evaluate", "--judge", "llm", "--base_url", "http://127.0.0.1:9", "--model", "m")),
        ("serve", ("serve",)),
        ("hub", ("evaluate", "--judge", "offline", "--verifier", "{tmp}")),
    ],
)
def test_what_needs_an_extra_names_it(
    core: Callable[..., Any], tmp_path: Path, extra: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "config.json").write_text(
        '{"model_type": "bert", "id2label": {"0": "entailment", "1": "neutral", '
        '"2": "contradiction"}}'
    )
    words = tuple(word.format(tmp=tmp_path) for word in words)
    if words[0] == "evaluate":
        words += ("--input", str(EXAMPLES / "responses.jsonl"), "--output", str(tmp_path / "out"))
    done = core(*words)
    assert done.code == 2
    assert f"pip install 'ufo-factuality[{extra}]'" in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1
