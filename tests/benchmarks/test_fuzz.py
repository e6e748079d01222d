"""One bad document costs one document: mutated pages, PDFs and replies, the same in every run."""

import random

import pytest

from benchmarks.fuzz import documents, mutated, pages, pdfs, replies, searches

SEED = 20261123


@pytest.mark.slow
def test_pages() -> None:
    found = documents(600, "text/html", pages(), SEED)
    assert found.total() == 600
    assert found["read"] > 60


@pytest.mark.slow
def test_pdfs() -> None:
    assert documents(100, "application/pdf", pdfs(), SEED).total() == 100


@pytest.mark.slow
def test_replies_of_a_search_engine_and_an_endpoint() -> None:
    assert set(searches(100, SEED)) == {"error", "found"}
    assert {"judged", "no judgement", "no JSON"} <= set(replies(100, SEED))


def test_mutations_are_those_of_the_seed() -> None:
    first, second = (mutated(b"<p>x</p>" * 20, random.Random(SEED)) for _ in range(2))
    assert first == second != b"<p>x</p>" * 20
