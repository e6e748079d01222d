"""Forms of English words: verbs by their endings, people, and adverbs before a verb."""

import pytest

from ufo.transforms.english import grammar

BASES = """moved=move created=create visited=visit planned=plan filled=fill tried=try died=die
    carried=carry was=be goes=go moves=move need=need use=use foo= hundred=
    reaches=reach publishes=publish discusses=discuss focuses=focus includes=include"""
PASTS = """moving=moved winning=won running=ran studying=studied playing=played visiting=visited
    planning=planned seeing=saw"""


@pytest.mark.parametrize("forms", BASES.split())
def test_the_base_of_a_verb(forms: str) -> None:
    form, _, base = forms.partition("=")
    assert grammar.base_of(form) == base


@pytest.mark.parametrize("forms", PASTS.split())
def test_the_past_of_a_gerund(forms: str) -> None:
    gerund, _, past = forms.partition("=")
    assert grammar.past_of_gerund(gerund) == past


NO_PAST = "hundred breed speed united need indeed talented renowned sacred naked shed went. x-rayed"


@pytest.mark.parametrize("word", NO_PAST.split())
def test_a_word_may_only_look_like_a_past_form(word: str) -> None:
    assert not grammar.is_past(word)
    assert not grammar.is_participle(word)


BE = "is are was were isn't aren't wasn't weren't has have had hasn't haven't hadn't"


@pytest.mark.parametrize("word", f"{BE} do does did don't doesn't didn't moved moves,".split())
def test_a_verb_may_be_that_of_a_clause(word: str) -> None:
    assert grammar.is_finite(word)
    assert not grammar.is_finite(word.title())
    assert not grammar.is_noun(word)


def test_a_mark_alone_is_no_word() -> None:
    assert not grammar.is_noun("")
    assert not grammar.is_finite(",")
    assert not grammar.is_capital("(")


PEOPLE = "chemist musician writer actor fisherman policewoman salesperson actress poet"


@pytest.mark.parametrize("word", PEOPLE.split())
def test_an_occupation_is_known_by_its_ending(word: str) -> None:
    assert grammar.is_person(word)


@pytest.mark.parametrize(
    ("words", "end"),
    [("Ada later moved", 1), ("Ada often later moved", 1), ("later", 0)]
    + [(f"{word} first moved", 2) for word in ("the", "a", "an", "his", "her", "its", "their")],
)
def test_adverbs_before_a_verb_are_not_of_its_subject(words: str, end: int) -> None:
    lows = words.split()
    assert grammar.subject_end(lows, 0, max(1, len(lows) - 1)) == end


CONTENT = "two many several numerous various without against behind inside outside"


@pytest.mark.parametrize("word", CONTENT.split())
def test_a_word_that_says_how_many_or_where_is_looked_for(word: str) -> None:
    assert word not in grammar.STOP_WORDS


def test_a_verb_in_quotation_marks_is_a_name() -> None:
    assert not grammar.is_finite('"was')


def test_a_memory_of_words_is_emptied_when_it_is_full() -> None:
    lengths = grammar.Memo(len)
    for number in range(1 << 16):
        assert lengths[str(number)] == len(str(number))
    assert len(lengths) == 1 << 16
    assert lengths["one more"] == 8
    assert len(lengths) == 1


@pytest.mark.parametrize(("letters", "kept"), [(40, 1), (41, 0)])
def test_a_word_of_over_40_letters_is_not_remembered(letters: int, kept: int) -> None:
    lengths = grammar.Memo(len)
    assert lengths["a" * letters] == letters
    assert len(lengths) == kept


@pytest.mark.parametrize("around", [*" \t\r\n.,;:!?\"'“”‘’«»()[]{}*_`…"])
def test_a_word_is_read_without_what_stands_around_it(around: str) -> None:
    assert grammar.core(f"{around}Oslo{around}") == "oslo"
    assert grammar.is_capital(f"{around}Oslo")
