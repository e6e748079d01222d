"""When something else is said in the slot of the claim, and when it only looks like it."""

import pytest

from transforms.judges.offline.verify import prepare, prepare_claim, verify


def outcome(claim: str, passage: str) -> str:
    return verify(prepare_claim(claim), prepare(passage)).outcome


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        # The number belongs to something else.
        ("The Danube flows through eight countries.", "The Danube has ten tributaries."),
        ("The museum has 12 halls.", "The museum has nine employees and a garden."),
        # Another event's year.
        ("The bridge was opened in 1932.", "The bridge was painted red in 1950."),
        # The negation is of another word.
        ("The town has a harbour.", "The town, which has a harbour, has no railway."),
        ("Whales are not fish.", "I'm not sure, but whales are fish of a kind."),
        ("She won the prize.", "She not only won the prize but gave it away."),
        # A double reversal.
        ("He did not win the election.", "He lost the election."),
        # The antonym is said of something else.
        (
            "The largest room is the hall.",
            "The smallest desk stands in the largest room, the hall.",
        ),
        # Another name elsewhere in the sentence.
        ("Titanic was directed by James Cameron.", "Titanic starred Kate Winslet."),
        # Another subject of the same kind may be it too.
        ("Gold is a metal.", "Iron is a metal."),
    ],
)
def test_no_reason_to_refute(claim: str, passage: str) -> None:
    assert outcome(claim, passage) != "refuted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("She has two children.", "She has three children, two sons and a daughter."),
        ("Coffee reduces the risk of diabetes.", "Coffee increases the risk of diabetes."),
        ("The author died in Paris.", "The author was born in Paris."),
        ("The Beatles were formed in London.", "The Beatles were formed in Liverpool in 1960."),
        ("The film was released in the 1980s.", "The film was released on 12 March 1994."),
        (
            "The Eiffel Tower is 300 metres tall.",
            "The Eiffel Tower is in Paris. It is 330 metres (1,083 ft) tall.",
        ),
        ("Smith died in 1809.", "John Smith (1809–1865) was a lawyer."),
    ],
)
def test_a_reason_to_refute(claim: str, passage: str) -> None:
    assert outcome(claim, passage) == "refuted"


def test_what_another_sentence_gives_is_not_missing() -> None:
    passage = "The tower was 300 metres tall at first. Today the tower is 330 metres tall."
    assert outcome("The tower is 330 metres tall.", passage) == "supported"
