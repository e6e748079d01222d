"""The commands there are: each is found alone, and all by `ufo --help`; the numbers they take."""

import re
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from typing import Any

import pytest

from ufo.pipelines.cli import main
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import cores
from ufo.schemas.errors import UsageError


def test_every_command_that_help_lists_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert "How factual is LLM output?" in shown()
    commands = re.findall(r"^    (\w+)", shown().partition("COMMAND\n")[2], re.M)
    assert {"evaluate", "recall", "index", "report", "sql", "serve"} <= set(commands)
    for command in commands:
        assert shown(command).startswith(f"usage: ufo {command} ")
    assert main([]) == 2
    assert "evaluate responses against fact sources" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("label", ["sample write a sheet of claims for people",
                   "import import the labels of a filled sheet"]),
        ("index", ["build build an index from a Wikipedia dump or documents",
                   "search show the passages an index has for a query",
                   "info describe an index and check that it is complete"]),
        ("cache", ["stats count the cached replies by kind and age",
                   "prune delete old replies"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_help_of_a_command_lists_its_actions(
    capsys: pytest.CaptureFixture[str], command: str, lines: list[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    listed = re.findall(r"^    (\w+ {2,}\S.*)", capsys.readouterr().out, re.M)
    assert [" ".join(line.split()) for line in listed] == lines


class Interrupting:
    """A stdin whose reader is interrupted."""

    @property
    def buffer(self) -> Any:
        raise KeyboardInterrupt


def test_a_command_that_is_interrupted_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Interrupting())
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().err == "ufo: interrupted\n"


def test_a_reader_that_has_closed_the_pipe_is_no_error() -> None:
    words = [sys.executable, "-m", "ufo.pipelines.cli", "report", "--list"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def parsed(words: str, *more: str) -> Namespace:
    """What a command gets from its words."""
    parser = Parser(prog="ufo")
    commands: Any = parser.add_subparsers(parser_class=Parser)
    import_module(f"ufo.pipelines.commands.{words.split()[0]}").register(commands)
    return parser.parse_args([*words.split(), *more])


# Command, number, its least and greatest value, and what it is where it is not given; those of
# `ufo evaluate` are in options/test_every_option.py.
BUILD = "index build --input x --output y"
NUMBERS: list[tuple[str, str, float, float | None, Any]] = [
    (BUILD, "passage_words", 20, 1000, 100),
    (BUILD, "workers", 1, 1024, cores()),
    ("index search x x", "passages", 1, 1000, 5),
    ("label sample x", "n", 1, None, 200),
    ("label sample x", "seed", 0, None, 0),
    ("doctor", "timeout", 0.1, 3600, 55.0),
    ("serve", "port", 0, 65535, 8080),
    ("report x", "rows", 0, None, None),
    ("cache prune", "older_than", 0, None, None),
    ("cache prune", "max_mb", 0, None, None),
]


@pytest.mark.parametrize(
    ("words", "name", "low", "high", "default"),
    [pytest.param(*row, id=f"{row[0].split()[0]} {row[1]}") for row in NUMBERS],
)
def test_a_number_of_a_command_has_its_bounds_and_its_default(
    words: str, name: str, low: float, high: float | None, default: Any
) -> None:
    def parsed_value(value: float) -> Any:
        return getattr(parsed(words, f"--{name}={value:g}"), name)

    assert getattr(parsed(words), name) == default
    assert parsed_value(low) == low
    step = 1 if isinstance(low, int) else 0.01
    with pytest.raises(UsageError, match=rf"--{name} .* number from {low:g}"):
        parsed_value(low - step)
    if high is not None:
        assert parsed_value(high) == high
        with pytest.raises(UsageError, match=f" to {high:g}"):
            parsed_value(high + step)


@pytest.mark.parametrize(
    ("words", "name", "default"),
    [
        ("serve", "host", "127.0.0.1"),
        ("serve", "results", "results"),
        ("index search x x", "retriever", "bm25"),
        ("label sample x", "output", None),
    ],
    ids=["host", "results", "retriever", "output"],
)
def test_a_word_that_is_not_given_has_its_default(words: str, name: str, default: Any) -> None:
    assert getattr(parsed(words), name) == default
    assert getattr(parsed(words, f"--{name}=other"), name) == "other"
