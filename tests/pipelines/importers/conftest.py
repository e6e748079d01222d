"""Reading records of a published format, each of which `ufo evaluate` must take as it is."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.importers import import_records
from ufo.schemas.records import InputRecord
from ufo.transforms.read import parse


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Any]:
    """A function: the records of rows of a format, what it tells of bad ones, and its counts."""

    def read(kind: str, *rows: Any, name: str = "dev.jsonl") -> tuple[Any, Any, Any]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        told: list[str] = []
        left_out: Counter[str] = Counter()
        records = list(import_records(kind, path, told, left_out))
        for record in records:
            unknown: list[Any] = []
            found = parse("x:1", json.dumps(record).encode(), 2**20, unknown=unknown.append)
            assert isinstance(found, InputRecord), found
        return records, told, left_out

    return read
