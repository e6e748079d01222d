"""The keywords of Python: every option, typed so that mypy refuses a wrong one, with its help."""

import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import ufo
from scripts import keywords as script
from ufo.pipelines.options.groups import OF_CHECK_KEYWORDS, OF_EVALUATE_KEYWORDS
from ufo.pipelines.options.keywords import CheckKeywords, EvaluateKeywords, RecallKeywords
from ufo.pipelines.options.option import Option
from ufo.pipelines.options.settings import OF_RECALL_KEYWORDS

DOORS = {
    "check": (ufo.check, CheckKeywords, OF_CHECK_KEYWORDS),
    "check_sync": (ufo.check_sync, CheckKeywords, OF_CHECK_KEYWORDS),
    "evaluate": (ufo.evaluate, EvaluateKeywords, OF_EVALUATE_KEYWORDS),
    "recall": (ufo.recall, RecallKeywords, OF_RECALL_KEYWORDS),
}


def test_the_file_is_what_the_options_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["keywords.py", "--check"])
    assert script.main() == 0
    monkeypatch.setattr(script, "FILE", tmp_path / "keywords.py")
    assert script.main() == 1


@pytest.mark.parametrize("door", DOORS)
def test_a_function_takes_its_options_and_has_their_help(door: str) -> None:
    function, keywords, options = DOORS[door]
    assert set(get_type_hints(keywords)) == {option.name for option in options}
    written = " ".join((function.__doc__ or "").split())
    missing = [
        option.name
        for option in options
        if f"{option.name}: {' '.join(option.description.split())}." not in written
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("option", "annotation"),
    [
        (Option("n", int, "", "N", low=1), "int"),
        (Option("x", float, "", "X", low=0), "float"),
        (Option("on", bool, ""), "bool"),
        (Option("word", str, "", "WORD", choices=("a", "b")), "Literal['a', 'b']"),
        (Option("names", str, "", "A,B"), "str | Sequence[str]"),
        (Option("words", tuple, "", "WORD"), "str | Sequence[str]"),
        (Option("map", str, "", "KEY=COLUMN,…"), "str | Mapping[str, str]"),
        (Option("file", str, "", "FILE"), "str | Path"),
        (Option("text", str, "", "TEXT"), "str"),
    ],
    ids=lambda value: value.name if isinstance(value, Option) else "",
)
def test_a_keyword_has_the_type_of_its_option(option: Option, annotation: str) -> None:
    assert script.annotation(option) == annotation


def refused_by_mypy() -> None:
    """Never called: each line is an error of mypy, which complains where one is not."""
    responses: list[dict[str, Any]] = []
    ufo.evaluate(responses, passages="many")  # type: ignore[arg-type]
    ufo.evaluate(responses, formulation="nonsense")  # type: ignore[arg-type]
    ufo.evaluate(responses, pasages=3)  # type: ignore[call-arg]
    ufo.recall(responses, sources="reference")  # type: ignore[call-arg]
    ufo.check_sync("text", chunk_size=3)  # type: ignore[call-arg]
    ufo.check_sync("text", citation="yes")  # type: ignore[arg-type]
