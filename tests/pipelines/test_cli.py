"""The commands there are: each is found alone, and all by `ufo --help`."""

import re

import pytest

from ufo.pipelines.cli import main


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
