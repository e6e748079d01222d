"""Build an index folder: assemble blocks, build engines, and move the folder to its path."""

import json
import os
import secrets
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ufo.indexes import bm25, bm25_large
from ufo.indexes.blocks import COUNTS
from ufo.indexes.embedders import description, make_embedder
from ufo.indexes.keys import Keys, name_keys
from ufo.indexes.manifest import file_sha256, is_index, write_manifest
from ufo.indexes.names import ALIAS_SCHEMA, ALIASES, follow, name_table, normal_name
from ufo.indexes.store import PAGE_SCHEMA, PAGES, PASSAGE_SCHEMA, PASSAGES
from ufo.schemas.errors import UsageError
from ufo.schemas.extras import need
from ufo.schemas.records import Failure
from ufo.schemas.tables import sort_key, to_arrow

FAILURES = "failures.parquet"
BLOCKS = "blocks"
STATE = "building.txt"
SMALL = 5_000  # passages; beyond that rank-bm25 takes seconds to open and milliseconds a query

_STOPPED = "stopped"  # in a folder's name, in place of the process id of a running build
_BATCH = 1024  # passages a record batch, so that the bytes do not depend on the blocks


@dataclass(frozen=True, slots=True)
class Assembled:
    """The result of `assemble`: counts, failures, and content of the manifest."""

    counts: dict[str, int]
    failures: list[Failure]
    content: dict[str, Any]


def start(output: Path, state: str = "") -> Path:
    """Create a folder beside `output` to build in, and return it.

    An index at `output` is not changed before `finish`. `state` identifies inputs and settings: a
    stopped build with the same state is resumed, others are removed.

    Raises:
        UsageError: `output` is not a new, an empty or an index folder, or cannot be written.
    """
    if output.exists() and not output.is_dir():  # a device as well
        raise UsageError(
            f"--output {output} is a file; give a folder that is new, empty or an index"
        )
    if output.is_dir() and any(output.iterdir()) and not is_index(output):
        raise UsageError(
            f"--output {output} holds something that is not an index; give a new or an empty folder"
        )
    building = output.parent / f"{_prefix(output)}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        for left in _abandoned(output):
            if not building.exists() and state and _state_of(left) == state:
                left.rename(building)
            else:
                shutil.rmtree(left, ignore_errors=True)
        (building / BLOCKS).mkdir(parents=True, exist_ok=True)
        (building / STATE).write_text(state)
    except OSError as error:
        raise UsageError(f"cannot write beside --output {output}: {error.strerror}") from None
    return building


def stop(building: Path, output: Path) -> None:
    """Keep the folder of a stopped build, for a build with the same state to resume."""
    building.rename(output.parent / f"{_prefix(output)}{_STOPPED}-{secrets.token_hex(4)}")


def _abandoned(output: Path) -> Iterator[Path]:
    """Yield the folders of builds of `output` that were stopped or killed on this machine."""
    prefix = _prefix(output)
    for folder in sorted(output.parent.iterdir()):
        process = folder.name.removeprefix(prefix).partition("-")[0]
        if folder.name.startswith(prefix) and (
            process == _STOPPED or (process.isdecimal() and not _runs(int(process)))
        ):
            yield folder


def _state_of(folder: Path) -> str:
    try:
        return (folder / STATE).read_text()
    except OSError:
        return ""


def _prefix(output: Path) -> str:
    return f".{output.name}.building-{socket.gethostname()}-"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)  # signal 0 checks whether the process exists
    except ProcessLookupError:
        return False
    except OSError:  # another user's process
        return True
    return True


