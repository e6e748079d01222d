"""Cut excerpts from a response: the context of a claim, and the parts of a long text.

The context resolves pronouns in a claim. A long text is extracted in parts, which are cut at
paragraphs, then at sentences.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from ufo.schemas.records import OpenUnits
from ufo.transforms.llm.tokens import count
from ufo.transforms.sentences import Span

GAP: Final = "[…]"
TAGS: Final = 6  # tokens of a sentence's tags
_MAX_TOKENS: Final = 1500
_OPENING: Final = 100  # tokens of the text's first sentence, which mostly names its subject
_BEFORE: Final = 3  # sentences before a part
AROUND: Final = 600  # tokens of the context of sentences that are requested again
_AHEAD: Final = 300  # tokens of the sentences before a part


def cut(text: str, tokens: int) -> str:
    """Return the text cut to about `tokens` tokens, with `[…]` at the cut."""
    size = count(text)
    return text if size <= tokens else text[: len(text) * tokens // size] + GAP


def repeats(query: str, claim: str) -> bool:
    """Return whether a query equals its claim, ignoring case and final punctuation."""
    return query.strip(" .?").casefold() == claim.strip(" .?").casefold()


def runs(numbers: Iterable[int]) -> list[list[int]]:
    """Return the numbers, sorted, in runs of consecutive ones."""
    placed = enumerate(sorted({*numbers}))
    groups = groupby(placed, lambda pair: pair[1] - pair[0])
    return [[number for _, number in group] for _, group in groups]


def ranges(numbers: Iterable[int]) -> str:
    """Format numbers as sorted ranges: "1-3 5"."""
    edges = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs(numbers)]
    return " ".join(edges)


def pack_parts(
    groups: Iterable[Sequence[int]], cost: Callable[[int], int], tokens: int
) -> list[list[int]]:
    """Pack the items of groups into parts of about `tokens` tokens each.

    A group begins a new part if it fits into one, but not into the rest of the last one.
    """
    parts: list[list[int]] = []
    left = 0
    for group in groups:
        if left < sum(map(cost, group)) <= tokens:
            left = 0
        for item in group:
            if cost(item) > left or not parts:
                parts.append([])
                left = tokens
            parts[-1].append(item)
            left -= cost(item)
    return parts


@dataclass(frozen=True, slots=True)
class Text:
    """A response and the spans of its sentences."""

    text: str
    spans: Sequence[Span]

    @classmethod
    def of(cls, open_units: OpenUnits) -> "Text":
        """Return the text of a response whose units are open."""
        at = open_units.sentence_spans
        return cls(open_units.text, [Span(*both) for both in zip(at[::2], at[1::2], strict=True)])

    def sentence(self, index: int | None) -> str:
        """Return the text of a sentence, "" where there is none."""
        if index is None or index >= len(self.spans):
            return ""
        return self.text[self.spans[index].start : self.spans[index].end]

    def breaks(self) -> list[int]:
        """Return the indexes of the sentences that follow a blank line."""
        return [
            index
            for index, (before, after) in enumerate(pairwise(self.spans), 1)
            if self.text[before.end : after.start].replace("\r\n", "\n").count("\n") > 1
        ]

    def paragraphs(self) -> list[range]:
        """Return the indexes of the sentences of each paragraph."""
        return [range(*edges) for edges in pairwise([0, *self.breaks(), len(self.spans)])]

    def excerpt(self, indexes: Iterable[int]) -> str:
        """Return the text of these sentences, with `[…]` where others are left out."""
        known = runs(index for index in indexes if 0 <= index < len(self.spans))
        edges = [(self.spans[run[0]].start, self.spans[run[-1]].end) for run in known]
        return f"\n{GAP}\n".join(self.text[start:end] for start, end in edges)

    def surroundings(
        self, indexes: Iterable[int | None], tokens: int = _MAX_TOKENS, before: int = 1
    ) -> str:
        """Return these sentences with `before` sentences before and one after each.

        The sentences around them are left out if the text would be too long.
        """
        own = {index for index in indexes if index is not None}
        near = self.excerpt(other for at in own for other in range(at - before, at + 2))
        return cut(near if count(near) <= tokens else self.excerpt(own), tokens)

    def slice_sentences(self, tokens: int) -> "tuple[Text, list[int]]":
        """Return the text with long sentences cut, and the index of the sentence of each span.

        A slice has about `tokens` tokens, and ends at white space where possible.
        """
        spans: list[tuple[int, Span]] = []
        for at, span in enumerate(self.spans):
            size = self.size([at])
            if size <= tokens:
                spans.append((at, span))
                continue
            width = max(1, (span.end - span.start) * tokens // size)
            slices = re.compile(rf"\S.{{0,{width - 1}}}(?!\S)|\S.{{0,{width - 1}}}", re.DOTALL)
            pieces = slices.finditer(self.text, span.start, span.end)
            spans += [(at, Span(*slice_.span())) for slice_ in pieces]
        return Text(self.text, [span for _, span in spans]), [at for at, _ in spans]

    def size(self, indexes: Iterable[int]) -> int:
        """Estimate the tokens of these sentences with their tags."""
        return sum(count(self.sentence(at)) + TAGS for at in indexes)

    def parts(self, indexes: Iterable[int], tokens: int) -> list[list[int]]:
        """Return these sentences in parts of about `tokens` tokens each, cut at paragraphs."""
        wanted = {*indexes}
        paragraphs = ([at for at in group if at in wanted] for group in self.paragraphs())
        return pack_parts(paragraphs, lambda at: self.size([at]), tokens)

    def before(self, first: int, tokens: int) -> str:
        """Return the context of a part of `tokens` tokens that begins at the sentence `first`.

        It is the first sentence of the text, and the sentences right before the part.
        """
        opening = cut(self.sentence(0), min(_OPENING, tokens // 4)) if first else ""
        before = self.excerpt(range(max(1, first - _BEFORE), first))
        size, most = count(before), min(_AHEAD, tokens // 2)
        if size > most:
            before = before[-(len(before) * most // size) :]
        return f"\n{GAP}\n".join(filter(None, (opening, before)))


def paragraph(text: Text, index: int | None) -> str:
    """Return the paragraph of a sentence; only its neighbours where the paragraph is long."""
    whole = "".join(text.excerpt(group) for group in text.paragraphs() if index in group)
    return whole if count(whole) <= _MAX_TOKENS else text.surroundings([index])
