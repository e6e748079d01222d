"""Count what a step does in Beam's metrics, which engines show and the manifest sums up."""

from apache_beam.metrics import Metrics

from ufo.schemas.records import OpenUnits
from ufo.transforms.check import Checked
from ufo.transforms.job import COUNTED
from ufo.transforms.llm.usage_log import UsageLog
from ufo.transforms.votes import decides


class StepCounters:
    """The counters of one step of a run; for a DoFn, which makes them in `setup`.

    They are Beam metrics, and lines of the run's usage log while a chunk is under way; a path of
    None discards the lines. Both say the same.
    """

    def __init__(self, step: str, usage_log: str | None = None) -> None:
        self._step = step
        self._namespace = COUNTED + step
        self._log = UsageLog(usage_log)
        self._added: dict[str, int] = {}

    def add(self, **counts: int) -> None:
        """Add to the counters of these names. One that was only ever added 0 is shown as 0."""
        added = self._added
        for name, count in counts.items():
            added[name] = added.get(name, 0) + count
        self._log.add({f"{self._step}.{name}": count for name, count in counts.items()})

    def flush(self) -> None:
        """Add to Beam's metrics what was counted since the last call; for the end of a bundle."""
        for name, count in self._added.items():
            Metrics.counter(self._namespace, name).inc(count)
        self._added.clear()

    def close(self) -> None:
        """Close the usage log."""
        self._log.close()


def of_source(asked: OpenUnits, checked: Checked) -> dict[str, int]:
    """Return the counts of one response that a source was asked about.

    `units_in` = `answered` + `noans` + `errors`: the units with a valid vote, those with none, and
    those of these that had nothing but errors.
    """
    answered = sum(map(decides, checked.tallies))
    errors = sum(
        votes.n_error > 0 and not votes.n_noans and not decides(votes) for votes in checked.tallies
    )
    return {
        "responses": 1,
        "units_in": len(asked.units),
        "answered": answered,
        "noans": len(asked.units) - answered - errors,
        "errors": errors,
        "passages": len(checked.passages),
        "evidence": len(checked.evidence),
        "failures": len(checked.failures),
        "requests": sum(not (row.cached or row.coalesced) for row in checked.usage),
        "cached": sum(row.cached or row.coalesced for row in checked.usage),
    }
