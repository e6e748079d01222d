"""The rows of a part file, and the counters of a step."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank
from ufo.schemas.records import Evidence, Passage
from ufo.schemas.tables import to_arrow
from ufo.transforms.beam.files import StepCounters, whole
from ufo.transforms.llm.usage_log import UsageReader

KEY = {"response_id": "r", "unit_id": "u", "source": "s", "rank": 1, "passage_id": "p"}


@pytest.mark.parametrize("column", [*KEY, "sample_index"])
def test_rows_are_in_the_order_of_each_column_of_their_key(column: str) -> None:
    def row(value: Any) -> Evidence:
        fields = KEY | {"sample_index": 1, "outcome": "noans", "judge": "j"} | {column: value}
        return blank(Evidence, **fields)

    values = (2, 1) if column in ("rank", "sample_index") else ("b", "a")
    table = whole("evidence", to_arrow("evidence", [row(value) for value in values]))
    assert table.column(column).to_pylist() == sorted(values)


def test_a_passage_stands_once_in_a_part() -> None:
    rows = [Passage(text, source="s", passage_id=text.lower()) for text in "BAB"]
    table = whole("passages", to_arrow("passages", rows))
    assert table.column("passage_id").to_pylist() == ["a", "b"]
    assert table.column("text").to_pylist() == ["A", "B"]


def test_counts_are_added_up_under_the_name_of_their_step(tmp_path: Path) -> None:
    counters = StepCounters("read", str(tmp_path / "log"))
    counters.add(lines=1, records=2)
    counters.add(lines=3, records=0)
    counters.flush()
    counters.flush()
    counters.close()
    assert UsageReader(str(tmp_path / "log")).totals() == {"read.lines": 4, "read.records": 2}
