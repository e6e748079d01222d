import pytest

from ufo.transforms.extraction.by_rules import extract, extract_sentences
from ufo.transforms.sentences import segment

TEXT = """# Marie Curie

- **Born**: 7 November 1867 in Warsaw
- **Nationality:** *Polish*
- Field: Physics and chemistry
* Date of death: 4 July 1934
- **Polonium**: a metal, which she discovered
- **Prize**: She won the Nobel Prize in 1903.

## Early life
She was **born** in *Warsaw* and ~~not~~ in [Poland](https://x.y/z).

| Name | Born | Field |
|------|:----:|-------|
| Ada Lovelace | 1815 | mathematics |
| Alan Turing | London | - |

# Alan Turing
1. **Died**: 1954
"""


def said(text: str, question: str | None = None) -> dict[str, list[str]]:
    spans = segment(text)
    sentences = [text[span.start : span.end] for span in spans]
    found: dict[str, list[str]] = {}
    for one in extract(sentences, question):
        found.setdefault(sentences[one.sentence_index], []).append(one.claim)
    return found


def test_lines_say_what_they_say_of_the_heading() -> None:
    assert said(TEXT) == {
        "- **Born**: 7 November 1867 in Warsaw": [
            "Marie Curie was born on 7 November 1867 in Warsaw."
        ],
        "- **Nationality:** *Polish*": ["The nationality of Marie Curie is Polish."],
        "- Field: Physics and chemistry": ["The field of Marie Curie is Physics and chemistry."],
        "* Date of death: 4 July 1934": ["Marie Curie died on 4 July 1934."],
        "- **Polonium**: a metal, which she discovered": [
            "Polonium is a metal, which she discovered."
        ],
        "- **Prize**: She won the Nobel Prize in 1903.": [
            "Prize: She won the Nobel Prize in 1903."
        ],
        "She was **born** in *Warsaw* and ~~not~~ in [Poland](https://x.y/z).": [
            "Marie Curie was born in Warsaw and not in Poland."
        ],
        "| Ada Lovelace | 1815 | mathematics |": [
            "Ada Lovelace was born in 1815.",
            "The field of Ada Lovelace is mathematics.",
        ],
        "| Alan Turing | London | - |": ["Alan Turing was born in London."],
        "1. **Died**: 1954": ["Alan Turing died in 1954."],
    }


@pytest.mark.parametrize(
    ("text", "question", "claim"),
    [
        ("- **Born**: 1867 in Warsaw", None, "Born: 1867 in Warsaw."),
        ("- **Born**: 1867", "Who was Marie Curie?", "Marie Curie was born in 1867."),
        (
            "Marie Curie was a physicist.\n\n| Fact | Value |\n|--|--|\n| Birthplace | Warsaw |",
            None,
            "Marie Curie was born in Warsaw.",
        ),
    ],
)
def test_what_a_line_is_about_may_be_told_elsewhere(
    text: str, question: str | None, claim: str
) -> None:
    assert list(said(text, question).values())[-1] == [claim]


def test_a_row_is_one_unit_where_sentences_are() -> None:
    rows = ["| Name | Born | Field |", "| Ada Lovelace | 1815 | mathematics |"]
    (found,) = extract_sentences(rows)
    assert found.claim == "Ada Lovelace was born in 1815. The field of Ada Lovelace is mathematics."
