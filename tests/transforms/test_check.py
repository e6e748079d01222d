"""What sources and the judge say of a response's claims, and what they decide in each mode."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.scripted import ScriptedJudge, ScriptedSource, opened
from ufo.schemas.records import (
    ERROR,
    NO_PASSAGES,
    NO_SOURCE,
    NOANS,
    TRANSPORT,
    Failure,
    InputRecord,
    OpenUnits,
    Passage,
    Tally,
)
from ufo.transforms.check import Checked, check, check_parts, pooled_verdicts, settle, undecided
from ufo.transforms.check_text import CheckedText, check_text
from ufo.transforms.job import Job
from ufo.transforms.judges.judge import Judged
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved

OUTCOMES = st.lists(st.sampled_from(["supported", "refuted", "noans", "error"]), max_size=3)
ANSWERS = st.dictionaries(
    st.sampled_from("abcd"), OUTCOMES | st.just(OSError("down")), min_size=4, max_size=4
)


def checked(claims: str, source: Any) -> Checked:
    return asyncio.run(check(opened(claims), source, ScriptedJudge()))


def in_sequence(claims: str, sources: list[ScriptedSource]) -> tuple[Any, Any]:
    """What Multi-Seq does with one response: all verdicts, and all evidence."""
    verdicts, evidence = [], []
    rest = opened(claims)
    for source in sources:
        result = asyncio.run(check(rest, source, ScriptedJudge()))
        evidence += result.evidence
        decided, left = settle(rest, result, "not_factual")
        verdicts += decided
        if left is None:
            break
        rest = left
    else:
        verdicts += undecided(rest, "not_factual")
    return {verdict.unit_id: verdict for verdict in verdicts}, evidence


@given(st.lists(ANSWERS, min_size=1, max_size=3))
def test_multi_seq_decides_as_all_votes_would(answers: list[dict[str, Any]]) -> None:
    sources = [ScriptedSource(f"s{n}", answer) for n, answer in enumerate(answers)]
    verdicts, evidence = in_sequence("abcd", sources)
    open_claims = list("abcd")
    for source in sources:
        assert source.asked == open_claims
        by_claim = {claim: source.answers[claim] for claim in open_claims}
        decided = [
            claim
            for claim, answer in by_claim.items()
            if not isinstance(answer, Exception) and {"supported", "refuted"} & set(answer)
        ]
        assert all(verdicts[f"u-{claim}"].source == source.name for claim in decided)
        open_claims = [claim for claim in open_claims if claim not in decided]
    assert all(verdicts[f"u-{claim}"].source == NO_SOURCE for claim in open_claims)
    # Every source asked leaves a row for every unit it was asked about.
    rows = {(row.source, row.unit_id) for row in evidence}
    assert rows == {(s.name, f"u-{claim}") for s in sources for claim in s.asked}
    tallies = [votes for source in sources for votes in checked("abcd", source).tallies]
    expected = pooled_verdicts("r", tallies, "seq", "not_factual")
    assert verdicts == {verdict.unit_id: verdict for verdict in expected}


def test_a_unit_with_nothing_but_errors_goes_on_and_is_marked() -> None:
    first = ScriptedSource("first", {"a": OSError("down"), "b": ["noans", "error"]})
    second = ScriptedSource("second", {"a": ["supported"], "b": ["refuted"]})
    verdicts, evidence = in_sequence("ab", [first, second])
    assert verdicts["u-a"].source == "second"
    assert verdicts["u-a"].past_error
    assert verdicts["u-b"].source == "second"
    assert not verdicts["u-b"].past_error
    assert evidence[0].outcome == ERROR
    assert evidence[0].reason == "exception"


def test_an_exception_of_a_source_is_an_error_row_and_a_failure() -> None:
    answers: Any = {"a": OSError("down"), "b": ["supported", "noans"], "d": ["supported"]}
    result = checked("abcd", ScriptedSource("s", answers))
    assert [(row.outcome, row.reason, row.label) for row in result.evidence] == [
        (ERROR, "exception", None),
        ("supported", None, 1),
        ("noans", None, None),
        (NOANS, NO_PASSAGES, None),
        ("supported", None, 1),
    ]
    (failure,) = result.failures
    assert failure.step == "source:s"
    assert failure.key == "u-a"
    assert failure.error_type == "OSError"
    assert failure.message == "error in source s: OSError: down"
    # A passage found for several units is one row.
    assert sorted(passage.text for passage in result.passages) == ["noans 1", "supported 0"]


@pytest.mark.parametrize("answers", [ConnectionError("gone"), [[Found()]]], ids=["none", "few"])
def test_a_source_that_breaks_the_rules_is_an_error_for_each_unit(answers: Any) -> None:
    source = FactSource()
    source.name = "broken"
    source.look_up = AsyncMock(side_effect=answers)  # type: ignore[method-assign]
    result = checked("ab", source)
    assert [row.outcome for row in result.evidence] == [ERROR, ERROR]
    assert [tally.n_error for tally in result.tallies] == [1, 1]
    assert {failure.step for failure in result.failures} == {"source:broken"}


def searching(*answers: Found) -> FactSource:
    """A source that has these answers to the units of a response."""
    source = FactSource()
    source.name = "s"
    source.look_up = AsyncMock(return_value=list(answers))  # type: ignore[method-assign]
    return source


def test_a_search_that_failed_in_part_has_its_passages_and_an_error_row() -> None:
    part = Found([Retrieved(Passage("supported", passage_id="p"))], ERROR, TRANSPORT)
    evidence = checked("a", searching(part)).evidence
    rows = [(row.passage_id, row.outcome, row.reason) for row in evidence]
    assert rows == [("p", "supported", None), (None, ERROR, TRANSPORT)]


SEARCHED, VERIFIED = usage_row("search", "s", None, "r"), usage_row("verify", "s", "m", "r")
LOST, MISSED = Failure("page", "url", "http_404", "gone"), Failure("verify", "r", "cut", "cut off")


class Costly(ScriptedJudge):
    """Tells of a request and of something that it missed."""

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        judged = await super().verify(open_units, source, found)
        return replace(judged, failures=[MISSED], usage=[VERIFIED])


def test_what_source_and_judge_used_and_missed_is_told() -> None:
    hit = Retrieved(Passage("supported", passage_id="p"))
    answer = Found([hit], usage=[SEARCHED], failures=[LOST])
    result = asyncio.run(check(opened("ab"), searching(answer, Found([hit])), Costly()))
    assert result.usage == [SEARCHED, VERIFIED]
    assert result.failures == [LOST, MISSED]
    assert result.passages == [hit.passage]


@pytest.mark.parametrize(
    ("remote", "parts"), [(False, ["a", "b"]), (True, ["ab"])], ids=["here", "remote"]
)
def test_a_judge_on_this_machine_yields_each_unit(remote: bool, parts: list[str]) -> None:
    judge = ScriptedJudge()
    judge.remote = remote
    before = [Tally("u-a", "first", n_noans=1), Tally("u-b", "first", n_error=1)]
    units = replace(opened("ab"), tallies=before)

    async def ask() -> list[tuple[OpenUnits, Checked]]:
        return [part async for part in check_parts(units, ScriptedSource("s", {}), judge)]

    checked_parts = asyncio.run(ask())
    assert ["".join(unit.claim for unit in of.units) for of, _ in checked_parts] == parts
    assert [votes for of, _ in checked_parts for votes in of.tallies] == before
    assert [votes.unit_id for _, one in checked_parts for votes in one.tallies] == ["u-a", "u-b"]


@pytest.mark.parametrize(
    "units", ["a", "abc", "ac", ""], ids=["too few", "too many", "another", "none"]
)
def test_evidence_of_other_units_is_no_judgement(units: str) -> None:
    class Wrong(ScriptedJudge):
        async def verify(self, _: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
            return await super().verify(opened(units), source, [*found, *found][: len(units)])

    result = asyncio.run(check(opened("ab"), ScriptedSource("s", {}), Wrong()))
    assert [row.outcome for row in result.evidence] == [ERROR, ERROR]
    assert result.failures[0].error_type == "ValueError"


def test_a_judge_that_breaks_gives_one_error_row_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptedJudge, "verify", AsyncMock(side_effect=ValueError("odd reply")))
    result = checked("ab", ScriptedSource("s", {"a": ["supported"], "b": ["refuted"]}))
    assert [row.outcome for row in result.evidence] == [ERROR, ERROR]
    (failure,) = result.failures
    assert failure.step == "verify"
    assert failure.key == "r"
    assert failure.message == "error in judge scripted: ValueError: odd reply"


TEXT = "Etna erupts. Oslo is warm. Lava flows."
EACH = [ETNA, OSLO, LAVA] = ["Etna erupts.", "Oslo is warm.", "Lava flows."]
ONE, TWO = [1, None, None], [0, 0, None]


def run(sources: list[Any], mode: str, with_claims: bool = False) -> CheckedText:
    record = InputRecord("f:1", "r", TEXT, given=with_claims)
    return asyncio.run(check_text(record, sources, ScriptedJudge(), Job((), mode=mode)))


@pytest.mark.parametrize(
    ("mode", "asked", "labels"),
    [
        ("seq", [OSLO, LAVA], {("seq", "one"): [1], ("seq", "two"): [0], ("seq", "none"): [None]}),
        ("mv", EACH, {("mv", "multi"): TWO}),
        ("single", EACH, {("single", "one"): ONE, ("single", "two"): TWO}),
        ("all", EACH, None),
    ],
    ids=["one after another", "majority vote", "each by itself", "all modes"],
)
def test_each_mode_asks_and_decides(mode: str, asked: list[str], labels: Any) -> None:
    first = ScriptedSource("one", {ETNA: ["supported"]})
    second = ScriptedSource("two", {OSLO: ["refuted"], ETNA: ["refuted", "refuted"]})
    result = run([first, second], mode)
    assert first.asked == EACH
    assert second.asked == asked
    by_source: dict[Any, list[Any]] = {}
    places = {unit.unit_id: unit.sentence_index for unit in result.fact_units}
    for row in sorted(result.verdicts, key=lambda row: places[row.unit_id] or 0):
        by_source.setdefault((row.mode, row.source), []).append(row.label)
    if labels is None:  # of the three others
        parts = [run([first, second], other).verdicts for other in ("seq", "mv", "single")]
        assert len(result.verdicts) == sum(map(len, parts)) == 12
        assert set(result.verdicts) == {row for part in parts for row in part}
    else:
        assert by_source == labels


def test_where_all_is_decided_or_nothing_claimed_no_source_is_asked() -> None:
    last = ScriptedSource("last", {})
    run([ScriptedSource("all", {claim: ["supported"] for claim in EACH}), last], "seq")
    result = run([last], "all", with_claims=True)
    assert result.verdicts == []
    assert result.evidence == []
    assert last.asked == []
    assert len(result.sentences) == 3
