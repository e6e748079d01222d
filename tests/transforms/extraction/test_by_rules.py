"""Claims and queries of sentences and responses, by the rules of English."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas.records import InputRecord
from ufo.transforms.english.grammar import word_set
from ufo.transforms.extraction import by_rules
from ufo.transforms.extraction.by_rules import ExtractedUnit, extract_record, only_abstains
from ufo.transforms.extraction.claims import as_sentence, split
from ufo.transforms.extraction.clause import Wording, wording
from ufo.transforms.extraction.marks import stated_lines
from ufo.transforms.sentences import Span, segment

HERE = Path(__file__).parent


def extract(text: str, question: str | None = None, whole: bool = False) -> list[ExtractedUnit]:
    record = InputRecord("k", "r", text, question=question, language="en")
    return extract_record(record, segment(text), whole)


def claims_in(text: str, question: str | None = None) -> list[str]:
    spans, units = segment(text), extract(text, question)
    places = [unit.sentence_index for unit in units]
    assert places == sorted(places)
    assert all(0 <= place < len(spans) for place in places)
    assert all(unit.query for unit in units)
    return [unit.claim for unit in units]


def claims_of(sentence: str) -> list[str]:
    record = InputRecord("k", "r", sentence, language="en")
    return [unit.claim for unit in extract_record(record, [Span(0, len(sentence))])]


@pytest.mark.parametrize(("sentence", "claims"), cases(HERE / "claims.txt"))
def test_the_claims_of_a_sentence(sentence: str, claims: str) -> None:
    assert " | ".join(claims_of(sentence)) == claims


@pytest.mark.parametrize(
    ("question", "text", "claims"),
    cases(HERE / "responses.txt"),
    ids=lambda cell: cell[:40] or "nothing",
)
def test_claims_stand_by_themselves_in_a_response(question: str, text: str, claims: str) -> None:
    assert " | ".join(claims_in(text, question or None)) == claims


@pytest.mark.parametrize(("claim", "query"), cases(HERE / "queries.txt"))
def test_what_is_asked_about_a_claim(claim: str, query: str) -> None:
    assert by_rules.query_of(claim) == query


ELEVEN = " ".join(["Ada", *"bcdefghjkl"])


@pytest.mark.parametrize(
    ("claim", "query"),
    [
        ("Steel has increased since 1900.", "Has Steel increased since 1900?"),
        ("The cats have two tails.", "Do the cats have two tails?"),
        ("The works include two films.", "Do the works include two films?"),
        ("Ada has two films.", "Does Ada have two films?"),
        ("Ada moves to Oslo in 1905.", "Does Ada move to Oslo in 1905?"),
        ("Ada did not die in 1905.", "Did Ada not die in 1905?"),
        ("Ada was old in 1905.", "Was Ada old in 1905?"),
        ("Holm Has moved to Oslo.", "Did Holm Has move to Oslo?"),
        ("Ada has not yet won it.", "Has Ada not yet won it?"),
        ("Ada has not yet quite won it.", "Does Ada have not yet quite won it?"),
        ("The tools developed by Ada.", "tools developed Ada"),
        ("Oslo grew.", "Oslo grew"),
        ("Oslo , grew.", "Oslo grew"),
        ("Ada Berg: moved to Oslo.", "Ada Berg moved Oslo"),
        ("Ada who died was old.", "Ada died old"),
        ("-", "-"),
        pytest.param(f"{ELEVEN} moved on.", f"Did {ELEVEN} move on?", id="a subject of 11 words"),
        pytest.param(f"{ELEVEN} m moved on.", f"{ELEVEN} m moved", id="a subject of 12 words"),
    ],
)
def test_what_is_asked_follows_the_verb(claim: str, query: str) -> None:
    assert by_rules.query_of(claim) == query


def test_nothing_is_asked_about_no_words() -> None:
    assert by_rules.query_of_wording(Wording([], [])) == ""


def test_a_whole_sentence_is_asked_about_as_a_claim_is() -> None:
    (unit,) = extract("Ada Berg moved to Oslo in 1905.", whole=True)
    assert unit.query == "When did Ada Berg move to Oslo?"


TOLD = "Ada Berg moved to Oslo in 1905 and died in 1950."


@pytest.mark.parametrize(
    ("text", "language", "whole", "claims"),
    [
        (TOLD, "en", False, ["Ada Berg moved to Oslo in 1905.", "Ada Berg died in 1950."]),
        (TOLD, None, True, [TOLD]),
        (TOLD, "de", False, [TOLD]),
        ("Ada ging. Sie kam.", "de", True, ["Ada ging.", "Sie kam."]),
        ("He died in 1950.", None, False, ["Jan Holm died in 1950."]),
    ],
    ids=["English", "whole sentences", "another language", "two sentences", "an answer"],
)
def test_the_claims_of_a_response(
    text: str, language: str | None, whole: bool, claims: list[str]
) -> None:
    record = InputRecord("k", "r", text, question="Who was Jan Holm?", language=language)
    assert [one.claim for one in extract_record(record, segment(text), whole)] == claims


def test_another_language_s_sentences_are_asked_about_as_they_are() -> None:
    record = InputRecord("k", "r", "Ada ging. Sie kam.", language="de")
    units = extract_record(record, segment(record.text))
    assert [tuple(one) for one in units] == [
        (0, "Ada ging.", "Ada ging."),
        (1, "Sie kam.", "Sie kam."),
    ]


@pytest.mark.parametrize(
    ("between", "starts"),
    [("\n", [0]), ("\n\n", [0, 1]), ("\r", [0]), ("\r\r", [0, 1]), ("\r\n", [0])],
    ids=ascii,
)
def test_a_blank_line_begins_a_paragraph(between: str, starts: list[int]) -> None:
    text = f"One is.{between}Two is."
    lines = stated_lines(text, segment(text))
    assert [line.sentence for line in lines if line.is_paragraph] == starts


@pytest.mark.parametrize(
    ("question", "text", "claims"),
    [
        ("Who was Ada Berg?", "# Jan Holm\n\nHe was a poet.", ["Jan Holm was a poet."]),
        (
            "Who was Ada Berg?",
            "## Life\n\nHe won.\n\n## Jan Holm\n\nHe won.",
            ["Ada Berg won.", "He won."],
        ),
        ("Tell me about Oslo", "# Oslo\n\nIt was big.", ["Oslo was big."]),
        (
            None,
            "Queen Ada ruled Oslo. He was sad.",
            ["Queen Ada ruled Oslo.", "Queen Ada was sad."],
        ),
    ],
    ids=["a heading", "the heading of another", "a thing", "a title"],
)
def test_whom_an_answer_is_about(question: str | None, text: str, claims: list[str]) -> None:
    assert claims_in(text, question) == claims


MEANT: dict[str, tuple[str | None, str, str]] = {
    "another with a sister": (
        "Tell me about Oslo.",
        "Her sister Eva Berg met Nils Dahl. Berg's house was old.",
        "Oslo's sister Eva Berg met Nils Dahl. | Eva Berg's house was old.",
    ),
    "a river": (
        "Is Ada Berg Jr. old?",
        "# Holm River\n\nHe was ill. It is known.",
        "He was ill. | It is known.",
    ),
    "a last name": (
        None,
        "His father died in 1950. Berg is a film. Her father died in 1950.",
        "His father died in 1950. | Berg is a film. | Berg's father died in 1950.",
    ),
    "a house of his": (
        "Who was Holm?",
        "Holm's house is known. Its harbour is known.",
        "Holm's house is known. | Its harbour is known.",
    ),
    "one who is named after the question": (
        "Who was Ada Berg?",
        "Bo Ek left for Paris. She has two sons.",
        "Bo Ek left for Paris. | Bo Ek has two sons.",
    ),
    "another whose father it is": (
        "Who was Ada Berg?",
        "Jan Holm, a poet, wrote Emma. His father was named after Jan Holm.",
        "Jan Holm was a poet. | Jan Holm wrote Emma. | His father was named after Jan Holm.",
    ),
    "a heading with a number": (
        "Is Ada Berg Jr. old?",
        "# Ada Berg II\n\nThe writer is known. He was born in Oslo.",
        "The writer is known. | Ada Berg II was born in Oslo.",
    ),
    "a thing before his work": (
        "Is Ada Berg Jr. old?",
        "Titanic is known. His work was a novel.",
        "Titanic is known. | His work was a novel.",
    ),
    "a longer name and a disease": (
        "Who was Ada Berg?",
        "Ada Maria Berg moved to Oslo. Berg disease is known. Berg moved on.",
        "Ada Maria Berg moved to Oslo. | Berg disease is known. | Ada Berg moved on.",
    ),
    "a number after the name": (
        "Who was Ada Berg?",
        "Berg 2 was old. Berg’s house was old.",
        "Berg 2 was old. | Ada Berg’s house was old.",
    ),
    "two people": (
        None,
        "Ada Berg and Jan Holm met. Berg was a poet. He was old.",
        "Ada Berg and Jan Holm met. | Berg was a poet. | Berg was old.",
    ),
    "many of them": (
        None,
        "Many of the poets were old. They met in Oslo.",
        "Many of the poets were old. | The poets met in Oslo.",
    ),
    **{
        f"{word} epic": (
            None,
            f"Titanic is {word} epic. The epic was praised.",
            f"Titanic is {word} epic. | {meant} was praised.",
        )
        for word, meant in zip(
            ("a", "an", "the", "his"), (*["Titanic"] * 3, "The epic"), strict=True
        )
    },
}


@pytest.mark.parametrize(("question", "text", "claims"), MEANT.values(), ids=MEANT)
def test_whom_a_word_means(question: str | None, text: str, claims: str) -> None:
    assert " | ".join(claims_in(text, question)) == claims


def test_of_two_people_none_is_guessed() -> None:
    claims = claims_in("Ada Berg was a chemist. Jan Holm met Nils Dahl. He was impressed.")
    assert claims[1:] == ["Jan Holm met Nils Dahl.", "He was impressed."]


OPENINGS = """Still First Last Then Today Now Soon Only Often Perhaps Once Nearby Such More Never
    Meanwhile Originally Internationally Subsequently Afterwards Although When Hello"""


@pytest.mark.parametrize("word", OPENINGS.split())
def test_what_only_opens_a_sentence_is_no_subject(word: str) -> None:
    assert word not in claims_in(f"{word} was the prize. It was in Oslo.")[-1]
    assert word not in claims_in(f"{word} came the album. He was praised.")[-1]
    assert word not in claims_in(f"{word}, the prize was lost. He was sad.")[-1]


BIOGRAPHY = """Sure! Here is a short biography:

