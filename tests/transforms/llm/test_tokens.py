"""How tokens are estimated, and what a run learns of a model's context."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.llm.errors import Overflow
from ufo.transforms.llm.tokens import ContextWindow, at_least, count, prompt_tokens


def body(words: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "word " * words}]}


def arrived(window: ContextWindow, *sizes: tuple[int, int]) -> list[bool]:
    """Whether prompts of so many words arrived whole, of which so many tokens were counted."""
    asked = [(body(words), counted) for words, counted in sizes]
    return [window.arrived(one, prompt_tokens(one), counted) for one, counted in asked]


def test_an_unknown_context_limits_nothing() -> None:
    window = ContextWindow()
    assert window.room(100) is None
    assert window.limit(100, 900, 40) == 900
    assert not window.hopeless(10**9)
    assert not window.fits(1, 1)


@pytest.mark.parametrize(
    ("prompt", "most", "expects", "limit"),
    [
        pytest.param(100, 873, 40, 873, id="less than what is left"),
        pytest.param(100, 874, 40, 874, id="all that is left"),
        pytest.param(100, 875, 40, 874, id="more than what is left"),
        pytest.param(990, 900, 40, 40, id="what it needs, and the endpoint decides"),
        pytest.param(990, 30, 40, 30, id="no more than was asked for"),
        pytest.param(990, 900, 0, 1, id="one token at least"),
    ],
)
def test_a_reply_has_what_a_prompt_leaves(prompt: int, most: int, expects: int, limit: int) -> None:
    # A tenth more for the prompt, and 16 tokens of a template, are left free.
    assert ContextWindow(1000).limit(prompt, most, expects) == limit


@pytest.mark.parametrize(("prompt", "room"), [(100, 874), (894, 0), (895, 0), (2000, 0)])
def test_the_room_beside_a_prompt_is_never_below_nothing(prompt: int, room: int) -> None:
    assert ContextWindow(1000).room(prompt) == room


@pytest.mark.parametrize(("prompt", "hopeless"), [(1250, False), (1251, True)])
def test_a_prompt_is_hopeless_over_five_quarters_of_a_context(prompt: int, hopeless: bool) -> None:
    assert ContextWindow(1000).hopeless(prompt) is hopeless  # an estimate may be too high


@pytest.mark.parametrize(("expects", "fits"), [(40, True), (41, False)])
def test_prompt_and_reply_may_fill_the_context(expects: int, fits: bool) -> None:
    assert ContextWindow(1000).fits(960, expects) is fits


def test_what_an_error_says_goes_before_what_was_set() -> None:
    window = ContextWindow(1000)
    window.refused(1000, 300, Overflow(512, 1500))
    assert window.context == 512
    assert window.hopeless(450)  # 1.5 of its tokens for each of ours
    assert not window.fits(330, 40)
    assert window.fits(250, 40)


def test_a_refusal_without_numbers_lets_a_context_be_guessed_until_more_is_taken() -> None:
    window = ContextWindow()
    window.refused(1000, 300, Overflow())
    assert window.context == 750
    window.took(800)
    assert window.context == 900
    assert window.limit(990, 900, 40) == 900  # a guess limits no reply


def test_a_reply_that_ends_early_shows_the_context() -> None:
    window = ContextWindow()
    window.ended(700)
    assert window.context == 700
    window.ended(900)
    assert window.context == 700


@pytest.mark.parametrize(("words", "whole"), [(251, True), (252, False)])
def test_a_prompt_of_256_tokens_and_more_can_be_seen_to_be_cut(words: int, whole: bool) -> None:
    assert prompt_tokens(body(words)) == words + 4
    assert arrived(ContextWindow(), (words, 10)) == [whole]


@pytest.mark.parametrize(
    ("left", "context"),
    [
        pytest.param(2049, 4096, id="half of the context and a token"),
        pytest.param(2052, 4096, id="half of the context and four tokens"),
        pytest.param(2048, 2048, id="no token more"),
        pytest.param(2053, 2053, id="five tokens more"),
        pytest.param(3, 3, id="less than a block"),
    ],
)
def test_the_context_is_guessed_by_what_was_left_of_a_prompt(left: int, context: int) -> None:
    window = ContextWindow()
    assert arrived(window, (6000, left)) == [False]
    assert window.context == context


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
def test_a_cut_of_a_quarter_is_seen_in_ten_replies(spread: float, lost: float, kept: float) -> None:
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


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *(("abcdefgh", 1), ("abcdefghi", 2), ("123", 1), ("1234", 2), ("?!", 1), ("?!?", 2)),
        *(("________", 1), ("_________", 2), ("a1_?", 4), ("a b", 2), ("é", 1), ("éa", 2)),
        *(("é abcdefgh", 2), ("é abcdefghi", 3), ("é 123", 2), ("é 1234", 3), ("é ?!?", 3)),
        *(("é ________", 2), ("é _________", 3), ("奥斯陆", 3)),
    ],
)
def test_tokens_are_parts_of_words_digits_and_marks(text: str, tokens: int) -> None:
    assert count(text) == tokens


@pytest.mark.parametrize(
    ("texts", "tokens"),
    [
        pytest.param(["abc"], 1, id="a word"),
        pytest.param(["ab", "cd"], 2, id="the words of two messages"),
        pytest.param(["奥" * 7], 1, id="four characters and a rest"),
        pytest.param(["奥" * 8], 2, id="four characters of another script each"),
        pytest.param(["abc 奥奥奥奥"], 2, id="both"),
    ],
)
def test_a_prompt_has_at_least_so_many_tokens(texts: list[str], tokens: int) -> None:
    assert at_least({"messages": [{"content": text} for text in texts]}) == tokens


@pytest.mark.parametrize("messages", [1, 2])
@pytest.mark.parametrize("field", ["tools", "response_format"])
def test_each_message_and_the_function_have_tokens_of_their_own(messages: int, field: str) -> None:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "one two"}] * messages}
    assert prompt_tokens(asked) == 6 * messages
    assert prompt_tokens({**asked, field: ["é"]}) == 6 * messages + count('["é"]')


@pytest.mark.parametrize(
    ("sizes", "whole"),
    [
        pytest.param([(1000, 700)], [True], id="seven tenths of the words"),
        pytest.param([(1000, 699)], [False], id="less than seven tenths"),
        pytest.param([(6000, 2000), (5000, 1800)], [False, False], id="nine tenths of what is cut"),
        pytest.param([(6000, 2000), (5000, 1799)], [False, True], id="less than nine tenths of it"),
        pytest.param([(1000, 1010), (1004, 60)], [True, True], id="as long as a whole one"),
        pytest.param([(1000, 1010), (1005, 60)], [True, False], id="longer than a whole one"),
    ],
)
def test_a_count_shows_a_cut(sizes: list[tuple[int, int]], whole: list[bool]) -> None:
    assert arrived(ContextWindow(), *sizes) == whole


@pytest.mark.parametrize(
    ("prompt", "limit", "counted", "room"),
    [
        pytest.param(256, 300, 128, 1858, id="half of the estimate"),
        pytest.param(255, 300, 128, 874, id="a short prompt says nothing of longer ones"),
        pytest.param(256, 744, None, 646, id="what should have fitted is estimated higher"),
        pytest.param(256, 745, None, 874, id="what could not fit is not"),
    ],
)
def test_a_refusal_teaches_how_the_endpoint_counts(
    prompt: int, limit: int, counted: int | None, room: int
) -> None:
    window = ContextWindow()
    window.refused(prompt, limit, Overflow(1000, counted))
    assert window.room(100) == room


@pytest.mark.parametrize(
    ("events", "context"),
    [
        pytest.param(["took 800"], None, id="nothing was refused"),
        pytest.param(["refused 1000", "refused 2000"], 750, id="a longer prompt is refused too"),
        pytest.param(["refused 2000", "refused 1000"], 750, id="a shorter prompt is refused too"),
        pytest.param(["refused 1000", "refused 2000", "took 800"], 900, id="halfway to the first"),
        pytest.param(["took 900", "took 100", "refused 1000"], 950, id="halfway from the longest"),
        pytest.param(["refused 1000", "took 800", "took 600"], 900, id="less is taken later"),
        pytest.param(["refused 1000", "ended 700", "took 800"], 700, id="a reply ended early"),
    ],
)
def test_a_context_is_guessed_by_all_that_happened(events: list[str], context: int | None) -> None:
    window = ContextWindow()
    for event in events:
        what, _, tokens = event.partition(" ")
        if what == "refused":
            window.refused(int(tokens), 300, Overflow())
        else:
            getattr(window, what)(int(tokens))
    assert window.context == context


def test_a_context_that_is_set_is_not_guessed() -> None:
    window = ContextWindow(500)
    window.took(800)
    assert window.context == 500


@pytest.mark.parametrize(
    ("earlier", "size", "whole"),
    [
        pytest.param([(1000, 1004)] * 10, (3000, 2463), False, id="over 18 % less than ten others"),
        pytest.param([(1000, 1004)] * 10, (3000, 2464), True, id="under 18 % less"),
        pytest.param([(1000, 1004)] * 9, (3000, 2463), True, id="nine others are too few"),
        pytest.param([(300, 304)] * 10, (508, 419), False, id="512 tokens"),
        pytest.param([(300, 304)] * 10, (507, 419), True, id="511 tokens are too few"),
        pytest.param([(500, 504)] * 10, (3000, 2353), False, id="more than easier words explain"),
        pytest.param([(500, 504)] * 10, (3000, 2400), True, id="what is more may be easier words"),
        pytest.param([(3000, 3004)] * 10, (3000, 2400), True, id="as long as one before"),
        pytest.param([(996, 970), (996, 1030)] * 5, (2996, 2188), False, id="six deviations less"),
        pytest.param([(996, 970), (996, 1030)] * 5, (2996, 2192), True, id="under six deviations"),
    ],
)
def test_a_cut_is_seen_by_the_usual_ratio(
    earlier: list[tuple[int, int]], size: tuple[int, int], whole: bool
) -> None:
    assert arrived(ContextWindow(), *earlier, size) == [True] * len(earlier) + [whole]


@pytest.mark.parametrize(("counted", "whole"), [(2313, False), (2314, True)])
def test_a_prompt_of_a_new_kind_may_have_23_percent_less(counted: int, whole: bool) -> None:
    window = ContextWindow()
    assert arrived(window, *[(1000, 1004)] * 10) == [True] * 10
    assert window.arrived(body(3000), 3004, counted, "xml") is whole


@pytest.mark.parametrize(("tokens", "whole"), [(3003, False), (3004, True)])
def test_a_prompt_is_whole_where_as_much_was_taken_before(tokens: int, whole: bool) -> None:
    window = ContextWindow()
    window.took(tokens)
    assert arrived(window, *[(1000, 1004)] * 10, (3000, 2400)) == [True] * 10 + [whole]


@pytest.mark.parametrize(("others", "whole"), [(100, False), (101, True)])
def test_a_prompt_with_over_2_percent_of_another_script_is_not_compared(
    others: int, whole: bool
) -> None:
    window = ContextWindow()
    assert arrived(window, *[(1000, 1004)] * 10) == [True] * 10
    text = ("word " * 980)[: 5000 - others] + "é" * others
    asked = {"messages": [{"role": "user", "content": text}]}
    assert window.arrived(asked, prompt_tokens(asked), 880) is whole


def test_a_lower_ratio_is_learned_slowly() -> None:
    window = ContextWindow(1000)
    assert arrived(window, (1000, 2008), (1000, 1004)) == [True, True]
    assert window.room(100) == 394  # at 1.95 tokens for each of ours
