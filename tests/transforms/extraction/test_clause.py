import pytest

from ufo.transforms.extraction.clause import asks_for_person, opening_name, topic_of


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Tell me a bio of Ada Berg.", "Ada Berg"),
        ("Question: Tell me about the Holm Tower", "Holm Tower"),
        ("When was Ada Berg born?", "Ada Berg"),
        ("Ada Berg", "Ada Berg"),
        ("What is the capital of France?", ""),
        ("Did Holm meet Dahl?", ""),
        ("Where do whales live?", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_topic_of(question: str | None, topic: str) -> None:
    assert topic_of(question) == topic


def test_asks_for_person() -> None:
    assert asks_for_person("Tell me a bio of Zeno.")
    assert not asks_for_person("Where is Oslo?")


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Ada Berg was a chemist.", "Ada Berg"),
        ("The Holm Tower, a monument, is tall.", "The Holm Tower"),
        ("Ada Berg (born 1950) is a chemist.", "Ada Berg"),
        ("Berg was a chemist.", ""),
        ("In Oslo, Ada Berg was known.", ""),
        ("Then Ada Berg was known.", ""),
        ("First Lady Ada Berg was known.", ""),
        ("Ada Berg", ""),
        ("The city is old.", ""),
    ],
)
def test_opening_name(sentence: str, name: str) -> None:
    assert opening_name(sentence.split()) == name
