"""The base class of fact sources, which find passages for fact units.

A source implements `find`: the passages for one fact unit. The base class fills in their ids, turns
an exception into an evidence row with outcome `error`, and loops over the units of a response. A
source that processes a whole response at once (a batch of queries, the response's references)
overrides `look_up` instead.

Sources are created by name: entry points in the group `ufo.fact_sources`, or a class in a file.
"""

import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import (
    ERROR,
    NO_PASSAGES,
    NOANS,
    FactUnit,
    Failure,
    OpenUnits,
    Passage,
    Usage,
    passage_id,
)
from ufo.schemas.text import host_of
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.plugin_errors import message_of, passes, reason_of
from ufo.transforms.plugins import Registry, Spec
from ufo.transforms.scores import OTHER
from ufo.transforms.sources.host_categories import category_of

if TYPE_CHECKING:
    from ufo.transforms.llm.client_settings import ClientSettings
    from ufo.transforms.llm.request import Client


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The argument `context` of a fact source's constructor.

    `calls` has the limits, retries and cache of all requests. `models` has the settings of language
    models, None if the run asks none. `judge_asks` says whether the judge asks them. `client`
    returns a client to use instead of the models' endpoints.
    """

    calls: CallSettings = field(default_factory=CallSettings)
    models: "ClientSettings | None" = None
    judge_asks: bool = False
    client: "Callable[[], Client] | None" = None

    def among(self, workers: int) -> "SourceContext":
        """Return the context for each of `workers` processes, which divide the rate limits."""
        models = self.models and replace(self.models, workers=workers)
        return replace(self, calls=replace(self.calls, workers=workers), models=models)

    def elsewhere(self) -> "SourceContext":
        """Return the context with explicit base URLs, for processes with another environment."""
        return replace(self, models=self.models and self.models.elsewhere())


_fields = attrgetter(*(field.name for field in fields(Passage)))


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A passage with its retrieval score, None where there is none.

    For a passage that a language model wrote: the index of the sample and the id of the request.
    `document` names the text from which the source cut it, "" for a text that is whole.
    """

    passage: Passage
    score: float | None = None
    sample_index: int | None = None
    request_id: str | None = None
    document: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A source's passages for one unit, or the reason why there are none.

    Without passages, `outcome` and `reason` (records.REASONS) go to the unit's single evidence row:
    `noans` if the source found nothing, `error` if it failed. `error_type` and `message` describe
    the error, and `raw_verdict` has what came in place of passages. An `outcome` error with
    passages means that a part of the search failed. `usage` has
    a row for each request sent for this unit; a request for several units is with the first of
    them. `failures` describe missing parts, for example a page that could not be fetched.
    """

    passages: Sequence[Retrieved] = ()
    outcome: str = NOANS
    reason: str = NO_PASSAGES
    error_type: str = ""
    message: str = ""
    usage: Sequence[Usage] = ()
    failures: Sequence[Failure] = ()
    raw_verdict: str | None = None


class FactSource:
    """Base class of fact sources.

    A subclass implements `find` (plain or `async`). The constructor's keyword parameters are the
    source's options. An option named like a command-line flag (`passages`, `index`, …) defaults to
    that flag's value, and `context` is the run's `ufo.SourceContext`: limits, retries, the cache
    and the settings of models. An instance is created on every worker; open connections and files
    in `open`.

    `remote` says that `look_up` waits for something outside this process; such sources are asked
    concurrently on an event loop. It is set automatically where `find` is a coroutine function; set
    it yourself if you override `look_up`.
    """

    name: str = ""
    """The value of the column `source`; set by the registry."""

    remote: ClassVar[bool] = False

    needs_endpoint: ClassVar[bool] = False
    """Whether the source asks a language model, and therefore uses the flags for models."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "remote" not in cls.__dict__ and "find" in cls.__dict__:
            cls.remote = inspect.iscoroutinefunction(cls.find)

    def unavailable(self) -> str | None:
        """Return an error message with the remedy if the source cannot be used here, else None.

        Called once, before the input is read.
        """
        return None

    def open(self) -> None:
        """Open connections and files in this process. Called once before the first unit."""

    def close(self) -> None:
        """Close what `open` opened."""

    def fingerprint(self) -> str:
        """Return a text that changes whenever results may change, such as an index's checksum.

        The options are compared beside it.
        """
        return ""

    def find(
        self, unit: FactUnit
    ) -> Iterable[Passage | Retrieved] | Awaitable[Iterable[Passage | Retrieved]]:
        """Return the passages for `unit.claim` and `unit.query`, best first."""
        raise NotImplementedError(f"{type(self).__name__} implements neither find nor look_up")

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return the passages for each unit of the response, in order.

        An error on one unit is part of its result; only errors that end the run are raised
        (`ufo.schemas.errors.ends_run`).
        """
        answers, waits = [], None
        for unit in open_units.units:
            try:
                passages = self.find(unit)
                if inspect.isawaitable(passages):
                    passages = await passages
                answers.append(self.found(passages or ()))  # `find` may return None
            except NotYetAnswered as error:
                waits = error  # the others are asked in the same round
            except BaseException as error:
                if passes(error):
                    raise
                answers.append(failed_result(error, self.name))
        if waits is not None:
            raise waits
        return answers

    def found(self, passages: Iterable[Passage | Retrieved]) -> Found:
        """Return a `Found` with these passages, their ids and this source's name.

        An item that is not a passage, or that a table cannot store, is left out and sets the
        result's `outcome` to error.
        """
        named = []
        lost: Found | None = None
        seen: Counter[tuple[str | None, str]] = Counter()
        for item in passages:
            hit = item if isinstance(item, Retrieved) else Retrieved(item)
            try:
                if not isinstance(hit.passage, Passage):
                    kind = type(item).__name__
                    raise TypeError(f"a source must return ufo.Passage objects, not {kind}")
                same = hit.passage.url, hit.passage.text
                named.append(replace(hit, passage=self.named(hit.passage, seen[same])))
                seen[same] += 1
            except (TypeError, ValueError) as error:
                lost = failed_result(error, self.name)
        return replace(lost, passages=named) if lost else Found(named)

    def named(self, passage: Passage, ordinal: int = 0) -> Passage:
        """Return the passage with source, id, hostname and category filled in where missing.

        The shipped rules give the category of a host, `other` for an unknown host. `ordinal` is the
        number of earlier passages with the same address and text.

        Raises:
            TypeError, UnicodeEncodeError: a table cannot store a value.
        """
        for value in _fields(passage):
            if value is not None:
                str.encode(value)
        if passage.passage_id:
            return passage
        hostname = passage.hostname or host_of(passage.url) or None
        category = (category_of(hostname) or OTHER) if hostname else None
        return replace(
            passage,
            source=self.name,
            passage_id=passage_id(self.name, passage.url, passage.text, ordinal),
            hostname=hostname,
            source_category=passage.source_category or category,
        )


def reported_once(units: Iterable[FactUnit], answers: Mapping[str, Found]) -> list[Found]:
    """Return the answer to each unit's query; usage and failures are only with its first unit."""
    reported: set[str] = set()
    results = []
    for unit in units:
        answer = answers[unit.query]
        again = unit.query in reported
        results.append(replace(answer, usage=(), failures=()) if again else answer)
        reported.add(unit.query)
    return results


def failed_result(error: BaseException, source: str) -> Found:
    """Return the result for an error that the named source raised."""
    message = message_of(error, f"source {source}")
    return Found((), ERROR, reason_of(error), type(error).__name__, message)


SOURCES: Final = Registry("ufo.fact_sources", FactSource, "fact source")
SourceSpec = Spec


def make_source(
    spec: SourceSpec,
    flags: Mapping[str, Any] | None = None,
    context: SourceContext | None = None,
) -> FactSource:
    """Return the source that `spec` describes, with `flags` as defaults of its options.

    Raises:
        UsageError: the source's constructor does not take an option, or its value is invalid.
    """
    source = SOURCES.make(spec, flags, context or SourceContext())
    source.name = spec.name
    return source
