"""Compare a run with a baseline run."""

from typing import Any

from ufo.pipelines.reports.comparison import LEAST_SHARED, compare_runs
from ufo.pipelines.runs.remote_results import choose_runs
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.run_folders import RunNotFound, why_not_found
from ufo.schemas.tables import Run


def compare(
    directory: str, baseline: str, run: str, least_shared: float = LEAST_SHARED
) -> dict[str, Any]:
    """Return the comparison of `run` with `baseline` that `compare_runs` makes.

    Raises:
        UsageError: a run does not exist, or both are the same run.
        NothingToCompare: one decided nothing, or they share neither a question nor a response.
    """
    try:
        check_baseline(directory, baseline, run)
        runs = [
            *choose_runs(directory, baseline, tables=None),
            *choose_runs(directory, run, tables=None),
        ]
    except RunNotFound as error:
        # Both at once: they may be in one folder below, or in two.
        raise RunNotFound(why_not_found(directory, [baseline, run])) from error
    _check_scored(runs[-1])
    with Results(runs) as results:
        return compare_runs(results, least_shared=least_shared)


def check_baseline(directory: str, baseline: str, run: str | None = None, remedy: str = "") -> None:
    """Check that `baseline` is a finished run of `ufo evaluate` in the folder, other than `run`.

    Raises:
        UsageError: it is not; `remedy` is added to the message.
    """
    try:
        (chosen,) = choose_runs(directory, baseline)
    except UsageError as error:
        raise type(error)(f"{error.message}{remedy}") from error
    _check_scored(chosen)
    if baseline == run:
        raise UsageError(
            f"run {run!r} is the baseline itself; compare two runs, or give this one another --run."
        )


def _check_scored(run: Run) -> None:
    """Raise a UsageError for a run of `ufo recall`."""
    if run.mode == "recall":
        raise UsageError(
            f"run {run.name!r} is of 'ufo recall', so it has no score to compare; name a run of "
            "'ufo evaluate'."
        )