Ada Berg was a chemist. She was born in Oslo in 1950 and died in Paris.

- In 1990, she won the Holm Prize.
- Is she known?

I hope this helps!"""


def test_claims_know_their_sentence_and_whole_sentences_are_units_too() -> None:
    assert [tuple(unit) for unit in extract(BIOGRAPHY)][:3] == [
        (2, "Ada Berg was a chemist.", "Was Ada Berg a chemist?"),
        (3, "Ada Berg was born in Oslo.", "Where was Ada Berg born?"),
        (3, "Ada Berg was born in 1950.", "When was Ada Berg born?"),
    ]
    assert [unit.claim for unit in extract(BIOGRAPHY, whole=True)] == [
        "Ada Berg was a chemist.",
        "Ada Berg was born in Oslo in 1950 and died in Paris.",
        "In 1990, Ada Berg won the Holm Prize.",
    ]
    rows = "| Name | Born | Field |\n| Ada Lovelace | 1815 | mathematics |"
    (extracted,) = extract(rows, whole=True)
    assert (
        extracted.claim
        == "Ada Lovelace was born in 1815. The field of Ada Lovelace is mathematics."
    )
    assert extract("") == extract("", "Who?", whole=True) == []
    assert stated_lines("", []) == []
    text = "One is. Two is.\n\nThree is.\nFour is.\r\n\r\nFive is."
    lines = stated_lines(text, segment(text))
    assert [line.sentence for line in lines if line.is_paragraph] == [0, 2, 4]


@given(st.text(max_size=200), st.none() | st.text(max_size=40))
def test_any_text_is_taken(text: str, question: str | None) -> None:
    assert all(claim == claim.strip() != "" for claim in claims_in(text, question))
    assert by_rules.query_of(text) or not text.strip()


MARKS_ALONE = {
    ", the clinic helps people.": ["The clinic helps people."],
    "( was lost in Oslo.": ["( was lost in Oslo."],
    "“ is the first sign.": ["“ is the first sign."],
    "# Ada Berg\n- a) : 1867": [],
}


@pytest.mark.parametrize(("text", "claims"), MARKS_ALONE.items(), ids=repr)
def test_a_mark_in_place_of_a_word_or_label_is_read(text: str, claims: list[str]) -> None:
    assert claims_in(text) == claims_in(text, "Who is Ada Berg?") == claims


def test_long_texts_are_extracted_as_their_parts_are_and_a_monster_stays_whole() -> None:
    paragraph = "Ada Berg was a chemist. She was born in Oslo and died in Paris.\n\n"
    assert len(claims_in(paragraph * 3_000)) == 3_000 * len(claims_in(paragraph))
    names = " ".join(f"Ada{number} Berg{number} was a chemist." for number in range(2_000))
    assert len(extract(names)) == 2_000
    monster = "Berg " + "was here and " * 5_000 + "left."
    assert claims_of(monster) == [monster]


DROPPED = word_set(
    "this and but while whereas although because he she who which that it they his her their its or"
    " such as including"
)
PARTS = """Ada Berg|Jan Holm|The tower|Oslo|, who was|, which is|, a chemist,|and|, and|but|; |
was born|is a|was an|died|won|has|has written|in 1921|on 3 May 1946|two prizes|in Paris, France|he|
she|it|moved to|(born 1950)|(1879–1955)|known for|actor|Norwegian author|author, singer|films|"Foo"|
the|. |, the capital,|Born in Oslo,|In 1905,|which|that|not|later|and was|-|such as|, including|
several prizes|– appointed|- This is|his work""".replace("\n", "").split("|")


def content(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)} - DROPPED


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*PARTS, ",", "(", ")", "“", "…", "—", "the", "people"])))
def test_marks_may_stand_at_any_place(parts: list[str]) -> None:
    for question in (None, "Who is Ada Berg?"):
        assert all(claims_in(" ".join(parts), question))


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=14).map(" ".join))
def test_no_word_is_lost_whatever_is_said(sentence: str) -> None:
    claims = [as_sentence(claim.words) for claim in split(wording(sentence))]
    assert bool(claims) == bool(re.search(r"\w", sentence))
    assert content(sentence) <= content(" ".join(claims))


def test_another_language_has_no_claims_that_are_only_marks() -> None:
    text = "Ada ging.[^1]\n\nhttps://example.org\n\n$$F = ma$$\n\n<b>Sie</b> kam.\n\n[^1]: Dahl."
    record = InputRecord("k", "r", text, language="de")
    claims = [unit.claim for unit in extract_record(record, segment(text))]
    assert claims == ["Ada ging.", "Sie kam."]


SOUP = st.lists(
    st.sampled_from(
        [
            "- ",
            "  - ",
            "1. ",
            "# ",
            "> ",
            "| ",
            "|",
            "\n",
            "\n\n",
            "**",
            "*",
            "`",
            "```\n",
            "$$",
            "\\[",
            "<b>",
            "</b>",
            "<!--",
            "[1]",
            "[^1]: ",
            "[ ] ",
            "(https://x.y)",
            "Ada Berg",
            " was",
            " born in Oslo",
            " is",
            ":",
            ". ",
            "; (2) ",
            " - ",
            "The founders are:",
            "Sources:",
            "Name: ",
            "a,b",
            "a | b",
            "\t",
            "¹",
            "&amp;",
            "www.x.y",
            "---\n",
            "===\n",
            "Hi Ada,\n",
            "1903",
            "!",
            "?",
            "She",
            " include",
            "=",
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=300)
@given(SOUP)
def test_any_markdown_is_read(text: str) -> None:
    spans = segment(text)
    units = extract_record(InputRecord("k", "r", text, language="en"), spans)
    assert all(unit.claim.strip() for unit in units)
    assert all(0 <= unit.sentence_index < len(spans) for unit in units)


@pytest.mark.parametrize("row", cases(HERE / "abstentions.txt"), ids=lambda row: row[0][:40])
def test_a_response_that_only_abstains_has_no_claim(row: list[str]) -> None:
    assert claims_in(row[0]) == []


@pytest.mark.parametrize(
    ("text", "language", "abstains"),
    [
        pytest.param("I don't know.", None, True, id="one sentence"),
        pytest.param("Sorry! I don't know. Ask a doctor.", None, True, id="beside no claim"),
        pytest.param("I don't know. Oslo is in Norway.", None, False, id="beside a claim"),
        pytest.param("Hello there!", None, False, id="no claim, and no abstention"),
        pytest.param("Das weiß ich nicht.", "de", True, id="in another language"),
        pytest.param("Oslo liegt in Norwegen.", "de", False, id="a claim in another language"),
    ],
)
def test_a_text_abstains_if_it_says_nothing_else(
    text: str, language: str | None, abstains: bool
) -> None:
    assert only_abstains(text, language) == abstains


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("One of the songs was a hit. It was old.", ["One of the songs was a hit.", "It was old."]),
        ("One was a hit. It was old.", ["One was a hit.", "It was old."]),
        ("The Sea was a hit. It was old.", ["The Sea was a hit.", "The Sea was old."]),
    ],
)
def test_one_of_several_is_not_all_of_them(text: str, claims: list[str]) -> None:
    assert claims_in(text) == claims


def test_an_abstention_in_another_language_makes_no_claim() -> None:
    text = "Das weiß ich nicht. Oslo liegt in Norwegen."
    record = InputRecord("k", "r", text, language="de")
    assert [unit.claim for unit in extract_record(record, segment(text))] == [
        "Oslo liegt in Norwegen."
    ]
