import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.records import FactUnit, Failure, GivenClaim, InputRecord, LabelledSpan
from ufo.transforms.extract import (
    LABELS_LEFT_OUT,
    OUT_OF_RANGE,
    REPEATED,
    Extracted,
    align,
    extract,
    human_label,
)
from ufo.transforms.judges.judge import Draft, Drafts, Judge
from ufo.transforms.sentences import Span

TEXT = "Etna is in Sicily. It erupts often. Sicily is an island."


def run(judge: Judge, units: str = "claim", text: str = TEXT, **fields: Any) -> Extracted:
    record = InputRecord("f:1", "r", text, **fields)
    return asyncio.run(extract(record, judge, units))


def places(found: Extracted) -> list[int | None]:
    return [unit.sentence_index for unit in found.open_units.units]


def test_sentences_are_numbered_and_are_stretches_of_the_text(judge: Judge) -> None:
    found = run(judge, text="Ätna 😀 erupts.  Etna is high.")
    assert [(s.sentence_index, s.start, s.end) for s in found.sentences] == [
        (0, 0, 14),
        (1, 16, 29),
    ]
    assert all(found.response.text[s.start : s.end] == s.text for s in found.sentences)
    assert list(found.open_units.sentence_spans) == [0, 14, 16, 29]


def test_the_judge_extracts_where_no_claims_are_given(judge: Judge) -> None:
    found = run(judge)
    assert [unit.claim for unit in found.open_units.units] == [s.text for s in found.sentences]
    assert [s.n_units for s in found.sentences] == [1, 1, 1]
    assert {unit.human_label for unit in found.open_units.units} == {None}
    by_sentence = run(judge, units="sentence")
    assert {unit.claim for unit in by_sentence.open_units.units} == {"whole sentence"}


def test_given_claims_keep_their_query_label_and_place(judge: Judge) -> None:
    claims = [
        GivenClaim("Etna is in Sicily.", "Where is Etna?", 1, None),
        GivenClaim("Sicily is an island.", None, 0, 2),
    ]
    found = run(judge, given=True, claims=claims)
    first, second = found.open_units.units
    assert (first.claim, first.query, first.human_label) == (
        "Etna is in Sicily.",
        "Where is Etna?",
        1,
    )
    # A query that was not given is made by the extractor that is in use.
    assert (second.query, second.human_label) == ("Is it so: Sicily is an island.", 0)
    assert places(found) == [0, 2]
    assert [s.n_units for s in found.sentences] == [1, 0, 1]


class Saying(Judge):
    """Extracts these claims of the first sentences, in order."""

    verifies = True

    def __init__(self, *claims: str) -> None:
        self._claims = claims

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        return Drafts([Draft(at, claim, f"Q{at}?") for at, claim in enumerate(self._claims)])


def test_equal_claims_of_a_response_are_one_whoever_extracts() -> None:
    found = run(Saying("Etna is in Sicily.", "etna is  in Sicily", "It erupts often."))
    assert [(unit.claim, unit.query) for unit in found.open_units.units] == [
        ("Etna is in Sicily.", "Q0?"),
        ("It erupts often.", "Q2?"),
    ]
    assert [sentence.n_units for sentence in found.sentences] == [1, 0, 1]


def test_given_claims_that_are_equal_are_all_kept(judge: Judge) -> None:
    claims = [GivenClaim("Etna is in Sicily.", "Where?", label, 0) for label in (1, 0)]
    found = run(judge, given=True, claims=claims)
    assert [unit.human_label for unit in found.open_units.units] == [1, 0]


def test_a_claim_without_a_place_is_aligned_and_else_unplaced(judge: Judge) -> None:
    claims = [
        GivenClaim("The volcano erupts often."),
        GivenClaim("Xylophones resonate."),
        GivenClaim("Sicily is an island.", sentence_index=7),
    ]
    found = run(judge, given=True, claims=claims)
    # The number 7 is of another segmentation than ours.
    assert places(found) == [1, None, None]
    assert len({unit.unit_id for unit in found.open_units.units}) == 3


def test_what_is_doubtful_about_given_claims_is_counted(judge: Judge) -> None:
    claims = [
        GivenClaim("Sicily is an island.", sentence_index=3),
        GivenClaim("Sicily is an island.", sentence_index=2),
    ]
    assert run(judge, given=True, claims=claims).doubts == {OUT_OF_RANGE: 1, REPEATED: 1}
    assert run(judge, given=True, claims=claims[1:]).doubts == {}


class Whole(Judge):
    """Takes every sentence but the first for checkable."""

    verifies = True

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        texts = [record.text[span.start : span.end] for span in sentences]
        return Drafts([Draft(at, text, "?") for at, text in enumerate(texts) if at])


def test_units_are_sentences_where_claims_are_given_too_and_their_labels_are_pooled() -> None:
    claims = [
        GivenClaim("It erupts.", None, 1, 1),
        GivenClaim("It erupts often.", None, 0, 1),
        GivenClaim("Sicily is an island.", None, 1),
        GivenClaim("An island is in the sea.", None, None, 2),
        GivenClaim("Etna is in Sicily.", None, 0, 0),
        GivenClaim("Xylophones resonate.", None, 1),
    ]
    found = run(Whole(), units="sentence", given=True, claims=claims)
    assert [(unit.claim, unit.human_label) for unit in found.open_units.units] == [
        ("It erupts often.", 0),
        ("Sicily is an island.", 1),
    ]
    assert found.doubts == {LABELS_LEFT_OUT: 2}
    assert run(Whole(), units="sentence", given=True).open_units.units == []


