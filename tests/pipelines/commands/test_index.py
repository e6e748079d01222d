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


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("index")
    records = [
        {"title": "Danube", "text": "It flows through ten countries.", "url": "https://x.org/D"},
        {"title": "Rhine", "text": "It flows north."},
        {"title": "Ulm", "text": "A city."},
    ]
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n{}\n")
    assert _run("build", "--input", f"{folder}/in.jsonl", "--output", f"{folder}/index") == 0
    return f"{folder}/index"


def test_build_says_what_it_made(
    index: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(Path(index).parent / "in.jsonl")
    assert _run("build", "--input", source, "--output", str(tmp_path / "a")) == 0
    printed = capsys.readouterr()
    assert "3 articles" in printed.out
    assert "1 failures" in printed.out
    assert "in.jsonl:4" in printed.err
    assert _run("build", "--input", source, "--output", str(tmp_path / "b"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["passages"] == 3


def test_search_shows_hits(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("search", index, "countries of the Danube") == 0
    out = capsys.readouterr().out
    assert out.startswith("1. Danube  (score ")
    assert "https://x.org/D" in out
    assert "ten countries" in out
    assert _run("search", index, "flows", "--json", "--passages", "1") == 0
    [hit] = json.loads(capsys.readouterr().out)
    assert {"row", "score", "title", "section", "url", "text"} <= set(hit)
    assert _run("search", index, "glacier") == 0
    assert "no passage" in capsys.readouterr().out
    assert _run("search", index, "glacier", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_info_says_what_is_there(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("info", index, "--verify") == 0
    out = capsys.readouterr().out
    assert f"ufo-index version {VERSION}" in out
    assert "all checksums agree" in out
    assert "3 articles" in out
    assert _run("info", index, "--json") == 0
    assert json.loads(capsys.readouterr().out)["format"] == "ufo-index"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("build", "--input", "x", "--output", "y", "--passage_words", "5"), "from 20 to 1000"),
        (("build", "--input", "x", "--output", "y", "--workers", "0"), "from 1 to 1024"),
        (("search", "INDEX", " "), "query is empty"),
        (("search", "INDEX", "x", "--passages", "0"), "from 1 to 1000"),
        (("search", "INDEX", "x", "--retriever", "dens"), "allowed: bm25, dense, hybrid"),
        (("search", "INDEX", "x", "--retriever", "dense"), "has no vectors.*--embedder"),
    ],
)
def test_wrong_usage(index: str, words: tuple[str, ...], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        _run(*(index if word == "INDEX" else word for word in words))


def test_each_retriever_of_an_index_with_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"title": "Danube", "text": "A river through ten countries."},
        {"title": "Rhine", "text": "A river through six countries."},
        {"title": "Bee", "text": "An insect that makes honey."},
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    path = str(tmp_path / "index")
    source = str(tmp_path / "d.jsonl")
    model = str(write_embedder(tmp_path / "model", "river countries insect honey"))
    options = ("--embedder", model, "--workers", "1", "--json")
    assert _run("build", "--input", source, "--output", path, *options) == 0
    capsys.readouterr()
    for retriever in ("dense", "hybrid"):
        assert _run("search", path, "river countries", "--json", "--retriever", retriever) == 0
        hits = json.loads(capsys.readouterr().out)
        assert {hit["title"] for hit in hits} == {"Danube", "Rhine"}
    assert _run("info", path) == 0
    assert f"vectors of 4 by {model}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [("info",), ("search",)])
def test_what_is_no_index(tmp_path: Path, command: tuple[str, ...]) -> None:
    with pytest.raises(IndexUnusable, match="ufo index build"):
        _run(*command, str(tmp_path), *(["x"] if command == ("search",) else []))
