import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.transforms.sentences import segment
from ufo.transforms.sources.reference import Ranking, windows


def pieces(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in segment(text, language)]


def check_invariants(text: str, language: str = "en") -> None:
    spans = segment(text, language)
    previous = 0
    for start, end in spans:
        assert previous <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert not text[previous:start].strip()
        previous = end
    assert not text[previous:].strip()


FRAGMENTS = st.sampled_from(
    [
        "Dr. Smith left. ",
        "1. ",
        "2) ",
        "- ",
        "* ",
        "# ",
        "\n",
        "\r\n",
        "\n\n",
        "| a |",
        "|---|\n",
        "```\n",
        "😀",
        "👨\u200d👩\u200d👧",
        "日本語。",
        "é",
        "\x00",
        "[1]",
        "**",
        '"',
        "“",
        "(",
        ")",
        "...",
        "?",
        " ",
        "\t",
        "\u2028",
        "U.S. Navy",
        "a",
        "B",
        "“Stop.” ",
        "---\n",
        "：",
        "\u200b",
        ": 1. ",
        ". 2. “",
    ]
)


@settings(max_examples=100)
@given(st.text(max_size=80))
def test_offsets_hold_for_any_text(text: str) -> None:
    check_invariants(text)


@settings(max_examples=100)
@given(st.lists(FRAGMENTS, max_size=25).map("".join), st.sampled_from(["en", "de", "zh", "xx", ""]))
def test_offsets_hold_for_markdown_like_text(text: str, language: str) -> None:
    check_invariants(text, language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \r\n\t", []),
        ("One. Two.", ["One.", "Two."]),
        ("  One.\n", ["One."]),
        (
            "Dr. J. R. Smith met the U.S. Navy. He left.",
            ["Dr. J. R. Smith met the U.S. Navy.", "He left."],
        ),
        ("Hi 😀 there. It is 3.5 m.", ["Hi 😀 there.", "It is 3.5 m."]),
        ("Wow! 😀 Great.", ["Wow!", "😀 Great."]),
        ("Great. 😀", ["Great. 😀"]),
        ("Born in 1879.[1] He moved.", ["Born in 1879.[1]", "He moved."]),
        ("He was **born in 1879.** Then he left.", ["He was **born in 1879.**", "Then he left."]),
        ("One\ntwo three.", ["One\ntwo three."]),
        ("Born: 1879\nDied: 1955", ["Born: 1879", "Died: 1955"]),
        ("One.\r\n\r\nTwo.", ["One.", "Two."]),
    ],
)
def test_running_text(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Foo is.\n2. Bar\n10. Baz.", ["1. Foo is.", "2. Bar", "10. Baz."]),
        ("- Foo\n- Bar. Baz.\n* Qux", ["- Foo", "- Bar.", "Baz.", "* Qux"]),
        ("Three steps: 1. Buy. 2. Eat.", ["Three steps:", "1. Buy.", "2. Eat."]),
        ('One: 1. “A B" is “it.” 2. “C D" too.', ["One:", '1. “A B" is “it.”', '2. “C D" too.']),
        ("1.\n\nFoo.", ["1.\n\nFoo."]),
        ("Foo.\n2.", ["Foo.", "2."]),
        ("# Title\nText here.", ["# Title", "Text here."]),
        ("Title\n=====\nText.", ["Title\n=====", "Text."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n|---|---|", "| 1 | 2 |"]),
        ("A.\n```py\nx = 1. y\n\nz\n```\nB.", ["A.", "```py\nx = 1. y\n\nz\n```", "B."]),
        ("```\nnever closed. So", ["```\nnever closed.", "So"]),
    ],
)
def test_a_list_item_is_a_sentence_and_a_bare_numbering_is_none(
    text: str, expected: list[str]
) -> None:
    assert pieces(text) == expected


def test_a_soft_wrapped_line_goes_on() -> None:
    first = "This line is as long as an editor would let it be before it wraps"
    assert pieces(f"{first}\nAnna there. More.") == [f"{first}\nAnna there.", "More."]


@pytest.mark.parametrize("language", ["zh", "ja", "en", "zh-CN", "nonsense", ""])
def test_east_asian_full_stops_end_sentences(language: str) -> None:
    assert pieces("他是德国人。他生于一八七九年！", language) == [
        "他是德国人。",
        "他生于一八七九年！",
    ]


def test_the_language_knows_its_abbreviations() -> None:
    assert len(pieces("Er wurde am 14. März geboren. Dr. Müller kam.", "de-AT")) == 2


@pytest.mark.parametrize(
    "unit", ["“", '"a. ', "(", "a. ", "1.\n", "-\n", "```\n", "\n", "|\n", "a"]
)
def test_long_input_is_cut_into_windows(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    check_invariants(text)


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
