"""What a word stands for comes from its own section, or it stays as it is."""

import pytest

from ufo.transforms.extraction.by_rules import extract, paragraph_starts
from ufo.transforms.sentences import segment


def said(text: str, question: str | None = None) -> list[str]:
    spans = segment(text)
    sentences = [text[span.start : span.end] for span in spans]
    return [unit.claim for unit in extract(sentences, question, paragraph_starts(text, spans))]


BIOGRAPHY = """# Marie Holm

Marie Holm was a chemist. She was born in Oslo.

## Early life

She studied in Paris. Her father was a teacher. He died in 1900. She returned to Oslo.
Her sister was a nurse. She died in 1910.

## Jan Holm

He was a French physicist. His work was praised.

## Polonium Discovery

She found it in 1898.

- **Year**: 1898

## Legacy

She is remembered in Oslo. Some of her letters were printed in 1950.

- **Died**: 1934

| Year | Award |
|---|---|
| 1903 | the Holm Prize |
| 1911 | Nobel Prize |
"""


def test_each_section_has_its_own_subject() -> None:
    assert said(BIOGRAPHY) == [
        "Marie Holm was a chemist.",
        "Marie Holm was born in Oslo.",
        "Marie Holm studied in Paris.",
        "Marie Holm's father was a teacher.",
        "He died in 1900.",
        "Marie Holm returned to Oslo.",
        "Marie Holm's sister was a nurse.",
        "She died in 1910.",
        "Jan Holm was French.",
        "Jan Holm was a physicist.",
        "Jan Holm's work was praised.",
        "She found it in 1898.",
        "The year of Polonium Discovery is 1898.",
        "Marie Holm is remembered in Oslo.",
        "Some of Marie Holm's letters were printed in 1950.",
        "Marie Holm died in 1934.",
        "The award of Marie Holm in 1903 is the Holm Prize.",
        "The award of Marie Holm in 1911 is Nobel Prize.",
    ]


def test_a_heading_is_no_subject_of_another_section() -> None:
    text = (
        "## Nils Dahl\n\nHe was a painter.\n\n## Jan Holm\n\n- **Died**: 1900\n\n"
        "## Later life\n\nHe sang."
    )
    assert said(text) == ["Nils Dahl was a painter.", "Jan Holm died in 1900.", "He sang."]
    bold = "**Early life**\n\nHe sang.\n\n**Nils Dahl**\n\nHe was a painter from Oslo."
    assert said(bold, "Who was Jan Holm?") == [
        "Jan Holm sang.",
        "Nils Dahl was a painter from Oslo.",
    ]


def test_of_two_people_none_is_guessed() -> None:
    text = (
        "Jan Holm and Nils Dahl were painters. Jan Holm was born in Oslo. Nils Dahl was born in"
        " Bergen. He died in 1900.\n\nHe was known for landscapes."
    )
    assert said(text)[3:] == ["Nils Dahl died in 1900.", "He was known for landscapes."]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "The Sea is a 1990 film. The film won two prizes. The film's score was praised.",
            ["The Sea won two prizes.", "The Sea's score was praised."],
        ),
        (
            "Holmsoft is a software company in Oslo. The company has 200 employees.",
            ["Holmsoft has 200 employees."],
        ),
        (
            'The Sea is a film. The film "Vik" is old. The film won a prize.',
            ['The film "Vik" is old.', "The film won a prize."],
        ),
        (
            "Vik is a city. Dahl and Holm are other cities. The city is old.",
            ["Dahl and Holm are other cities.", "The city is old."],
        ),
        ("Vik is a city. The city council was founded.", ["The city council was founded."]),
    ],
)
def test_the_one_thing_of_a_kind_is_named(text: str, claims: list[str]) -> None:
    assert said(text)[1:] == claims


def test_an_item_introduces_whom_it_is_about() -> None:
    text = (
        "1. **Jan Holm** - He was a painter.\n2. **Nils Dahl**: He died in 1990.\n"
        '3. "The Sea" (1990) - This is a film.'
    )
    claims = ["Jan Holm was a painter.", "Nils Dahl died in 1990.", '"The Sea" (1990) is a film.']
    assert said(text) == claims


def test_refusals_and_instructions_are_no_claims() -> None:
    text = (
        "I'm sorry, but I can't help with that. As an AI language model, I don't have opinions."
        " As an AI, I cannot browse. Unfortunately, I don't have access to this.\n\n"
        "1. Preheat the oven to 200 degrees.\n2. Mix the flour and sugar.\n3. Whisk the eggs.\n"
        "4. **Use** a password manager.\n5. Enable two-factor authentication.\n"
        "6. **Updates**: Install the updates.\n7. Simmer the sauce for ten minutes.\n"
        "8. Add two eggs.\n9. To reset your password, open the settings.\n"
    )
    assert said(text) == []
    told = "Vitamin A is stored in fat. Ivan the Terrible was a tsar. Use of steel has increased."
    assert len(said(told)) == 3


def test_a_row_says_what_it_says_of_its_first_cell() -> None:
    text = (
        "Here are some:\n\n"
        "| # | Planet | Moons | Found |\n|--|--|--|--|\n| 1 | Mars | 2 | 1877 |\n\n"
        "| Country | Capital |\n|--|--|\n| Norway | Oslo |\n\n"
        "| Name | Known for |\n|--|--|\n| Ada Berg | She discovered berium. |\n"
        "| Jan Holm | the Holm model |\n"
    )
    assert said(text) == [
        "The moons of Mars is 2.",
        "The found of Mars is 1877.",
        "The capital of Norway is Oslo.",
        "Ada Berg, known for: She discovered berium.",
        "Jan Holm is known for the Holm model.",
    ]
