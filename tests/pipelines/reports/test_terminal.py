import csv
import json
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.reports.conftest import page_of
from tests.pipelines.reports.reading import Reader
from ufo.pipelines.cli import main
from ufo.pipelines.reports.overview import overview
from ufo.pipelines.reports.terminal import bar, print_overview, text_of
from ufo.schemas.records import Failure, SourceStatus
from ufo.schemas.results import open_results

VOTES = {
    "a": {
        "a1": {"ref": "ssr"},
        "a2": {"ref": "n-", "wiki": "rrs"},
        "a3": {"ref": "-", "wiki": "e"},
    },
    "b": {"b1": {"ref": "s"}},
    "c": {},
}
MODELS = {"a": "alder", "b": "birch", "c": "birch"}


@pytest.fixture(name="folder", scope="module")
def _folder(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    rows = rows_of(VOTES, models=MODELS, datasets={"a": "bio", "b": "geo", "c": "geo"})
    rows["failures"] = [Failure("read", "in.jsonl:3", "BadJson", "not JSON", "{")]
    rows["sources"].append(SourceStatus(2, "web", "web", "unavailable", "no key", "{}"))
    write_run(folder, rows, "day", finished_at="2025-06-01T00:00:00Z")
    write_run(
        folder,
        rows_of({"z": {"u": {"ref": "s", "wiki": "s"}}}, mode="all"),
        "eve",
        mode="all",
        finished_at="2025-05-01T00:00:00Z",
    )
    return folder


def test_the_overview_tells_what_matters_of_the_newest_run(
    folder: Path, printed: Callable[..., Any]
) -> None:
    text = printed("report", folder)
    for expected in [
        "day, 01 June 2025, 00:00 (seq: one source after another)",
        "ref → wiki",
        "web: no key",
        "3 responses, 4 claims, 1 failure",
        "Factuality score 0.667",
        "coverage 0.833",
        "birch  1.000",
        "ref          ████████████  50.0%       2",
        "(undecided)  ██████        25.0%       1",
        "wiki   transport      1",
        "✗ contradicted by wiki (1 for, 2 against)",
        "2 of 4 claims supported, 1 contradicted, 1 not judged",
        '"what wiki says of a2" - Page a2',
        "BadJson",
    ]:
        assert expected in text, expected
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    other = printed("report", folder, "--run", "eve")
    for expected in ("Scores by mode", "Share of the valid votes", "Sources alone", "no failures"):
        assert expected in other
    with open_results(folder) as results:
        found = overview(results)
        narrow = text_of(partial(print_overview, found), 80)
        assert max(map(len, narrow.splitlines())) <= 80
        assert "\x1b[" in text_of(partial(print_overview, found), 80, color=True)
    assert (bar(1.0), bar(None), bar(1 / 192)) == ("█" * 24, "", "▏")
    out = TextIOWrapper(BytesIO(), "ascii")
    with redirect_stdout(out):
        assert main(["report", str(folder)]) == 0
    out.seek(0)
    assert "ref ? wiki" in out.read()


def test_the_overview_as_json_has_the_same_numbers(
    folder: Path, printed: Callable[..., Any]
) -> None:
    found = json.loads(printed("report", folder, "--json"))
    assert found["run"] == "day"
    assert found["counts"] == {"responses": 3, "units": 4, "failures": 1}
    assert [row["model"] for row in found["models"]] == ["birch", "alder"]
    assert [row["source"] for row in found["contributions"]] == ["ref", "wiki", "none"]
    (contradicted,) = found["contradicted"]
    assert contradicted["evidence_source"] == "wiki"
    assert contradicted["question"] == "What of a?"
    assert found["failures"] == [
        {"place": "read", "reason": "BadJson", "n": 1},
        {"place": "wiki", "reason": "transport", "n": 1},
    ]


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ({"a": {}}, "No response has a claim"),
        ({}, "No response has a claim"),
        ({"a": {"u": {"ref": "-"}}}, "No claim was decided, so there is no score."),
    ],
)
def test_a_run_without_a_score_says_so(
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    printed: Callable[..., Any],
    votes: Any,
    said: str,
) -> None:
    write_run(tmp_path, rows_of(votes))
    text = printed("report", tmp_path)
    assert said in text
    assert "Factuality score 0" not in text
    assert said in Reader(page_of(tmp_path)).text


