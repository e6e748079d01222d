"""`ufo check`: one text, from an argument, a file or stdin, and what the sources say of it."""

import json
from pathlib import Path

import pytest

import ufo as library
from tests.llm_server import LlmServer
from tests.pipelines.conftest import ends, ufo, ufo_process
from ufo.transforms.judges.offline import trust
from ufo.transforms.verifiers.by_name import shown as shown_as

TEXT = "Ada Lovelace was born in Paris. She wrote notes on the Analytical Engine. She liked tea."
ABOUT = "Ada Lovelace was born in London in 1815. Her notes describe the Analytical Engine."
SHOWN = f"""\
1 of 3 claims supported, 1 contradicted, 1 not found
factuality 0.333, coverage 0.667
{trust([shown_as("overlap")], ["reference"])}
✗ contradicted by reference (0 for, 1 against)
  claim     Ada Lovelace was born in Paris.
  evidence  "Ada Lovelace was born in London in 1815."
  why       says "London", the claim says "Paris"
"""


def on_one_line(text: str) -> str:
    """A text that was broken into lines of whatever width."""
    return " ".join(text.split())


@pytest.fixture
def about(tmp_path: Path) -> Path:
    path = tmp_path / "about.txt"
    path.write_text(ABOUT)
    return path


def test_json_is_what_the_python_interface_returns(about: Path) -> None:
    found = ufo("check", TEXT, "--references", about, "--json", "--mode", "all", "--passages", 2)
    same = library.check_sync(TEXT, references=[ABOUT], mode="all", passages=2)
    assert found.json == json.loads(json.dumps(same.to_dict()))
    found = ufo("check", TEXT, "--references", about, "--mode", "all")
    assert found.code == 0
    assert on_one_line(found.out).startswith(on_one_line(SHOWN))
    assert found.err == ""
    assert "? not found\n  claim  Ada Lovelace liked tea." in found.out


def test_a_file_and_stdin(about: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(TEXT)
    (tmp_path / "tea.txt").write_text("Ada Lovelace liked tea.")
    more = ("--references", tmp_path / "tea.txt")
    found = ufo("check", tmp_path / "answer.txt", "--references", about, *more)
    assert found.code == 0
    assert found.out.partition(",")[0] == "2 of 3 claims supported"
    assert found.err == f"Checking the text of the file {tmp_path}/answer.txt.\n"
    found = ufo_process("check", "-", "--references", about, input=TEXT)
    assert found.code == 0
    assert on_one_line(found.out).startswith(on_one_line(SHOWN))
    assert found.err == ""
    found = ufo("check", "anwser.txt")
    assert found.code == 0
    assert found.out == "No claim to check\n"
    assert found.err == "There is no file anwser.txt, so this word is the text.\n"
    (tmp_path / "table").write_bytes(b"PAR1\xff\xfe")
    assert "is no text: it is not UTF-8 at byte 4" in ends(2, "check", tmp_path / "table").err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (" ", "the text is empty"),
        ("Осло находится в Норвегии.", "1 of 1 judgements was unusable"),
    ],
    ids=["an empty text", "a language that the judge does not know"],
)
def test_what_is_wrong(text: str, told: str) -> None:
    assert told in ends(1, "check", text).err


def test_a_model_judges(about: Path, llm_server: LlmServer) -> None:
    flags = ("--references", about, "--model", "offline-judge", "--cache", "off", "--base_url")
    found = ufo("check", TEXT, *flags, llm_server.base_url)
    assert found.code == 0
    assert "by reference" in found.out
    found = ufo_process("check", TEXT, *flags, "http://127.0.0.1:9/v1")
    assert found.code == 1
    assert found.out == ""
    assert found.err.startswith("ufo: nothing answers at http://127.0.0.1:9/v1")
