"""A limit of requests over a sliding window, and the headers that tell of it."""

import math
from collections import deque
from dataclasses import dataclass

from .errors import rate_limited


@dataclass(frozen=True, slots=True)
class Limits:
    """`requests` allowed in any `window` of seconds."""

    requests: int
    window: float = 60.0


class Meter:
    """Counts what came in; raises where a request is one too many."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen: deque[float] = deque()

    def admit(self, now: float) -> dict[str, str]:
        """Take a request and return the rate limit headers of its response."""
        while self._seen and self._seen[0] <= now - self._limits.window:
            self._seen.popleft()
        wait = (self._seen[0] if self._seen else now) + self._limits.window - now
        left = self._limits.requests - len(self._seen)
        headers = {
            "x-ratelimit-limit-requests": str(self._limits.requests),
            "x-ratelimit-remaining-requests": str(max(left - 1, 0)),
            "x-ratelimit-reset-requests": f"{wait:.3f}s",
        }
        if left < 1:
            asked = {
                "retry-after": str(math.ceil(wait)),
                "retry-after-ms": str(int(wait * 1000) + 1),
            }
            raise rate_limited("requests", self._limits.requests, headers | asked)
        self._seen.append(now)
        return headers
