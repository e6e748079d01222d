"""The responses that `calls.py` counts the calls of, made of the texts of its fixture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.schemas.records import Passage

CASES = ("reference", "distinct", "shared", "voting")
PASSAGES = SAMPLES = 5
SHARED_PASSAGES = 12  # of the pages that all facts share: two of six passages
SENTENCES = 6  # of a passage, which makes about 100 words


@dataclass(frozen=True, slots=True)
class Case:
    """A response, its reference, and for each claim what states it, its passages, its samples."""

    mode: str
    reference: str
    says: Mapping[str, str]
    answers: Mapping[str, str]
    passages: Mapping[str, Sequence[Passage]]
    samples: Mapping[str, Sequence[str]]


def build(fixture: Mapping[str, Any], name: str, size: int) -> Case:
    facts = fixture["shared" if name == "shared" else "distinct"][:size]
    passages = {}
    for number, fact in enumerate(facts):
        places = [number * PASSAGES + rank for rank in range(PASSAGES)]
        if name == "shared":
            places = [(number + rank) % SHARED_PASSAGES for rank in range(PASSAGES)]
        sentence = f"{fact['says']}." if name == "voting" else ""
        passages[fact["claim"]] = [
            _passage(fixture["fillers"], fact["subject"], place, sentence) for place in places
        ]
    stated = " ".join(f"{fact['says']}." for fact in facts)
    return Case(
        "mv" if name == "voting" else "seq",
        stated if name in ("reference", "voting") else fixture["unrelated_reference"],
        {fact["claim"]: fact["says"] for fact in facts},
        {fact["claim"]: fact["answer"] for fact in facts},
        passages,
        {fact["claim"]: [text.format(**fact) for text in fixture["asides"]] for fact in facts},
    )


def _passage(fillers: Sequence[str], subject: str, place: int, sentence: str) -> Passage:
    chosen = [fillers[(7 * place + 3 * k) % len(fillers)] for k in range(SENTENCES)]
    lines = [sentence or chosen[0], *chosen[1:]]
    text = " ".join(
        line[0].upper() + line[1:] for line in (x.format(subject=subject) for x in lines)
    )
    return Passage(text, title=subject.removeprefix("the "), section=str(place))
