import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

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
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved

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
