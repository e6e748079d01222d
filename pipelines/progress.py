"""What a run tells while it goes: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
import time
from collections.abc import Sequence

from schemas.records import Part

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts finished chunks: responses, units, failures, rate and time left.

    `total` is the number of lines of the input; `quiet` says nothing. Lines of a run that goes on
    were done earlier, and do not count for the rate.
    """

    def __init__(self, total: int, quiet: bool = False) -> None:
        self._total = total
        self._quiet = quiet
        self._stream = sys.stderr
        self._started = time.monotonic()
        self._spoke = self._started
        self._lines = 0
        self._fresh = 0
        self._rows: dict[str, int] = {}
        self._on_terminal = self._stream.isatty()

    def chunk(self, lines: int, parts: Sequence[Part], fresh: bool) -> None:
        """Count a finished chunk of that many lines; `fresh` if this process evaluated it."""
        self._lines += lines
        self._fresh += lines if fresh else 0
        for part in parts:
            self._rows[part.table] = self._rows.get(part.table, 0) + part.rows
        now = time.monotonic()
        if self._quiet:
            return
        if self._on_terminal:
            self._stream.write(f"\r\x1b[2K{self._bar()} {self.line()}")
            self._stream.flush()
        elif now - self._spoke >= _SECONDS_BETWEEN_LINES:
            self.say(self.line())
            self._spoke = now

    def line(self) -> str:
        """Return where the run is, in words."""
        seconds = time.monotonic() - self._started
        rate = self._fresh / seconds if seconds > 0 else 0.0
        left = max(0, self._total - self._lines)
        remaining = f" · {_duration(left / rate)} left" if rate and left else ""
        failures = self._rows.get("failures", 0)
        return (
            f"{self._lines:,}/{max(self._total, self._lines):,} responses · "
            f"{self._rows.get('fact_units', 0):,} units"
            + (f" · {failures:,} failures" if failures else "")
            + (f" · {rate:,.0f}/s" if rate else "")
            + remaining
        )

    def say(self, text: str) -> None:
        """Write a line of its own."""
        if self._quiet:
            return
        if self._on_terminal and self._lines:
            self._stream.write("\r\x1b[2K")
        print(text, file=self._stream, flush=True)

    def _bar(self, width: int = 24) -> str:
        share = min(1.0, self._lines / self._total) if self._total else 1.0
        full = round(share * width)
        return f"{'█' * full}{'░' * (width - full)} {share:4.0%}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{whole // 60} min"
    return f"{whole / 3600:.1f} h"
