"""The check of documents and docstrings, on texts with and without faults."""

import sys
from pathlib import Path

import pytest

from scripts import prose


def checked(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["prose.py", *map(str, paths)])
    return prose.main()


def test_a_word_of_the_list_is_found_in_prose_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Head\n\nThe `journal` is code.\n```\njournal\n```\nIt is in the\nJournal.\n")
    assert checked(monkeypatch, page) == 1
    assert capsys.readouterr().out == f"{page}:8: 'Journal': usage log\n"


def test_docstrings_are_read_and_code_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Do it."""\n\nLEDGER = "ledger"\n\n\ndef add() -> None:\n    """Add.\n\n'
        '    The ledger has it, for words\n    that are no\n    numbers.\n    """\n'
    )
    assert checked(monkeypatch, module) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"{module}:9", f"{module}:10"]


def test_a_long_sentence_is_found_and_a_long_table_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("Short one. " + "word " * 60 + ".\n")
    assert checked(monkeypatch, page) == 1
    assert "a sentence of 61 words: word" in capsys.readouterr().out
    page.write_text("| " + "three short words | " * 40 + "\n\n- one item\n- another\n")
    assert checked(monkeypatch, page) == 0


def test_the_project_s_own_texts_have_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch) == 0
