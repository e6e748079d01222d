"""What a fact source is to implement, and how one is found, made and named."""

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.transforms.scripted import opened
from ufo import FactSource, Passage, Retrieved
from ufo.schemas import errors
from ufo.schemas.errors import NotYetAnswered, PluginError
from ufo.schemas.records import FactUnit, passage_id
from ufo.transforms import plugins
from ufo.transforms.llm.client_settings import CallSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.sources.fact_source import (
    SOURCES,
    Found,
    SourceContext,
    SourceSpec,
    make_source,
)
from ufo.transforms.sources.reference import ReferenceSource


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


def ask(source: FactSource, *claims: str) -> list[Found]:
    return asyncio.run(source.look_up(opened(claims)))


@pytest.mark.parametrize("kind", [Plain, Waiting])
def test_one_method_is_a_source_plain_or_async(kind: type[FactSource]) -> None:
    good, bad = ask(kind(), "Etna", "bad")
    (hit,) = good.passages
    assert hit.score is None
    assert hit.passage == Passage(
        "about Etna",
        url="https://example.org/page",
        hostname="example.org",
        source_category="other",
        source=kind.name,
        passage_id=passage_id(kind.name, "https://example.org/page", "about Etna"),
    )
    assert bad.passages == ()
    assert bad.outcome == "error"
    assert bad.reason == "exception"
    assert bad.error_type == "LookupError"
    assert bad.message == f"error in source {kind.name}: LookupError: not today"
    assert kind().unavailable() is None
    assert kind().fingerprint() == ""


def found_of(passages: Any) -> Found:
    source = Plain()
    source.name = "fixed"
    source.find = lambda unit: passages  # type: ignore[method-assign]
    (answer,) = ask(source, "x")
    return answer


def ids(*passages: Passage) -> list[str | None]:
    return [hit.passage.passage_id for hit in found_of(passages).passages]


def test_scores_are_kept_and_nothing_found_is_noans() -> None:
    answer = found_of([Retrieved(Passage("a"), 2.5), Passage("b")])
    assert [(hit.passage.text, hit.score) for hit in answer.passages] == [("a", 2.5), ("b", None)]
    for nothing in (found_of([]), found_of(None)):
        assert (*nothing.passages, nothing.outcome, nothing.reason) == ("noans", "no_passages")
        assert nothing.error_type == ""
    (answer,) = ask(FactSource(), "x")
    assert "FactSource implements neither find nor look_up" in answer.message


def test_all_units_are_asked_in_the_round_of_one_that_waits() -> None:
    source, asked = Plain(), list[str]()

    def find(unit: FactUnit) -> Iterable[Passage]:
        asked.append(unit.claim)
        raise NotYetAnswered("later") if unit.claim == "a" else LookupError("gone")

    source.find = find  # type: ignore[method-assign]
    with pytest.raises(NotYetAnswered):
        ask(source, "a", "b")
    assert asked == ["a", "b"]


def test_processes_divide_the_limits_of_a_run() -> None:
    models = ClientSettings({})
    among = SourceContext(models=models).among(3)
    assert among == SourceContext(CallSettings(workers=3), replace(models, workers=3), False)
    assert SourceContext().among(3).models is None


def test_a_context_goes_elsewhere_with_explicit_addresses() -> None:
    models = ClientSettings({"verifier": Endpoint("m")})
    assert SourceContext(models=models).elsewhere().models == models.elsewhere() != models
    assert SourceContext(judge_asks=True).elsewhere() == SourceContext(judge_asks=True)


TOLD = """from ufo import FactSource
class KeepsContext(FactSource):
    def __init__(self, context): self.context = context
"""


@pytest.mark.parametrize("context", [None, SourceContext(judge_asks=True)], ids=["none", "its own"])
def test_a_source_gets_the_context_of_its_run_or_an_empty_one(
    tmp_path: Path, context: SourceContext | None
) -> None:
    (tmp_path / "told.py").write_text(TOLD)
    source: Any = make_source(
        SourceSpec("m", f"{tmp_path / 'told.py'}:KeepsContext"), context=context
    )
    assert source.context == (context or SourceContext())


def test_the_id_is_of_the_content_whatever_its_rank_and_repeats_are_distinguished() -> None:
    a, b, again = ids(Passage("a"), Passage("b"), Passage("a"))
    first, second, other = ids(Passage("b"), Passage("a"), Passage("a", url="u"))
    assert [first, second] == [b, a]
    assert again == passage_id("fixed", None, "a", 1)
    assert len({a, b, again, other}) == 4
    # An id of the plug-in's own is kept.
    assert ids(Passage("a", source="fixed", passage_id="fixed:7")) == ["fixed:7"]


