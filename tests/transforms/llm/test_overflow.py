"""What each server says of a request that is too long, read to its numbers."""

import pytest

from tests.llm_server import PROFILES
from transforms.llm.failures import Overflow, overflow_of

SAID = [
    (
        "request (931 tokens) exceeds the available context size (512 tokens), try increasing it",
        Overflow(512, 931),
    ),
    (
        "the request exceeds the available context size. try increasing the context size or enable "
        "context shift",
        Overflow(),
    ),
    ("Requested tokens (2285) exceed context window of 2048", Overflow(2048, 2285)),
    (
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens "
        "(112946 in the messages, 10000 in the completion). Please reduce the length of the "
        "messages or completion.",
        Overflow(16384, 112946),
    ),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output "
        "tokens and your prompt contains at least 62466 input tokens, for a total of at least "
        "128001 tokens.",
        Overflow(128000),
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context "
        "length is 64001 tokens and your request has 24235 input tokens (64000 > 64001 - 24235).",
        Overflow(64001, 24235),
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 4116 tokens "
        "(3860 in your prompt; 256 for the completion).",
        Overflow(4097, 3860),
    ),
    (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is "
        "loaded with context length of only 32768 tokens, which is not enough.",
        Overflow(32768, 111490),
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or "
        "provide a shorter input.",
        Overflow(4096, 13055),
    ),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", Overflow(7424, 15028)),
    ("prompt is too long: 202609 tokens > 200000 maximum", Overflow(200000, 202609)),
    ("Your input exceeds the context window of this model.", Overflow()),
]


@pytest.mark.parametrize(("message", "expected"), SAID)
def test_the_numbers_are_read_where_they_are_said(message: str, expected: Overflow) -> None:
    assert overflow_of(400, set(), {}, message) == expected


def test_fields_go_before_words() -> None:
    fields = {"n_prompt_tokens": 1407, "n_ctx": 256}
    assert overflow_of(500, {"exceed_context_size_error"}, fields, "") == Overflow(256, 1407)


@pytest.mark.parametrize(
    ("status", "codes", "message"),
    [
        (429, set(), "Rate limit: too many tokens in the context window"),
        (400, {"invalid_value"}, "max_tokens is too large: 9. This model supports at most 4"),
        (400, set(), "registry.ollama.ai/library/llama3:8b does not support tools"),
    ],
)
def test_other_errors_are_none(status: int, codes: set[str], message: str) -> None:
    assert overflow_of(status, codes, {}, message) is None


@pytest.mark.parametrize("profile", PROFILES)
def test_the_numbers_of_every_profile_are_read(profile: str) -> None:
    error = PROFILES[profile].too_long(512, 700, 40).payload()
    fields = error.get("error", error)
    fields = fields if isinstance(fields, dict) else {"message": fields}
    codes = {str(fields.get(name)) for name in ("code", "type")}
    assert overflow_of(400, codes, fields, fields["message"]) == Overflow(512, 700)
