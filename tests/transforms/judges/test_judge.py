"""The rows that the base makes of a judge's outcomes, and what is an exact quote."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ufo.schemas.records import OpenUnits, Passage
from ufo.transforms.judges.judge import Judge, Judged, Judgement, citation_found
from ufo.transforms.sources.fact_source import Found, Retrieved


class Plain(Judge):
    def outcome(self, unit: Any, passage: Passage) -> Any:
        return Judgement("supported", 1, "half a \ud83d character", passage.text[:4])


class Waits(Plain):
    async def outcome(self, unit: Any, passage: Passage) -> Any:
        await asyncio.sleep(0)
        return Judgement("noans")


class Unfinished(Judge):
    pass


class Misread(Plain):
    def outcome(self, unit: Any, passage: Passage) -> Any:
        return "supported"


class Exhausted(Plain):
    def outcome(self, unit: Any, passage: Passage) -> Any:
        raise MemoryError


class Late(Waits):
    pass


class Endpoint(Plain):
    needs_endpoint = True


class Quick(Waits):
    remote = False


class OfBatches(Judge):
    async def verify(self, open_units: Any, source: str, found: Any) -> Judged:
        return Judged()


class Extracts(Plain):
    async def extract(self, record: Any, sentences: Any) -> Any:
        return []


@pytest.mark.parametrize(
    ("judge", "waits"),
    [
        (Plain, False),
        (Waits, True),
        (Late, True),
        (Endpoint, True),
        (Quick, False),
        (OfBatches, False),
    ],
)
def test_a_judge_waits_for_other_processes(judge: type[Judge], waits: bool) -> None:
    assert judge.remote is waits


@pytest.mark.parametrize(
    ("judge", "extracts", "verifies"),
    [
        (Judge, False, False),
        (Unfinished, False, False),
        (Plain, False, True),
        (Late, False, True),
        (OfBatches, False, True),
        (Extracts, True, True),
    ],
)
def test_what_a_judge_does_is_what_its_class_defines(
    judge: type[Judge], extracts: bool, verifies: bool
) -> None:
    assert judge.extracts is extracts
    assert judge.verifies is verifies


Asked = Callable[[Judge], Judged]


@pytest.fixture
def judged(opened: Callable[..., OpenUnits]) -> Asked:
    """Have two claims judged, of which one has a passage."""

    def ask(judge: Judge) -> Judged:
        judge.name = "mine"
        answers = [Found([Retrieved(Passage("They say so."), 0.5)]), Found()]
        units = opened(["Oslo is large.", "Rome is large."])
        return asyncio.run(judge.verify(units, "here", answers))

    return ask


def test_its_outcomes_are_rows_that_a_table_can_hold(judged: Asked) -> None:
    first, other = judged(Plain()).evidence
    assert first.outcome == "supported"
    assert first.label == 1
    assert first.probability == 1.0
    assert first.rank == 1
    assert first.judge == "mine"
    assert first.source == "here"
    assert first.retrieval_score == 0.5
    assert first.citation == "They"
    assert first.citation_found
    assert first.answer == "They"
    assert first.rationale == "half a \ufffd character"
    assert other.outcome == "noans"
    assert other.reason == "no_passages"
    assert other.passage_id is None
    assert [row.outcome for row in judged(Waits()).evidence] == ["noans", "noans"]


@pytest.mark.parametrize(
    ("judge", "kind", "message"),
    [
        (Misread(), "TypeError", "outcome must return a ufo.Judgement, not str"),
        (
            Unfinished(),
            "NotImplementedError",
            "Unfinished implements neither outcome nor verify",
        ),
    ],
    ids=["that returns something else", "without outcome and verify"],
)
def test_a_judge_costs_its_judgements(judged: Asked, judge: Judge, kind: str, message: str) -> None:
    result = judged(judge)
    assert [row.outcome for row in result.evidence] == ["error", "noans"]
    (failure,) = result.failures
    assert result.evidence[0].reason == "exception"
    assert failure.error_type == kind
    assert failure.message == f"error in judge mine: {kind}: {message}"


def test_a_judge_that_lacks_memory_ends_the_run(judged: Asked) -> None:
    with pytest.raises(MemoryError):
        judged(Exhausted())


def test_a_citation_is_an_exact_quote_up_to_white_space() -> None:
    passage = "The Alma Bridge\nwas  opened in 1932.\u00a0It is “long”."
    quoted = ["was opened in 1932", " The Alma\tBridge ", "“was opened in 1932.”", "1932. It is"]
    wrong = ["was opened in 1933", "the alma bridge", "The Alma Bridge … 1932", "", '""']
    exact = [text for text in quoted + wrong if citation_found(text, passage)]
    assert exact == quoted
    assert citation_found("It is “long”.", passage)
