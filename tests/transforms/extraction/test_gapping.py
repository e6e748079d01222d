"""Parts of a sentence that leave out the verb: completed, or the sentence stays whole."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.records import InputRecord
from ufo.transforms.extraction.by_rules import extract_record
from ufo.transforms.sentences import segment

SUBJECTS = ["Ada Berg", "Jan Holm", "Eva Lund", "Nils Dahl", "Oslo", "Bergen", "the old bridge"]
SUBJECTS += ["the new tower", "the Holm Company", "the young king", "Vik", "the first film"]
WHERE = ["London", "Paris", "New York", "Rome", "Leeds", "Hull", "Cape Town", "Lima"]
WHEN = ["1867", "1859", "1934", "1906", "1990", "2001", "May 1812", "June 1777"]
COUNT = ["12", "67 million", "2,000", "345", "8.5 million", "41", "900", "78"]
WHAT = ["the Holm Prize", "the Berg Medal", "the Lund Award", "the Dahl Cup"]
WHAT += ["the Oak Prize", "the Elm Medal", "the Ash Award", "the Fir Cup"]
WHO = [
    "Amy Pond",
    "Rex Moss",
    "Ida Falk",
    "Tor Lie",
    "Mia Sand",
    "Ole Vang",
    "Liv Hagen",
    "Per Moe",
]
# What follows each verb: the same for all parts of a sentence.
PREDICATES = {
    "was born": ["in {where}", "in {when}", "in {where} in {when}", "in {when} in {where}"],
    "was founded": [
        "in {when}",
        "in {where} in {when}",
        "in {when} by {who}",
        "by {who} in {when}",
    ],
    "was opened": ["by {who} in {when}", "by {who}", "in {when} by {who} in {where}"],
    "married": ["{who} in {when}", "{who}", "{who} in {where}"],
    "sang": ["with {who} in {where}", "for {who} until {when}"],
    "died": ["in {when}", "in {where} in {when}"],
    "lived": ["in {where} until {when}", "in {where}", "in {where} from {when}"],
    "moved": ["to {where}", "to {where} in {when}", "from {where} in {when}"],
    "was elected": ["mayor in {when}", "mayor of {where} in {when}"],
    "has": ["{count} members", "{count} members in {where}"],
    "sold": ["{count} copies in {when}", "{count} copies in {where}"],
    "won": ["{what} in {when}", "{what}", "{what} in {where}"],
    "is": ["the capital of {where}", "in {where}", "{count} metres high"],
    "worked": ["in {where} as a teacher", "for {what} in {when}"],
    "later became": ["a teacher in {where}", "a teacher in {when}"],
}
JOINTS = [" and ", ", and ", "; ", ", while ", " while ", ", whereas ", ", but "]


class Part(NamedTuple):
    """A part of a sentence: its own subject or "", and the names and numbers that belong to it."""

    subject: str
    told: list[str]
    text: str


@st.composite
def coordinated(draw: st.DrawFn) -> tuple[str, list[Part]]:
    """Return a sentence of two to four parts, some without a subject, some without a verb."""
    number = draw(st.integers(2, 4))
    rows = [draw(st.permutations(names)) for names in (SUBJECTS, WHERE, WHEN, COUNT, WHAT, WHO)]
    verb = draw(st.sampled_from(sorted(PREDICATES)))
    shape = draw(st.sampled_from(PREDICATES[verb]))
    shared, gapped = draw(st.booleans()), draw(st.booleans())
    parts = []
    for at, (subject, where, when, count, what, who) in enumerate(zip(*rows, strict=False)):
        if at == number:
            break
        fresh = at > 0 and draw(st.integers(0, 4)) == 0
        if fresh or (at and not gapped):
            verb = draw(st.sampled_from(sorted(PREDICATES)))
            shape = draw(st.sampled_from(PREDICATES[verb]))
        elif draw(st.integers(0, 3)) == 0:  # "in Oslo in 1867 and Jan in 1859"
            shape = draw(st.sampled_from(PREDICATES[verb]))
        ending = shape.format(where=where, when=when, count=count, what=what, who=who)
        details = [
            value for value in (where, when, count, what, who) if f" {value}" in f" {ending}"
        ]
        own = "" if at and shared else subject
        if own and at and gapped and not fresh and draw(st.integers(0, 4)) == 0:
            own += ","  # "and Jan, in Oslo"
        words = [own, "" if at and gapped and not fresh else verb, ending]
        parts.append(Part(own.rstrip(","), details, " ".join(filter(None, words))))
    between = draw(st.sampled_from([", ", "; "]))
    texts = [part.text for part in parts]
    joints = JOINTS[:2] if shared else JOINTS
    sentence = between.join(texts[:-1]) + draw(st.sampled_from(joints)) + texts[-1]
    return sentence[0].upper() + sentence[1:] + ".", parts


def has(claim: str, value: str) -> bool:
    return re.search(rf"(?<![\w,]){re.escape(value)}(?!\w|,\d)", claim, re.IGNORECASE) is not None


def mixed(claims: list[str], parts: list[Part]) -> Iterator[str]:
    """Yield each claim that says of one part what another part says."""
    for claim in claims:
        touched = [part for part in parts if any(has(claim, value) for value in part.told)]
        if len(touched) == 1:
            subject = touched[0].subject
            if subject and not has(claim, subject):
                yield claim
        # Of several parts a claim has all, as the sentence does.
        elif not all(has(claim, value) for part in touched for value in [*part.told, part.subject]):
            yield claim


def claims_of(text: str) -> list[str]:
    record = InputRecord("k", "r", text, language="en")
    return [unit.claim for unit in extract_record(record, segment(text))]


@given(coordinated())
def test_no_claim_takes_a_subject_and_what_is_said_from_different_parts(
    drawn: tuple[str, list[Part]],
) -> None:
    sentence, parts = drawn
    claims = claims_of(sentence)
    assert list(mixed(claims, parts)) == []


@given(coordinated())
def test_each_name_and_number_is_in_a_claim(drawn: tuple[str, list[Part]]) -> None:
    sentence, parts = drawn
    text = " ".join(claims_of(sentence))
    details = [value for part in parts for value in [*part.told, part.subject] if value]
    assert [value for value in details if not has(text, value)] == []
