"""Index terms: words, numbers and pairs of characters, the same in an index and outside of it."""

from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_files import cases
from tests.indexes.conftest import written
from ufo.indexes.bm25 import Bm25
from ufo.indexes.tokens import query_terms, terms_of, words_of

WORDS = cases(Path(__file__).with_name("words.txt"))


@pytest.mark.parametrize(("text", "words"), WORDS, ids=[text for text, _ in WORDS])
def test_a_text_has_these_words(text: str, words: str) -> None:
    assert " ".join(words_of(text)) == words


@given(st.text())
def test_words_of_any_text_stay_the_same_words(text: str) -> None:
    words = words_of(text)
    assert "" not in words
    assert words_of(" ".join(words)) == words


# Letters, marks and digits of many scripts beside those that hypothesis draws.
SCRIPTS = "aS'.,1² éßЙкλςשָعَहिन्२กี่าកខ្មែမြน່ກ한글ハﾊﾞ々北京〇ー・\u200b\u200d"


@given(st.lists(st.text(st.sampled_from(SCRIPTS)) | st.text(), max_size=5))
@settings(max_examples=25, deadline=None)
def test_an_index_has_exactly_the_terms_of_its_texts(texts: list[str]) -> None:
    expected = [set(terms_of(f"{number}x\n{text}")) for number, text in enumerate(texts)]
    with TemporaryDirectory() as work:
        pages = {f"{number}x": f"{number}x {text}" for number, text in enumerate(texts)}
        engine = Bm25(written(Path(work, "index"), pages))
        for term in {"absent", *chain(*expected)}:
            having = [row for row, terms in enumerate(expected) if term in terms]
            [hits] = engine.search([term], len(texts) + 1)
            assert sorted(hit.row for hit in hits) == having


def test_words_of_one_stem_are_one_term() -> None:
    assert len(set(terms_of("river rivers River's RIVERS"))) == 1


# --- queries --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("When was the Danube named?", "danub name", id="without function words"),
        pytest.param("Who is it?", "who is it", id="nothing but function words"),
        pytest.param("Vitamin C", "vitamin c", id="a single letter"),
        pytest.param("River, rivers, RIVER", "river", id="each once"),
        pytest.param("東京の東京", "東京 京の の東", id="each pair once"),
        pytest.param("x" * 239, "x" * 239, id="a word of 239 letters"),
        pytest.param("x" * 240, "", id="a word of 240 letters"),
        pytest.param("?", "", id="no word"),
    ],
)
def test_a_query_has_these_terms(query: str, terms: str) -> None:
    assert " ".join(query_terms(query)) == terms


FUNCTION_WORDS = """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing done down during each either else ever for
    from further had has have having he her here hers herself him himself his how however i if in
    into is it its itself just may me might more most must my myself neither no nor not of off on
    once one only or other our ours out over own per same shall she should since so some such than
    that the their theirs them themselves then there these they this those though through thus to
    too under until up upon us very was we were what whatever when where whether which while who
    whom whose why will with within without would yet you your yours
"""


@pytest.mark.parametrize("word", FUNCTION_WORDS.split())
def test_a_function_word_is_no_term_of_a_query(word: str) -> None:
    assert query_terms(f"{word} danube Danube") == terms_of("danube")
