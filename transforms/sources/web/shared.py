"""One searcher and one reader of pages a process for equal settings, as with the models' clients.

They are used on the process's one event loop (`ufo.transforms.loop`) and live as long as their run.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from ufo.indexes.embedders import make_embedder
from ufo.transforms.llm.endpoint import on_this_machine
from ufo.transforms.llm.limiter import LOCAL_START, Limiter, RateLimits
from ufo.transforms.llm.retry import Sleep
from ufo.transforms.llm.settings import CallSettings
from ufo.transforms.llm.shared import once, shared_memory
from ufo.transforms.sources.web.engine import SECONDS, Engine
from ufo.transforms.sources.web.engines import Locale, api_of
from ufo.transforms.sources.web.fetch import Caps, Fetcher
from ufo.transforms.sources.web.hosts import AT_ONCE, Hosts
from ufo.transforms.sources.web.pages import Pages
from ufo.transforms.sources.web.searcher import Searcher
from ufo.transforms.sources.web.snapshot import Snapshot
from ufo.transforms.sources.web.transport import Resolve, system_resolver
from ufo.transforms.sources.web.visit import visit_of as visit_of

T = TypeVar("T", Searcher, Pages)


@dataclass(frozen=True, slots=True)
class Common:
    """What the searcher and the reader of a process have in common. `snapshot` is a folder, and
    `recording` which recording it is; the last three are for tests."""

    calls: CallSettings
    snapshot: str | None
    recording: str
    sleep: Sleep
    clock: Callable[[], datetime]
    resolve: Resolve

    def opened(self) -> Snapshot | None:
        """Return the snapshot."""
        return None if self.snapshot is None else Snapshot(self.snapshot)


def common(
    calls: CallSettings,
    snapshot: str | None,
    sleep: Sleep,
    clock: Callable[[], datetime],
    resolve: Resolve | None,
) -> Common:
    """Return what is in common; what is recorded and what is replayed from one folder are two."""
    recording = ""
    if snapshot is not None:
        opened = Snapshot(snapshot)
        recording = f"{opened.begin()} {opened.finished}"
    return Common(calls, snapshot, recording, sleep, clock, resolve or system_resolver)


def shared(make: Callable[..., T], common: Common, *settings: object) -> T:
    """Return what `make` makes of these settings, once a process and run."""
    return once(common.calls.run, (make, common, *settings), partial(make, common, *settings))


def searcher(common: Common, search: str, url: str, locale: Locale, count: int) -> Searcher:
    """Return the searcher of an engine, at the `url` that it has now."""
    calls = common.calls
    limits = RateLimits(calls.concurrency).divided(calls.workers)
    limiter = Limiter(
        limits,
        start=LOCAL_START if on_this_machine(url) else None,
        timeout=SECONDS,
        patience=calls.retry.seconds,
        name="the search engine",
    )
    engine = Engine(
        api_of(search),
        limiter,
        calls.retry,
        calls.concurrency,
        common.sleep,
        calls.usage_log,
    )
    return Searcher(engine, shared_memory(calls), count, locale, common.opened(), common.clock)


def pages(
    common: Common,
    allow_private: bool,
    timeout: float,
    host_delay: float,
    retriever: str,
    embedder: str | None,
) -> Pages:
    """Return the reader of pages. `embedder` is the full name of the retriever's, if any."""
    calls = common.calls
    fetcher = Fetcher(
        shared_memory(calls),
        allow_private,
        Caps(timeout),
        Hosts(AT_ONCE, host_delay, calls.workers, common.sleep),
        calls.concurrency,
        common.resolve,
        common.sleep,
        common.clock,
    )
    made = None if embedder is None else make_embedder(embedder)
    # A page that takes all of its time must not hold up the others.
    readers = max(2, (os.cpu_count() or 1) // calls.workers)
    return Pages(fetcher, common.opened(), retriever, made, readers)
