"""Build an index folder: assemble blocks, build engines, and move the folder to its path."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout

from ufo.indexes import bm25
from ufo.indexes.blocks import COUNTS
from ufo.indexes.embedders import description, make_embedder
from ufo.indexes.manifest import is_index, write_manifest
from ufo.indexes.names import ALIASES, name_keys, write_names
from ufo.indexes.store import PAGE_SCHEMA, PAGES, PASSAGE_SCHEMA, PASSAGES
from ufo.schemas.dependencies import need
from ufo.schemas.documents import text_files
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure
from ufo.schemas.storage import sha256_of
from ufo.schemas.tables import sort_key, to_arrow, write_rows

FAILURES = "failures.parquet"
BLOCKS = "blocks"

_MOST_TEMPLATES = 10  # named of those for which sentences were left out

_VECTORS_OF = "of.txt"  # has the embedder of the vectors, and the checksum of their passages


@contextmanager
def build_folder(output: Path) -> Iterator[Path]:
    """Yield a folder to build in, which replaces `output` at the end of the block.

    After an error in the block, `output` is unchanged and the folder is deleted.

    Raises:
        UsageError: `output` is not a new, an empty or an index folder, cannot be written, or is
            being built by another process.
    """
    empty = output.is_dir() and not any(output.iterdir())
    if output.exists() and not (empty or is_index(output)):
        raise UsageError(
            f"--output {output} is not an index but a file, or a folder with something else; give "
            "a folder that is new, empty or an index"
        )
    lock = FileLock(output.parent / f".{output.name}.building.lock")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(f"--output {output} is being built by another process") from None
    except OSError as error:
        raise UsageError(f"cannot write beside --output {output}: {error.strerror}") from None
    folder = output.with_name(f".{output.name}.building")
    try:
        shutil.rmtree(folder, ignore_errors=True)  # left by a killed build
        (folder / BLOCKS).mkdir(parents=True)
        yield folder
        _replace(output, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def _replace(output: Path, folder: Path) -> None:
    """Put a built folder in the place of `output`; restore the old folder if that fails."""
    old = output.with_name(f"{folder.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    if output.exists():
        output.rename(old)
    try:
        folder.rename(output)
    except OSError:
        if old.exists():
            old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def assemble(
    building: Path, settings: dict[str, Any], inputs: Sequence[Path]
) -> tuple[dict[str, Any], list[Failure]]:
    """Write the passages, pages and names of the blocks in `building`.

    Returns:
        The content of the manifest, and the failures.
    """
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    failures: list[Failure] = []
    aliases: list[str] = []
    targets = [name_keys(())]
    titles: list[str] = []
    sizes: list[int] = []
    dates = [""]
    left_out: Counter[str] = Counter()
    languages: set[str] = set()
    for path in sorted((building / BLOCKS).glob("*.json")):
        block = json.loads(path.read_text())
        counts.update(block["counts"])
        failures.extend(Failure(**failure) for failure in block["failures"])
        dates.append(block["latest"])
        left_out.update(block["left_out"])
        languages.add(block["language"])
        for title, n_passages in block["pages"]:
            titles.append(title)
            sizes.append(n_passages)
        aliases.extend(alias for _, alias in block["redirects"])
        targets.append(name_keys(target for target, _ in block["redirects"]))
    counts["passages"] = _write_passages(building)
    first_rows = np.cumsum([0, *sizes])[:-1]
    with pa.ipc.new_file(building / PAGES, PAGE_SCHEMA) as writer:
        columns = zip(PAGE_SCHEMA.names, (titles, first_rows, sizes), strict=True)
        writer.write_table(pa.Table.from_pydict(dict(columns), PAGE_SCHEMA))
    counts["aliases"] = write_names(building, titles, aliases, np.concatenate(targets))
    counts["unresolved_redirects"] = counts["redirects"] - counts["aliases"]
    failures.sort(key=sort_key("failures"))
    write_rows(to_arrow("failures", failures), building / FAILURES)
    content = {
        "inputs": [{"name": path.name, "bytes": _bytes_of(path)} for path in inputs],
        "dump_date": max(dates) or None,
        "counts": dict(counts),
        "left_out_by": dict(left_out.most_common(_MOST_TEMPLATES)),
        "languages": sorted(languages - {""}),
        "settings": settings,
    }
    return content, failures


def _bytes_of(path: Path) -> int:
    """Return the size of a file, or of the text files below a folder, in bytes."""
    files = text_files(path)[0] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def add_engines(
    building: Path,
    content: dict[str, Any],
    embedder: str | None = None,
    say: Callable[[str], None] | None = None,
) -> None:
    """Build BM25 and, if an `embedder` is named, vectors; then write the manifest with `content`.

    Embedding takes hours for a large index. So blocks of vectors are kept beside `building` until
    all are there; a build of the same passages by the same embedder resumes with them. `say`
    receives progress messages.
    """
    files = [PASSAGES, PAGES, ALIASES, FAILURES, *bm25.build(building)]
    content = content | {"settings": content["settings"] | {"engine": bm25.SETTINGS}}
    if embedder is not None:
        need("dense", f"the embedder {embedder}")
        from ufo.indexes import dense  # FAISS is heavy, and needed for vectors alone

        model = make_embedder(embedder)
        origin = f"{model.name} {model.version} {sha256_of(str(building / PASSAGES))}"
        vectors = building.with_name(f"{building.name}-vectors")
        if vectors.is_dir() and (vectors / _VECTORS_OF).read_text() != origin:
            shutil.rmtree(vectors)
        vectors.mkdir(exist_ok=True)
        (vectors / _VECTORS_OF).write_text(origin)
        files += dense.build(building, model, vectors, say)
        content["embedder"] = description(model)
        shutil.rmtree(vectors)
    shutil.rmtree(building / BLOCKS)
    write_manifest(building, files, content)


def _write_passages(building: Path) -> int:
    written = 0
    with pa.ipc.new_file(building / PASSAGES, PASSAGE_SCHEMA) as writer:
        for path in sorted((building / BLOCKS).glob("*.arrow")):
            with pa.ipc.open_file(path) as reader:
                table = reader.read_all()
            writer.write_table(table)
            written += table.num_rows
    return written