def finish(building: Path, output: Path) -> None:
    """Replace `output` by the built folder; restore the old folder if that fails."""
    old = output.parent / f"{building.name}-old"
    if not output.exists():
        building.rename(output)
        return
    output.rename(old)
    try:
        building.rename(output)
    except OSError:
        old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def describe_inputs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the manifest's entries for the input files: name, size and SHA-256."""
    return [
        {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in paths
    ]


def assemble(building: Path, settings: dict[str, Any], inputs: list[dict[str, Any]]) -> Assembled:
    """Write the passages, pages and names of the blocks in `building`."""
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    failures: list[Failure] = []
    aliases: list[str] = []
    targets = [name_keys(())]
    titles: list[str] = []
    sizes: list[int] = []
    dates = [""]
    for path in sorted((building / BLOCKS).glob("*.json")):
        block = json.loads(path.read_text())
        counts.update(block["counts"])
        failures.extend(Failure(**failure) for failure in block["failures"])
        dates.append(block["latest"])
        for title, n_passages in block["pages"]:
            titles.append(title)
            sizes.append(n_passages)
        aliases.extend(alias for _, alias in block["redirects"])
        targets.append(name_keys(target for target, _ in block["redirects"]))
    counts["passages"] = _write_passages(building)
    first_rows = np.cumsum([0, *sizes])[:-1]
    _write(building / PAGES, PAGE_SCHEMA, [titles, first_rows, sizes])
    counts["aliases"] = _write_aliases(building, titles, aliases, np.concatenate(targets))
    counts["unresolved_redirects"] = counts["redirects"] - counts["aliases"]
    failures.sort(key=sort_key("failures"))
    pq.write_table(to_arrow("failures", failures), building / FAILURES, compression="zstd")
    content = {
        "inputs": inputs,
        "dump_date": max(dates) or None,
        "counts": dict(counts),
        "settings": settings,
    }
    return Assembled(dict(counts), failures, content)


def add_engines(
    building: Path,
    content: dict[str, Any],
    embedder: str | None = None,
    say: Callable[[str], None] | None = None,
) -> None:
    """Build BM25 and, if an `embedder` is named, vectors; then write the manifest with `content`.

    The BM25 engine depends on the number of passages. `say` receives progress messages.
    """
    files = [PASSAGES, PAGES, ALIASES, FAILURES]
    small = content["counts"]["passages"] <= SMALL
    engine = bm25 if small else bm25_large
    files += engine.build(building)
    content = content | {"settings": content["settings"] | {"engine": engine.SETTINGS}}
    if embedder is not None:
        need("dense", f"the embedder {embedder}")
        from ufo.indexes import dense  # FAISS is heavy, and needed for vectors alone

        made = make_embedder(embedder)
        files += dense.build(building, made, say)
        content["embedder"] = description(made)
        shutil.rmtree(building / dense.SHARDS)
    shutil.rmtree(building / BLOCKS)
    (building / STATE).unlink(missing_ok=True)
    write_manifest(building, files, content)


def _write(path: Path, schema: pa.Schema, columns: Sequence[Any]) -> None:
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)]
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _write_passages(building: Path) -> int:
    written = 0
    with pa.ipc.new_file(building / PASSAGES, PASSAGE_SCHEMA) as writer:
        for batch in _even_batches(building):
            writer.write_batch(batch)
            written += batch.num_rows
    return written


def _even_batches(building: Path) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.Table] = []
    n_waiting = 0
    for path in sorted((building / BLOCKS).glob("*.arrow")):
        with pa.ipc.open_file(path) as reader:
            waiting.append(reader.read_all())
        n_waiting += waiting[-1].num_rows
        if n_waiting >= _BATCH:
            table = pa.concat_tables(waiting).combine_chunks()
            whole = n_waiting - n_waiting % _BATCH
            yield from table.slice(0, whole).to_batches(max_chunksize=_BATCH)
            waiting = [table.slice(whole)]
            n_waiting -= whole
    if n_waiting:
        yield from pa.concat_tables(waiting).combine_chunks().to_batches()


def _write_aliases(
    building: Path, titles: Sequence[str], aliases: Sequence[str], targets: Keys
) -> int:
    """Write the names of the pages; return the number of aliases among them."""
    pages = follow(aliases, targets, name_keys(map(normal_name, titles)))
    resolved = np.flatnonzero(pages >= 0)
    names = [aliases[at] for at in resolved.tolist()]
    with pa.ipc.new_file(building / ALIASES, ALIAS_SCHEMA) as writer:
        writer.write_table(name_table(titles, names, pages[resolved].tolist()))
    return len(names)
