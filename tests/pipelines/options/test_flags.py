"""An option is declared once: its flag, its key, its help and its bounds are those of a field."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts import flags as page
from ufo.pipelines.options.command_line import load
from ufo.pipelines.options.option import Affects, Parser, option, options_of
from ufo.schemas.errors import UsageError

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


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--many", "10"], "--many '10' is not a whole number from 1 to 9"),
        (["--many", "2.5"], "--many '2.5' is not a whole number"),
        (["--share", "2"], "--share '2' is not a number from 0 to 1"),
        (["--way", "dwn"], "unknown --way 'dwn'; allowed: up, down. Did you mean 'down'?"),
        (["--words"], "expected at least one argument"),
    ],
)
def test_what_a_field_does_not_take_is_wrong(parser: Parser, argv: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        parser.parse_args(argv)


def test_the_page_of_options_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, str(ROOT / "scripts/flags.py"), "--check"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    monkeypatch.setattr(page, "FILE", tmp_path / "flags.md")
    for word, code in (("--check", 1), ("--write", 0), ("--check", 0)):
        monkeypatch.setattr(sys, "argv", ["flags.py", word])
        assert page.main() == code
    assert "| `--passages N` | whole number, from 1 to 1000 |" in page.FILE.read_text()
