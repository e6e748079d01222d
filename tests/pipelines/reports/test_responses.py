import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.reports.conftest import page_of
from tests.pipelines.reports.reading import Reader


@pytest.fixture(name="articles")
def _articles(page: str) -> list[str]:
    return articles_in(page)


def articles_in(page: str) -> list[str]:
    return re.findall(r"<article.*?</article>", page, re.DOTALL)


def articles_of(folder: Path) -> list[str]:
    return articles_in(page_of(folder))


def test_the_lowest_scores_come_first_with_why(articles: list[str]) -> None:
    read = [Reader(article) for article in articles]
    assert len(read) == 5
    scores = [float(re.findall(r"score (\d\.\d+)", one.text)[0]) for one in read]
    assert scores == sorted(scores)
    assert any("1 judgement without an answer" in one.text for one in read)
    assert any("people 0.500" in one.text for one in read)


def test_sentences_have_colour_symbol_and_label(articles: list[str]) -> None:
    article = next(one for one in articles if "S a1." in one)
    found = re.findall(
        r'class="sentence (\w+)"><span class="words">(.*?)</span>\u2060 <a[^>]*>(.*?)</a>', article
    )
    found = [(look, text, Reader(chip).text) for look, text, chip in found]
    assert found == [
        ("good", "S a1.", "✓ supported · support 0.67"),
        ("bad", "S a2.", "✗ contradicted · support 0.33"),
        ("good", "S a3.", "✓ supported · support 1.00"),
    ]
    assert "Nothing to check here." in article
    assert article.index("🛸") < article.index("S a1.")


def test_claims_have_verdict_people_and_evidence(articles: list[str]) -> None:
    read = Reader(next(one for one in articles if "Claim a2." in one))
    for expected in [
        "3 claims and the evidence",
        "Claim a1.",
        "Q a1?",
        "by ref",
        "2 for, 0 against",
        "true to people",
        "what ref says of a1",
        "Contradicts",
        "Supports",
        "Page a1",
    ]:
        assert expected in read.text


def test_texts_claims_and_evidence_are_bounded(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    votes = {"a": {f"u{n:03}": {"ref": "r" * 9} for n in range(60)}}
    rows = rows_of(votes)
    rows["responses"] = [replace(rows["responses"][0], text="word " * 10_000)]
    rows["evidence"] = [
        replace(row, citation=None, rationale="why " * 5_000) for row in rows["evidence"]
    ]
    rows["passages"] = [replace(row, text="long " * 5_000) for row in rows["passages"]]
    write_run(tmp_path, rows)
    (article,) = articles_of(tmp_path)
    text = Reader(article).text
    assert "40 of 60 claims are shown." in text
    assert "5 of 9 judgements are shown." in text
    assert "38,000 more characters" in text
    assert len(article) < 400_000


def test_a_claim_without_a_sentence_is_apart_and_a_wrong_quote_is_told(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}, "v": {"ref": "-"}}})
    rows["fact_units"] = [replace(row, sentence_index=None) for row in rows["fact_units"]]
    rows["evidence"] = [replace(row, citation_found=False) for row in rows["evidence"]]
    write_run(tmp_path, rows)
    text = Reader(articles_of(tmp_path)[0]).text
    assert "Claims without a place in the text" in text
    assert "Does not answer: no passages" in text
    assert "Its quote is not in the passage." in text
