"""Cut excerpts from a response: the context of a claim, and the parts of a long text.

The context resolves pronouns in a claim. A long text is extracted in parts, which are cut at
paragraphs, then at sentences.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ufo.schemas.records import OpenUnits
from ufo.transforms.judges.llm.packing import tokens_of
from ufo.transforms.prompts.data import element, wrapped
from ufo.transforms.sentences import Span

GAP = "[…]"
_MAX_TOKENS = 1500
_TAGS = 6  # tokens of a sentence's tags
_OPENING = 100  # tokens of the text's first sentence, which mostly names its subject
_BEFORE = 3  # sentences before a part
_AROUND = 300  # tokens of the sentences before a part


def spans_of(open_units: OpenUnits) -> list[Span]:
    """Return the spans of the response's sentences."""
    offsets = open_units.sentence_spans
    return [Span(start, end) for start, end in zip(offsets[::2], offsets[1::2], strict=True)]


def paragraph_breaks(text: str, spans: Sequence[Span]) -> set[int]:
    """Return the indexes of the sentences that follow a blank line."""
    return {
        index
        for index, (before, after) in enumerate(pairwise(spans), 1)
        if text[before.end : after.start].replace("\r\n", "\n").count("\n") > 1
    }


def excerpt(text: str, spans: Sequence[Span], indexes: Iterable[int]) -> str:
    """Return the text of these sentences, with `[…]` where others are left out."""
    runs: list[list[int]] = []
    for index in sorted(set(indexes)):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return f"\n{GAP}\n".join(text[spans[run[0]].start : spans[run[-1]].end] for run in runs)


def surroundings(
    text: str, spans: Sequence[Span], indexes: Iterable[int | None], tokens: int = _MAX_TOKENS
) -> str:
    """Return these sentences with one neighbour on each side, or without where that is too long."""
    own = {index for index in indexes if index is not None and index < len(spans)}
    near = {other for index in own for other in range(index - 1, index + 2)}
    result = excerpt(text, spans, near.intersection(range(len(spans))))
    if tokens_of(result) > tokens:
        result = excerpt(text, spans, own)
    return cut(result, tokens)


def paragraph(text: str, spans: Sequence[Span], index: int | None) -> str:
    """Return the paragraph of a sentence; only its neighbours where the paragraph is long."""
    if index is None or index >= len(spans):
        return ""
    breaks = paragraph_breaks(text, spans)
    first = max((at for at in breaks if at <= index), default=0)
    last = min((at for at in breaks if at > index), default=len(spans))
    whole = text[spans[first].start : spans[last - 1].end]
    return whole if tokens_of(whole) <= _MAX_TOKENS else surroundings(text, spans, [index])


def cut(text: str, tokens: int) -> str:
    """Return the text cut to about `tokens` tokens, with `[…]` at the cut."""
    size = tokens_of(text)
    return text if size <= tokens else text[: len(text) * tokens // size] + GAP


@dataclass(slots=True)
class Part:
    """A part of a text to extract from: sentences as (index, text), and the context before them.

    A sentence that is longer than a part is cut into slices in several parts.
    """

    sentences: list[tuple[int, str]] = field(default_factory=list)
    context: str = ""
    tokens: int = 0

    @property
    def size(self) -> int:
        """An estimate of the tokens of the sentences."""
        return sum(tokens_of(sentence) + _TAGS for _, sentence in self.sentences)

    @property
    def numbers(self) -> list[int]:
        """The indexes of the sentences."""
        return [number for number, _ in self.sentences]


def parts_of(text: str, spans: Sequence[Span], tokens: int) -> list[Part]:
    """Cut a text into parts of about `tokens` tokens each."""
    parts: list[Part] = []
    for group in _paragraphs(text, spans):
        pieces = [
            (at, piece) for at in group for piece in slices(_sentence(text, spans, at), tokens)
        ]
        whole = sum(tokens_of(piece) + _TAGS for _, piece in pieces)
        # A paragraph begins a new part if it fits into a whole one but not into the rest of this.
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
    """Return the text's first sentence and those before a part of up to `tokens` tokens."""
    opening = cut(_sentence(text, spans, 0), min(_OPENING, tokens // 4))
    near = range(max(1, first - _BEFORE), first)
    before = excerpt(text, spans, near)
    size, most = tokens_of(before), min(_AROUND, tokens // 2)
    if size > most:
        before = before[-(len(before) * most // size) :]
    return f"\n{GAP}\n".join(filter(None, (opening, before)))


def around(
    text: str, spans: Sequence[Span], numbers: Iterable[int], tokens: int = 2 * _AROUND
) -> str:
    """Return the context of the sentences in a repair request, at most `tokens` tokens."""
    near = {other for number in numbers for other in range(number - 2, number + 2)}
    context = excerpt(text, spans, near.intersection(range(len(spans))))
    return cut(context, min(tokens, 2 * _AROUND))


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
    """Cut a text into slices of about `tokens` tokens, at white space where possible."""
    size = tokens_of(text)
    if size <= tokens:
        return [text]
    width = max(1, len(text) * tokens // size)
    pieces = []
    start = 0
    while start < len(text):
        end = start + width
        if end < len(text):
            space = text.rfind(" ", start + width // 2, end)
            end = space + 1 if space > 0 else end
        pieces.append(text[start:end].strip())
        start = end
    return [piece for piece in pieces if piece]
