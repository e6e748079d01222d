"""Split sections into passages of about 100 words, at sentence ends."""

import re
from collections.abc import Sequence

import sentencex

WORDS = 100

# A longer "sentence" is a list without full stops, or a script without spaces: cut by length.
_LONG_WORDS = 150
_LONG_CHARACTERS = 2_000
_PIECE = re.compile(r"\S{1,500}")


def passages_of(lines: Sequence[str], language: str = "en", words: int = WORDS) -> list[str]:
    """Return the passages of one section, given its paragraphs and list items.

    Their number is the section's words divided by `words`, rounded, and they have about equal
    lengths. Sentences of one line are joined by a space, lines by a line feed; no text is lost or
    repeated.
    """
    if _is_one(lines, words):
        whole = "\n".join(line for line in map(str.strip, lines) if line)
        return [whole] if whole else []
    sentences = [
        (piece, len(piece.split()), number)
        for number, line in enumerate(lines)
        for sentence in sentencex.segment(language, line)
        for piece in _cut(sentence.strip(), words)
    ]
    total = sum(n_words for _, n_words, _ in sentences)
    target = total / max(1, round(total / words))
    passages: list[str] = []
    current, position, last_line = -1, 0, -1
    size = 0
    for sentence, n_words, line in sentences:
        # A sentence belongs to the passage that contains its middle.
        number = int((position + n_words / 2) / target)
        position += n_words
        if number != current or size > _LONG_CHARACTERS:
            passages.append(sentence)
            current, size = number, 0
        else:
            passages[-1] += (" " if line == last_line else "\n") + sentence
        size += len(sentence)
        last_line = line
    return passages


def _is_one(lines: Sequence[str], words: int) -> bool:
    """Return whether a section is one passage, so that it need not be segmented."""
    if sum(map(len, lines)) > _LONG_CHARACTERS:
        return False
    return round(sum(len(line.split()) for line in lines) / words) <= 1


def _cut(sentence: str, words: int) -> list[str]:
    if not sentence:
        return []
    if sentence.count(" ") < _LONG_WORDS and len(sentence) < _LONG_CHARACTERS:
        return [sentence]
    parts: list[list[str]] = [[]]
    size = 0
    for piece in _PIECE.findall(sentence):
        if len(parts[-1]) == words or size + len(piece) > _LONG_CHARACTERS:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += len(piece) + 1
    return [" ".join(part) for part in parts if part]
