"""Compare a run with the baseline that is named beside it."""

from typing import Any

from ufo.pipelines.reports.comparison import LEAST_SHARED, compare_runs
from ufo.pipelines.runs.remote_results import choose_runs
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results


def compare(
    directory: str, baseline: str, run: str, least_shared: float = LEAST_SHARED
) -> dict[str, Any]:
    """Return how `run` differs from `baseline`, as `compare_runs` does.

    Raises:
        UsageError: a run does not exist, or both are the same run.
        NothingToCompare: one decided nothing, or they share neither a question nor a response.
    """
    check_baseline(directory, baseline, run)
    runs = [
        *choose_runs(directory, baseline, tables=None),
        *choose_runs(directory, run, tables=None),
    ]
    with Results(runs) as results:
        return compare_runs(results, least_shared=least_shared)


def check_baseline(directory: str, baseline: str, run: str | None = None, remedy: str = "") -> None:
    """Raise a UsageError unless `baseline` is a finished run in the folder, and another one than
    `run`. `remedy` is added to the message."""
    try:
        choose_runs(directory, baseline)
    except UsageError as error:
        raise UsageError(f"{error.message}{remedy}") from error
    if baseline == run:
        raise UsageError(
            f"run {run!r} is the baseline itself; compare two runs, or give this one another --run."
        )
