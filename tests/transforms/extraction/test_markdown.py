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


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("- Born in Warsaw, Poland", "Marie Curie was born in Warsaw, Poland"),
        ("- **Won** two Nobel Prizes", "Marie Curie won two Nobel Prizes"),
        ("2. Died of anemia", "Marie Curie died of anemia"),
        ("- Awarded the Davy Medal", "Marie Curie was awarded the Davy Medal"),
        ("- Has two daughters", "Marie Curie has two daughters"),
        ("- Founded in haste", "Marie Curie: founded in haste"),
        ("* First woman to win the prize", "Marie Curie: first woman to win the prize"),
        ("- Married to Pierre Curie", "Marie Curie was married to Pierre Curie"),
        ("- Married Pierre Curie", "Marie Curie married Pierre Curie"),
        ("- She taught in Paris", "Marie Curie taught in Paris"),
    ],
)
def test_an_item_names_the_subject_of_its_heading(line: str, claim: str) -> None:
    assert said(f"## Marie Curie\n{line}\n") == {line: [f"{claim}."]}
    assert claim not in str(said(line))
    own = "- Alfred Nobel founded it"
    assert said(f"## Marie Curie\n{own}") == {own: ["Alfred Nobel founded it."]}


def test_a_row_names_its_row_and_its_column() -> None:
    head = "|---|---|---|\n"
    assert said(f"| Country | Capital | Size |\n{head}| France | Paris | 68 |") == {
        "| France | Paris | 68 |": ["The capital of France is Paris.", "The size of France is 68."]
    }
    assert said(f"| Feature | France | Oslo |\n{head}| Capital | Paris | - |") == {
        "| Capital | Paris | - |": ["The capital of France is Paris."]
    }
    assert said(f"| | France | Norway |\n{head}| Capital | Paris | Oslo |") == {
        "| Capital | Paris | Oslo |": ["Capital, France: Paris.", "Capital, Norway: Oslo."]
    }
    assert said("# Marie Curie\n| Year | Event |\n|---|---|\n| 1867 | Born in Warsaw |") == {
        "| 1867 | Born in Warsaw |": ["In 1867, Marie Curie was born in Warsaw."]
    }


def test_a_row_is_one_unit_where_sentences_are() -> None:
    rows = ["| Name | Born | Field |", "| Ada Lovelace | 1815 | mathematics |"]
    (found,) = extract_sentences(rows)
    assert found.claim == "Ada Lovelace was born in 1815. The field of Ada Lovelace is mathematics."
