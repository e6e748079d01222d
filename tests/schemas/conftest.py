from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.schemas.listed_system import Lists
from ufo.schemas.results import open_results

Found = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def ask(tmp_path: Path, write_run: Callable[..., Path]) -> Iterator[Callable[..., Found]]:
    """A function: write a run of these rows; what it returns gives the rows of a query over it."""
    with ExitStack() as opened:

        def write(rows: dict[str, list[Any]], mode: str = "seq", **changes: Any) -> Found:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            write_run(folder, rows, mode=mode, **changes)
            results = opened.enter_context(open_results(folder))
            return lambda *query: [tuple(row.values()) for row in results.query(*query).to_pylist()]

        yield write


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> type[Lists]:
    fsspec.register_implementation("lists", Lists, clobber=True)
    for name in ("told", "fault"):
        monkeypatch.setattr(Lists, name, getattr(Lists, name))
    return Lists
