"""From `--verifier` to a verifier."""

from pathlib import Path

import pytest

from tests.transforms.judges.stated import STATED
from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms.verifiers.by_name import (
    VERIFIERS,
    content_of,
    described,
    make_verifier,
    opened,
    usable,
)
from ufo.transforms.verifiers.overlap import OverlapVerifier


def test_the_built_in_verifiers_are_declared_like_anybody_s() -> None:
    assert "overlap" in VERIFIERS.types()
    assert VERIFIERS.about("overlap")["package"] == "ufo-factuality"
    assert isinstance(make_verifier("overlap"), OverlapVerifier)


def test_a_file_s_class_is_a_verifier_named_by_itself_or_by_its_class(tmp_path: Path) -> None:
    assert make_verifier(STATED).name == "stated"
    path = tmp_path / "mine.py"
    path.write_text("from ufo import Verifier\nclass Mine(Verifier): ...\nclass Other: ...\n")
    assert make_verifier(f"{path}:Mine").name == "Mine"
    with pytest.raises(PluginError, match=r"not a verifier: it must be a subclass of ufo.Verifier"):
        make_verifier(f"{path}:Other")


@pytest.mark.parametrize("name", ["overlop", "./no/folder", "/no/folder", "a/b/c", "", "mine.py"])
def test_an_unknown_one_is_reported_what_there_is(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_verifier(name)
    message = raised.value.message
    assert repr(name) in message
    assert "overlap, path/to/folder, path/to/file.py:Class, hub/model" in message
    assert ("Did you mean 'overlap'?" in message) == (name == "overlop")


def test_a_path_becomes_whole_and_what_cannot_be_used_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(STATED).parent)
    assert usable("stated.py:Stated") == STATED
    assert usable("overlap") == "overlap"
    with pytest.raises(UsageError, match=r"cannot be used: it is broken; mend it"):
        usable("stated.py:Unusable")


def test_what_a_file_s_class_depends_on_is_its_code_and_what_it_says(tmp_path: Path) -> None:
    code = "from ufo import Verifier\nclass Mine(Verifier):\n    pass\n"
    path = tmp_path / "mine.py"
    path.write_text(code)
    before = content_of(f"{path}:Mine")
    path.write_text(code + "# changed\n")
    assert before != content_of(f"{path}:Mine")
    assert described(f"{path}:Mine") == {"name": "Mine", "content": content_of(f"{path}:Mine")}


def test_one_whose_content_changed_is_loaded_anew(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from ufo import Verifier\nclass Mine(Verifier): ...\n")
    first = opened(f"{path}:Mine")
    assert opened(f"{path}:Mine") is first
    path.write_text("from ufo import Verifier\nclass Mine(Verifier): ... # other\n")
    assert opened(f"{path}:Mine") is not first
