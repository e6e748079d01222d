"""The commands there are: each is found alone, and all by `ufo --help`."""

import re

import pytest

from ufo.pipelines.cli import main


def _listed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    return re.findall(r"^    (\w+)", capsys.readouterr().out.partition("COMMAND\n")[2], re.M)


def test_every_command_that_help_lists_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    commands = _listed(capsys)
    assert {"evaluate", "recall", "index", "report", "sql", "serve"} <= set(commands)
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: ufo {command} ")


def test_no_command_is_reported_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "evaluate responses against fact sources" in capsys.readouterr().out
