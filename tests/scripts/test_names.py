"""The count of names that do not say what they hold."""

from pathlib import Path

import pytest

from scripts import names

WORDS = frozenset({"found", "given", "one"})


def vague(source: str) -> list[tuple[int, str]]:
    return list(names.vague_names(source, WORDS))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("found = 1\nprint(found)\n", [(1, "found"), (2, "found")], id="a variable"),
        pytest.param("def f(given): ...\n", [(1, "given")], id="an argument"),
        pytest.param("f(given=1)\n", [(1, "given")], id="a keyword"),
        pytest.param("def found(): ...\n", [(1, "found")], id="a function"),
        pytest.param("match 1:\n    case one: ...\n", [(2, "one")], id="a pattern"),
        pytest.param("rows.found\n", [], id="an attribute"),
        pytest.param("from hypothesis import given\n@given(1)\ndef f(): ...\n", [], id="imported"),
        pytest.param("[one for one in rows]\n", [], id="a comprehension of one line"),
        pytest.param("[found for one in rows]\n", [(1, "found")], id="its other variables"),
        pytest.param(
            "[\n    one\n    for one in rows\n]\n", [(2, "one"), (3, "one")], id="of four lines"
        ),
    ],
)
def test_each_use_of_a_vague_name_is_counted(source: str, expected: list[tuple[int, str]]) -> None:
    assert vague(source) == expected


def test_the_names_of_a_file_are_printed_with_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "module.py"
    path.write_text("found = made = 1\n")
    monkeypatch.setattr("sys.argv", ["names.py", str(path)])
    assert names.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{path}:1: found", f"{path}:1: made"]
    assert lines[2].startswith("2 vague names, at most 200: ")


def test_more_than_the_limit_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "module.py"
    monkeypatch.setattr("sys.argv", ["names.py", str(path)])
    path.write_text("found = 1\n" * 200)
    assert names.main() == 0
    path.write_text("found = 1\n" * 201)
    assert names.main() == 1
    assert "201 vague names" in capsys.readouterr().out


def test_the_project_has_no_more_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["names.py"])
    assert names.main() == 0
