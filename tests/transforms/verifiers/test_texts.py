"""Claims and passages as they are compared: their parts, names and negations, and what is said."""

import pytest

from ufo.transforms.verifiers.texts import ReadClaim, ReadClause, ReadPassage, match, segment
from ufo.transforms.verifiers.verifier import Pair


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        pytest.param("Ada never lived well", {"live": "never"}, id="the next content word"),
        pytest.param("never of the Oslo", {"oslo": "never"}, id="the third word after it"),
        pytest.param("never of the in Oslo", {}, id="the fourth word after it"),
        pytest.param("not only Oslo", {}, id="not only"),
        pytest.param("not, but Oslo", {}, id="not, but"),
        pytest.param("not just Oslo", {}, id="not just"),
        pytest.param("no rain", {"rain": "no"}, id="no"),
        pytest.param("No. 2 in Oslo", {}, id="a number that is named"),
    ],
)
def test_a_negation_denies_the_content_word_after_it(text: str, denied: dict[str, str]) -> None:
    assert ReadClause(text).denied() == denied


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("Late in Oslo", ["Oslo"], id="not the first word alone"),
        pytest.param("Ada lived", ["Ada"], id="the first word before a verb"),
        pytest.param("Late Oslo", ["Late Oslo"], id="the first word before a name"),
        *(
            pytest.param(f"{owner} cat", [owner], id=f"the owner {owner}")
            for owner in ("Ada's", "Ada’s")
        ),
        pytest.param("the University of Paris", ["University of Paris"], id="joined by of"),
        pytest.param("in Oslo, Bergen", ["Oslo", "Bergen"], id="parted by a comma"),
        pytest.param("in Oslo, Ada Berg", ["Oslo", "Ada Berg"], id="two words after a comma"),
    ],
)
def test_names_are_capitalised_words(text: str, names: list[str]) -> None:
    clause = ReadClause(text)
    read_names = [" ".join(one.surface for one in clause.words[at:end]) for at, end in clause.names]
    assert read_names == names


@pytest.mark.parametrize(
    ("text", "subject", "named"),
    [
        pytest.param("In 1990 the writer lived", ["writer"], [], id="no number"),
        pytest.param(
            "The University of Paris grew",
            ["University", "Paris"],
            ["University", "Paris"],
            id="no function word of a name",
        ),
        pytest.param("went to Oslo", ["went", "Oslo"], ["Oslo"], id="a verb that comes first"),
    ],
)
def test_the_subject_stands_before_the_verb(
    text: str, subject: list[str], named: list[str]
) -> None:
    clause = ReadClause(text)
    assert [one.surface for one in clause.subject()] == subject
    assert [one.surface for one in clause.subject_names()] == named


@pytest.mark.parametrize(
    ("mask", "parts"),
    [
        ("everything", "Ada Berg lived Oslo 1990"),
        ("named", "Ada Berg Oslo"),
        ("predicate", "lived Oslo 1990"),
        ("end", "lived 1990 Oslo"),
        ("numbered", "1990"),
        ("last", "Oslo"),
    ],
)
def test_the_parts_of_a_claim(mask: str, parts: str) -> None:
    claim = ReadClaim("Ada Berg lived in 1990 in Oslo.")
    there = [claim.text(k) for k in range(len(claim.places)) if getattr(claim, mask) >> k & 1]
    assert sorted(there) == sorted(parts.split())


def test_the_predicate_of_a_claim_without_a_verb_is_its_second_half() -> None:
    claim = ReadClaim("Ada Berg")
    assert claim.predicate == claim.end == 0b10


@pytest.mark.parametrize(
    ("text", "about"),
    [
        pytest.param("The writer Ada lived.", {"ada"}, id="a name"),
        pytest.param("The writer lived.", {"writer"}, id="other words"),
        pytest.param("Ada's writer lived.", {"writer"}, id="what a name owns"),
    ],
)
def test_what_a_claim_is_about(text: str, about: set[str]) -> None:
    assert ReadClaim(text).about == about


def test_a_claim_is_read_up_to_400_words() -> None:
    assert len(ReadClaim("so " * 401).words) == 400


def test_a_title_is_known_by_its_content_words() -> None:
    assert ReadPassage("", "The Oslo of 1990").title == {"oslo", "1990 number"}


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        pytest.param("Works\nShe wrote.", ["Works", "She wrote."], id="a heading"),
        pytest.param("She wrote\nbooks.", ["She wrote\nbooks."], id="a wrapped line"),
        pytest.param("One is.\n\n\nTwo is.", ["One is.", "Two is."], id="empty lines"),
    ],
)
def test_a_line_is_a_sentence_unless_the_next_goes_on(text: str, sentences: list[str]) -> None:
    assert segment(text) == sentences


CLAIM = "Ada lived in Oslo in 1990."  # its parts: ada 1, lived 2, oslo 4, 1990 8


@pytest.mark.parametrize(
    ("passage", "title", "masks", "best"),
    [
        pytest.param("Oslo grew. Ada lived.", "", [4, 3], 1, id="each sentence has its own"),
        pytest.param("Rain fell. It was so.", "", [0, 0], -1, id="nothing"),
        pytest.param("Rain fell.", "Ada in 1990", [9], 0, id="a title"),
        pytest.param("Rain fell.", "Ada in 1991", [1], 0, id="a title of another year"),
        pytest.param("Rain fell.", "Ada in the 1990s", [1], 0, id="a title of a decade"),
        pytest.param("Rain fell in 1990 cases.", "", [8], 0, id="a number"),
        pytest.param("Ada lived. ... So it is.", "", [3, 0, 0], 0, id="a sentence of no words"),
        *(
            pytest.param(f"Ada grew in Oslo. {word} lived.", "", [5, 3], 0, id=f"{word} is Ada")
            for word in ("He", "She", "It", "They", "His", "Her", "Its", "Their")
        ),
        pytest.param("Ada grew in Oslo. So lived.", "", [5, 2], 0, id="another word is not"),
    ],
)
def test_each_sentence_has_the_parts_that_it_says(
    passage: str, title: str, masks: list[int], best: int
) -> None:
    matched = match(Pair(CLAIM, passage, title))
    assert matched.masks == masks
    assert matched.best == best
