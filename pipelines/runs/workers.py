"""Run on this machine: one small Beam pipeline for each chunk, in worker processes.

Beam's in-process runner keeps every shuffle in memory and is bound by the interpreter's lock.
Chunks are finished on disk one by one. So memory stays bounded, all cores are used, and a killed
run resumes at its unfinished chunks. The processes are loky's. Unlike the standard library's, they
do not import the `__main__` of the script or notebook that starts them, and a killed one is
reported.
"""

import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import current_process, get_context
from threading import current_thread, main_thread

from loky import ProcessPoolExecutor

from ufo.pipelines import logs
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress, sum_counters
from ufo.pipelines.stopping import check_stop, end_with
from ufo.pipelines.streams import drop_errors, open_outputs
from ufo.schemas.errors import (
    Interrupted,
    RunError,
    UfoError,
    UsageError,
    ends_run,
    has_cause,
    lacks_memory,
)
from ufo.schemas.temporary import own_folder
from ufo.schemas.text import quantity
from ufo.transforms.job import WAITING, Job

_ENDING_SECONDS = 8.0  # longer than a process waits for its last replies
_OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM)


def run_chunk(chunk: Chunk, job: Job, folder: str) -> Written:
    """Evaluate one chunk in this process, with every table written below `folder`."""
    logs.quiet_beam()  # before the import, which logs
    # Beam is slow to import, and a process whose workers evaluate all chunks does not need it.
    from ufo.pipelines.graph import evaluate_chunk

    try:
        return evaluate_chunk(chunk, job, folder)
    except Exception as error:
        if has_cause(error, lacks_memory) and not is_interrupt(error):
            raise MemoryError from error  # pickling for the parent process drops the cause
        raise


def run_chunks(
    chunks: Iterable[Chunk],
    job: Job,
    attempt: Attempt,
    workers: int,
    progress: Progress,
) -> Written:
    """Evaluate all chunks; return their parts, in the order of chunks, and the sums of counters.

    Finished chunks are skipped. A chunk with responses that wait for a batch is not finished: only
    the number of these responses is returned. A single chunk, or a single worker, runs in this
    process, except under IPython. So do all chunks in a worker of `multiprocessing.Pool`.

    Raises:
        Interrupted: by Ctrl-C; what was finished is kept.
        RunError: a chunk or a worker process failed; what was finished is kept.
    """
    done: dict[int, Written] = {}

    def finish_chunk(chunk: Chunk, written: Written) -> None:
        if written.waiting:
            done[chunk.number] = Written([], {"": {WAITING: written.waiting}})
            progress.add_waiting(chunk.n_lines)
            return
        attempt.mark_done(chunk.number, written)
        done[chunk.number] = written
        progress.chunk(chunk.n_lines, written.counters, True)

    def unfinished_chunks() -> Iterator[Chunk]:
        for chunk in _read(chunks, attempt):
            check_stop()
            written = attempt.done(chunk.number)
            if written is None:
                yield chunk
            else:
                done[chunk.number] = written
                progress.chunk(chunk.n_lines, written.counters, False)

    todo = unfinished_chunks()
    if job.client is not None:
        # --max_cost is enforced within one process.
        capped = job.client.max_cost is not None
        workers = 1 if capped else int(min(workers, job.client.limits.most_workers))
    alone = current_process().daemon  # Python lets such a process start no other
    try:
        # No more processes than chunks, since each gets an equal share of an endpoint's limits.
        first = list(islice(todo, 1 if alone else workers))
        if not alone and (len(first) > 1 or (first and _in_ipython())):
            share = job.among(len(first))
            with own_folder():  # if this process is killed, a later one finds its semaphores by it
                _in_processes(chain(first, todo), share, attempt, len(first), finish_chunk)
        else:
            for chunk in chain(first, todo):
                check_stop()
                with _explain_memory_errors(attempt, [chunk.number]):
                    written = run_chunk(chunk, job, attempt.chunk_folder(chunk.number))
                finish_chunk(chunk, written)
    except (Exception, KeyboardInterrupt) as error:
        if is_interrupt(error):
            raise Interrupted(
                f"interrupted; {quantity(len(done), 'finished chunk is', 'finished chunks are')} "
                "kept, and the same command "
                "completes the run"
            ) from None
        raise error_of_step(error, attempt) from error
    ordered = [done[number] for number in sorted(done)]
    parts = [part for written in ordered for part in written.parts]
    return Written(parts, sum_counters([written.counters for written in ordered]))


def _read(chunks: Iterable[Chunk], attempt: Attempt) -> Iterator[Chunk]:
    """Yield the chunks; the error for a lack of memory names the chunk being read."""
    source, number = iter(chunks), 0
    while True:
        with _explain_memory_errors(attempt, [number]):
            chunk = next(source, None)
        if chunk is None:
            return
        number = chunk.number + 1
        yield chunk


def _in_ipython() -> bool:
    """Return whether this process is IPython, as the kernel of a notebook is.

    There Beam imports its data frames with the first step of any pipeline, which fails without
    pandas and with a pandas newer than it knows (https://github.com/apache/beam/issues/27221). A
    worker process is not IPython.
    """
    try:
        from IPython import get_ipython  # as Beam does with its first pipeline
    except ImportError:
        return False
    return get_ipython() is not None


def check_ipython() -> None:
    """Raise a UsageError where this process is IPython and Beam cannot build a pipeline in it."""
    if not _in_ipython():
        return
    try:
        import apache_beam.runners.interactive.interactive_environment  # noqa: F401
    except Exception as error:  # Beam's data frames raise errors of many types
        raise UsageError(
            "from a notebook Beam submits a job only with pandas 2.2 or 2.3; install that, or run "
            f"`ufo evaluate` in a shell ({type(error).__name__}: {error})"
        ) from error


