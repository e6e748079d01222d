"""Explanations: the sentence that decides and one line that says what agrees or differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.verifiers.cases import CURIE, DANUBE, NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers.overlap import Explanation
from ufo.transforms.verifiers.overlap import explain as explained
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair


def explain(pair: Pair, outcome: str) -> Explanation:
    return explained(match(pair), outcome)


@pytest.mark.parametrize(("claim", "passage", "named"), REFUTED)
def test_a_refutation_names_what_differs(claim: str, passage: str, named: str) -> None:
    found = explain(Pair(claim, passage), "refuted")
    assert f'"{named}"' in found.rationale
    assert found.citation is not None
    assert found.citation in passage


def test_a_refutation_cites_the_sentence_with_the_contradiction() -> None:
    found = explain(Pair("The Danube flows through eight countries.", DANUBE), "refuted")
    assert found.citation == "The Danube flows through ten countries."
    assert found.rationale == 'says "ten", the claim says "eight"'


def test_a_refutation_without_a_contradiction_says_what_is_said() -> None:
    found = explain(Pair("Sharks are mammals.", "Whales are mammals. Sharks are fish."), "refuted")
    assert found.rationale == 'says "Sharks", "mammals"'


def test_another_subject_is_named() -> None:
    pair = Pair("Ada Holm was born in Oslo.", "Ben Ruiz was born in Oslo.")
    assert explain(pair, "noans").rationale == 'is about "Ben Ruiz", not "Ada Holm"'


@pytest.mark.parametrize(("claim", "passage"), SUPPORTED)
def test_support_cites_a_sentence(claim: str, passage: str) -> None:
    found = explain(Pair(claim, passage), "supported")
    assert found.citation
    assert found.citation in passage
    assert found.rationale.startswith("says ")


def test_support_lists_what_is_said_and_what_is_not() -> None:
    found = explain(Pair("Marie Curie was a famous physicist.", CURIE), "supported")
    assert found.citation == "Marie Curie was a physicist and chemist."
    assert found.rationale == 'says "Marie", "Curie", "physicist", not "famous"'


def test_a_date_is_said_as_a_whole_or_not() -> None:
    pair = Pair("Napoleon died on 5 May 1820.", "Napoleon died on 5 May 1821.")
    assert explain(pair, "supported").rationale == 'says "Napoleon", "died", not "5 May 1820"'
    other = Pair("Napoleon died on 5 May 1820.", "Napoleon died.")
    assert explain(other, "noans").rationale == 'does not say "5 May 1820"'


@pytest.mark.parametrize(("claim", "passage"), NOANS)
def test_no_answer_cites_nothing(claim: str, passage: str) -> None:
    found = explain(Pair(claim, passage), "noans")
    assert found.citation is None
    assert found.rationale.startswith("does not say ")


def test_no_answer_where_all_words_are_said() -> None:
    found = explain(Pair("Sharks are mammals.", "Whales are mammals. Sharks are fish."), "noans")
    assert found.rationale == "says the words of the claim, but does not settle it"


@given(st.text(max_size=100), st.text(max_size=300), st.sampled_from(("supported", "refuted", "x")))
def test_any_text_has_an_explanation(claim: str, passage: str, outcome: str) -> None:
    found = explain(Pair(claim, passage), outcome)
    assert found.citation is None or found.citation in passage
    assert found.rationale
    assert "\n" not in found.rationale
