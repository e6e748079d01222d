"""The job of a run: the options that every worker gets."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

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
"""The counter of responses that wait for the reply to a request in a batch."""


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
        """The log of the steps' counts, None where requests are sent in batches.

        A response is then read in several passes.
        """
        in_rounds = self.client is not None and self.client.batch is not None
        return None if in_rounds else self.usage_log

    def among(self, workers: int) -> "Job":
        """Return the job for each of `workers` processes, which divide the rate limits."""
        judge = self.judge
        if judge.client is not None:
            judge = replace(judge, client=replace(judge.client, workers=workers))
        return replace(self, judge=judge, context=self.context.among(workers))

    def elsewhere(self) -> "Job":
        """Return the job with absolute paths and explicit base URLs.

        It is for processes with another working folder and environment.
        """
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
