"""The claims of one sentence: what each rule splits, and what it leaves whole."""

import pytest

from ufo.transforms.extraction.claims import split, written
from ufo.transforms.extraction.clause import wording


def claims(sentence: str) -> list[str]:
    return [written(claim.words) for claim in split(wording(sentence))]


BRACKETS = {
    "Ada Berg (b. 1946) is a poet.": ["Ada Berg was born in 1946.", "Ada Berg is a poet."],
    "Ada Berg (born May 3, 1946, in Oslo) is a poet.": [
        "Ada Berg was born on May 3, 1946.",
        "Ada Berg was born in Oslo.",
        "Ada Berg is a poet.",
    ],
    "Ada Berg (3 May 1946 – 5 June 1999) was a poet.": [
        "Ada Berg was born on 3 May 1946.",
        "Ada Berg died on 5 June 1999.",
        "Ada Berg was a poet.",
    ],
}
APPOSITIONS = {
    "Ada Berg, an old poet, lived in Oslo.": [
        "Ada Berg was an old poet.",
        "Ada Berg lived in Oslo.",
    ],
    "Ada Berg, a poet, had two sons.": ["Ada Berg was a poet.", "Ada Berg had two sons."],
    "Ada Berg, based in Oslo, makes films.": [
        "Ada Berg is based in Oslo.",
        "Ada Berg makes films.",
    ],
    "Ada Berg, born in Oslo, makes films.": ["Ada Berg was born in Oslo.", "Ada Berg makes films."],
    "Ada Berg, better known as Ada, makes films.": [
        "Ada Berg is better known as Ada.",
        "Ada Berg makes films.",
    ],
    "Oslo, which is old, was sold.": ["Oslo is old.", "Oslo was sold."],
    "In 1905, Ada Berg, a poet, moved to Oslo.": [
        "Ada Berg was a poet.",
        "In 1905, Ada Berg moved to Oslo.",
    ],
    "Ada Berg, a poet, later moved to Oslo.": [
        "Ada Berg was a poet.",
        "Ada Berg later moved to Oslo.",
    ],
}
RELATIVE_CLAUSES = {
    "He was born in Oslo, which was then a small town.": [
        "He was born in Oslo.",
        "Oslo was then a small town.",
    ],
    'He wrote "The Old Sea", which won two prizes.': [
        'He wrote "The Old Sea".',
        '"The Old Sea" won two prizes.',
    ],
    "He married Ada Berg, who wrote novels.": ["He married Ada Berg.", "Ada Berg wrote novels."],
    "He led the Bank of Norway, which was founded in 1816.": [
        "He led the Bank of Norway.",
        "The Bank of Norway was founded in 1816.",
    ],
    "He founded the Holm Bank in 1936, which was sold.": [
        "He founded the Holm Bank in 1936.",
        "The Holm Bank was sold.",
    ],
}
SECOND_CLAUSES = {
    "Jan Holm wrote novels, but his brother painted houses.": [
        "Jan Holm wrote novels.",
        "Jan Holm's brother painted houses.",
    ],
    "Jan Holm was born in Oslo; he died in Paris.": [
        "Jan Holm was born in Oslo.",
        "Jan Holm died in Paris.",
    ],
    "Jan Holm was born in Oslo: his father was a poet.": [
        "Jan Holm was born in Oslo.",
        "Jan Holm's father was a poet.",
    ],
    "It was an old town, and it was sold.": ["It was an old town.", "It was sold."],
    "He was a painter, and he died in Paris.": ["He was a painter.", "He died in Paris."],
    "The tower was built in 1900, and the old wooden bridge was sold.": [
        "The tower was built in 1900.",
        "The old wooden bridge was sold.",
    ],
    "Ada Berg was a poet; Jan Holm was a painter; Eva Lund was a singer.": [
        "Ada Berg was a poet.",
        "Jan Holm was a painter.",
        "Eva Lund was a singer.",
    ],
    **{
        f"Jan Holm left Oslo, {word} Ada Berg stayed there.": [
            "Jan Holm left Oslo.",
            "Ada Berg stayed there.",
        ]
        for word in ("and", "but", "while", "whereas", "although", "because")
    },
}
PARTICIPLES = {
    "He moved to Oslo in 1990, becoming a teacher there.": [
        "He moved to Oslo in 1990.",
        "He became a teacher there.",
    ],
    "Jan Holm was born in 1900, becoming a teacher there.": [
        "Jan Holm was born in 1900.",
        "Jan Holm became a teacher there.",
    ],
    "Jan Holm was a teacher, working in Oslo and living in Bergen.": [
        "Jan Holm was a teacher.",
        "Jan Holm worked in Oslo.",
        "Jan Holm lived in Bergen.",
    ],
    "Jan Holm had a shop, selling books.": ["Jan Holm had a shop.", "Jan Holm sold books."],
    "Jan Holm moved to Oslo, studying dancing and acting.": [
        "Jan Holm moved to Oslo.",
        "Jan Holm studied dancing and acting.",
    ],
}
PREDICATES = {
    "Ada Berg moved to Oslo and later died in Paris.": [
        "Ada Berg moved to Oslo.",
        "Ada Berg later died in Paris.",
    ],
    "Ada Berg moved to Oslo but died in Paris.": [
        "Ada Berg moved to Oslo.",
        "Ada Berg died in Paris.",
    ],
    "Ada Berg moved to Oslo, wrote novels, and had two sons.": [
        "Ada Berg moved to Oslo.",
        "Ada Berg wrote novels.",
        "Ada Berg had two sons.",
    ],
    "Ada Berg was elected in 1900 and moved to Paris.": [
        "Ada Berg was elected in 1900.",
        "Ada Berg moved to Paris.",
    ],
    "The house was sold in 1900 and taken to Paris.": [
        "The house was sold in 1900.",
        "The house was taken to Paris.",
    ],
    "Ada Berg had written novels and directed films.": [
        "Ada Berg had written novels.",
        "Ada Berg had directed films.",
    ],
    "Ada Berg has moved to Oslo and has two sons.": [
        "Ada Berg has moved to Oslo.",
        "Ada Berg has two sons.",
    ],
    "Ada Berg was often ill and was treated in Oslo.": [
        "Ada Berg was often ill.",
        "Ada Berg was treated in Oslo.",
    ],
}
PREDICATE_NOUNS = {
    "The Sea is a film which won two prizes.": ["The Sea is a film.", "The Sea won two prizes."],
    "The Sea is a film that won two prizes.": ["The Sea is a film.", "The Sea won two prizes."],
    "Jan Holm was an actor born in Oslo.": ["Jan Holm was an actor.", "Jan Holm was born in Oslo."],
    "The Sea is a film directed by Jan Holm.": [
        "The Sea is a film.",
        "The Sea is directed by Jan Holm.",
    ],
    "Jan Holm is a poet from Oslo known for his wit.": [
        "Jan Holm is a poet from Oslo.",
        "Jan Holm is known for his wit.",
    ],
    **{
        f"Jan Holm is a poet {word} known for his wit.": [
            "Jan Holm is a poet.",
            f"Jan Holm is {word} known for his wit.",
        ]
        for word in ("best", "widely", "well")
    },
    "Jan Holm is a Danish film director.": ["Jan Holm is Danish.", "Jan Holm is a film director."],
    **{
        f"Jan Holm was {article} {origin} actor.": [
            f"Jan Holm was {origin}.",
            "Jan Holm was an actor.",
        ]
        for article, origin in (
            ("a", "German"),
            ("a", "Spanish"),
            ("a", "Chinese"),
            ("a", "French"),
            ("an", "Israeli"),
            ("an", "Iraqi"),
        )
    },
}
EXAMPLES = {
    'Ada Berg played in films including "The Sea" and "Always".': [
        "Ada Berg played in films.",
        'Ada Berg played in "The Sea".',
        'Ada Berg played in "Always".',
    ],
    "Ada Berg won three prizes, including the Holm Prize and the Berg Prize.": [
        "Ada Berg won three prizes.",
        "Ada Berg won the Holm Prize.",
        "Ada Berg won the Berg Prize.",
    ],
    "Ada Berg lived in towns such as Oslo.": [
        "Ada Berg lived in towns.",
        "Ada Berg lived in Oslo.",
    ],
    'Ada Berg sang in 20+ films, including "The Sea".': [
        "Ada Berg sang in 20+ films.",
        'Ada Berg sang in "The Sea".',
    ],
    "Ada Berg painted many animals such as cats and dogs.": [
        "Ada Berg painted many animals.",
        "Ada Berg painted cats.",
        "Ada Berg painted dogs.",
    ],
    **{
        f"Its members {verb} Ada Berg, Jan Holm and Eva Lund.": [
            f"Its members {verb} {name}." for name in ("Ada Berg", "Jan Holm", "Eva Lund")
        ]
        for verb in ("include", "included")
    },
    "The band includes Ada Berg and Jan Holm.": [
        "The band includes Ada Berg.",
        "The band includes Jan Holm.",
    ],
}
ITEMS = {
    "Ada Berg was a poet and an actor.": ["Ada Berg was a poet.", "Ada Berg was an actor."],
    "Ada Berg was an actor, poet and teacher.": [
        "Ada Berg was an actor.",
        "Ada Berg was a poet.",
        "Ada Berg was a teacher.",
    ],
    "Ada Berg worked as a poet and actor.": [
        "Ada Berg worked as a poet.",
        "Ada Berg worked as an actor.",
    ],
    "Ada Berg wrote plays and novels.": ["Ada Berg wrote plays.", "Ada Berg wrote novels."],
    "Ada Berg wrote plays, songs and novels in Oslo.": [
        "Ada Berg wrote plays in Oslo.",
        "Ada Berg wrote songs in Oslo.",
        "Ada Berg wrote novels in Oslo.",
    ],
    "Ada Berg worked with wood, stone and iron.": [
        "Ada Berg worked with wood.",
        "Ada Berg worked with stone.",
        "Ada Berg worked with iron.",
    ],
    "Ada Berg is known for her wit and her eye.": [
        "Ada Berg is known for her wit.",
        "Ada Berg is known for her eye.",
    ],
}
EVENTS = {
    "Ada Berg was born on 3 May 1946 in Oslo.": [
        "Ada Berg was born on 3 May 1946.",
        "Ada Berg was born in Oslo.",
    ],
    "Ada Berg was born in Oslo to a poet.": [
        "Ada Berg was born in Oslo.",
        "Ada Berg was born to a poet.",
    ],
    "Ada Berg died in Oslo at the age of 50.": [
        "Ada Berg died in Oslo.",
        "Ada Berg died at the age of 50.",
    ],
    "Ada Berg passed away in Oslo in 1946.": [
        "Ada Berg passed away in Oslo.",
        "Ada Berg passed away in 1946.",
    ],
    "The firm was founded in Oslo in 1946 by Ada Berg.": [
        "The firm was founded in Oslo.",
        "The firm was founded in 1946.",
        "The firm was founded by Ada Berg.",
    ],
    "In 1946, Ada Berg died in Oslo at home.": [
        "In 1946, Ada Berg died in Oslo.",
        "Ada Berg died at home.",
    ],
    **{
        f"The firm was {event} in 1946 in Oslo.": [
            f"The firm was {event} in 1946.",
            f"The firm was {event} in Oslo.",
        ]
        for event in ("established", "built", "formed")
    },
}


def rows(*tables: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    return [row for table in tables for row in table.items()]


@pytest.mark.parametrize(("sentence", "parts"), rows(BRACKETS, APPOSITIONS, RELATIVE_CLAUSES))
def test_what_is_said_of_a_name_beside_it_is_a_claim(sentence: str, parts: list[str]) -> None:
    assert claims(sentence) == parts


@pytest.mark.parametrize(("sentence", "parts"), rows(SECOND_CLAUSES, PARTICIPLES, PREDICATES))
def test_each_verb_of_a_subject_makes_a_claim(sentence: str, parts: list[str]) -> None:
    assert claims(sentence) == parts


@pytest.mark.parametrize(("sentence", "parts"), rows(PREDICATE_NOUNS, EXAMPLES, ITEMS))
def test_each_item_makes_a_claim(sentence: str, parts: list[str]) -> None:
    assert claims(sentence) == parts


@pytest.mark.parametrize(("sentence", "parts"), rows(EVENTS))
def test_the_date_and_the_place_of_an_event_are_two_claims(sentence: str, parts: list[str]) -> None:
    assert claims(sentence) == parts


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
    assert written(sentence.split()) == claim
