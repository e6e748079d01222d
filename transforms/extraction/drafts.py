"""Extract the claims of a response, in any language, for judges that do not extract."""

from collections.abc import Callable, Sequence

from ufo.schemas.records import InputRecord
from ufo.transforms.english.language import is_english
from ufo.transforms.extraction.extract import (
    Extracted,
    extract,
    extract_sentences,
    paragraph_starts,
)
from ufo.transforms.sentences import Span

_Extractor = Callable[[Sequence[str], str | None, Sequence[int]], list[Extracted]]


def claims(record: InputRecord, spans: Sequence[Span]) -> list[Extracted]:
    """Return the claims of each sentence that makes a checkable one."""
    return _drafts(record, spans, extract)


def sentence_claims(record: InputRecord, spans: Sequence[Span]) -> list[Extracted]:
    """Return one claim for each sentence that makes a checkable one."""
    return _drafts(record, spans, extract_sentences)


def _drafts(record: InputRecord, spans: Sequence[Span], extractor: _Extractor) -> list[Extracted]:
    texts = [record.text[span.start : span.end] for span in spans]
    if is_english(record.text, record.language):
        return extractor(texts, record.question, paragraph_starts(record.text, spans))
    # What of it is checkable is not known, but all of it is said: a claim a sentence.
    return [Extracted(number, text, text) for number, text in enumerate(texts)]
