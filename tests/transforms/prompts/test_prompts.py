"""The prompt files and what overrides them."""

import gzip
import re
from pathlib import Path

import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.prompts import Prompts, load_prompts


def test_every_shipped_prompt_names_its_task_and_its_fixed_prefix_has_no_data_in_it() -> None:
    """What changes from call to call would keep providers from caching the prefix."""
    for name, text in load_prompts().texts.items():
        assert text.strip(), name
        if name.endswith("_system"):
            # A grounding model was trained with the words of its own template.
            own = name == "granite_guardian_system"
            assert own or re.fullmatch("Task: [a-z_]+", text.splitlines()[0]), name
            # What stands there depends on the options of a run alone.
            assert set(re.findall(r"\{([a-z_]+)\}", text)) <= {"verdicts", "fields", "example"}


def test_variables_are_filled_once_and_empty_lines_left_out() -> None:
    prompts = Prompts({"p": '{a}\n{b}\nThen {a}: {"x": {b}}'})
    assert prompts.render("p", a="{b}", b="") == '{b}\nThen {b}: {"x": }'
    assert prompts.render("p", a="1", b="{a}") == '1\n{a}\nThen 1: {"x": {a}}'


def test_a_folder_overrides_by_name(tmp_path: Path) -> None:
    shipped = load_prompts()
    (tmp_path / "verify_user.txt").write_text("Now {facts} by {passages} in {context}\n", "utf-8")
    (tmp_path / "argument_answer.txt").write_bytes("\ufeffKurz.\r\nGut.".encode())
    (tmp_path / "argument_citation.txt").write_bytes(gzip.compress("Kurz!".encode("utf-16")))
    (tmp_path / "README.md").write_text("not a prompt")
    changed = load_prompts(str(tmp_path))
    assert changed.render("verify_user", facts="1", passages="2", context="3") == "Now 1 by 2 in 3"
    assert changed["argument_answer"] == "Kurz.\nGut."
    assert changed["argument_citation"] == "Kurz!"
    assert changed["repair"] == shipped["repair"]


@pytest.mark.parametrize(
    ("file", "text", "parts"),
    [
        ("verify_user.txt", "{passages} {context}", ["verify_user.txt", "lacks", "{facts}"]),
        ("verify_user.txt", "{passages}{context}{facts}{fact}", ["verify_user.txt", "{fact};"]),
        ("repair.txt", "Again, {wrong} {name}", ["repair.txt", "unknown", "{name}", "{wrong}"]),
        ("argument_answer.txt", "{x}", ["unknown variable {x}; it may have none"]),
        ("verify_usr.txt", "x", ["verify_usr.txt", "Did you mean 'verify_user'"]),
    ],
    ids=["one missing", "one too many", "one unknown", "none allowed", "file misspelt"],
)
def test_a_wrong_file_is_reported(tmp_path: Path, file: str, text: str, parts: list[str]) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(UsageError) as error:
        load_prompts(str(tmp_path))
    assert all(part in str(error.value) for part in parts)


def test_a_folder_that_overrides_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no prompt"):
        load_prompts(str(tmp_path))
    with pytest.raises(UsageError, match="not a folder"):
        load_prompts(str(tmp_path / "absent"))
    (tmp_path / "repair.txt").write_bytes(b"\xff\xfa")
    with pytest.raises(UsageError, match=r"repair.txt cannot be read: not UTF-8"):
        load_prompts(str(tmp_path))


def test_the_version_follows_the_text_of_the_prompts_used(tmp_path: Path) -> None:
    shipped = load_prompts()
    names = ["verify_user", "repair"]
    version = shipped.version(names)
    assert re.fullmatch("[0-9a-f]{12}", version)
    assert version == shipped.version(["repair", "verify_user", "repair"])
    (tmp_path / "prompt_user.txt").write_text("{claim} {passage}")
    assert load_prompts(str(tmp_path)).version(names) == version
    (tmp_path / "repair.txt").write_text("Once more: {wrong}")
    assert load_prompts(str(tmp_path)).version(names) != version
