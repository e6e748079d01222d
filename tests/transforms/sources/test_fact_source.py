"""What a fact source is to implement, and how one is found, made and named."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ufo.schemas.errors import PluginError, UsageError
from ufo.schemas.records import (
    ERROR,
    NO_PASSAGES,
    NOANS,
    TRANSPORT,
    FactUnit,
    OpenUnits,
    Passage,
    passage_id,
)
from ufo.transforms import plugins
from ufo.transforms.sources.fact_source import (
    SOURCES,
    FactSource,
    Found,
    Retrieved,
    SourceSpec,
    make_source,
)
from ufo.transforms.sources.reference import ReferenceSource

Opened = Callable[..., OpenUnits]


class Plain(FactSource):
    name = "plain"

    def find(self, unit: FactUnit) -> Iterable[Passage]:
        if unit.claim == "bad":
            raise LookupError("not today")
        return [Passage(f"about {unit.claim}", url="https://example.org/page")]


class Waiting(FactSource):
    name = "waiting"

    async def find(self, unit: FactUnit) -> Iterable[Passage]:
        await asyncio.sleep(0)
        return Plain().find(unit)


class Below(Waiting):
    pass


class BackToPlain(Waiting):
    def find(self, unit: FactUnit) -> Iterable[Passage]:  # type: ignore[override]
        return []


class SaysSo(Plain):
    remote = True

    def find(self, unit: FactUnit) -> Iterable[Passage]:
        return []


def ask(source: FactSource, open_units: OpenUnits) -> list[Found]:
    return asyncio.run(source.look_up(open_units))


@pytest.mark.parametrize("kind", [Plain, Waiting])
def test_one_method_is_a_source_plain_or_async(kind: type[FactSource], opened: Opened) -> None:
    source = kind()
    good, bad = ask(source, opened(["Etna", "bad"]))
    (hit,) = good.passages
    assert hit.score is None
    assert hit.passage == Passage(
        "about Etna",
        url="https://example.org/page",
        hostname="example.org",
        source_category="other",
        source=source.name,
        passage_id=passage_id(source.name, "https://example.org/page", "about Etna"),
    )
    assert (bad.passages, bad.outcome, bad.reason) == ((), ERROR, TRANSPORT)
    assert (bad.error_type, bad.message) == ("LookupError", "not today")


def test_who_waits_for_something_is_distinguished_from_who_does_not() -> None:
    remote = [kind.remote for kind in (FactSource, Plain, Waiting, Below, BackToPlain, SaysSo)]
    assert remote == [False, False, True, True, False, True]


def _answers(*passages: Any) -> FactSource:
    class Fixed(FactSource):
        name = "fixed"

        def find(self, unit: FactUnit) -> Iterator[Any]:
            yield from passages

    return Fixed()


def test_scores_are_kept_and_nothing_found_is_noans(opened: Opened) -> None:
    (found,) = ask(_answers(Retrieved(Passage("a"), 2.5), Passage("b")), opened("x"))
    assert [(hit.passage.text, hit.score) for hit in found.passages] == [("a", 2.5), ("b", None)]
    (nothing,) = ask(_answers(), opened("x"))
    assert (nothing.outcome, nothing.reason, nothing.error_type) == (NOANS, NO_PASSAGES, "")


def test_the_id_is_of_the_content_whatever_its_rank_and_repeats_are_distinguished(
    opened: Opened,
) -> None:
    (first,) = ask(_answers(Passage("a"), Passage("b"), Passage("a")), opened("x"))
    (second,) = ask(_answers(Passage("b"), Passage("a"), Passage("a", url="u")), opened("x"))
    a, b, again = [hit.passage.passage_id for hit in first.passages]
    assert [hit.passage.passage_id for hit in second.passages][:2] == [b, a]
    assert len({a, b, again, second.passages[2].passage.passage_id}) == 4
    assert again == passage_id("fixed", None, "a", 1)


def test_an_id_of_the_plug_in_s_own_is_kept(opened: Opened) -> None:
    (found,) = ask(_answers(Passage("a", source="fixed", passage_id="fixed:7")), opened("x"))
    assert found.passages[0].passage.passage_id == "fixed:7"


@pytest.mark.parametrize(
    "garbage",
    [
        "text",
        None,
        Passage(None),  # type: ignore[arg-type]
        Passage(b"bytes"),  # type: ignore[arg-type]
        Passage("a", title=5),  # type: ignore[arg-type]
        Passage("a", url=5),  # type: ignore[arg-type]
        Passage("half a character \ud83d"),
        Passage("a", section="\ud83d"),
    ],
    ids=repr,
)
def test_what_no_table_could_hold_is_an_error_beside_the_others(
    garbage: Any, opened: Opened
) -> None:
    (found,) = ask(_answers(Passage("fine"), garbage, Passage("too")), opened("x"))
    assert [hit.passage.text for hit in found.passages] == ["fine", "too"]
    assert found.outcome == ERROR
    assert found.error_type


def test_what_is_no_passage_is_named(opened: Opened) -> None:
    (found,) = ask(_answers("text"), opened("x"))
    assert found.message == "a source must return ufo.Passage objects, not str"


def test_a_find_that_returns_none_has_found_nothing(opened: Opened) -> None:
    class Silent(FactSource):
        def find(self, unit: FactUnit) -> Any:
            return None

    (found,) = ask(Silent(), opened("x"))
    assert (list(found.passages), found.outcome, found.reason) == ([], NOANS, NO_PASSAGES)


def test_a_source_without_find_says_so(opened: Opened) -> None:
    class Empty(FactSource):
        pass

    (found,) = ask(Empty(), opened("x"))
    assert "Empty implements neither find nor look_up" in found.message


def test_a_source_can_serve_unless_it_says_why_not() -> None:
    assert Plain().unavailable() is None
    assert Plain().fingerprint() == ""


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
    assert SOURCES.about("reference")["package"] == "ufo-factuality"
    assert SOURCES.load("reference") is ReferenceSource


def test_an_unknown_name_is_answered_with_the_nearest_and_that_a_file_will_do() -> None:
    with pytest.raises(UsageError) as raised:
        SOURCES.load("referense")
    assert "Did you mean 'reference'?" in raised.value.message
    assert "path/to/file.py:Class" in raised.value.message


def test_a_third_party_s_package_is_found_by_its_entry_point(package: Package) -> None:
    package("acme", "acme = acme_module:Mine", SOURCE)
    assert "acme" in SOURCES.types()
    assert SOURCES.about("acme")["package"] == "acme"
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
