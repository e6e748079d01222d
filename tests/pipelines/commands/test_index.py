"""`ufo index`: what is said of a build, the passages for a query, and what an index is made of."""

from pathlib import Path
from typing import Any

import pytest

from tests.embedder import write_embedder
from tests.llm_server import LlmServer
from tests.llm_server.embeddings import Embeddings
from tests.pipelines.conftest import ends, ok, write_lines
from ufo.indexes.manifest import VERSION, read_manifest

LONG = "It flows through ten countries, more than any other river of the world does, and ends there"
DUMP = f"""<mediawiki><siteinfo><base>https://w.example.org/wiki/Main</base></siteinfo>
<page><title>Danube</title><ns>0</ns><id>1</id><revision><id>2</id>
<timestamp>2025-01-02T03:04:05Z</timestamp><text>The Danube is a river.
== Course ==
{LONG} {LONG}</text></revision></page></mediawiki>"""
# Only a search that follows the names of a query finds whom a film is by.
FILMS = {
    "Big Stone Gap (film)": "Big Stone Gap is a drama film directed by Adriana Trigiani.",
    "Adriana Trigiani": "Adriana Trigiani is a writer based in Greenwich Village.",
    **{f"City {n}": "A director is based in what city of New York." for n in range(60)},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index-command")


@pytest.fixture(scope="module")
def river(folder: Path) -> Path:
    """An index of one page with a section and an address."""
    (folder / "river.xml").write_text(DUMP)
    ok("index", "build", "--input", folder / "river.xml", "--output", folder / "river")
    return folder / "river"


@pytest.fixture(scope="module")
def films(folder: Path) -> Path:
    """An index of documents that have no address."""
    documents = ({"title": title, "text": text} for title, text in FILMS.items())
    path = write_lines(folder / "films.jsonl", documents)
    ok("index", "build", "--input", path, "--output", folder / "films")
    return folder / "films"


# --- build


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Three documents, and a line that is none."""
    records = [
        {"title": "Danube", "text": "A river through ten countries.", "url": "https://x.org/D"},
        {"title": "Rhine", "text": "A river through six countries."},
        {"title": "Bee", "text": "An insect that makes honey."},
        {},
    ]
    return write_lines(tmp_path / "in.jsonl", records)


def test_a_build_says_what_it_does_and_what_it_made(documents: Path, tmp_path: Path) -> None:
    done = ok("index", "build", "--input", documents, "--output", tmp_path / "index")
    assert done.err.startswith("indexing 3 passages\n")
    assert "warning: 1 page or part of the input failed" in done.err
    head, *counts = done.out.splitlines()
    assert head.startswith(f"{tmp_path}/index: built in ")
    # A count of nothing is left out.
    assert [line.split(maxsplit=1) for line in counts] == [
        ["3", "pages"],
        ["3", "articles"],
        ["1", "failures"],
        ["3", "passages"],
    ]


def test_a_build_as_json(documents: Path, tmp_path: Path) -> None:
    words = ("index", "build", "--input", documents, "--output", tmp_path / "index", "--json")
    printed = ok(*words, "--passage_words", 20).json
    assert printed.keys() == {"path", "seconds", "counts", "warnings"}
    assert printed["path"] == f"{tmp_path}/index"
    assert printed["counts"]["articles"] == 3
    assert len(printed["warnings"]) == 1
    assert read_manifest(tmp_path / "index")[0]["settings"]["words"] == 20


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        pytest.param(["gs://b/dump.xml"], "out", id="the input"),
        pytest.param(["in.jsonl", "gs://b/dump.xml"], "out", id="the second input"),
        pytest.param(["in.jsonl"], "gs://b/dump.xml", id="the output"),
    ],
)
def test_an_index_is_not_built_from_or_in_a_bucket(inputs: list[str], output: str) -> None:
    done = ends(2, "index", "build", "--input", *inputs, "--output", output)
    assert "gs://b/dump.xml: an index is built from files and in a folder of this" in done.err


MAPPED = '{"name": "Oslo", "doc": {"body": "Oslo has 5 bridges."}}\n'


def test_columns_of_documents_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(MAPPED)
    words = ("--input", tmp_path / "x.jsonl", "--output", tmp_path / "index")
    ok("index", "build", *words, "--map", "title=name,text=doc.body")
    assert "Oslo has 5 bridges." in ok("index", "search", tmp_path / "index", "bridges").out


def test_columns_that_are_not_known_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(MAPPED)
    done = ends(1, "index", "build", "--input", tmp_path / "x.jsonl", "--output", tmp_path / "out")
    assert "no title; the fields are name, doc; say which has it, as in --map title=" in done.err


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        pytest.param("name", "give KEY=COLUMN, as in title=name,text=body", id="no key"),
        pytest.param("titel=name", "'titel'", id="an unknown key"),
    ],
)
def test_a_map_that_is_none(tmp_path: Path, columns: str, says: str) -> None:
    words = ("--input", "x.jsonl", "--output", tmp_path, "--map", columns)
    assert says in ends(2, "index", "build", *words).err


# --- search


def test_a_hit_is_shown_with_its_section_its_address_and_its_text_in_lines(river: Path) -> None:
    printed = ok("index", "search", river, "ten countries").out.splitlines()
    where, score = printed[0].split("  (score ")
    assert where == "1. Danube › Course"
    assert len(score.rstrip(")").partition(".")[2]) == 3
    assert printed[1] == "   https://w.example.org/wiki/Danube"
    assert " ".join(line.strip() for line in printed[2:]) == f"{LONG} {LONG}"
    assert {line[:3] for line in printed[2:]} == {"   "}
    assert max(map(len, printed)) <= 96


def test_a_hit_without_section_and_address_is_its_title_and_text(films: Path) -> None:
    title, *text = ok(
        "index", "search", films, "Greenwich Village", "--passages", 1
    ).out.splitlines()
    assert title.startswith("1. Adriana Trigiani  (score ")
    assert text == ["   Adriana Trigiani is a writer based in Greenwich Village."]


def test_hits_are_numbered_with_a_line_between(films: Path) -> None:
    printed = ok("index", "search", films, "director", "--passages", 2).out.split("\n\n")
    assert [hit[:2] for hit in printed] == ["1.", "2."]


def test_there_are_five_hits_unless_another_number_is_asked_for(films: Path) -> None:
    words = ("index", "search", films, "director", "--json")
    assert len(ok(*words).json) == 5
    assert len(ok(*words, "--passages", 7).json) == 7


def test_the_pages_that_a_query_names_are_followed(films: Path) -> None:
    query = "In what city is the director of Big Stone Gap based?"
    printed = ok("index", "search", films, query, "--json").json
    assert "Adriana Trigiani" in {hit["title"] for hit in printed}


def test_a_hit_as_json(river: Path) -> None:
    (hit,) = ok("index", "search", river, "countries", "--json").json
    assert hit.pop("score") > 0
    assert {name: value for name, value in hit.items() if value is not None} == {
        "row": 1,
        "text": f"{LONG} {LONG}",
        "title": "Danube",
        "section": "Course",
        "url": "https://w.example.org/wiki/Danube",
        "published_at": "2025-01-02",
        "page_id": 1,
        "revision_id": 2,
    }


@pytest.mark.parametrize(
    ("how", "text"),
    [
        pytest.param([], "no passage shares a word with the query\n", id="for people"),
        pytest.param(["--json"], "[]\n", id="as JSON"),
    ],
)
def test_a_query_that_finds_nothing(river: Path, how: list[str], text: str) -> None:
    assert ok("index", "search", river, "glacier", *how).out == text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param([" "], "the query is empty", id="no query"),
        pytest.param(["?! …"], "the query '?! …' has no word to search for", id="no word"),
        pytest.param(["???", "--json"], "has no word to search for", id="no word, as JSON"),
        pytest.param(["x", "--retriever", "dense"], "--embedder", id="vectors that are not there"),
    ],
)
def test_what_cannot_be_searched(river: Path, words: list[str], reason: str) -> None:
    assert reason in ends(2, "index", "search", river, *words).err


@pytest.fixture(scope="module")
def dense(films: Path, folder: Path) -> tuple[Path, str]:
    """An index with vectors, and their embedder."""
    model = str(write_embedder(folder / "model", "writer drama city"))
    documents = films.with_name("films.jsonl")
    words = ("index", "build", "--input", documents, "--output", folder / "dense", "--embedder")
    ok(*words, model)
    return folder / "dense", model


@pytest.mark.parametrize("retriever", ["dense", "hybrid"])
def test_vectors_are_searched_by_their_retrievers(dense: Any, retriever: str) -> None:
    words = ("index", "search", dense[0], "drama", "--json", "--passages", 1, "--retriever")
    (hit,) = ok(*words, retriever).json
    assert hit["title"] == "Big Stone Gap (film)"


# --- info


class Unusable(Embeddings):
    """Gives vectors of NaN, or of another dimension."""

    def __init__(self, vector: list[float]) -> None:
        super().__init__()
        self.vector = vector

    def answer(self, body: Any) -> dict[str, Any]:
        reply = super().answer(body)
        for row in reply["data"]:
            row["embedding"] = self.vector
        return reply


@pytest.mark.parametrize(
    ("vector", "code", "says"),
    [
        pytest.param([float("nan")] * 2, 1, "NaN or infinity; check its model", id="NaN"),
        pytest.param([1.0] * 3, 2, "its dimension is 3, theirs 2", id="another dimension"),
    ],
)
def test_vectors_that_cannot_be_used_end_a_command_with_the_embedder_s_name(
    films: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    vector: list[float],
    code: int,
    says: str,
) -> None:
    index = tmp_path / "index"
    build = ("index", "build", "--input", films.with_name("films.jsonl"), "--output", index)
    (tmp_path / "in.jsonl").write_text('{"response": "The film was made in 1931."}\n')
    run = ("evaluate", "--input", tmp_path / "in.jsonl", "--output", tmp_path / "out")
    wiki = ("--sources", "wikipedia", "--index", index, "--retriever", "dense")
    with LlmServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ok(*build, "--embedder", "openai:m")
        server.embeddings = Unusable(vector)
        searched = ends(code, "index", "search", index, "film", "--retriever", "dense").err
        ran = ends(code, *run, *wiki, "--judge", "offline", "--workers", 1).err
    for message in (searched, ran):
        assert "'openai:m'" in message
        assert says in message


def test_an_index_is_described(river: Path) -> None:
    manifest, _ = read_manifest(river)
    size = sum(file["bytes"] for file in manifest["files"])
    dump = river.with_name("river.xml").stat().st_size
    assert ok("index", "info", river).out.splitlines() == [
        f"{river}: ufo-index version {VERSION}, {size:,} bytes, sizes agree; "
        "--verify compares checksums",
        f"  made from river.xml ({dump:,} bytes)",
        f"  searched with {manifest['settings']['engine']['name']}",
        "  as of 2025-01-02",
        *(f"  {n:>9,} {name}" for n, name in ((1, "pages"), (1, "articles"), (2, "passages"))),
    ]


def test_an_index_of_documents_has_no_day(films: Path) -> None:
    assert "as of" not in ok("index", "info", films).out


def test_vectors_are_described(dense: Any) -> None:
    folder, model = dense
    assert f", vectors of 3 by {model}\n" in ok("index", "info", folder).out


def test_an_index_as_json_is_its_manifest(river: Path) -> None:
    manifest, _ = read_manifest(river)
    assert ok("index", "info", river, "--json").json == {**manifest, "verified": False}
    assert ok("index", "info", river, "--json", "--verify").json["verified"] is True


def test_the_checksum_of_a_large_file_is_compared_where_that_is_asked_for(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"title": "Danube", "text": "a river " * 150_000}])
    index = tmp_path / "index"
    ok("index", "build", "--input", lines, "--output", index)
    assert "all checksums agree" in ok("index", "info", index, "--verify").out
    path = index / "passages.arrow"
    path.write_bytes(b"\0" * path.stat().st_size)
    ok("index", "info", index)
    assert "checksum" in ends(2, "index", "info", index, "--verify").err
