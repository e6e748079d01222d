"""How passages are ranked: by words, by vectors, by both, and for what the first ones lack."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import faiss
import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from tests.indexes.conftest import Build, Letters, page, written
from ufo.indexes import dense, folder
from ufo.indexes.blocks import process_block, write_block
from ufo.indexes.bm25 import Bm25
from ufo.indexes.dense import Dense
from ufo.indexes.embedders import Vectors, unit_rows
from ufo.indexes.index import open_index
from ufo.indexes.reader import Block
from ufo.indexes.retriever import Hit, Hybrid, Ranked, ranked_passages
from ufo.indexes.tokens import terms_of
from ufo.schemas.errors import IndexUnusable, RunError


def rows(results: list[list[Hit]]) -> list[list[int]]:
    return [[hit.row for hit in hits] for hits in results]


# --- words ----------------------------------------------------------------------------------------

WORDS = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]


def _random_pages(seed: int, count: int) -> dict[str, str]:
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    # Up to 40 terms: tantivy keeps the length of a longer passage in steps, not exactly.
    return {
        f"t{number}": " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 36)))
        for number in range(count)
    }


@pytest.mark.parametrize(("seed", "count"), [(0, 300), (2, 1_500)])
def test_scores_are_those_of_rank_bm25(build_folder: Build, seed: int, count: int) -> None:
    path = build_folder(_random_pages(seed, count))
    ranked = filter(None, ranked_passages(path))
    passages = [terms_of(f"{one.title} {one.title} {one.text}") for one in ranked]
    engine, reference = Bm25(path), BM25Okapi(passages, k1=1.2, b=0.75)
    # Lucene's inverse document frequency, which is tantivy's, in the place of rank-bm25's.
    holding = {term: sum(term in passage for passage in passages) for term in reference.idf}
    reference.idf = {
        term: log(1 + (len(passages) - n + 0.5) / (n + 0.5)) for term, n in holding.items()
    }
    chance = random.Random(seed)
    for _ in range(40):
        words = chance.sample(WORDS, chance.randint(1, 8))
        scores = reference.get_scores(words)
        matching = [row for row, passage in enumerate(passages) if set(words) & set(passage)]
        best = sorted((scores[row] for row in matching), reverse=True)[:10]
        [hits] = engine.search([" ".join(words)], 10)
        # Each hit has its own score, and together they have the ten best: equal but for ties.
        assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-5)
        assert [scores[hit.row] for hit in hits] == pytest.approx(best, abs=1e-5)
        assert len({hit.row for hit in hits}) == len(best)


def test_words_are_stemmed_and_rare_ones_weigh_more(build_folder: Build) -> None:
    pages = {"Gödel": "He proved theorems in Vienna.", "What": "Who is who"}
    engine = Bm25(build_folder(pages | {f"T{n}": "A river." for n in range(9)}))
    queries = ["godel", "GÖDEL", "proving a theorem", "what was proven by theorems?"]
    assert [found[0] for found in rows(engine.search(queries, 5))] == [0] * 4
    assert rows(engine.search(["who?", "", "zyzzyva", "rivers"], 3)) == [[1], [], [], [2, 3, 4]]
    expected = [log(1 + (11 - n + 0.5) / (n + 0.5)) for n in (9, 1, 0)]
    assert engine.rarity(["river", "vienna", "glacier"]) == pytest.approx(expected)


@pytest.mark.parametrize("word", ["danube", "bavaria", "tributaries", "inn"])
def test_title_aliases_heading_and_text_are_searched(linked: Bm25, word: str) -> None:
    assert rows(linked.search([word], 1)) == [[1]]


def test_each_query_has_its_own_restriction(linked: Bm25) -> None:
    with pytest.raises(ValueError, match="shorter"):
        linked.search(["danube", "inn"], 5, [None])


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Bm25:
    """Words of a page with an alias and a section."""
    pages = [page("Sea", "It is salt."), page("Danube", "\n== Tributaries ==\nThe Inn is one.")]
    alias = page("Bavaria's stream", "", redirect="Danube")
    return Bm25(written(tmp_path_factory.mktemp("linked") / "index", wiki=[*pages, alias]))


def test_within_ranks_only_the_rows_given_and_scores_as_everywhere(build_folder: Build) -> None:
    engine = Bm25(build_folder({"A": "river", "B": "river here", "C": "sea", "D": "river river"}))
    results = engine.search(["river"] * 4, 5, [[1, 2, 1], None, [], [3, 99]])
    assert [sorted(one) for one in rows(results)] == [[1], [0, 1, 3], [], [3]]
    assert results[0][0] in results[1]
    assert engine.search(["sea"], 5, [[0, 1, 3]]) == [[]]  # no row that has none of the words
    engine = Bm25(build_folder(_random_pages(3, 1_500)))
    query = " ".join([*WORDS[:7], *(f"x{number}" for number in range(3_000))])
    [everywhere], [only] = engine.search([query], 50), engine.search([query], 50, [range(1_500)])
    scores = [hit.score for hit in everywhere]
    assert [hit.score for hit in only] == pytest.approx(scores, abs=1e-5)
    some = [hit.row for hit in everywhere[10:40]]
    [within] = engine.search([query], 50, [some])
    assert {hit.row for hit in within} == set(some)
    assert [hit.score for hit in within] == pytest.approx(scores[10:40], abs=1e-5)


def test_a_read_only_folder_is_opened(build_folder: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build_folder()
    files = sorted(file.name for file in (path / "tantivy").iterdir())
    monkeypatch.setattr("os.access", lambda *arguments: False)
    assert len(Bm25(path).search(["Danube"], 5)[0]) == 1
    assert sorted(file.name for file in (path / "tantivy").iterdir()) == files


# --- vectors --------------------------------------------------------------------------------------


def test_the_nearest_vectors_come_first(build_folder: Build, tmp_path: Path) -> None:
    path = build_folder({"Aa": "aaa", "Bb": "bbb", "See also": "", "Cc": "ccc aaa"})
    dense.build(path, Letters(), tmp_path)
    opened = Dense(path, Letters().embed)
    results = opened.search(["a", "cab", "xyz"], 5)
    assert rows(results)[0] == [0, 2]
    assert rows(results)[1][0] == 2
    assert results[2] == []
    assert results[0][0].score == pytest.approx(1)
    assert rows(opened.search(["a"], 1)) == [[0]]
    assert opened.search([], 5) == []
    assert faiss.omp_get_max_threads() == 1
    assert rows(opened.search(["a", "a", "a"], 5, [[2, 1, 2], None, []])) == [[2], [0, 2], []]


class Faulty(Letters):
    """Makes vectors of another dimension, or NaN, from its second call on."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        if len(self.calls) == 1:
            return vectors
        return vectors[:, :5] if self.fault == "another dimension" else vectors * np.nan


