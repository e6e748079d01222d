"""From votes to labels, to the states of sentences and the headline of a response."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.conftest import blank
from ufo.schemas.records import (
    ERROR,
    MULTI,
    NO_SOURCE,
    NOANS,
    REFUTED,
    SUPPORTED,
    Evidence,
    Tally,
    Verdict,
)
from ufo.transforms import votes as rules
from ufo.transforms.scores import headline, state_of
from ufo.transforms.votes import MV, SEQ, SINGLE, majority, only_errors, tally, verdicts

HERE = Path(__file__).parent
OUTCOMES = [SUPPORTED, REFUTED, NOANS, ERROR]
VOTES = st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=7)
BY_SOURCE = st.lists(VOTES, min_size=1, max_size=4)


def tallies(by_source: list[list[str]]) -> list[Tally]:
    rows = [[blank(Evidence, outcome=outcome) for outcome in votes] for votes in by_source]
    return [tally("u", f"s{n}", votes) for n, votes in enumerate(rows)]


def test_majority() -> None:
    for supported, refuted, tie, expected in (
        (2, 1, "not_factual", (1, False)),
        (1, 2, "factual", (0, False)),
        (1, 1, "not_factual", (0, True)),
        (1, 1, "factual", (1, True)),
        (0, 0, "factual", (None, False)),
    ):
        # Abstentions and errors are no votes, however many.
        assert majority(Tally("u", "s", supported, refuted, 9, 9), tie) == expected


@given(
    BY_SOURCE,
    st.sampled_from(rules.MODES),
    st.sampled_from(rules.TIES),
    st.randoms(use_true_random=False),
)
def test_labels_are_of_valid_votes_in_any_order_and_all_is_the_rows_of_the_others(
    by_source: list[list[str]], mode: str, tie: str, chance: random.Random
) -> None:
    votes = tallies(by_source)
    counted = [(v.n_supported, v.n_refuted, v.n_noans, v.n_error) for v in votes]
    assert counted == [tuple(map(said.count, OUTCOMES)) for said in by_source]
    assert votes == tallies([chance.sample(said, len(said)) for said in by_source])
    for row in verdicts("r", votes, mode, tie):
        assert (row.label is not None) == (row.n_supported + row.n_refuted > 0)
        assert row.tied == (row.n_supported == row.n_refuted > 0)
        if row.tied:
            assert row.label == int(tie == "factual")
    shuffled = tallies(chance.sample(by_source, len(by_source)))
    assert verdicts("r", shuffled, MV, tie) == verdicts("r", votes, MV, tie)
    separate = [row for one in (SEQ, MV, SINGLE) for row in verdicts("r", votes, one, tie)]
    assert verdicts("r", votes, rules.ALL, tie) == separate
    assert len(separate) == 2 + len(by_source)


@given(BY_SOURCE, st.sampled_from(rules.TIES))
def test_the_first_source_with_a_valid_answer_decides(by_source: list[list[str]], tie: str) -> None:
    votes = tallies(by_source)
    (row,) = verdicts("r", votes, SEQ, tie)
    deciding = next((v for v in votes if rules.decides(v)), None)
    if deciding is None:
        assert row.source == NO_SOURCE
        assert row.label is None
        assert not row.tied
        assert row.n_noans + row.n_error == sum(map(len, by_source))
        before = votes
    else:
        assert row.source == deciding.source
        assert (row.label, row.tied) == majority(deciding, tie)
        assert row.n_supported == deciding.n_supported
        assert row.n_refuted == deciding.n_refuted
        before = votes[: votes.index(deciding)]
        # The errors of the sources that were asked before count, too.
        assert row.n_error == sum(v.n_error for v in [*before, deciding])
    assert row.past_error == any(only_errors(v) for v in before)


def test_single_has_a_row_for_each_source_and_mv_pools_them() -> None:
    votes = tallies([[SUPPORTED], [REFUTED, REFUTED], [NOANS]])
    single = verdicts("r", votes, SINGLE, "factual")
    assert [(row.source, row.label) for row in single] == [("s0", 1), ("s1", 0), ("s2", None)]
    (pooled,) = verdicts("r", votes, MV, "factual")
    assert pooled.source == MULTI
    assert pooled.label == 0
    assert pooled.n_refuted == 2


@pytest.mark.parametrize(
    ("by_source", "past_error"),
    [
        pytest.param(["e", "s"], True, id="an error before the answer"),
        pytest.param(["e", "n", "s"], True, id="an error long before the answer"),
        pytest.param(["n", "e", "s"], True, id="an error just before the answer"),
        pytest.param(["s", "e"], False, id="an error after the answer"),
        pytest.param(["es"], False, id="an error beside the answer"),
        pytest.param(["en", "s"], False, id="an error beside no answer"),
        pytest.param(["e", "n"], True, id="an error and no answer at all"),
        pytest.param(["n", "n"], False, id="no answer at all"),
    ],
)
def test_an_answer_may_come_after_an_error(by_source: list[str], past_error: bool) -> None:
    words = {"s": SUPPORTED, "n": NOANS, "e": ERROR}
    outcomes = [[words[letter] for letter in letters] for letters in by_source]
    (row,) = verdicts("r", tallies(outcomes), SEQ, "factual")
    assert row.past_error is past_error


def test_errors_among_answers_are_not_an_error_to_come_back_to() -> None:
    assert only_errors(Tally("u", "s", n_error=2))
    for more in ({"n_noans": 1}, {"n_refuted": 1}, {"n_supported": 1}):
        assert not only_errors(Tally("u", "s", n_error=2, **more))
    assert not only_errors(Tally("u", "s"))


@pytest.mark.parametrize(("labels", "state"), cases(HERE / "states.txt"))
def test_the_state_of_a_sentence(labels: str, state: str) -> None:
    known = {"1": 1, "0": 0, "-": None}
    sentence_states = [known[label] for label in labels.replace("failed", "").split()]
    assert state_of(sentence_states, "failed" in labels) == state


@pytest.mark.parametrize(("states", "words"), cases(HERE / "headlines.txt"))
def test_a_headline_tells_of_the_claims(states: str, words: str) -> None:
    sentence_states = [state for state in states.split(", ") if state not in ("", "failed")]
    assert headline(sentence_states, states == "failed") == words


ASKED = [
    Tally("u", "a", n_noans=1, n_error=2),
    Tally("u", "b", 3, 1, 4, 5),
    Tally("u", "c", 0, 1, 0, 6),
]
IN_SEQUENCE = Verdict("r", "u", "seq", "b", 1, 3, 1, 4, 7, False, False)
POOLED = Verdict("r", "u", "mv", "multi", 1, 3, 2, 5, 13, False, False)
ALONE = [
    Verdict("r", "u", "single", "a", None, 0, 0, 1, 2, False, False),
    Verdict("r", "u", "single", "b", 1, 3, 1, 4, 5, False, False),
    Verdict("r", "u", "single", "c", 0, 0, 1, 0, 6, False, False),
]


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("seq", [IN_SEQUENCE]),
        ("mv", [POOLED]),
        ("single", ALONE),
        ("all", [IN_SEQUENCE, POOLED, *ALONE]),
    ],
)
def test_a_verdict_has_its_unit_its_source_and_all_counts(mode: str, rows: list[Verdict]) -> None:
    assert verdicts("r", ASKED, mode, "factual") == rows


def test_a_unit_that_no_source_decides_has_the_counts_of_all() -> None:
    asked = [Tally("u", "a", n_error=2), Tally("u", "b", n_noans=3, n_error=1)]
    undecided = Verdict("r", "u", "seq", "none", None, 0, 0, 3, 3, False, True)
    assert verdicts("r", asked, "seq", "factual") == [undecided]


@pytest.mark.parametrize(
    ("mode", "main"), [("seq", "seq"), ("mv", "mv"), ("single", "single"), ("all", "seq")]
)
def test_the_main_mode_of_a_run(mode: str, main: str) -> None:
    assert rules.main_mode(mode) == main


def test_tallies_are_grouped_by_unit_in_their_order() -> None:
    first, other, second = Tally("u", "a"), Tally("v", "a"), Tally("u", "b")
    assert rules.by_unit([first, other, second]) == {"u": [first, second], "v": [other]}
