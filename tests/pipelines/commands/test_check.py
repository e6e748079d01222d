"""`ufo check`: one text, from an argument, a file or stdin, and what the sources say of it."""

import bz2
import gzip
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ufo as library
from tests.llm_server import LlmServer
from tests.pipelines.conftest import ends, ufo, ufo_process
from ufo.transforms.judges.trust import trust_line
from ufo.transforms.verifiers.by_name import model_column as shown_as

TEXT = "Ada Lovelace was born in Paris. She wrote notes on the Analytical Engine. She liked tea."
ABOUT = "Ada Lovelace was born in London in 1815. Her notes describe the Analytical Engine."
SHOWN = f"""\
1 of 3 claims supported, 1 contradicted, 1 not found
factuality score 0.333, coverage 0.667
{trust_line(["offline"], [shown_as("overlap")], ["reference"])}
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


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_file_may_have_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "text.txt").write_bytes(ABOUT.encode(encoding))
    (tmp_path / "about.txt").write_bytes(ABOUT.encode(encoding))
    words = (tmp_path / "text.txt", "--references", tmp_path / "about.txt", "--json")
    assert json.loads(ufo("check", *words).out)["score"] == 1.0


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_file_or_stdin_may_be_compressed(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (path := tmp_path / "about").write_bytes(pack(ABOUT.encode()))
    assert ends(0, "check", path, "--references", path, "--json").json["score"] == 1.0
    with path.open("rb") as stdin:
        done = ufo_process("check", "-", "--references", path, "--json", stdin=stdin)
    assert done.json["score"] == 1.0


def test_a_text_may_come_through_a_named_pipe(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    with ThreadPoolExecutor() as threads:
        threads.submit(path.write_text, "Oslo is big.")
        done = ends(0, "check", path, "--json")
    assert done.json["text"] == "Oslo is big."


def test_json_is_what_the_python_interface_returns(about: Path) -> None:
    done = ufo("check", TEXT, "--references", about, "--json", "--mode", "all", "--passages", 2)
    same = library.check_sync(TEXT, references=[ABOUT], mode="all", passages=2)
    assert done.json == json.loads(json.dumps(same.to_dict()))
    done = ufo("check", TEXT, "--references", about, "--mode", "all")
    assert done.code == 0
    assert on_one_line(done.out).startswith(on_one_line(SHOWN))
    assert done.err == ""
    assert "? not found\n  claim  Ada Lovelace liked tea." in done.out


def test_stdin_is_a_text(about: Path) -> None:
    done = ufo_process("check", "-", "--references", about, input=TEXT)
    assert done.code == 0
    assert on_one_line(done.out).startswith(on_one_line(SHOWN))
    assert done.err == ""


@pytest.mark.parametrize(
    ("content", "file", "message"),
    [
        pytest.param(b"Oslo is big.", "answer.txt", "Checking the text of the file answer.txt.\n",
                     id="a file"),
        pytest.param(b"\xef\xbb\xbfOslo is big.", "answer.txt",
                     "Checking the text of the file answer.txt.\n", id="a file that says UTF-8"),
        pytest.param(b"", "Oslo", "There is no file Oslo, so this word is the text.\n",
                     id="a word"),
        pytest.param(b"", "Oslo is big.", "", id="a text of several words"),
    ],
)  # fmt: skip
def test_what_is_checked_is_said_where_it_is_unclear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, file: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content:
        (tmp_path / file).write_bytes(content)
    (tmp_path / "one.txt").write_text("Rome is old.")
    (tmp_path / "two.txt").write_text("Oslo is big.")
    done = ends(0, "check", file, "--references", "one.txt", "--references", "two.txt", "--json")
    assert done.err == message
    word = file == "Oslo"
    assert done.json["text"] == (file if word else "Oslo is big.")
    assert done.json["score"] == (None if word else 1.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["table"], "TEXT 'table' cannot be read: it is Parquet", id="the text"),
        pytest.param(["A b.", "--references", "table"], "--references 'table' cannot be read: it",
                     id="a reference"),
        pytest.param(["A b.", "--references", "none.txt"],
                     "--references 'none.txt' cannot be read: No such file or directory\n",
                     id="a reference that is not there"),
        pytest.param(["A b.", "--references", "blank"], "--references 'blank' is empty; give a",
                     id="a reference without a text"),
        pytest.param(["anwser.txt"],
                     "TEXT 'anwser.txt' cannot be read: No such file or directory\n",
                     id="a text that is not there"),
        pytest.param(["https://example.org/a"],
                     "TEXT 'https://example.org/a' is a web address; give the text of the page",
                     id="a text that is a web address"),
        pytest.param(["folder"], "'folder' is a folder; give a text", id="a folder"),
        pytest.param(["A b.", "--references", "London"],
                     "--references 'London' cannot be read: there is no such file, and one word is",
                     id="a word"),
        pytest.param(["A b.", "--references", "https://example.org/a"],
                     "is a web address; give the text of the page", id="a web address"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table").write_bytes(b"PAR1\xff\xfe")
    (tmp_path / "blank").write_text(" \n")
    (tmp_path / "folder").mkdir()
    assert message in ends(2, "check", *words).err


def test_the_text_of_a_file_may_look_like_a_name(tmp_path: Path) -> None:
    (tmp_path / "about").write_text("The options are in config.txt")
    (tmp_path / "answer").write_text("config.txt")
    done = ends(0, "check", tmp_path / "answer", "--references", tmp_path / "about", "--json")
    assert done.json["text"] == "config.txt"


ADA = "Ada Lovelace was born in London."
WRONG = "Ada Lovelace was born in Paris."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([WRONG, "--references", ADA], "", id="a text"),
        pytest.param([WRONG, "--references", "-"], "", id="stdin"),
        pytest.param([WRONG, "--references", "ada", "tea"], "", id="two files"),
        pytest.param([WRONG, "--references", "tea", "--references", ADA], "", id="both"),
        pytest.param(["--references", "ada", WRONG], "", id="before the text"),
        pytest.param([WRONG, "--references", "ada", "伦敦是英国的首都。"], "", id="without blanks"),
    ],
)  # fmt: skip
def test_references_are_what_a_person_gives(tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "ada").write_text(ADA)
    (tmp_path / "tea").write_text("Tea is a drink.")
    done = ufo_process("check", *words, "--json", input=ADA, cwd=tmp_path)
    assert done.json["score"] == 0.0
    assert done.json["coverage"] == 1.0
    assert done.err == message


def test_one_stdin_is_not_both_the_text_and_a_reference() -> None:
    message = "- stands for stdin, which has one text"
    assert message in ends(2, "check", "-", "--references", "-").err
    assert message in ends(2, "check", "A b.", "--references", "-", "-").err
    assert "expected TEXT" in ends(2, "check", "--references", "A b.").err
    assert "expected TEXT" in ends(2, "check").err


def test_a_judge_without_a_citation_is_shown_with_the_sentence_of_its_passage(
    tmp_path: Path,
) -> None:
    (tmp_path / "own.py").write_text(
        "import ufo\n\n\nclass Says(ufo.Judge):\n    def outcome(self, claim, passage):\n"
        '        return ufo.Judgement("refuted")\n'
    )
    sentences = [f"Sentence {n} is about another town and its many old houses." for n in range(9)]
    about = " ".join([*sentences[:5], ADA, *sentences[5:]])
    judged = ("--judge", f"{tmp_path}/own.py:Says", "--references", about)
    assert f'\n  evidence  "{ADA}"\n' in ends(0, "check", WRONG, *judged).out


def test_a_failure_is_told_once_and_some_usable_judgement_is_enough(tmp_path: Path) -> None:
    source = tmp_path / "broken.py"
    source.write_text(
        "from ufo import FactSource, Passage\n"
        "class Broken(FactSource):\n"
        "    def find(self, unit):\n"
        "        if 'Rome' in unit.claim or 'Lima' in unit.claim: raise OSError('it is down')\n"
        "        return [Passage(unit.claim)]\n"
    )
    text = "Rome is old. Lima is old. Oslo is old."
    done = ends(0, "check", text, "--sources", f"{source}:Broken", "--judge", "offline")
    assert done.err.count("it is down") == 2  # of the failures, and of what is lost
    assert "2 of 3 judgements were unusable" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "the text is empty"),
        ("Осло находится в Норвегии.", "1 of 1 judgement was unusable"),
    ],
    ids=["an empty text", "a language that the judge does not know"],
)
def test_what_is_wrong(text: str, message: str) -> None:
    assert message in ends(1, "check", text).err


def test_a_model_judges(about: Path, llm_server: LlmServer) -> None:
    flags = ("--references", about, "--model", "offline-judge", "--cache", "off", "--base_url")
    done = ufo("check", TEXT, *flags, llm_server.base_url)
    assert done.code == 0
    assert "by reference" in done.out
    done = ufo_process("check", TEXT, *flags, "http://127.0.0.1:9/v1")
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("ufo: nothing answers at http://127.0.0.1:9/v1")
