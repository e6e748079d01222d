"""Show the progress of a run on stderr: a bar on a terminal, plain lines elsewhere.

It shows the counts of the run's steps (`ufo.transforms.beam.calls`). For finished chunks they are
in `done.json`, for chunks in progress in the run's usage log. The manifest has their sums.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ufo.pipelines import logs
from ufo.schemas.text import quantity
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    UsageReader,
)
from ufo.transforms.votes import SEQ, SINGLE

Counters = Mapping[str, Mapping[str, int]]
"""Step → name → number."""

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_EVENTS = 1.0  # of a log that a program reads
_SECONDS_BETWEEN_LOOKS = 0.5
_LOOKS_A_SECOND = 1 / _SECONDS_BETWEEN_LOOKS
_ROOMY = 80  # columns of a terminal; with fewer the bar is short
_LOGGED = (REQUESTS, IN_FLIGHT, PROMPT_TOKENS, COMPLETION_TOKENS)


def sum_counters(chunks: Sequence[Counters]) -> dict[str, dict[str, int]]:
    """Return the sums over the counters of several chunks."""
    sums: dict[str, Counter[str]] = {}
    for counters in chunks:
        for step, counts in counters.items():
            sums.setdefault(step, Counter()).update(counts)
    return {step: dict(counts) for step, counts in sorted(sums.items())}


class Progress:
    """The progress of a run: counts finished lines, and shows them with the counts of the steps.

    These are responses, units by deciding source, failures, requests, tokens and cost, rate and
    time left. `total` is the number of lines of the input; `quiet` shows nothing. Lines that an
    earlier process of a resumed run finished do not count for the rate.

    A unit is decided by the first source with a valid answer (Multi-Seq), or by the one source that
    is asked. Where the votes of several are pooled (Multi-MV, and `all`), none decides alone, and
    the line shows for how many units each source had a valid answer.
    """

    def __init__(
        self, total: int, mode: str = SEQ, sources: Sequence[str] = (), quiet: bool = False
    ) -> None:
        self._total = total
        self._mode = mode
        self._sources = sources
        self._quiet = quiet
        self._console = Console(file=sys.stderr, highlight=False)
        self._started = monotonic()
        self._spoke = self._started
        self._lines = {True: 0, False: 0}
        self._chunks: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._log: Mapping[str, float] = {}
        self._priced = False
        self._note = ""
        self._passed = 0
        terminal = self._console.is_terminal and not self._console.is_dumb_terminal
        self._draws = terminal and not logs.as_json() and not quiet
        self._lock = Lock()
        # The bar is one line that rich keeps below all others, and removes in the end.
        self._bar = Live(
            get_renderable=self._bar_row,
            console=self._console,
            refresh_per_second=_LOOKS_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        if logs.as_json() and not quiet:
            logs.event("progress", **self._figures())

    def chunk(self, lines: int, counters: Counters, fresh: bool) -> None:
        """Count a finished chunk of that many lines; `fresh` if this process evaluated it."""
        self._lines[fresh] += lines
        for step, counts in counters.items():
            self._chunks[fresh].update({f"{step}.{name}": n for name, n in counts.items()})
        self._tell()

    def note(self, text: str) -> None:
        """Show a note beside the figures, such as what the run waits for; "" removes it."""
        changed, self._note = text != self._note, text
        if text and changed:
            self._tell()
        elif not text:
            self._passed = 0

    def add_waiting(self, lines: int) -> None:
        """Count the lines of a chunk with responses that wait for a batch."""
        self._passed += lines
        self.note(f"{self._passed:,} prepared for the next round")

    @contextmanager
    def watching(self, log: UsageReader | None = None, priced: bool = False) -> Iterator[None]:
        """Update the bar within this context, with the counts of the run's usage log.

        `priced` says whether the cost of the requests is known.
        """
        self._priced = priced
        done = Event()
        looking = Thread(target=self._look, args=(log, done.wait), daemon=True)
        looking.start()
        if self._draws:
            self._bar.start()
        try:
            yield
        finally:
            done.set()
            looking.join()
            self._bar.stop()

    def _look(self, log: UsageReader | None, wait: Callable[[float], bool]) -> None:
        over = log is None
        while log is not None and not over:
            over = wait(_SECONDS_BETWEEN_LOOKS)
            before, self._log = self._log, log.totals()
            for message in log.messages():
                self.say(message)
            if self._log != before and not over:
                self._tell()

    def line(self) -> str:
        """Return the state of the run as one line of text."""
        return " · ".join(self._items())

    def _items(self) -> list[str]:
        seconds = monotonic() - self._started
        fresh, done = self._done()
        rate = fresh / seconds if seconds > 0 else 0.0
        left = max(0, self._total - done)
        counts = self._counts()
        extracted = self._lines[False] + self._fresh()["extract.responses"]
        failures = sum(n for name, n in counts.items() if name.endswith(".failures"))
        decided = self._by_source(counts)
        facts = counts["recall.recall_facts"]
        checked = quantity(facts, "fact") if facts else quantity(counts["extract.units"], "claim")
        shares = ", ".join(f"{source} {count:,}" for source, count in decided.most_common())
        if shares and self._mode not in (SEQ, SINGLE):
            shares = f"answered by {shares}"
        items = (
            self._note,
            f"{done:,}/{quantity(max(self._total, done), 'response')}",
            f"{extracted:,} extracted" if done < extracted else "",
            checked + (f" ({shares})" if shares else ""),
            quantity(failures, "failure") if failures else "",
            *self._requests(),
            f"{rate:,.{0 if rate >= 1 else 2}f}/s" if rate else "",
            f"{duration(left / rate)} left" if rate and left else "",
        )
        return [item for item in items if item]

    def _fresh(self) -> Counter[str]:
        """Return the counts since this process began; the log includes chunks finished earlier."""
        log = Counter({name: round(n) for name, n in self._log.items() if "." in name})
        return self._chunks[True] | log

    def _counts(self) -> Counter[str]:
        return self._chunks[False] + self._fresh()

    def _done(self) -> tuple[int, int]:
        """Return how many responses are done: since this process began, and in all."""
        counts = self._fresh()
        done = counts["recall.records"] + counts["extract.no_claims"]
        for source in self._sources:
            last = source == self._sources[-1]
            if last or self._mode == SEQ:
                done += counts[f"source:{source}.responses"]
            if self._mode == SEQ and not last:
                done -= counts[f"source:{source}.responses_out"]
        fresh = max(self._lines[True], min(done, self._total))
        return fresh, self._lines[False] + fresh

    def _by_source(self, counts: Counter[str]) -> Counter[str]:
        """Return how many units each source decided, or in pooled modes had a valid answer for."""
        decided = Counter({one: counts[f"source:{one}.answered"] for one in self._sources})
        if self._mode in (SEQ, SINGLE) and self._sources:
            last = f"source:{self._sources[-1]}"
            decided["undecided"] = counts[f"{last}.units_in"] - counts[f"{last}.answered"]
        return +decided

    def _figures(self) -> dict[str, Any]:
        counts = self._counts()
        return {
            "responses": self._done()[1],
            "of": self._total,
            "extracted": counts["extract.responses"],
            "failures": sum(n for name, n in counts.items() if name.endswith(".failures")),
            "seconds": round(monotonic() - self._started, 3),
            **{name: round(self._log[name]) for name in _LOGGED if name in self._log},
            **({COST: self._log[COST]} if COST in self._log else {}),
        }

    def _requests(self) -> Iterator[str]:
        log = self._log
        if log.get(REQUESTS) or log.get(IN_FLIGHT):
            tokens = log.get(PROMPT_TOKENS, 0) + log.get(COMPLETION_TOKENS, 0)
            yield f"{quantity(round(log.get(IN_FLIGHT, 0)), 'request')} in flight"
            yield f"{_short(tokens)} {'token' if tokens == 1 else 'tokens'}"
            if self._priced:
                yield f"${log.get(COST, 0):,.4f}"

    def _tell(self) -> None:
        """Print or log the state of the run, but not too often; rich draws the bar by itself."""
        if self._quiet or self._draws:
            return
        pause = _SECONDS_BETWEEN_EVENTS if logs.as_json() else _SECONDS_BETWEEN_LINES
        with self._lock:
            now = monotonic()
            if now - self._spoke < pause:
                return
            self._spoke = now
            if logs.as_json():
                logs.event("progress", **self._figures())
            else:
                print(self.line(), file=self._console.file, flush=True)

    def say(self, text: str) -> None:
        """Write the text as a separate line."""
        if self._quiet:
            return
        with self._lock:
            if logs.as_json():
                logs.event(text, **self._figures())
            else:
                self._console.print(Text(text), soft_wrap=True)

    def _bar_row(self) -> Table:
        """Return the bar, the time, and as much of the state as fits.

        The number of responses and the time left are kept longest.
        """
        minutes, seconds = divmod(int(monotonic() - self._started), 60)
        done, total = self._done()[1], max(self._total, 1)
        width = 24 if self._console.width >= _ROOMY else 4
        share = f"{min(1.0, done / self._total) if self._total else 1.0:4.0%}"
        room = self._console.width - width - 2
        items = [f"{share} {minutes}:{seconds:02}", *self._items()]
        while Text(" · ".join(items)).cell_len > room and len(items) > 2:
            items.pop(2)
        line = Table.grid(padding=(0, 1))
        line.add_row(
            ProgressBar(total, min(done, total) if self._total else 1, width=width),
            Text(" · ".join(items), no_wrap=True, overflow="crop"),
        )
        return line


def _short(count: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:.1f}{name}"
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{whole // 60} min"
    return f"{whole / 3600:.1f} h"