def test_hostile_text_reaches_no_terminal(
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    printed: Callable[..., Any],
) -> None:
    rows = rows_of({"a": {"u": {"ref": "r"}}}, models={"a": "[bold]m[/] :smile:"})
    claim = "Red \x1b[31m, bell \x07, override \u202e, two\nlines " + "long " * 400
    rows["fact_units"] = [replace(rows["fact_units"][0], claim=claim)]
    write_run(tmp_path, rows)
    text = printed("report", tmp_path)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "[bold]m[/] :smile:" in text
    assert "two lines long" in text
    assert "…" in text
    whole = json.loads(printed("sql", tmp_path, "SELECT claim FROM fact_units", "--json"))
    assert whole == [{"claim": claim}]
    rows = list(
        csv.reader(StringIO(printed("report", tmp_path, "fact_units", "--csv"), newline=""))
    )
    assert rows[1][rows[0].index("claim")] == claim


def test_a_report_by_name(folder: Path, printed: Callable[..., Any]) -> None:
    text = printed("report", folder, "scores_by_model")
    assert text.startswith("Scores of each model, run day\n")
    assert "alder" in text
    assert "birch" in text
    rows = json.loads(printed("report", folder, "scores", "--json", "--rows", "2"))
    assert [(row["run"], row["response_id"]) for row in rows] == [("day", "a"), ("day", "b")]
    lines = printed("report", folder, "failures_by_step", "--csv").splitlines()
    assert lines == ["run,step,error_type,n", "day,read,BadJson,1"]
    assert "in.jsonl:3" in printed("report", folder, "failures")
    text = printed("report", folder, "evidence", "--rows", "1")
    assert "row 1\n  response_id      a\n" in text
    assert "row 2" not in text
    assert "The first 1 rows. All of them: --rows 0, --json or --csv." in text
    names = {one["name"] for one in json.loads(printed("report", folder, "--list", "--json"))}
    assert names >= {"scores", "failures_by_step"}
    assert not names & {"agreement", "cost"}, "those that have rows"


def test_tables_are_cut_and_say_so(folder: Path, printed: Callable[..., Any]) -> None:
    text = printed("sql", folder, "SELECT range AS i FROM range(50)")
    assert "\n19\n" in text
    assert "\n20\n" not in text
    assert "The first 20 rows" in text
    assert "first" not in printed("sql", folder, "SELECT range AS i FROM range(20)")
    assert "\n49\n" in printed("sql", folder, "SELECT range AS i FROM range(50)", "--rows", "0")
    assert "no rows" in printed("sql", folder, "SELECT 1 AS i WHERE false")
    assert len(printed("sql", folder, "FROM range(30000)", "--csv").splitlines()) == 30_001
    assert len(json.loads(printed("sql", folder, "FROM range(30000)", "--json"))) == 30_000
    # All runs, unless one is named.
    runs = ("sql", folder, "SELECT DISTINCT run FROM scores ORDER BY 1", "--csv")
    assert printed(*runs) == "run\nday\neve\n"
    assert printed(*runs, "--run", "eve") == "run\neve\n"


def test_the_reports_are_listed(printed: Callable[..., Any]) -> None:
    text = printed("report", "--list")
    assert "source_contributions" in text
    assert "Tables: responses" in text
    assert "human_labels" not in text.partition("Tables")[0]
    listed = json.loads(printed("report", "--list", "--json"))
    assert {"name", "group", "title", "summary", "help"} == set(listed[0])


def test_a_reader_that_has_enough_is_no_error(folder: Path, command: Callable[..., Any]) -> None:
    words = command("sql", folder, "FROM range(1000000)", "--csv")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_json_and_csv_of_every_type(folder: Path, printed: Callable[..., Any]) -> None:
    select = (
        "SELECT 1.5::DECIMAL(4,2) AS a, sum(3) AS b, 'nan'::DOUBLE AS c, DATE '2025-01-02' AS d, "
        "TIMESTAMP '2025-01-02 03:04:05' AS e, [1, NULL] AS f, {'x': '\"é🙂'} AS g, "
        "'a\\x00'::BLOB AS h, true AS i, '' AS j, NULL AS k, MAP {'m': 1.5::FLOAT} AS l, 7 AS a"
    )
    assert json.loads(printed("sql", folder, select, "--json")) == [
        {
            "a": 1.5,
            "b": 3,
            "c": None,
            "d": "2025-01-02",
            "e": "2025-01-02T03:04:05",
            "f": [1, None],
            "g": {"x": '"é🙂'},
            "h": "a\0",
            "i": True,
            "j": "",
            "k": None,
            "l": [["m", 1.5]],
            "a_1": 7,
        }
    ]
    assert printed("sql", folder, select, "--csv").splitlines()[1] == (
        '1.5,3,,2025-01-02,2025-01-02T03:04:05,"[1, null]","{""x"": ""\\""é🙂""}",a\0,true,"",,'
        '"[[""m"", 1.5]]",7'
    )
    assert "2025-01-02" in printed("sql", folder, select)
