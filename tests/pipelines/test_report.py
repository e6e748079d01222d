import argparse
import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from io import StringIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines import report_commands
from pipelines.overview import overview
from pipelines.report import bar, render_overview
from pipelines.tabular import cell, fit, one_line, unique_names, write_csv, write_json
from schemas.errors import UsageError
from schemas.records import Failure, SourceStatus
from schemas.results import open_results

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


@pytest.fixture(name="folder")
def _folder(tmp_path, rows_of, write_run):
    rows = rows_of(VOTES, models=MODELS, datasets={"a": "bio", "b": "geo", "c": "geo"})
    rows["failures"] = [Failure("read", "in.jsonl:3", "BadJson", "not JSON", "{")]
    rows["sources"].append(SourceStatus(2, "web", "web", "unavailable", "no key", "{}"))
    write_run(tmp_path, rows, "day", finished_at="2025-06-01T00:00:00Z")
    write_run(
        tmp_path,
        rows_of({"z": {"u": {"ref": "s", "wiki": "s"}}}, mode="all"),
        "eve",
        mode="all",
        finished_at="2025-05-01T00:00:00Z",
    )
    return tmp_path


@pytest.fixture(name="ufo")
def _ufo(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words):
        parser = argparse.ArgumentParser()
        report_commands.register(parser.add_subparsers())
        arguments = parser.parse_args([str(word) for word in words])
        assert arguments.handler(arguments) == 0
        return capsys.readouterr().out

    return run


def test_the_overview_tells_what_matters_of_the_newest_run(folder, ufo):
    text = ufo("report", folder)
    for expected in [
        "day (seq: one source after another)",
        "ref → wiki",
        "web: no key",
        "3 responses, 4 fact units, 1 failure",
        "1 judgement without an answer",
        "Factuality score 0.667",
        "coverage 0.833",
        "alder  0.333",
        "bio       0.333",
        "ref          ████████████  50.0%      2",
        "(undecided)  ██████        25.0%      1",
        "wiki transport 1",
        "✗ refuted by wiki (1 for, 2 against)",
        "✓ supported by ref (2 for, 1 against)",
        "? undecided",
        '"what wiki says of a2" - Page a2',
        "BadJson",
    ]:
        assert expected in text, expected
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_the_overview_of_another_run_and_mode(folder, ufo):
    text = ufo("report", folder, "--run", "eve")
    assert "Scores by mode" in text
    assert "share of valid votes" in text
    assert "Sources alone" in text
    assert "Failures" not in text
    assert "no failures" in text


def test_the_overview_as_json_has_the_same_numbers(folder, ufo):
    found = json.loads(ufo("report", folder, "--json"))
    assert found["run"] == "day"
    assert found["counts"] == {"responses": 3, "units": 4, "failures": 1}
    assert [row["model"] for row in found["models"]] == ["alder", "birch"]
    assert [row["source"] for row in found["contributions"]] == ["ref", "wiki", "none"]
    assert next(row["response_id"] for row in found["responses"]) == "a"
    assert len(found["responses"]) == 3
    assert [row["verdict"] for row in found["examples"]] == ["refuted", "supported", "undecided"]
    assert found["examples"][0]["evidence_source"] == "wiki"
    assert found["examples"][0]["outcome"] == "refuted"
    assert found["failures"] == [{"step": "read", "error_type": "BadJson", "n": 1}]
    assert found["errors"] == [{"source": "wiki", "reason": "transport", "n": 1}]


@pytest.mark.parametrize("width", [80, 100])
def test_the_overview_fits_and_is_readable_without_unicode(folder, width):
    with open_results(folder) as results:
        text = render_overview(results, width)
        assert max(map(len, text.splitlines())) <= width
        assert "row 1" not in text
        assert "\x1b[" in render_overview(results, width, color=True)
    assert bar(0.5, ascii_only=True) == "#" * 12
    assert (bar(1.0), bar(None), bar(1 / 192)) == ("█" * 24, "", "▏")


def test_an_output_that_is_not_unicode_is_written_all_the_same(folder):
    code = (
        "import argparse; from pipelines import report_commands as r; "
        "p = argparse.ArgumentParser(); r.register(p.add_subparsers()); "
        f"a = p.parse_args(['report', {str(folder)!r}]); raise SystemExit(a.handler(a))"
    )
    env = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    text = done.stdout.decode("ascii")
    assert "ref > wiki" in text
    assert "x refuted by wiki" in text
    assert "####" in text


