import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.extraction.queries import query_of


@pytest.mark.parametrize(
    ("claim", "query"),
    [
        ("Ada Berg was born in 1950.", "When was Ada Berg born?"),
        ("Ada Berg was born in Oslo.", "Where was Ada Berg born?"),
        ("Ada Berg was born on 3 May 1950 in Oslo.", "When and where was Ada Berg born?"),
        ("Ada Berg died in 1999.", "When did Ada Berg die?"),
        ("Ada Berg won the Holm Prize in 1990.", "When did Ada Berg win the Holm Prize?"),
        ("In 1990, Berg won the Holm Prize.", "When did Berg win the Holm Prize?"),
        ("The Holm Tower was completed in 1889.", "When was the Holm Tower completed?"),
        ("The Holm Tower is located in Oslo.", "Is the Holm Tower located in Oslo?"),
        ("The Moon is 384,400 km away.", "Is the Moon 384,400 km away?"),
        (
            "The Danube flows through ten countries.",
            "Danube flows ten countries",
        ),
        ("Paris has two million inhabitants.", "Does Paris have two million inhabitants?"),
        (
            "Norway has a population of 5.5 million.",
            "Does Norway have a population of 5.5 million?",
        ),
        ("Oslo is the capital of Norway.", "Is Oslo the capital of Norway?"),
        ("Berg did not win the Holm Prize in 1990.", "Did Berg not win the Holm Prize in 1990?"),
        ("Berg did not win the Holm Prize.", "Did Berg not win the Holm Prize?"),
        ("The Moon orbits the Earth.", "Moon orbits Earth"),
        ("Ada Berg also discovered berium.", "Did Ada Berg discover berium?"),
        ("The first won the Holm Prize in 1990.", "When did the first win the Holm Prize?"),
        ("He was born in 1950.", "born 1950"),
        ("There are 50 states.", "50 states"),
        ("Berium: a metal of the Alps", "Berium metal Alps"),
        ("It is.", "It is"),
    ],
)
def test_query_of(claim: str, query: str) -> None:
    assert query_of(claim) == query


@given(st.text(max_size=60))
def test_a_claim_with_a_word_has_a_query(claim: str) -> None:
    query = query_of(claim)
    assert query or not claim.strip()
