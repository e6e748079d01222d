"""The passages of a page: its best sentences for a query, each with those around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ufo.indexes.embedders import Embedder
from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.sentences import Span, segment
from ufo.transforms.sources.web.ranking import DenseRanking, SentenceRanking

BM25: Final = "bm25"
DENSE: Final = "dense"
RETRIEVERS: Final = (BM25, DENSE)

_MAX_SENTENCE = 1500  # characters: what is longer is a table or has no sentence ends


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences of a page that stand together: `text` is the page's `[start:end]`, code points.

    `score` is the best of its sentences by the retriever that found them.
    """

    text: str
    score: float
    start: int
    end: int


class PageText:
    """The text of one page, for any number of queries; cut and ranked when first asked.

    `title` is the page's: its words say little of one sentence. `spans` are its sentences, where
    they are known.
    """

    def __init__(
        self,
        text: str,
        retriever: str = BM25,
        embedder: Embedder | None = None,
        language: str = "en",
        title: str | None = None,
        spans: list[Span] | None = None,
    ) -> None:
        if retriever not in RETRIEVERS:
            raise UsageError(unknown_value("--web_retriever", retriever, RETRIEVERS))
        self.text = text
        self._retriever = retriever
        self._embedder = embedder
        self._language = language
        self._title = title or ""
        if spans is not None:
            self.spans = spans

    @classmethod
    def of_sentences(cls, sentences: Sequence[str], *given: Any, **named: Any) -> "PageText":
        """Return a page that was cut into sentences already; the rest is as of a page."""
        spans: list[Span] = []
        at = 0
        for sentence in sentences:
            spans.append(Span(at, at + len(sentence)))
            at += len(sentence) + 1
        page = cls("\n".join(sentences), *given, **named)
        page.spans = spans
        return page

    @cached_property
    def spans(self) -> list[Span]:
        """The sentences; one of over 1,500 characters is cut at white space."""
        return sentences_of(self.text, self._language)

    @cached_property
    def _ranking(self) -> SentenceRanking | DenseRanking:
        sentences = [self.text[span.start : span.end] for span in self.spans]
        if self._retriever == DENSE:
            return DenseRanking(sentences, self._embedder)
        return SentenceRanking(sentences, self._title)

    def sentences(self, query: str, n: int) -> list[tuple[int, float]]:
        """Return the (number, score) of up to `n` best sentences, best first.

        Where none shares anything with the query they are the first of the page, with score 0: a
        search engine found it for this query, and a page begins with what it is about.
        """
        found = self._ranking.best(query, n)
        return found or [(row, 0.0) for row in range(min(n, len(self.spans)))]

    def windows(self, query: str, n: int = 1, context_sentences: int = 1) -> list[Window]:
        """Return the best `n` sentences with `context_sentences` before and after each.

        Windows that overlap are one. They come best first, equal ones in the page's order.
        """
        best = self.sentences(query, n)
        last = len(self.spans) - 1
        around = [
            (max(0, row - context_sentences), min(last, row + context_sentences), score)
            for row, score in best
        ]
        windows = [self._window(*merged) for merged in _merged(around)]
        return sorted(windows, key=lambda window: (-window.score, window.start))

    def _window(self, first: int, last: int, score: float) -> Window:
        start, end = self.spans[first].start, self.spans[last].end
        return Window(self.text[start:end], score, start, end)


def sentences_of(text: str, language: str = "en") -> list[Span]:
    """Return the sentences of a text; one of over 1,500 characters is cut at white space."""
    return [part for span in segment(text, language) for part in _parts(text, span)]


def windows(
    text: str,
    query: str,
    *,
    retriever: str = BM25,
    n: int = 1,
    context_sentences: int = 1,
    embedder: Embedder | None = None,
) -> list[Window]:
    """Return the passages of a text for one query; see `PageText.windows`."""
    return PageText(text, retriever, embedder).windows(query, n, context_sentences)


def _merged(around: Sequence[tuple[int, int, float]]) -> Iterable[tuple[int, int, float]]:
    """Yield ranges of sentences in order, those that share one joined, with their best score."""
    current: tuple[int, int, float] | None = None
    for first, last, score in sorted(around):
        if current is not None and first <= current[1]:
            current = (current[0], max(last, current[1]), max(score, current[2]))
            continue
        if current is not None:
            yield current
        current = (first, last, score)
    if current is not None:
        yield current


def _parts(text: str, span: Span) -> Iterable[Span]:
    start, end = span
    while end - start > _MAX_SENTENCE:
        cut = max(text.rfind(white, start, start + _MAX_SENTENCE) for white in " \n\t")
        cut = cut if cut > start else start + _MAX_SENTENCE
        yield Span(start, cut)
        start = cut + (len(text[cut:end]) - len(text[cut:end].lstrip()))
    if start < end:
        yield Span(start, end)
