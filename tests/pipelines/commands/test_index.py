import argparse
import json
from pathlib import Path

import pytest

from tests.embedder import write_embedder
from ufo.indexes.manifest import VERSION
from ufo.pipelines.commands.index import register
from ufo.schemas.errors import IndexUnusable, UsageError


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers())
    arguments = parser.parse_args(["index", *words])
    return int(arguments.handler(arguments))


RECORDS = [
    {"title": "Danube", "text": "A river through ten countries.", "url": "https://x.org/D"},
    {"title": "Rhine", "text": "A river through six countries."},
    {"title": "Bee", "text": "An insect that makes honey."},
]


@pytest.fixture
def index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, RECORDS)) + "\n{}\n")
    assert _run("build", "--input", f"{tmp_path}/in.jsonl", "--output", f"{tmp_path}/index") == 0
    return f"{tmp_path}/index"


def test_an_index_is_built_searched_and_described(
    index: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        assert _run(*words) == 0
        return capsys.readouterr().out

    built = capsys.readouterr()
    assert "3 articles" in built.out
    assert "1 failures" in built.out
    assert "in.jsonl:4" in built.err
    found = said("search", index, "ten countries of the Danube")
    assert found.startswith("1. Danube  (score ")
    assert "https://x.org/D" in found
    assert "ten countries" in found
    [hit] = json.loads(said("search", index, "honey", "--json", "--passages", "1"))
    assert {"row", "score", "title", "section", "url", "text"} <= set(hit)
    assert "no passage" in said("search", index, "glacier")
    assert json.loads(said("search", index, "glacier", "--json")) == []
    info = said("info", index, "--verify")
    for expected in (f"ufo-index version {VERSION}", "all checksums agree", "3 articles"):
        assert expected in info
    assert json.loads(said("info", index, "--json"))["format"] == "ufo-index"
    # Each retriever of an index with vectors.
    path, model = str(tmp_path / "dense"), str(write_embedder(tmp_path / "m", "river insect honey"))
    options = ("--output", path, "--embedder", model, "--workers", "1", "--json")
    made = json.loads(said("build", "--input", f"{tmp_path}/in.jsonl", *options))
    assert made["counts"]["passages"] == 3
    for retriever in ("dense", "hybrid"):
        hits = json.loads(said("search", path, "river", "--json", "--retriever", retriever))
        assert {hit["title"] for hit in hits} == {"Danube", "Rhine"}
    assert f"vectors of 3 by {model}" in said("info", path)
    for words, reason in ((" ",), "query is empty"), (("x", "--retriever", "dense"), "--embedder"):
        with pytest.raises(UsageError, match=reason):
            _run("search", index, *words)
    for words in (("info", str(tmp_path)), ("search", str(tmp_path), "x")):
        with pytest.raises(IndexUnusable, match="ufo index build"):
            _run(*words)
