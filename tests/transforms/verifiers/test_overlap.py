"""Verdicts by words and their explanations."""

from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers import overlap
from ufo.transforms.verifiers.explaining import explain
from ufo.transforms.verifiers.grounds import apply_rules
from ufo.transforms.verifiers.overlap import OverlapVerifier
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("claim", "title", "passage", "outcome", "why", "cited"),
    cases(HERE / "overlap.txt"),
    ids=lambda cell: cell[:40] or "nothing",
)
def test_a_verdict_its_reason_and_the_sentence_that_decides(
    claim: str, title: str, passage: str, outcome: str, why: str, cited: str
) -> None:
    pair = Pair(claim, passage, title)
    (probabilities,) = OverlapVerifier().predict([pair])
    assert apply_rules(match(pair), probabilities).outcome == outcome
    explanation = explain(match(pair), outcome)
    assert explanation.rationale == why
    assert (explanation.citation or "") == cited
    assert cited in passage


def test_supported_needs_a_half() -> None:
    expected = {
        (0.6, 0.3, 0.1): SUPPORTED,
        (0.5, 0.5, 0.0): SUPPORTED,
        (0.45, 0.3, 0.25): REFUTED,
        (0.45, 0.2, 0.35): NOANS,
        (0.4, 0.3, 0.3): NOANS,
    }
    assert {three: Probabilities(*three).outcome for three in expected} == expected


TOLD = "Ada Berg was born in Oslo. She won two prizes in 1950."
ALL_SAID = {"said_together": 1.0, "names_said": 1.0, "predicate_said": 1.0, "function_words": 1.0}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        pytest.param("Ada Berg was born in Oslo.", ALL_SAID, id="said"),
        pytest.param("Ada Berg won two prizes in 1950.", ALL_SAID, id="said of her"),
        pytest.param(
            "Ada Berg won three prizes in 1951.",
            ALL_SAID
            | {"said_together": 0.636, "predicate_said": 0.429, "last_missing": 1.0}
            | {"end_missing": log(3), "numbers_missing": log(3)},
            id="other numbers",
        ),
        pytest.param(
            "Ada Berg was born in Bergen.",
            ALL_SAID
            | {"said_together": 0.714, "names_said": 0.667, "predicate_said": 0.333}
            | {"last_missing": 1.0, "end_missing": log(2), "names_missing": log(2)}
            | {"differs": 1.0},
            id="another place",
        ),
        pytest.param(
            "I think that you saw Jan Holm in Bergen.",
            {"last_missing": 1.0, "end_missing": log(4), "names_missing": log(3)}
            | {"function_words": 0.25, "personal": 1.0},
            id="something else",
        ),
    ],
)
def test_what_is_told_of_a_pair_in_numbers(claim: str, expected: dict[str, float]) -> None:
    features = dict(zip(overlap.WEIGHTS, overlap.features(Pair(claim, TOLD)), strict=True))
    assert features == pytest.approx(dict.fromkeys(overlap.WEIGHTS, 0.0) | expected, abs=1e-3)


@pytest.mark.parametrize(
    "word", ["I", "me", "my", "mine", "I'm", "I've", "I'd", "I'll", "you", "your"]
)
def test_talk_is_no_statement(word: str) -> None:
    features = dict(
        zip(overlap.WEIGHTS, overlap.features(Pair(f"So {word} went.", "")), strict=True)
    )
    assert features["personal"] == 1.0


@pytest.mark.parametrize(
    ("share", "against", "refuted"), [(0.25, 0.0, 0.1), (0.24, 0.0, 0.1), (0.25, 1.0, 0.8)]
)
def test_a_passage_that_says_less_than_a_quarter_of_what_is_told_supports_nothing(
    share: float, against: float, refuted: float
) -> None:
    vector = [9.0, 9.0, share, *[0.0] * 6, against]
    probabilities = overlap.probabilities(vector)
    assert (probabilities.supported > 0.5) is (share == 0.25)
    assert probabilities.refuted == pytest.approx((1 - probabilities.supported) * refuted)
    assert sum(probabilities) == pytest.approx(1)


@pytest.mark.parametrize(
    ("before", "subject"), [(13, ["Ada"]), (14, [])], ids=["fourteenth", "fifteenth"]
)
def test_a_name_is_a_subject_up_to_the_fourteenth_word(before: int, subject: list[str]) -> None:
    claim = f"Then {'so ' * (before - 1)}Ada walked to Oslo."
    named_subject = match(Pair(claim, "")).claim.named_subject
    assert [one.surface for one in named_subject] == subject


SAMPLE = """Marie Curie was born in Warsaw 1867 1876 not never failed no two 7 November. She won , (
    U.S. 5% $3 million the first last may e.g. 1990s – ½ İ ß 漢字 Ann hired by Bob from of it open
    closed without but Some say that is a myth Louis XIV V flight 207 ; who If would have ?"""
WORDS = st.sampled_from([*SAMPLE.split(), "\n", "\x00"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=40).map(" ".join))


@given(
    st.lists(st.builds(Pair, TEXTS, TEXTS, TEXTS), max_size=4),
    st.sampled_from((SUPPORTED, REFUTED, "x")),
)
def test_any_text_has_probabilities_and_a_reason(pairs: list[Pair], outcome: str) -> None:
    verifier = OverlapVerifier()
    together = verifier.predict(pairs)
    assert together == [verifier.predict([pair])[0] for pair in pairs]
    for pair, probabilities in zip(pairs, together, strict=True):
        assert sum(probabilities) == pytest.approx(1)
        assert all(0 <= one <= 1 for one in probabilities)
        features = overlap.features(pair)
        assert len(features) == len(overlap.WEIGHTS)
        assert all(-1 < value < 20 for value in features)
        held = apply_rules(match(pair), probabilities)
        assert sum(held) == pytest.approx(1)
        assert all(0 <= one <= 1 for one in held)
        explanation = explain(match(pair), outcome)
        assert explanation.citation is None or explanation.citation in pair.passage
        assert explanation.rationale
        assert "\n" not in explanation.rationale


@pytest.mark.parametrize(
    "text",
    ["Ann " * 10_000, "1867 " * 10_000, "not a. " * 10_000],
    ids=["names", "years", "sentences"],
)
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    (probabilities,) = OverlapVerifier().predict([Pair(text, text, text)])
    assert sum(probabilities) == pytest.approx(1)
    assert OverlapVerifier().fingerprint() == OverlapVerifier().fingerprint() != ""
