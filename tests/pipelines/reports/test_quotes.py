"""What is quoted of a passage beside a claim."""

import pytest

from ufo.pipelines.reports.quotes import quote_of

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
