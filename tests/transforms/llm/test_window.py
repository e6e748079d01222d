"""How tokens are estimated, and what a run learns of a model's context."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.llm.failures import Overflow
from ufo.transforms.llm.window import ContextWindow, count, prompt_tokens


def body(words: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "word " * words}]}


def arrived(window: ContextWindow, *sizes: tuple[int, int]) -> list[bool]:
    """Whether prompts of so many words arrived whole, of which so many tokens were counted."""
    asked = [(body(words), counted) for words, counted in sizes]
    return [window.arrived(one, prompt_tokens(one), counted) for one, counted in asked]


def test_what_is_known_of_a_context_limits_prompt_and_reply() -> None:
    window = ContextWindow()
    assert window.room(100) is None
    assert window.limit(100, 900, 40) == 900
    assert not window.hopeless(10**9)
    window = ContextWindow(1000)
    assert 700 < (window.room(100) or 0) < 900
    assert window.room(2000) == 0
    assert 750 < window.limit(100, 900, 40) < 900
    assert window.limit(990, 900, 40) == 40  # what it needs, and the endpoint decides
    assert window.hopeless(1500)
    assert not window.hopeless(1050)  # an estimate may be too high
    window.refused(1000, 300, Overflow(512, 1500))  # what an error says goes before what was set
    assert window.context == 512
    assert window.hopeless(450)  # 1.5 of its tokens for each of ours
    assert not window.fits(330, 40)
    assert window.fits(250, 40)


def test_a_count_that_was_not_said_is_raised_until_less_is_asked() -> None:
    window = ContextWindow()
    limits: list[int] = []
    while not limits or (window.fits(400, 40) and len(limits) < 50):
        limits.append(window.limit(400, 600, 40))
        window.refused(400, limits[-1], Overflow(1000))
    assert limits == sorted(limits, reverse=True)
    assert 1 < len(limits) < 10


def test_a_prompt_that_was_cut_is_seen_by_its_count() -> None:
    window = ContextWindow()
    ollama = arrived(window, (900, 930), (6000, 2050), (5000, 2050), (1500, 1540), (3000, 3100))
    assert ollama == [True, False, False, True, True]
    assert window.context == 4096
    window = ContextWindow()
    assert arrived(window, (6000, 2000)) == [False]
    assert window.context == 2000  # of another server, what it left is known


def test_an_endpoint_that_counts_otherwise_cuts_nothing() -> None:
    window = ContextWindow()
    # Less was counted of the second than was left of the longer one.
    assert arrived(window, (6000, 1800), (3000, 900), (6000, 1800)) == [False, True, True]
    assert window.context is None
    # Of one no longer than one that arrived, its prefix was in the endpoint's cache.
    assert arrived(ContextWindow(), (1000, 1010), (1000, 60)) == [True, True]
    # A short prompt and an absent count tell nothing.
    assert arrived(ContextWindow(), (100, 10), (6000, 0)) == [True, True]


TOOLS = [{"name": "verify", "parameters": {"type": "object", "required": ["f1", "f2"] * 40}}]


def prompts(seed: int, spread: float, kept: float = 1.0) -> Iterator[tuple[Any, int]]:
    """Bodies of growing length, and tokens counted as by a vocabulary that takes each text its way;
    the functions are counted by `kept`."""
    chance = random.Random(seed)
    for number in range(40):
        asked = {**body(300 + 40 * number + chance.randrange(400)), "tools": TOOLS}
        tools = prompt_tokens(asked) - prompt_tokens({"messages": asked["messages"]})
        counted = (prompt_tokens(asked) - (1 - kept) * tools) * chance.gauss(1.1, 1.1 * spread)
        yield asked, round(counted)


@pytest.mark.parametrize("kept", [1.0, 0.0])
@pytest.mark.parametrize(("spread", "lost"), [(0.02, 0.22), (0.035, 0.25)])
def test_a_cut_of_a_quarter_is_seen_after_ten_replies(
    spread: float, lost: float, kept: float
) -> None:
    alarms = missed = 0
    longer = {**body(4000), "tools": TOOLS}
    cut = round(1.1 * (1 - lost - 0.03) * prompt_tokens({"messages": longer["messages"]}))
    for seed in range(40):
        window = ContextWindow()
        for (asked, counted), _ in zip(prompts(seed, spread, kept), range(11), strict=False):
            alarms += not window.arrived(asked, prompt_tokens(asked), counted)
        missed += window.arrived(longer, prompt_tokens(longer), cut)
    assert alarms == 0
    assert missed <= 6


@pytest.mark.parametrize("seed", range(20))
def test_prompts_that_vary_raise_no_alarm(seed: int) -> None:
    window = ContextWindow()
    assert all(window.arrived(one, prompt_tokens(one), n) for one, n in prompts(seed, 0.05))


def test_a_prompt_of_another_kind_or_script_is_not_measured_by_the_others() -> None:
    window = ContextWindow()
    for number in range(20):
        assert window.arrived(body(900 + number), 904 + number, 1000, "verify")
    assert window.arrived(body(2000), 2004, 1750, "xml")
    assert not window.arrived(body(3000), 3004, 2300, "xml")
    # What it has more may be of words that are few tokens each.
    assert window.arrived(body(2000), 2004, 1000 + 900, "verify")
    assert not window.arrived(body(3000), 3004, 2300, "verify")
    window = ContextWindow()
    assert all(arrived(window, *((900 + number, 930) for number in range(20))))
    chinese = {"messages": [{"role": "user", "content": "\u5965\u65af\u9646\u662f\u4e00 " * 900}]}
    assert window.arrived(chinese, prompt_tokens(chinese), 3000)


CONTEXTS = st.none() | st.integers(128, 200_000)


@given(CONTEXTS, st.integers(1, 100_000), st.integers(1, 20_000), st.integers(0, 400))
def test_a_limit_is_never_raised_nor_below_what_is_expected(
    context: int | None, prompt: int, most: int, expects: int
) -> None:
    limit = ContextWindow(context).limit(prompt, most, expects)
    assert min(most, max(expects, 1)) <= limit <= most


def test_tokens_are_about_as_many_as_byte_pairs() -> None:
    assert count("") == 0
    assert 6 <= count("The river of Oslo is long.") <= 8
    assert 9 <= count("In 1815 she counted 12,345 stars.") <= 13
    assert 4 <= count("Donaudampfschifffahrtsgesellschaft") <= 10
    assert 5 <= count("奥斯陆是一座大城市") <= 9
    bare = prompt_tokens({"messages": [{"role": "user", "content": "one two"}]})
    assert 2 < bare < 10
