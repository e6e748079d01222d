"""`ufo import`: where its records go, and what it says of lines it leaves out."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.commands import label as import_commands
from ufo.schemas.errors import UsageError


@pytest.fixture(name="ufo")
def _ufo(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(*words: Path | str) -> tuple[Any, ...]:
        parser = argparse.ArgumentParser()
        import_commands.register(parser.add_subparsers())
        arguments = parser.parse_args([str(word) for word in words])
        code = arguments.handler(arguments)
        return code, *capsys.readouterr()

    return run


def test_the_command_writes_records_and_says_how_many(
    tmp_path: Path, ufo: Callable[..., Any]
) -> None:
    source, target = tmp_path / "M.jsonl", tmp_path / "out.jsonl"
    row = {"input": "Who was Ada?", "output": "Adá 🙂.", "annotations": None}
    source.write_text(json.dumps(row) + "\n\n" + "{}\n", encoding="utf-8")
    code, out, err = ufo("import", "factscore", source)
    assert code == 0
    assert json.loads(out)["response"] == "Adá 🙂."
    assert f"left out {source}:3: expected `output`" in err
    assert err.endswith("1 record, 1 left out\n")
    code, printed, _ = ufo("import", "factscore", source, "--output", target)
    assert (code, printed) == (0, "")
    assert target.read_text(encoding="utf-8") == out


def test_a_failed_import_leaves_what_was_there(tmp_path: Path, ufo: Callable[..., Any]) -> None:
    source, target = tmp_path / "M.jsonl", tmp_path / "out.jsonl"
    source.write_text("{}\n")
    target.write_text("before")
    with pytest.raises(UsageError, match="none of 1 records"):
        ufo("import", "factscore", source, "--output", target)
    assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["M.jsonl", "out.jsonl"]
    with pytest.raises(UsageError, match="--output: cannot write"):
        ufo("import", "factscore", source, "--output", tmp_path / "missing" / "x")
