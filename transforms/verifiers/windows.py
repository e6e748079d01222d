"""Split a passage into windows that fit a model's input length, at sentence ends."""

from collections.abc import Iterator

from tokenizers import Encoding, Tokenizer

from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.sentences import segment
from ufo.transforms.verifiers.base import Probabilities
from ufo.transforms.verifiers.families import Family, filled


class Reader:
    """Encodes a pair as one or several inputs of up to `tokens` tokens."""

    def __init__(self, tokenizer: Tokenizer, family: Family, tokens: int, eos: str) -> None:
        self._tokenizer = tokenizer
        self._template = family.template
        self._tokens = tokens
        self._eos = eos
        tokenizer.no_truncation()
        tokenizer.no_padding()
        added = tokenizer.get_added_tokens_decoder().values()
        self._special = [one.content for one in added if one.special and len(one.content) > 1]

    def read(self, claim: str, passage: str) -> list[Encoding]:
        """Return the encoding of each window of the passage, with the claim."""
        claim, passage = self._plain(claim), self._plain(passage)
        whole = self._encoded(passage, claim)
        if len(whole.ids) <= self._tokens:
            return [whole]
        claim = self._cut(claim, self._tokens // 2)
        return [self._fitted(window, claim) for window in self._windows(passage, claim)]

    def _cut(self, text: str, tokens: int) -> str:
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]

    def _windows(self, passage: str, claim: str) -> Iterator[str]:
        room = max(self._tokens - len(self._encoded("", claim).ids), 1)
        start, used = 0, 0
        for begin, count in self._pieces(passage, room):
            if used and used + count > room:
                yield passage[start:begin].strip()
                start, used = begin, 0
            used += count
        yield passage[start:].strip()

    def _pieces(self, passage: str, room: int) -> Iterator[tuple[int, int]]:
        """Yield the start and number of tokens of each sentence, or of the parts of a long one."""
        offsets = self._tokenizer.encode(passage, add_special_tokens=False).offsets
        at = 0
        for span in segment(passage):
            first = at
            while at < len(offsets) and offsets[at][0] < span.end:
                at += 1
            for part in range(first, at, room):
                begin = span.start if part == first else offsets[part][0]
                yield begin, min(room, at - part)

    def _fitted(self, window: str, claim: str) -> Encoding:
        # A window alone may have more tokens than within the passage.
        encoding = self._encoded(window, claim)
        while len(encoding.ids) > self._tokens and window:
            window = window[: len(window) * self._tokens // len(encoding.ids) - 1]
            encoding = self._encoded(window, claim)
        encoding.truncate(self._tokens)  # where the template alone is too long
        return encoding

    def _encoded(self, passage: str, claim: str) -> Encoding:
        if not self._template:
            return self._tokenizer.encode(passage, claim)
        text = filled(self._template, passage=passage, claim=claim, eos=self._eos)
        return self._tokenizer.encode(text)

    def _plain(self, text: str) -> str:
        """Return the text with a space inside each special token: a passage with "</s>" must not
        end there."""
        for token in self._special:
            if token in text:
                text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def best(windows: list[Probabilities]) -> Probabilities:
    """Return the deciding window of a passage.

    If any is `supported`, the one with the highest probability of that; else, if any is `refuted`,
    the one with the highest probability of that; else the one most likely supported. The first
    wins ties.
    """
    supporting = max(windows, key=lambda one: one.supported)
    if supporting.outcome == SUPPORTED:
        return supporting
    refuting = [one for one in windows if one.outcome == REFUTED]
    return max(refuting, key=lambda one: one.refuted) if refuting else supporting
