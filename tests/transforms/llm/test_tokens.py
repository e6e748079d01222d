"""How tokens are estimated, and what a run knows of a model's context."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm_server.contexts import STATEMENTS
from ufo.transforms.llm.errors import Overflow
from ufo.transforms.llm.tokens import (
    Context,
    count,
    far_fewer,
    prompt_tokens,
    size_in,
    stated_context,
    tokens_at_most,
)


def body(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


# --- the estimate ---


def test_tokens_are_about_as_many_as_byte_pairs() -> None:
    assert count("") == 0
    assert 6 <= count("The river of Oslo is long.") <= 8
    assert 9 <= count("In 1815 she counted 12,345 stars.") <= 13
    assert 4 <= count("Donaudampfschifffahrtsgesellschaft") <= 10
    assert 5 <= count("奥斯陆是一座大城市") <= 9
    assert 9 <= count("Столица Норвегии — Осло.") <= 13
    assert 2 < prompt_tokens(body("one two")) < 10


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("abcdefgh", 1),
        ("abcdefghi", 2),
        ("123", 1),
        ("1234", 2),
        ("?!", 1),
        ("?!?", 2),
        ("________", 1),
        ("_________", 2),
        ("a1_?", 4),
        ("a b", 2),
        ("a\n\n        b", 5),
        ("é\n\n        b", 5),
        ("é", 1),
        ("éàè", 2),
        ("é abcdefgh", 2),
        ("é abcdefghi", 3),
        ("é 123", 2),
        ("é 1234", 3),
        ("é ?!?", 3),
        ("é ________", 2),
        ("é _________", 3),
        ("奥斯陆", 3),
        ("오슬로", 3),
        ("オスロ", 3),
    ],
)
def test_tokens_are_parts_of_words_digits_and_marks(text: str, tokens: int) -> None:
    assert count(text) == tokens


@pytest.mark.parametrize("messages", [1, 2])
@pytest.mark.parametrize("field", ["tools", "response_format"])
def test_each_message_and_the_function_have_tokens_of_their_own(messages: int, field: str) -> None:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "one two"}] * messages}
    assert prompt_tokens(asked) == 6 * messages
    assert prompt_tokens({**asked, field: ["é"]}) == 6 * messages + count('["é"]')


@pytest.mark.parametrize(
    ("text", "counted", "far"),
    [
        pytest.param("word " * 801, 333, True, id="under a twelfth of the characters"),
        pytest.param("word " * 801, 334, False, id="a twelfth of the characters"),
        pytest.param("word " * 800, 40, False, id="a prompt that fits everywhere"),
        pytest.param("word " * 801, 0, False, id="nothing counted"),
        pytest.param("word " * 801, None, False, id="no count"),
        pytest.param("奥斯陆 " * 1500, 2000, False, id="another script"),
    ],
)
def test_a_count_that_no_vocabulary_can_give_is_seen(
    text: str, counted: int | None, far: bool
) -> None:
    assert far_fewer(body(text), counted) is far


@pytest.mark.parametrize(
    ("body", "tokens"),
    [({"a": ""}, 4), ({"a": "é"}, 4), ({"a": "bbb"}, 5)],
    ids=["9 bytes", "11 bytes", "12 bytes"],
)
def test_three_bytes_of_a_request_are_reserved_as_a_token(
    body: dict[str, str], tokens: int
) -> None:
    assert tokens_at_most(body) == tokens


# --- the context ---


def test_an_unknown_context_limits_nothing() -> None:
    context = Context()
    assert not context.known
    assert context.room(100) is None
    assert context.limit(100, 900, 40) == 900
    assert not context.hopeless(10**9)


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
    assert Context(1000).limit(prompt, most, expects) == limit


@given(
    st.none() | st.integers(128, 200_000),
    st.integers(1, 100_000),
    st.integers(1, 20_000),
    st.integers(0, 400),
)
def test_a_limit_is_never_raised_nor_below_what_is_expected(
    size: int | None, prompt: int, most: int, expects: int
) -> None:
    limit = Context(size).limit(prompt, most, expects)
    assert min(most, max(expects, 1)) <= limit <= most


@pytest.mark.parametrize(("prompt", "room"), [(100, 874), (894, 0), (895, 0), (2000, 0)])
def test_the_room_beside_a_prompt_is_never_below_nothing(prompt: int, room: int) -> None:
    assert Context(1000).room(prompt) == room


@pytest.mark.parametrize(("prompt", "hopeless"), [(1250, False), (1251, True)])
def test_a_prompt_is_hopeless_over_five_quarters_of_a_context(prompt: int, hopeless: bool) -> None:
    assert Context(1000).hopeless(prompt) is hopeless  # an estimate may be too high


@pytest.mark.parametrize(
    ("prompt", "counted", "room"),
    [
        pytest.param(500, 1000, 890, id="twice the estimate"),
        pytest.param(500, 250, 1890, id="half of it is what was not read before"),
        pytest.param(255, 1000, 1890, id="a short prompt is mostly the template"),
        pytest.param(500, None, 1890, id="no count"),
        pytest.param(500, 10**9, 1890, id="a count that cannot be"),
    ],
)
def test_more_tokens_than_estimated_leave_less_room(
    prompt: int, counted: int | None, room: int
) -> None:
    context = Context(2000 + 16)
    context.counted(prompt, counted)
    assert context.room(100) == room


@pytest.mark.parametrize(
    ("overflow", "expects", "less", "room"),
    [
        pytest.param(Overflow(512, 1500), 40, False, 0, id="both numbers, and no room"),
        pytest.param(Overflow(4096, None), 40, False, 2038, id="a size that would do"),
        pytest.param(Overflow(1200, 1000), 40, True, 84, id="a lower limit may help"),
        pytest.param(Overflow(1200, 1000), 300, False, 84, id="not for so long a reply"),
        pytest.param(Overflow(), 40, False, 0, id="no number: three quarters are guessed"),
    ],
)
def test_a_refusal_teaches_the_size_and_how_the_endpoint_counts(
    overflow: Overflow, expects: int, less: bool, room: int
) -> None:
    context = Context(999)
    assert context.refused(1000, 300, expects, overflow) is less
    if overflow.context:
        assert context.size == overflow.context
        assert context.room(1000) == room


@pytest.mark.parametrize("size", [-1, 0, 1, 2**40])
def test_a_size_that_cannot_be_is_not_learned(size: int) -> None:
    context = Context(999)
    context.refused(1000, 300, 40, Overflow(size))
    assert context.size == 999


def test_a_size_that_no_error_names_is_guessed_and_limits_no_reply() -> None:
    context = Context()
    assert not context.refused(1000, 300, 40, Overflow())
    assert (context.size, context.known) == (None, True)
    assert context.room(100) == 750 - 110 - 16
    assert context.limit(990, 900, 40) == 900
    context.refused(2000, 300, 40, Overflow())
    assert context.room(100) == 750 - 110 - 16


# --- what servers state ---


def asked(answers: Mapping[str, Any], own: bool = True) -> tuple[int | None, list[str]]:
    """The size that is found, and the places that were asked for it."""
    places: list[str] = []

    async def look(path: str, sent: Mapping[str, Any] | None) -> Any:
        places.append(path)
        return answers.get(path.removeprefix("http://h:1"))

    return asyncio.run(stated_context(look, "http://h:1/v1", "m", own)), places


@pytest.mark.parametrize("server", STATEMENTS)
def test_each_server_is_asked_in_its_own_way(server: str) -> None:
    (_, path), states = STATEMENTS[server]
    size, _ = asked({path.removeprefix("/v1") if "models" in path else path: states("m", 4096)})
    size_at_api, _ = asked({path: states("m", 4096)})
    assert 4096 in (size, size_at_api)


def test_only_a_server_of_ones_own_is_asked_for_more_than_its_models() -> None:
    assert asked({}, own=False) == (None, ["/models"])
    assert len(asked({})[1]) == 8
    assert asked({"/models": {"data": [{"id": "m", "max_model_len": 512}]}}) == (512, ["/models"])


NO_LISTS: list[Any] = [None, [], "x", 5, {"data": 5}, {"data": [None, 3]}]


@pytest.mark.parametrize(
    ("payload", "size"),
    [
        pytest.param({"data": [{"id": "x", "n_ctx": 512}]}, 512, id="the only one"),
        pytest.param({"data": [{"id": "x", "n_ctx": 512}, {"id": "y"}]}, None, id="of others"),
        pytest.param({"models": [{"name": "m:latest", "n_ctx": 512}]}, 512, id="the latest"),
        pytest.param({"data": [{"id": "m", "max_model_len": "4096"}]}, 4096, id="a text"),
        pytest.param({"data": [{"id": "m", "max_model_len": 4096.0}]}, 4096, id="a float"),
        pytest.param({"data": [{"id": "m", "max_model_len": True}]}, None, id="true"),
        pytest.param({"data": [{"id": "m", "max_model_len": -1}]}, None, id="no size"),
        pytest.param({"data": [{"id": "m", "max_model_len": 2**63}]}, None, id="too large"),
        pytest.param({"data": [{"id": "m", "max_model_len": None}]}, None, id="null"),
        pytest.param(
            {"data": [{"id": "m", "context_length": 9000, "top_provider": {"n_ctx": 800}}]},
            800,
            id="the one in use before the largest",
        ),
        pytest.param({"n_ctx_train": 131072}, None, id="what it was trained with"),
        *((payload, None) for payload in NO_LISTS),
    ],
)
def test_sizes_are_read_where_they_are(payload: Any, size: int | None) -> None:
    assert size_in(payload, "m") == size


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("n_ctx"), inner),
    max_leaves=8,
)


@given(JSON)
def test_nothing_that_a_server_states_breaks_the_reader(payload: Any) -> None:
    assert (size_in(payload, "m") or 128) >= 128
