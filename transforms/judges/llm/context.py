"""Cut out the text around a claim in its response, which says what the claim means."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from schemas.records import OpenUnits
from transforms.judges.llm.packing import tokens_of
from transforms.sentences import Span

GAP = "[…]"
_MAX_TOKENS = 1500


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
