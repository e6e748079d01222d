"""The parts of a sentence, the names in it, and the sentences that make no checkable claim."""

from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.transforms.english.grammar import lower
from ufo.transforms.extraction import clause
from ufo.transforms.extraction.clause import Wording, abstains, is_claim, is_talk, wording


def table(text: str) -> list[list[str]]:
    """Return the rows of a table: cells between ` => `."""
    return [[cell.strip() for cell in line.split("=>")] for line in text.strip().split("\n")]


def wording_of(text: str) -> Wording:
    return Wording(text.split(), lower(text.split()))


PARSED = """Ada moved on. => 0 1 Ada
Ada => nothing
In 1905, Ada Berg moved on. => 2 4 Ada Berg
Ada, moved on. => 0 1
There moved one. => 0 1
Ada who moved on. => 0 2
Is Ada moved on. => 0 2
The moved town was old. => 0 3 The moved town
Each was here. => 0 1 Each
Ada later moved on. => 0 2 Ada"""
LONG = " ".join(["Ada", *"bcdefghijkl"])  # twelve words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *table(PARSED),
        pytest.param(f"{LONG} moved", f"0 12 {LONG}", id="a subject of twelve words"),
        pytest.param(f"In 1905, {LONG} moved", f"2 14 {LONG}", id="twelve words after an opening"),
        pytest.param(f"{LONG} m moved", "0 13", id="a subject of thirteen words"),
    ],
)
def test_the_subject_and_the_verb_of_a_clause(text: str, expected: str) -> None:
    parsed = clause.parse(*wording_of(text))
    shown = f"{parsed.start} {parsed.verb} {' '.join(parsed.subject)}" if parsed else "nothing"
    assert shown.rstrip() == expected


def test_a_clause_without_a_verb_has_none() -> None:
    assert clause.first_verb(["Ada"], ["ada"], 0) == -1


STARTS = """Ada moved. => 0
In Oslo => 0
In Oslo, Ada => 2
Based on tests, Ada moved. => 0
Based in Oslo, Ada moved. => 3
Raised in Oslo, Ada moved. => 3
Educated in Oslo, Ada moved. => 3
Later in Oslo, Ada moved. => 3
Today in Oslo, Ada moved. => 3
In 1891 she moved. => 2
In 1891 she => 2
In 1891 => 0
In May she moved. => 0
In Oslo moved, Ada went. => 0
located in Oslo, Ada went. => 3
In Oslo, in May, she moved. => 4
In Oslo, 1905, she moved. => 3
In May, 5th graders moved. => 0
In Oslo, Norway, Ada moved. => 3
In Oslo, Ada, a chemist, moved. => 2
In Oslo, Ada, an actor, moved. => 2
In Oslo, Ada, the chemist, moved. => 2
In Oslo, Ada, who sang, moved. => 2
In Oslo, Ada, which sang, moved. => 2"""


@pytest.mark.parametrize(
    ("text", "start"),
    [
        *table(STARTS),
        pytest.param("In " + "x " * 12 + "x, Ada moved.", "14", id="an opening of 14 words"),
        pytest.param("In " + "x " * 13 + "x, Ada moved.", "0", id="an opening of 15 words"),
    ],
)
def test_a_subject_begins_after_an_opening(text: str, start: str) -> None:
    assert clause.subject_start(*wording_of(text)) == int(start)


LENGTHS = """University of Zurich was => 3
of Zurich => 0
Mrs. Holm => 2
Prof. Holm => 1
Ada, Berg => 1
Ada; Berg => 1
Ada: Berg => 1
Ada) Berg => 1
Ada! Berg => 1
Ada? Berg => 1"""


@pytest.mark.parametrize(("text", "length"), table(LENGTHS))
def test_how_many_words_are_one_name(text: str, length: str) -> None:
    assert clause.name_length(text.split()) == int(length)


@pytest.mark.parametrize(
    ("text", "name"), [("Ada Berg", True), ("Ada berg", False), ("ada Berg", False), ("", False)]
)
def test_words_that_are_one_name(text: str, name: bool) -> None:
    assert clause.is_name(text.split()) is name


