"""The index folder: blocks and aliases put together, engines built, moved in when whole."""

import json
import os
import secrets
import shutil
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from indexes import bm25
from indexes.blocks import COUNTS
from indexes.manifest import file_sha256, is_index, write_manifest
from indexes.names import ALIAS_SCHEMA, ALIASES, name_table
from indexes.store import PAGE_SCHEMA, PAGES, PASSAGE_SCHEMA, PASSAGES
from schemas.errors import UsageError
from schemas.records import Failure
from schemas.tables import sort_key, to_arrow

FAILURES = "failures.parquet"
BLOCKS = "blocks"
ALIAS_PARTS = "alias-parts"

_BATCH = 1024  # passages a record batch, whatever the blocks were: equal bytes


@dataclass(frozen=True, slots=True)
class Assembled:
    """What was put together: the manifest's counts, and the failures for the build's report."""

    counts: dict[str, int]
    failures: list[Failure]


def start(output: Path) -> Path:
    """Return a new empty folder beside `output` to build in; UsageError where that cannot be.

    An index at `output` stays as it is until `finish`; another kind of folder is not touched.
    """
    if output.is_file():
        raise UsageError(
            f"--output {output} is a file; give a folder that is new, empty or an index"
        )
    if output.is_dir() and any(output.iterdir()) and not is_index(output):
        raise UsageError(
            f"--output {output} holds something that is not an index; give a new or an empty folder"
        )
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(output)
        building = output.parent / f"{_prefix(output)}{os.getpid()}-{secrets.token_hex(4)}"
        (building / BLOCKS).mkdir(parents=True)
        (building / ALIAS_PARTS).mkdir()
    except OSError as error:
        raise UsageError(f"cannot write beside --output {output}: {error.strerror}") from None
    return building


def _remove_abandoned(output: Path) -> None:
    """Remove what builds of this folder left that were killed on this machine."""
    prefix = _prefix(output)
    for folder in output.parent.iterdir():
        process = folder.name.removeprefix(prefix).partition("-")[0]
        if folder.name.startswith(prefix) and process.isdecimal() and not _runs(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _prefix(output: Path) -> str:
    return f".{output.name}.building-{socket.gethostname()}-"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)  # signal 0 asks whether it is there
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def finish(building: Path, output: Path) -> None:
    """Put the built folder in the place of `output`; what stood there stays if that fails."""
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
    """Return name, size and SHA-256 of the input files, as the manifest has them."""
    return [
        {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in paths
    ]


def assemble(building: Path, settings: dict[str, Any], inputs: list[dict[str, Any]]) -> Assembled:
    """Make the index of the blocks and alias parts in `building`; the manifest comes last."""
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    failures: list[Failure] = []
    keys: list[int] = []
    titles: list[str] = []
    sizes: list[int] = []
    dates = [""]
    for path in sorted((building / BLOCKS).glob("*.json")):
        block = json.loads(path.read_text())
        counts.update(block["counts"])
        failures.extend(Failure(**failure) for failure in block["failures"])
        dates.append(block["latest"])
        for key, title, n_passages in block["pages"]:
            keys.append(key)
            titles.append(title)
            sizes.append(n_passages)
    counts["passages"] = _write_passages(building)
    first_rows = np.cumsum([0, *sizes])[:-1]
    _write(building / PAGES, PAGE_SCHEMA, [titles, first_rows, sizes])
    names, pages = _alias_parts(building, np.array(keys, np.int64))
    counts["aliases"] = _write_aliases(building, titles, names, pages)
    counts["unresolved_redirects"] = counts["redirects"] - len(names)
    failures.sort(key=sort_key("failures"))
    pq.write_table(to_arrow("failures", failures), building / FAILURES, compression="zstd")
    files = [PASSAGES, PAGES, ALIASES, FAILURES, *bm25.build(building)]
    shutil.rmtree(building / BLOCKS)
    shutil.rmtree(building / ALIAS_PARTS)
    content = {
        "inputs": inputs,
        "dump_date": max(dates) or None,
        "counts": dict(counts),
        "settings": settings,
    }
    write_manifest(building, files, content)
    return Assembled(dict(counts), failures)


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


def _alias_parts(building: Path, keys: np.ndarray[Any, Any]) -> tuple[list[str], list[int]]:
    """Return the aliases and the pages (rows) they lead to, out of the parts that were written."""
    names: list[str] = []
    pages: list[int] = []
    for path in sorted((building / ALIAS_PARTS).glob("*.json")):
        for name, key in json.loads(path.read_text()):
            names.append(name)
            pages.append(key)
    return names, np.searchsorted(keys, np.array(pages, np.int64)).tolist()


def _write_aliases(building: Path, titles: list[str], names: list[str], pages: list[int]) -> int:
    """Write the names of the pages; return how many of them are aliases."""
    with pa.ipc.new_file(building / ALIASES, ALIAS_SCHEMA) as writer:
        writer.write_table(name_table(titles, names, pages))
    return len(names)
