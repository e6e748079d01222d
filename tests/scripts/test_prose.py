"""The check of documents and docstrings, on texts with and without faults; paths that CI names."""

import re
import sys
from pathlib import Path

import pytest

from scripts import prose

JOURNAL = "# Head\n\nThe `journal` is code.\n```\njournal\n```\nIt is in the\nJournal.\n"
MODULE = '''"""Do it."""

LEDGER = "ledger"


def add() -> None:
    """Add.

    The ledger has it, for words
    that are no
    numbers.
    """
'''


def test_words_of_the_list_and_long_sentences_are_found_in_prose_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def checked(name: str, text: str) -> tuple[int, str]:
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setattr(sys, "argv", ["prose.py", str(path)])
        return prose.main(), capsys.readouterr().out.replace(f"{path}:", "")

    assert checked("page.md", JOURNAL) == (1, "8: 'Journal': usage log\n")
    code, printed = checked("module.py", MODULE)
    assert code == 1
    assert [line.partition(": ")[0] for line in printed.splitlines()] == ["9", "10"]
    code, printed = checked("page.md", "Short one. " + "word " * 60 + ".\n")
    assert code == 1
    assert "a sentence of 61 words: word" in printed
    linked = "[a page](page.md#head) [a site](https://a.example/b) [gone](gone.md)"
    assert checked("page.md", linked) == (1, "1: there is no gone.md\n")
    table = "| " + "three short words | " * 40 + "\n\n- one item\n- another\n"
    assert checked("page.md", table) == (0, "")


def test_every_path_of_a_test_that_ci_names_exists() -> None:
    commands = (prose.ROOT / ".ci/try_versions").read_text()
    # The shell makes several of `test_{one,two}.py`.
    matches = re.findall(r"(tests/[\w/]+)(?:\{([\w,]+)\})?([\w.]*)", commands)
    names = [begin + one + end for begin, many, end in matches for one in many.split(",")]
    assert "tests/schemas/test_rows.py" in names
    assert [name for name in names if not (prose.ROOT / name).exists()] == []


def test_the_project_s_own_texts_have_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["prose.py"])
    assert prose.main() == 0
