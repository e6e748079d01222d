"""An option is declared once: flag, key of a configuration file, help and bounds."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts import flags as page
from tests.pipelines.conftest import ok, tables, ufo
from ufo.pipelines.options.command_line import load
from ufo.pipelines.options.option import Affects, Parser, option, options_of

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, kw_only=True)
class Mine:
    """Options of each kind."""

    words: tuple[str, ...] = option("several", "WORD")
    many: int | None = option("a number", "N", low=1, high=9, affects=Affects.SOURCE)
    share: float = option("a share (default {default})", "P", default=0.5, low=0, high=1)
    loud: bool = option("a switch", default=False)
    way: str = option("one of two", "WAY", default="up", choices=("up", "down"))
    listed: tuple[str, ...] | None = option("a list", "A,B", read=lambda text: text.split(","))


@pytest.fixture
def parser() -> Parser:
    made = Parser(prog="mine")
    made.add_options({"mine": options_of(Mine)})
    return made


def test_a_field_is_a_flag_and_a_key_of_the_file(parser: Parser, tmp_path: Path) -> None:
    argv = ["--words", "a", "b", "--many", "3", "--loud", "--way", "down", "--listed", "x,y"]
    path = tmp_path / "mine.yaml"
    path.write_text("words: [a, b]\nmany: 3\nloud: true\nway: down\nlisted: [x, y]\n")
    found = {"words": ["a", "b"], "many": 3, "loud": True, "way": "down", "listed": ["x", "y"]}
    assert parser.given(parser.parse_args(argv)) == dict(load(str(path), parser).values) == found
    assert "a share (default 0.5)" in parser.format_help()
    (many,) = (one for one in options_of(Mine) if Affects.SOURCE in one.affects)
    assert (many.name, many.kind, many.default) == ("many", int, None)


def test_the_page_of_options_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, str(ROOT / "scripts/flags.py"), "--check"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    monkeypatch.setattr(page, "FILE", tmp_path / "flags.md")
    for word, code in (("--check", 1), ("--write", 0), ("--check", 0)):
        monkeypatch.setattr(sys, "argv", ["flags.py", word])
        assert page.main() == code
    assert "| `--passages N` | whole number, from 1 to 1000 |" in page.FILE.read_text()


# --- The configuration file of `ufo evaluate`.


@pytest.fixture
def config(tmp_path: Path, responses: Path, index: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "ufo.yaml"
        path.write_text(f"input: {responses}\noutput: {tmp_path}/out\nworkers: 1\n{text}")
        return path

    return write


def test_two_instances_of_one_type_serve_under_their_names(
    config: Any, index: Path, tmp_path: Path
) -> None:
    path = config(
        f"sources:\n- {{name: one, type: wikipedia, index: {index}, passages: 1}}\n"
        f"- {{name: two, type: wikipedia, index: {index}, passages: 2}}\n- reference\n"
        "mode: all\n"
    )
    done = ok("evaluate", "--config", path, "--json")
    assert done.json["sources"] == ["one", "two", "reference"]
    found = tables(tmp_path / "out")
    assert {row[2] for row in found["evidence"]} == {"one", "two", "reference"}
    assert [json.loads(row[5])["passages"] for row in found["sources"]] == [1, 2, 5]


def test_a_flag_beats_the_file(config: Any, index: Path) -> None:
    path = config(f"mode: mv\nindex: {index}\nsources: [wikipedia, reference]\njson: true\n")
    done = ufo("evaluate", "--config", path, "--mode", "seq", "--sources", "reference")
    assert (done.json["mode"], done.json["sources"]) == ("seq", ["reference"])
    done = ufo("evaluate", "--config", path)
    assert (done.json["mode"], done.json["sources"]) == ("mv", ["wikipedia", "reference"])
    path = config("sources:\n- {name: one, type: reference}\n- {name: two, type: reference}\n")
    done = ufo("evaluate", "--config", path, "--sources", "two", "--json")
    assert done.json["sources"] == ["two"]


def test_options_of_any_yaml_kind_are_recorded_and_no_secret_is(
    config: Any, tmp_path: Path
) -> None:
    plug_in = tmp_path / "mine.py"
    plug_in.write_text(
        "from ufo import FactSource\n"
        "class Mine(FactSource):\n"
        "    def __init__(self, api_key, day): self.day = day\n"
        "    def find(self, unit): return self.day in unit.claim\n"
    )
    mine = f"{{name: s, type: '{plug_in}:Mine', api_key: hunter2, day: 2020-01-01}}"
    path = config(f"run: dated\nsources: [{mine}]\n")
    # A date is no JSON, and a source that cannot use it is an error of each unit, not a crash.
    done = ufo("evaluate", "--config", path)
    assert (done.code, "no judgement was usable" in done.out) == (1, True)
    files = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert all(b"hunter2" not in p.read_bytes() for p in files)
    assert "hunter2" not in done.err + done.out
    done = ufo("evaluate", "--config", path, "--if_finished", "skip")
    assert (done.code, "other inputs or options" in done.err) == (1, False)
    done = ufo("evaluate", "--config", path, "--if_finished", "skip", "--tie", "factual")
    assert "options.tie" in done.err
