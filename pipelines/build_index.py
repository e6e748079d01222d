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
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
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
from ufo.pipelines.text_files import TextFiles, check_installed
from ufo.schemas import storage
from ufo.schemas.documents import Columns, is_text_file, text_files
from ufo.schemas.errors import Interrupted, RunError, UsageError, reason_of
from ufo.schemas.records import Failure
from ufo.schemas.rows import HEAD_BYTES, format_of
from ufo.schemas.text import quantity

_PROGRESS_SECONDS = 2.0
_KINDS_SHOWN = 10  # in the warning about files of a folder that are left out
_READ = (
    "an index is made from a MediaWiki pages-articles export (.xml, .xml.bz2, .xml.gz), from JSON "
    "Lines, a JSON array, CSV, TSV or Parquet with a title and a text, or from Markdown, text, "
    "HTML and PDF files or a folder of them"
)


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
    columns: Columns = MappingProxyType({}),
    embedder: str | None = None,
    workers: int = 1,
    slice_bytes: int = SLICE_BYTES,
    progress: Callable[[str], None] = lambda line: None,
) -> BuildResult:
    """Build the index folder `output` from dumps, rows of documents or files of text.

    `inputs` are paths or globs; a path may be a folder with files of text.
    `columns` are those of the title, text, url and id of rows, where they are not the usual ones
    (see `ufo.schemas.documents`). An existing index is replaced when the new one is complete.
    `embedder` adds vectors (see `ufo.indexes.embedders`); a stopped build keeps the finished ones.
    `workers` is the number of processes that read.

    Raises:
        UsageError: an input is not a file, the output is not an index, or the embedder cannot be
            used.
        RunError: the inputs have no article, or the build cannot go on.
        Interrupted: by Ctrl-C.
    """
    started = time.monotonic()
    paths, left_out = _input_files([inputs] if isinstance(inputs, (str, Path)) else inputs)
    if embedder is not None:
        embedder = checked_name(embedder)
        make_embedder(embedder)  # reports what is missing before anything is read
    output = Path(output).expanduser().resolve()
    storage.check_name("--output", str(output))
    slices = [
        part
        for file, path in enumerate(paths)
        for part in slices_of(path, file, workers, slice_bytes)
    ]
    try:
        with folder.build_folder(output) as building:
            settings = Settings(building / folder.BLOCKS, words, block_pages, dict(columns))
            _write_all_blocks(slices, settings, workers, progress)
            content, failures = folder.assemble(building, {"words": words}, paths)
            counts = content["counts"]
            if not counts["articles"]:
                raise RunError(_no_articles(paths, counts, failures))
            progress(f"indexing {quantity(counts['passages'], 'passage')}")
            folder.add_engines(building, content, embedder, progress)
    except (OSError, RuntimeError, KeyboardInterrupt) as error:
        kept = ""
        if embedder is not None:
            kept = ". Vectors that were made are kept: the same command goes on with them"
        if is_interrupt(error):
            raise Interrupted(f"interrupted; the index {output} is not built{kept}") from None
        raise RunError(f"the index {output} could not be built: {error}{kept}") from error
    warnings = left_out
    if failures:
        first = failures[0]
        warnings.append(
            f"{quantity(len(failures), 'page or part', 'pages or parts')} of the input failed, "
            f"see {folder.FAILURES}; the first: {first.key}: {first.message}"
        )
    return BuildResult(output, counts, [*warnings, *_remarks(content)], time.monotonic() - started)


def _remarks(content: Mapping[str, Any]) -> list[str]:
    """Return sentences on what was left out of a dump or is not known for its language."""
    remarks = []
    if left_out := content["counts"]["sentences_left_out"]:
        by = ", ".join(f"{name} ({n:,})" for name, n in content["left_out_by"].items())
        remarks.append(
            f"{quantity(left_out, 'sentence was', 'sentences were')} left out, since the text of a "
            f"template or formula there is not known; the most frequent: {by}"
        )
    for language in content["languages"]:
        if missing := missing_tables(language):
            remarks.append(f"for the language {language!r} it is not known {'; '.join(missing)}")
    return remarks


class Settings(NamedTuple):
    """The settings of blocks: their folder, words a passage, pages a block, columns of rows."""

    blocks: Path
    words: int
    block_pages: int
    columns: Columns = MappingProxyType({})


