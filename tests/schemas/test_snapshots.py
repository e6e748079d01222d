"""What every view gives for one small run, kept beside this file.

`UFO_SNAPSHOTS=write pytest tests/schemas/test_snapshots.py` writes them anew; read the difference.
"""

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank, rows_of, write_run
from tests.schemas.labelled import labelled_rows, people, request, verdicts
from ufo.pipelines.reports.tabular import write_csv
from ufo.schemas.label_sheets import add_weights, write_population, write_sheet
from ufo.schemas.labels import Label, LabelPopulation
from ufo.schemas.records import SourceStatus
from ufo.schemas.results import Results, open_results
from ufo.schemas.views import View, load_views

SNAPSHOTS = Path(__file__).parent / "snapshots"
_NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")
VIEWS = {view.name: view for view in load_views() if view.parameters is None}
# Of views with many rows these are kept: each column has a value in one of them.
KEPT = {
    "agreement": "part = 'all' AND (run = 'two' OR mode IS NULL OR (run, mode) = ('four', 'seq')) "
    "OR (run, level, mode, model) = ('two', 'claim', 'seq', 'alder')",
    "corrected_scores": "run IN ('two', 'four', 'six')",
    "evidence_full": "run IN ('two', 'four')",
    "label_cells": "run IN ('one', 'six')",
    "judge_errors": "run = 'two' OR (run, mode) = ('four', 'seq')",
    "source_contributions_by_model": "run IN ('two', 'four')",
    "tallies": "run IN ('two', 'four')",
}


# Units decided by the first source, by a later one, by nobody; with ties, and sources that differ.
VOTES = {
    "a": {
        "even": {"ref": "s", "wiki": "r", "web": "n"},
        "most": {"ref": "sss", "wiki": "r", "web": "-"},
        "tied": {"ref": "ss", "wiki": "sr", "web": "e"},
        "same": {"ref": "s", "wiki": "s", "web": "s"},
    },
    "b": {
        "open": {"ref": "n", "wiki": "-", "web": "n"},
        "lost": {"ref": "e", "wiki": "n", "web": "n"},
        "past": {"ref": "e", "wiki": "r", "web": "n"},
        "late": {"ref": "n-", "wiki": "rrs", "web": "-"},
    },
    "c": {},
}
# Claims that annotators labelled: ann's sheet was drawn from all but the last, bob's is the page's.
LABELLED: dict[str, Any] = {
    "g": {f"g{at}": {"ref": "s", "wiki": "r"} for at in range(3)},
    "h": {"h0": {"ref": "s", "wiki": "s"}},
}
SHEETS = {
    "ann": {"g0": (1, "read it"), "g1": (0, None)},
    "bob": {"g0": (1, None), "g1": (1, "see g0"), "g2": (0, None)},
}
NOTHING: dict[str, Any] = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}


def tied_rows(tie: str) -> dict[str, list[Any]]:
    """A run of mode all under a rule for ties, with a source that no unit reached, one that could
    not serve, labels, and requests that failed, were shared, or have no known price."""
    sources = ("ref", "wiki", "web", "idle")
    models = {"a": "m1", "b": "m2", "c": "m2"}
    labels = {"even": 0, "same": 1, "open": 1, "past": 1}
    rows = rows_of(VOTES, sources, "all", tie, models=models, labels=labels)
    rows["sources"].append(SourceStatus(4, "gone", "web", "unavailable", "no key", "{}"))
    rows["usage"] = [
        request(None, None, 0.25, step="probe"),
        request("a", None, 0.25),
        request("a", None, 0.0, status="429", retries=1, seconds=0.1, **NOTHING),
        request("b", None, 0.0, cached=True),
        request("a", "ref", 1.0),
        request("b", "ref", 0.0, coalesced=True),
        request("b", "ref", 0.0, model="unknown", cost_usd=None),
    ]
    return rows


