"""TODO."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extraction.by_rules import (
    ExtractedUnit,
    extract,
    extract_sentences,
    paragraph_starts,
    query_of,
)
from ufo.transforms.sentences import segment


@pytest.mark.parametrize(
    ("claim", "query"),
    [
        ("Ada Berg was born in 1950.", "When was Ada Berg born?"),
        ("Ada Berg was born in Oslo.", "Where was Ada Berg born?"),
        ("Ada Berg was born on 3 May 1950 in Oslo.", "When and where was Ada Berg born?"),
        ("Ada Berg died in 1999.", "When did Ada Berg die?"),
        ("Ada Berg won the Holm Prize in 1990.", "When did Ada Berg win the Holm Prize?"),
        ("In 1990, Berg won the Holm Prize.", "When did Berg win the Holm Prize?"),
        ("The Holm Tower was completed in 1889.", "When was the Holm Tower completed?"),
        ("The Holm Tower is located in Oslo.", "Is the Holm Tower located in Oslo?"),
        ("The Moon is 384,400 km away.", "Is the Moon 384,400 km away?"),
        (
            "The Danube flows through ten countries.",
            "Danube flows ten countries",
        ),
        ("Paris has two million inhabitants.", "Does Paris have two million inhabitants?"),
        (
            "Norway has a population of 5.5 million.",
            "Does Norway have a population of 5.5 million?",
        ),
        ("Oslo is the capital of Norway.", "Is Oslo the capital of Norway?"),
        ("Berg did not win the Holm Prize in 1990.", "Did Berg not win the Holm Prize in 1990?"),
        ("Berg did not win the Holm Prize.", "Did Berg not win the Holm Prize?"),
        ("The Moon orbits the Earth.", "Moon orbits Earth"),
        ("Ada Berg also discovered berium.", "Did Ada Berg discover berium?"),
        ("The first won the Holm Prize in 1990.", "When did the first win the Holm Prize?"),
        ("He was born in 1950.", "born 1950"),
        ("There are 50 states.", "50 states"),
        ("Berium: a metal of the Alps", "Berium metal Alps"),
        ("It is.", "It is"),
    ],
)
def test_query_of(claim: str, query: str) -> None:
    assert query_of(claim) == query


@given(st.text(max_size=60))
def test_a_claim_with_a_word_has_a_query(claim: str) -> None:
    query = query_of(claim)
    assert query or not claim.strip()


TEXT = (
    "Sure! Here is a short biography:\n\n"
    "Ada Berg was a chemist. She was born in Oslo in 1950 and died in Paris.\n\n"
    "- In 1990, she won the Holm Prize.\n- Is she known?\n\nI hope this helps!"
)


def sentences_of(text: str) -> list[str]:
    return [text[start:end] for start, end in segment(text)]


def test_claims_stand_by_themselves_and_know_their_sentence() -> None:
    starts = paragraph_starts(TEXT, segment(TEXT))
    assert extract(sentences_of(TEXT), "Tell me a bio of Ada Berg.", starts) == [
        ExtractedUnit(2, "Ada Berg was a chemist.", "Was Ada Berg a chemist?"),
        ExtractedUnit(3, "Ada Berg was born in Oslo.", "Where was Ada Berg born?"),
        ExtractedUnit(3, "Ada Berg was born in 1950.", "When was Ada Berg born?"),
        ExtractedUnit(3, "Ada Berg died in Paris.", "Did Ada Berg die in Paris?"),
        ExtractedUnit(
            4, "In 1990, Ada Berg won the Holm Prize.", "When did Ada Berg win the Holm Prize?"
        ),
    ]


def test_the_first_subject_is_what_later_paragraphs_are_about() -> None:
    starts = paragraph_starts(TEXT, segment(TEXT))
    without = extract(sentences_of(TEXT), None, starts)
    assert without[-1].claim == "In 1990, Ada Berg won the Holm Prize."


def test_whole_sentences_as_units() -> None:
    assert [unit.claim for unit in extract_sentences(sentences_of(TEXT))] == [
        "Ada Berg was a chemist.",
        "Ada Berg was born in Oslo in 1950 and died in Paris.",
        "In 1990, Ada Berg won the Holm Prize.",
    ]


def test_a_part_that_makes_no_claim_is_left_out() -> None:
    said = "Ada Berg was born in Oslo, and I do not want to judge her."
    assert [unit.claim for unit in extract([said])] == ["Ada Berg was born in Oslo."]
    refusal = "I'm sorry, I cannot help. Taste in music is personal, and I do not want to choose."
    assert extract(sentences_of(refusal)) == []


def test_a_part_that_leaves_open_what_it_says_is_left_out() -> None:
    said = "Ada Berg was born in Oslo and may have died in 1950."
    assert [unit.claim for unit in extract([said])] == ["Ada Berg was born in Oslo."]


def test_no_sentences_no_claims() -> None:
    assert extract([]) == []
    assert extract_sentences([], "Who?") == []
    assert paragraph_starts("", []) == []


def test_paragraphs_begin_after_a_blank_line() -> None:
    text = "One is. Two is.\n\nThree is.\nFour is.\r\n\r\nFive is."
    assert paragraph_starts(text, segment(text)) == [0, 2, 4]


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=40)))
def test_any_text_is_taken(text: str, question: str | None) -> None:
    spans = segment(text)
    units = extract(sentences_of(text), question, paragraph_starts(text, spans))
    assert all(0 <= unit.sentence_index < len(spans) for unit in units)
    assert [unit.sentence_index for unit in units] == sorted(unit.sentence_index for unit in units)
    assert all(unit.claim and unit.query for unit in units)


def test_a_long_text_is_extracted_as_its_parts_are() -> None:
    paragraph = "Ada Berg was a chemist. She was born in Oslo and died in Paris.\n\n"
    once = extract(sentences_of(paragraph))
    text = paragraph * 3_000
    units = extract(sentences_of(text), None, paragraph_starts(text, segment(text)))
    assert len(text) > 190_000
    assert len(units) == 3_000 * len(once)


def test_a_long_paragraph_is_looked_at_in_parts() -> None:
    names = " ".join(f"Ada{number} Berg{number} was a chemist." for number in range(2_000))
    assert len(extract(sentences_of(names))) == 2_000