def test_a_run_without_units_says_so(tmp_path, rows_of, write_run, ufo):
    write_run(tmp_path, rows_of({"a": {}}))
    assert "No response has a fact unit" in ufo("report", tmp_path)
    empty = tmp_path / "empty"
    write_run(empty, rows_of({}))
    assert "No response has a fact unit" in ufo("report", empty)
    undecided = tmp_path / "undecided"
    write_run(undecided, rows_of({"a": {"u": {"ref": "-"}}}))
    text = ufo("report", undecided)
    assert "Factuality score 0.000  no fact unit was decided" in text
    assert "why    ref: no passages" in text


def test_hostile_text_reaches_no_terminal(tmp_path, rows_of, write_run, ufo):
    rows = rows_of({"a": {"u": {"ref": "r"}}}, models={"a": "[bold]m[/] :smile:"})
    claim = "Red \x1b[31m, bell \x07, override \u202e, two\nlines " + "long " * 400
    rows["fact_units"] = [replace(rows["fact_units"][0], claim=claim)]
    write_run(tmp_path, rows)
    text = ufo("report", tmp_path)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "[bold]m[/] :smile:" in text
    assert "two lines long" in text
    assert "…" in text
    whole = json.loads(ufo("sql", tmp_path, "SELECT claim FROM fact_units", "--json"))
    assert whole == [{"claim": claim}]
    rows = list(csv.reader(StringIO(ufo("report", tmp_path, "fact_units", "--csv"), newline="")))
    assert rows[1][rows[0].index("claim")] == claim


def test_a_report_by_name(folder, ufo):
    text = ufo("report", folder, "scores_by_model")
    assert text.startswith("Scores of each model, run day\n")
    assert "alder" in text
    assert "birch" in text
    rows = json.loads(ufo("report", folder, "scores", "--json", "--rows", "2"))
    assert [(row["run"], row["response_id"]) for row in rows] == [("day", "a"), ("day", "b")]
    lines = ufo("report", folder, "failures_by_step", "--csv").splitlines()
    assert lines == ["run,step,error_type,n", "day,read,BadJson,1"]
    assert "in.jsonl:3" in ufo("report", folder, "failures")
    with open_results(folder) as results:
        for name in results.names:
            assert ufo("report", folder, name), name


def test_wide_rows_are_listed(folder, ufo):
    text = ufo("report", folder, "evidence", "--rows", "1")
    assert "row 1\n  response_id      a\n" in text
    assert "row 2" not in text
    assert "The first 1 rows. All of them: --rows 0, --json or --csv." in text


def test_tables_are_cut_and_say_so(folder, ufo):
    text = ufo("sql", folder, "SELECT range AS i FROM range(50)")
    assert "\n19\n" in text
    assert "\n20\n" not in text
    assert "The first 20 rows" in text
    assert "first" not in ufo("sql", folder, "SELECT range AS i FROM range(20)")
    assert "\n49\n" in ufo("sql", folder, "SELECT range AS i FROM range(50)", "--rows", "0")
    assert "no rows" in ufo("sql", folder, "SELECT 1 AS i WHERE false")
    assert len(ufo("sql", folder, "FROM range(30000)", "--csv").splitlines()) == 30_001
    assert len(json.loads(ufo("sql", folder, "FROM range(30000)", "--json"))) == 30_000


def test_sql_is_over_all_runs_unless_one_is_named(folder, ufo):
    assert ufo("sql", folder, "SELECT DISTINCT run FROM scores ORDER BY 1", "--csv") == (
        "run\nday\neve\n"
    )
    assert ufo("sql", folder, "SELECT DISTINCT run FROM scores", "--csv", "--run", "eve") == (
        "run\neve\n"
    )


def test_the_reports_are_listed(ufo):
    text = ufo("report", "--list")
    assert "source_contributions" in text
    assert "Tables: responses" in text
    assert {"name", "title", "help"} == set(json.loads(ufo("report", "--list", "--json"))[0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scoers"], "unknown report 'scoers'.*Did you mean 'scores'"),
        (["--csv"], "--csv: the overview is not one table"),
        (["--run", "dya"], "unknown run 'dya'; allowed: eve, day. Did you mean 'day'"),
    ],
)
def test_wrong_reports(folder, ufo, words, message):
    with pytest.raises(UsageError, match=message):
        ufo("report", folder, *words)


def test_wrong_words(folder, ufo, capsys):
    with pytest.raises(UsageError, match="expected DIR"):
        ufo("report")
    with pytest.raises(UsageError, match="syntax error"):
        ufo("sql", folder, "selec")
    for words in (["--rows", "-1"], ["--rows", "x"], ["--json", "--csv"]):
        with pytest.raises(SystemExit) as caught:
            ufo("report", folder, *words)
        assert caught.value.code == 2
    assert "0 means all" in capsys.readouterr().err


