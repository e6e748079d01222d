"""Show the progress of a run on stderr: a bar on a terminal, plain lines elsewhere."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Protocol

from rich.cells import cell_len

from ufo.pipelines import logs
from ufo.schemas import storage
from ufo.schemas.records import Part
from ufo.schemas.tables import read_rows
from ufo.schemas.text import quantity
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    DECIDED,
    EXTRACTED,
    FAILURES,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    RESPONSES,
    UNITS,
)

POOLED = ("mv", "all")
"""The modes in which no source decides alone."""

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_LOOKS = 0.5
_ROOMY = 80  # columns of a terminal; in fewer the bar is short

_LOGGED = (EXTRACTED, REQUESTS, IN_FLIGHT, PROMPT_TOKENS, COMPLETION_TOKENS)


class Counts(Protocol):
    """Where the processes of a run count what they do, under the names of a usage log. `exact` if
    they count nothing twice; else their numbers count only until the exact ones are known."""

    exact: bool

    def totals(self) -> Mapping[str, float]:
        """Return the sum of each number so far."""

    def messages(self) -> Sequence[str]:
        """Return the warnings in `totals` for the user."""


class Progress:
    """Counts finished chunks, and what is known of those under way: responses, units by deciding
    source, requests, tokens and their cost, rate and time left.

    `total` is the number of lines of the input; `quiet` says nothing. Lines of a run that goes on
    were done earlier, and do not count for the rate.

    A unit is decided by the first source with a valid answer (Multi-Seq), or by the one source that
    is asked. Where the votes of several are `pooled` (Multi-MV, and `all`), none decides alone, and
    the line shows for how many units each source had a valid answer.
    """

    def __init__(self, total: int, quiet: bool = False, pooled: bool = False) -> None:
        self._total = total
        self._pooled = pooled
        self._quiet = quiet
        self._stream = sys.stderr
        self._started = monotonic()
        self._spoke = self._started
        self._earlier = 0
        self._fresh = 0
        self._rows: Counter[str] = Counter()
        self._units = {True: 0, False: 0}
        self._decided: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._live: Mapping[str, float] = {}
        self._priced = False
        self._on_terminal = self._stream.isatty()
        self._lock = Lock()

    def chunk(
        self,
        lines: int,
        parts: Sequence[Part],
        fresh: bool,
        decided: Mapping[str, int] | None = None,
    ) -> None:
        """Count a finished chunk of that many lines; `fresh` if this process evaluated it.

        `decided` is how many units each source decided, or answered where votes are pooled.
        """
        if fresh:
            self._fresh += lines
        else:
            self._earlier += lines
        for part in parts:
            self._rows[part.table] += part.rows
            self._units[fresh] += part.rows if part.table in ("fact_units", "recall_facts") else 0
        self._decided[fresh].update(decided or {})
        self._tell()

    @contextmanager
    def watching(self, counts: Counts | None = None, priced: bool = False) -> Iterator[None]:
        """Keep the bar moving within this context, and tell what the processes of the run count
        too, where they do; `priced` if the cost of what they ask is known."""
        self._priced = priced
        done = Event()
        looking = Thread(target=self._look, args=(counts, done.wait), daemon=True)
        looking.start()
        try:
            yield
        finally:
            done.set()
            looking.join()
            if counts is not None and not counts.exact:
                self._live = {}

    def _look(self, counts: Counts | None, wait: Callable[[float], bool]) -> None:
        over = False
        while not over:
            over = wait(_SECONDS_BETWEEN_LOOKS)
            moves = self._on_terminal
            if counts is not None:
                now = counts.totals()
                for message in counts.messages():
                    self.say(message)
                moves = moves or now != self._live
                self._live = now
            if moves and not over:
                self._tell()

    def line(self) -> str:
        """Return where the run is, in words."""
        return " · ".join(self._items())

    def _items(self) -> list[str]:
        seconds = monotonic() - self._started
        # The progress of a chunk in work is known from the live counts of its steps alone.
        fresh = max(self._fresh, round(self._live.get(RESPONSES, 0)))
        done = self._earlier + fresh
        rate = fresh / seconds if seconds > 0 else 0.0
        left = max(0, self._total - done)
        failures = self._failures()
        extracted = self._earlier + round(self._live.get(EXTRACTED, 0))
        decided = self._by_source()
        units = self._units[False] + max(self._units[True], round(self._live.get(UNITS, 0)))
        if not self._pooled:
            units = max(units, sum(decided.values()))
        shares = ", ".join(f"{source} {count:,}" for source, count in decided.items())
        if shares and self._pooled:
            shares = f"answered by {shares}"
        items = (
            f"{done:,}/{max(self._total, done):,} responses",
            f"{extracted:,} extracted" if done < extracted else "",
            quantity(units, "unit") + (f" ({shares})" if shares else ""),
            quantity(failures, "failure") if failures else "",
            *self._requests(),
            f"{rate:,.{0 if rate >= 1 else 2}f}/s" if rate else "",
            f"{_duration(left / rate)} left" if rate and left else "",
        )
        return [item for item in items if item]

    def _figures(self) -> dict[str, Any]:
        fresh = max(self._fresh, round(self._live.get(RESPONSES, 0)))
        live = {name: round(self._live[name]) for name in _LOGGED if name in self._live}
        return {
            "responses": self._earlier + fresh,
            "of": self._total,
            "failures": self._failures(),
            "seconds": round(monotonic() - self._started, 3),
            **live,
            **({COST: self._live[COST]} if COST in self._live else {}),
        }

    def _failures(self) -> int:
        return self._rows["failures"] + round(self._live.get(FAILURES, 0))

    def _by_source(self) -> dict[str, int]:
        live = {
            name.removeprefix(DECIDED): round(count)
            for name, count in self._live.items()
            if name.startswith(DECIDED)
        }
        fresh = self._decided[True] | Counter(live)
        return dict((self._decided[False] + fresh).most_common())

    def _requests(self) -> Iterator[str]:
        live = self._live
        if not live.get(REQUESTS) and not live.get(IN_FLIGHT):
            return
        if PROMPT_TOKENS not in live:  # an engine's workers tell no more
            yield f"{live[REQUESTS]:,.0f} requests"
            return
        yield f"{live.get(IN_FLIGHT, 0):,.0f} requests in flight"
        yield f"{_short(live.get(PROMPT_TOKENS, 0) + live.get(COMPLETION_TOKENS, 0))} tokens"
        if self._priced:
            yield f"${live.get(COST, 0):,.4f}"

    def _tell(self) -> None:
        if self._quiet:
            return
        with self._lock:
            now = monotonic()
            if logs.as_json():
                if now - self._spoke >= _SECONDS_BETWEEN_LINES:
                    logs.event("progress", **self._figures())
                    self._spoke = now
            elif self._on_terminal:
                self._stream.write(f"\r\x1b[2K{self._drawn(self._columns())}")
                self._stream.flush()
            elif now - self._spoke >= _SECONDS_BETWEEN_LINES:
                print(self.line(), file=self._stream, flush=True)
                self._spoke = now

    def say(self, text: str) -> None:
        """Write a line of its own."""
        if self._quiet:
            return
        with self._lock:
            if logs.as_json():
                logs.event(text, **self._figures())
                return
            if self._on_terminal:
                self._stream.write("\r\x1b[2K")
            print(text, file=self._stream, flush=True)

    def _columns(self) -> int:
        try:
            found = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):  # it only says that it is a terminal
            found = 0
        return found or shutil.get_terminal_size().columns

    def _drawn(self, columns: int) -> str:
        """Return the bar, the time and as much of the line as fits: how many responses and the time
        left stay longest. The last column stays free, as some terminals break the line there."""
        minutes, seconds = divmod(int(monotonic() - self._started), 60)
        before = f"{self._bar(24 if columns >= _ROOMY else 4)} {minutes}:{seconds:02}"
        items = self._items()
        while cell_len(drawn := " · ".join([before, *items])) >= columns and len(items) > 1:
            items.pop(1)
        return drawn if cell_len(drawn) < columns else drawn[: columns - 1]

    def _bar(self, width: int) -> str:
        done = self._earlier + max(self._fresh, round(self._live.get(RESPONSES, 0)))
        share = min(1.0, done / self._total) if self._total else 1.0
        full = round(share * width)
        return f"{'█' * full}{'░' * (width - full)} {share:4.0%}"


def deciders(parts: Sequence[Part], mode: str) -> dict[str, int]:
    """Return how many units each source decided by the verdicts of `mode` in these parts; for `mv`
    and `all`, how many each had a valid answer for."""
    found: Counter[str] = Counter()
    wanted = "evidence" if mode in POOLED else "verdicts"
    # A run that was stopped at its end has moved some of its parts already.
    for path in (part.path for part in parts if part.table == wanted):
        if not storage.exists(path):
            continue
        if mode in POOLED:
            unit = ["source", "response_id", "unit_id"]
            rows = read_rows(path, [*unit, "label"])
            valid = rows.filter(rows["label"].is_valid()).group_by(unit).aggregate([])
            each = valid["source"].value_counts().to_pylist()
            found.update({count["values"]: count["counts"] for count in each})
        else:
            columns = read_rows(path, ["mode", "source", "label"]).columns
            of_mode = zip(*(column.to_pylist() for column in columns), strict=True)
            found.update(
                "none" if label is None else source for of, source, label in of_mode if of == mode
            )
    return dict(found)


def _short(count: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:.1f}{name}"
    return f"{count:.0f}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{whole // 60} min"
    return f"{whole / 3600:.1f} h"
