from collections.abc import Sequence

import pytest

from ufo.transforms.extraction.clause import wording
from ufo.transforms.extraction.subjects import Subjects


def resolve(sentences: Sequence[str], topic: str = "", person: bool = False) -> list[str]:
    """The sentences with their openings resolved; those that do not change as given."""
    given = [wording(sentence) for sentence in sentences]
    subjects = Subjects()
    subjects.section(topic, person)
    resolved = [subjects.read(said) for said in given]
    return [
        sentence if after is before else " ".join(after.words)
        for sentence, before, after in zip(sentences, given, resolved, strict=True)
    ]


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (
            ["Ada Berg was born in Oslo.", "She moved to Bergen.", "In 1990, she won a prize."],
            ["Ada Berg moved to Bergen.", "In 1990, Ada Berg won a prize."],
        ),
        (
            ["Ada Berg was a chemist.", "However, her work was lost.", "Berg died in 1999."],
            ["Ada Berg's work was lost.", "Ada Berg died in 1999."],
        ),
        (
            ["The Holm Tower is in Oslo.", "It was built in 1889.", "Its height is 90 m."],
            ["The Holm Tower was built in 1889.", "The Holm Tower's height is 90 m."],
        ),
        (
            ["Ada Berg was a chemist.", "In 1990 she won a prize."],
            ["In 1990 Ada Berg won a prize."],
        ),
        (["Whales are mammals.", "They live in the sea."], ["Whales live in the sea."]),
        (["The heart is a muscle.", "It pumps blood."], ["The heart pumps blood."]),
        (
            ["- **Ada Berg** was a chemist.", "- She died in Oslo."],
            ["Ada Berg died in Oslo."],
        ),
    ],
)
def test_the_one_candidate_is_named(sentences: list[str], expected: list[str]) -> None:
    assert resolve(sentences) == [sentences[0], *expected]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Jan Holm met Nils Dahl.", "He was impressed."],
        ["Jan Holm and Ada Berg found radium.", "She died in 1934."],
        ["Queen Ada ruled for 63 years.", "He was sad."],
        ["Holmsoft bought Dahlworks in 2006.", "It was a success."],
        ["The Holm Tower is tall.", "It is believed that the tower sways."],
        ["It rains a lot.", "He was there."],
        ["Jan Holm has dogs.", "They bark."],
        ["Ada Berg was a chemist.", "She"],
        ["Ada Berg was a chemist.", "Berg syndrome is rare."],
    ],
)
def test_what_is_ambiguous_stays(sentences: list[str]) -> None:
    assert resolve(sentences) == sentences


def test_what_does_not_change_comes_back_as_given() -> None:
    sentences = ["- However, *Ada Berg* was a chemist.[1]", ""]
    assert resolve(sentences) == sentences


def test_the_topic_of_the_question_is_a_candidate() -> None:
    assert resolve(["He was born in Oslo.", "He met Nils Dahl.", "He died."], "Jan Holm") == [
        "Jan Holm was born in Oslo.",
        "Jan Holm met Nils Dahl.",
        "Jan Holm died.",
    ]
    assert resolve(["He sings."], "Zeno") == ["Zeno sings."]


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("The Boulder", "The first film of Vik was a hit."),
        ("The Boulder", "The 1990 film was a hit."),
        ("Little Vik", "Little is known of the town."),
        ("Ada More", "More than 50 people came."),
        ("Ada Long", "Long before that, the town was rich."),
        ("Ada Berg", "Berg 2 is a missile."),
    ],
)
def test_what_opens_a_sentence_is_not_short_for_a_name(topic: str, said: str) -> None:
    assert resolve(["He was born in Oslo.", said], topic, True)[1] == said


@pytest.mark.parametrize(
    ("topic", "said", "expected"),
    [
        ("The Boulder", "Boulder sang.", "The Boulder sang."),
        ("The Boulder", "His first film was a hit.", "The Boulder's first film was a hit."),
        ("Ada More", "More was a lawyer.", "Ada More was a lawyer."),
        ("Little Vik", "Vik sang.", "Little Vik sang."),
    ],
)
def test_what_is_short_for_a_name_becomes_it(topic: str, said: str, expected: str) -> None:
    assert resolve(["He was born in Oslo.", said], topic, True)[1] == expected


def test_an_article_is_no_first_name() -> None:
    said = ["He was born in Oslo.", "The Hard Boulder is a prize.", "It is made of gold."]
    assert resolve(said, "The Boulder", True)[2] == "The Hard Boulder is made of gold."


def test_the_first_is_a_subject_as_a_whole() -> None:
    assert resolve(["The first was built in 1900.", "It is in Oslo."])[1] == "The first is in Oslo."


OPENINGS = (
    "Still First Last Then Today Now Soon Only Often Perhaps Once Nearby Such More Meanwhile Never "
    "Originally Internationally Subsequently Afterwards Although When Hello"
)


@pytest.mark.parametrize("word", OPENINGS.split())
@pytest.mark.parametrize(
    ("opening", "following"),
    [
        ("{} was the prize.", "It was in Oslo."),
        ("{} came the album.", "He was praised."),
        ("{}, the prize was lost.", "He was sad."),
    ],
)
def test_what_only_opens_a_sentence_is_no_subject(word: str, opening: str, following: str) -> None:
    assert word not in resolve([opening.format(word), following])[1]


@pytest.mark.parametrize("word", ["Then", "Today", "Now", "Soon", "In", "When", "Subsequently"])
def test_what_opens_a_sentence_is_not_part_of_the_subject(word: str) -> None:
    said = [f"{word} Oslo was lost, and the king left.", "He was sad."]
    assert resolve(said)[1] in ("He was sad.", "Oslo was sad.")


@pytest.mark.parametrize(
    ("opening", "following", "expected"),
    [
        ("First Lady Ada Berg is a lawyer.", "She sings.", "Lady Ada Berg sings."),
        ("First Bank is in Oslo.", "It is old.", "It is old."),
        ("Ada Still was a painter.", "Still was born in Oslo.", "Ada Still was born in Oslo."),
        ('"Always" is a song.', "It is old.", "Always is old."),
        ("Over 500 whales are there.", "They sing.", "Over 500 whales sing."),
        ("More information is in Oslo.", "It is old.", "More information is old."),
        ("Then Ada Berg was ill.", "She resigned.", "Ada Berg resigned."),
        ("When Ada Berg left, the town wept.", "She wept.", "Ada Berg wept."),
        ("Per Holm was ill.", "He resigned.", "Per Holm resigned."),
    ],
)
def test_a_name_that_begins_so_is_a_subject(opening: str, following: str, expected: str) -> None:
    assert resolve([opening, following])[1] == expected


def test_a_known_name_that_is_an_adverb_is_a_subject() -> None:
    said = ["Ada Still was a painter.", "Still was born in Oslo.", "She died."]
    assert resolve(said)[2] == "Ada Still died."


def test_who_an_opening_clause_is_about_may_be_meant() -> None:
    said = ["Ada Berg was a chemist.", "When Dahl left, the town wept.", "He was sad."]
    assert resolve(said)[2] == "He was sad."


def test_a_middle_name_makes_nobody_else() -> None:
    found = resolve(["Ada Maria Berg is a chemist.", "She lives in Oslo."], "Ada Berg")
    assert found[1] == "Ada Berg lives in Oslo."


def test_a_sentence_may_have_nothing_but_an_adverb_before_its_verb() -> None:
    sentences = ["Most are open on all sides.", "It was built in Oslo."]
    assert resolve(sentences) == sentences
