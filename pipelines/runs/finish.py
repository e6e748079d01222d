"""The end of a run: its manifest, written by the submitting process or by the graph's last step.

Where nobody waits for an engine (`--no_wait_until_finish`, a template's launcher, a stream), the
graph finishes a run itself. Its manifest then has no counters: these are the engine's to show.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.options.settings import Settings
from pipelines.runners.parts import check_whole, rows_of
from pipelines.runs.attempt import Attempt, Fingerprint
from pipelines.runs.reuse import each_passage_once
from pipelines.runs.run_folder import earlier_manifest
from pipelines.runs.sources import Chosen, names
from schemas.records import Part, SourceStatus
from schemas.tables import to_arrow
from transforms.job import Job
from transforms.sources.web.snapshot import finish_recording


def facts_of(settings: Settings, chosen: Chosen, name: str) -> dict[str, Any]:
    """Return what a manifest says of a run beside what was counted."""
    return {
        "run": name,
        "mode": settings.mode,
        "sources": names(chosen.specs),
        "tie": settings.tie,
        "judge": settings.judge.name,
    }


def finish(
    attempt: Attempt,
    parts: Sequence[Part],
    statuses: Sequence[SourceStatus],
    facts: Mapping[str, Any],
    again: bool = False,
) -> dict[str, Any]:
    """Finish a run of these parts, to which the table `sources` is added; returns its manifest.

    With `again` it can be done any number of times: see `Attempt.finish`.
    """
    parts = [*parts, attempt.write_part("sources", to_arrow("sources", statuses))]
    counts = {
        label: rows_of(parts, table)
        for label, table in (
            ("responses", "responses"),
            ("units", "fact_units"),
            ("failures", "failures"),
        )
    }
    return attempt.finish(parts, {**facts, "counts": counts}, again=again)


@dataclass(frozen=True, slots=True)
class FinishSpec:
    """What the last step of a graph needs to finish a run: plain values that travel to a worker.

    `parts` are there already: of responses taken over from another run, of probes. `recorded` are
    the folders of the web's snapshots that the run adds to.
    """

    run_folder: str
    identifier: str
    fingerprint: Fingerprint
    statuses: tuple[SourceStatus, ...]
    facts: Mapping[str, Any]
    job: Job
    parts: tuple[Part, ...] = ()
    recorded: tuple[str, ...] = ()

    def finish(self, parts: Iterable[Part]) -> dict[str, Any]:
        """Finish the run, whose graph wrote these parts; returns its manifest.

        An engine may run the last step again, where it has lost that it was done: then the run is
        left as it is.

        Raises:
            RunError: the parts are not whole, see `check_whole`.
        """
        earlier = earlier_manifest(self.run_folder)
        if earlier is not None and earlier["attempt"] == self.identifier:
            return earlier
        found = sorted(parts, key=lambda part: part.path)
        check_whole(found, self.job)
        for folder in self.recorded:
            finish_recording(folder)
        attempt = Attempt(self.run_folder, self.identifier, self.fingerprint)
        once = each_passage_once([*self.parts, *found])
        return finish(attempt, once, self.statuses, self.facts, again=True)