def write_blocks(
    part: Slice, settings: Settings, report: Callable[[], object] = lambda: None
) -> None:
    """Write the blocks of a slice, in this process; call `report` after each."""
    with closing(TextFiles()) as files:
        for block in read_blocks(part, settings.block_pages, columns=settings.columns):
            result = process_block(block, settings.words, settings.columns, files.read)
            write_block(settings.blocks, block, result)
            report()


def _write_all_blocks(
    slices: Sequence[Slice],
    settings: Settings,
    workers: int,
    say: Callable[[str], None],
) -> None:
    """Write the blocks of all slices; use several processes if the input is large enough."""
    report = _progress(settings, say)
    processes = min(workers, len(slices))
    if processes <= 1:
        for part in slices:
            write_blocks(part, settings, report)
        return
    # Unlike the standard pool it needs no `if __name__ == "__main__"` in the user's script.
    with ProcessPoolExecutor(processes, initializer=as_worker, initargs=(os.getpid(),)) as pool:
        left = {pool.submit(write_blocks, part, settings) for part in slices}
        try:
            while left:
                done, left = wait(left, _PROGRESS_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                report()
        except BaseException:
            # Waited for, since the folder they write to is about to be deleted.
            pool.shutdown(wait=True, kill_workers=True)
            raise


def _progress(settings: Settings, say: Callable[[str], None]) -> Callable[[], None]:
    """Return a function that reports the number of finished blocks, every few seconds at most."""
    started = before = time.monotonic()

    def report() -> None:
        nonlocal before
        now = time.monotonic()
        if now - before >= _PROGRESS_SECONDS:
            done = sum(1 for _ in settings.blocks.glob("[0-9]*.json"))
            size = quantity(settings.block_pages, "page")
            say(f"{quantity(done, 'block')} of {size} done after {now - started:.0f} s")
            before = now

    return report


def _input_files(inputs: Sequence[str | Path]) -> tuple[list[Path], list[str]]:
    """Return the input files and folders, sorted within a glob, and notices of files left out.

    Raises:
        UsageError: one does not exist, has nothing that is read, or is in another format.
    """
    paths: list[Path] = []
    for input_path in (Path(one).expanduser() for one in inputs):
        paths += [input_path] if input_path.is_dir() else map(Path, find_inputs([str(input_path)]))
    inputs_read = [path for path in dict.fromkeys(paths) if not is_stream_index(path)]
    if not inputs_read:
        raise UsageError(
            f"--input {inputs[0]} is the index of a multistream dump; give the dump, and the index "
            "beside it is read too"
        )
    try:
        texts = [path for path in inputs_read if path.is_file() and is_text_file(path)]
    except OSError as error:
        raise UsageError(f"--input {error.filename} cannot be read: {error.strerror}") from error
    left_out: list[str] = []
    for path in inputs_read:
        if path.is_dir():
            files, others = _of_folder(path)
            texts += files
            left_out += others
        elif path not in texts:
            _refuse_other_formats(path)
    check_installed(texts)
    return inputs_read, left_out


def _of_folder(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of text in a folder, and a sentence on the others if there are any."""
    files, others = text_files(folder)
    counted = ", ".join(f"{n:,} {kind}" for kind, n in others.most_common(_KINDS_SHOWN))
    if not files:
        raise UsageError(
            f"--input {folder} is a folder without a file of Markdown, text, HTML or PDF (in it: "
            f"{counted or 'nothing'}); name files of other formats, as in {folder}/*.jsonl"
        )
    notice = f"left out of {folder}: {quantity(others.total(), 'other file')} ({counted})"
    return files, [notice] if others else []


def _refuse_other_formats(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            format_of(stream.read(HEAD_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"--input {path} cannot be read: {reason_of(error)}; {_READ}") from error


def _no_articles(
    paths: Sequence[Path], counts: Mapping[str, int], failures: Sequence[Failure]
) -> str:
    names = ", ".join(str(path) for path in paths)
    first = f"; first failure: {failures[0].message}" if failures else ""
    counted = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n)
    figures = f": {counted}" if counted else ""
    return f"no article in {names}{figures}{first}; {_READ}"
