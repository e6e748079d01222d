import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.errors import PluginError, UsageError
from ufo.transforms import plugins
from ufo.transforms.sources.fact_source import FactSource
from ufo.transforms.sources.reference import ReferenceSource
from ufo.transforms.sources.registry import SOURCES, SourceSpec, make_source

SOURCE = """
from ufo import FactSource, Passage

class Mine(FactSource):
    def __init__(self, limit: int = 3, passages: int = 1, **more):
        self.limit, self.passages, self.more = limit, passages, more

    def find(self, unit):
        return [Passage(unit.claim)]

class Strict(FactSource):
    def __init__(self, limit: int):
        self.limit = limit + 0

not_a_class = 5
"""

Package = Callable[..., None]


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return str(path)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a distribution with entry points and a module on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins._declared.cache_clear()
    made = []

    def make(name: str, entry_points: str, code: str | None = None) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{SOURCES.group}]\n{entry_points}\n")
        if code is not None:
            (tmp_path / f"{name}_module.py").write_text(code)
            made.append(f"{name}_module")

    yield make
    plugins._declared.cache_clear()
    # No others: an extension in C that is imported a second time may end the process.
    for module in made:
        sys.modules.pop(module, None)


def test_the_built_in_sources_are_declared_like_anybody_s() -> None:
    assert {"reference", "wikipedia"} <= set(SOURCES.types())
    assert SOURCES.package_of("reference") == "ufo-factuality"
    assert SOURCES.load("reference") is ReferenceSource


def test_an_unknown_name_is_answered_with_the_nearest_and_that_a_file_will_do() -> None:
    with pytest.raises(UsageError) as raised:
        SOURCES.load("referense")
    assert "Did you mean 'reference'?" in raised.value.message
    assert "path/to/file.py:Class" in raised.value.message


def test_a_third_party_s_package_is_found_by_its_entry_point(package: Package) -> None:
    package("acme", "acme = acme_module:Mine", SOURCE)
    assert "acme" in SOURCES.types()
    assert SOURCES.package_of("acme") == "acme"
    assert make_source(SourceSpec("a", "acme", {"limit": 5})).limit == 5  # type: ignore[attr-defined]


def test_two_packages_that_declare_one_name_are_both_named(package: Package) -> None:
    package("acme", "same = acme_module:Mine")
    package("brand", "same = brand_module:Mine")
    with pytest.raises(PluginError) as raised:
        SOURCES.types()
    assert "'acme'" in raised.value.message
    assert "'brand'" in raised.value.message


@pytest.mark.parametrize(
    ("entry", "code", "message"),
    [
        ("acme_module:Mine", "import a_module_that_is_not_there", "a_module_that_is_not_there"),
        ("acme_module:Mine", "class Other: ...", "Mine"),
        ("acme_module:Mine", "class Mine: ...", "subclass of ufo.FactSource"),
        ("acme_module:Mine", "this is no Python", "SyntaxError"),
        ("acme_module:Mine", "1 / 0", "ZeroDivisionError"),
        ("nowhere_module:Mine", None, "nowhere_module"),
    ],
)
def test_a_plug_in_that_does_not_load_names_its_package(
    package: Package, entry: str, code: str | None, message: str
) -> None:
    package("acme", f"broken = {entry}", code)
    # Listing the names loads nothing.
    assert "broken" in SOURCES.types()
    with pytest.raises(PluginError) as raised:
        SOURCES.load("broken")
    assert "'acme'" in raised.value.message
    assert message in raised.value.message


def test_a_file_of_the_user_s_is_a_source(mine: str) -> None:
    kind = SOURCES.load(f"{mine}:Mine")
    assert issubclass(kind, FactSource)
    assert SOURCES.load(f"{mine}:Mine") is kind


@pytest.mark.parametrize(
    ("content", "name", "error", "message"),
    [
        (None, "Mine", UsageError, "no file"),
        (SOURCE, "Yours", UsageError, "no class 'Yours'"),
        (SOURCE, "not_a_class", PluginError, "subclass of ufo.FactSource"),
        ("1 / 0", "Mine", PluginError, "does not load: ZeroDivisionError"),
        ("from ufo import Nothing", "Mine", PluginError, "does not load: ImportError"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, content: str | None, name: str, error: type[UsageError], message: str
) -> None:
    path = tmp_path / "source.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(error) as raised:
        SOURCES.load(f"{path}:{name}")
    assert message in raised.value.message
    assert str(path) in raised.value.message


def test_a_file_that_was_mended_loads(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text("1 / 0")
    with pytest.raises(PluginError):
        SOURCES.load(f"{path}:Mine")
    path.write_text(SOURCE)
    assert SOURCES.load(f"{path}:Mine").__name__ == "Mine"


def test_an_option_beats_the_flag_of_its_name_and_a_flag_it_does_not_take_is_left_out(
    mine: str,
) -> None:
    flags = {"passages": 7, "index": "/i"}
    by_flag: Any = make_source(SourceSpec("m", f"{mine}:Strict", {"limit": 1}), flags)
    assert (by_flag.limit, by_flag.name) == (1, "m")
    plain: Any = make_source(SourceSpec("m", "reference"), flags)
    assert plain.passages == 7
    set_: Any = make_source(SourceSpec("m", "reference", {"passages": 2}), flags)
    assert set_.passages == 2


def test_an_option_that_the_constructor_does_not_take_is_answered_with_the_nearest(
    mine: str,
) -> None:
    with pytest.raises(UsageError) as raised:
        make_source(SourceSpec("refs", "reference", {"pasages": 2}))
    assert "'refs'" in raised.value.message
    assert "Did you mean 'passages'?" in raised.value.message
    anything: Any = make_source(SourceSpec("m", f"{mine}:Mine", {"colour": "red"}))
    assert anything.more == {"colour": "red"}


@pytest.mark.parametrize("options", [{}, {"limit": "many"}])
def test_a_constructor_that_fails_names_the_source(mine: str, options: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match=r"'strict'.*cannot be made.*TypeError"):
        make_source(SourceSpec("strict", f"{mine}:Strict", options))


def test_an_object_is_used_as_it_is_under_the_name_of_its_spec() -> None:
    source = ReferenceSource(2)
    assert make_source(SourceSpec("mine", "any", instance=source), {"passages": 9}) is source
    assert (source.name, source.passages) == ("mine", 2)
