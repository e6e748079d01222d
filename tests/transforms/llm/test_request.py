"""What the end of a reply says, and how requests that are made together end."""

import asyncio

import pytest

from ufo.schemas.errors import NotYetAnswered
from ufo.transforms.concurrently import together
from ufo.transforms.llm.request import BROKEN_OFF, WHOLE, WITHHELD, Choice

ENDINGS = {
    WHOLE: [
        "stop",
        "STOP",
        " stop ",
        "tool_calls",
        "tool-calls",
        "function_call",
        "end_turn",
        "eos",
        "eos_token",
        "stop_sequence",
        "COMPLETE",
        "Finish_Reason_Stop",
        "tool use",
        "endTurn",
        "FinishReason.STOP",
        "STOP_REASON_END_TURN",
    ],
    WITHHELD: [
        "content_filter",
        "SAFETY",
        "PROHIBITED_CONTENT",
        "RECITATION",
        "refusal",
        "FinishReason.SAFETY",
    ],
    BROKEN_OFF: [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "insufficient_system_resource",
        "network_error",
        "model_context_window_exceeded",
        "model_length",
        "time_limit",
        "abort",
        "",
        "unknown",
        "error",
        "cancelled",
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "incomplete",
        "FinishReason.MAX_TOKENS",
        "error: stop",
    ],
}


@pytest.mark.parametrize(
    ("word", "ending"), [(word, kind) for kind, words in ENDINGS.items() for word in words]
)
def test_only_a_known_word_means_that_a_reply_is_whole(word: str, ending: str) -> None:
    choice = Choice("In 19", finish_reason=word)
    assert choice.ending == ending
    assert choice.whole == (ending == WHOLE)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": 1}', True),
        (' [{"a": 1}]\n', True),
        ('{"a": 1', False),
        ("{}", False),
        ("[", False),
        ("1815", False),
        ('"a"', False),
        ("It is true.", False),
        ("", False),
        ("[" * 100_000, False),
    ],
)
def test_a_reply_that_broke_off_proves_itself_whole_as_json(text: str, whole: bool) -> None:
    assert Choice(text, finish_reason="length").whole is whole
    assert Choice(arguments=text, finish_reason="").whole is whole
    assert not Choice(text, finish_reason="content_filter").whole


@pytest.mark.parametrize(
    ("error", "end"),
    [
        pytest.param(ValueError("odd"), "cancelled", id="an error cancels the others"),
        pytest.param(asyncio.CancelledError(), "cancelled", id="so does a cancellation"),
        pytest.param(NotYetAnswered("later"), "sent", id="a batch waits for the others"),
    ],
)
def test_an_error_is_raised_once_the_others_have_ended(error: BaseException, end: str) -> None:
    ends: list[str] = []

    async def breaks() -> None:
        await asyncio.sleep(0)
        raise error

    async def other() -> None:
        try:
            for _ in range(9):
                await asyncio.sleep(0)
            ends.append("sent")
        except asyncio.CancelledError:
            for _ in range(3):  # it closes its connection
                await asyncio.sleep(0)
            ends.append("cancelled")
            raise

    async def ask() -> None:
        with pytest.raises(type(error)):
            await together([other(), breaks(), other()])
        assert ends == [end] * 2

    asyncio.run(ask())
