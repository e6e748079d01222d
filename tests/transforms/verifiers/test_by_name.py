"""From `--verifier` to a verifier."""

from pathlib import Path

import pytest

from tests.transforms.judges.stated import STATED
from tests.transforms.verifiers.tiny import write_onnx
from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms.verifiers import by_name
from ufo.transforms.verifiers.by_name import content_of, make_verifier, open_verifier, usable_name
from ufo.transforms.verifiers.overlap import OverlapVerifier

CODE = "from ufo import Verifier\nclass Mine(Verifier): ...\nclass Other: ...\n"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return path


def test_built_in_ones_and_a_file_s_class_are_verifiers(mine: Path) -> None:
    assert "overlap" in by_name.VERIFIERS.types()
    assert by_name.VERIFIERS.about("overlap")["package"] == "ufo-factuality"
    assert isinstance(make_verifier("overlap"), OverlapVerifier)
    assert make_verifier(STATED).name == "stated"
    assert make_verifier(f"{mine}:Mine").name == "Mine"
    with pytest.raises(PluginError, match=r"not a verifier: it must be a subclass of ufo.Verifier"):
        make_verifier(f"{mine}:Other")


@pytest.mark.parametrize("name", ["overlop", "./no/folder", "/no/folder", "a/b/c", "", "mine.py"])
def test_an_unknown_one_is_reported_what_there_is(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        make_verifier(name)
    message = raised.value.message
    assert repr(name) in message
    assert "overlap, path/to/folder, path/to/file.py:Class, hub/model" in message
    assert ("Did you mean 'overlap'?" in message) == (name == "overlop")


def test_a_path_becomes_whole_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(STATED).parent)
    assert usable_name("stated.py:Stated") == STATED
    assert usable_name("overlap") == "overlap"
    with pytest.raises(UsageError, match=r"cannot be used: it is broken; mend it"):
        usable_name("stated.py:Unusable")


def test_a_folder_becomes_a_whole_path_unless_a_verifier_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tiny", "overlap"):
        write_onnx(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert usable_name("tiny") == str(tmp_path / "tiny")
    assert usable_name("overlap") == "overlap"


def test_no_name_is_the_default_verifier() -> None:
    assert open_verifier(None).name == "overlap"
    assert by_name.model_column(None) == by_name.model_column("overlap")


def test_a_name_is_shown_with_twelve_digits_of_its_content(mine: Path) -> None:
    assert by_name.model_column(f"{mine}:Mine") == f"Mine@{content_of(f'{mine}:Mine')[:12]}"


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        pytest.param(
            "OSError", PluginError, "' does not load: OSError: no weights", id="any error"
        ),
        pytest.param("ufo.schemas.errors.UsageError", UsageError, "^no weights$", id="a remedy"),
    ],
)
def test_why_one_does_not_load_is_said(
    mine: Path, error: str, raised: type[UsageError], message: str
) -> None:
    body = f"\n    def open(self): raise {error}('no weights')"
    mine.write_text(f"import ufo.schemas.errors\n{CODE.replace('...', body, 1)}")
    with pytest.raises(raised, match=message):
        open_verifier(f"{mine}:Mine")


def test_one_whose_content_changed_is_another_and_loaded_anew(mine: Path) -> None:
    name = f"{mine}:Mine"
    before, first = content_of(name), open_verifier(name)
    assert len(before) == 16
    assert open_verifier(name) is first
    mine.write_text(CODE + "# changed\n")
    assert open_verifier(name) is not first
    assert content_of(name) != before
    assert by_name.description(name) == {"name": "Mine", "content": content_of(name)}
