import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.records import ERROR, NO_PASSAGES, NO_SOURCE, NOANS, TRANSPORT, OpenUnits
from ufo.transforms.check import check, pooled_verdicts, settle, undecided
from ufo.transforms.judges.judge import Judge
from ufo.transforms.sources.fact_source import FactSource, Found

Opened = Callable[..., OpenUnits]
Source = Callable[..., Any]

OUTCOMES = st.lists(st.sampled_from(["supported", "refuted", "noans", "error"]), max_size=3)
ANSWERS = st.dictionaries(
    st.sampled_from("abcd"), OUTCOMES | st.just(OSError("down")), min_size=4, max_size=4
)


def in_sequence(open_units: OpenUnits, sources: list[Any], judge: Judge) -> tuple[Any, Any]:
    """What Multi-Seq does with one response: all verdicts, and all evidence."""
    verdicts, evidence = [], []
    rest: OpenUnits | None = open_units
    for source in sources:
        if rest is None:
            break
        checked = asyncio.run(check(rest, source, judge))
        evidence += checked.evidence
        decided, rest = settle(rest, checked, "not_factual")
        verdicts += decided
    if rest is not None:
        verdicts += undecided(rest, "not_factual")
    return {verdict.unit_id: verdict for verdict in verdicts}, evidence


@given(st.lists(ANSWERS, min_size=1, max_size=3))
def test_a_later_source_is_never_asked_about_a_decided_unit(
    scripted_source: Source, scripted_judge: Any, opened: Opened, answers: list[dict[str, Any]]
) -> None:
    sources = [scripted_source(f"s{n}", answer) for n, answer in enumerate(answers)]
    verdicts, evidence = in_sequence(opened("abcd"), sources, scripted_judge())
    open_claims = list("abcd")
    for source in sources:
        assert source.asked == open_claims
        said = {claim: source.answers[claim] for claim in open_claims}
        decided = [
            claim
            for claim, answer in said.items()
            if not isinstance(answer, Exception) and {"supported", "refuted"} & set(answer)
        ]
        assert all(verdicts[f"u-{claim}"].source == source.name for claim in decided)
        open_claims = [claim for claim in open_claims if claim not in decided]
    assert all(verdicts[f"u-{claim}"].source == NO_SOURCE for claim in open_claims)
    assert len(verdicts) == 4
    # Every source asked leaves a row for every unit it was asked about.
    rows = {(row.source, row.unit_id) for row in evidence}
    assert rows == {(s.name, f"u-{claim}") for s in sources for claim in s.asked}


@given(st.lists(ANSWERS, min_size=1, max_size=3))
def test_multi_seq_decides_as_the_votes_of_all_sources_in_their_order_would(
    scripted_source: Source, scripted_judge: Any, opened: Opened, answers: list[dict[str, Any]]
) -> None:
    sources = [scripted_source(f"s{n}", answer) for n, answer in enumerate(answers)]
    verdicts, _ = in_sequence(opened("abcd"), sources, scripted_judge())
    judge = scripted_judge()
    tallies = [
        votes
        for source in sources
        for votes in asyncio.run(check(opened("abcd"), source, judge)).tallies
    ]
    expected = pooled_verdicts("r", tallies, "seq", "not_factual")
    assert verdicts == {verdict.unit_id: verdict for verdict in expected}


def test_a_unit_with_nothing_but_errors_goes_on_and_is_marked(
    scripted_source: Source, judge: Judge, opened: Opened
) -> None:
    sources = [
        scripted_source("first", {"a": OSError("down"), "b": ["noans", "error"]}),
        scripted_source("second", {"a": ["supported"], "b": ["refuted"]}),
    ]
    verdicts, evidence = in_sequence(opened("ab"), sources, judge)
    assert (verdicts["u-a"].source, verdicts["u-a"].past_error) == ("second", True)
    assert (verdicts["u-b"].source, verdicts["u-b"].past_error) == ("second", False)
    assert evidence[0].outcome == ERROR
    assert evidence[0].reason == TRANSPORT


def test_an_exception_of_a_source_is_an_error_row_and_a_failure(
    scripted_source: Source, judge: Judge, opened: Opened
) -> None:
    source = scripted_source("s", {"a": OSError("down"), "b": ["supported"]})
    checked = asyncio.run(check(opened("abc"), source, judge))
    assert [(row.outcome, row.reason, row.label) for row in checked.evidence] == [
        (ERROR, TRANSPORT, None),
        ("supported", None, 1),
        (NOANS, NO_PASSAGES, None),
    ]
    (failure,) = checked.failures
    assert (failure.step, failure.key) == ("source:s", "u-a")
    assert (failure.error_type, failure.message) == ("OSError", "down")
    assert [passage.text for passage in checked.passages] == ["supported 0"]


class _Raises(FactSource):
    name = "raises"

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        raise ConnectionError("gone")


class _Short(FactSource):
    name = "short"

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        return [Found()]


@pytest.mark.parametrize("kind", [_Raises, _Short])
def test_a_source_that_breaks_the_rules_is_an_error_for_each_unit(
    kind: type[FactSource], judge: Judge, opened: Opened
) -> None:
    checked = asyncio.run(check(opened("ab"), kind(), judge))
    assert [row.outcome for row in checked.evidence] == [ERROR, ERROR]
    assert [tally.n_error for tally in checked.tallies] == [1, 1]
    assert {failure.step for failure in checked.failures} == {f"source:{kind.name}"}


def test_a_judge_that_breaks_gives_one_error_row_a_unit(
    scripted_source: Source, judge: Judge, opened: Opened
) -> None:
    async def breaks(*_: object) -> Any:
        raise ValueError("odd reply")

    judge.verify = breaks  # type: ignore[method-assign, assignment]
    source = scripted_source("s", {"a": ["supported"], "b": ["refuted"]})
    checked = asyncio.run(check(opened("ab"), source, judge))
    assert [row.outcome for row in checked.evidence] == [ERROR, ERROR]
    (failure,) = checked.failures
    assert (failure.step, failure.key, failure.message) == ("verify", "r", "odd reply")


def test_a_passage_found_for_several_units_is_one_row(
    scripted_source: Source, judge: Judge, opened: Opened
) -> None:
    same = {"a": ["supported", "noans"], "b": ["supported"]}
    checked = asyncio.run(check(opened("ab"), scripted_source("s", same), judge))
    assert len(checked.evidence) == 3
    assert sorted(passage.text for passage in checked.passages) == ["noans 1", "supported 0"]