@pytest.mark.parametrize(
    ("text", "length"),
    [("The", 0), ("The Beatles sang", 2), ("Ada moved", 1), ("Then came", 0), ('"Then came', 1)],
)
def test_the_name_at_the_beginning_of_a_sentence(text: str, length: int) -> None:
    assert clause.opening_name_length(*wording_of(text)) == length


NAMES = """Ada met Jan Holm => Ada | Jan Holm
Then of Oslo => Oslo
Then la Oslo =>
"Ada" met Jan => Jan
“Ada” met Jan => Jan
'Ada' met Jan => Jan
‘Ada’ met Jan => Jan
«Ada» met Jan => Jan"""


@pytest.mark.parametrize(("text", "names"), table(NAMES))
def test_names_in_a_sentence(text: str, names: str) -> None:
    words = text.split()
    spans = clause.names_in(words, lower(words), 0)
    assert " | ".join(" ".join(words[at:end]) for at, end in spans) == names


@pytest.mark.parametrize("before", ["in", "at", "from", "near", "across", "on", "the", "a", "an"])
def test_a_name_after_a_word_of_place_is_no_person(before: str) -> None:
    assert not clause.may_be_person(["ada", "holm"], before)


@pytest.mark.parametrize("name", ["Holm River", "Ada and Jan", "Ada & Jan", "the Holm", "Ada 11"])
def test_a_name_that_is_no_person_s(name: str) -> None:
    assert clause.may_be_person(["ada", "holm"])
    assert not clause.may_be_person(name.lower().split())


BARE = """Holm. => Holm
Ada B. => Ada B.
Holm Jr. => Holm Jr.
Holm Sr. => Holm Sr.
Holm Inc. => Holm Inc.
Holm Co. => Holm Co.
Holm Ltd. => Holm Ltd.
"Ada Holm's", => Ada Holm
Ada Holm's => Ada Holm
Ada Holm’s => Ada Holm
Oslo (Norway) => Oslo"""


@pytest.mark.parametrize(("text", "name"), table(BARE))
def test_a_name_without_what_is_around_it(text: str, name: str) -> None:
    assert clause.bare_name(text.split()) == name


TOPICS = """Oslo =>
Ada Berg => Ada Berg
Then Berg => Berg
Ada was born =>
is Oslo big => Oslo
tell about Oslo => Oslo
bio of Oslo => Oslo
work of Ada =>
work of Ada Berg => Ada Berg
work of Oslo River =>
tell of the Beatles =>
who of Beatles sang =>
who was Ada in Oslo => Ada
did Ada go to Oslo =>
did Ada see Jan =>"""


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        *table(TOPICS),
        pytest.param("so " * 38 + "saw Ada", "Ada", id="40 words"),
        pytest.param("so " * 39 + "saw Ada", "", id="41 words"),
    ],
)
def test_the_name_that_a_question_is_about(question: str, topic: str) -> None:
    assert clause.topic_of(question) == topic


def test_no_question_is_about_nothing() -> None:
    assert clause.topic_of(None) == ""
    assert not clause.asks_for_person(None)


OPENING = """Marie Curie was born. => Marie Curie
Marie Curie, a chemist => Marie Curie
Marie Curie (1867) => Marie Curie
Marie Curie laboratories =>
Marie Curie =>
Marie was born. =>
Then Curie was born. =>"""


@pytest.mark.parametrize(("text", "name"), [*table(OPENING), ("", "")])
def test_the_full_name_that_is_the_subject(text: str, name: str) -> None:
    assert clause.opening_name(text.split()) == name


CLAIMS = """#1 Ada was born.
"Who is it?" was sung.
It was “Who is it?”
Album Hello was sung.
Note: hello was sung.
Ada was in Oslo:
Cats live in Oslo.
E = mc2"""
NO_CLAIMS = """``` Ada was born.
~~~ Ada was born.
| Ada was born.
# Ada was born.
[citation needed]
1905 = 1905
Is it where she lived?
Is it where she lived？
Is it where she lived؟
“Is it where she lived?”
Ada:
Budget: Add the salt that was new.
Ada said the four were:
Ada was born on the following:
Ada was given by:
Ada was known as:
The four presidents:
Live Oslo Show"""


@pytest.mark.parametrize(
    ("text", "claims"),
    [(text, True) for text in CLAIMS.split("\n")]
    + [(text, False) for text in NO_CLAIMS.split("\n")],
)
def test_a_sentence_that_makes_a_claim(text: str, claims: bool) -> None:
    assert is_claim(text, wording(text)) is claims


