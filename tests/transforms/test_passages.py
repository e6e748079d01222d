from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.sentences import Ranking, windows


def sentence(words: int, number: int) -> str:
    return " ".join([f"Word{number}"] + ["more"] * (words - 1)) + "."


def test_up_to_120_words_stay_whole() -> None:
    text = " ".join(sentence(10, n) for n in range(12))
    assert windows(text) == [text]
    assert len(windows(text + " Extra.")) == 2


def test_a_long_text_is_cut_at_sentence_ends_into_windows_of_up_to_100_words() -> None:
    sentences = [sentence(30, n) for n in range(9)]
    cut = windows("  ".join(sentences))
    assert [len(window.split()) for window in cut] == [90, 90, 90]
    assert cut[0] == "  ".join(sentences[:3])


def test_a_sentence_longer_than_a_window_is_not_cut() -> None:
    long = sentence(150, 1)
    assert windows(f"{sentence(20, 0)} {long} {sentence(20, 2)}") == [
        sentence(20, 0),
        long,
        sentence(20, 2),
    ]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(5, 60))
def test_no_word_is_lost_or_said_twice(lengths: list[int], words: int) -> None:
    sentences = [sentence(length, n) for n, length in enumerate(lengths)]
    text = " ".join(sentences)
    cut = windows(text, whole=words, words=words)
    assert " ".join(cut) == text
    for window in cut:
        assert len(window.split()) <= max(words, max(lengths))


def test_the_best_passages_come_first_and_equal_ones_in_their_order() -> None:
    ranking = Ranking(["a cat sat", "a dog ran", "volcano in Sicily", "a cow ate"])
    (first, score), *rest = ranking.best("Where is the volcano of Sicily?", 3)
    assert first == 2
    assert score > rest[0][1]
    assert [row for row, _ in rest] == [0, 1]
    assert len(ranking.best("volcano", 10)) == 4


def test_passages_without_any_term_are_still_ranked() -> None:
    assert Ranking(["…", "!!"]).best("volcano", 5) == [(0, 0.0), (1, 0.0)]
    assert [row for row, _ in Ranking(["…", "volcano"]).best("!", 5)] == [0, 1]
