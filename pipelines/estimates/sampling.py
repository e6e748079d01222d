"""A sample of the input for an estimate, always the same one, and how far it may be off."""

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from heapq import heappush, heappushpop
from pathlib import Path
from typing import TypeVar

from pipelines.runs.inputs import InputFile, spool
from pipelines.runs.plan import PlainFile
from schemas.records import Failure, InputRecord
from transforms.read import parse
from transforms.splits import Split, lines

R = TypeVar("R")


def sampled(
    files: Sequence[InputFile], max_line_bytes: int, sample: int
) -> tuple[list[InputRecord], int]:
    """Return `sample` of the records, always the same ones, and how many there are."""
    kept: list[tuple[int, int, InputRecord]] = []
    seen: set[str] = set()
    for record in _records(files, max_line_bytes):
        if record.response_id in seen:
            continue
        seen.add(record.response_id)
        # The records with the lowest hashes are a random choice that needs no second reading.
        digest = blake2b(record.response_id.encode(), digest_size=8).digest()
        item = (-int.from_bytes(digest), len(seen), record)
        if len(kept) < sample:
            heappush(kept, item)
        else:
            heappushpop(kept, item)
    return [record for _, _, record in sorted(kept, key=lambda item: item[1])], len(seen)


def _records(files: Sequence[InputFile], max_line_bytes: int) -> Iterator[InputRecord]:
    with tempfile.TemporaryDirectory(prefix="ufo-estimate-") as folder:
        for file in files:
            path = file.path if file.plain() else spool(file, folder)
            plain = PlainFile(file.name, path, Path(path).stat().st_size)
            yield from in_file(plain, max_line_bytes, parse)


def in_file(
    file: PlainFile, max_line_bytes: int, parse: Callable[[str, bytes, int], R | Failure]
) -> Iterator[R]:
    """Yield the records of a file, in order; lines that `parse` makes none of are passed over."""
    split = Split(file.name, file.path, 0, file.size, first_line=1)
    with open(file.path, "rb") as stream:
        for line in lines(stream, split, max_line_bytes):
            record = parse(line.key, line.data, max_line_bytes)
            if not isinstance(record, Failure):
                yield record


def spread_of(tokens: Sequence[float]) -> float:
    """Return the relative standard error of a sum that is told from a sample of its parts."""
    n, total = len(tokens), math.fsum(tokens)
    if n < 2 or not total:
        return 0.0
    variance = math.fsum((count - total / n) ** 2 for count in tokens) / (n - 1)
    return math.sqrt(variance * n) / total
