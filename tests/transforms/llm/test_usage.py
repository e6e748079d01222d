"""How the tokens of requests are added up, and divided among the answers that are kept."""

from dataclasses import replace
from typing import Any

import pytest

from ufo.transforms.llm.usage import reused, shares, total, usage_row

ROW = usage_row("verify", "web", "m", "r1", "q1")


def paid(prompt: int | None, completion: int | None) -> Any:
    return replace(ROW, prompt_tokens=prompt, completion_tokens=completion)


def test_a_row_says_what_was_asked_and_by_whom() -> None:
    told = (ROW.step, ROW.source, ROW.model, ROW.response_id, ROW.request_id)
    assert told == ("verify", "web", "m", "r1", "q1")
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


@pytest.mark.parametrize(
    ("rows", "count", "expected"),
    [
        pytest.param([paid(9, 3)], 3, [(3, 1)] * 3, id="equal shares"),
        pytest.param([paid(10, 2)], 3, [(4, 1), (3, 1), (3, 0)], id="the rest goes to the first"),
        pytest.param([paid(4, 1), paid(6, 1)], 2, [(5, 1), (5, 1)], id="of two requests"),
        pytest.param([paid(None, 4)], 2, [(None, 2), (None, 2)], id="an unknown prompt"),
        pytest.param([paid(4, None)], 1, [(4, None)], id="an unknown reply"),
        pytest.param([], 2, [(None, None)] * 2, id="no request"),
        pytest.param([paid(4, 4)], 0, [], id="no answer"),
    ],
)
def test_tokens_are_divided_without_a_rest(rows: Any, count: int, expected: Any) -> None:
    assert shares(rows, count) == expected


def test_what_comes_from_the_cache_has_the_tokens_that_it_saves() -> None:
    found = reused(ROW, [("q1", (4, 1)), ("q2", (7, 7)), ("q1", (6, None))], cached=True)
    assert found == [
        replace(ROW, request_id="q1", cached=True, prompt_tokens=10, completion_tokens=1),
        replace(ROW, request_id="q2", cached=True, prompt_tokens=7, completion_tokens=7),
    ]


def test_what_another_response_asks_for_has_no_tokens() -> None:
    assert reused(ROW, [("q1", (4, 1))], cached=False) == [replace(ROW, coalesced=True)]
