"""A requests and tokens limit over a sliding window, and the headers that tell of it."""

import math
from collections import deque
from dataclasses import dataclass

from .errors import rate_limited


@dataclass(frozen=True, slots=True)
class Limits:
    """`requests` and `tokens` allowed in any `window` of seconds; None for no limit."""

    requests: int | None = None
    tokens: int | None = None
    window: float = 60.0


class Meter:
    """Counts what came in; raises where a request is one too many."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen: deque[tuple[float, int]] = deque()

    def admit(self, now: float, tokens: int) -> dict[str, str]:
        """Take a request and return the rate limit headers of its response."""
        while self._seen and self._seen[0][0] <= now - self._limits.window:
            self._seen.popleft()
        used = {"requests": len(self._seen), "tokens": sum(cost for _, cost in self._seen)}
        wanted = {"requests": 1, "tokens": tokens}
        limits = {"requests": self._limits.requests, "tokens": self._limits.tokens}
        wait = self._seen[0][0] + self._limits.window - now if self._seen else 0.0
        for what, limit in limits.items():
            if limit is not None and used[what] + wanted[what] > limit:
                headers = self._headers(used, wait) | {
                    "retry-after": str(math.ceil(wait)),
                    "retry-after-ms": str(math.ceil(wait * 1000)),
                }
                raise rate_limited(what, limit, headers)
        self._seen.append((now, tokens))
        left = {what: used[what] + wanted[what] for what in used}
        return self._headers(left, max(wait, 0.0) or self._limits.window)

    def _headers(self, used: dict[str, int], reset: float) -> dict[str, str]:
        headers = {}
        for what, limit in (("requests", self._limits.requests), ("tokens", self._limits.tokens)):
            if limit is not None:
                headers[f"x-ratelimit-limit-{what}"] = str(limit)
                headers[f"x-ratelimit-remaining-{what}"] = str(max(limit - used[what], 0))
                headers[f"x-ratelimit-reset-{what}"] = f"{reset:.3f}s"
        return headers
