"""Read the wait and the rate that an endpoint asks for, in its headers or in words."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_MOMENT: Final = 1e9  # a number of seconds above this is a time since the epoch, not a wait
_LONG: Final = 10  # digits of a number that cannot be a limit
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_UNIT = (
    r"(?:ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ou)?r?s?|d(?:ays?)?)(?![a-z])"
)
_PARTS = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT}|(?![a-z]))[\s,]*(?:and\s+)?", re.IGNORECASE)
_AGAIN = (
    r"(?:re-?try\w*|try(?:ing)? again|wait|reset\w*|replenish\w*|regain\w*|available|until"
    r"|cool-?down|next request|allowed)"
)
_DURATION = re.compile(
    rf"{_AGAIN}\b[^\d.;{{}}]{{0,40}}?((?:\d+(?:\.\d+)?\s*{_UNIT}[\s,]*(?:and\s+)?)+)", re.IGNORECASE
)
_FIELD = re.compile(  # `"retry_after_ms": 500`, `"retryDelay": "31.5s"`
    r"retry[_-]?(?:after|delay|in)(_?ms|_?milliseconds)?\w*\"?\s*[:=]\s*(?:\{\"seconds\":\s*)?"
    r"\"?(\d+(?:\.\d+)?s?)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"(\d+)\s*秒钟?[之以]?[后後]")
_LIMIT = re.compile(r"\b(?:r|remaining)=0\b.*?\b(?:t|reset)=(\d+)", re.IGNORECASE)
_CLOCK = re.compile(rf"{_AGAIN}\b[^\d.;{{}}]{{0,40}}?(\d+):(\d\d):(\d\d)\b", re.IGNORECASE)
_DATE = re.compile(
    rf"{_AGAIN}\b[^\d{{}}]{{0,40}}?(\d{{4}}-\d\d-\d\d)(?:T|\s(?:at\s)?)(\d\d:\d\d(?::\d\d)?)"
    r"(?:\.\d+)?\s*([+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_A_MINUTE = re.compile(
    r"(?:\bRPM\b|\brequests? ?(?:per|a|/) ?min\w*)\D{0,30}?(\d[\d,]*)"
    r"|(\d[\d,]*) ?(?:RPM\b|(?:\w+ )?(?:requests?|calls?) ?(?:per|a|/) ?min)",
    re.IGNORECASE,
)


def wait_asked_for(
    headers: Mapping[str, str], text: str, now: float, limited: bool
) -> float | None:
    """Return the seconds that an endpoint asks to wait, None where it does not say.

    They are from its headers, else from the text of an error, else, where the rate was `limited`,
    until a used-up limit is reset.
    """
    seconds = retry_after(headers, now)
    if seconds is None:
        seconds = asked_in_words(text, now)
    if seconds is None and limited:
        seconds = used_up(headers, now, refused=True)
    return seconds


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait by `retry-after` (RFC 9110, 10.2.3) or a header like it.

    One like it is `x-ms-retry-after-ms`. A duration or a time may stand in place of seconds.
    """
    for ending, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        for value in (headers[name].strip() for name in headers if name.endswith(ending)):
            if seconds := _seconds(value, now):
                return seconds / unit
            if value.strip("0.") == "" != value:
                return 0.0
    try:
        return max(parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def asked_in_words(text: str, now: float) -> float | None:
    """Return the seconds to wait that a message names, as in "retry in 31.5s"; None without any.

    A message may also name a time or date, or have a field of its JSON for them.
    """
    if match := _DATE.search(text):
        with suppress(ValueError, OverflowError):  # no day of the calendar
            when = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}")
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            return max(when.timestamp() - now, 0.0)
    if match := _CLOCK.search(text):
        hours, minutes, seconds = map(int, match.groups())
        duration = hours * 3600.0 + minutes * 60.0 + seconds
        before = text[: match.start(1)].casefold().rstrip()
        # In UTC, where it is a time of the day.
        return (duration - now) % 86400.0 if before.endswith((" at", "until")) else duration
    if match := _FIELD.search(text):
        return _seconds(match[2], now) / (1000.0 if match[1] else 1.0)
    match = _DURATION.search(text) or _CHINESE.search(text)
    return _seconds(match[1], now) if match else None


def used_up(headers: Mapping[str, str], now: float, refused: bool = False) -> float | None:
    """Return the seconds until a used-up rate limit is reset, by its headers; None without one.

    They are headers such as `x-ratelimit-reset-requests` or `ratelimit`. A limit is used up if its
    header with `remaining` in place of `reset` is 0, or if there is none and the request was
    `refused`.
    """
    remains = "0" if refused else ""
    waits = [
        _seconds(value, now)
        for name, value in headers.items()
        if "reset" in name
        and "ratelimit" in name.replace("-limit", "limit")
        and headers.get(name.replace("reset", "remaining"), remains).strip() == "0"
    ]
    if match := _LIMIT.search(headers.get("ratelimit", "")):
        waits.append(float(match[1]))
    return max(waits, default=0.0) or None


def per_minute(words: str, headers: Mapping[str, str], now: float) -> int | None:
    """Return the number of requests a minute that a refusal names, None where it names none."""
    if match := _A_MINUTE.search(words):
        return int((match[1] or match[2]).replace(",", "")) or None
    limit = headers.get("x-ratelimit-limit-requests", "")
    # Some providers count these by the day.
    soon = 0 < (used_up(headers, now) or 0.0) <= 60.0
    used = headers.get("x-ratelimit-remaining-requests", "").strip() == "0"
    number = limit.isdecimal() and len(limit) < _LONG
    return int(limit) or None if soon and used and number else None


def _seconds(text: str, now: float) -> float:
    """Return the seconds of a text such as `20ms`, `6m0.5s` or `1 hour 5 minutes`, 0 otherwise.

    It may be a number of seconds, a time since the epoch in seconds or milliseconds, or an ISO
    date.
    """
    text = text.strip()
    parts = list(_PARTS.finditer(text))
    if parts and "".join(part[0] for part in parts) == text:
        seconds = sum(float(part[1]) * _factor(part[2].lower()) for part in parts)
    else:
        try:
            return max(datetime.fromisoformat(text).timestamp() - now, 0.0)
        except (ValueError, OverflowError):
            return 0.0
    if seconds > _MOMENT * 100:
        seconds /= 1000.0
    return max(seconds - now, 0.0) if seconds > _MOMENT else seconds


def _factor(unit: str) -> float:
    """Return the seconds of a unit of time, by its first letters."""
    return 0.001 if unit == "ms" or unit.startswith("milli") else _UNITS[unit[:1]]
