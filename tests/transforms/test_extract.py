"""The sentences and claims of a response, their places, and their labels."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import ANY, AsyncMock, Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.transforms.scripted import ScriptedJudge
from ufo.schemas.errors import RunError
from ufo.schemas.records import Failure, GivenClaim, InputRecord, LabelledSpan, Response
from ufo.transforms import extract as step
from ufo.transforms.extract import Extracted, align, extract
from ufo.transforms.judges.judge import Draft, Drafts, Judge, Queries
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.sentences import Span, segment

TEXT = "Etna is in Sicily. It erupts often. Sicily is an island."


JUDGE = ScriptedJudge()
PLACES = Path(__file__).with_name("places.txt")


def run(judge: Judge = JUDGE, units: str = "claim", text: str = TEXT, **fields: Any) -> Extracted:
    return asyncio.run(extract(InputRecord("f:1", "r", text, **fields), judge, units))


def test_sentences_are_numbered_and_the_response_holds_what_the_input_said() -> None:
    fields: Any = {
        "model": "m",
        "dataset": "d",
        "question": "q",
        "language": "en",
        "metadata": "{}",
    }
    text = "Ätna 😀 erupts.  Etna is high."
    extracted = run(text=text, **fields, human_score=0.5, references=["a", "b"])
    fields |= {"text": text, "n_references": 2, "human_score": 0.5, "record_hash": ANY}
    assert extracted.response == Response("r", **fields)
    assert extracted.open_units.response_id == "r"
    assert extracted.open_units.text == text
    assert extracted.open_units.question == "q"
    assert extracted.open_units.language == "en"
    assert extracted.open_units.references == ["a", "b"]
    sentences = [(s.sentence_index, s.start, s.end) for s in extracted.sentences]
    assert sentences == [(0, 0, 14), (1, 16, 29)]
    assert list(extracted.open_units.sentence_spans) == [0, 14, 16, 29]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_the_judge_extracts_from_any_text_whose_sentences_are_stretches_of_it(text: str) -> None:
    extracted = run(text=text, language="de")
    stretches = [text[one.start : one.end] for one in extracted.sentences]
    assert [one.text for one in extracted.sentences] == stretches
    assert [unit.claim for unit in extracted.open_units.units] == [
        s.text for s in extracted.sentences
    ]
    assert {(s.n_units, s.human_label) for s in extracted.sentences} <= {(1, None)}
    by_sentence = run(units="sentence", text=text)
    assert {unit.claim for unit in by_sentence.open_units.units} <= {"whole sentence"}


# What is given, and the place of its unit.
GIVEN = [
    (GivenClaim("Etna is in Sicily.", "Where?", 1, None), 0),
    # Equal ones are all kept. A query that was not given is made by the extractor that is in use.
    (GivenClaim("Etna is in Sicily.", None, 0, 0), 0),
    (GivenClaim("The volcano erupts often."), 1),
    (GivenClaim("Xylophones resonate.", "?"), None),
    # The number 7 is of another segmentation than ours.
    (GivenClaim("An island.", "?", None, 7), None),
]


def test_given_claims_keep_their_query_label_and_place_and_what_is_doubtful_is_counted() -> None:
    extracted = run(given=True, claims=[claim for claim, _ in GIVEN])
    units = extracted.open_units.units
    for unit, (claim, place) in zip(units, GIVEN, strict=True):
        assert unit.claim == claim.claim
        assert unit.sentence_index == place
        assert unit.query == (claim.query or f"Is it so: {claim.claim}")
        assert unit.human_label == claim.label
    assert len({unit.unit_id for unit in units}) == len(GIVEN)
    assert [s.n_units for s in extracted.sentences] == [2, 1, 0]
    assert extracted.doubts == {step.OUT_OF_RANGE: 1, step.REPEATED: 1}
    assert run(given=True, claims=[GIVEN[0][0]]).doubts == {}
    nothing = run(given=True)
    assert nothing.open_units.units == []
    assert len(nothing.sentences) == 3


@pytest.mark.parametrize(
    ("number", "doubts"), [(2, {}), (3, {step.OUT_OF_RANGE: 1})], ids=["last", "one more"]
)
def test_the_last_number_is_that_of_sentences_less_one(number: int, doubts: dict[str, int]) -> None:
    extracted = run(given=True, claims=[GivenClaim("Lava.", "?", None, number)])
    assert [unit.sentence_index for unit in extracted.open_units.units] == [None if doubts else 2]
    assert extracted.doubts == doubts


def saying(*drafts: Draft) -> Any:
    """Return a judge that extracts these claims, or sentences."""
    extracts = AsyncMock(return_value=Drafts([*drafts]))
    return Mock(JUDGE, extract=extracts, extract_sentences=extracts)


def test_equal_claims_of_a_response_are_one_whoever_extracts() -> None:
    claims = ("Etna is in Sicily.", "etna is  in Sicily", "It erupts often.")
    extracted = run(saying(*(Draft(at, claim, f"Q{at}?") for at, claim in enumerate(claims))))
    units = [(unit.claim, unit.query) for unit in extracted.open_units.units]
    assert units == [("Etna is in Sicily.", "Q0?"), ("It erupts often.", "Q2?")]
    assert [sentence.n_units for sentence in extracted.sentences] == [1, 0, 1]


def test_units_are_sentences_where_claims_are_given_too_and_their_labels_are_pooled() -> None:
    claims = [
        GivenClaim("It erupts.", None, 1, 1),
        GivenClaim("It erupts often.", None, 0, 1),
        GivenClaim("Sicily is an island.", None, 1),
        GivenClaim("An island is in the sea.", None, None, 2),
        GivenClaim("Etna is in Sicily.", None, 0, 0),
        GivenClaim("Xylophones resonate.", None, 1),
    ]
    sentences = [Draft(1, "It erupts often.", "?"), Draft(2, "Sicily is an island.", "?")]
    extracted = run(saying(*sentences), units="sentence", given=True, claims=claims)
    labels = [(unit.claim, unit.human_label) for unit in extracted.open_units.units]
    assert labels == [("It erupts often.", 0), ("Sicily is an island.", 1)]
    assert extracted.doubts == {step.LABELS_LEFT_OUT: 2}
    assert run(units="sentence", given=True).open_units.units == []


def test_sentences_are_those_of_the_language() -> None:
    text = "Er kam am 14. März. Dr. Müller ging."
    assert len(run(text=text, language="de").sentences) == 2
    assert len(run(text=text).sentences) > 2


def test_equal_sentences_are_one_unit_where_claims_are_given_too() -> None:
    extracted = run(units="sentence", given=True, claims=[GivenClaim("Etna is in Sicily.")])
    assert [unit.claim for unit in extracted.open_units.units] == ["whole sentence"]


def test_an_error_that_ends_the_run_is_raised() -> None:
    with pytest.raises(RunError, match="spent"):
        run(Mock(JUDGE, extract=AsyncMock(side_effect=RunError("spent"))))


def test_of_two_labelled_sentences_of_equal_overlap_the_first_labels_ours() -> None:
    labelled = [LabelledSpan(0, 5, 0), LabelledSpan(5, 10, 1)]
    assert step.human_label(Span(0, 10), labelled, are_errors=False) == 0


def test_a_judge_that_breaks_is_a_failure_of_this_response_alone() -> None:
    judge = Mock(JUDGE, extract=AsyncMock(side_effect=ValueError("no model")))
    judge.name = "mine"
    extracted = run(judge)
    message = "error in judge mine: ValueError: no model"
    assert extracted.failures == [Failure("extract", "r", "ValueError", message)]
    assert len(extracted.sentences) == 3
    assert extracted.open_units.units == []


def test_labels_of_sentences() -> None:
    for spans, are_errors, labels in (
        ([LabelledSpan(16, 20, 0)], True, [0, 0, 1]),  # any part of an error is wrong
        ([], True, [1, 1, 1]),
        ([], False, [None] * 3),
    ):
        extracted = run(spans=spans, spans_are_errors=are_errors)
        assert [s.human_label for s in extracted.sentences] == labels


@pytest.mark.parametrize(
    ("start", "end", "label"),
    [(0, 10, 1), (9, 11, 0), (19, 21, 0), (20, 30, 1), (10, 20, 0), (12, 13, 0)],
)
def test_a_sentence_is_wrong_if_it_has_part_of_an_error(start: int, end: int, label: int) -> None:
    errors = [LabelledSpan(10, 20, 0)]
    assert step.human_label(Span(start, end), errors, are_errors=True) == label


@pytest.mark.parametrize(
    ("labels", "label"),
    [((0, 1), 0), ((1, 0), 0), ((1, 1), 1), ((1, None), 1), ((None, None), None)],
    ids=["wrong first", "wrong second", "both right", "one unlabelled", "both unlabelled"],
)
def test_a_sentence_has_its_worst_label(labels: tuple[int | None, ...], label: int | None) -> None:
    claims = [GivenClaim(f"Etna {n}.", None, one, 0) for n, one in enumerate(labels)]
    extracted = run(saying(Draft(0, "Etna.", "?")), units="sentence", given=True, claims=claims)
    assert [unit.human_label for unit in extracted.open_units.units] == [label]


def test_what_a_judge_used_and_missed_is_told() -> None:
    usage, failure = usage_row("extract", None, "m", "r"), Failure("extract", "r", "cut", "cut off")
    drafts = Drafts([Draft(0, "Etna.", "?")], failures=[failure], usage=[usage])
    extracted = run(Mock(JUDGE, extract=AsyncMock(return_value=drafts)))
    assert extracted.failures == [failure]
    assert extracted.usage == [usage]
    queries = AsyncMock(return_value=Queries(["Q?"], failures=[failure], usage=[usage]))
    extracted = run(Mock(JUDGE, queries=queries), given=True, claims=[GivenClaim("Etna.")])
    assert extracted.failures == [failure]
    assert extracted.usage == [usage]
    queries.assert_awaited_once_with(["Etna."], "r")


@pytest.mark.parametrize(
    ("start", "end", "label"),
    [(0, 10, 1), (4, 12, 0), (31, 40, None), (40, 50, None), (60, 70, 1), (50, 60, None)],
)
def test_a_labelled_sentence_labels_ours_by_share(start: int, end: int, label: int | None) -> None:
    labelled = [LabelledSpan(*one) for one in ((0, 6, 1), (6, 30, 0), (30, 40, None), (60, 70, 1))]
    assert step.human_label(Span(start, end), labelled, are_errors=False) == label


@pytest.mark.parametrize(
    ("sentences", "claims", "places"), cases(PLACES), ids=lambda cell: cell[:40] or "nothing"
)
def test_a_claim_goes_to_its_sentence(sentences: str, claims: str, places: str) -> None:
    placed = align(claims.split(" | "), [one for one in sentences.split(" | ") if one])
    assert " | ".join("-" if place is None else str(place) for place in placed) == places


TEXTS = st.lists(st.text(max_size=30) | st.text("abcdefgh ", min_size=3, max_size=30), max_size=8)


@given(TEXTS, TEXTS)
def test_places_share_words_with_their_claims(claims: list[str], sentences: list[str]) -> None:
    placed = align(claims, sentences)
    assert len(placed) == len(claims)
    assert all(index is None or 0 <= index < len(sentences) for index in placed)
    plain = [one for one in dict.fromkeys(sentences) if set(one) <= set("abcdefgh ")]
    for index, place in enumerate(align(plain, plain)):
        assert place is None or set(plain[place].split()) & set(plain[index].split())


THOUGHTS = (
    "Etna is old? <b>.</think>\n\nEtna is high. <reflection>Etna is low.</reflection> It burns."
)


@pytest.mark.parametrize("units", ["claim", "sentence"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_judge_sees_thoughts(units: str, language: str) -> None:
    drafts = Drafts([Draft(0, "Etna is high.", "?"), Draft(1, "Etna burns.", "?")])
    extraction = AsyncMock(return_value=drafts)
    judge = Mock(JUDGE, extract=extraction, extract_sentences=extraction)
    extracted = run(judge, units=units, text=THOUGHTS, language=language)
    answer, spans = extraction.await_args_list[0].args
    assert [answer.text[start:end] for start, end in spans] == ["Etna is high.", "It burns."]
    assert "old" not in answer.text
    assert "low" not in extracted.open_units.text
    placed = {unit.claim: unit.sentence_index for unit in extracted.open_units.units}
    sentences = [extracted.sentences[place or 0].text for place in placed.values()]
    assert sentences == ["Etna is high.", "It burns."]
    assert extracted.response.text == THOUGHTS
    assert all(one.text == THOUGHTS[one.start : one.end] for one in extracted.sentences)
    at = extracted.open_units.sentence_spans
    seen = [extracted.open_units.text[a:b] for a, b in zip(at[::2], at[1::2], strict=True)]
    assert [text for text in seen if text] == sentences


def test_a_response_of_thoughts_alone_has_no_claim() -> None:
    extracted = run(text="<think>\nEtna is high. It burns and")
    assert [one.n_units for one in extracted.sentences] == [0] * len(extracted.sentences)


def test_no_given_claim_is_aligned_with_thoughts() -> None:
    claims = [GivenClaim("Etna is low."), GivenClaim("It burns.")]
    extracted = run(text=THOUGHTS, given=True, claims=claims)
    placed = [unit.sentence_index for unit in extracted.open_units.units]
    assert [place is not None and extracted.sentences[place].text for place in placed] == [
        "Etna is high.",
        "It burns.",
    ]


@given(
    st.text("<think>/ab.\n`answer", max_size=60)
    | st.lists(
        st.sampled_from(["<think>", "</think>", "<answer>", "A b. ", "\n\n", "</answer>"]),
        max_size=12,
    ).map("".join)
)
def test_the_spans_of_an_answer_are_within_it(text: str) -> None:
    spans = segment(text)
    answer, shown = step.answer_of(InputRecord("k", "r", text), spans)
    assert len(shown) == len(spans)
    for span, inner in zip(spans, shown, strict=True):
        if inner.start < inner.end:
            assert answer.text[inner.start : inner.end] == text[span.start : span.end]
