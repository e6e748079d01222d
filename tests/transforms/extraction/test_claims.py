import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.transforms.english.grammar import word_set
from ufo.transforms.extraction.claims import split, written
from ufo.transforms.extraction.clause import wording


def claims_of(sentence: str) -> list[str]:
    return [written(claim.words) for claim in split(wording(sentence))]


# A sentence, and its claims with "|" between them.
SPLIT = """
Ada Berg was born in Oslo, studied in Bergen, and died in Paris.
  Ada Berg was born in Oslo. | Ada Berg studied in Bergen. | Ada Berg died in Paris.
He was born in Oslo and raised in Bergen.
  He was born in Oslo. | He was raised in Bergen.
He has written ten books and directed two films.
  He has written ten books. | He has directed two films.
He was awarded the prize and received the medal.
  He was awarded the prize. | He received the medal.
The first was built in 1900 and was moved to Oslo in 1950.
  The first was built in 1900. | The first was moved to Oslo in 1950.
In 1921, Berg won a prize and visited New York.
  In 1921, Berg won a prize. | Berg visited New York.
The war ended in 1945; the land was divided.
  The war ended in 1945. | The land was divided.
Jan Holm was born in Oslo, and he died in Paris.
  Jan Holm was born in Oslo. | Jan Holm died in Paris.
Jan Holm was a painter and his work was praised.
  Jan Holm was a painter. | Jan Holm's work was praised.
Oslo is a city, and its harbour is old.
  Oslo is a city. | Oslo's harbour is old.
Rome was founded in 753 BC, and the Republic was established in 509 BC.
  Rome was founded in 753 BC. | The Republic was established in 509 BC.
She studied in Paris, which is the capital of France.
  She studied in Paris. | Paris is the capital of France.
He founded the Holm Institute in 1936, which moved to Bergen.
  He founded the Holm Institute in 1936. | The Holm Institute moved to Bergen.
Paris, the capital of France, has two million inhabitants.
  Paris is the capital of France. | Paris has two million inhabitants.
Ada Berg, a Norwegian chemist, discovered berium.
  Ada Berg was Norwegian. | Ada Berg was a chemist. | Ada Berg discovered berium.
Ada Berg, who was born in Oslo, discovered berium.
  Ada Berg was born in Oslo. | Ada Berg discovered berium.
Wet sand, also known as quicksand, is a hazard.
  Wet sand is also known as quicksand. | Wet sand is a hazard.
Jan Holm began his career in 1990, appearing in films.
  Jan Holm began his career in 1990. | Jan Holm appeared in films.
Ada Berg moved to Oslo, winning the prize in 1990 and writing her memoirs.
  Ada Berg moved to Oslo. | Ada Berg won the prize in 1990. | Ada Berg wrote her memoirs.
Jan Holm is an actor born on May 18, 1949, in Oslo, Norway.
  Jan Holm is an actor. | Jan Holm was born on May 18, 1949. | Jan Holm was born in Oslo, Norway.
Holm (born 3 May 1946) is a Norwegian poet and author.
  Holm was born on 3 May 1946. | Holm is Norwegian. | Holm is a poet. | Holm is an author.
Holm (1879–1955) was a chemist who won two prizes.
  Holm was born in 1879. | Holm died in 1955. | Holm was a chemist. | Holm won two prizes.
He won the prize in Oslo, Bergen, and Paris.
  He won the prize in Oslo. | He won the prize in Bergen. | He won the prize in Paris.
Berg acted in films such as "The Sea", "Always," and "Still".
  Berg acted in films. | Berg acted in "The Sea". | Berg acted in "Always". | Berg acted in "Still".
Berg received several prizes for his work, including the Holm Prize in 1990.
  Berg received several prizes for his work. | Berg received the Holm Prize in 1990.
He met with various groups, such as poets, nurses, or teachers.
  He met with various groups. | He met with poets. | He met with nurses. | He met with teachers.
His works include "The Sea," "Always," and "Still".
  His works include "The Sea". | His works include "Always". | His works include "Still".
Berg wrote novels, short stories, and plays.
  Berg wrote novels. | Berg wrote short stories. | Berg wrote plays.
Berg is known for his wit and sharp eye.
  Berg is known for his wit. | Berg is known for his sharp eye.
- **However, Berg** was a chemist [2] and won the prize.[3]
  Berg was a chemist. | Berg won the prize.
"""

