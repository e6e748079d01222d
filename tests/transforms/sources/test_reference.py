import asyncio
from dataclasses import replace

import pytest

from tests.transforms.scripted import opened
from ufo.transforms.sources.fact_source import Found
from ufo.transforms.sources.reference import ReferenceSource, windows


def ask(references: list[str], *claims: str, passages: int = 5) -> list[Found]:
    source = ReferenceSource(passages)
    source.name = "reference"
    return asyncio.run(source.look_up(replace(opened(claims), references=references)))


def texts(answer: Found) -> list[str]:
    return [hit.passage.text for hit in answer.passages]


def test_short_references_are_given_whole_and_without_any_there_is_a_reason() -> None:
    first, second = ask(["One.", "Two.", "One."], "a", "b")
    assert texts(first) == texts(second) == ["One.", "Two.", "One."]
    assert {(hit.score, hit.passage.source) for hit in first.passages} == {(None, "reference")}
    assert len({hit.passage.passage_id for hit in first.passages}) == 3
    for references in ([], ["", " \n"]):
        (answer,) = ask(references, "a")
        assert answer.outcome == "noans"
        assert answer.reason == "no_references"
        assert answer.passages == ()


def test_a_long_reference_is_cut_at_sentence_ends_and_the_best_parts_are_used() -> None:
    text = " ".join(f"Sentence {n} has exactly nine words in it all." for n in range(20))
    (answer,) = ask([text], "a")
    assert " ".join(texts(answer)) == text
    assert [len(part.split()) <= 100 and part[-4:] for part in texts(answer)] == ["all."] * 2
    topics = ["Etna erupts lava.", "Oslo lies north.", "Bees make honey.", "Gold melts hot."]
    etna, honey = ask(topics, "Etna has lava", "honey of bees", passages=2)
    assert texts(etna)[0] == topics[0]
    assert texts(honey)[0] == topics[2]
    first, second = (hit.score or 0.0 for hit in etna.passages)
    assert first > second


def test_a_long_reference_without_spaces_is_cut_and_the_part_that_answers_is_used() -> None:
    tower = "東京タワーの高さは333メートルである。"
    whole = "京都は古い都である。" * 30 + tower + "大阪は大きい。" * 30
    (answer,) = ask([whole], "東京タワーは333メートル", passages=1)
    (text,) = texts(answer)
    assert tower in text
    assert len(text) < 300


TOPICS = ["Etna erupts lava.", "Oslo lies north.", "Bees make honey."]


@pytest.mark.parametrize(("passages", "ranked"), [(3, False), (2, True)])
def test_only_more_passages_than_are_wanted_are_ranked(passages: int, ranked: bool) -> None:
    (answer,) = ask(TOPICS, "Bees make honey", passages=passages)
    assert len(answer.passages) == passages
    assert (answer.passages[0].score is not None) is ranked


@pytest.mark.parametrize(("claim", "query"), [("bees", "?"), ("?", "bees")])
def test_passages_are_ranked_by_claim_and_query(claim: str, query: str) -> None:
    units = opened([claim])
    asked = replace(units, units=[replace(units.units[0], query=query)], references=TOPICS)
    (answer,) = asyncio.run(ReferenceSource(1).look_up(asked))
    assert texts(answer) == ["Bees make honey."]


@pytest.mark.parametrize(
    ("sentences", "sizes"),
    [
        pytest.param([5], [5], id="a sentence as long as a text that stays whole"),
        pytest.param([4, 1], [5], id="a text that stays whole"),
        pytest.param([3, 1, 2], [4, 2], id="a window is full"),
        pytest.param([3, 2, 1], [3, 3], id="a sentence that would be too much"),
        pytest.param([9, 1], [9, 1], id="a sentence longer than a window"),
    ],
)
def test_a_long_text_is_cut_at_sentence_ends(sentences: list[int], sizes: list[int]) -> None:
    text = " ".join(" ".join(["Word", *["word"] * (size - 1)]) + "." for size in sentences)
    parts = windows(text, whole=5, words=4)
    assert [len(window.split()) for window in parts] == sizes
    assert " ".join(parts) == text