def recalled_rows() -> dict[str, list[Any]]:
    """A run of factual recall: answers, calls that failed or were split, an empty answer."""

    def by(formulation: str, letters: str, requests: str) -> list[Any]:
        rows = verdicts("a", "rag", formulation, letters, " " * len(letters))
        return [replace(row, request_id=name) for row, name in zip(rows, requests, strict=True)]

    empty = verdicts("c", "empty", "tf", "ff", "  ") + verdicts("c", "empty", "tfn", "ff", "  ")
    # Nor about one that says that it does not know.
    silent = verdicts("f", "rag", "tf", "--", "f ") + verdicts("f", "poor", "tf", "--", "f ")
    return rows_of({}) | {
        "recall_verdicts": [
            *people("a", "rag", "ttf "),
            *people("b", "rag", "f"),
            *verdicts("a", "rag", "tf", "tfT-", "ttf "),
            *verdicts("b", "rag", "tf", "n", "f"),
            *verdicts("b", "poor", "tf", "-", " "),
            # All facts of an answer in a call: one to the end void, one at first.
            *verdicts("d", "rag", "tf", "---", "ttf"),
            *verdicts("e", "rag", "tf", "TF", "  "),
            *verdicts("a", "rag", "prompt", "t-T", "ttf"),
            *verdicts("a", "rag", "tfn", "tf", "  "),
            # Three calls, of which the second was void at first and the third to the end.
            *by("split", "ttFF-", "aabbc"),
            # Two calls, and one for the facts that both of them left out.
            *by("split+xml", "tFtF-", "axbxx"),
            # An empty answer is asked about by nobody.
            *(replace(row, reason="no_passages") for row in empty),
            *(replace(row, reason="abstained", first_reason=None) for row in silent),
        ],
        "usage": [
            request(None, None, 0.25, step="probe"),
            request("a", None, 0.5, step="facts"),
            request("a", "tf", 0.25),
            request("a", "tf", 0.0, status="500", **NOTHING),
            request("b", "tf", 0.0, cached=True),
            request("b", "tf", 0.0, coalesced=True, prompt_tokens=0),
            request("a", "prompt", 0.0, cost_usd=None),
        ],
    }


@pytest.fixture(name="results", scope="module")
def _results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, labelled_rows(rows_of, "seq"), "one", mode="seq")
    again = {"options": {"repeat": 1}}
    write_run(folder, labelled_rows(rows_of), "two", mode="all", fingerprint=again)
    write_run(folder, recalled_rows(), "three", mode="recall")
    for name, tie in (("four", "factual"), ("five", "not_factual")):
        write_run(folder, tied_rows(tie), name, mode="all", tie=tie)
    write_run(folder, rows_of(LABELLED), "six")
    for sheet, by_unit in SHEETS.items():
        drawn: dict[str, Any] = {"stratum": "all", "stratum_size": 3} if sheet == "ann" else {}
        labels = [
            blank(
                Label,
                run="six",
                response_id="g",
                unit_id=unit,
                label=label,
                note=note,
                annotator=sheet,
                sheet=sheet,
                **drawn,
            )
            for unit, (label, note) in by_unit.items()
        ]
        write_sheet(str(folder), sheet, add_weights(labels))
        units = [LabelPopulation("six", "g", f"g{at}", sheet) for at in range(3)]
        write_population(str(folder), sheet, units)
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
    where = f"WHERE {KEPT[view.name]}" if view.name in KEPT else ""
    rows = f"SELECT * FROM {view.name} {where} ORDER BY {view.order}"
    sql = f"SELECT {rounded} FROM ({rows}) ORDER BY ALL"
    with results.stream(sql) as reader:
        write_csv(reader, out)
    return out.getvalue().replace("\r\n", "\n")


def by_key(text: str) -> dict[str, dict[str, str]]:
    """The rows of a CSV text, each by its words: its run, mode, source, response, unit …"""
    rows: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(StringIO(text)):
        words = [value for value in row.values() if value and not _NUMBER.fullmatch(value)]
        key = " | ".join(words)
        twin = sum(one == key or one.startswith(f"{key} #") for one in rows)
        rows[f"{key} #{twin}" if twin else key] = row
    return rows


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_gives_what_it_gave(results: Results, name: str) -> None:
    table = shown(results, VIEWS[name])
    assert table.count("\n") > 1, "the run has nothing for this view; add it in labelled.py"
    path = SNAPSHOTS / f"{name}.csv"
    if os.environ.get("UFO_SNAPSHOTS") == "write":
        path.write_text(table, encoding="utf-8")
    assert path.exists(), f"view {name} has no snapshot; see the head of this file"
    rows, kept = by_key(table), by_key(path.read_text(encoding="utf-8"))
    assert {key: rows[key] for key in rows.keys() - kept.keys()} == {}, f"{name}: more rows"
    assert {key: kept[key] for key in kept.keys() - rows.keys()} == {}, f"{name}: rows are missing"
    changed = {
        key: {
            column: f"{row.get(column)} -> {rows[key].get(column)}"
            for column in row
            if row.get(column) != rows[key].get(column)
        }
        for key, row in kept.items()
        if rows[key] != row
    }
    assert changed == {}, f"{name}: rows have other values"


def test_every_snapshot_is_of_a_view() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(VIEWS)
