"""The claims of one sentence: the words that split it, what stays whole, and how it is written."""

import pytest

from ufo.transforms.extraction.claims import as_sentence, split
from ufo.transforms.extraction.clause import wording


def claims(sentence: str) -> list[str]:
    return [as_sentence(claim.words) for claim in split(wording(sentence))]


@pytest.mark.parametrize("word", ["and", "but", "while", "whereas", "although", "because"])
def test_a_second_clause_begins_with_one_of_these_words(word: str) -> None:
    extracted = claims(f"Jan Holm left Oslo, {word} Ada Berg stayed there.")
    assert extracted == ["Jan Holm left Oslo.", "Ada Berg stayed there."]


@pytest.mark.parametrize("word", ["best", "widely", "well"])
def test_what_somebody_is_known_for_is_a_claim(word: str) -> None:
    extracted = claims(f"Jan Holm is a poet {word} known for his wit.")
    assert extracted == ["Jan Holm is a poet.", f"Jan Holm is {word} known for his wit."]


@pytest.mark.parametrize(
    "origin", ["a German", "a Spanish", "a Chinese", "a French", "an Israeli", "an Iraqi"]
)
def test_where_somebody_is_from_and_the_occupation_are_two_claims(origin: str) -> None:
    extracted = claims(f"Jan Holm was {origin} actor.")
    assert extracted == [f"Jan Holm was {origin.split()[1]}.", "Jan Holm was an actor."]


@pytest.mark.parametrize(
    "occupation",
    [
        "football player",
        "rules football player",
        "horn player",
        "history teacher",
        "teacher",
        "professor",
        "scholar",
        "translator",
    ],
)
def test_a_subject_or_a_game_is_not_where_somebody_is_from(occupation: str) -> None:
    assert len(claims(f"Jan Holm was an English {occupation}.")) == 1


@pytest.mark.parametrize("verb", ["include", "included"])
def test_each_member_of_a_list_is_a_claim(verb: str) -> None:
    extracted = claims(f"Its members {verb} Ada Berg, Jan Holm and Eva Lund.")
    assert extracted == [
        f"Its members {verb} {name}." for name in ("Ada Berg", "Jan Holm", "Eva Lund")
    ]


@pytest.mark.parametrize("event", ["founded", "established", "built", "formed", "born"])
def test_the_date_and_the_place_of_an_event_are_two_claims(event: str) -> None:
    extracted = claims(f"The last was {event} in 1946 in Oslo.")
    assert extracted == [f"The last was {event} in 1946.", f"The last was {event} in Oslo."]


@pytest.mark.parametrize(
    "many",
    ["numerous", "several", "various", "many", "some", "over 20", "few", "multiple", "12"]
    + [f"a {word} of" for word in ("number", "variety", "series", "host", "range")],
)
def test_an_example_takes_the_place_of_what_is_counted(many: str) -> None:
    extracted = claims(f"Ada Berg painted {many} animals, including old cats.")
    assert extracted == [f"Ada Berg painted {many} animals.", "Ada Berg painted old cats."]


