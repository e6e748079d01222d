"""Count what a step does in Beam's metrics, which runners show and the manifest sums up.

On an engine they are reported while it works, too (`ufo.transforms.beam.live`).
"""

from apache_beam.metrics import Metrics

from ufo.schemas.records import OpenUnits
from ufo.transforms.beam.live import live
from ufo.transforms.check import Checked
from ufo.transforms.job import COUNTED
from ufo.transforms.votes import decides


class StepCounters:
    """The counters of one step of a run; for a DoFn, which makes them in `setup`.

    `folder` is where they are reported while an engine works, None for nowhere.
    """

    def __init__(self, step: str, folder: str | None = None) -> None:
        self._step = step
        self._live = live(folder) if folder else None
        self._namespace = COUNTED + step
        self._added: dict[str, int] = {}

    def add(self, **counts: int) -> None:
        """Add to the counters of these names. One that was only ever added 0 is shown as 0."""
        added = self._added
        for name, count in counts.items():
            added[name] = added.get(name, 0) + count
        if self._live is not None:
            self._live.add(self._step, counts)

    def flush(self) -> None:
        """Report now what is not reported yet; for the end of a bundle."""
        for name, count in self._added.items():
            Metrics.counter(self._namespace, name).inc(count)
        self._added.clear()
        if self._live is not None:
            self._live.flush()


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
