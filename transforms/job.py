"""Describe what every worker gets: the job of a run, and splits of its input.

Workers read splits in parallel: byte ranges of a file that begin and end at line ends. A local run
has one split for each chunk of records, with the number of its first line. Where the file was not
read in advance, line numbers are unknown; the records' keys are then byte offsets.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

# A worker's threads import this first: here one waits for another that is importing the package.
# Otherwise each could see modules that the other has half made.
import ufo  # noqa: F401
from ufo.schemas.storage import absolute
from ufo.transforms.judges.by_name import JudgeSpec
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.read import MAX_LINE_BYTES, Columns
from ufo.transforms.sources.fact_source import SourceContext, SourceSpec

if TYPE_CHECKING:
    from ufo.transforms.llm.client_settings import ClientSettings

IN_FLIGHT = 256
COUNTED = "ufo."
"""The prefix of the namespaces of Beam counters, before the step: `read`, `extract`,
`source:NAME`, `recall`."""


WAITING = "waiting"
"""What counts responses that wait for the reply to a request in a batch."""


@dataclass(frozen=True, slots=True)
class Job:
    """The options that the steps of a run use.

    `flags` are defaults for the options of fact sources, and `context` is the sources' context.
    `shards` is the number of groups of responses before each source, for engines with several
    workers; `parts` is the number of files of a table. Processes log counts and requests to the
    path `usage_log`, None for no log. `columns` maps the keys of a record to columns of the input.
    `paths` names the options of sources and judges that are files or folders. `in_flight` is the
    number of concurrent responses at a step that waits for something outside the process. `secrets`
    maps environment variables to the names of secrets that each worker reads into them.
    """

    sources: tuple[SourceSpec, ...]
    flags: Mapping[str, Any] = field(default_factory=dict)
    context: SourceContext = field(default_factory=SourceContext)
    judge: JudgeSpec = field(default_factory=JudgeSpec)
    units: str = "claim"
    mode: str = "seq"
    tie: str = "not_factual"
    shards: int = 1
    parts: int = 1
    max_line_bytes: int = MAX_LINE_BYTES
    columns: Columns = field(default_factory=dict)
    usage_log: str | None = None
    paths: Collection[str] = ()
    in_flight: int = IN_FLIGHT
    secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def client(self) -> "ClientSettings | None":
        """The settings of the models' clients; None where no model is asked."""
        return self.judge.client or self.context.models

    @property
    def source_context(self) -> SourceContext:
        """The context of fact sources, with the run's usage log."""
        log = self.usage_log or self.context.calls.usage_log
        calls = replace(self.context.calls, usage_log=log)
        return replace(self.context, calls=calls)

    @property
    def counts_log(self) -> str | None:
        """The log of the steps' counts. None where requests are sent in batches: a response is then
        read in several passes."""
        in_rounds = self.client is not None and self.client.batch is not None
        return None if in_rounds else self.usage_log

    def among(self, workers: int) -> "Job":
        """Return the job for each of `workers` processes, which divide the rate limits."""
        judge = self.judge
        if judge.client is not None:
            judge = replace(judge, client=replace(judge.client, workers=workers))
        return replace(self, judge=judge, context=self.context.among(workers))

    def elsewhere(self) -> "Job":
        """Return the job with absolute paths and explicit base URLs, for processes with another
        working folder and environment."""
        sources = [replace(one, options=self._absolute(one.options)) for one in self.sources]
        judge = replace(self.judge, options=self._absolute(self.judge.options))
        if judge.llm is not None and judge.llm.prompts_dir is not None:
            folder = os.path.abspath(judge.llm.prompts_dir)
            judge = replace(judge, llm=replace(judge.llm, prompts_dir=folder))
        if judge.client is not None:
            judge = replace(judge, client=judge.client.elsewhere())
        flags, context = self._absolute(self.flags), self.context.elsewhere()
        if context.models is not None:
            flags.setdefault("base_url", context.models.endpoints[VERIFIER].base_url)
        return replace(self, sources=tuple(sources), flags=flags, context=context, judge=judge)

    def _absolute(self, options: Mapping[str, Any]) -> dict[str, Any]:
        named = {
            name: absolute(value)
            for name, value in options.items()
            if name in self.paths and isinstance(value, str) and value
        }
        return {**options, **named}


# --- the input ----------------------------------------------------------------------------------

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes `start` to `end` of the file at `path`, which messages call `name`.

    `first_line` is the number of its first line, from 1, or None. The other fields are positions of
    lines: from 0 within the split, without blank lines. `repeated` lines have the id of an earlier
    record, and `same` lines repeat an earlier line exactly. Results for `skipped` lines are reused
    from an earlier run.
    """

    name: str
    path: str
    start: int
    end: int
    first_line: int | None = None
    repeated: frozenset[int] = frozenset()
    skipped: frozenset[int] = frozenset()
    same: frozenset[int] = frozenset()


class Line(NamedTuple):
    """A line without its end: its key, its text, its number from 1 or None, and its byte range."""

    key: str
    data: bytes
    number: int | None
    start: int
    end: int


def lines(stream: BinaryIO, split: Split, max_line_bytes: int) -> Iterator[Line]:
    """Yield the lines of the split that are not blank.

    A line is cut one byte after `max_line_bytes`, which shows that it is too long; the rest is
    skipped without keeping it in memory.
    """
    stream.seek(split.start)
    at = split.start
    number = split.first_line
    while at < split.end:
        start = at
        line = stream.readline(max_line_bytes + 2)
        if not line:
            return
        at += len(line)
        rest = line
        while rest and not rest.endswith(b"\n") and at < split.end:
            rest = stream.readline(_BLOCK)
            at += len(rest)
        cut = rest is not line
        if cut or line.strip():
            place = f"@{start}" if number is None else f":{number}"
            data = line if cut else line.rstrip(b"\r\n")
            yield Line(split.name + place, data, number, start, at)
        if number is not None:
            number += 1
