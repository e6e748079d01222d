"""Cut a long text into parts for extraction: at paragraphs, then at sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from transforms.judges.llm.context import cut, excerpt, paragraph_breaks
from transforms.judges.llm.packing import tokens_of
from transforms.prompts.data import element, wrapped
from transforms.sentences import Span

_TAGS = 6  # tokens of a sentence's tags
_OPENING = 100  # tokens of the text's first sentence, which tends to say what all of it is about
_BEFORE = 3  # sentences before a part
_AROUND = 300  # tokens of them


@dataclass(slots=True)
class Part:
    """Sentences to extract from, as (number, text), and what they need to be understood.

    A sentence that is longer than a part stands in several, in slices.
    """

    sentences: list[tuple[int, str]] = field(default_factory=list)
    context: str = ""
    tokens: int = 0

    @property
    def size(self) -> int:
        """About how many tokens its sentences are."""
        return sum(tokens_of(sentence) + _TAGS for _, sentence in self.sentences)

    @property
    def numbers(self) -> list[int]:
        """The numbers of its sentences."""
        return [number for number, _ in self.sentences]


def parts_of(text: str, spans: Sequence[Span], tokens: int) -> list[Part]:
    """Return the sentences of a text in parts of about `tokens` tokens, in order."""
    parts: list[Part] = []
    for group in _paragraphs(text, spans):
        pieces = [
            (at, piece) for at in group for piece in slices(_sentence(text, spans, at), tokens)
        ]
        whole = sum(tokens_of(piece) + _TAGS for _, piece in pieces)
        # A paragraph that does not fit into what is left, but into a part, begins one.
        if not parts or (parts[-1].tokens + whole > tokens >= whole):
            parts.append(Part())
        for number, piece in pieces:
            cost = tokens_of(piece) + _TAGS
            if parts[-1].sentences and parts[-1].tokens + cost > tokens:
                parts.append(Part())
            parts[-1].sentences.append((number, piece))
            parts[-1].tokens += cost
    for part in parts[1:]:
        part.context = _before(text, spans, part.numbers[0], tokens)
    return parts


def _before(text: str, spans: Sequence[Span], first: int, tokens: int) -> str:
    """Return the text's opening and the sentences before a part of up to `tokens` tokens."""
    opening = cut(_sentence(text, spans, 0), min(_OPENING, tokens // 4))
    near = range(max(1, first - _BEFORE), first)
    before = excerpt(text, spans, near)
    size, most = tokens_of(before), min(_AROUND, tokens // 2)
    if size > most:
        before = before[-(len(before) * most // size) :]
    return "\n[…]\n".join(filter(None, (opening, before)))


def around(
    text: str, spans: Sequence[Span], numbers: Iterable[int], tokens: int = 2 * _AROUND
) -> str:
    """Return the neighbours of single sentences that are asked for once more, at most `tokens`."""
    near = {other for number in numbers for other in range(number - 2, number + 2)}
    found = excerpt(text, spans, near.intersection(range(len(spans))))
    return cut(found, min(tokens, 2 * _AROUND))


def rendered(text: str, spans: Sequence[Span], part: Part, language: str | None) -> str:
    """Return the sentences of a part as tagged data; a blank line where a paragraph begins."""
    breaks = paragraph_breaks(text, spans)
    lines: list[str] = []
    for number, sentence in part.sentences:
        if number in breaks and lines:
            lines.append("")
        lines.append(element(f"s{number + 1}", sentence))
    return wrapped("text", "\n" + "\n".join(lines) + "\n", language=language)


def _paragraphs(text: str, spans: Sequence[Span]) -> list[range]:
    edges = [0, *sorted(paragraph_breaks(text, spans)), len(spans)]
    return [range(first, last) for first, last in pairwise(edges)]


def _sentence(text: str, spans: Sequence[Span], index: int) -> str:
    return text[spans[index].start : spans[index].end]


def slices(text: str, tokens: int) -> list[str]:
    """Cut a text that is longer than `tokens` tokens, at white space where there is some."""
    size = tokens_of(text)
    if size <= tokens:
        return [text]
    width = max(1, len(text) * tokens // size)
    found = []
    start = 0
    while start < len(text):
        end = start + width
        if end < len(text):
            space = text.rfind(" ", start + width // 2, end)
            end = space + 1 if space > 0 else end
        found.append(text[start:end].strip())
        start = end
    return [piece for piece in found if piece]
