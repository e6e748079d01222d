"""What every run does, whichever command starts it: plan → attempt → evaluate → finish.

`ufo evaluate` and `ufo recall` differ in what they make of a record, and in what they refuse.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pipelines import logs
from pipelines.options.settings import Settings
from pipelines.runners.local import run_chunks
from pipelines.runs.attempt import Attempt, Fingerprint, checked_name, name_of
from pipelines.runs.inputs import InputFile, measure, shown_names, spool
from pipelines.runs.plan import Chunk, PlainFile, plan
from pipelines.runs.progress import Progress
from pipelines.runs.run_folder import tell_changes
from pipelines.runs.spent import left_out
from schemas import storage
from schemas.errors import NothingToEvaluate, RunError, UsageError
from schemas.records import Part
from transforms.job import Job
from transforms.judges.offline import judged_by
from transforms.llm.shared import end_run
from transforms.llm.usage_log import UsageReader
from transforms.loop import wait_for
from transforms.read import parse


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `skipped` where it had been finished before and was left as it is.

    `submitted` where an engine has it and nobody waits: it is not finished, and has no manifest.
    """

    name: str
    folder: str
    manifest: Mapping[str, Any]
    seconds: float
    skipped: bool = False
    submitted: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A run before anything is written: its input, and what its results are a function of.

    `models` are those that it asks; of the `unpriced` ones no price is known.
    """

    name: str
    folder: str
    files: tuple[InputFile, ...]
    fingerprint: Fingerprint
    models: tuple[str, ...]
    unpriced: tuple[str, ...]

    @property
    def n_lines(self) -> int:
        """The lines of the input, as far as they were counted."""
        return sum(file.lines for file in self.files)


def input_files(paths: Sequence[str], action: str) -> tuple[InputFile, ...]:
    """Return the input files, each read once; `action` is what is done with their lines.

    Raises:
        UsageError: a file cannot be read.
        NothingToEvaluate: all files are empty.
    """
    files = [measure(path, name) for path, name in zip(paths, shown_names(paths), strict=True)]
    if not any(file.size for file in files):
        raise _nothing(files, action)
    return tuple(files)


def _nothing(files: Iterable[InputFile], action: str) -> NothingToEvaluate:
    paths = ", ".join(file.path for file in files)
    return NothingToEvaluate(f"--input {paths}: empty; there is nothing to {action}")


def planned(
    settings: Settings,
    files: tuple[InputFile, ...],
    fingerprint: Fingerprint,
    models: Sequence[str],
    unpriced: Sequence[str],
) -> Planned:
    """Return the run with its name, which what is told from now on names.

    Raises:
        UsageError: the name is none.
    """
    name = name_of(fingerprint) if settings.run is None else checked_name(settings.run)
    logs.name_run(name)
    folder = storage.join(settings.output, f"run={name}")
    return Planned(name, folder, files, fingerprint, tuple(models), tuple(unpriced))


def skips(
    settings: Settings, run: Planned, earlier: Mapping[str, Any] | None, progress: Progress
) -> bool:
    """Tell whether the run is left as it was finished earlier, which the user is told."""
    if not earlier or settings.if_finished != "skip":
        return False
    tell_changes(progress.say, run.name, earlier, run.fingerprint)
    return True


def tell_judging(settings: Settings, run: Planned, progress: Progress) -> None:
    """Tell the user how it is judged where a verifier does, and which costs will be unknown."""
    if settings.verifier_used():
        how = "without a language model"
        if settings.judge_class.needs_endpoint:
            how = "and by a model what is open"
        progress.say(f"Judging offline, {how}. {judged_by(settings.verifier)}")
    if run.unpriced:
        progress.say(
            f"No price is known of {', '.join(run.unpriced)}: its cost is left empty. Give one "
            "with --prices FILE."
        )


@contextmanager
def kept(attempt: Attempt) -> Iterator[None]:
    """Within this context the run is evaluated; what stops it says what is kept of the attempt.

    Raises:
        RunError: a file could not be read or written.
    """
    try:
        yield
    except UsageError:
        attempt.abandon()
        raise
    except OSError as error:
        raise RunError(
            f"the run stopped: {error}. What was finished is kept in {attempt.folder}; the "
            "same command goes on from there."
        ) from error


def chunks_of(
    settings: Settings,
    run: Planned,
    attempt: Attempt,
    action: str,
    here: bool = True,
    reused: Callable[[Any], bool] = lambda record: False,
    parse: Callable[[str, bytes, int], Any] = parse,
) -> Iterator[Chunk]:
    """Return the chunks of the input, which is read as they are asked for; `here` if workers of
    this machine evaluate them.

    Raises:
        NothingToEvaluate: there is no line.
    """
    plain = [
        PlainFile(file.name, path, storage.size(path))
        for file in run.files
        for path in [file.path if file.plain(here) else spool(file, attempt.input_folder(here))]
    ]
    size, most = attempt.fingerprint["chunk_size"], settings.max_line_bytes
    found = plan(plain, size, most, reused, parse)
    first = next(found, None)
    if first is None:
        raise _nothing(run.files, action)
    return chain([first], found)


def evaluate_here(
    chunks: Iterable[Chunk],
    job: Job,
    settings: Settings,
    run: Planned,
    attempt: Attempt,
    progress: Progress,
) -> list[Part]:
    """Evaluate the chunks in processes of this machine; returns all parts, also one with what
    earlier processes spent in vain."""
    workers = settings.processes(run.models)
    log = job.usage_log
    if log is None:
        return run_chunks(chunks, job, attempt, workers, progress)
    try:
        with progress.watching(UsageReader(log), not run.unpriced):
            parts = run_chunks(chunks, job, attempt, workers, progress)
    finally:
        wait_for(end_run(log))
    return parts + left_out(parts, attempt, log)