WHOLE = """
Born in Oslo, Norway, Berg moved to Bergen.
Ada Berg was born and raised in Oslo.
He wrote and directed the film.
He starred in films and animated series.
He played a grumpy and opinionated woman.
Berg was a Polish and naturalised French chemist.
He said that he was ill and died.
It is believed that he was poor and died alone.
If it rains, the game is cancelled and moved to Sunday.
Not only was he a poet but also wrote plays.
Berg published the theory, and it was confirmed in 1919.
She met the mayor of Paris, who was a woman.
Berg met Nils Dahl, and he was glad.
The bridge was destroyed, killing ten people.
The firm sold cheaper cars, ranging from small to large.
Ada Berg is an American football player.
Berg won prizes for films, including the Holm Prize.
Water is made of hydrogen and oxygen.
The Great War (1914–1918) was a conflict.
The series "Foo was and is" ended and "Bar" began.
The road runs between Oslo, Bergen, and Paris.
The band consists of Ada Berg, Jan Holm, and Nils Dahl.
He met two painters, Ada Berg, and Jan Holm.
He was a talented, driven, and successful man.
He acted in Romeo and Juliet.
The film was made by Dahl, Holm, and others in 1990.
"""


def table(text: str) -> list[tuple[str, list[str]]]:
    lines = text.strip().split("\n")
    return [
        (sentence, [claim.strip() for claim in claims.split(" | ")])
        for sentence, claims in zip(lines[::2], lines[1::2], strict=True)
    ]


@pytest.mark.parametrize(("sentence", "claims"), table(SPLIT))
def test_safe_splits(sentence: str, claims: list[str]) -> None:
    assert claims_of(sentence) == claims


@pytest.mark.parametrize("sentence", WHOLE.strip().split("\n"))
def test_in_doubt_the_sentence_stays_whole(sentence: str) -> None:
    assert claims_of(sentence) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("1. **Oslo** is a *city*.", "Oslo is a city."),
        ("👉🏽 Oslo is a city.", "Oslo is a city."),
        ("→ ✅ Oslo is a city.", "Oslo is a city."),
        ("However, Oslo is a city.", "Oslo is a city."),
        ("The short answer is that Oslo is a city.", "Oslo is a city."),
        ("It is worth noting that Oslo is a city.", "Oslo is a city."),
        ("In addition, Oslo is a city.", "Oslo is a city."),
        ("In 1990, Oslo grew.", "In 1990, Oslo grew."),
        ("In addition, in fact, oslo is a city.", "Oslo is a city."),
        ("It is important to note that Oslo is a city.", "Oslo is a city."),
        ("As of my knowledge cutoff in 2021, Oslo is a city.", "Oslo is a city."),
        ("See [Oslo](https://example.org/a) is\na city.[1][2, 3]", "See Oslo is a city."),
        ("Then Oslo grew", "Then Oslo grew."),
        ("-5 °C is cold", "-5 °C is cold."),
    ],
)
def test_what_stands_around_a_claim_is_taken_off(sentence: str, claim: str) -> None:
    assert claims_of(sentence) == [claim]


@pytest.mark.parametrize("sentence", ["", "  ", "- ", "***", "?!"])
def test_nothing_said_makes_no_claim(sentence: str) -> None:
    assert claims_of(sentence) == []


DROPPED = word_set(
    "this and but while whereas although because he she who which that it they his her their its or"
    " such as including"
)


def content(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)} - DROPPED


PARTS = """Ada Berg|Jan Holm|The tower|Oslo|, who was|, which is|, a chemist,|and|, and|but|; |
was born|is a|was an|died|won|has|has written|in 1921|on 3 May 1946|two prizes|in Paris, France|he|
she|it|moved to|(born 1950)|(1879–1955)|known for|actor|Norwegian author|author, singer|films|"Foo"|
the|. |, the capital,|Born in Oslo,|In 1905,|which|that|not|later|and was|-|such as|, including|
several prizes|– appointed|- This is|his work""".replace("\n", "").split("|")


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=14).map(" ".join))
def test_no_word_is_lost_whatever_is_said(sentence: str) -> None:
    claims = claims_of(sentence)
    assert bool(claims) == bool(re.search(r"\w", sentence))
    assert content(sentence) <= content(" ".join(claims))


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    for claim in claims_of(text):
        assert claim == claim.strip()
        assert claim


def test_a_monster_of_a_sentence_stays_whole() -> None:
    sentence = "Berg " + "was here and " * 5_000 + "left."
    assert claims_of(sentence) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Oslo – a city – is old.", "Oslo – a city – is old."),
        ('She played in the film "Holm,"', 'She played in the film "Holm".'),
        ('She sang "Is It?"', 'She sang "Is It?"'),
    ],
)
def test_a_claim_reads_as_a_sentence(sentence: str, claim: str) -> None:
    assert claims_of(sentence) == [claim]
