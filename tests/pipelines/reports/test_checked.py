"""The JSON of a checked text: its basis, and the scores of what a reader leaves out."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank
from ufo.pipelines.reports.checked import basis_of, size_of
from ufo.schemas.records import Response
from ufo.schemas.state_files import state_bytes, state_in
from ufo.transforms.sources.fact_source import SourceSpec


@pytest.mark.parametrize(
    ("articles", "day", "text"),
    [
        (1_234, None, "an index of 1,234 articles, 5 passages"),
        (1, "2025-01-02", "an index of 1 article, 5 passages, dump of 2025-01-02"),
    ],
    ids=["of documents", "of a dump"],
)
def test_the_size_of_an_index_is_told(
    index: Path, tmp_path: Path, articles: int, day: str | None, text: str
) -> None:
    copy = shutil.copytree(index, tmp_path / "index")
    manifest = state_in((copy / "manifest.json").read_bytes())
    manifest |= {"dump_date": day, "counts": {"articles": articles, "passages": 5}}
    (copy / "manifest.json").write_bytes(state_bytes(manifest))
    assert size_of(str(copy)) == text


def described(judge: str = "llm", models: Sequence[str] = (), **of_source: Any) -> Any:
    """What is said of a result with one source, for an English response with two references."""
    response = blank(Response, text="It is big.", n_references=of_source.pop("given", 2))
    source = SourceSpec("own", of_source.pop("type", "other"), of_source)
    judged = of_source.pop("judged", ["web"])
    return basis_of(judge, models, judged, [source], response)


KINDS = {
    "no given texts": ({"type": "reference", "given": 0}, "own: no given texts"),
    "one given text": ({"type": "reference", "given": 1}, "own: 1 given text"),
    "two given texts": ({"type": "reference"}, "own: 2 given texts"),
    "an unnamed index": ({"type": "wikipedia"}, "own"),
    "an index that is elsewhere": (
        {"type": "wikipedia", "index": "/x"},
        "own: the index /x, which is not on this machine",
    ),
    "any web search": ({"type": "web"}, "own: pages found by a web search"),
    "a named web search": ({"type": "web", "search": "brave"}, "own: pages found by brave"),
    "any language model": ({"type": "llm"}, "own: what a language model knows"),
    "a named language model": ({"type": "llm", "knowledge_model": "m"}, "own: what m knows"),
    "another kind": ({"type": "other", "search": "brave"}, "own"),
}


@pytest.mark.parametrize(("source", "sentence"), KINDS.values(), ids=KINDS)
def test_each_kind_of_source_is_described(source: dict[str, Any], sentence: str) -> None:
    assert described(**source).sources == [sentence]


def test_the_judge_is_named_with_each_of_its_models_once() -> None:
    assert described().judge == "Judge llm."
    assert described(models=["a", "b", "a"]).judge == "Judge llm (a, b)."
    assert described().trust.startswith("How often this judge is right was not measured")
    assert described().judged_by == ""
    assert described(judged=[]).trust == ""


@pytest.mark.parametrize(
    ("text", "language", "sentence"),
    [
        ("It is big.", None, "English, as far as seen"),
        ("It is big.", "en", "en (given)"),
        ("Die Stadt ist nicht groß.", None, "not English, as far as seen: the offline judge"),
        ("It is big.", "de", "de: the offline judge knows English"),
    ],
)
def test_the_language_of_a_text_is_told(text: str, language: str | None, sentence: str) -> None:
    response = blank(Response, text=text, language=language)
    assert basis_of("llm", [], [], [], response).language.startswith(sentence)
