"""Sample records of the input; the same input gives the same sample."""

import tempfile
from collections.abc import Callable, Iterator
from hashlib import blake2b
from heapq import heappush, heappushpop
from typing import TypeVar

from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.chunks import InputReport, check_columns
from ufo.pipelines.runs.inputs import display_names, find_inputs, measure, plain_file
from ufo.schemas.errors import NothingUsable
from ufo.schemas.records import Failure
from ufo.transforms.splits import Split, lines

SAMPLE = 200
R = TypeVar("R")


def sampled(
    settings: Settings,
    parse: Callable[[str, bytes, int], R | Failure],
    id_of: Callable[[R], str],
    size: int,
    used: Callable[[str], bool],
) -> tuple[list[R], int]:
    """Return `size` records of the input in its order, and how many it has.

    Raises:
        UsageError: the input cannot be read, or has not the columns of `--map`.
        NothingUsable: it is empty, or no record of it can be used.
    """
    kept: list[tuple[int, int, R]] = []
    seen: set[str] = set()
    report = InputReport()
    for record in _records(settings, report.observed(parse), used):
        name = id_of(record)
        if name in seen:
            continue
        seen.add(name)
        # The records with the lowest hashes are a random choice that needs no second pass.
        digest = blake2b(name.encode(), digest_size=8).digest()
        item = (-int.from_bytes(digest), len(seen), record)
        if len(kept) < size:
            heappush(kept, item)
        else:
            heappushpop(kept, item)
    report.check(settings.input)
    if not seen:
        raise NothingUsable(
            f"--input {', '.join(settings.input)}: empty; there is nothing to evaluate"
        )
    return [record for _, _, record in sorted(kept, key=lambda item: item[1])], len(seen)


def _records(
    settings: Settings,
    parse: Callable[[str, bytes, int], R | Failure],
    used: Callable[[str], bool],
) -> Iterator[R]:
    paths = find_inputs(settings.input)
    with tempfile.TemporaryDirectory(prefix="ufo-estimate-") as folder:
        files = [
            plain_file(measure(path, name), folder, used)
            for path, name in zip(paths, display_names(paths), strict=True)
        ]
        check_columns(files, settings.map, settings.max_line_bytes)
        for plain in files:
            split = Split(plain.name, plain.path, 0, plain.size, first_line=1)
            with open(plain.path, "rb") as stream:
                for line in lines(stream, split, settings.max_line_bytes):
                    record = parse(line.key, line.data, settings.max_line_bytes)
                    if not isinstance(record, Failure):
                        yield record
