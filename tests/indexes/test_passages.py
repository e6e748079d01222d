import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.passages import passages_of

SENTENCE = "The river number {} flows from the mountains to the sea."  # 11 words


def _sentences(count: int) -> str:
    return " ".join(SENTENCE.format(number) for number in range(count))


def test_a_short_section_is_one_passage_with_its_lines() -> None:
    assert passages_of(["One sentence. Another.", "An item"]) == ["One sentence. Another.\nAn item"]


def test_no_lines_no_passage() -> None:
    assert passages_of([]) == []
    assert passages_of(["", "  "]) == []


@pytest.mark.parametrize(
    ("n_sentences", "n_passages"), [(9, 1), (13, 1), (14, 2), (27, 3), (90, 10)]
)
def test_about_a_hundred_words_each_cut_at_sentence_ends(n_sentences: int, n_passages: int) -> None:
    found = passages_of([_sentences(n_sentences)])
    assert len(found) == n_passages
    for passage in found:
        assert passage.startswith("The river")
        assert passage.endswith("sea.")
        assert n_passages == 1 or 70 <= len(passage.split()) <= 130
    assert " ".join(found) == _sentences(n_sentences)


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Dr. Smith met Mr. Jones at 5 p.m. on Friday. " * 20
    assert all(passage.endswith("Friday.") for passage in passages_of([text], words=30))


def test_what_has_no_sentence_end_or_no_spaces_is_cut_by_count() -> None:
    assert all(len(p.split()) <= 100 for p in passages_of(["word " * 1_000]))
    assert all(len(p) <= 4_500 for p in passages_of(["a" * 100_000]))
    assert all(len(p) <= 4_500 for p in passages_of(["山" * 100_000, "水" * 10]))


@given(st.lists(st.text(), max_size=8), st.integers(20, 200))
def test_nothing_is_lost_repeated_or_empty(lines: list[str], words: int) -> None:
    found = passages_of(lines, words=words)
    assert all(passage.strip() == passage != "" for passage in found)
    assert "".join("".join(found).split()) == "".join("".join(lines).split())


@given(st.text(max_size=300), st.sampled_from(["en", "de", "zh", "xx", ""]))
def test_any_language_code_does(text: str, language: str) -> None:
    assert "".join("".join(passages_of([text], language)).split()) == "".join(text.split())