HALF = "half a character \ud83d"
GARBAGE: list[dict[str, Any]] = [{"text": None}, {"text": b"bytes"}, {"text": HALF}]
GARBAGE += [{"text": "a", **more} for more in ({"title": 5}, {"url": 5}, {"section": HALF})]


@pytest.mark.parametrize("garbage", ["text", None, *(Passage(**one) for one in GARBAGE)], ids=ascii)
def test_what_no_table_could_hold_is_an_error_beside_the_others(garbage: Any) -> None:
    answer = found_of(iter([Passage("fine"), garbage, Passage("too")]))
    assert [hit.passage.text for hit in answer.passages] == ["fine", "too"]
    assert answer.outcome == "error"
    assert bool(answer.error_type)
    message = "error in source fixed: TypeError: a source must return ufo.Passage objects, not str"
    assert (answer.message == message) == (garbage == "text")


TABLES = yaml.safe_load(Path(__file__).with_name("plug_ins.yaml").read_text(encoding="utf-8"))
SOURCE: str = TABLES["source"]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a distribution with entry points and a module on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(name: str, entry_points: str, code: str | None = None) -> None:
        plugins._declared.cache_clear()
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{SOURCES.group}]\n{entry_points}\n")
        if code is not None:
            (tmp_path / f"{name}_module.py").write_text(code)

    yield make
    plugins._declared.cache_clear()
    # No others: an extension in C that is imported a second time may end the process.
    sys.modules.pop("acme_module", None)


def test_a_third_party_s_package_is_declared_like_the_built_in_sources(package: Any) -> None:
    assert {"reference", "wikipedia"} <= set(SOURCES.types())
    assert SOURCES.about("reference")["package"] == "ufo-factuality"
    assert SOURCES.load("reference") is ReferenceSource
    package("acme", "acme = acme_module:Mine\nsame = acme_module:Mine", SOURCE)
    assert "acme" in SOURCES.types()
    assert SOURCES.about("acme")["package"] == "acme"
    source: Any = make_source(SourceSpec("a", "acme", {"limit": 5}))
    assert source.limit == 5
    package("brand", "same = brand_module:Mine")
    with pytest.raises(PluginError, match=r"'acme'.*'brand'"):
        SOURCES.types()


@pytest.mark.parametrize(("code", "message"), TABLES["packages"].values(), ids=TABLES["packages"])
def test_a_broken_plug_in(package: Any, code: str | None, message: str) -> None:
    package("acme", "broken = acme_module:Mine", code)
    # Listing the names loads nothing.
    assert "broken" in SOURCES.types()
    with pytest.raises(PluginError, match=message) as raised:
        SOURCES.load("broken")
    assert "'acme'" in raised.value.message


@pytest.mark.parametrize(
    ("added", "name", "error", "message"), TABLES["files"].values(), ids=TABLES["files"]
)
def test_a_file_that_cannot_be_used_is_named_and_one_that_was_mended_loads(
    mine: Path, added: str, name: str, error: str, message: str
) -> None:
    mine.write_text(SOURCE + added)
    with pytest.raises(getattr(errors, error), match=message) as raised:
        SOURCES.load(f"{mine}:{name}")
    assert str(mine) in raised.value.message
    mine.write_text(SOURCE)
    kind = SOURCES.load(f"{mine}:Mine")
    assert issubclass(kind, FactSource)
    assert SOURCES.load(f"{mine}:Mine") is kind
    mine.unlink()
    with pytest.raises(errors.UsageError, match="no file"):
        SOURCES.load(f"{mine}:{name}")


def test_an_option_beats_the_flag_of_its_name(mine: Path) -> None:
    flags = {"passages": 7, "index": "/i"}
    by_flag: Any = make_source(SourceSpec("m", f"{mine}:Strict", {"limit": 1}), flags)
    assert by_flag.limit == 1
    assert by_flag.name == "m"
    for options, passages in (({}, 7), ({"passages": 2}, 2)):
        reference: Any = make_source(SourceSpec("m", "reference", options), flags)
        assert reference.passages == passages
    anything: Any = make_source(SourceSpec("m", f"{mine}:Mine", {"colour": "red"}))
    assert anything.more == {"colour": "red"}
    # An object is used as it is, under the name of its spec.
    source = ReferenceSource(2)
    assert make_source(SourceSpec("mine", "any", instance=source), {"passages": 9}) is source
    assert source.name == "mine"
    assert source.passages == 2


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"), TABLES["specs"].values(), ids=TABLES["specs"]
)
def test_what_cannot_be_made_names_the_source_and_the_nearest(
    mine: Path, kind: str, options: dict[str, Any], error: str, message: str
) -> None:
    with pytest.raises(getattr(errors, error), match=message):
        make_source(SourceSpec("its", kind.replace("@", str(mine)), options))
