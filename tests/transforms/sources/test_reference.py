import asyncio
from collections.abc import Callable
from dataclasses import replace

from ufo.schemas.records import NO_REFERENCES, NOANS, OpenUnits
from ufo.transforms.sources.fact_source import Found
from ufo.transforms.sources.reference import ReferenceSource

Opened = Callable[..., OpenUnits]


def ask(open_units: OpenUnits, references: list[str], passages: int = 5) -> list[Found]:
    source = ReferenceSource(passages)
    source.name = "reference"
    return asyncio.run(source.look_up(replace(open_units, references=references)))


def texts(found: Found) -> list[str]:
    return [hit.passage.text for hit in found.passages]


def test_without_references_there_is_no_answer_and_a_reason(opened: Opened) -> None:
    for references in ([], ["", " \n"]):
        found = ask(opened("ab"), references)
        assert [(f.outcome, f.reason, f.passages) for f in found] == [
            (NOANS, NO_REFERENCES, ())
        ] * 2


def test_short_references_are_given_whole_in_their_order(opened: Opened) -> None:
    first, second = ask(opened("ab"), ["One.", "Two."])
    assert texts(first) == texts(second) == ["One.", "Two."]
    assert [hit.score for hit in first.passages] == [None, None]
    assert len({hit.passage.passage_id for hit in first.passages}) == 2
    assert all(hit.passage.source == "reference" for hit in first.passages)


def test_equal_references_are_two_passages(opened: Opened) -> None:
    (found,) = ask(opened("a"), ["One.", "One."])
    assert len({hit.passage.passage_id for hit in found.passages}) == 2


def test_a_long_reference_is_cut_at_sentence_ends(opened: Opened) -> None:
    sentences = [f"Sentence {n} has exactly nine words in it all." for n in range(20)]
    (found,) = ask(opened("a"), [" ".join(sentences)])
    cut = texts(found)
    assert " ".join(cut) == " ".join(sentences)
    assert len(cut) == 2
    assert all(len(text.split()) <= 100 and text.endswith("all.") for text in cut)


def test_of_many_passages_the_best_for_each_unit_are_used(opened: Opened) -> None:
    topics = ["Etna erupts lava.", "Oslo lies north.", "Bees make honey.", "Gold melts hot."]
    units = opened(["Etna has lava", "honey of bees"])
    etna, honey = ask(units, topics, passages=2)
    assert texts(etna)[0] == topics[0]
    assert texts(honey)[0] == topics[2]
    assert len(etna.passages) == 2
    first, second = (hit.score or 0.0 for hit in etna.passages)
    assert first > second
