"""The grounds of a contradiction, and the rules that hold every verifier's verdicts."""

import pytest

from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers.overlap import grounds, ruled
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities

SURE = Probabilities(0.9, 0.08, 0.02)
AGAINST = Probabilities(0.1, 0.8, 0.1)

BORN = (
    "Marie Curie (born Maria Salomea Skłodowska) was a Polish and naturalised French physicist. "
    "Marie Curie was born in Warsaw on 7 November 1867. She was the first woman to win a Nobel "
    "Prize and the only person to win Nobel Prizes in two different sciences."
)
FAMILY = (
    "In 1891 Curie left Warsaw for Paris, where she studied physics at the Sorbonne. She married "
    "the physicist Pierre Curie on 26 July 1895. They had two daughters, Irène, born in 1897, and "
    "Ève, born in 1904. Irène Joliot-Curie shared the Nobel Prize in Chemistry in 1935."
)
DEATH = (
    "Pierre Curie died in a street accident in Paris on 19 April 1906, and Marie Curie then became "
    "the first woman professor at the University of Paris. Marie Curie died on 4 July 1934 at a "
    "sanatorium in Passy. Her remains were moved to the Panthéon in Paris in 1995."
)

# What a biography says wrongly, and the kind of the ground for it.
WRONG = [
    ("Marie Curie was born in Kraków.", "name"),
    ("Marie Curie was born in Kraków on 7 November 1867.", "name"),
    ("Marie Curie was born in Warsaw in 1866.", "date"),
    ("Marie Curie had three daughters.", "number"),
    ("Marie Curie married Pierre Curie in 1896.", "date"),
    ("Marie Curie died in 1935.", "date"),
    ("Pierre Curie died on 19 April 1907.", "date"),
    ("Irène Joliot-Curie shared the Nobel Prize in Chemistry in 1936.", "date"),
    ("Marie Curie was not the first woman to win a Nobel Prize.", "negation"),
    ("Marie Curie was the second woman to win a Nobel Prize.", "number"),
    ("Marie Curie's remains were moved to the Panthéon in 1996.", "date"),
]
# What is true or not told: another person's fact, or another event's, is no ground.
NO_GROUND = [
    "Marie Curie was born on 7 November 1867.",
    "Marie Curie moved to Paris in 1891.",
    "Marie Curie studied at the University of Paris.",
    "Marie Curie had two daughters.",
    "Marie Curie died in Paris.",
    "Marie Curie never won a Nobel Prize.",
    "Pierre Curie was born in Paris.",
    "Irène Joliot-Curie was born in 1897.",
    "Ève Curie was born in 1904.",
    "Marie Curie's daughter Irène was born in 1899.",
    "Albert Einstein was born in Ulm.",
    "Albert Einstein died in 1955.",
]


@pytest.mark.parametrize(("claim", "kind"), WRONG)
def test_a_sentence_about_the_subject_contradicts(claim: str, kind: str) -> None:
    passages = (BORN, FAMILY, DEATH)
    found = [one for text in passages for one in grounds(match(Pair(claim, text, "Marie Curie")))]
    assert kind in {one.kind for one in found if one.sure}


@pytest.mark.parametrize("claim", NO_GROUND)
@pytest.mark.parametrize("text", [BORN, FAMILY, DEATH])
def test_another_s_fact_does_not(claim: str, text: str) -> None:
    assert not [one for one in grounds(match(Pair(claim, text, "Marie Curie"))) if one.sure]


@pytest.mark.parametrize(
    ("claim", "title", "text"),
    [
        ("Tom Holm was born in Oslo.", "", "Tom Holm's father was born in Bergen."),
        ("Tom Holm was born in Oslo.", "Tom Holm", "His father Erik was born in Bergen."),
        ("Ada Lovelace wrote it in 1843.", "", "Charles Babbage wrote it in 1842."),
        ("Berlin has 3.6 million inhabitants.", "", "Hamburg has 1.8 million inhabitants."),
        ("Lisbon is the capital of Spain.", "", "Madrid is the capital of Spain."),
        ("She was a judge of the U.S. Court.", "", "She was a judge of the United States Court."),
    ],
)
def test_another_subject_gives_no_ground(claim: str, title: str, text: str) -> None:
    assert not grounds(match(Pair(claim, text, title)))


@pytest.mark.parametrize(
    ("claim", "title", "text", "outcome"),
    [
        ("Ann Mill wrote two books.", "", "Ann Mill wrote two books.", SUPPORTED),
        ("Ann Mill wrote two books.", "", "Ann Mill wrote many books.", NOANS),  # no number
        (
            "Ann Mill was born in Bern.",
            "",
            "Ann Mill was born in Basel.",
            REFUTED,
        ),  # a name instead
        ("Ann Mill was born in Bern.", "Bo Fox", "He was born in Bern.", NOANS),  # another's page
        ("Ann Mill was born in Bern.", "", "Bo Fox was born in Bern.", NOANS),  # ... or sentence
        ("Ann Mill was born in Bern.", "Ann Mill", "She was born in Bern.", SUPPORTED),
        ("Ann Mill was born in 1970.", "1970", "Ann Mill was born then.", SUPPORTED),
        ("Ann Mill won a prize.", "Ann Mill", "Her brother won a prize.", NOANS),  # a relative's
    ],
)
def test_support_is_held_to_the_rules(claim: str, title: str, text: str, outcome: str) -> None:
    held = ruled(match(Pair(claim, text, title)), SURE)
    assert held.outcome == outcome
    assert sum(held) == pytest.approx(1)
    assert held == SURE or held.supported < 0.5


def test_a_contradiction_needs_a_ground() -> None:
    with_ground = Pair("The tower was built in 1889.", "The tower was built in 1887.")
    without = Pair("The tower is famous.", "The tower was built in 1887.")
    assert ruled(match(with_ground), AGAINST) == AGAINST
    assert ruled(match(without), AGAINST).outcome == NOANS
