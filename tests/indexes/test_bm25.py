import random
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from ufo.indexes.bm25 import Bm25
from ufo.indexes.retriever import ranked_passages
from ufo.indexes.tokens import terms_of

Build = Callable[..., Path]

WORDS = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]


def _random_pages(seed: int, count: int) -> dict[str, str]:
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    # Up to 40 terms: tantivy keeps the length of a longer passage in steps, not exactly.
    return {
        f"t{number}": " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 36)))
        for number in range(count)
    }


@pytest.mark.parametrize(("seed", "count"), [(0, 300), (1, 300), (2, 1_500)])
def test_scores_are_those_of_rank_bm25(build_folder: Build, seed: int, count: int) -> None:
    path = build_folder(_random_pages(seed, count))
    engine = Bm25(path)
    passages = [
        terms_of(" ".join([one.title, one.title, one.text])) for one in ranked_passages(path) if one
    ]
    reference = BM25Okapi(passages, k1=1.2, b=0.75)
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


def test_equal_scores_come_in_the_order_of_rows(build_folder: Build) -> None:
    engine = Bm25(build_folder({f"T{number}": "A river." for number in range(9)}))
    [hits] = engine.search(["rivers"], 3)
    assert [hit.row for hit in hits] == [0, 1, 2]


def test_words_are_stemmed_folded_and_question_words_dropped(build_folder: Build) -> None:
    engine = Bm25(build_folder({"Gödel": "He proved theorems in Vienna.", "What": "Who is who"}))
    for query in ("godel", "GÖDEL", "proving a theorem", "what was proven by theorems?"):
        [hits] = engine.search([query], 5)
        assert hits[0].row == 0
    assert [[h.row for h in hits] for hits in engine.search(["who?", "", "zyzzyva"], 5)] == [
        [1],
        [],
        [],
    ]


def test_within_ranks_only_the_rows_given(build_folder: Build) -> None:
    pages = {"A": "river", "B": "river here", "C": "sea", "D": "river river"}
    engine = Bm25(build_folder(pages))
    found = engine.search(["river"] * 4, 5, [[1, 2, 1], None, [], [3, 99]])
    assert [sorted(hit.row for hit in hits) for hits in found] == [[1], [0, 1, 3], [], [3]]
    [everywhere], [only] = engine.search(["river"], 5), engine.search(["river"], 5, [[1]])
    assert only[0] in everywhere
    assert engine.search(["sea"], 5, [[0, 1, 3]]) == [[]]  # no row that has none of the words


def test_within_scores_as_everywhere_and_takes_long_queries(build_folder: Build) -> None:
    pages = _random_pages(3, 1_500)
    engine = Bm25(build_folder(pages))
    query = " ".join([*WORDS[:7], *(f"x{number}" for number in range(3_000))])
    [everywhere], [only] = engine.search([query], 50), engine.search([query], 50, [range(1_500)])
    scores = [hit.score for hit in everywhere]
    assert [hit.score for hit in only] == pytest.approx(scores, abs=1e-5)
    some = [hit.row for hit in everywhere[10:40]]
    [within] = engine.search([query], 50, [some])
    assert {hit.row for hit in within} == set(some)
    assert [hit.score for hit in within] == pytest.approx(scores[10:40], abs=1e-5)


def test_rare_words_weigh_more(build_folder: Build) -> None:
    engine = Bm25(build_folder({"A": "river sea", "B": "river", "C": "river"}))
    common, rare, unknown = engine.rarity(["river", "sea", "glacier"])
    assert 0 <= common < rare < unknown


def test_a_folder_that_may_only_be_read_is_opened_as_it_is(
    build_folder: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build_folder()
    files = sorted(f"tantivy/{file.name}" for file in (path / "tantivy").iterdir())
    monkeypatch.setattr("os.access", lambda *arguments: False)
    [hits] = Bm25(path).search(["Danube"], 5)
    assert len(hits) == 1
    assert sorted(f"tantivy/{file.name}" for file in (path / "tantivy").iterdir()) == files
