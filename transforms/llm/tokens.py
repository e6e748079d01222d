"""Estimate the tokens of a prompt, and learn the size of a model's context.

Tokens are estimated without a model's vocabulary, and never used for costs. A text is split into
words, short runs of digits and runs of punctuation, as by the pre-tokenizer of GPT-2 and most later
models. Words over 8 letters count as several tokens. The size of the context is set by the user,
named by an error, or estimated from replies.

A server refuses a prompt that is too long, or cuts it without an error. Ollama drops the middle of
the prompt and counts what it kept, a little over half of the context
(github.com/ollama/ollama/issues/17427, github.com/ollama/ollama/issues/17889).
"""

import json
import re
from collections import deque
from collections.abc import Collection, Hashable, Mapping
from functools import lru_cache
from math import inf
from statistics import median
from typing import Any, Final

from ufo.transforms.llm.errors import Overflow

_RATIO: Final = 1.0  # initial ratio of counted to estimated tokens; SmolLM2: 0.97 to 1.2 (English)
_MORE: Final = 1.3  # factor on the ratio after a prompt that should have fitted was refused
_LOWER: Final = 0.75  # the assumed context, as a share of a prompt refused as too long
_MARGIN: Final = 1.1  # for prompts with more tokens a word than the earlier ones
_SPARE: Final = 16  # tokens of a chat template
_SURE: Final = 0.8  # lower bound of the true count, as a factor of the estimate
_SHORT: Final = 256  # tokens; in a shorter prompt the chat template dominates the ratio
_CUT: Final = 0.7  # share of the least possible count: with fewer tokens a prompt was cut
_SAME: Final = 0.9  # prompts that were cut have equal counts, but for a few tokens
_ENOUGH: Final = 10  # counted prompts needed to judge further ones by their ratios
_KEPT: Final = 64
_LESS: Final = 0.18  # the smallest missing share of a prompt that the ratios show
_LESS_OF_OTHERS: Final = 0.23  # the same, by the ratios of prompts of other kinds
_SPREADS: Final = 6.0  # median deviations from the usual ratio: 4 standard deviations
_FEW: Final = 5  # ratios; with so few the deviation is uncertain and taken to be larger
_MARGINAL: Final = 0.74  # share of the usual ratio, for the text added to a shorter prompt
_FOREIGN: Final = 0.02  # the largest share of non-ASCII characters with the usual ratio
_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]{1,2}|_+")
_LETTERS = 8  # letters of a word for each token
_ASCII_TOKENS = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}|\d{{1,3}}|[^\w\s]{{1,2}}|_{{1,{_LETTERS}}}")
_OTHERS = 4  # characters outside ASCII that one token can hold at most
_PER_MESSAGE = 4  # tokens of the template around a message


@lru_cache(maxsize=256)  # many requests share the system message and the function
def count(text: str) -> int:
    """Estimate the tokens of a text.

    Letters outside ASCII count as a token each, which is too many for most scripts.
    """
    if text.isascii():  # the same result, much faster
        return len(_ASCII_TOKENS.findall(text))
    return sum(_of_piece(piece) for piece in _PIECES.findall(text))


def at_least(body: Mapping[str, Any]) -> int:
    """Return a lower bound of the tokens of a request's messages, for the largest vocabularies.

    Functions are left out, since not every endpoint includes them in the prompt.
    """
    text = "\n".join(message["content"] for message in body["messages"])
    ascii_only = text.encode("ascii", "ignore").decode()
    return count(ascii_only) + (len(text) - len(ascii_only)) // _OTHERS


def _foreign(body: Mapping[str, Any]) -> bool:
    """Return whether a good part of a request's messages is in another script than English."""
    texts = [message["content"] for message in body["messages"]]
    others = sum(
        len(one) - len(one.encode("ascii", "ignore")) for one in texts if not one.isascii()
    )
    return others > _FOREIGN * sum(map(len, texts))


def _of_piece(piece: str) -> int:
    return 1 + (len(piece) - 1) // _LETTERS if piece.isascii() else len(piece)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of the prompt of a request's JSON, including functions."""
    total = _message_tokens(body)
    for name in ("tools", "response_format"):
        if name in body:
            total += count(json.dumps(body[name], ensure_ascii=False))
    return total


def _message_tokens(body: Mapping[str, Any]) -> int:
    return sum(_PER_MESSAGE + count(message["content"]) for message in body["messages"])


_Counted = tuple[tuple[int, int], int]
"""The estimates of a prompt, with and without functions, and the tokens that were counted."""