def test_an_empty_list_of_claims_is_no_checkable_claim(judge: Judge) -> None:
    found = run(judge, given=True)
    assert found.open_units.units == []
    assert len(found.sentences) == 3


def test_a_judge_that_breaks_is_a_failure_of_this_response_alone(judge: Judge) -> None:
    async def breaks(*_: object) -> Any:
        raise ValueError("no model")

    judge.extract = breaks  # type: ignore[method-assign, assignment]
    found = run(judge)
    assert found.failures == [Failure("extract", "r", "ValueError", "no model")]
    assert (len(found.sentences), found.open_units.units) == (3, [])


@pytest.mark.parametrize(
    "language", ["de", "pt-BR", "", "xx", "日本語", "-", "e" * 500, "\n", "../en"]
)
def test_no_name_of_a_language_is_an_error(judge: Judge, language: str) -> None:
    assert run(judge, language=language).sentences[0].text == "Etna is in Sicily."


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_gives_sentences_that_are_stretches_of_it(scripted_judge: Any, text: str) -> None:
    found = run(scripted_judge(), text=text, language="de")
    for sentence in found.sentences:
        assert text[sentence.start : sentence.end] == sentence.text
    assert len(found.open_units.units) == len(found.sentences)


def test_a_response_row_holds_what_the_input_said(judge: Judge) -> None:
    found = run(
        judge,
        model="m",
        dataset="d",
        question="q",
        language="en",
        human_score=0.5,
        metadata="{}",
        references=["one", "two"],
    )
    row = found.response
    assert (row.response_id, row.model, row.dataset, row.question) == ("r", "m", "d", "q")
    assert (row.language, row.human_score, row.metadata, row.n_references) == ("en", 0.5, "{}", 2)
    assert found.open_units.references == ["one", "two"]
    assert isinstance(found.open_units.units[0], FactUnit)


def test_a_sentence_with_any_part_of_an_error_span_is_wrong(judge: Judge) -> None:
    found = run(judge, spans=[LabelledSpan(16, 20, 0)], spans_are_errors=True)
    assert [s.human_label for s in found.sentences] == [0, 0, 1]
    assert {s.human_label for s in run(judge).sentences} == {None}
    none_found = run(judge, spans_are_errors=True)
    assert {s.human_label for s in none_found.sentences} == {1}


def test_a_labelled_sentence_labels_the_one_of_ours_that_shares_most() -> None:
    labelled = [LabelledSpan(0, 6, 1), LabelledSpan(6, 30, 0), LabelledSpan(30, 40, None)]
    assert human_label(Span(0, 10), labelled, are_errors=False) == 1
    assert human_label(Span(4, 12), labelled, are_errors=False) == 0
    assert human_label(Span(31, 40), labelled, are_errors=False) is None
    assert human_label(Span(40, 50), labelled, are_errors=False) is None


SENTENCES = [
    "Ada Berg was born in Oslo in 1950.",
    "She studied chemistry and moved to Bergen.",
    "In 1990 she won the Holm Prize.",
]


def test_each_claim_goes_to_its_sentence() -> None:
    claims = [
        "Ada Berg was born in Oslo.",
        "Ada Berg was born in 1950.",
        "Ada Berg studied chemistry.",
        "Ada Berg moved to Bergen.",
        "Ada Berg won the Holm Prize.",
    ]
    assert align(claims, SENTENCES) == [0, 0, 1, 1, 2]


def test_a_claim_that_shares_nothing_is_unplaced() -> None:
    assert align(["Whales sing.", "She won the Holm Prize."], SENTENCES) == [None, 2]
    assert align(["It is the one."], ["It was the one that is."]) == [0]
    assert align(["He is."], ["She was."]) == [None]
    assert align(["1950"], []) == [None]
    assert align([], SENTENCES) == []


def test_ties_go_to_the_earlier_sentence() -> None:
    assert align(["The tower is tall."], ["The tower stands.", "The tower fell."]) == [0]


def test_the_order_of_the_claims_decides_between_equals() -> None:
    sentences = ["The tower stands.", "The bridge is old.", "The tower fell."]
    claims = ["The tower is there.", "The bridge is old.", "The tower is gone."]
    assert align(claims, sentences) == [0, 1, 2]


def test_a_clearly_better_sentence_before_still_wins() -> None:
    assert align(["She won the Holm Prize in 1990.", "Born in Oslo in 1950"], SENTENCES) == [2, 0]


def test_word_forms_agree() -> None:
    assert align(["Moving was hard."], ["It rained.", "She moved."]) == [1]
    assert align(["Ada publishes."], ["It rained.", "She published much."]) == [1]


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.text(max_size=30), max_size=8))
def test_indexes_are_in_range(claims: list[str], sentences: list[str]) -> None:
    placed = align(claims, sentences)
    assert len(placed) == len(claims)
    assert all(index is None or 0 <= index < len(sentences) for index in placed)


@given(st.lists(st.text("abcdefgh ", min_size=3, max_size=30), max_size=6, unique=True))
def test_a_sentence_is_placed_under_itself(sentences: list[str]) -> None:
    for index, found in enumerate(align(sentences, sentences)):
        assert found is None or set(sentences[found].split()) & set(sentences[index].split())
