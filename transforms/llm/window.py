"""Estimate the tokens of a prompt, and learn the size of a model's context.

Tokens are estimated without any model's vocabulary, never for bills: byte-pair encodings first cut
a text into words, short runs of digits and runs of signs (GPT-2's rule, and that of most since);
common words stay whole, longer ones become pieces. The size of the context is set by the user,
named by an error, or tried.

A server that is sent too much refuses it, or cuts the prompt and says nothing. Ollama does the
latter: it drops the prompt's middle and counts what it kept, half of the context and a little
(github.com/ollama/ollama/issues/17427, github.com/ollama/ollama/issues/17889).
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from transforms.llm.failures import Overflow

_RATIO: Final = 1.0  # until an endpoint has counted; SmolLM2 has 0.97 to 1.2 for English
_MORE: Final = 1.3  # times as many, where what should have fitted did not
_MARGIN: Final = 1.1  # for prompts with more tokens to a word than those counted so far
_SPARE: Final = 16  # tokens, of a chat template
_SURE: Final = 0.8  # an estimate may be so much too high
_SHORT: Final = 256  # tokens; in a shorter prompt, what a chat template adds decides the ratio
_CUT: Final = 0.7  # of the least that a prompt can have, below which some of it is gone
_SAME: Final = 0.9  # prompts that were cut come to the same count, but for a few tokens
_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]{1,2}|_+")
_LETTERS = 8  # of a word, for each of its tokens
_ASCII_TOKENS = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}|\d{{1,3}}|[^\w\s]{{1,2}}|_{{1,{_LETTERS}}}")
_OTHERS = 4  # characters outside ASCII, for each token that they are at least
_PER_MESSAGE = 4  # what stands around a message


@lru_cache(maxsize=256)  # the system message and the function are those of many requests
def count(text: str) -> int:
    """Return about how many tokens a text is.

    Letters outside ASCII are a token each, which errs on the upper side for most scripts.
    """
    if text.isascii():  # the same, much quicker
        return len(_ASCII_TOKENS.findall(text))
    return sum(_of_piece(piece) for piece in _PIECES.findall(text))


def at_least(body: Mapping[str, Any]) -> int:
    """Return the fewest tokens that the messages of a request's JSON can be, with the largest of
    vocabularies; functions are left out, since not every endpoint shows them to its model."""
    text = "\n".join(message["content"] for message in body["messages"])
    ascii_only = text.encode("ascii", "ignore").decode()
    return count(ascii_only) + (len(text) - len(ascii_only)) // _OTHERS


def _of_piece(piece: str) -> int:
    return 1 + (len(piece) - 1) // _LETTERS if piece.isascii() else len(piece)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Return about how many tokens the prompt of a request's JSON is, functions included."""
    messages = body["messages"]
    total = sum(_PER_MESSAGE + count(message["content"]) for message in messages)
    for name in ("tools", "response_format"):
        if name in body:
            total += count(json.dumps(body[name], ensure_ascii=False))
    return total


class Window:
    """The context of one model at one endpoint, as one run knows it.

    Prompts are given in estimated tokens; what the endpoint counts corrects them.
    """

    def __init__(self, context: int | None = None) -> None:
        self.context = context
        self._said = context  # what no guess has made smaller
        self._ratio = _RATIO
        self._whole = 0.0
        self._cut_to = 0

    def room(self, prompt: int) -> int | None:
        """Return how many estimated tokens fit beside a prompt, None where that is not known."""
        if self.context is None:
            return None
        return max(0, int(self._left(prompt, self.context) / self._ratio))

    def limit(self, prompt: int, most: int, expects: int) -> int:
        """Return the token limit of a reply: `most`, or what is left where that is less, but no
        less than it expects. A guess limits nothing: it may be too low."""
        if self._said is None:
            return most
        return min(most, max(self._left(prompt, self._said), expects, 1))

    def fits(self, prompt: int, expects: int) -> bool:
        """Tell whether a prompt with the reply that it expects fits into the context that is
        known."""
        return self._said is not None and self._said - self._ratio * prompt >= expects

    def _left(self, prompt: int, context: int) -> int:
        return int(context - _MARGIN * self._ratio * prompt) - _SPARE

    def hopeless(self, prompt: int) -> bool:
        """Tell whether a prompt certainly does not fit, by what the user or the endpoint said."""
        return self._said is not None and _SURE * self._ratio * prompt > self._said

    def refused(self, prompt: int, limit: int, overflow: Overflow) -> None:
        """Learn that a prompt, with a reply of up to `limit` tokens, was too much."""
        if overflow.prompt:
            counted = overflow.prompt / prompt
            self._ratio = counted if prompt >= _SHORT else max(self._ratio, counted)
        if overflow.context:
            self.context = self._said = overflow.context
            if not overflow.prompt and self._ratio * prompt + limit <= overflow.context:
                self._ratio *= _MORE
        else:
            self._guess(int(self._ratio * prompt / 2))

    def ended(self, tokens: int) -> None:
        """Learn that a reply ended before its limit, with so many tokens in all."""
        self._guess(tokens)

    def arrived(self, body: Mapping[str, Any], prompt: int, counted: int) -> bool:
        """Learn from what the endpoint counted of a prompt; tell whether it was all of it.

        A prompt that is no longer than one that arrived whole is not cut. Nor is one that comes to
        less than a cut one did: that endpoint counts in another way.
        """
        if not counted or prompt < _SHORT:
            return True
        if counted < _CUT * prompt:
            text = at_least(body)
            if counted < _CUT * text and text > self._whole:
                if counted >= _SAME * self._cut_to:
                    self._cut_to = max(self._cut_to, counted)
                    self._guess(_before(counted))
                    return False
                self._whole, self.context = float("inf"), self._said
                return True
        self._whole = max(self._whole, prompt)
        self._ratio = max(counted / prompt, 0.95 * self._ratio + 0.05 * counted / prompt)
        return True

    def _guess(self, tokens: int) -> None:
        self.context = tokens if self.context is None else min(self.context, tokens)


def _before(left: int) -> int:
    """Return the context of which a cut left so many tokens: Ollama keeps half of it and up to four
    more; of other servers nothing is known but that it holds what they left."""
    half, more = left - left % 128, left % 128
    return 2 * half if 1 <= more <= 4 and half else left