class ContextWindow:
    """The context size of one model at one endpoint, as far as this run knows it.

    The methods take prompts in estimated tokens; the ratio to the endpoint's count is learned.
    """

    def __init__(self, context: int | None = None) -> None:
        self.context = context
        self._stated = context  # the size by the user or an error; `context` may be a lower guess
        self._ratio = _RATIO
        # The earlier prompts of each kind, and of all kinds.
        self._seen: dict[Hashable, deque[_Counted]] = {}
        self._all: deque[_Counted] = deque(maxlen=_KEPT)
        self._taken = 0.0
        self._too_much = inf
        self._whole = 0.0
        self._cut_to = 0

    def room(self, prompt: int) -> int | None:
        """Return how many estimated tokens fit beside a prompt, None where that is unknown."""
        if self.context is None:
            return None
        return max(0, int(self._left(prompt, self.context) / self._ratio))

    def limit(self, prompt: int, most: int, expects: int) -> int:
        """Return the token limit of a reply: at most `most` and what is left beside the prompt,
        but at least `expects`. A guessed context size is ignored: it may be too low."""
        if self._stated is None:
            return most
        return min(most, max(self._left(prompt, self._stated), expects, 1))

    def fits(self, prompt: int, expects: int) -> bool:
        """Return whether a prompt and a reply of `expects` tokens fit into a known context."""
        return self._stated is not None and self._stated - self._ratio * prompt >= expects

    def _left(self, prompt: int, context: int) -> int:
        return int(context - _MARGIN * self._ratio * prompt) - _SPARE

    def hopeless(self, prompt: int) -> bool:
        """Return whether a prompt is certainly too long for a known context."""
        return self._stated is not None and _SURE * self._ratio * prompt > self._stated

    def refused(self, prompt: int, limit: int, overflow: Overflow) -> None:
        """Learn that a prompt with a reply of up to `limit` tokens was refused as too long."""
        if overflow.prompt:
            counted = overflow.prompt / prompt
            self._ratio = counted if prompt >= _SHORT else max(self._ratio, counted)
        if overflow.context:
            self.context = self._stated = overflow.context
            if not overflow.prompt and self._ratio * prompt + limit <= overflow.context:
                self._ratio *= _MORE
        else:
            self._too_much = min(self._too_much, self._ratio * prompt)
            self._guess(self._between())

    def took(self, tokens: int) -> None:
        """Learn that a prompt and its reply fitted; guess a context between that and a refusal."""
        self._taken = max(self._taken, tokens)
        if self._stated is None and self._too_much < inf:
            self.context = max(self.context or 0, self._between())

    def _between(self) -> int:
        return int(max(_LOWER * self._too_much, (self._taken + self._too_much) / 2))

    def ended(self, tokens: int) -> None:
        """Learn that a reply was cut off before its limit, at `tokens` tokens with its prompt."""
        self._too_much = inf
        self._guess(tokens)

    def arrived(
        self, body: Mapping[str, Any], prompt: int, counted: int, kind: Hashable = None
    ) -> bool:
        """Return whether a prompt arrived whole, by the tokens that the endpoint counted.

        A prompt was cut if its count is lower than the least possible, or than earlier prompts of
        the same `kind` make likely. It was not cut if a prompt as long was taken before. A count
        below the count of a cut prompt does not show a cut either: the endpoint counts in another
        way.
        """
        if not counted or prompt < _SHORT:
            return True
        ratio, foreign = counted / prompt, _foreign(body)
        sizes = prompt, _message_tokens(body)
        seen = self._seen.setdefault(kind, deque(maxlen=_KEPT))
        fitted = self._ratio * prompt <= self._taken  # as much was taken before
        comparable = not (foreign or fitted) and prompt >= 2 * _SHORT
        others, less = (seen, _LESS) if len(seen) >= _ENOUGH else (self._all, _LESS_OF_OTHERS)
        cut = comparable and counted < _least(others, sizes, counted, less)
        if not cut and ratio < _CUT:
            lowest = at_least(body)
            cut = counted < _CUT * lowest and lowest > self._whole
        if cut and self._whole < inf:
            if counted >= _SAME * self._cut_to:
                self._cut_to = max(self._cut_to, counted)
                self._guess(_before(counted))
                return False
            self._whole, self.context = inf, self._stated
        self._whole = max(self._whole, prompt)
        self._ratio = max(ratio, 0.95 * self._ratio + 0.05 * ratio)
        if not foreign:
            seen.append((sizes, counted))
            self._all.append((sizes, counted))
        return True

    def _guess(self, tokens: int) -> None:
        self.context = tokens if self.context is None else min(self.context, tokens)


def _before(left: int) -> int:
    """Return the context size of a server that cut a prompt to `left` tokens.

    Ollama keeps half of the context and up to four tokens more. For other servers `left` is a lower
    bound.
    """
    half, more = left - left % 128, left % 128
    return 2 * half if 1 <= more <= 4 and half else left


def _least(
    earlier: Collection[_Counted], sizes: tuple[int, int], counted: int, less: float
) -> float:
    """Return the count below which a prompt was cut, by earlier prompts; 0 if unknown.

    It is unknown in three cases:

    - There are too few earlier prompts.
    - A prompt that was as long arrived whole.
    - The text added to a shorter prompt may explain the count: texts of another kind fill the rest
      of a longer prompt.

    Not every endpoint counts the functions: of both estimates the better fitting one is used.
    """
    if len(earlier) < _ENOUGH:
        return 0.0
    fits = []
    for at in range(len(sizes)):
        ratios = [one / size[at] for size, one in earlier]
        middle = median(ratios)
        spread = median(abs(ratio - middle) for ratio in ratios) / middle
        spread *= 1 + _FEW / len(ratios)
        fits.append((spread, at, middle))
    spread, at, middle = min(fits)
    least = middle * (1 - max(less, _SPREADS * spread))
    whole = [(size[at], one) for size, one in earlier if one >= least * size[at]]
    longest, its = max(whole, default=(0, 0))
    more = sizes[at] - longest
    return least * sizes[at] if more > 0 and counted - its < _MARGINAL * middle * more else 0.0
