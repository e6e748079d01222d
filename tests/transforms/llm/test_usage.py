"""How the tokens of requests are added up, and divided among the answers that are kept."""

from dataclasses import replace
from typing import Any

import pytest

from ufo.transforms.llm.prices import Price
from ufo.transforms.llm.usage import divide_among, reused_rows, total, usage_row

ROW = usage_row("verify", "web", "m", "r1", "q1")


def test_a_row_says_what_was_asked_and_by_whom() -> None:
    fields = (ROW.step, ROW.source, ROW.model, ROW.response_id, ROW.request_id)
    assert fields == ("verify", "web", "m", "r1", "q1")
    assert ROW.status == "ok"
    assert ROW.prompt_tokens == ROW.completion_tokens == ROW.retries == 0
    assert ROW.cost_usd == 0.0


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], None), ([None, None], None), ([0], 0), ([None, 2], 2), ([1, 2, 3], 6)],
    ids=["none", "unknown ones", "zero", "a known and an unknown one", "known ones"],
)
def test_a_total_is_of_the_known_numbers(numbers: list[int | None], expected: int | None) -> None:
    assert total(numbers) == expected


def paid(name: str, prompt: int | None, completion: int | None) -> Any:
    return replace(ROW, request_id=name, prompt_tokens=prompt, completion_tokens=completion)


@pytest.mark.parametrize(
    ("rows", "count", "expected"),
    [
        pytest.param([paid("a", 9, 3)], 3, [[("a", 3, 1)]] * 3, id="equal shares"),
        pytest.param(
            [paid("a", 5, 1)], 2, [[("a", 3, 1)], [("a", 2, 0)]], id="the rest goes to the first"
        ),
        pytest.param(
            [paid("a", 4, 1), paid("b", 6, 2)],
            2,
            [[("a", 4, 1)], [("b", 6, 2)]],
            id="a request for each",
        ),
        pytest.param(
            [paid("a", 4, 2), paid("b", 6, 2)],
            3,
            [[("a", 2, 1)], [("b", 6, 2)], [("a", 2, 1)]],
            id="fewer requests than results",
        ),
        pytest.param(
            [paid("a", 4, 1), paid("b", 6, 2), paid("c", 1, 1)],
            2,
            [[("a", 4, 1), ("c", 1, 1)], [("b", 6, 2)]],
            id="more requests than results",
        ),
        pytest.param(
            [paid("a", None, 4)], 2, [[("a", None, 2)], [("a", None, 2)]], id="an unknown prompt"
        ),
        pytest.param([paid("a", 4, None)], 1, [[("a", 4, None)]], id="an unknown reply"),
        pytest.param([], 2, [[], []], id="no request"),
        pytest.param([], 0, [], id="no result"),
    ],
)
def test_requests_are_divided_without_a_rest(rows: Any, count: int, expected: Any) -> None:
    assert divide_among(rows, count) == expected


RESULTS = [("q1", 4, 1), ("q2", 7, 7), ("q1", 6, 1)]
PRICES = {"m": Price(1e6, 1e7)}  # US dollars a million tokens


def test_what_comes_from_the_cache_has_what_it_saves() -> None:
    rows = reused_rows(ROW, RESULTS, True, PRICES)
    assert [row.request_id for row in rows] == ["q1", "q2"]
    assert [(row.prompt_tokens, row.completion_tokens) for row in rows] == [(10, 2), (7, 7)]
    assert [row.saved_usd for row in rows] == [30.0, 77.0]
    assert {(row.cached, row.coalesced, row.cost_usd) for row in rows} == {(True, False, 0.0)}


def test_what_another_response_asks_for_has_no_tokens() -> None:
    (row,) = reused_rows(ROW, [("q1", 4, 1)], False, PRICES)
    assert row == replace(ROW, coalesced=True, saved_usd=14.0)


@pytest.mark.parametrize(
    ("result", "prices"), [(("q1", 4, 1), {}), (("q1", 4, None), PRICES)], ids=["price", "tokens"]
)
def test_what_is_saved_is_unknown_without(result: Any, prices: Any) -> None:
    (row,) = reused_rows(ROW, [result], True, prices)
    assert row.saved_usd is None
    assert row.cost_usd == 0.0
