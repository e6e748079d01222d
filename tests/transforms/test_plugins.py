"""Names, options and specs of plug-ins; secrets among their options are not shown."""

from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.errors import UsageError
from ufo.transforms.plugins import (
    Spec,
    absolute_type,
    code_of,
    hide_secrets,
    is_file_type,
    options_of,
    takes_context,
)
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.sources.llm import LlmSource
from ufo.transforms.sources.reference import ReferenceSource


@pytest.mark.parametrize("name", ["key", "API_KEY", "token", "my_secret", "Password"])
def test_a_secret_among_options_is_not_shown(name: str) -> None:
    assert hide_secrets({name: "s3", "index": "/i"}) == {name: "***", "index": "/i"}


@pytest.mark.parametrize(
    ("name", "is_file"),
    [("a/b.py:Mine", True), ("b.py:Mine", True), ("b.py", False), ("b.txt:Mine", False)],
)
def test_a_class_of_a_file_is_told_from_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_file: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_file_type(name) is is_file
    assert absolute_type(name) == (f"{tmp_path}/{name}" if is_file else name)


def test_the_code_of_a_plug_in_is_that_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine: ...")
    assert code_of(f"{tmp_path}/mine.py:Mine") == b"class Mine: ..."
    assert code_of("reference") == b""


def test_the_context_of_a_run_is_no_option() -> None:
    assert takes_context(LlmSource)
    assert "context" not in options_of(LlmSource)
    assert not takes_context(ReferenceSource)
    assert [*options_of(ReferenceSource)] == ["passages"]


OBJECT = ReferenceSource()
OF_OBJECT = f"{ReferenceSource.__module__}.ReferenceSource"
DEFINED = {"mine": {"type": "reference", "options": {"passages": 2}}}


@pytest.mark.parametrize(
    ("item", "spec"),
    [
        pytest.param("web", Spec("web", "web"), id="a name"),
        pytest.param("/a/b.py:Mine", Spec("Mine", "/a/b.py:Mine"), id="a class of a file"),
        pytest.param("mine", Spec("mine", "reference", {"passages": 2}), id="a defined one"),
        pytest.param(OBJECT, Spec("ReferenceSource", OF_OBJECT, instance=OBJECT), id="an object"),
    ],
)
def test_what_a_source_is_given_as(item: Any, spec: Spec) -> None:
    assert SOURCES.spec(item, DEFINED) == spec


def test_nothing_else_is_a_source() -> None:
    with pytest.raises(UsageError, match=r"a fact source is a name or an ufo.FactSource, not 5"):
        SOURCES.spec(5)
