"""The verifier overlap: obvious cases, and what holds for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.verifiers.cases import CURIE, NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers.overlap import WEIGHTS, OverlapVerifier, features, ruled
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair

SAMPLE = """Marie Curie was born in Warsaw 1867 1876 not never failed no two 7 November. She won , (
    U.S. 5% $3 million the first last may e.g. 1990s – ½ İ ß 漢字"""
WORDS = st.sampled_from([*SAMPLE.split(), "\n", "\x00"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=40).map(" ".join))


def outcome(claim: str, passage: str, title: str = "") -> str:
    pair = Pair(claim, passage, title)
    (said,) = OverlapVerifier().predict([pair])
    return ruled(match(pair), said).outcome


@pytest.mark.parametrize(("claim", "passage"), SUPPORTED)
def test_supports_what_the_passage_says(claim: str, passage: str) -> None:
    assert outcome(claim, passage) == "supported"


@pytest.mark.parametrize(("claim", "passage", "_"), REFUTED)
def test_refutes_what_contradicts_it(claim: str, passage: str, _: str) -> None:
    assert outcome(claim, passage) == "refuted"


@pytest.mark.parametrize(("claim", "passage"), NOANS)
def test_does_not_answer_what_the_passage_does_not_say(claim: str, passage: str) -> None:
    assert outcome(claim, passage) == "noans"


def test_a_title_says_what_the_passage_is_about() -> None:
    claim, passage = "Marie Curie was born in Warsaw.", "She was born in Warsaw."
    verifier = OverlapVerifier()
    plain, titled = verifier.predict([Pair(claim, passage), Pair(claim, passage, "Marie Curie")])
    assert titled.supported > plain.supported


def test_fingerprint_is_stable() -> None:
    assert OverlapVerifier().fingerprint() == OverlapVerifier().fingerprint() != ""


@given(st.lists(st.builds(Pair, TEXTS, TEXTS, TEXTS), max_size=4))
def test_any_text_gives_probabilities_that_do_not_depend_on_the_batch(pairs: list[Pair]) -> None:
    verifier = OverlapVerifier()
    together = verifier.predict(pairs)
    assert together == [verifier.predict([pair])[0] for pair in pairs]
    assert together == list(reversed(verifier.predict(list(reversed(pairs)))))
    for said in together:
        assert sum(said) == pytest.approx(1)
        assert all(0 <= one <= 1 for one in said)


@given(TEXTS, TEXTS)
def test_features_are_finite(claim: str, passage: str) -> None:
    found = features(Pair(claim, passage))
    assert len(found) == len(WEIGHTS)
    assert all(-1 < value < 20 for value in found)


def test_a_claim_that_the_passage_quotes_is_supported_most() -> None:
    (said,) = OverlapVerifier().predict([Pair(CURIE, CURIE)])
    assert said.supported > 0.8


@pytest.mark.parametrize("text", ["Ann " * 20_000, "1867 " * 20_000, "not a. " * 20_000])
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    (said,) = OverlapVerifier().predict([Pair(text, text, text)])
    assert sum(said) == pytest.approx(1)