def is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C or SIGTERM caused an error.

    Beam wraps every error of a step, KeyboardInterrupt included.
    """
    return has_cause(error, lambda one: isinstance(one, KeyboardInterrupt))


@contextmanager
def _explain_memory_errors(attempt: Attempt, chunks: Iterable[int]) -> Iterator[None]:
    """Raise a RunError that names these chunks if memory runs out or a worker dies."""
    try:
        yield
    except Exception as error:
        died = isinstance(error, BrokenProcessPool)
        if is_interrupt(error) or not (died or has_cause(error, lacks_memory)):
            raise
        numbers = ", ".join(map(str, chunks))
        what = (
            "a worker process died, most likely for want of memory," if died else "no memory left"
        )
        raise RunError(
            f"{what} at chunk {numbers}; a smaller --chunk_size or fewer --workers take less. What "
            f"was finished is kept in {attempt.folder}; the same command resumes it."
        ) from error


def error_of_step(error: BaseException, attempt: Attempt, what: str = "a chunk") -> UfoError:
    """Return the error that ends the run, for an error raised in a part of it, named by `what`."""
    # Beam appends the name of a step, which does not help the user.
    message = re.sub(r" \[while running '.*?'\]", "", str(getattr(error, "message", error)))
    if isinstance(error, UfoError):
        return type(error)(message)
    kept = f"What was finished is kept in {attempt.folder}; the same command resumes it."
    if ends_run(error):
        return RunError(f"{message}\n{kept}")
    return RunError(f"{what} failed: {type(error).__name__}: {message}\n{kept}")


def _in_processes(
    chunks: Iterator[Chunk],
    job: Job,
    attempt: Attempt,
    workers: int,
    finish_chunk: Callable[[Chunk, Written], None],
) -> None:
    with _explain_memory_errors(attempt, [0]):
        pool = _pool(workers)
    under_way: dict[Future[Written], Chunk] = {}
    try:
        # One chunk more than workers is queued; further ones are not read yet.
        for chunk in chunks:
            folder = attempt.chunk_folder(chunk.number)
            numbers = [*(one.number for one in under_way.values()), chunk.number]
            with _explain_memory_errors(attempt, numbers), _hold_back_signals():
                under_way[pool.submit(_run_in_worker, chunk, job, folder)] = chunk
            if len(under_way) > workers:
                _take(under_way, attempt, finish_chunk)
        while under_way:
            _take(under_way, attempt, finish_chunk)
    except Exception as error:
        if not ends_run(error):
            raise
        # The workers send no more requests and are storing replies: let them end.
        for future in under_way:
            future.cancel()
        done = wait(under_way, timeout=_ENDING_SECONDS).done
        for future in done:
            chunk = under_way.pop(future)
            if not future.cancelled() and future.exception() is None:
                finish_chunk(chunk, future.result())
        raise
    finally:
        pool.shutdown(kill_workers=bool(under_way))


def _pool(workers: int) -> ProcessPoolExecutor:
    # The processes end with this one.
    settings = (os.getpid(), logs.settings_for_worker())
    logs.quiet_pool()
    try:
        # The first lock starts Python's resource tracker, which until Python 3.12 unblocks signals.
        # Start it before the workers.
        get_context("spawn").Lock()
        with _hold_back_signals():
            return ProcessPoolExecutor(workers, initializer=_start_evaluator, initargs=settings)
    except OSError as error:
        if lacks_memory(error):
            raise
        raise RunError(
            f"worker processes cannot be started: {error}. They need a little space in /dev/shm; "
            "--workers 1 needs none."
        ) from error


def _take(
    under_way: dict[Future[Written], Chunk],
    attempt: Attempt,
    finish_chunk: Callable[[Chunk, Written], None],
) -> None:
    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
        died = isinstance(future.exception(), BrokenProcessPool)
        # If one worker dies, the pool loses the chunks of all.
        lost = under_way.values() if died else [under_way[future]]
        with _explain_memory_errors(attempt, [chunk.number for chunk in lost]):
            written = future.result()
        finish_chunk(under_way.pop(future), written)


@contextmanager
def _hold_back_signals() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until this context ends, also in processes started in it.

    An exception while the pool starts a process would leave a process that the pool does not know.
    Ctrl-C reaches the whole group, so a starting process would print a traceback.
    """
    came: list[int] = []
    before = {}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_PARENT)
    for number in _OF_THE_PARENT:
        # Python handles signals in the main thread only.
        if callable(signal.getsignal(number)) and current_thread() is main_thread():
            before[number] = signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for held, handler in before.items():
            signal.signal(held, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for received in came:
            signal.raise_signal(received)


def _run_in_worker(chunk: Chunk, job: Job, folder: str) -> Written:
    try:
        return run_chunk(chunk, job, folder)
    except MemoryError:
        # The parent says so and ends this process, which may fail again before, with a traceback.
        drop_errors()
        raise


def _start_evaluator(parent: int, settings: logs.LogSettings) -> None:
    open_outputs()
    as_worker(parent)
    logs.quiet_beam()
    logs.start(settings)
    from ufo.pipelines import graph  # noqa: F401  # Beam is slow to import


def as_worker(parent: int) -> None:
    """Make this process a worker: ignore Ctrl-C and SIGTERM, and end with the process `parent`."""
    for number in _OF_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)
