"""What is quoted beside a claim: which of its evidence, and what of the passage."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.conftest import Rows, rows_of, write_run
from ufo.pipelines.reports.check_settings import CheckSettings
from ufo.pipelines.reports.claims import claims_of
from ufo.pipelines.reports.evaluation import Check
from ufo.pipelines.reports.overview import overview
from ufo.pipelines.reports.quotes import quote_of
from ufo.schemas.results import open_results
from ufo.transforms.check_text import CheckedText
from ufo.transforms.sources.fact_source import SourceSpec

SOURCES = ("ref", "wiki")
OTHER = "The town has a harbour, a market and a school, which were all built after the fire. "


@pytest.mark.parametrize(
    ("citation", "text", "quote"),
    [
        pytest.param("Cited.", OTHER * 9, "Cited.", id="what the judge cited"),
        pytest.param(None, f"{OTHER}Oslo is big.", f"{OTHER}Oslo is big.", id="a short passage"),
        pytest.param(None, f"{OTHER * 4}Oslo is old. {OTHER * 4}", "Oslo is old.", id="a sentence"),
        pytest.param(None, f"Oslo one. {OTHER * 4}Oslo two.", "Oslo one.", id="the first of two"),
        pytest.param(None, f"{'市' * 400}。Oslo 很大。", "Oslo 很大。", id="other scripts"),
        pytest.param(None, None, "", id="no passage"),
        pytest.param(None, "", "", id="an empty passage"),
    ],
)
def test_what_is_quoted(citation: str | None, text: str | None, quote: str) -> None:
    assert quote_of("Oslo is big.", citation, text) == quote


def test_a_passage_without_any_word_of_the_claim_is_quoted_from_its_first_sentence() -> None:
    assert quote_of("Rome burned.", None, OTHER * 9) == OTHER.strip()


def _of_response(rows: Rows, response_id: str) -> CheckedText:
    evidence = [row for row in rows["evidence"] if row.response_id == response_id]
    used = {row.passage_id for row in evidence}
    return CheckedText(
        next(row for row in rows["responses"] if row.response_id == response_id),
        sentences=[row for row in rows["sentences"] if row.response_id == response_id],
        fact_units=[row for row in rows["fact_units"] if row.response_id == response_id],
        evidence=evidence,
        passages=[row for row in rows["passages"] if row.passage_id in used],
        verdicts=[row for row in rows["verdicts"] if row.response_id == response_id],
    )


@pytest.mark.parametrize("mode", ["seq", "mv"])
def test_terminal_data_frame_and_checked_text_quote_the_same_evidence(
    mode: str, tmp_path: Path
) -> None:
    random = Random(mode)
    answers = ("srr", "rr", "nr", "rrrr")
    rows = rows_of(
        {
            f"r{at}": {f"u{at}": {one: random.choice(answers) for one in ("wiki", "ref")}}
            for at in range(10)
        },
        mode=mode,
    )
    for at, row in enumerate(rows["evidence"]):
        # Ranks that several passages have, or none; passages without a citation, or with their own.
        cited = random.choice([None, f"Cited {at}."])
        rows["evidence"][at] = replace(row, rank=random.choice([None, 0, 1]), citation=cited)
    random.shuffle(rows["evidence"])
    write_run(tmp_path, rows, mode=mode)
    with open_results(tmp_path) as results:
        of_frame = claims_of(results).to_pylist()
        of_terminal = overview(results)["contradicted"]
    quotes = {row["claim"]: row["evidence"] for row in of_frame}
    assert {row["claim"]: row["quote"] for row in of_terminal} == quotes
    assert len(quotes) == 10
    for row in of_frame:
        checked = Check(
            _of_response(rows, row["response_id"]),
            CheckSettings(
                judge="offline",
                sources=[SourceSpec(name, "test") for name in SOURCES],
                mode=mode,
                tie="not_factual",
            ),
        )
        assert [one["quote"] for one in checked.claims()] == [row["evidence"]]