def test_plots_are_written_beside_the_report(folder, ufo, tmp_path):
    plots = tmp_path / "new" / "plots"
    assert "Factuality score" in ufo("report", folder, "--plots", plots)
    assert sorted(path.name for path in plots.iterdir()) == [
        "contributions.png",
        "contributions.svg",
        "scores.png",
        "scores.svg",
    ]
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--plots: cannot make the folder"):
        ufo("report", folder, "--plots", tmp_path / "file" / "x")


def test_a_reader_that_has_enough_is_no_error(folder):
    code = (
        "import argparse; from pipelines import report_commands as r; "
        "p = argparse.ArgumentParser(); r.register(p.add_subparsers()); "
        f"a = p.parse_args(['sql', {str(folder)!r}, 'FROM range(1000000)', '--csv']); "
        "raise SystemExit(a.handler(a))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_registering_imports_nothing_heavy():
    code = (
        "import argparse, sys; from pipelines import import_commands as i, report_commands as r; "
        "s = argparse.ArgumentParser().add_subparsers(); r.register(s); i.register(s); "
        "print([m for m in ('duckdb', 'rich', 'pyarrow', 'matplotlib') if m in sys.modules])"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout == b"[]\n"


# --- the formatters ------------------------------------------------------------------------------

names = st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=4)


@given(st.data(), names)
def test_json_and_csv_lose_nothing(data, columns):
    texts = st.none() | st.text(st.characters(codec="utf-8"), max_size=12)
    rows = data.draw(st.lists(st.tuples(*[texts] * len(columns)), max_size=5))
    arrays = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(columns))]
    table = pa.Table.from_arrays(arrays, names=columns)
    out = StringIO(newline="")
    write_json(table.to_reader(2), out)
    assert json.loads(out.getvalue()) == [
        dict(zip(unique_names(columns), row, strict=True)) for row in rows
    ]
    out = StringIO(newline="")
    write_csv(table.to_reader(2), out)
    lines = list(csv.reader(StringIO(out.getvalue(), newline=""), strict=True))
    expected = [tuple(columns), *[tuple(text or "" for text in row) for row in rows]]
    # A row of one NULL is an empty line, which csv reads as a row without fields.
    assert [tuple(line) or ("",) for line in lines] == expected


def test_json_and_csv_of_every_type(folder, ufo):
    select = (
        "SELECT 1.5::DECIMAL(4,2) AS a, sum(3) AS b, 'nan'::DOUBLE AS c, DATE '2025-01-02' AS d, "
        "TIMESTAMP '2025-01-02 03:04:05' AS e, [1, NULL] AS f, {'x': '\"é🙂'} AS g, "
        "'a\\x00'::BLOB AS h, true AS i, '' AS j, NULL AS k, MAP {'m': 1.5::FLOAT} AS l, 7 AS a"
    )
    assert json.loads(ufo("sql", folder, select, "--json")) == [
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
    assert ufo("sql", folder, select, "--csv").splitlines()[1] == (
        '1.5,3,,2025-01-02,2025-01-02T03:04:05,"[1, null]","{""x"": ""\\""é🙂""}",a\0,true,"",,'
        '"[[""m"", 1.5]]",7'
    )
    assert "2025-01-02" in ufo("sql", folder, select)


def test_cells():
    shown = [0.0, 2 / 3, 1e-7, 12345678.0, True, None, 3, "a\tb", [1]]
    assert list(map(cell, shown)) == [
        "0.000",
        "0.667",
        "1e-07",
        "1.235e+07",
        "yes",
        "–",
        "3",
        "a b",
        "[1]",
    ]
    assert one_line("x" * 10, 5) == "xxxx…"
    assert one_line("👩\u200d🔬") == "👩\u200d🔬"


@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1), st.integers(0, 200))
def test_widths_fit_or_there_are_none(columns, room):
    natural = [width for width, _ in columns]
    widths = fit(natural, [text for _, text in columns], room)
    if widths is None:
        least = sum(min(width, 8) if text else width for width, text in columns)
        assert least > room
    else:
        assert sum(widths) <= max(room, 0) or widths == natural
        assert all(
            got == want or (text and 8 <= got < want)
            for got, (want, text) in zip(widths, columns, strict=True)
        )


def test_the_overview_of_several_runs_is_of_the_newest(folder):
    with open_results(folder, all_runs=True) as results:
        assert overview(results)["run"] == "day"
        assert len(overview(results)["models"]) == 2
