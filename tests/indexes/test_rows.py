import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.rows import Rows

SCHEMA = pa.schema(
    [
        pa.field("title", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("page", pa.int64()),
        pa.field("ordinal", pa.int32(), nullable=False),
    ]
)


def _written(path: Path, batches: list[list[tuple[Any, ...]]]) -> Path:
    with pa.ipc.new_file(path, SCHEMA) as writer:
        for rows in batches:
            columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=SCHEMA))
    return path


_row = st.tuples(
    st.text(max_size=5),
    st.none() | st.text(max_size=5),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**31), 2**31 - 1),
)


@given(st.lists(st.lists(_row, max_size=20), max_size=4))
def test_every_row_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[Any, ...]]]
) -> None:
    rows = Rows(_written(tmp_path_factory.getbasetemp() / "rows.arrow", batches))
    expected = [row for batch in batches for row in batch]
    assert len(rows) == len(expected)
    backwards = range(len(expected) - 1, -1, -1)
    assert [tuple(rows.read(at)) for at in backwards] == [expected[at] for at in backwards]
    for at in (-1, len(expected)):
        with pytest.raises(IndexError, match=str(at)):
            rows.read(at)


def test_threads_read_at_once(tmp_path: Path) -> None:
    written = [(f"T{n}", None if n % 3 else f"u{n}", n, -n) for n in range(500)]
    rows = Rows(_written(tmp_path / "rows.arrow", [written[:200], written[200:]]))
    found: list[list[tuple[Any, ...]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([tuple(rows.read(n)) for n in range(500)]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [written] * 4
