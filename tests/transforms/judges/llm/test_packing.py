"""Which facts and passages share a call."""

from collections import Counter
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.judges.llm.packing import CallLimits, by_fact, pack

ROOMY = CallLimits(passages=50, facts=40, tokens=10**9)


def packed(
    wanted: dict[int, list[int]],
    limits: CallLimits = ROOMY,
    passage_tokens: dict[int, int] | None = None,
) -> list[dict[int, list[int]]]:
    sizes = passage_tokens or {}
    pairs = [(fact, passage) for fact, found in wanted.items() for passage in found]
    calls = pack(pairs, limits, lambda fact: 10, lambda passage: sizes.get(passage, 100))
    return [by_fact(call) for call in calls]


def test_one_call_where_it_all_fits() -> None:
    (call,) = packed({0: [0, 1], 1: [1, 2], 4: [0]})
    assert call == {0: [0, 1], 1: [1, 2], 4: [0]}


def test_twenty_facts_of_one_reference_are_one_call_and_distinct_passages_two() -> None:
    assert len(packed({fact: [0] for fact in range(20)})) == 1
    distinct = {fact: list(range(5 * fact, 5 * fact + 5)) for fact in range(20)}
    assert len(packed(distinct)) == 2


def test_one_passage_a_call_is_every_fact_of_a_passage_together() -> None:
    calls = packed({0: [0, 1], 1: [1], 2: [0, 1]}, CallLimits(1, 40, 10**9))
    assert calls == [{0: [0], 2: [0]}, {0: [1], 1: [1], 2: [1]}]


def test_a_fact_goes_where_its_passages_are() -> None:
    calls = packed({0: [0, 1], 1: [2, 3], 2: [2, 3], 3: [0, 1]}, CallLimits(2, 40, 10**9))
    assert [list(call) for call in calls] == [[0, 3], [1, 2]]


def test_a_passage_over_the_limit_is_a_call_of_its_own() -> None:
    calls = packed({0: [0, 1], 1: [2]}, CallLimits(50, 40, 1000), {1: 5000})
    assert calls == [{0: [0], 1: [2]}, {0: [1]}]


wanted_sets = st.dictionaries(
    st.integers(0, 30), st.lists(st.integers(0, 20), min_size=1, max_size=6), max_size=12
)


@given(wanted_sets, st.integers(1, 8), st.integers(1, 6), st.integers(1, 2000))
def test_every_pair_is_in_one_call_within_the_limits(
    wanted: dict[int, list[int]], passages: int, facts: int, tokens: int
) -> None:
    limits = CallLimits(passages, facts, tokens)
    calls = packed(wanted, limits)
    pairs = [[(fact, p) for fact, found in call.items() for p in found] for call in calls]
    counted = Counter(chain.from_iterable(pairs))
    assert counted == Counter({(f, p) for f, found in wanted.items() for p in found})
    for call, within in zip(calls, pairs, strict=True):
        used = set(chain.from_iterable(call.values()))
        assert len(used) <= passages
        assert len(call) <= facts
        size = 30 * len(call) + 100 * len(used) + 40 * len(within)
        assert size <= tokens or len(within) == 1
    assert packed(wanted, limits) == calls
