"""Build an index folder from a Wikipedia dump or documents (`ufo index build`).

    files ─ slices ─ blocks: passages, titles, redirects, on disk ─┬─ passages ─ BM25 ─ vectors
                                                                   └─ pages, names

Slices are worked on in several processes. Blocks are numbered by the input, so the index does not
depend on which process works on them or in which order. A build is a folder beside the index and a
rename.
"""

import glob
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loky import ProcessPoolExecutor

from ufo.indexes import folder
from ufo.indexes.blocks import WORDS, process_block, write_block
from ufo.indexes.embedders import checked_name, make_embedder
from ufo.indexes.reader import (
    BLOCK_PAGES,
    SLICE_BYTES,
    Slice,
    is_stream_index,
    read_blocks,
    slices_of,
)
from ufo.pipelines.runs.workers import as_worker, is_interrupt
from ufo.schemas.errors import Interrupted, RunError, UsageError
from ufo.schemas.records import Failure

_PROGRESS_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of a build. `counts` are the manifest's, `warnings` sentences for the user."""

    path: Path
    counts: dict[str, int]
    failures: list[Failure]
    warnings: list[str]
    seconds: float


def build(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    words: int = WORDS,
    block_pages: int = BLOCK_PAGES,
    embedder: str | None = None,
    workers: int = 1,
    slice_bytes: int = SLICE_BYTES,
    progress: Callable[[str], None] = lambda line: None,
) -> BuildResult:
    """Build the index folder `output` from dumps, JSON Lines or Parquet files (paths or globs).

    An index that is there already is replaced when the new one is whole. `embedder` adds vectors
    (see `ufo.indexes.embedders`); a build that was stopped keeps those that are done. `workers` is
    the number of processes that read. Raises UsageError for inputs that are not files, an output
    that is something else and an embedder that cannot be used, RunError where the inputs hold no
    article or the build cannot go on, Interrupted by Ctrl-C.
    """
    started = time.monotonic()
    paths = _input_files([inputs] if isinstance(inputs, (str, Path)) else inputs)
    if embedder is not None:
        embedder = checked_name(embedder)
        make_embedder(embedder)  # reports what is missing before anything is read
    output = Path(output).expanduser().resolve()
    slices = [
        part
        for file, path in enumerate(paths)
        for part in slices_of(path, file, workers, slice_bytes)
    ]
    try:
        with folder.building(output) as building:
            with _progress(building / folder.BLOCKS, block_pages, progress):
                _write_all_blocks(slices, building, words, block_pages, workers)
            files = folder.describe_inputs(paths)
            content, failures = folder.assemble(building, {"words": words}, files)
            counts = content["counts"]
            if not counts["articles"]:
                raise RunError(_no_articles(paths, counts, failures))
            progress(f"indexing {counts['passages']:,} passages")
            folder.add_engines(building, content, embedder, progress)
    except (OSError, RuntimeError, KeyboardInterrupt) as error:
        kept = ""
        if embedder is not None:
            kept = ". Vectors that were made are kept: the same command goes on with them"
        if is_interrupt(error):
            raise Interrupted(f"interrupted; the index {output} is not built{kept}") from None
        raise RunError(f"the index {output} could not be built: {error}{kept}") from error
    warnings = []
    if failures:
        first = failures[0]
        warnings.append(
            f"{len(failures):,} pages or parts of the input failed, see {folder.FAILURES}; "
            f"the first: {first.key}: {first.message}"
        )
    seconds = time.monotonic() - started
    return BuildResult(output, counts, failures, warnings, seconds)


def write_blocks(slices: Sequence[Slice], blocks: Path, words: int, block_pages: int) -> None:
    """Write the blocks of the slices, in this process."""
    for part in slices:
        for block in read_blocks(part, block_pages):
            write_block(blocks, block, process_block(block, words))


def _write_all_blocks(
    slices: Sequence[Slice], building: Path, words: int, block_pages: int, workers: int
) -> None:
    """Write the blocks of all slices, in several processes where that is worth starting them."""
    settings = (building / folder.BLOCKS, words, block_pages)
    processes = min(workers, len(slices))
    if processes <= 1:
        write_blocks(slices, *settings)
        return
    # Unlike the standard pool it needs no `if __name__ == "__main__"` in the user's script.
    with ProcessPoolExecutor(processes, initializer=as_worker, initargs=(os.getpid(),)) as pool:
        futures = [pool.submit(write_blocks, [part], *settings) for part in slices]
        try:
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()
        except BaseException:
            # Waited for, since the folder they write to is about to be deleted.
            pool.shutdown(wait=True, kill_workers=True)
            raise


def _input_files(inputs: Sequence[str | Path]) -> list[Path]:
    """Return the files meant, sorted within a glob; UsageError where one is not there or empty."""
    found: list[Path] = []
    for given in inputs:
        path = Path(given).expanduser()
        matches = [path] if path.exists() else [Path(m) for m in sorted(glob.glob(str(path)))]
        if not matches:
            raise UsageError(f"--input {given}: no such file; give a MediaWiki dump or documents")
        found.extend(path for path in matches if not is_stream_index(path))
    if not found:
        raise UsageError(
            f"--input {inputs[0]} is the index of a multistream dump; give the dump, and the index "
            "beside it is read too"
        )
    for path in found:
        if path.is_dir():
            raise UsageError(f"--input {path} is a folder; give its files, e.g. '{path}/*.bz2'")
        try:
            with path.open("rb") as stream:
                empty = not stream.read(1)
        except OSError as error:
            raise UsageError(f"--input {path} cannot be read: {error.strerror}") from None
        if empty:
            raise UsageError(f"--input {path} is empty; give a MediaWiki dump or documents")
    return found


def _no_articles(
    paths: Sequence[Path], counts: Mapping[str, int], failures: Sequence[Failure]
) -> str:
    names = ", ".join(str(path) for path in paths)
    first = f"; first failure: {failures[0].message}" if failures else ""
    counted = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items())
    return (
        f"no article in {names}: {counted}{first}. Give a MediaWiki pages-articles export (.xml, "
        ".xml.bz2, .xml.gz) or JSON Lines or Parquet of {title, text, url}"
    )


@contextmanager
def _progress(blocks: Path, block_pages: int, say: Callable[[str], None]) -> Iterator[None]:
    """Report the number of pages done within this context, by the block files that exist."""
    done, started = threading.Event(), time.monotonic()

    def watch() -> None:
        while not done.wait(_PROGRESS_SECONDS):
            n, seconds = sum(1 for _ in blocks.glob("[0-9]*.json")), time.monotonic() - started
            say(f"{n} blocks of {block_pages} pages done after {seconds:.0f} s")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
