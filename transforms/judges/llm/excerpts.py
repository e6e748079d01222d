"""Cut up a response: the text around a claim, and parts of a long text to extract from.

What stands around a claim says what it means. A long text is cut at paragraphs, then at sentences.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from schemas.records import OpenUnits
from transforms.judges.llm.packing import tokens_of
from transforms.prompts.data import element, wrapped
from transforms.sentences import Span

GAP = "[…]"
_MAX_TOKENS = 1500
_TAGS = 6  # tokens of a sentence's tags
_OPENING = 100  # tokens of the text's first sentence, which tends to say what all of it is about
_BEFORE = 3  # sentences before a part
_AROUND = 300  # tokens of them


def spans_of(open_units: OpenUnits) -> list[Span]:
    """Return the sentences of the response, as they move between stages, as spans."""
    offsets = open_units.sentence_spans
    return [Span(start, end) for start, end in zip(offsets[::2], offsets[1::2], strict=True)]


def paragraph_breaks(text: str, spans: Sequence[Span]) -> set[int]:
    """Return the sentences before which the text has a blank line."""
    return {
        index
        for index, (before, after) in enumerate(pairwise(spans), 1)
        if text[before.end : after.start].replace("\r\n", "\n").count("\n") > 1
    }


def excerpt(text: str, spans: Sequence[Span], indexes: Iterable[int]) -> str:
    """Return these sentences as they stand in the text, `[…]` where others are left out."""
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
    """Return these sentences with their neighbours, without them where that is too long."""
    own = {index for index in indexes if index is not None and index < len(spans)}
    near = {other for index in own for other in range(index - 1, index + 2)}
    found = excerpt(text, spans, near.intersection(range(len(spans))))
    if tokens_of(found) > tokens:
        found = excerpt(text, spans, own)
    return cut(found, tokens)


def paragraph(text: str, spans: Sequence[Span], index: int | None) -> str:
    """Return the paragraph that a sentence stands in; only its neighbours where it is long."""
    if index is None or index >= len(spans):
        return ""
    breaks = paragraph_breaks(text, spans)
    first = max((at for at in breaks if at <= index), default=0)
    last = min((at for at in breaks if at > index), default=len(spans))
    whole = text[spans[first].start : spans[last - 1].end]
    return whole if tokens_of(whole) <= _MAX_TOKENS else surroundings(text, spans, [index])


def cut(text: str, tokens: int) -> str:
    """Return the text, or as much of its beginning as about `tokens` tokens are."""
    size = tokens_of(text)
    return text if size <= tokens else text[: len(text) * tokens // size] + GAP


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
    return f"\n{GAP}\n".join(filter(None, (opening, before)))


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
