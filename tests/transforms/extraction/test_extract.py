from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extraction.extract import (
    ExtractedUnit,
    extract,
    extract_sentences,
    paragraph_starts,
)
from ufo.transforms.sentences import segment

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
