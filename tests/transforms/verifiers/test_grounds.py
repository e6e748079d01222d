"""What a passage says against a claim, and the rules that hold every verifier's verdicts."""

from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers.explaining import explain
from ufo.transforms.verifiers.grounds import apply_rules, grounds, is_about
from ufo.transforms.verifiers.overlap import OverlapVerifier
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities

HERE = Path(__file__).parent
RULES = cases(HERE / "rules.txt")
SURE = Probabilities(0.9, 0.08, 0.02)
AGAINST = Probabilities(0.1, 0.8, 0.1)


@pytest.mark.parametrize(("claim", "passage", "outcome"), cases(HERE / "denials.txt"))
def test_what_is_denied_doubted_or_reported_is_not_asserted(
    claim: str, passage: str, outcome: str
) -> None:
    pair = Pair(claim, passage)
    assert apply_rules(match(pair), OverlapVerifier().predict([pair])[0]).outcome == outcome


@pytest.mark.parametrize(
    ("claim", "passage", "title", "supported"),
    [
        pytest.param("It won a prize.", "It won a prize.", "", True, id="the same words"),
        pytest.param("It won a prize.", "It won a prize.", "Oslo", False, id="of whom?"),
        pytest.param("The ox won.", "In 1990, the ox won.", "", True, id="after an opening"),
        pytest.param("The ox won.", "The owner of the ox won.", "", False, id="another subject"),
        pytest.param("The ox won.", "They said the ox won.", "", False, id="a report"),
        pytest.param("The ox won.", "The ox won only if it ran.", "", False, id="a condition"),
        pytest.param("The ox won 5.", "The ox won 5 million.", "", False, id="another number"),
    ],
)
def test_a_claim_that_is_said_word_for_word_is_supported(
    claim: str, passage: str, title: str, supported: bool
) -> None:
    held = apply_rules(match(Pair(claim, passage, title)), Probabilities(0.2, 0.1, 0.7))
    assert (held.outcome == SUPPORTED) is supported
    assert sum(held) == pytest.approx(1)


def test_a_disproof_of_what_is_denied_is_shown() -> None:
    matched = match(
        Pair("It is a myth that Ann Berg was born in Rome.", "Ann Berg was born in Oslo.")
    )
    assert explain(matched, SUPPORTED).rationale == 'says "Oslo", the claim denies "Rome"'
    matched = match(
        Pair("It is a myth that Ann Berg was born in Oslo.", "Ann Berg was born in Oslo.")
    )
    assert explain(matched, REFUTED).rationale == 'does not say "It is a myth that", the claim does'
    matched = match(Pair("Ann hired Bob.", "Bob hired Ann."))
    assert explain(matched, NOANS).rationale == "has the names of the claim in exchanged roles"


ARTICLE = (HERE / "curie.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("claim", "kinds"), cases(HERE / "grounds.txt"))
def test_only_a_sentence_about_the_subject_contradicts(claim: str, kinds: str) -> None:
    pairs = [Pair(claim, text, "Marie Curie") for text in ARTICLE]
    sure_kinds = {one.kind for pair in pairs for one in grounds(match(pair)) if one.sure}
    assert " ".join(sorted(sure_kinds)) == kinds


@pytest.mark.parametrize(
    ("claim", "title", "text", "about"),
    [pytest.param(*row, id=name) for name, *row in cases(HERE / "subjects.txt")],
)
def test_which_sentences_are_about_the_claims_subject(
    claim: str, title: str, text: str, about: str
) -> None:
    matched = match(Pair(claim, text, title))
    last = len(matched.passage.clauses) - 1
    assert is_about(matched, last) is (about == "yes")


@pytest.mark.parametrize(("claim", "title", "text"), [row for row in RULES if len(row) == 3])
def test_another_subject_gives_no_ground(claim: str, title: str, text: str) -> None:
    assert not grounds(match(Pair(claim, text, title)))


@pytest.mark.parametrize(
    ("claim", "title", "text", "outcome"), [row for row in RULES if len(row) == 4]
)
def test_support_is_held_to_the_rules(claim: str, title: str, text: str, outcome: str) -> None:
    held = apply_rules(match(Pair(claim, text, title)), SURE)
    assert held.outcome == outcome
    assert sum(held) == pytest.approx(1)
    assert held == SURE or held.supported < 0.5


def test_a_contradiction_needs_a_ground() -> None:
    text = "The tower was built in 1887."
    assert apply_rules(match(Pair("The tower was built in 1889.", text)), AGAINST) == AGAINST
    half = apply_rules(
        match(Pair("The tower was built in 1889.", text)), Probabilities(0.5, 0.4, 0.1)
    )
    assert half == pytest.approx((0.49, 0.408, 0.102))
    assert apply_rules(match(Pair("The tower is famous.", text)), AGAINST).outcome == NOANS
    sharks = match(Pair("Sharks are mammals.", "Whales are mammals. Sharks are fish."))
    assert explain(sharks, REFUTED).rationale == 'says "Sharks", "mammals"'
    unsettled = "says the words of the claim, but does not settle it"
    assert explain(sharks, NOANS).rationale == unsettled
    nothing = match(Pair("It is not.", "It is not."))
    assert explain(nothing, NOANS).rationale == "the claim has no content words"
