"""What a judge states, and the rows that the base makes of its outcomes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ufo.schemas.records import (
    ERROR,
    NO_PASSAGES,
    NOANS,
    SUPPORTED,
    InputRecord,
    OpenUnits,
    Passage,
)
from ufo.transforms.extract import extract
from ufo.transforms.judges.judge import Judge, Judged, Judgement, citation_found
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.loop import run_now
from ufo.transforms.sources.fact_source import Found, Retrieved


class Plain(Judge):
    def outcome(self, unit: Any, passage: Passage) -> Any:
        return Judgement(SUPPORTED, 1, "half a \ud83d character", passage.text[:4])


class Waits(Plain):
    async def outcome(self, unit: Any, passage: Passage) -> Any:
        await asyncio.sleep(0)
        return Judgement(NOANS)


class Far(Plain):
    needs_endpoint = True


class Whole(Judge):
    abstains = False

    async def extract(self, record: Any, sentences: Any) -> Any: ...

    async def verify(self, open_units: Any, source: str, found: Any) -> Judged:
        return Judged()


class Worded(Plain):
    def outcome(self, unit: Any, passage: Passage) -> Any:
        return SUPPORTED


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        # extracts, verifies, abstains, needs_endpoint, remote
        (Judge, (False, False, True, False, False)),
        (Plain, (False, True, True, False, False)),
        (Waits, (False, True, True, False, True)),
        (Far, (False, True, True, True, True)),
        (Whole, (True, True, False, False, False)),
        (OfflineJudge, (True, True, True, False, False)),
    ],
)
def test_what_a_class_states(kind: type[Judge], states: tuple[bool, ...]) -> None:
    names = ("extracts", "verifies", "abstains", "needs_endpoint", "remote")
    assert tuple(getattr(kind, name) for name in names) == states


@pytest.fixture(name="judged")
def _judged(opened: Callable[..., OpenUnits]) -> Callable[[Judge], Judged]:
    """Has two claims judged, of which one has a passage."""

    def made(judge: Judge) -> Judged:
        judge.name = "mine"
        found = [Found([Retrieved(Passage("They say so."), 0.5)]), Found()]
        units = opened(["Oslo is large.", "Rome is large."])
        return asyncio.run(judge.verify(units, "here", found))

    return made


def test_its_outcomes_are_rows_that_a_table_can_hold(judged: Any) -> None:
    one, other = judged(Plain()).evidence
    assert (one.outcome, one.label, one.probability, one.rank) == (SUPPORTED, 1, 1.0, 1)
    assert (one.judge, one.source, one.retrieval_score) == ("mine", "here", 0.5)
    assert (one.citation, one.citation_found, one.answer) == ("They", True, "They")
    assert one.rationale == "half a \ufffd character"
    assert (other.outcome, other.reason, other.passage_id) == (NOANS, NO_PASSAGES, None)


def test_an_outcome_may_be_a_coroutine(judged: Any) -> None:
    assert [row.outcome for row in judged(Waits()).evidence] == [NOANS, NOANS]


def test_what_is_no_judgement_is_an_error_with_the_remedy(judged: Any) -> None:
    found = judged(Worded())
    assert [row.outcome for row in found.evidence] == [ERROR, NOANS]
    (failure,) = found.failures
    assert failure.message == "outcome must return a ufo.Judgement, not str"


@pytest.mark.parametrize("units", ["claim", "sentence"])
@pytest.mark.parametrize("text", ["Oslo is large. I like it.", "Oslo ist eine große Stadt."])
def test_its_claims_are_those_of_the_offline_judge(text: str, units: str) -> None:
    record = InputRecord("file:1", "r", text)
    found = [
        run_now(extract(record, judge, units)).open_units for judge in (Plain(), OfflineJudge())
    ]
    assert found[0] == found[1]
    assert found[0].units


PASSAGE = "The Alma Bridge\nwas  opened in 1932.\u00a0It is “long”."


@pytest.mark.parametrize(
    ("citation", "found"),
    [
        ("was opened in 1932", True),
        (" The Alma\tBridge ", True),
        ("“was opened in 1932.”", True),
        ("1932. It is", True),
        ("It is “long”.", True),
        ("was opened in 1933", False),
        ("the alma bridge", False),
        ("The Alma Bridge … 1932", False),
        ("", False),
        ('""', False),
    ],
)
def test_a_citation_is_an_exact_quote_up_to_white_space(citation: str, found: bool) -> None:
    assert citation_found(citation, PASSAGE) is found