@pytest.mark.parametrize("fault", ["another dimension", "NaN"])
def test_vectors_that_cannot_be_used_end_a_build(
    build_folder: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(dense, "_SHARD", 2)
    path = build_folder({f"T{n}": "abc"[n % 3] for n in range(7)})
    with pytest.raises(RunError, match="the embedder 'letters' made vectors"):
        dense.build(path, Faulty(fault), tmp_path)


def test_a_resumed_build_keeps_the_dimension(
    build_folder: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_SHARD", 2)
    path = build_folder({f"T{n}": "abc"[n % 3] for n in range(3)})
    np.save(tmp_path / "000000.npy", np.ones((2, 3), np.float32))
    with pytest.raises(RunError, match="26 dimensions, and 3 are needed"):
        dense.build(path, Letters(), tmp_path)


@pytest.mark.parametrize(
    "within",
    [
        pytest.param(None, id="everywhere"),
        pytest.param([[0]], id="in a row that is not ranked"),
        pytest.param([[]], id="in no row"),
    ],
)
def test_where_no_passage_is_ranked_nothing_is_near(
    build_folder: Build, tmp_path: Path, within: list[list[int]] | None
) -> None:
    path = build_folder(wiki=[page("A", "== See also ==\nThe sea.")])
    dense.build(path, Letters(), tmp_path)
    assert list(ranked_passages(path)) == [None]
    assert Dense(path, Letters().embed).search(["the sea"], 5, within) == [[]]


@pytest.mark.parametrize(
    ("k", "best"),
    [
        pytest.param(1, [0], id="the best alone"),
        pytest.param(2, [0, 1], id="the lower row of equals"),
        pytest.param(3, [0, 1, 3], id="as many as match"),
        pytest.param(9, [0, 1, 3], id="fewer than asked for"),
    ],
)
def test_the_best_vectors_are_hits_the_lower_row_first_of_equals(
    build_folder: Build, tmp_path: Path, k: int, best: list[int]
) -> None:
    path = build_folder({"Aa": "aa", "Ab": "ab", "Bb": "bb", "Ba": "ba"})
    dense.build(path, Letters(), tmp_path)
    opened = Dense(path, Letters().embed)
    assert rows(opened.search(["a"], k)) == [best]
    assert rows(opened.search(["a"], k, [[3, 2, 1, 0]])) == [best]


def test_rows_beyond_the_last_vector_and_rows_without_one_are_no_hits(
    build_folder: Build, tmp_path: Path
) -> None:
    text = "A sea.\n== See also ==\nA sea.\n== Coast ==\nA sea."
    path = build_folder(wiki=[page("Sea", text)])
    dense.build(path, Letters(), tmp_path)
    opened = Dense(path, Letters().embed)
    assert rows(opened.search(["a sea"], 5)) == [[0, 2]]
    assert rows(opened.search(["a sea"], 5, [[3, 2, 1]])) == [[2]]


def test_a_stopped_build_goes_on_with_the_shards_that_are_there(
    build_folder: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_SHARD", 2)
    path = build_folder({f"T{n}": "abc"[n % 3] for n in range(7)})
    messages: list[str] = []
    first = Letters()
    dense.build(path, first, tmp_path, messages.append)
    assert messages == [f"{n} of 7 passages embedded" for n in (2, 4, 6, 7)]
    assert first.calls == [
        ["T0\na", "T1\nb"],
        ["T2\nc", "T3\na"],
        ["T4\nb", "T5\nc"],
        ["T6\na"],
    ]
    (tmp_path / "000002.npy").unlink()
    (tmp_path / "000003.npy").unlink()
    again = Letters()
    dense.build(path, again, tmp_path)
    assert again.calls == first.calls[2:]
    assert rows(Dense(path, Letters().embed).search(["b"], 9))[0][:2] == [1, 4]


@pytest.mark.parametrize(
    ("count", "lists"),
    [(1, 2), (2, 4), (100, 16), (100_000, 512), (131_071, 512), (131_073, 1_024), (10**6, 2_048)],
)
def test_the_lists_are_a_power_of_two_near_twice_the_root(count: int, lists: int) -> None:
    assert dense.n_lists(count) == lists


@dataclass
class Coded:
    """An index of 6,000 vectors in 40 clusters, stored as codes, and queries near the first."""

    folder: Path
    shards: list[Path]
    vectors: Vectors
    queries: Vectors

    def search(self, number: int, k: int, within: list[list[int]] | None = None) -> list[list[Hit]]:
        """Search by the first queries."""
        opened = Dense(self.folder, lambda texts: self.queries[: len(texts)])
        return opened.search([""] * number, k, within)


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Coded:
    folder = tmp_path_factory.mktemp("coded")
    chance = np.random.default_rng(1)
    centres, noise = chance.standard_normal((40, 64)), chance.standard_normal((6_000, 64))
    vectors = unit_rows(centres[chance.integers(0, 40, 6_000)] + 0.5 * noise)
    shards = [folder / f"{number}.npy" for number in range(3)]
    for shard, part in zip(shards, np.array_split(vectors, 3), strict=True):
        np.save(shard, part)
    np.save(folder / dense.ROWS, np.arange(6_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "FLAT", 1_000)
        dense.write_vectors(folder, shards, 6_000)
    queries = unit_rows(vectors[:100] + 0.1 * chance.standard_normal((100, 64)))
    return Coded(folder, shards, vectors, queries)


def test_codes_find_nearly_what_flat_does(coded: Coded) -> None:
    nearest = rows(coded.search(100, 10))
    best = np.argsort(-(coded.queries @ coded.vectors.T), axis=1)[:, :10]
    assert sum(len({*one} & {*row}) for one, row in zip(nearest, best, strict=True)) > 900


def test_the_scores_of_codes_are_nearly_cosines(coded: Coded) -> None:
    [hits] = coded.search(1, 3, [[5, 7, 0]])
    assert hits[0].row == 0
    assert hits[0].score == pytest.approx(float(coded.queries[0] @ coded.vectors[0]), abs=0.01)


@pytest.mark.parametrize("k", [1, 100, 150])
def test_codes_find_as_many_as_are_asked_for(coded: Coded, k: int) -> None:
    assert [len(hits) for hits in coded.search(2, k)] == [k, k]


@pytest.mark.parametrize(
    ("flat", "kind"),
    [
        pytest.param(6_000, faiss.IndexFlat, id="as many as stay whole"),
        pytest.param(5_999, faiss.IndexRefine, id="one more"),
    ],
)
def test_vectors_are_whole_up_to_a_number(
    coded: Coded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flat: int, kind: type
) -> None:
    monkeypatch.setattr(dense, "FLAT", flat)
    dense.write_vectors(tmp_path, coded.shards, 6_000)
    assert isinstance(faiss.read_index(str(tmp_path / dense.INDEX)), kind)


def test_an_index_without_vectors_says_how_to_get_them(build_folder: Build) -> None:
    with pytest.raises(IndexUnusable, match=r"has no vectors: use --retriever bm25.*--embedder"):
        open_index(build_folder(), "dense")


# --- fields, fusion and choice --------------------------------------------------------------------


class _Fixed:
    def __init__(self, *hits: Hit) -> None:
        self._hits = list(hits)
        self.asked: list[tuple[int, object]] = []

    def search(self, queries: Sequence[str], k: int, within: object = None) -> list[list[Hit]]:
        self.asked.append((k, within))
        return [self._hits for _ in queries]


@pytest.mark.parametrize(("k", "depth"), [(1, 100), (100, 100), (101, 101)])
def test_what_is_fused_goes_deeper_than_what_is_asked_for(k: int, depth: int) -> None:
    first, other = _Fixed(Hit(1, 9.0)), _Fixed()
    Hybrid(first, other).search(["x"], k, [[1, 2]])
    assert first.asked == other.asked == [(depth, [[1, 2]])]


def test_reciprocal_ranks_are_added_and_ties_go_to_the_lower_row() -> None:
    hybrid = Hybrid(_Fixed(Hit(1, 9.0), Hit(2, 8.0)), _Fixed(Hit(2, 0.9), Hit(3, 0.8)))
    [hits] = hybrid.search(["x"], 5)
    assert [hit.row for hit in hits] == [2, 1, 3]
    scores = [0.5 / 12 + 0.5 / 11, 0.5 / 11, 0.5 / 12]
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-12)
    assert rows(hybrid.search(["x", "y"], 1)) == [[2], [2]]
    assert rows(Hybrid(_Fixed(Hit(7, 1.0)), _Fixed(Hit(4, 1.0))).search(["x"], 5)) == [[4, 7]]


def test_passages_have_the_words_of_aliases(build_folder: Build) -> None:
    names = ("The Danube in Bavaria", "Donau", "Dunaj (river)")
    aliases = (page(name, "", redirect="Danube") for name in names)
    text = "A river.\n== Course ==\nIt flows."
    path = build_folder(wiki=[page("A", ""), page("Danube", text), *aliases])
    words = "donau dunaj river bavaria"
    assert list(ranked_passages(path)) == [
        Ranked("Danube", words, "", "A river."),
        Ranked("Danube", words, "Course", "It flows."),
    ]
    [hits] = open_index(path).search(["donau"], 5)
    assert {hit.passage.text for hit in hits} == {"A river.", "It flows."}


@pytest.mark.parametrize(
    ("heading", "ranked"),
    [
        ("Citations", False),
        ("External links", False),
        ("Footnotes", False),
        ("Further reading", False),
        ("REFERENCES", False),
        ("See also", False),
        ("Weblinks", False),
        ("Liens externes", False),
        ("外部リンク", False),
        ("References in film", True),
        ("Course", True),
    ],
)
def test_a_section_of_titles_and_links_is_not_ranked(
    build_folder: Build, heading: str, ranked: bool
) -> None:
    text = f"Lead.\n== {heading} ==\nThis.\n=== Books ===\nThat."
    path = build_folder(wiki=[page("A", text), page("B", f"== Books ==\n=== {heading} ===\nIt.")])
    texts = [one.text for one in ranked_passages(path) if one]
    assert texts == (["Lead.", "This.", "That.", "It."] if ranked else ["Lead.", "It."])


@pytest.mark.parametrize(("names", "kept"), [(20, 20), (21, 20)])
def test_so_many_words_of_aliases_are_kept(build_folder: Build, names: int, kept: int) -> None:
    aliases = (page(f"Name{n:02}", "", redirect="A") for n in range(names))
    path = build_folder(wiki=[page("A", "A river."), *aliases])
    [passage] = ranked_passages(path)
    assert passage
    assert passage.aliases.split() == [f"name{n:02}" for n in range(kept)]


def test_pages_of_a_later_block_have_their_aliases(tmp_path: Path) -> None:
    with folder.build_folder(tmp_path / "index") as building:
        for number, name in enumerate("ABC"):
            items = (page(name, "A river."), page(f"Alias{name}", "", redirect=name))
            block = Block(0, number, 0, "f", items=items)
            write_block(building / folder.BLOCKS, block, process_block(block))
        folder.add_engines(building, folder.assemble(building, {}, [])[0])
    passages = ranked_passages(tmp_path / "index")
    assert [(one.title, one.aliases) for one in passages if one] == [
        ("A", "aliasa"),
        ("B", "aliasb"),
        ("C", "aliasc"),
    ]
