"""How long an endpoint asks to wait, and which rate it allows."""

from typing import Any

import pytest

from tests.golden.tables import tables
from ufo.transforms.llm import waits

TABLES = tables("endpoints")


def header_in(value: Any) -> str:
    """The last of some headers, or the wait that is read in them."""
    return [*value.values(), "nothing"][0] if isinstance(value, dict) else str(value)


@pytest.mark.parametrize(("headers", "seconds"), TABLES["waits"], ids=header_in)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert waits.retry_after(headers, now=100.0) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1m30s"}, 90.0),
        ({"retry-after": "1700000042"}, 42.0),
        ({"x-retry-after": "12"}, 12.0),
        ({"x-ms-retry-after-ms": "12000", "retry-after": "13"}, 12.0),
    ],
)
def test_a_wait_in_another_form(headers: dict[str, str], seconds: float) -> None:
    assert waits.retry_after(headers, now=1_700_000_000.0) == seconds


def test_after_a_refusal_the_reset_of_a_limit_is_enough() -> None:
    headers = {"x-ratelimit-reset-requests": "1m30s"}
    assert waits.used_up(headers, 0.0) is None
    assert waits.used_up(headers, 0.0, refused=True) == 90.0
    left = {**headers, "x-ratelimit-remaining-requests": "1"}
    assert waits.used_up(left, 0.0, refused=True) is None


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("20ms", 0.02),
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("2d", 172_800.0),
        ("12", 12.0),
        ("1700000030", 30.0),
        ("0s", None),
        ("soon", None),
        ("", None),
        ("5s soon", None),
        ("1699999999", None),
        ("1000000000", 1e9),
        ("1000000001", None),
    ],
)
@pytest.mark.parametrize("what", ["requests", "tokens"])
def test_a_used_up_limit_is_waited_for(what: str, reset: str, seconds: float | None) -> None:
    headers = {f"x-ratelimit-remaining-{what}": "0", f"x-ratelimit-reset-{what}": reset}
    assert waits.used_up(headers, 1_700_000_000.0) == seconds


@pytest.mark.parametrize(
    ("left", "resets", "seconds"),
    [
        pytest.param(("0", "0"), ("3s", "2s"), 3.0, id="the longer of two"),
        pytest.param(("0", "1"), ("3s", "9s"), 3.0, id="one that is used up"),
        pytest.param(("1", "1"), ("3s", "2s"), None, id="something is left of both"),
    ],
)
def test_limits_that_are_used_up_are_waited_for(
    left: tuple[str, str], resets: tuple[str, str], seconds: float | None
) -> None:
    headers = {}
    for what, remaining, reset in zip(("requests", "tokens"), left, resets, strict=True):
        headers[f"x-ratelimit-remaining-{what}"] = remaining
        headers[f"x-ratelimit-reset-{what}"] = reset
    assert waits.used_up(headers, 0.0) == seconds


def test_without_headers_no_limit_is_waited_for() -> None:
    assert waits.used_up({}, 0.0) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please retry in 31.5s.", 31.5),
        ("Please retry in 45.578569677s.", 45.578569677),
        ("Please try again in 6m0s. PageVisits", 360.0),
        ("try again in 1h2m3.5s", 3723.5),
        ("try again in 820ms.", 0.82),
        ("Please retry after 20 seconds.", 20.0),
        ("Please wait 35204 seconds before retrying.", 35204.0),
        ("try again after 1 hour and 5 minutes", 3900.0),
        ("please try again after 1 seconds", 1.0),
        ("Quota will be replenished in 02:10:05.", 7805.0),
        ("Your limit resets at 00:02:00 UTC", 20.0),
        ("not available until 00:01:00", 86360.0),
        ('{"retryDelay": "31s"}', 31.0),
        ('{"retry_after": 30}', 30.0),
        ('{"retry_after_seconds": 2.5}', 2.5),
        ('{"retry_after_ms": 500}', 0.5),
        ("retry_after=7", 7.0),
        ("You will regain access on 1970-01-01 at 01:00 UTC.", 3500.0),
        ("Your limit will reset at 1970-01-01 00:05:00", 200.0),
        ("available again after 1970-01-01T00:02:00Z", 20.0),
        ("until 1970-01-01T02:00:00+02:00", 0.0),
        ("Cooldown: 45 seconds remaining", 45.0),
        ("Next request allowed in 45 s", 45.0),
        ("请求过于频繁，请在30秒后重试", 30.0),
        ('{"retryDelay": {"seconds": 12}}', 12.0),
        ("Please retry your request. Limit 60, 3 used", None),
        ("Please try again later (request 17)", None),
        ("500 tokens", None),
        ("", None),
        ("Try again at 2026-13-45 10:00 UTC", None),
    ],
)
def test_the_wait_that_words_ask_for(text: str, seconds: float | None) -> None:
    assert waits.asked_in_words(text, now=100.0) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("words", "requests"),
    [
        ("on requests per min (RPM): Limit 3, Used 3, Requested 1", 3),
        ("request reached organization max RPM: 3, please try again", 3),
        ("limited to 10 API calls / minute", 10),
        ("your rate limit of 1,000 requests per minute", 1000),
        ("60 RPM", 60),
        ("on tokens per min (TPM): Limit 30000, Used 29000", None),
        ("on requests per day (RPD): Limit 200", None),
        ("slow down", None),
    ],
)
def test_the_rate_that_words_name(words: str, requests: int | None) -> None:
    assert waits.per_minute(words, {}, 0.0) == requests


@pytest.mark.parametrize(
    ("remaining", "reset", "requests"),
    [
        pytest.param("0", "20s", 30, id="used up for less than a minute"),
        pytest.param("1", "20s", None, id="something is left"),
        pytest.param("0", "9m", None, id="counted by the day"),
    ],
)
def test_the_rate_that_headers_name(remaining: str, reset: str, requests: int | None) -> None:
    names = "limit", "remaining", "reset"
    values = zip(names, ("30", remaining, reset), strict=True)
    headers = {f"x-ratelimit-{name}-requests": value for name, value in values}
    assert waits.per_minute("", headers, 0.0) == requests


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"anthropic-ratelimit-requests-remaining": "0",
          "anthropic-ratelimit-requests-reset": "1970-01-01T00:02:00Z"}, 20.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000000000"}, 1699999900.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "7"}, 7.0),
        ({"ratelimit-reset": "7"}, None),
        ({"ratelimit": '"default";r=0;t=42'}, 42.0),
        ({"ratelimit": "limit=100, remaining=0, reset=42"}, 42.0),
        ({"ratelimit": "limit=100, remaining=5, reset=42"}, None),
    ],
)  # fmt: skip
def test_used_up_limits_by_the_headers_of_others(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert waits.used_up(headers, 100.0) == seconds
