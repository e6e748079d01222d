"""Build an index folder from a Wikipedia dump or documents (`ufo index build`).

    files ─ slices ─ blocks: passages, titles, redirects, on disk ─┬─ passages ─ BM25 ─ vectors
                                                                   └─ pages, names

Several processes work on the slices. The numbers of blocks depend only on the input, so the index
does not depend on which process works on a block, or when. The index is built in a folder beside
its path, then renamed.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path
from typing import Any, NamedTuple

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
from ufo.indexes.wikis import missing_tables
from ufo.pipelines.runs.inputs import find_inputs
from ufo.pipelines.runs.workers import as_worker, is_interrupt
from ufo.schemas.errors import Interrupted, RunError, UsageError
from ufo.schemas.records import Failure

_PROGRESS_SECONDS = 2.0


class BuildResult(NamedTuple):
    """The result of a build. `counts` are the manifest's; `warnings` are sentences for the user."""

    path: Path
    counts: dict[str, int]
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

    An existing index is replaced when the new one is complete. `embedder` adds vectors (see
    `ufo.indexes.embedders`); a stopped build keeps the finished ones. `workers` is the number of
    processes that read.

    Raises:
        UsageError: an input is not a file, the output is not an index, or the embedder cannot be
            used.
        RunError: the inputs have no article, or the build cannot go on.
        Interrupted: by Ctrl-C.
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
            settings = (building / folder.BLOCKS, words, block_pages)
            _write_all_blocks(slices, settings, workers, progress)
            content, failures = folder.assemble(building, {"words": words}, paths)
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
    return BuildResult(output, counts, [*warnings, *_remarks(content)], time.monotonic() - started)


def _remarks(content: Mapping[str, Any]) -> list[str]:
    """Return what was left out of a dump, and what is not known for its language, as sentences."""
    remarks = []
    if left_out := content["counts"]["sentences_left_out"]:
        by = ", ".join(f"{name} ({n:,})" for name, n in content["left_out_by"].items())
        remarks.append(
            f"{left_out:,} sentences were left out, since the text of a template or formula in "
            f"them is not known; the most frequent: {by}"
        )
    for language in content["languages"]:
        if missing := missing_tables(language):
            remarks.append(f"for the language {language!r} it is not known {'; '.join(missing)}")
    return remarks


def write_blocks(
    part: Slice,
    blocks: Path,
    words: int,
    block_pages: int,
    told: Callable[[], object] = lambda: None,
) -> None:
    """Write the blocks of a slice, in this process; call `told` after each."""
    for block in read_blocks(part, block_pages):
        write_block(blocks, block, process_block(block, words))
        told()


def _write_all_blocks(
    slices: Sequence[Slice],
    settings: tuple[Path, int, int],
    workers: int,
    say: Callable[[str], None],
) -> None:
    """Write the blocks of all slices; use several processes if the input is large enough."""
    told = _progress(*settings, say)
    processes = min(workers, len(slices))
    if processes <= 1:
        for part in slices:
            write_blocks(part, *settings, told)
        return
    # Unlike the standard pool it needs no `if __name__ == "__main__"` in the user's script.
    with ProcessPoolExecutor(processes, initializer=as_worker, initargs=(os.getpid(),)) as pool:
        left = {pool.submit(write_blocks, part, *settings) for part in slices}
        try:
            while left:
                done, left = wait(left, _PROGRESS_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                told()
        except BaseException:
            # Waited for, since the folder they write to is about to be deleted.
            pool.shutdown(wait=True, kill_workers=True)
            raise


def _progress(
    blocks: Path, words: int, block_pages: int, say: Callable[[str], None]
) -> Callable[[], None]:
    """Return a function that reports now and then how many blocks are done, by their files."""
    started = before = time.monotonic()

    def told() -> None:
        nonlocal before
        now = time.monotonic()
        if now - before >= _PROGRESS_SECONDS:
            done = sum(1 for _ in blocks.glob("[0-9]*.json"))
            say(f"{done:,} blocks of {block_pages} pages done after {now - started:.0f} s")
            before = now

    return told


def _input_files(inputs: Sequence[str | Path]) -> list[Path]:
    """Return the input files, sorted within a glob; UsageError where one does not exist."""
    paths = [Path(path) for path in find_inputs([str(Path(one).expanduser()) for one in inputs])]
    found = [path for path in paths if not is_stream_index(path)]
    if not found:
        raise UsageError(
            f"--input {inputs[0]} is the index of a multistream dump; give the dump, and the index "
            "beside it is read too"
        )
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
