"""What `ufo report` and `ufo sql` print: golden texts, bounds, hostile texts, signals."""

import csv
import json
import os
import shlex
import signal
import subprocess
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import command, ok, printed, ufo
from tests.pipelines.reports.conftest import kept_parts, page_of, same_as_kept
from tests.pipelines.reports.reading import Reader
from ufo.pipelines.cli import main
from ufo.pipelines.reports.overview import overview
from ufo.pipelines.reports.tabular import plain
from ufo.pipelines.reports.terminal import bar, print_claim, print_overview, text_of
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


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder") / "runs"
    models, sets = {"a": "alder", "b": "birch", "c": "birch"}, {"a": "bio", "b": "geo", "c": "geo"}
    rows = rows_of(VOTES, models=models, datasets=sets)
    rows["failures"] = [Failure("read", "in.jsonl:3", "BadJson", "not JSON", "{")]
    rows["sources"].append(SourceStatus(2, "web", "web", "unavailable", "no key", "{}"))
    write_run(folder, rows, "day", finished_at="2025-06-01T00:00:00Z")
    other = rows_of({"z": {"u": {"ref": "s", "wiki": "s"}}}, mode="all")
    write_run(folder, other, "eve", mode="all", finished_at="2025-05-01T00:00:00Z")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("head", kept_parts("terminal"), ids=kept_parts("terminal"))
def test_a_command_prints_what_it_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, head: str
) -> None:
    """The commands of terminal.txt, over a folder with two runs."""
    monkeypatch.chdir(folder.parent)
    text = printed(*shlex.split(head)[2:])
    same_as_kept("terminal", head, text.replace("\r\n", "\n").removesuffix("\n"))
    if " report " in head and "--json" not in head:
        assert max(map(len, text.splitlines())) <= 100


def test_the_overview_as_json_is_the_overview(folder: Path) -> None:
    with open_results(folder) as results:
        expected = overview(results)
    printed_overview = json.loads(printed("report", folder, "--json"))
    assert printed_overview == plain(expected)


def test_many_rows_are_written_whole(folder: Path) -> None:
    assert len(printed("sql", folder, "FROM range(30000)", "--csv").splitlines()) == 30_001
    assert len(json.loads(printed("sql", folder, "FROM range(30000)", "--json"))) == 30_000


def test_the_overview_fits_and_is_plain_where_it_must(folder: Path) -> None:
    with open_results(folder) as results:
        figures = overview(results)
    narrow = text_of(partial(print_overview, figures), 80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "\x1b" not in narrow
    assert [line for line in narrow.splitlines() if line != line.rstrip()] == []
    assert "\x1b[" in text_of(partial(print_overview, figures), 80, color=True)
    assert bar(1.0) == "█" * 24
    assert bar(None) == ""
    assert bar(1 / 192) == "▏"
    out = TextIOWrapper(BytesIO(), "ascii")
    with redirect_stdout(out):
        assert main(["report", str(folder)]) == 0
    out.seek(0)
    assert "ref ? wiki" in out.read()


def test_a_run_without_a_score_says_so(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"a": {"u": {"ref": "-"}}}))
    message = "no score: no source knew its only claim"
    text = printed("report", tmp_path)
    assert message in text
    assert "factuality score 0" not in text
    assert message.capitalize() in Reader(page_of(tmp_path)).text


CLAIM = {
    **dict.fromkeys(
        ("question", "model", "title", "url", "citation", "rationale", "reason", "quote")
    ),
    "state": "contradicted",
    "label": 0,
    "source": "ref",
    "tied": False,
    "n_supported": 1,
    "n_refuted": 2,
    "claim": "It is so.",
    "evidence_source": "wiki",
}


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        pytest.param({}, [], id="a claim alone"),
        pytest.param({"title": "T", "url": "http://u"}, ["evidence T, http://u"], id="a page"),
        pytest.param({"quote": "C"}, ['evidence "C"'], id="a quote"),
        pytest.param({"quote": "C", "title": "T"}, ['evidence "C" - T'], id="both"),
        pytest.param({"rationale": "R", "reason": "no"}, ["why R"], id="why it is so"),
        pytest.param(
            {"reason": "no_passages"}, ["why wiki: no passages"], id="why it is not known"
        ),
        pytest.param(
            {"quote": "x" * 301, "rationale": "y" * 301},
            [f'evidence "{"x" * 299}…"', f"why {'y' * 299}…"],
            id="long texts",
        ),
    ],
)
def test_a_claim_has_its_evidence(changes: dict[str, Any], lines: list[str]) -> None:
    head, *evidence_lines = text_of(partial(print_claim, CLAIM | changes), 400).splitlines()
    assert head == "✗ contradicted by ref (1 for, 2 against)"
    assert [" ".join(line.split()) for line in evidence_lines] == ["claim It is so.", *lines]


@pytest.mark.parametrize(
    ("changes", "head"),
    [
        ({"tied": True}, "✗ contradicted by ref (1 for, 2 against, tied)"),
        ({"source": "multi"}, "✗ contradicted by all sources (1 for, 2 against)"),
        ({"label": None, "state": "not found"}, "? not found"),
        ({"question": "Q?", "model": "m"}, "✗ contradicted by ref (1 for, 2 against)  Q? · m"),
        ({"question": "q" * 61}, f"✗ contradicted by ref (1 for, 2 against)  {'q' * 59}…"),
    ],
    ids=["tied", "by all sources", "undecided", "of a question and a model", "of a long question"],
)
def test_a_claim_has_its_verdict(changes: dict[str, Any], head: str) -> None:
    assert text_of(partial(print_claim, CLAIM | changes), 200).splitlines()[0] == head


def test_hostile_text_reaches_no_terminal(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "r"}}}, models={"a": "[bold]m[/] :smile:"})
    claim = "Red \x1b[31m, bell \x07, override \u202e, two\nlines " + "long " * 400
    rows["fact_units"] = [replace(rows["fact_units"][0], claim=claim)]
    write_run(tmp_path, rows)
    text = printed("report", tmp_path)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    for shown in ("[bold]m[/] :smile:", "two lines long", "…"):
        assert shown in text
    whole = json.loads(printed("sql", tmp_path, "SELECT claim FROM fact_units", "--json"))
    assert whole == [{"claim": claim}]
    written = StringIO(printed("report", tmp_path, "fact_units", "--csv"), newline="")
    head, row = csv.reader(written)
    assert row[head.index("claim")] == claim


def test_ctrl_c_ends_a_long_query_with_a_message(folder: Path) -> None:
    ok("sql", folder, "SELECT 1")
    hours = "FROM range(10000000000) a, range(1000000) b WHERE a.range % 7 = b.range"
    Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    done = ufo("sql", folder, f"SELECT count(*) {hours}")
    assert done.code == 1
    assert done.out == ""
    assert done.err == "ufo: interrupted; the query was stopped\n"


def test_a_reader_that_has_enough_is_no_error(folder: Path) -> None:
    words = command("sql", folder, "FROM range(1000000)", "--csv")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""
