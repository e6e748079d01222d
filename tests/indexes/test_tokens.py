import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.tokens import query_terms, terms_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Danube's 2,850 km, 3.5 m!", ["the", "danube", "2850", "km", "3.5", "m"]),
        ("Kurt GÖDEL’s", ["kurt", "godel"]),
        ("a_b-c/d", ["a", "b", "c", "d"]),
        ("?! …", []),
        ("Straße Ⅻ", ["strasse", "xii"]),
    ],
)
def test_words_are_folded(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_forms_of_a_word_meet() -> None:
    assert len(set(terms_of("river rivers River's RIVERS"))) == 1


def test_a_query_drops_grammar_unless_it_has_nothing_else() -> None:
    assert query_terms("When was the Danube named?") == terms_of("Danube named")
    assert query_terms("Who is it?") == ["who", "is", "it"]
    assert query_terms("") == []


@given(st.text())
def test_folding_is_stable(text: str) -> None:
    words = words_of(text)
    assert all(words)
    assert words_of(" ".join(words)) == words


def test_every_thread_gets_the_same_stems() -> None:
    text = " ".join(f"running{number}s rivers{number}" for number in range(300))
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(terms_of(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(terms == found[0] for terms in found)
