"""File names, arguments and variables of the environment that are not UTF-8."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ufo.pipelines.cli import main
from ufo.schemas.results import open_results
from ufo.schemas.text import shell_command
from ufo.schemas.text_file import read_text

RECORD = {"response": "The Nile is in Africa.", "reference_answers": ["The Nile is in Africa."]}
ODD = os.fsdecode(b"caf\xe9.jsonl")
SHOWN = "caf\\udce9.jsonl"
ODD_FOLDER = os.fsdecode(b"d\xff")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = f"{json.dumps(RECORD)}\nbroken\n"
    Path("plain.jsonl").write_text(lines)
    Path(ODD).write_text(lines)
    Path(ODD_FOLDER).mkdir()
    (Path(ODD_FOLDER) / "x.jsonl").write_text(lines)


def evaluate(*words: str) -> int:
    return main(["evaluate", "--output", "out", "--sources", "reference", *words])


def test_a_file_is_named_by_its_escaped_name_everywhere(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert evaluate("--input", ODD, "plain.jsonl", f"{ODD_FOLDER}/*.jsonl", "--run", "a") == 0
    with open_results("out") as results:
        keys = results.query("SELECT key FROM failures WHERE message LIKE 'not JSON%'")
        rows = results.query("FROM runs").to_pylist()
    assert set(keys["key"].to_pylist()) == {f"{SHOWN}:2", "plain.jsonl:2", "x.jsonl:2"}
    assert len(rows) == 1
    assert json.dumps(SHOWN) in read_text("out/run=a/manifest.json")
    for command in ("report out", "report out failures --json", "report out --html r.html"):
        assert main(command.split()) == 0
    assert evaluate("--input", ODD, "--run", "a", "--if_finished", "skip") == 0
    message = "".join(capfd.readouterr())
    assert json.dumps(f"{SHOWN}:2") in message
    assert "surrogate" not in message
    message.encode()
    read_text("r.html").encode()


@pytest.mark.parametrize(
    "words",
    [
        ["--output", ODD],
        ["--output", f"{ODD_FOLDER}/out"],
        ["--run", ODD],
        ["--title", ODD],
        ["--index", ODD],
        ["--cache", f"{ODD}/"],
        ["--map", f"response={ODD}"],
        ["--judge", ODD],
        ["--model", ODD],
        ["--base_url", f"http://127.0.0.1:9/{ODD}"],
        ["--sources", ODD],
        ["--since", ODD],
        ["--runner", ODD],
        [f"--{ODD}"],
        ["--config", ODD],
        ["--input", f"no{ODD}"],
    ],
    ids=lambda words: ascii(" ".join(words)),
)
def test_what_cannot_be_used_is_refused_before_anything_is_evaluated(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--input", "plain.jsonl", *words) == 2
    message = capsys.readouterr().err
    assert message.startswith("ufo: ")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"TMPDIR": ODD_FOLDER}, 2),
        ({"UFO_CACHE": ODD}, 2),
        ({"OPENAI_BASE_URL": f"http://127.0.0.1:9/{ODD}"}, 1),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": ODD}, 1),
        ({"HOME": ODD_FOLDER, "XDG_CACHE_HOME": ODD_FOLDER, "LC_ALL": "C"}, 0),
        ({"PYTHONIOENCODING": "ascii:strict"}, 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_the_environment_is_told_by_its_variable(
    variables: dict[str, str], code: int, tmp_path: Path
) -> None:
    absolute = {
        name: str(tmp_path / value) if value == ODD_FOLDER else value
        for name, value in variables.items()
    }
    words = ["evaluate", "--output", "out", "--sources", "reference", "--input"]
    done = subprocess.run(
        [sys.executable, "-m", "ufo.pipelines.cli", *words, ODD],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **absolute},
        capture_output=True,
        check=False,
    )
    printed = done.stderr.decode()
    assert done.returncode == code, printed
    assert "Traceback" not in printed
    assert code == 0 or any(name in printed for name in variables)


def test_a_text_to_check_is_utf_8_and_the_file_that_holds_it_has_any_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", os.fsdecode(b"The Nile is \xe9.")]) == 2
    assert "is not UTF-8, and there is no such file" in capsys.readouterr().err
    name = os.fsdecode(b"ref\xe9.txt")
    Path(name).write_text("The Nile is in Africa.")
    assert main(["check", name, "--references", name, "--sources", "reference"]) == 0
    printed = capsys.readouterr()
    assert "1 of 1 claim supported" in printed.out
    assert "ref\\udce9.txt" in printed.err


@pytest.mark.parametrize("words", [["report"], ["sql"], ["status"], ["label", "sample"]])
def test_a_folder_that_the_database_cannot_read_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["SELECT 1"] if words == ["sql"] else []
    assert main([*words, ODD_FOLDER, *more]) == 2
    assert "d\\udcff' is not UTF-8; give another" in capsys.readouterr().err


def test_an_index_is_built_from_files_of_any_name_into_a_folder_of_utf_8(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(ODD).write_text(json.dumps({"title": "Nile", "text": "The Nile is in Africa."}))
    assert main(["index", "build", "--input", ODD, "--output", "index"]) == 0
    assert main(["index", "build", "--input", ODD, "--output", ODD_FOLDER]) == 2
    assert "--output" in capsys.readouterr().err


def test_a_shell_reads_a_command_as_the_words_that_it_was_made_of() -> None:
    words = ["printf", "%s|", "a b", "it's", "$x", ODD, os.fsdecode(b"'\\\n\xff a")]
    done = subprocess.run(["bash", "-c", shell_command(words)], capture_output=True, check=True)
    assert done.stdout == b"".join(os.fsencode(word) + b"|" for word in words[2:])
