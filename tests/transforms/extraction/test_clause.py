"""TODO."""

import pytest

from ufo.transforms.extraction.clause import (
    asks_for_person,
    is_claim,
    opening_name,
    topic_of,
    wording,
)


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


@pytest.mark.parametrize(
    "sentence",
    [
        "Is Oslo in Norway?",
        '"Is Oslo in Norway?"',
        "奥斯陆在挪威吗？",
        "Hello there, nice to meet you.",
        "Sure!",
        "You're welcome!",
        "I'm sorry, but as an AI language model I cannot browse.",
        "As an AI language model, I do not have opinions.",
        "I hope this helps!",
        "Sure, here is a biography:",
        "Let me know if you have any other questions.",
        "Here are some facts about the Danube.",
        "The information provided above may be old.",
        "The following are some facts about the Danube.",
        "In this article, the Danube is described.",
        "In my opinion, jazz is better.",
        "It is one of the most beautiful cities in the world.",
        "It is important to wear gloves.",
        "It depends on the context.",
        "It is difficult to say how many there are.",
        "Ada Berg may have died in 1900.",
        "In 1900, Ada Berg could also have moved to Oslo.",
        "Ada Berg may or may not have been born in Oslo.",
        "Ada Berg might be a chemist.",
        "It is possible that Ada Berg died in 1900.",
        "It is possible that Ada Berg died in 1900, but this is a guess.",
        "There is a slight possibility that Ada Berg lives.",
        "Open the door.",
        "See https://example.org/oslo for more.",
        "3. Compare the quotes of each painter.",
        "Finally, evaluate the accuracy of the model.",
        "You should see a doctor.",
        "# Early life",
        "Early life:",
        "Some things to know about Oslo:",
        "Her work moves me deeply.",
        "You might try the opera next.",
        "Taste in music is personal.",
        "Beauty is a matter of taste.",
        "The city is loveliest in winter.",
        "**Early life**",
        "- Marie Curie",
        "```py\nx = 1\n```",
        "| a | b |",
        "12. 345",
        "---",
        "",
    ],
)
def test_no_claim(sentence: str) -> None:
    assert not is_claim(sentence, wording(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "Shakespeare is believed to have been born in 1564.",
        "Aspirin may cause bleeding.",
        "Lightning may strike twice.",
        "The salt may be used to melt ice.",
        "The salt might be used to melt ice.",
        "Members may have to pay 12 euros.",
        "The river may have an effect on the town.",
        "The bridge, which may have been built in 1900, joins Oslo and Holm.",
        "Ada Berg may have died in 1900, but her book was printed in 1910.",
        "It is possible that Ada died in 1900, but the town was founded in 1910.",
        "In May 1900 the town was sold.",
        "It is generally thought that the Milky Way forms one star a year.",
        "It is important to note that Paris is in France.",
        "As of my knowledge cutoff in 2021, the group has released four albums.",
        "Yes, Paris is the capital of France.",
        "Thanks to the treaty, the war ended in 1815.",
        "I Love Lucy was a sitcom.",
        "My Fair Lady is a musical.",
        "Great Britain is an island.",
        "First came the album.",
        "Then was the city of Oslo at its height.",
        "Good Friday is a holiday.",
        "Research shows that water boils at 100 °C.",
        "Use of steel has increased since 1900.",
        "Birds fly.",
        "E = mc2",
        'He wrote the song "Is It You?"',
        "There is no atmosphere on the Moon.",
        "It was the most beautiful of the 12 ships of Harald.",
        "If you mix an acid with a base, you get a salt.",
        "1. The Danube flows through ten countries.",
        'She sang "Fly Me to the Moon" and "It is me" in 1964.',
        "The data are personal property in 12 states:",
    ],
)
def test_a_claim(sentence: str) -> None:
    assert is_claim(sentence, wording(sentence))