@pytest.mark.parametrize("post", ["positions", "roles", "posts", "offices", "capacities"])
def test_nobody_serves_in_a_person(post: str) -> None:
    sentence = f"Ada Berg served in several {post}, including Minister of Culture."
    assert claims(sentence) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "The Holm Company (1946–1999) was a firm.",
        "Ada Berg (1946) is a poet from Oslo.",
        "Ada Berg, her sister, moved to Oslo.",
        "Ada Berg, a poet, and Jan Holm met.",
        "He lives in Oslo and Bergen, which are old.",
        "He was the brother of Ada Berg, who wrote novels.",
        "He met Jan Holm and Ada Berg, who was ill.",
        "He moved to Oslo, which he had left in 1900.",
        "He moved to Oslo, where he died.",
        "He bought a house, which was sold in 1950.",
        "Jan Holm wrote novels, and they were praised.",
        "Jan Holm met Eva Lund, and he was glad.",
        "He said that it was old, and he died in Paris.",
        "Jan Holm was elected in 1990, winning two votes.",
        "Jan Holm moved to Oslo, making him happy.",
        "Jan Holm moved to Oslo, during the war.",
        "Ada Berg wrote and sang.",
        "Ada Berg or Jan Holm moved to Oslo and died in Paris.",
        "Both Ada Berg and Jan Holm moved to Oslo and died in Paris.",
        "Ada Berg either moved to Oslo or died in Paris.",
        "Ada Berg moved to Oslo when it was sold and died in Paris.",
        "Neither Ada nor Jan moved to Oslo and died in Paris.",
        "Jan Holm is a poet with a house located in Oslo.",
        "Jan Holm is an Irish and Danish poet.",
        "Jan Holm is a French teacher.",
        "Jan Holm is an English football player.",
        "Vik is a Norwegian town.",
        "Jan Holm is a Norwegian.",
        "Ada Berg held several positions, including Minister of Culture.",
        "Ada Berg was one of many poets including Eva Lund.",
        "Ada Berg won such a prize as this.",
        "Ada Berg was a poet and a good friend.",
        "Ada Berg was good, kind and old.",
        "Ada Berg met both poets, singers and actors.",
        "Ada Berg won in 1990, 1991 and 1992.",
        "The firm was founded in Oslo to sell ships in 1946.",
        "The tower was not built in 1946 in Oslo.",
        "The tower was built in 1946 or in 1947.",
    ],
)
def test_a_sentence_with_another_meaning_stays_whole(sentence: str) -> None:
    assert claims(sentence) == [sentence]


def test_a_sentence_of_five_words_is_split() -> None:
    assert claims("Holm is a Norwegian poet.") == ["Holm is Norwegian.", "Holm is a poet."]


def test_a_comma_before_a_curly_quotation_mark_ends_an_item() -> None:
    extracted = claims("His works include “The Sea,” “Always,” and “Still”.")
    assert extracted == [
        f"His works include “{title}”." for title in ("The Sea", "Always", "Still")
    ]


@pytest.mark.parametrize(("words", "count"), [(90, 2), (91, 1)])
def test_a_sentence_of_more_than_90_words_stays_whole(words: int, count: int) -> None:
    sentence = f"Ada Berg sang {'very ' * (words - 8)}well and died in Oslo."
    assert len(sentence.split()) == words
    assert len(claims(sentence)) == count


@pytest.mark.parametrize(("clauses", "count"), [(9, 9), (10, 9)])
def test_a_sentence_is_split_eight_times(clauses: int, count: int) -> None:
    sentence = "; ".join(["Oslo was a small old town"] * clauses)
    assert len(claims(sentence)) == count


@pytest.mark.parametrize(
    ("item", "count"),
    [("long sad old dark loud novels", 3), ("very long sad old dark loud novels", 1)],
)
def test_an_item_has_six_words_at_most(item: str, count: int) -> None:
    assert len(claims(f"Ada Berg wrote {item}, plays and songs.")) == count


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ('Ada Berg said, "Oslo is old,"', 'Ada Berg said, "Oslo is old".'),
        *[(f"Ada Berg sang Always,{end}", f"Ada Berg sang Always{end}.") for end in "\"”'’"],
        *[(f"Ada Berg sang Always.{end}", f"Ada Berg sang Always.{end}") for end in "\"”'’"],
        ('Ada Berg sang in "Always"', 'Ada Berg sang in "Always".'),
        ("Ada Berg sang (in Oslo.)", "Ada Berg sang (in Oslo.)"),
        ("Ada Berg sang (in Oslo)", "Ada Berg sang (in Oslo)."),
        ("Ada Berg sang –", "Ada Berg sang."),
        *[(f"Ada Berg sang{end}", f"Ada Berg sang{end}") for end in ".!?…"],
        *[(f"Ada Berg sang{end}", "Ada Berg sang.") for end in ",;:"],
        ("oslo is old", "Oslo is old."),
        ("eBay is old", "eBay is old."),
    ],
)
def test_a_claim_is_written_with_a_capital_and_a_stop(sentence: str, claim: str) -> None:
    assert as_sentence(sentence.split()) == claim
