"""Cache the figures of the list of runs, since a finished run does not change."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from ufo.pipelines.reports.main_score import main_scores
from ufo.schemas.errors import RunError
from ufo.schemas.results import Results
from ufo.schemas.tables import Run
from ufo.transforms.score_words import score_with_interval, why_no_score
from ufo.webapp.response_models import RunFigures

_AT_ONCE = 200  # runs that are read together, which is ten times as fast as one by one
_MODELS = """
SELECT run, list(DISTINCT model ORDER BY model) FILTER (model IS NOT NULL) AS models
FROM responses
GROUP BY run
"""


class KnownFigures:
    """A cache of the figures of the listed runs. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: dict[object, RunFigures] = {}
        self._reading = Lock()

    def of(self, runs: Sequence[Run]) -> dict[str, RunFigures | str]:
        """Return the figures of runs by their names, or why a run cannot be read."""
        damaged: dict[str, str] = {}
        with self._reading:
            listed = {_version(run) for run in runs}
            self._known = {key: known for key, known in self._known.items() if key in listed}
            new = [run for run in runs if _version(run) not in self._known]
            for start in range(0, len(new), _AT_ONCE):
                damaged |= self._read(new[start : start + _AT_ONCE])
            return {run.name: damaged.get(run.name) or self._known[_version(run)] for run in runs}

    def _read(self, runs: Sequence[Run]) -> dict[str, str]:
        """Read the figures of runs, and return the damage of unreadable runs by their names."""
        try:
            with Results(runs) as results:
                scores = main_scores(results)
                models = {row["run"]: row["models"] for row in results.query(_MODELS).to_pylist()}
            for run in runs:
                self._known[_version(run)] = _figures(run, scores[run.name], models.get(run.name))
        except (RunError, OSError) as error:
            if len(runs) == 1:
                return {runs[0].name: str(error)}
            half = len(runs) // 2
            return self._read(runs[:half]) | self._read(runs[half:])
        return {}


def _version(run: Run) -> object:
    return run.folder, run.finished_at


def _figures(run: Run, score: Mapping[str, Any], models: Sequence[str] | None) -> RunFigures:
    return RunFigures(
        score=None if why_no_score(score) else score["factuality_score"],
        words=score_with_interval(score),
        n_units=score["n_units"],
        n_contradicted=score["n_refuted"],
        models=list(models or ()),
        size_bytes=sum(path.stat().st_size for files in run.files.values() for path in files),
    )
