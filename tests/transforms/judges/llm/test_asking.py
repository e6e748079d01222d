"""What shares a call, what is shown around a claim, and what no table can hold."""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ufo
from tests.transforms.judges.llm.scripted import open_units
from ufo.schemas.tables import to_arrow
from ufo.transforms.judges.llm.excerpts import Text, cut, paragraph, tokens_of
from ufo.transforms.judges.llm.packing import CallLimits, by_fact, pack
from ufo.transforms.sentences import segment


def packed(
    wanted: dict[int, list[int]], *limits: int, sizes: Callable[[int], int] = lambda passage: 100
) -> list[dict[int, list[int]]]:
    pairs = [(fact, passage) for fact, found in wanted.items() for passage in found]
    calls = pack(pairs, CallLimits(*limits), lambda fact: 10, sizes)
    return [by_fact(call) for call in calls]


def test_facts_go_where_their_passages_are() -> None:
    roomy = (50, 40, 10**9)
    wanted = {0: [0, 1], 1: [1, 2], 4: [0]}
    assert packed(wanted, *roomy) == [wanted]
    assert (
        len(packed({fact: list(range(5 * fact, 5 * fact + 5)) for fact in range(20)}, *roomy)) == 2
    )
    one_each = packed({0: [0, 1], 1: [1], 2: [0, 1]}, 1, 40, 10**9)
    assert one_each == [{0: [0], 2: [0]}, {0: [1], 1: [1], 2: [1]}]
    calls = packed({0: [0, 1], 1: [2, 3], 2: [2, 3], 3: [0, 1]}, 2, 40, 10**9)
    assert [list(call) for call in calls] == [[0, 3], [1, 2]]
    large = packed(
        {0: [0, 1], 1: [2]}, 50, 40, 1000, sizes=lambda passage: [100, 5000, 100][passage]
    )
    assert large == [{0: [0], 1: [2]}, {0: [1]}]


FOUND = st.lists(st.integers(0, 20), min_size=1, max_size=6)
WANTED = st.dictionaries(st.integers(0, 30), FOUND, max_size=12)


@given(WANTED, st.integers(1, 8), st.integers(1, 6), st.integers(1, 2000))
def test_every_pair_is_in_one_call_within_the_limits(
    wanted: dict[int, list[int]], passages: int, facts: int, tokens: int
) -> None:
    calls = packed(wanted, passages, facts, tokens)
    pairs = [[(fact, p) for fact, found in call.items() for p in found] for call in calls]
    counted = Counter(chain.from_iterable(pairs))
    assert counted == Counter({(f, p) for f, found in wanted.items() for p in found})
    for call, within in zip(calls, pairs, strict=True):
        used = set(chain.from_iterable(call.values()))
        assert (len(used) <= passages, len(call) <= facts) == (True, True)
        size = 30 * len(call) + 100 * len(used) + 40 * len(within)
        assert size <= tokens or len(within) == 1
    assert packed(wanted, passages, facts, tokens) == calls


# --- what stands around a claim ---

TEXT = "Ada was born. She wrote.\r\n\r\nShe met Charles. He built.\n- An engine.\n\n\nThe end came."
LONG = " ".join(f"Sentence {n} tells of Ada and of all the notes she wrote." for n in range(400))


def test_an_excerpt_shows_where_it_leaves_out_and_keeps_to_its_tokens() -> None:
    short, long = (Text(text, segment(text)) for text in (TEXT, LONG))
    assert short.excerpt([5, 0, 1, 0]) == "Ada was born. She wrote.\n[…]\nThe end came."
    assert short.excerpt([]) == ""
    assert long.surroundings([3, 4, None, 999]) == long.excerpt(range(2, 6))
    assert long.surroundings(range(0, 60, 3), 400) == long.excerpt(range(0, 60, 3))
    whole = long.surroundings(range(400), 400)
    assert LONG.startswith(whole.removesuffix("[…]"))
    assert tokens_of(whole) <= 402
    given = open_units([], TEXT)
    assert paragraph(given, 3) == "She met Charles. He built.\n- An engine."
    assert paragraph(given, None) == paragraph(given, 99) == ""
    assert paragraph(open_units([], LONG), 7) == long.excerpt([6, 7, 8])


def test_a_text_is_cut_where_it_is_too_long_and_tokens_are_counted_by_bytes() -> None:
    assert cut("short", 10) == "short"
    assert cut("word " * 100, 10).endswith("[…]")
    assert tokens_of(cut("事" * 1000, 50)) <= 52
    assert [tokens_of(text) for text in ("word " * 100, "事" * 100, "\ud800")] == [126, 76, 1]


# --- what a model can say and no table can hold ---


def test_half_characters_and_nul_in_replies_reach_no_table() -> None:
    fact = {"sentence": 1, "claim": "Oslo\ud83d is big.", "query": "How\0 big?"}
    check = {"answer": "big\ud83d", "rationale": "It says\ud83d so.", "verdict": "T"}
    client = ufo.FakeClient([{"facts": [fact], "no_claim": []}, {"f1": check}])
    given: dict[str, Any] = {"references": ["Oslo is big."], "sources": ["reference"]}
    checked = ufo.check_sync("Oslo is big.", **given, judge="llm", client=client)
    assert checked.score == 1.0
    assert [unit.claim for unit in checked.fact_units] == ["Oslo\ufffd is big."]
    for name in ("fact_units", "evidence", "failures"):
        to_arrow(name, getattr(checked, name))
