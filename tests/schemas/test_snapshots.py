"""What every view gives for one small run, kept beside this file.

`UFO_SNAPSHOTS=write pytest tests/schemas/test_snapshots.py` writes them anew; read the difference.
"""

import os
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.schemas.labelled import labelled_rows, request
from tests.schemas.test_views_recall import people, verdicts
from ufo.pipelines.reports.tabular import write_csv
from ufo.schemas.results import Results, open_results
from ufo.schemas.views import View, load_views

SNAPSHOTS = Path(__file__).parent / "snapshots"
VIEWS = {view.name: view for view in load_views() if view.parameters is None}


@pytest.fixture(name="results", scope="module")
def _results(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, labelled_rows(rows_of, "seq"), "one", mode="seq")
    again = {"options": {"repeat": 1}}
    write_run(folder, labelled_rows(rows_of), "two", mode="all", fingerprint=again)
    recalled = rows_of({}) | {
        "recall_verdicts": [
            *people("a", "rag", "ttf "),
            *verdicts("a", "rag", "tf", "tfT-", "ttf "),
            *verdicts("b", "poor", "tf", "n", "f"),
        ],
        "usage": [request("a", "tf", 0.5)],
    }
    write_run(folder, recalled, "three", mode="recall")
    with open_results(folder, all_runs=True) as results:
        yield results


def shown(results: Results, view: View) -> str:
    columns = results.query(f"SELECT * FROM {view.name} LIMIT 0").schema
    rounded = ", ".join(
        f'round("{field.name}", 6) AS "{field.name}"'
        if str(field.type) == "double"
        else f'"{field.name}"'
        for field in columns
    )
    out = StringIO()
    # What the order leaves open is closed by all columns.
    sql = f"SELECT {rounded} FROM (SELECT * FROM {view.name} ORDER BY {view.order}) ORDER BY ALL"
    with results.stream(sql) as reader:
        write_csv(reader, out)
    return out.getvalue().replace("\r\n", "\n")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_gives_what_it_gave(results: Results, name: str) -> None:
    found = shown(results, VIEWS[name])
    assert found.count("\n") > 1, "the run has nothing for this view; add it in labelled.py"
    path = SNAPSHOTS / f"{name}.csv"
    if os.environ.get("UFO_SNAPSHOTS") == "write":
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"view {name} has no snapshot; see the head of this file"
    assert found == path.read_text(encoding="utf-8")


def test_every_snapshot_is_of_a_view() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(VIEWS)
