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


def arrived(window: ContextWindow, words: int, counted: int) -> bool:
    asked = body(words)
    return window.arrived(asked, prompt_tokens(asked), counted)


def test_nothing_is_known_at_first() -> None:
    window = ContextWindow()
    assert window.room(100) is None
    assert window.limit(100, 900, 40) == 900
    assert not window.hopeless(10**9)


def test_a_context_that_is_set_limits_prompt_and_reply() -> None:
    window = ContextWindow(1000)
    assert 700 < (window.room(100) or 0) < 900
    assert window.room(2000) == 0
    assert 750 < window.limit(100, 900, 40) < 900
    assert window.limit(990, 900, 40) == 40  # what it needs, and the endpoint decides
    assert window.hopeless(1500)
    assert not window.hopeless(1050)  # an estimate may be too high


def test_what_an_error_says_goes_before_what_was_set() -> None:
    window = ContextWindow(8192)
    window.refused(1000, 300, Overflow(512, 1500))
    assert window.context == 512
    assert window.hopeless(450)  # 1.5 of its tokens for each of ours
    assert not window.fits(330, 40)
    assert window.fits(250, 40)


def test_an_error_without_numbers_leaves_three_quarters() -> None:
    window = ContextWindow()
    window.refused(1000, 300, Overflow())
    assert 700 < (window.context or 0) < 800
    window.refused(100_000, 300, Overflow())  # that it was too much says less
    assert 700 < (window.context or 0) < 800
    assert not window.hopeless(10_000)  # a guess keeps nothing from being tried
    assert window.limit(500, 300, 40) == 300


def test_a_guess_grows_with_what_is_taken() -> None:
    window = ContextWindow()
    window.refused(1600, 300, Overflow())
    guesses = [window.context or 0]
    for tokens in (700, 1200, 900):
        window.took(tokens)
        guesses.append(window.context or 0)
    assert guesses == [1200, 1200, 1400, 1400]
    window.ended(1300)
    window.took(1250)
    assert window.context == 1300


def test_a_count_that_was_not_said_is_raised_until_less_is_asked() -> None:
    window = ContextWindow()
    limits = []
    for _ in range(50):
        limit = window.limit(400, 600, 40)
        limits.append(limit)
        window.refused(400, limit, Overflow(1000))
        if not window.fits(400, 40):
            break
    assert limits == sorted(limits, reverse=True)
    assert len(limits) < 10


def test_a_prompt_that_was_cut_is_seen_by_its_count() -> None:
    window = ContextWindow()
    assert arrived(window, 900, 930)
    assert not arrived(window, 6000, 2050)  # Ollama with 4,096
    assert window.context == 4096
    assert not arrived(window, 5000, 2050)
    assert arrived(window, 1500, 1540)
    assert arrived(window, 3000, 3100)


def test_of_another_server_that_cuts_what_it_left_is_known() -> None:
    window = ContextWindow()
    assert not arrived(window, 6000, 2000)
    assert window.context == 2000


def test_an_endpoint_that_counts_otherwise_cuts_nothing() -> None:
    window = ContextWindow()
    assert not arrived(window, 6000, 1800)
    assert arrived(window, 3000, 900)  # less than was left of the longer one
    assert window.context is None
    assert arrived(window, 6000, 1800)


def test_a_prompt_no_longer_than_one_that_arrived_is_not_cut() -> None:
    window = ContextWindow()
    assert arrived(window, 1000, 1010)
    assert arrived(window, 1000, 60)  # without its prefix, which was cached


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
    for seed in range(40):
        window = ContextWindow()
        for number, (asked, counted) in enumerate(prompts(seed, spread, kept)):
            alarms += not window.arrived(asked, prompt_tokens(asked), counted)
            if number == 10:
                longer = {**body(4000), "tools": TOOLS}
                messages = prompt_tokens({"messages": longer["messages"]})
                cut = round(1.1 * (1 - lost - 0.03) * messages)
                missed += window.arrived(longer, prompt_tokens(longer), cut)
                break
        else:
            raise AssertionError
    assert alarms == 0
    assert missed <= 6


@pytest.mark.parametrize("seed", range(20))
def test_prompts_that_vary_raise_no_alarm(seed: int) -> None:
    window = ContextWindow()
    for asked, counted in prompts(seed, 0.05):
        assert window.arrived(asked, prompt_tokens(asked), counted)


def test_a_prompt_of_another_kind_is_not_measured_by_the_others() -> None:
    window = ContextWindow()
    for number in range(20):
        assert window.arrived(body(900 + number), 904 + number, 1000, "verify")
    assert window.arrived(body(2000), 2004, 1750, "xml")
    assert not window.arrived(body(3000), 3004, 2300, "xml")
    # What it has more may be of words that are few tokens each.
    assert window.arrived(body(2000), 2004, 1000 + 900, "verify")
    assert not window.arrived(body(3000), 3004, 2300, "verify")


def test_a_text_in_another_script_is_not_measured_by_english_ones() -> None:
    window = ContextWindow()
    for number in range(20):
        assert arrived(window, 900 + number, 930)
    chinese = {"messages": [{"role": "user", "content": "\u5965\u65af\u9646\u662f\u4e00 " * 900}]}
    assert window.arrived(chinese, prompt_tokens(chinese), 3000)


@pytest.mark.parametrize(("words", "counted"), [(100, 10), (6000, 0)])
def test_a_short_prompt_and_an_absent_count_tell_nothing(words: int, counted: int) -> None:
    assert arrived(ContextWindow(), words, counted)


def test_a_reply_that_ends_early_tells_the_context() -> None:
    window = ContextWindow()
    window.ended(512)
    assert window.context == 512
    window.ended(4096)
    assert window.context == 512


@given(
    st.one_of(st.none(), st.integers(128, 200_000)),
    st.integers(1, 100_000),
    st.integers(1, 20_000),
    st.integers(0, 400),
)
def test_a_limit_is_never_raised_nor_below_what_is_expected(
    context: int | None, prompt: int, most: int, expects: int
) -> None:
    limit = ContextWindow(context).limit(prompt, most, expects)
    assert min(most, max(expects, 1)) <= limit <= most


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("The river of Oslo is long.", 6, 8),
        ("In 1815 she counted 12,345 stars.", 9, 13),
        ("Donaudampfschifffahrtsgesellschaft", 4, 10),
        ("奥斯陆是一座大城市", 5, 9),
    ],
)
def test_tokens_are_about_as_many_as_byte_pairs(text: str, low: int, high: int) -> None:
    assert low <= count(text) <= high


@given(st.text(), st.text())
def test_a_longer_text_has_no_fewer_tokens(one: str, other: str) -> None:
    assert count(f"{one} {other}") == count(one) + count(other)


def test_a_prompt_is_its_messages_and_its_functions() -> None:
    body = {"messages": [{"role": "user", "content": "one two"}]}
    bare = prompt_tokens(body)
    assert 2 < bare < 10
    assert prompt_tokens({**body, "tools": [{"name": "three"}]}) > bare
