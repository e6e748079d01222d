"""Every report is a table in 80 columns, also with the long names of real models and sources."""

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ok
from tests.schemas.labelled import QUESTIONS, VOTES, labelled_rows, people, request, verdicts
from ufo.schemas.labels import Label
from ufo.schemas.tables import LABELS, to_arrow
from ufo.schemas.views import load_views
from ufo.transforms.llm.store import SqliteStore

WIDTH = 80
RUN = "nightly-2026-11-28-of-all-models-and-sets"
MODELS = {
    "alder": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "birch": "mistralai/Mixtral-8x22B-Instruct-v0.1-24",
}
SOURCES = {"ref": "reference-of-experts", "wiki": "wikipedia-2026-dumps"}
REPORTS = [view.name for view in load_views() if view.group and "recall_" not in view.name]
OF_RECALL = [view.name for view in load_views() if view.group and "recall_" in view.name]


def long(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Give the rows of a run the names of real models and sources, and ids of 40 characters."""

    def named(value: Any) -> Any:
        if isinstance(value, str) and re.fullmatch("[a-f]", value):
            return value * 40
        return MODELS.get(value, SOURCES.get(value, value)) if isinstance(value, str) else value

    columns = ("response_id", "model", "source")
    return {
        table: [
            replace(
                row, **{name: named(getattr(row, name)) for name in columns if hasattr(row, name)}
            )
            for row in table_rows
        ]
        for table, table_rows in rows.items()
    }


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of mode all with labels of two people who differ, and requests of models."""
    folder = tmp_path_factory.mktemp("wide")
    rows = long(labelled_rows(rows_of))
    rows["usage"] = [
        replace(
            row, model=MODELS["alder"], prompt_tokens=12_345_678, completion_tokens=1_234_567,
            cost_usd=row.cost_usd and 1234.5678,
        )
        for row in rows["usage"]
    ]  # fmt: skip
    long_text = "that is told at such a length that no terminal has it on a line " * 3
    rows["fact_units"] = [replace(row, claim=row.claim + long_text) for row in rows["fact_units"]]
    rows["sentences"] = [replace(row, text=row.text + long_text) for row in rows["sentences"]]
    write_run(folder, rows, RUN, mode="all")
    votes = {response: {unit: {"ref": "s"} for unit in units} for response, units in VOTES.items()}
    others = long(rows_of(votes, questions=QUESTIONS))
    others["fact_units"] = rows["fact_units"]
    write_run(folder, others, "earlier", finished_at="2025-05-01T00:00:00Z")
    labels = [
        Label(RUN, unit.response_id, unit.unit_id, label, None, None, None, name, name)
        for name, words in (("Ada-of-the-annotators", "110101"), ("Bo", "010111"))
        for unit, label in zip(rows["fact_units"], map(int, words), strict=False)
    ]
    write_labels(folder, labels)
    return folder


def write_labels(folder: Path, labels: list[Label]) -> None:
    (folder / LABELS).mkdir()
    for sheet in {row.sheet for row in labels}:
        own = [row for row in labels if row.sheet == sheet]
        pq.write_table(to_arrow(LABELS, own), folder / LABELS / f"{sheet}.parquet")


@pytest.fixture(name="recalled", scope="module")
def _recalled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recall run of three formulations, labelled, with requests."""
    folder = tmp_path_factory.mktemp("recalled")
    rows = rows_of({})
    for variant in ("retrieval-augmented", "without-any-context"):
        for formulation, letters in (
            ("tf", "tftfft"),
            ("tfn+citation", "ttNf-t"),
            ("prompt", "tttfff"),
        ):
            rows["recall_verdicts"] += verdicts("one", variant, formulation, letters, "tfttff")
        rows["recall_verdicts"] += people("one", variant, "tfttff")
    steps = ("tf", "tfn+citation", "prompt")
    rows["usage"] = [
        replace(request("one", None, 1234.5), step="verify", source=step, model=MODELS["alder"])
        for step in steps
    ]
    write_run(
        folder,
        rows,
        RUN,
        mode="recall",
        counts=dict.fromkeys(("responses", "units", "answers", "failures"), 6),
    )
    return folder


def checked(text: str) -> str:
    """A text without a line that is too long, and without rows as lists."""
    assert [line for line in text.split("\n") if cell_len(line) > WIDTH] == []
    assert not re.search(r"^row \d", text, re.MULTILINE)
    return text


def assert_table(text: str) -> None:
    """A table with rows."""
    assert "no rows" not in text
    assert "───" in text


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_a_table(folder: Path, name: str) -> None:
    assert_table(checked(ok("report", folder, name).out))


@pytest.mark.parametrize("name", ["evidence", "passages", "responses", "runs", "usage", "verdicts"])
def test_a_table_of_a_run_is_a_table(folder: Path, name: str) -> None:
    assert_table(checked(ok("report", folder, name).out))


@pytest.mark.parametrize("name", OF_RECALL)
def test_a_report_of_a_recall_run_is_a_table(recalled: Path, name: str) -> None:
    assert_table(checked(ok("report", recalled, name).out))


@pytest.mark.parametrize(
    "words",
    [
        ("report", "DIR"),
        ("report", "DIR", "--list"),
        ("benchmark", "DIR"),
        ("benchmark", "DIR", "--mode", "single"),
        ("sources",),
        ("judges",),
    ],
    ids=" ".join,
)
def test_a_command_prints_lines_that_fit(folder: Path, words: tuple[str, ...]) -> None:
    checked(ok(*(folder if word == "DIR" else word for word in words)).out)


def test_what_a_comparison_shows_below_its_sentences_fits(folder: Path) -> None:
    text = ok("compare", folder, "earlier", RUN).out
    assert_table(checked(text[text.index("Questions that differ most") :]))
    assert "3 more columns: --all or --json\n" in text


def test_what_recall_prints_fits(recalled: Path) -> None:
    text = checked(ok("report", recalled).out)
    assert text.count("───") >= 3
    assert "more columns: ufo report DIR recall_cost --all\n" in text


def test_the_state_of_a_run_fits_but_for_what_is_to_be_copied(folder: Path) -> None:
    lines = ok("status", folder).out.split("\n")
    checked("\n".join(line for line in lines if not line.startswith("  next")))


def test_what_a_cache_holds_fits(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(SqliteStore(str(path))) as store:
        store.put_many({f"j-{'a' * 40}": b"x"})
    lines = ok("cache", "stats", "--cache", path).out.split("\n")
    checked("\n".join(line for line in lines if not line.startswith("cache")))


# --- what a table has no room for


def test_the_columns_that_are_left_out_are_counted(folder: Path) -> None:
    printed = ok("report", folder, "source_benchmark").out
    named = ok("report", folder, "source_benchmark", "--json", "--rows", "1").json[0]
    (line,) = [one for one in printed.split("\n") if "more columns" in one]
    assert line == f"{len(named) - 1 - 7} more columns: --all, --json or --csv"  # run is above


def test_all_columns_are_printed_where_they_are_asked_for(folder: Path) -> None:
    for name in REPORTS:
        names = ok("report", folder, name, "--json", "--rows", "1").json[0].keys() - {"run"}
        text = ok("report", folder, name, "--all", "--rows", "1").out
        words = text.replace("_\n", "_")
        missing = [one for one in names if one not in words and one.split("_")[-1] not in words]
        assert missing == [], name
        assert "more column" not in text


def test_a_wide_terminal_has_more_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = ok("report", folder, "scores").out
    monkeypatch.setenv("COLUMNS", "200")
    wide = ok("report", folder, "scores").out
    assert "interval_method" in wide
    assert "interval_method" not in narrow
    assert MODELS["alder"] in wide


def test_a_select_of_a_user_has_all_its_columns(folder: Path) -> None:
    assert "row 1\n" in ok("sql", folder, "FROM evidence LIMIT 1").out


def test_names_are_cut_in_the_middle_and_sentences_at_their_end(folder: Path) -> None:
    text = ok("report", folder, "scores_by_model").out
    assert "…Turbo" in text
    assert "….1-24" in text
    assert re.search(r"Claim a2[^ ]*….* ", ok("report", folder, "disagreements").out)


def test_an_order_of_sources_is_never_cut(folder: Path) -> None:
    text = ok("report", folder, "source_benchmark").out
    for name in SOURCES.values():
        assert text.count(name) == 4  # alone, in the vote, and in both orders
