import pytest

from transforms.judges.offline import worthiness
from transforms.judges.offline.worthiness import no_claim_reason


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (worthiness.QUESTION, "Is Oslo in Norway?"),
        (worthiness.QUESTION, '"Is Oslo in Norway?"'),
        (worthiness.QUESTION, "奥斯陆在挪威吗？"),
        (worthiness.GREETING, "Hello there, nice to meet you."),
        (worthiness.GREETING, "Sure!"),
        (worthiness.GREETING, "You're welcome!"),
        (worthiness.FIRST_PERSON, "I'm sorry, but as an AI language model I cannot browse."),
        (worthiness.FIRST_PERSON, "As an AI language model, I do not have opinions."),
        (worthiness.FIRST_PERSON, "I hope this helps!"),
        (worthiness.ANNOUNCEMENT, "Sure, here is a biography:"),
        (worthiness.FIRST_PERSON, "Let me know if you have any other questions."),
        (worthiness.ANNOUNCEMENT, "Here are some facts about the Danube."),
        (worthiness.FIRST_PERSON, "The information provided above may be old."),
        (worthiness.ANNOUNCEMENT, "The following are some facts about the Danube."),
        (worthiness.ANNOUNCEMENT, "In this article, the Danube is described."),
        (worthiness.OPINION, "In my opinion, jazz is better."),
        (worthiness.OPINION, "It is one of the most beautiful cities in the world."),
        (worthiness.OPINION, "It is important to wear gloves."),
        (worthiness.HEDGE, "It depends on the context."),
        (worthiness.HEDGE, "It is difficult to say how many there are."),
        (worthiness.INSTRUCTION, "Open the door."),
        (worthiness.INSTRUCTION, "See https://example.org/oslo for more."),
        (worthiness.INSTRUCTION, "3. Compare the quotes of each painter."),
        (worthiness.INSTRUCTION, "Finally, evaluate the accuracy of the model."),
        (worthiness.INSTRUCTION, "You should see a doctor."),
        (worthiness.HEADING, "# Early life"),
        (worthiness.HEADING, "Early life:"),
        (worthiness.HEADING, "Some things to know about Oslo:"),
        (worthiness.FIRST_PERSON, "Her work moves me deeply."),
        (worthiness.INSTRUCTION, "You might try the opera next."),
        (worthiness.OPINION, "Taste in music is personal."),
        (worthiness.OPINION, "Beauty is a matter of taste."),
        (worthiness.OPINION, "The city is loveliest in winter."),
        (worthiness.FRAGMENT, "**Early life**"),
        (worthiness.FRAGMENT, "- Marie Curie"),
        (worthiness.FRAGMENT, "First name"),
        (worthiness.CODE, "```py\nx = 1\n```"),
        (worthiness.TABLE, "| a | b |"),
        (worthiness.EMPTY, "12. 345"),
        (worthiness.EMPTY, "---"),
        (worthiness.EMPTY, ""),
    ],
)
def test_no_claim(reason: str, sentence: str) -> None:
    assert no_claim_reason(sentence) == reason


@pytest.mark.parametrize(
    "sentence",
    [
        "Shakespeare is believed to have been born in 1564.",
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
    assert no_claim_reason(sentence) is None
