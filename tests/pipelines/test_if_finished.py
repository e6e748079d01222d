"""What becomes of a run that is there already: replaced, left, or its errors asked again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ufo = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, ufo: Ufo, recording: str, write_lines: Any) -> Callable[..., Any]:
    path = write_lines(
        tmp_path / "in.jsonl",
        [
            *({"id": c, "response": f"{c} is a large city."} for c in ("Rome", "Oslo", "Lima")),
            "not json",
        ],
    )
    config = tmp_path / "ufo.yaml"
    options = {"log": str(tmp_path / "log"), "fails": str(tmp_path / "down")}
    sources = [{"name": "mine", "type": recording, **options}]
    config.write_text(json.dumps({"sources": sources, "input": str(path), "run": "r"}))

    def evaluate(*flags: object) -> Any:
        (tmp_path / "log").write_text("")
        words = ("--config", config, "--output", tmp_path / "out", "--workers", 1, "--json")
        return ufo("evaluate", *words, *flags)

    return evaluate


def asked(tmp_path: Path) -> list[str]:
    return sorted(line.split()[1] for line in (tmp_path / "log").read_text().splitlines())


def test_skip_leaves_it_and_replace_evaluates_everything_again(
    run: Any, tmp_path: Path, tables: Any
) -> None:
    assert run().code == 0
    before = tables(tmp_path / "out")
    done = run("--if_finished", "skip", "--tie", "factual")
    assert (done.code, asked(tmp_path)) == (0, [])
    assert "options.tie" in done.err
    assert tables(tmp_path / "out") == before
    refused = run("--if_finished", "retry_errors", "--tie", "factual")
    assert refused.code == 2
    assert 'options.tie: "not_factual" → "factual"' in refused.err
    assert run("--mode", "mv").code == 0
    assert asked(tmp_path) == ["Lima", "Oslo", "Rome"]
    assert {row[2] for row in tables(tmp_path / "out")["verdicts"]} == {"mv"}
    assert len(list((tmp_path / "out/run=r/verdicts").iterdir())) == 1


def test_retry_errors_evaluates_what_had_errors_and_keeps_the_rest(
    run: Any, tmp_path: Path, tables: Any
) -> None:
    assert run().code == 0
    expected = tables(tmp_path / "out")
    (tmp_path / "down").touch()
    assert run().code == 0
    failed = tables(tmp_path / "out")
    assert ("source:mine", "OSError") in {(row[0], row[2]) for row in failed["failures"]}
    assert "error" in {row[7] for row in failed["evidence"]}
    # Still down: the error is asked for again, and recorded again.
    assert run("--if_finished", "retry_errors").code == 0
    assert asked(tmp_path) == ["Oslo"]
    assert tables(tmp_path / "out") == failed
    (tmp_path / "down").unlink()
    done = run("--if_finished", "retry_errors")
    assert asked(tmp_path) == ["Oslo"]
    assert "2 responses kept, 1 with errors" in done.err
    assert (done.json["responses"], done.json["failures"]) == (3, 1)
    assert tables(tmp_path / "out") == expected
    assert run("--if_finished", "retry_errors").code == 0
    assert asked(tmp_path) == []
    assert tables(tmp_path / "out") == expected