POLITE = ("Please", "And", "But", "So", "Also", "Then", "Next", "Finally", "Lastly", "First")
TALK = """Add the salt.
Please hello.
Mix your salt.
Preheat the oven now.
Preheat your oven now.
Preheat a pan now.
Preheat an oven now.
To reset it, open the settings.
To reset, open the
It should be enjoyed.
It shouldn't be enjoyed.
Oslo is beautiful.
Oslo is very beautiful.
is very beautiful
Taste is subjective.
It is personal.
It is taste.
It is opinion.
is one two three taste
It came to me.
It was seen by myself.
Ada may have died.
Ada might have died.
Ada could have died.
Ada might be old.
Ada may have been old."""
STATED = """First
Preheat the
Hundred a day was paid.
Painting the wall was new.
Nightly the town sang.
Cats the town had.
Preheat the Oslo oven.
To open the settings was new.
To his joy, all the towns grew.
To his joy, open towns grew.
Oslo is beautiful in 1905.
Very beautiful it is
A beautiful town is old.
A beautiful town grew.
Ada wrote on taste.
is one two three four taste
A me-too drug was sold.
Ada may die.
Ada may have died, although ill.
It should grow.
Ada might be known.
Ada may have old.
There might be need of it.
Ada may have died and was old."""


@pytest.mark.parametrize(
    ("text", "talk"),
    [(text, True) for text in TALK.split("\n")]
    + [(f"{word} add the salt.", True) for word in POLITE]
    + [(text, False) for text in STATED.split("\n")],
)
def test_a_sentence_that_only_talks(text: str, talk: bool) -> None:
    assert is_talk(wording_of(text)) is talk


def test_a_part_that_begins_as_its_sentence_does_not_instruct() -> None:
    assert not is_talk(wording_of("Add the salt."), opens=False)


WORDINGS = """1. Ada was born. => Ada was born.
However, ada was born. => Ada was born.
**Ada** was [born](http://a.example).[1] => Ada was born."""


@pytest.mark.parametrize(("text", "words"), table(WORDINGS))
def test_a_sentence_is_read_without_what_surrounds_it(text: str, words: str) -> None:
    assert wording(text) == wording_of(words)


HERE = Path(__file__).parent


@pytest.mark.parametrize("sentence", [row[0] for row in cases(HERE / "abstentions.txt")])
def test_an_abstention_makes_no_claim(sentence: str) -> None:
    sentence_wording = wording(sentence)
    assert abstains(sentence) or not is_claim(sentence, sentence_wording)


FOREIGN = """Das weiß ich nicht.
Es tut mir leid, dazu habe ich keine Informationen.
Die Frage kann anhand des Textes nicht beantwortet werden.
Der Kontext enthält keine Informationen dazu.
Keine Angabe.
Je ne sais pas.
Désolé, je ne trouve pas cette information.
Le contexte ne mentionne pas la date.
Aucune information disponible.
No lo sé.
Lo siento, no tengo información sobre eso.
El contexto no menciona la fecha.
Non lo so.
Mi dispiace, non ho informazioni.
Il testo non menziona la data.
Não sei.
Desculpe, não tenho informações.
O texto não menciona a data.
Dat weet ik niet.
De tekst vermeldt dit niet.
Geen informatie beschikbaar."""
STATED = """Oslo ist die Hauptstadt Norwegens.
Der Dom wurde nicht zerstört.
Die Firma hat keine Filialen in Kanada.
La ville n'a pas de métro.
La ciudad no tiene metro.
La città non ha una metropolitana.
A cidade não tem metrô.
De stad heeft geen metro.
Das Dokument wurde 1990 unterzeichnet."""


@pytest.mark.parametrize("sentence", FOREIGN.split("\n"))
def test_an_abstention_in_another_language(sentence: str) -> None:
    assert abstains(sentence, english=False)


@pytest.mark.parametrize("sentence", STATED.split("\n"))
def test_a_negation_in_another_language_is_no_abstention(sentence: str) -> None:
    assert not abstains(sentence, english=False)


def test_of_the_words_of_another_language_english_has_none() -> None:
    assert not abstains("Das weiß ich nicht.")
